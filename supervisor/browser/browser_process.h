/* SPDX-License-Identifier: Apache-2.0 */
/*
 * browser_process.h - paddock-browser as a child of paddockd: started for the
 * first call, started again when it ends, ended with paddockd. browser.c
 * decides on calls and callers.
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
	 * Start the program with END as its BROWSER_PROTO_FD and LOG as its
	 * standard error. Returns 0 and *PID, or -errno.
	 */
	int (*launch)(void *arg, int end, int log, pid_t *pid);
	void *arg;
	bool shared; /* other requestors may come: leave them room */
};

struct browser_process *
browser_process_new(const struct browser_process_env *env); /* *copies* ENV */
/* End the program; calls are not answered. NULL is fine. */
void browser_process_stop(struct browser_process *b);
/* after browser_process_stop(); NULL is fine */
void browser_process_free(struct browser_process *b);

/* An answer, all *lent*. The program's answers are claims, to be checked. */
struct browser_rpc_answer {
	bool ok;
	/*
	 * an object; if not OK: code and message, strings, and details?, an
	 * object
	 */
	struct json_object *body;
	const char *json; /* BODY as text: LEN bytes, without a NUL */
	size_t len;
};

/* Called once, and never before browser_process_ask() has returned. */
typedef void (*browser_rpc_done)(void *arg, const struct browser_rpc_answer *a);

/*
 * Call TOOL with BODY (*taken*), which has to be answered in TIMEOUT_MS: some
 * seconds later the program is taken for dead. DONE may be NULL.
 */
struct browser_rpc_call *browser_process_ask(struct browser_process *b,
					     const char *tool,
					     struct json_object *body,
					     int64_t timeout_ms,
					     browser_rpc_done done, void *arg);

/* Cancel CALL, whose DONE is not called. */
void browser_process_forget(struct browser_rpc_call *call);

bool browser_process_is_running(const struct browser_process *b);
/* Return the program's pid, or 0. */
pid_t browser_process_pid(const struct browser_process *b);
/* Return why the program does not work, or NULL; see browser_trouble(). */
const char *browser_process_trouble(const struct browser_process *b);
/* Return how often the program was started. */
uint64_t browser_process_starts(const struct browser_process *b);
/* Handle the end of the child PID. Returns whether PID was paddock-browser. */
bool browser_process_exited(struct browser_process *b, pid_t pid, int status);

#endif
