/* SPDX-License-Identifier: Apache-2.0 */
/* transport.h - the connection to a server: the daemon's socket, or pipes. */
#ifndef CLI_TRANSPORT_H
#define CLI_TRANSPORT_H

#include <stdbool.h>
#include <sys/types.h>

#include "cli/terminal/cli.h"

struct transport {
	int in, out; /* non-blocking; the same fd for a socket; -1: closed */
	pid_t pid;   /* of the private server, or -1 */
	int pidfd;   /* of the private server, or -1 */
	int log;     /* a memfd with the private server's stderr, or -1 */
	char *peer;  /* owned: the path of the socket, or of the program */
};

/* Return the path of this user's daemon's socket. The caller frees it. */
char *transport_usual_socket(void);
/* The socket of root's daemon. */
#define TRANSPORT_SYSTEM_SOCKET "/run/paddock/paddock.sock"

/* Connect to the socket PATH, which is copied. 0 or -errno. */
int transport_connect(struct transport *l, const char *path);

/*
 * Start paddockd --stdio: the program beside this one, else the one of PATH. 0,
 * or -errno with ERRMSG.
 */
int transport_spawn(struct transport *l, const struct cli *cli, char *errmsg,
		    size_t size);
/* Return the program that transport_spawn() starts, the caller's; or NULL. */
char *transport_program(void);
/*
 * Append paddockd's flags to ARGS: the configuration and the template folders
 * of CLI, or DIR (not NULL) instead of these folders.
 */
void transport_arguments(struct opt_list *args, const struct cli *cli,
			 const char *dir);

/*
 * Close the descriptors. A private server gets time to end by itself, then is
 * killed; it is reaped. Returns the status of waitpid(), or 0.
 */
int transport_end(struct transport *l);
/* Free the members, after transport_end() or a failed start. */
void transport_fini(struct transport *l);

/* Print on stderr the last lines that a private server has logged. */
void transport_show_log(const struct transport *l);

#endif
