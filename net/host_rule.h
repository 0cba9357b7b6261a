/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_rule.h - the hosts of a manifest's permissions.network, and the methods and
 * paths that are allowed there. The supervisor checks manifests and grants by these
 * functions, and paddock-egress each request. Pure.
 *
 * A host is a word:
 *   example.org:443           a name and a port
 *   *.example.org:443         all names below example.org, not example.org itself
 *   192.0.2.7:443             an address; [2001:db8::7]:443
 *   git+https://example.org[:PORT]/acme/x.git   the repositories whose path matches, to
 *                             clone and to fetch; the port is 443 unless given
 *
 * A rule is a method (* for each) and a path: "POST /repos/acme/x". In the path, * stands for
 * one segment, and at the end for any rest. A path that servers may read in two ways is
 * in no rule: with empty segments, dot segments, a backslash or a broken escape. An
 * escaped slash matches an escaped slash of the rule alone.
 */
#ifndef NET_HOST_RULE_H
#define NET_HOST_RULE_H

#include <stdbool.h>
#include <stddef.h>

#include "ipc/host_pattern.h"

#define PATH_RULE_MAX 512	 /* bytes of a rule, with its method and NUL */
#define HOST_RULE_WORD_MAX 600u	 /* bytes of a host's word */
#define HOST_RULE_METHOD_MAX 24u /* bytes of a method, with NUL */
#define HOST_RULE_PATH_MAX 4096u /* bytes of a path that can match */
#define HOST_RULE_GIT_RULES 2u	 /* rules that a word of git+https stands for */

struct path_rule {
	char method[HOST_RULE_METHOD_MAX]; /* in capitals, or "*" */
	char path[PATH_RULE_MAX]; /* in the form of host_rule_canon() */
};

struct host_rule {
	struct host_pattern host; /* with a port; no network, no "*" */
	struct path_rule git[HOST_RULE_GIT_RULES];
	size_t n_git; /* of git+https; else 0 */
};

/*
 * Parse the N bytes at WORD. NULL, or a static text with the fault, to follow the word
 * and a colon.
 */
const char *host_rule_parse(struct host_rule *r, const char *word, size_t n);
/* Parse a rule likewise. */
const char *path_rule_parse(struct path_rule *r, const char *text, size_t n);

/*
 * Is HOST, at PORT, R's? HOST is a name in lower case without a final dot, or an
 * address without brackets. An address is only R's when R is that address.
 */
bool host_rule_matches(const struct host_rule *r, const char *host,
		       unsigned port);

/*
 * Write PATH (N bytes, without a query) to TO with as few escapes as possible, and
 * capitals in those. False: servers may read PATH in two ways, or PATH is too long.
 */
bool host_rule_canon(char to[HOST_RULE_PATH_MAX], const char *path, size_t n);
/* Is METHOD on PATH, as host_rule_canon() wrote it, in R? */
bool path_rule_matches(const struct path_rule *r, const char *method,
		       const char *path);

#endif
