/* SPDX-License-Identifier: Apache-2.0 */
/*
 * network_word.h - a network permission as a word, for lists of manifests and grants:
 *
 *   api.example.org:443                        a host of host_rule.h: all of the host
 *   api.example.org:443=GET:/a,POST:/b   these rules of host_rule.h alone
 *
 * Pure functions.
 */
#ifndef NET_NETWORK_WORD_H
#define NET_NETWORK_WORD_H

#include <stdbool.h>
#include <stddef.h>

#include "net/host_rule.h"

#define NETWORK_WORD_MAX 16384u /* bytes of a word */

/* NULL: a good word; or a static text with the fault, to follow the word and a colon. */
const char *network_word_fault(const char *word, size_t n);
bool network_word_ok(const char *word, size_t n);

/* Return how many bytes of WORD, N in all, name the host. */
size_t network_word_host(const char *word, size_t n);

/*
 * Copy the rule at *AT, "METHOD /path", to RULE, and move *AT; at first *AT is behind the
 * host, END behind the word. False: no more rules.
 */
bool network_word_next(const char **at, const char *end,
		       char rule[PATH_RULE_MAX]);

/* Is all that the good word ASKED names within the good word GRANTED, N bytes? */
bool network_word_covers(const char *granted, size_t n, const char *asked);

#endif
