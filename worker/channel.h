/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel.h - the worker's end of the run's socket. Calls block. When the supervisor is
 * gone or breaks the protocol, the functions _exit and never return an error.
 */
#ifndef WORKER_CHANNEL_H
#define WORKER_CHANNEL_H

#include <stdbool.h>

#include "ipc/msg.h"

/*
 * RUN allows RATE messages a second. The worker's pace, CHANNEL_RATE and CHANNEL_BURST of
 * RATE, is below the supervisor's limit of a flood, so that a template that sends too
 * much is slowed and not killed. Before RUN only READY is sent, at once.
 */
#define CHANNEL_RATE 0.8
#define CHANNEL_BURST 0.875
void channel_set_rate(uint64_t rate);

void channel_send(const struct msg *m);

/*
 * Send M, without a body, regardless of the pace and of any message in progress; it is
 * dropped when the socket has no room. Async-signal-safe.
 */
void channel_send_at_once(const struct msg *m);

/* Send M, which has a body but no total and head yet, with the N bytes. */
void channel_send_body(struct msg *m, const char *p, size_t n);

/* Receive the next message; the strings are valid until the next send or receive. */
void channel_recv(struct msg *m);
bool channel_recv_now(struct msg *m); /* false: no message has arrived */

/* Receive the body of HEAD's message, with the CHUNKs: TOTAL bytes, to TO. */
void channel_recv_body(char *to, struct str head, size_t total);

/* The received message breaks the protocol: _exit. */
void channel_broken(void) __attribute__((noreturn));

/*
 * Send FAIL regardless of any message in progress, even between two CHUNKs, and _exit.
 * Async-signal-safe.
 */
_Noreturn void channel_fail_and_exit(const char *code, const char *message,
				     struct str details);

/*
 * Have CALL called ten times a second while a message waits for the worker's pace, before
 * the message is begun. NULL: stop.
 */
void channel_while_waiting(void (*call)(void));

/*
 * The stream of a Lua run with network to the run's child of paddock-egress. No call
 * waits; wait_until_told() does.
 */
void channel_stream_begin(void); /* the run has network */
bool channel_stream_has_begun(void);
bool channel_stream_is_open(void); /* the end of the stream was not met */
void channel_stream_give_up(void); /* nothing more is read or written */

/*
 * Return the number of bytes, or 0: none now. At the end of the stream: 0, and the stream
 * is not open any more.
 */
size_t channel_stream_read(char *to, size_t size);
size_t channel_stream_write(const char *from, size_t n);

#endif
