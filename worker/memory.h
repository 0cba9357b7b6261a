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
 * Let clones inherit the mapped pages of the program's code and constants.
 * fork(2) leaves those of a file to be faulted in again, unless a page of the
 * mapping was ever written: so write one, as it was. Before the cage, whose
 * filters allow no such mprotect(2).
 */
void memory_share_text(void);

/*
 * Take all holes that start-up left in the heap, for good: what a clone
 * allocates then lies together at its end.
 */
void memory_pack_heap(void);

#endif
