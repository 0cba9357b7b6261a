/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h - the zygote's memory, laid out for its clones.
 *
 * A page that a clone touches costs it a fault, and one that it writes a copy:
 * about a third of all that a short run costs. Both functions are called once,
 * while there is one thread; what they cannot do they leave as it was.
 */
#ifndef WORKER_MEMORY_H
#define WORKER_MEMORY_H

/*
 * Move the program's code and constants into huge pages, where the linker has
 * left room for that: a clone inherits each of those by one entry of its page
 * table, and neither copies nor faults one in. It costs the zygote 4 MiB and
 * hides from profilers whose code that is. Before the cage, whose filters allow
 * no such mmap(2).
 */
void memory_share_text(void);

/*
 * Take all holes that start-up left in the heap, for good: what a clone
 * allocates then lies together at its end.
 */
void memory_pack_heap(void);

#endif
