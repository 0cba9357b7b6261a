/* SPDX-License-Identifier: Apache-2.0 */
/* http_fixture.h - connections over HTTP, with the test as client and as server. */
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
extern struct http_conn *asked; /* the connection of the last request */
/* the number of requests, counted again for each repetition */
extern int told;

/* Further code for a head, and for a request; or NULL. */
extern void (*at_head)(struct http_conn *c);
extern void (*at_request)(struct http_conn *c);

void pool_begin(void);
void pool_open(void); /* the pool alone, on BASE */
void pool_end(void);

/*
 * Open a connection with a request that waits for the answer; returns the client's end.
 */
int come(struct http_conn **c);

void loop(void);

/* The first line received on FD after some turns of the loop. */
const char *first_line(int fd);

#endif
