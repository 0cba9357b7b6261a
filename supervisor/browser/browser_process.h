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

struct broker;
struct broker_call;

struct broker_env {
	struct event_base *base;
	/*
	 * Start the program with END as its BROKER_FD and LOG as its standard
	 * error. 0 and *PID, or -errno.
	 */
	int (*launch)(void *arg, int end, int log, pid_t *pid);
	void *arg;
	bool shared; /* there may be other requestors: leave them room */
};

struct broker *broker_new(const struct broker_env *env); /* copied */
/* End the program; what is asked stays unanswered. NULL is fine. */
void broker_stop(struct broker *b);
void broker_free(struct broker *b); /* stopped; NULL is fine */

/* All lent. What is in it is a claim. */
struct broker_answer {
	bool ok;
	/* an object; not OK: code and message, strings, details?, an object */
	struct json_object *body;
	const char *json; /* the same as text: LEN bytes, without a NUL */
	size_t len;
};

/* Called once, and never before broker_ask() has returned. */
typedef void (*broker_done)(void *arg, const struct broker_answer *a);

/*
 * Ask TOOL with BODY (taken), to be answered in TIMEOUT_MS: if it is not by
 * some seconds later, the program is taken for dead. DONE may be NULL.
 */
struct broker_call *broker_ask(struct broker *b, const char *tool,
			       struct json_object *body, int64_t timeout_ms,
			       broker_done done, void *arg);

/* Nobody waits for CALL any more: it is called off, and its DONE not called. */
void broker_forget(struct broker_call *call);

bool broker_is_running(const struct broker *b);
pid_t broker_pid(const struct broker *b); /* 0: there is none */
uint64_t broker_starts(const struct broker *b); /* so far */
/* A child of ours has ended: was it this one? */
bool broker_exited(struct broker *b, pid_t pid, int status);

#endif
