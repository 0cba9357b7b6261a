/* SPDX-License-Identifier: Apache-2.0 */
/*
 * browser_rpc.h - what is asked of paddock-browser, and what it answers, as
 * frames (PROTOCOL.md, "paddock-browser"). No descriptor, no process:
 * browser_process.c moves the frames. Nobody else includes it.
 */
#ifndef SUPERVISOR_BROWSER_BROWSER_RPC_H
#define SUPERVISOR_BROWSER_BROWSER_RPC_H

#include <sys/queue.h>

#include "base/buf.h"
#include "supervisor/browser/browser_process.h"

TAILQ_HEAD(browser_rpc_list, browser_rpc_call);

struct browser_rpc {
	struct browser_rpc_list out;  /* not sent, or but a part */
	struct browser_rpc_list sent; /* without an answer */
	/* of sent: a part of its answer is here */
	struct browser_rpc_call *coming;
	size_t unsent; /* bytes of bodies in out */
	size_t n;      /* in both */
	uint32_t last_seq;
	bool answered; /* something, since browser_rpc_begin() */
};

struct browser_rpc_call {
	struct browser_rpc *of;
	struct browser_process *process; /* borrowed */
	uint32_t seq;			 /* 0: not begun */
	char *tool;
	char *whose; /* its requestor's name; NULL: our own */
	char *text;  /* NULL: sent */
	size_t len, at;
	browser_rpc_done done; /* NULL: nobody waits */
	void *arg;
	const char *code, *errmsg; /* it is refused before it is sent */
	bool failing; /* it is in neither list, and about to be told */
	struct buf answer;
	bool ok;
	uint64_t total;
	struct event *overdue; /* owned; NULL: none */
	TAILQ_ENTRY(browser_rpc_call) link;
};

void browser_rpc_init(struct browser_rpc *cs);
void browser_rpc_fini(struct browser_rpc *cs); /* nobody is told */

/* One more, at the end of out. Takes BODY. */
struct browser_rpc_call *browser_rpc_add(struct browser_rpc *cs,
					 const char *tool,
					 struct json_object *body);
/*
 * Has C's requestor more under way, with C, than is for it: SHARED, so that
 * others find room (base/fair_share.h)?
 */
bool browser_rpc_full(const struct browser_rpc_call *c, bool shared);
/* C leaves out, where it is not begun, and is freed; nobody is told. */
void browser_rpc_remove(struct browser_rpc_call *c);

/* A program has started, which knows of no call. */
void browser_rpc_begin(struct browser_rpc *cs);
/* The next frame, into CHAN_FRAME_MAX bytes; 0: there is none. */
size_t browser_rpc_frame(const struct browser_rpc *cs, void *frame);
void browser_rpc_sent(struct browser_rpc *cs); /* that frame was sent */
/*
 * LEN bytes that the program sent. Who waits for what is whole with them is
 * told. 0, or -EPROTO and in *ERRMSG (static) what it may not say.
 */
int browser_rpc_recv(struct browser_rpc *cs, const void *frame, size_t len,
		     const char **errmsg);

/*
 * Who waits is told: of C, not begun; of all not begun; of all that are, for
 * the program has ended, and what nobody waits for goes with these.
 */
void browser_rpc_fail(struct browser_rpc_call *c, const char *code,
		      const char *errmsg);
void browser_rpc_fail_out(struct browser_rpc *cs, const char *code,
			  const char *errmsg);
void browser_rpc_fail_begun(struct browser_rpc *cs, const char *code,
			    const char *errmsg);
void browser_rpc_fail_refused(struct browser_rpc *cs); /* those with a code */

#endif
