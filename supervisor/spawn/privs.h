/* SPDX-License-Identifier: Apache-2.0 */
/*
 * privs.h - drops root before the first byte of a client is read. A server started by
 * root becomes another user with a single capability: to signal the workers, which have
 * other uids. Zygotes need more rights, so privsep starts the zygotes; see spawn_exec.h.
 */
#ifndef SUPERVISOR_SPAWN_PRIVS_H
#define SUPERVISOR_SPAWN_PRIVS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Choose the serving user of a server started by root. USER is a name or a number;
 * "root": this process stays root; NULL: the user paddock, else an unused id. An ordinary
 * user serves without a change. 0, or -errno with ERRMSG.
 */
int privs_choose(const char *user, char *errmsg, size_t size);

/* Will privs_drop() give up root? */
bool privs_leave_root(void);

/* Give PATH, a file or folder made for the server, or missing, to the serving user. */
void privs_give(const char *path);
/* Give all existing files of N NAMES in the folder DIR to the serving user. */
void privs_give_all(const char *dir, const char *const names[], size_t n);

/*
 * As root: open PATH for appending with the serving user's rights; else with
 * root's rights, where the serving user cannot interfere. The descriptor, or
 * -errno.
 */
int privs_open_log(const char *path);

/* Would privs_open_log() succeed (or log_file() by an ordinary user)? 0 or -errno. */
int privs_try_log(const char *path);

/*
 * For privsep: make the state folder DIR, or take over a folder that root has
 * used before. 0, or -EPERM with ERRMSG: the folder is another user's, or has
 * unknown files. The store reports a folder that cannot be made.
 */
int privs_give_state(const char *dir, char *errmsg, size_t size);

/* Would privs_give_state() succeed? Nothing is changed; a missing folder is fine. */
int privs_try_state(const char *dir, char *errmsg, size_t size);

/* May the serving user create files in the folder DIR? */
bool privs_may_write(const char *dir);

/* Can the serving user reach PATH, or with BELOW a future file in the folder PATH? */
bool privs_may_reach(const char *path, bool below);

/* For privsep: remove PATH if it is a socket. 0 or -errno. */
int privs_unlink_socket(const char *path);

/*
 * Become the serving user: without core dumps, without privileges by exec, and
 * without any capability but CAP_KILL. 0 or -errno.
 */
int privs_drop(void);

#endif
