/* SPDX-License-Identifier: Apache-2.0 */
/*
 * privs.h - drops root before the first byte of a client is read.
 *
 * A server that root started becomes another user with a single capability: to
 * signal the workers, which have uids of their own. Zygotes need more rights,
 * so privsep starts the zygotes; see spawn_exec.h.
 */
#ifndef SUPERVISOR_SPAWN_PRIVS_H
#define SUPERVISOR_SPAWN_PRIVS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Started as root: who serves. USER is a name or a number; "root": this
 * process stays as it is; NULL: the user paddock, else an id that nobody has.
 * An ordinary user serves as itself. 0, or -errno with ERRMSG.
 */
int privs_choose(const char *user, char *errmsg, size_t size);

/* Will privs_drop() give up root? */
bool privs_leave_root(void);

/* Give them PATH, which may be missing: a file or folder made for us. */
void privs_give(const char *path);
/* And of the folder DIR those of N files that are there. */
void privs_give_all(const char *dir, const char *const names[], size_t n);

/*
 * As root: open PATH for appending, as they could; else with root's rights,
 * where they cannot put anything in its way. The descriptor, or -errno.
 */
int privs_open_log(const char *path);

/*
 * Could that be done, or by an ordinary user log_file()? Nothing is made. 0 or
 * -errno.
 */
int privs_try_log(const char *path);

/*
 * For privsep. Make the state folder DIR, or take over one that root has
 * used before. 0, or -EPERM with ERRMSG: it is somebody else's, or has other
 * files in it. What cannot be made is the store's to tell.
 */
int privs_give_state(const char *dir, char *errmsg, size_t size);

/* Would that be done? Nothing is given; what is missing would be made. */
int privs_try_state(const char *dir, char *errmsg, size_t size);

/* May they make files in the folder DIR, whosever it is? */
bool privs_may_write(const char *dir);

/* Can they come to PATH, or where BELOW to what will lie in that folder? */
bool privs_may_reach(const char *path, bool below);

/* For privsep: remove PATH if it is a socket. 0 or -errno. */
int privs_unlink_socket(const char *path);

/*
 * Become them: nothing is dumped, nothing is gained by an exec, and no
 * capability but CAP_KILL is left. 0 or -errno.
 */
int privs_drop(void);

#endif
