/* SPDX-License-Identifier: Apache-2.0 */
/* control.h - the supervisor's own requests; no action of a page. */
#ifndef BROKER_CONTROL_H
#define BROKER_CONTROL_H

#include "broker/broker.h"

/* Is TOOL one? Then it is answered, and BODY taken. */
bool control(struct broker *b, uint32_t seq, const char *tool,
	     struct json_object *body);

#endif
