/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.c - huge pages for the zygote's code, a heap without holes and a stack in few
 * pages, called by zygote.c before the first clone. The functions cannot fail: when
 * memory cannot be laid out, the layout stays unchanged.
 */
#include "worker/memory.h"

#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#endif
#include <sys/syscall.h>
#include <unistd.h>

#define HUGE ((size_t)2 << 20) /* the size of a huge page */
#define WORTH ((size_t)256 << 10)
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* Linux 6.1 */
#endif
#define LARGEST 65536u /* malloc(3) maps larger blocks outside of the heap */
#define GRAIN 16u      /* alignment of malloc(3) */
#define PAGE ((uintptr_t)4096)
#define RSEQ_BYTES 32 /* of struct rseq, as glibc registers the struct */
/* malloc keeps freed blocks up to this size in its own lists */
#define REMEMBERED 1040u

/* ---- code and constants ---- */

/* Replace the pages of SEGMENT by the pages of a copy, under the running code. */
static void share_segment(const ElfW(Phdr) * segment, uintptr_t base)
{
	char *from = (char *)(base + segment->p_vaddr);
	size_t size = (segment->p_memsz + HUGE - 1) & ~(HUGE - 1);
	char *area = mmap(NULL, size + HUGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *copy = (char *)(((uintptr_t)area + HUGE - 1) & ~(HUGE - 1));
	int protection = (segment->p_flags & PF_R ? PROT_READ : 0) |
			 (segment->p_flags & PF_X ? PROT_EXEC : 0);

	if (area == MAP_FAILED)
		return;
	if (madvise(copy, size, MADV_HUGEPAGE) == 0) {
		memcpy(copy, from, segment->p_memsz);
		if (madvise(copy, size, MADV_COLLAPSE) == 0 &&
		    mprotect(copy, size, protection) == 0)
			(void)mremap(copy, size, size,
				     MREMAP_MAYMOVE | MREMAP_FIXED, from);
	}
	munmap(area, size + HUGE); /* the rest of AREA */
}

/* Does SEGMENT share no huge page with another segment? */
static bool is_shareable(const ElfW(Phdr) * segment)
{
	return segment->p_type == PT_LOAD && (segment->p_flags & PF_W) == 0 &&
	       segment->p_align >= HUGE && segment->p_vaddr % HUGE == 0 &&
	       segment->p_memsz >= WORTH;
}

static int share_all(struct dl_phdr_info *object, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	for (size_t i = 0; i < object->dlpi_phnum; i++)
		if (is_shareable(&object->dlpi_phdr[i]))
			share_segment(&object->dlpi_phdr[i], object->dlpi_addr);
	return 1; /* stop: the first object is the program */
}

void memory_share_text(void)
{
	dl_iterate_phdr(share_all, NULL);
}

/* ---- the heap ---- */

struct hole {
	struct hole *next;
};

static struct hole *taken; /* never freed; a list for leak checkers */

/*
 * Allocate a block of SIZE. Returns whether the block is a hole, before END, where the
 * free rest of the heap begins. A small block after END is kept, too: malloc would
 * remember a freed block of each size, all over the pages that clones write later.
 */
static bool take_arena(size_t size, uintptr_t end)
{
	struct hole *hole = malloc(size);
	bool before = hole != NULL && (uintptr_t)hole < end;

	if (hole != NULL && (before || size <= REMEMBERED)) {
		hole->next = taken;
		taken = hole;
	} else {
		free(hole);
	}
	return before;
}

void memory_pack_heap(void)
{
	void *rest = malloc(LARGEST);
	uintptr_t end = (uintptr_t)rest;

	free(rest);
	for (size_t size = LARGEST; size > 0; size -= GRAIN)
		while (take_arena(size, end))
			;
}

static void keep_arena(size_t size)
{
	struct hole *hole = malloc(size);

	if (hole == NULL)
		return;
	hole->next = taken;
	taken = hole;
}

void memory_begin_page(void)
{
	memory_pack_heap();
	keep_arena(GRAIN);
	keep_arena(PAGE - (uintptr_t)taken % PAGE - GRAIN);
}

/* ---- the stack ---- */

void memory_pack_stack(void (*fn)(void *room, void *arg), size_t size,
		       size_t front, void *arg)
{
	/* from the present stack pointer down to the begin of ROOM */
	uintptr_t now = (uintptr_t)__builtin_alloca(1);
	uintptr_t at = now - size;
	char *room;

	at -= (at + front) % PAGE;
	room = __builtin_alloca(now - at);
	memset(room, 0, size);
	fn(room, arg);
}

/* ---- memory that the kernel writes ---- */

void memory_forget_cpu(void)
{
#if defined(RSEQ_SIG) && __has_builtin(__builtin_thread_pointer)
	char *own = (char *)__builtin_thread_pointer() + __rseq_offset;

	if (__rseq_size > 0) /* else glibc was configured not to register */
		(void)syscall(SYS_rseq, own, RSEQ_BYTES, RSEQ_FLAG_UNREGISTER,
			      RSEQ_SIG);
#endif
}
