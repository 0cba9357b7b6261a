/* SPDX-License-Identifier: Apache-2.0 */
/* wire.h - the supervisor's socket: whole CALLs in, whole ANSWERs out. */
#ifndef BROKER_WIRE_H
#define BROKER_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "broker/broker.h"

struct wire;

/* The loop ends when the supervisor is gone, or breaks the protocol. */
struct wire *wire_new(struct broker *b, int fd);
void wire_free(struct wire *w);
/* Takes BODY, an object. */
void wire_answer(struct wire *w, uint32_t seq, bool ok,
		 struct json_object *body);

#endif
