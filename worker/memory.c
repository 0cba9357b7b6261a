#include "worker/memory.h"

#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define LARGEST 65536u /* no hole is larger; still of the heap, not mapped */
#define GRAIN 16u      /* malloc's */

/* ---- code and constants ---- */

static int protection(const ElfW(Phdr) *segment)
{
	return (segment->p_flags & PF_R ? PROT_READ : 0) |
	       (segment->p_flags & PF_X ? PROT_EXEC : 0);
}

static void share(const ElfW(Phdr) *segment, uintptr_t base)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t from = (base + segment->p_vaddr) & ~(page - 1);
	uintptr_t end = base + segment->p_vaddr + segment->p_memsz;
	volatile char *first = (volatile char *)from;
	char same = *first;
	int prot = protection(segment);

	if (mprotect((void *)from, end - from, prot | PROT_WRITE) != 0)
		return;
	*first = same;
	if (mprotect((void *)from, end - from, prot) != 0)
		abort(); /* code that can be written is no state to go on in */
	(void)madvise((void *)from, (end - from + page - 1) & ~(page - 1),
		      MADV_POPULATE_READ);
}

static int share_all(struct dl_phdr_info *object, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	for (size_t i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD &&
		    (segment->p_flags & PF_W) == 0)
			share(segment, object->dlpi_addr);
	}
	return 1; /* the first object is the program */
}

void memory_share_text(void)
{
	dl_iterate_phdr(share_all, NULL);
}

/* ---- the heap ---- */

struct hole {
	struct hole *next;
};

static struct hole *taken; /* for good; for those who look for leaks */

/* Take a hole of SIZE before END, where the heap's free rest begins. */
static bool take(size_t size, uintptr_t end)
{
	struct hole *hole = malloc(size);
	bool before = hole != NULL && (uintptr_t)hole < end;

	if (before) {
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
		while (take(size, end))
			;
}
