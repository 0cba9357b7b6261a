/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h - the zygote's memory, laid out for its clones.
 *
 * A page that a clone touches costs it a fault, and one that it writes a copy:
 * about a third of all that a short run costs. And so does one that the zygote
 * writes after it. All functions are called once, while there is one thread.
 */
#ifndef WORKER_MEMORY_H
#define WORKER_MEMORY_H

#include <stddef.h>

/*
 * The worker's linker sorts variables by their alignment, so that small ones lie
 * side by side, in a page, apart from large arrays. A structure that each run
 * writes is aligned most: so it comes first, in the page of malloc's own.
 */
#define MEMORY_EACH_RUN __attribute__((section(".data.each_run"), aligned(64)))

/*
 * Move the program's code and constants into huge pages, where the linker has
 * aligned them for that: a clone inherits each huge page by one entry of its
 * page table, without a fault. It costs the zygote 4 MiB, and profilers no
 * longer see whose code that is. Called before the zygote's own filter, which
 * allows no such mmap(2).
 */
void memory_share_text(void);

/*
 * Allocate all holes that start-up left in the heap, and keep them: what a
 * clone allocates then lies together at its end.
 */
void memory_pack_heap(void);

/* The same, and what is allocated next begins a page, or nearly. */
void memory_begin_page(void);

/*
 * Call FN(room, ARG) so that the first FRONT bytes of its zeroed ROOM, of SIZE
 * bytes, are the last of a page of the stack, in which all that FN calls begins.
 */
void memory_pack_stack(void (*fn)(void *room, void *arg), size_t size,
		       size_t front, void *arg);

/*
 * Let the kernel no longer note in our memory which processor we are on (rseq(2)),
 * which it does, and so copies a page, after each clone. Nothing of ours asks.
 */
void memory_forget_cpu(void);

#endif
