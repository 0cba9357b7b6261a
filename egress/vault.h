/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vault.h - the values of secrets, in memory that no fork inherits. A value goes from its
 * file to the vault, and from there to the children of runs that have the secret.
 */
#ifndef EGRESS_VAULT_H
#define EGRESS_VAULT_H

#include "egress/policy/settings.h"

struct vault;

/*
 * Read the files of all secrets of S. NULL: a fault, with a sentence in FAULT. The
 * numbers of secrets are their places in S.
 */
struct vault *vault_new(const struct settings *s,
			char fault[SETTINGS_FAULT_MAX]);
void vault_free(struct vault *v); /* NULL is fine */

#define VAULT_NONE ((size_t)-1)

/*
 * Send the value of secret number AT, or an empty value for VAULT_NONE, to SOCK: a packet
 * for the secret NUMBER of an order (egress/run/keys.h). 0 or -errno.
 */
int vault_send(const struct vault *v, size_t at, uint32_t number, int sock);

#endif
