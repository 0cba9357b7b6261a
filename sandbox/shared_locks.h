/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared_locks.h - locks that a program must not have: on inodes that other processes
 * of the machine have, too.
 *
 * The kernel keeps the locks of an inode in a list, and walks the list whenever a
 * process closes a descriptor of the inode. All eventfds and epolls of the machine
 * have a common inode, and all runs share the inodes of devices, of namespaces and of
 * the root. So locks of a run there would slow down all other processes.
 */
#ifndef SANDBOX_SHARED_LOCKS_H
#define SANDBOX_SHARED_LOCKS_H

enum shared_locks {
	SHARED_LOCKS_NONE,    /* the call may go on */
	SHARED_LOCKS_REFUSED, /* not the caller's own file, or nobody can tell */
	SHARED_LOCKS_FOUND /* a process has such a lock: it evaded the check */
};

/*
 * Judge a lock that thread TID is about to take on descriptor FD. PROC is a /proc of
 * the program's processes, ANON a descriptor with the inode of eventfds.
 */
enum shared_locks shared_locks_judge(int proc, long tid, int fd, int anon);

#endif
