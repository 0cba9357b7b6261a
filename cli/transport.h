/* SPDX-License-Identifier: Apache-2.0 */
/* transport.h - the way to a server: its socket, or a private one over pipes. */
#ifndef CLI_TRANSPORT_H
#define CLI_TRANSPORT_H

#include <stdbool.h>
#include <sys/types.h>

#include "cli/cli.h"

struct transport {
	int in, out; /* non-blocking; the same fd for a socket; -1: closed */
	pid_t pid;   /* of the private server, or -1 */
	int pidfd;   /* likewise */
	int log;     /* a file with what it wrote to stderr; -1: it was shown */
	char *peer;  /* owned: the socket, or the program */
};

/* The socket that a daemon of this user has. The caller frees it. */
char *transport_usual_socket(void);
/* The one that a daemon of root's has. */
#define TRANSPORT_SYSTEM_SOCKET "/run/paddock/paddock.sock"

/* 0, or -errno. Copies PATH. */
int transport_connect(struct transport *l, const char *path);

/*
 * Start paddockd --stdio: the one beside this program, else of PATH. 0, or
 * -errno with ERRMSG.
 */
int transport_spawn(struct transport *l, const struct cli *cli, char *errmsg,
		    size_t size);
/* The program that transport_spawn() would start; the caller frees it. */
char *transport_program(void);
/* Its flags: the configuration, and the templates of CLI, or DIR instead. */
void transport_arguments(struct opt_list *args, const struct cli *cli,
			 const char *dir);

/*
 * Close it; a private server is given time to end by itself, then is killed,
 * and reaped. How it ended as waitpid() tells, or 0.
 */
int transport_end(struct transport *l);
/* after transport_end(), also of one that failed */
void transport_fini(struct transport *l);

/* Show on stderr what a private server has logged, its last lines. */
void transport_show_log(const struct transport *l);

#endif
