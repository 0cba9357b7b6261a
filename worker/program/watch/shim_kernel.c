/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shim_kernel.c - estimates the memory of a run beside resident pages: tables of pages
 * and descriptors, mappings, open files with buffers, inodes of the file systems, swapped
 * pages. A cgroup charges all of these; without a cgroup shim_watch.c adds the estimate
 * to the run's memory. Unreadable figures count as nothing, except a process that hides
 * mappings: a mapping for each page.
 */
#include "worker/program/watch/shim_watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KIB 1024u
#define PAGE 4096u
#define MAPPING_BYTES 256u /* struct vm_area_struct, with tree nodes */
/* struct anon_vma_chain, from a mapping to the mapping of each ancestor; measured */
#define LINK_BYTES 160u
#define MAPPINGS_MOST 65530u /* vm.max_map_count, assumed not to be lowered */
#define INODE_BYTES 1280u    /* an inode of tmpfs, and the name */
#define SOCKET_BYTES 212992u /* the usual net.core.wmem_default */
#define TCP_BYTES 4194304u   /* the usual most of net.ipv4.tcp_wmem */
#define FILE_BYTES 8192u     /* two pages of a pipe; other files use less */
#define FILES_USUAL 4096u    /* so many open files are not charged */
#define DESCRIPTOR_BYTES 9u  /* an entry in a table, and the bits */
#define BUFFERS_USUAL (16u << 20)
#define LOOK_EVERY 5 /* mappings are a line each, so read rarely */

/* Read the number of a line of TEXT by KEY, such as "\nFDSize:	64". */
static uint64_t number_in(const char *text, const char *key)
{
	const char *p = strstr(text, key);

	return p != NULL ? strtoull(p + strlen(key), NULL, 10) : 0;
}

/* Read kilobytes, such as "\nVmPTE:     48 kB", as bytes. */
static uint64_t bytes_in(const char *text, const char *key)
{
	return number_in(text, key) * KIB;
}

static uint64_t swapped_bytes(const struct shim *s, long pid, long tid)
{
	char text[4096], name[48];

	snprintf(name, sizeof(name), "task/%ld/status", tid);
	if (shim_read_proc(s, pid, name, text, sizeof(text)) <= 0)
		return 0;
	return bytes_in(text, "\nVmSwap:");
}

void shim_add_held(const struct shim *s, long pid, long tid, uint64_t addresses,
		   struct shim_held *h)
{
	char text[4096], name[48];

	snprintf(name, sizeof(name), "task/%ld/status", tid);
	if (addresses == 0 ||
	    shim_read_proc(s, pid, name, text, sizeof(text)) <= 0)
		return;
	h->tables += bytes_in(text, "\nVmPTE:");
	h->tables += number_in(text, "\nFDSize:") * DESCRIPTOR_BYTES;
	h->swapped += bytes_in(text, "\nVmSwap:");
}

uint64_t shim_own_bytes(const struct shim *s, long pid, long tid,
			uint64_t resident)
{
	static const char swap[] = "\nSwapPss:";
	char text[2048], name[48];
	uint64_t sum;

	snprintf(name, sizeof(name), "task/%ld/smaps_rollup", tid);
	if (!shim_hold_on(s) ||
	    shim_read_proc(s, pid, name, text, sizeof(text)) <= 0)
		return resident + swapped_bytes(s, pid, tid);
	sum = bytes_in(text, "\nPss_Anon:") + bytes_in(text, "\nPss_Shmem:");
	if (sum == 0)
		sum = resident;
	return sum + (strstr(text, swap) != NULL ? bytes_in(text, swap)
						 : swapped_bytes(s, pid, tid));
}

uint64_t shim_socket_bytes(const struct shim *s)
{
	char text[1024];

	if (shim_read_proc(s, 1, "net/sockstat", text, sizeof(text)) <= 0)
		return 0;
	return number_in(text, "sockets: used ") * SOCKET_BYTES +
	       number_in(text, "TCP: inuse ") * TCP_BYTES;
}

uint64_t shim_mapping_bytes(const struct shim *s, uint64_t addresses)
{
	static unsigned int looks;
	static uint64_t mappings, links;
	uint64_t hide = 0, pages = addresses / PAGE;

	if (looks++ % LOOK_EVERY == 0) {
		mappings = shim_count_mappings(s, &hide, &links);
		mappings +=
		    pages < hide * MAPPINGS_MOST ? pages : hide * MAPPINGS_MOST;
	}
	return mappings * MAPPING_BYTES + links * LINK_BYTES +
	       shim_written().files * INODE_BYTES;
}

/*
 * An open file of /proc keeps a buffer of the text that was read. The shim counts such
 * files only where the buffers could be large.
 */
uint64_t shim_file_bytes(const struct shim *s, uint64_t descriptors)
{
	static unsigned int looks;
	static uint64_t files;
	uint64_t each = shim_most_buffered(), bytes = 0;

	if (descriptors > FILES_USUAL)
		bytes = (descriptors - FILES_USUAL) * FILE_BYTES;
	if (descriptors * each <= BUFFERS_USUAL)
		return bytes;
	if (looks++ % LOOK_EVERY == 0)
		files = shim_count_proc_files(s, descriptors);
	return bytes + files * each;
}
