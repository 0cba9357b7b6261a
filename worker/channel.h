/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel.h - the worker's end of its run's socket.
 *
 * It blocks. When the supervisor is gone or breaks the protocol, these
 * functions _exit and never return an error.
 */
#ifndef WORKER_CHANNEL_H
#define WORKER_CHANNEL_H

#include <stdbool.h>

#include "ipc/msg.h"

/*
 * RUN allows RATE messages a second. Our pace, CHANNEL_RATE and CHANNEL_BURST
 * of that, is below what the supervisor takes for a flood, so that a template
 * that sends too much is slowed and not killed. Before this only READY is sent,
 * at once.
 */
#define CHANNEL_RATE 0.8
#define CHANNEL_BURST 0.875
void channel_set_rate(uint64_t rate);

void channel_send(const struct msg *m);

/* M has a body, but no total and head yet: sends it, and the N bytes. */
void channel_send_body(struct msg *m, const char *p, size_t n);

/* The next message; its strings are good until anything is sent or received. */
void channel_recv(struct msg *m);
bool channel_recv_now(struct msg *m); /* false: there is none yet */

/* HEAD, just received, and the CHUNKs after it: TOTAL bytes, to TO. */
void channel_recv_body(char *to, struct str head, size_t total);

/* What was received breaks the protocol: _exit. */
void channel_broken(void) __attribute__((noreturn));

/*
 * Send FAIL whatever else is being sent, even between two CHUNKs, and _exit.
 * Async-signal-safe, and the only function here that is.
 */
_Noreturn void channel_last_fail(const char *code, const char *message,
				 struct str details);

/*
 * Have CALL called ten times a second while a message waits for its turn in the
 * worker's rate of messages, before the message is begun. NULL: no more.
 */
void channel_while_waiting(void (*call)(void));

#endif
