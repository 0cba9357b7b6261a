/* SPDX-License-Identifier: Apache-2.0 */
/* http_fixture.h - connections over HTTP: their clients and their server are us. */
#ifndef TESTS_UNIT_SUPERVISOR_HTTP_HTTP_FIXTURE_H
#define TESTS_UNIT_SUPERVISOR_HTTP_HTTP_FIXTURE_H

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/os/log.h"
#include "base/mem.h"
#include "supervisor/clients/http/http_conn.h"
#include "tests/unit/tap.h"

extern struct event_base *base;
extern struct http_pool pool;
extern struct http_conn *asked; /* whose request came last */
extern int told;		/* requests, one as often as it is told */

/* What else is done: with a head, with a request; NULL: nothing. */
extern void (*at_head)(struct http_conn *c);
extern void (*at_request)(struct http_conn *c);

void pool_begin(void);
void pool_open(void); /* the pool alone, on BASE */
void pool_end(void);

/* A connection whose request waits for its answer; the client's end of it. */
int come(struct http_conn **c);

void loop(void);

/* The first line of what came to FD, after some turns of the loop. */
const char *first_line(int fd);

#endif
