/*
 * launch.h - how a zygote is started: by this process, or by the keeper, a
 * child that keeps root for this alone when this process gives it up.
 */
#ifndef SUPERVISOR_LAUNCH_H
#define SUPERVISOR_LAUNCH_H

#include <sys/types.h>

#define LAUNCH_ARGS_MAX 16384 /* bytes of argv, with their NULs */

/*
 * Fork the keeper, which starts the program at PATH and nothing else, as
 * whoever calls this. It ends with us. 0 or -errno.
 */
int launch_keep(const char *path);

/* That child of ours; 0: there is none. */
pid_t launch_keeper(void);
/* Let it end; it is still to be reaped. */
void launch_release(void);

/*
 * Start PATH (the keeper's, if there is one) with ARGV: an empty environment,
 * no signal blocked, and no descriptor but /dev/null and, as CREW_CONTROL_FD,
 * CONTROL (lent). Its parent is this process in either case. 0 and *PID, or
 * -errno.
 */
int launch_zygote(const char *path, char *const argv[], int control, pid_t *pid);

#endif
