/* SPDX-License-Identifier: Apache-2.0 */
/*
 * browser_rpc.h - what is asked of paddock-browser, and what it answers, as
 * frames (PROTOCOL.md, "The broker"). No descriptor, no process: broker.c
 * moves the frames. Nobody else includes it.
 */
#ifndef SUPERVISOR_BROWSER_BROWSER_RPC_H
#define SUPERVISOR_BROWSER_BROWSER_RPC_H

#include <sys/queue.h>

#include "base/buf.h"
#include "supervisor/browser/browser_process.h"

TAILQ_HEAD(broker_call_list, broker_call);

struct broker_calls {
	struct broker_call_list out;  /* not sent, or but a part */
	struct broker_call_list sent; /* without an answer */
	struct broker_call *coming; /* of sent: a part of its answer is here */
	size_t unsent;		    /* bytes of bodies in out */
	size_t n;		    /* in both */
	uint32_t last_seq;
	bool answered; /* something, since broker_calls_begin() */
};

struct broker_call {
	struct broker_calls *of;
	struct broker *broker; /* borrowed */
	uint32_t seq;	       /* 0: not begun */
	char *tool;
	char *whose;	       /* its requestor's name; NULL: our own */
	char *text; /* NULL: sent */
	size_t len, at;
	broker_done done; /* NULL: nobody waits */
	void *arg;
	const char *code, *why; /* it is refused before it is sent */
	bool failing; /* it is in neither list, and about to be told */
	struct buf answer;
	bool ok;
	uint64_t total;
	struct event *overdue; /* owned; NULL: none */
	TAILQ_ENTRY(broker_call) link;
};

void broker_calls_init(struct broker_calls *cs);
void broker_calls_fini(struct broker_calls *cs); /* nobody is told */

/* One more, at the end of out. Takes BODY. */
struct broker_call *broker_calls_add(struct broker_calls *cs, const char *tool,
				     struct json_object *body);
/*
 * Has C's requestor more under way, with C, than is for it: SHARED, so that
 * others find room (base/fair_share.h)?
 */
bool broker_calls_full(const struct broker_call *c, bool shared);
/* C leaves out, where it is not begun, and is freed; nobody is told. */
void broker_calls_remove(struct broker_call *c);

/* A program has started, which knows of no call. */
void broker_calls_begin(struct broker_calls *cs);
/* The next frame, into CHAN_FRAME_MAX bytes; 0: there is none. */
size_t broker_calls_frame(const struct broker_calls *cs, void *frame);
void broker_calls_left(struct broker_calls *cs); /* that frame was sent */
/*
 * LEN bytes that the program sent. Who waits for what is whole with them is
 * told. 0, or -EPROTO and in *WHY (static) what it may not say.
 */
int broker_calls_hear(struct broker_calls *cs, const void *frame, size_t len,
		      const char **why);

/*
 * Who waits is told: of C, not begun; of all not begun; of all that are, for
 * the program has ended, and what nobody waits for goes with these.
 */
void broker_calls_fail(struct broker_call *c, const char *code,
		       const char *why);
void broker_calls_fail_out(struct broker_calls *cs, const char *code,
			   const char *why);
void broker_calls_fail_begun(struct broker_calls *cs, const char *code,
			     const char *why);
void broker_calls_fail_refused(struct broker_calls *cs); /* those with a code */

#endif
