/* SPDX-License-Identifier: Apache-2.0 */
/*
 * browser_rpc.h - calls to paddock-browser and their answers, as frames
 * (PROTOCOL.md, "paddock-browser"). No descriptor, no process:
 * browser_process.c moves the frames, and alone includes this header.
 */
#ifndef SUPERVISOR_BROWSER_BROWSER_RPC_H
#define SUPERVISOR_BROWSER_BROWSER_RPC_H

#include <sys/queue.h>

#include "base/buf.h"
#include "supervisor/browser/browser_process.h"

TAILQ_HEAD(browser_rpc_list, browser_rpc_call);

struct browser_rpc {
	struct browser_rpc_list out;  /* not sent, or sent in part */
	struct browser_rpc_list sent; /* sent calls, without an answer yet */
	/* the call of SENT whose answer has come in part */
	struct browser_rpc_call *coming;
	size_t unsent; /* bytes of bodies in OUT */
	size_t n;      /* calls in both lists */
	uint32_t last_seq;
	bool answered; /* an answer came since browser_rpc_begin() */
};

struct browser_rpc_call {
	struct browser_rpc *of;
	struct browser_process *process; /* borrowed */
	uint32_t seq;			 /* number of the call; 0: not begun */
	char *tool;
	char *whose; /* the requestor's name; NULL: paddockd's call */
	char *text;  /* body of the call; NULL: sent */
	size_t len, at;
	browser_rpc_done done; /* NULL: no caller waits */
	void *arg;
	/* set if the call is refused before being sent */
	const char *code, *errmsg;
	bool failing; /* the call is in neither list, and about to fail */
	struct buf answer;
	bool ok;
	uint64_t total;
	struct event *overdue; /* owned; may be NULL */
	TAILQ_ENTRY(browser_rpc_call) link;
};

void browser_rpc_init(struct browser_rpc *cs);
/* Free all calls, without calling DONE. */
void browser_rpc_fini(struct browser_rpc *cs);

/* Add a call at the end of OUT. *Takes* BODY. */
struct browser_rpc_call *browser_rpc_add(struct browser_rpc *cs,
					 const char *tool,
					 struct json_object *body);
/*
 * Has C's requestor more calls under way, with C, than allowed? SHARED: leave
 * room for others (base/fair_share.h).
 */
bool browser_rpc_full(const struct browser_rpc_call *c, bool shared);
/* Remove C, which is not begun, from OUT and free it; DONE is not called. */
void browser_rpc_remove(struct browser_rpc_call *c);

/* Note that a program has started, which knows no call. */
void browser_rpc_begin(struct browser_rpc *cs);
/*
 * Write the next frame, of at most CHAN_FRAME_MAX bytes. Returns its length; 0:
 * no frame.
 */
size_t browser_rpc_frame(const struct browser_rpc *cs, void *frame);
/* Note that the frame of browser_rpc_frame() was sent. */
void browser_rpc_sent(struct browser_rpc *cs);
/*
 * Take LEN bytes from the program; complete answers are passed to their DONE.
 * Returns 0, or -EPROTO with the offence in *ERRMSG (static).
 */
int browser_rpc_recv(struct browser_rpc *cs, const void *frame, size_t len,
		     const char **errmsg);

/*
 * Fail calls: C, which is not begun; all not begun; all begun, since the
 * program has ended, and with them the calls without a DONE.
 */
void browser_rpc_fail(struct browser_rpc_call *c, const char *code,
		      const char *errmsg);
void browser_rpc_fail_out(struct browser_rpc *cs, const char *code,
			  const char *errmsg);
void browser_rpc_fail_begun(struct browser_rpc *cs, const char *code,
			    const char *errmsg);
/* fail calls with a CODE */
void browser_rpc_fail_refused(struct browser_rpc *cs);

#endif
