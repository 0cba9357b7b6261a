/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keys.h - the values of the run's secrets, in the child: the choice for a request, the
 * changes of the request, and the mask for answers.
 */
#ifndef EGRESS_RUN_KEYS_H
#define EGRESS_RUN_KEYS_H

#include <stdint.h>

#include "base/buf.h"
#include "egress/parse/mask.h"
#include "egress/parse/message.h"
#include "egress/parse/place.h"
#include "egress/policy/policy.h"

/*
 * Head of a packet of the keeper; the value follows. A later packet replaces the value,
 * and an empty value takes the secret away.
 */
struct key_head {
	uint32_t number; /* place of the secret in the order */
};

struct keys {
	const struct order *order;
	struct mask mask;
	size_t n;
	struct {
		char *value;
		size_t len;
	} all[EGRESS_SECRETS_MAX];
};

/* Take a packet from SOCK, blocking or not. 0, -EAGAIN, or -EPIPE at the end. */
int keys_take(struct keys *k, int sock);

/* Has the run a secret for AT? */
bool keys_have(const struct keys *k, const struct place *at);
/*
 * The secret for a request with METHOD and PATH (N bytes, without a query) at AT: its
 * number; -1: none.
 */
int keys_find(const struct keys *k, const struct place *at, const char *method,
	      const char *path, size_t n);

/* Does F stay behind for the sake of the secret NUMBER? */
bool keys_drop(const struct keys *k, int number, const struct field *f);
/* Write F's value to TO, with the secret for the placeholder; false: F has none. */
bool keys_replace(const struct keys *k, int number, const struct field *f,
		  struct buf *to);
/* Write the field of a secret which goes into a field. */
void keys_field(const struct keys *k, int number, struct buf *to);
/* Write PATH, with or without a query; a secret of the query is added. */
void keys_path(const struct keys *k, int number, struct span path,
	       struct buf *to);

#endif
