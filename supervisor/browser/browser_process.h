/* SPDX-License-Identifier: Apache-2.0 */
/*
 * browser_process.h - paddock-browser as a child of ours: started when something is
 * asked of it, started again when it ends, and ended with us. What may be
 * asked, and by whom, is browser.c's.
 */
#ifndef SUPERVISOR_BROWSER_BROWSER_PROCESS_H
#define SUPERVISOR_BROWSER_BROWSER_PROCESS_H

#include <event2/event.h>
#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct browser_process;
struct browser_rpc_call;

struct browser_process_env {
	struct event_base *base;
	/*
	 * Start the program with END as its BROWSER_PROTO_FD and LOG as its standard
	 * error. 0 and *PID, or -errno.
	 */
	int (*launch)(void *arg, int end, int log, pid_t *pid);
	void *arg;
	bool shared; /* there may be other requestors: leave them room */
};

struct browser_process *
browser_process_new(const struct browser_process_env *env); /* copied */
/* End the program; what is asked stays unanswered. NULL is fine. */
void browser_process_stop(struct browser_process *b);
/* stopped; NULL is fine */
void browser_process_free(struct browser_process *b);

/* All lent. What is in it is a claim. */
struct browser_rpc_answer {
	bool ok;
	/* an object; not OK: code and message, strings, details?, an object */
	struct json_object *body;
	const char *json; /* the same as text: LEN bytes, without a NUL */
	size_t len;
};

/* Called once, and never before browser_process_ask() has returned. */
typedef void (*browser_rpc_done)(void *arg, const struct browser_rpc_answer *a);

/*
 * Ask TOOL with BODY (taken), to be answered in TIMEOUT_MS: if it is not by
 * some seconds later, the program is taken for dead. DONE may be NULL.
 */
struct browser_rpc_call *browser_process_ask(struct browser_process *b,
					     const char *tool,
					     struct json_object *body,
					     int64_t timeout_ms,
					     browser_rpc_done done, void *arg);

/* Nobody waits for CALL any more: it is called off, and its DONE not called. */
void browser_process_forget(struct browser_rpc_call *call);

bool browser_process_is_running(const struct browser_process *b);
/* 0: there is none */
pid_t browser_process_pid(const struct browser_process *b);
uint64_t browser_process_starts(const struct browser_process *b); /* so far */
/* A child of ours has ended: was it this one? */
bool browser_process_exited(struct browser_process *b, pid_t pid, int status);

#endif
