/* SPDX-License-Identifier: Apache-2.0 */
/* transport.h - the way to a server: its socket, or a private one over pipes. */
#ifndef CLI_TRANSPORT_H
#define CLI_TRANSPORT_H

#include <stdbool.h>
#include <sys/types.h>

#include "cli/cli.h"

struct link {
	int in, out; /* non-blocking; the same fd for a socket; -1: closed */
	pid_t pid;   /* of the private server, or -1 */
	int pidfd;   /* likewise */
	int log;     /* a file with what it wrote to stderr; -1: it was shown */
	char *peer;  /* owned: the socket, or the program */
};

/* The socket that a daemon of this user has. The caller frees it. */
char *link_usual_socket(void);

/* 0, or -errno. Copies PATH. */
int link_connect(struct link *l, const char *path);

/*
 * Start paddockd --stdio: the one beside this program, else of PATH. 0, or
 * -errno with WHY.
 */
int link_spawn(struct link *l, const struct cli *cli, char *why, size_t size);
/* The program that link_spawn() would start; the caller frees it. */
char *link_program(void);

/*
 * Close it; a private server is given time to end by itself, then is killed,
 * and reaped. How it ended as waitpid() tells, or 0.
 */
int link_end(struct link *l);
void link_fini(struct link *l); /* after link_end(), also of one that failed */

/* Show on stderr what a private server has logged, its last lines. */
void link_show_log(const struct link *l);

#endif
