/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h - the layout of the zygote's memory for clones. Each page that a clone reads
 * costs a page fault, and each page that a clone writes costs a copy: together about a
 * third of the cost of a short run. A page that the zygote writes after a clone is copied
 * as well. Call the functions once, while the process has a single thread.
 */
#ifndef WORKER_MEMORY_H
#define WORKER_MEMORY_H

#include <stddef.h>

/*
 * The worker's linker sorts variables by alignment, so that small variables lie side by
 * side in a page, apart from large arrays. A structure that each run writes has the
 * largest alignment, and so comes first, in the page of malloc's own variables.
 */
#define MEMORY_EACH_RUN __attribute__((section(".data.each_run"), aligned(64)))

/*
 * Move the program's code and constants into huge pages, for which the linker has aligned
 * the segments: a clone inherits a huge page by a single page table entry, without a
 * fault. The cost is 4 MiB for the zygote, and profilers that cannot attribute the code.
 * Call before loading the zygote's filter, which denies the mmap(2).
 */
void memory_share_text(void);

/*
 * Allocate and keep all holes that the start left in the heap: then all allocations of a
 * clone lie together at the end of the heap.
 */
void memory_pack_heap(void);

/*
 * As memory_pack_heap(), and let the next allocation begin at or near the begin of a
 * page.
 */
void memory_begin_page(void);

/*
 * Call FN(room, ARG) with a zeroed ROOM of SIZE bytes on the stack, whose first FRONT
 * bytes are the last bytes of a page, in which the stack frames of all calls by FN begin.
 */
void memory_pack_stack(void (*fn)(void *room, void *arg), size_t size,
		       size_t front, void *arg);

/*
 * Unregister rseq(2), by which the kernel writes the current processor into memory after
 * each clone and so copies a page. No code of the worker uses rseq.
 */
void memory_forget_cpu(void);

#endif
