/* zygote.h - the process that workers are cloned from; see ipc/crew.h. */
#ifndef WORKER_ZYGOTE_H
#define WORKER_ZYGOTE_H

#define ZYGOTE_EXIT_UNAVAILABLE 69 /* the cage cannot be built */

/*
 * Build the cage, test it, report, and clone workers as the supervisor
 * orders until it is gone. The exit status.
 */
int zygote_run(void);

#endif
