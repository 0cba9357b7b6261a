/* SPDX-License-Identifier: Apache-2.0 */
/* network.h - the way of a run with network to the run's child of paddock-egress. */
#ifndef WORKER_NETWORK_NETWORK_H
#define WORKER_NETWORK_NETWORK_H

#include <stddef.h>

#define NETWORK_VARIABLES 88

/*
 * Receive the cage channel, the first packet on the run's socket RUN, with the variables of
 * the run's secrets: NAME=VALUE and a NUL each.
 */
void network_take(int run);

/*
 * Listen where paddock-egress accepts connections of the program, and write the
 * certificates from paddock-egress to /dev/shm. 0 or -errno.
 */
int network_open(void);

/*
 * Add the variables for programs to ENVP, NETWORK_VARIABLES at most: the address of the
 * listening socket, the path of the certificates and the placeholders. Without network: none.
 */
void network_variables(char *envp[]);

#endif
