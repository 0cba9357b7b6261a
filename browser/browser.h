/* SPDX-License-Identifier: Apache-2.0 */
/*
 * browser.h - the calls, sessions and tabs of paddock-browser, for all its
 * files.
 *
 * struct browser owns all of them. A call runs in a fiber and borrows its
 * session and tab: when the session or the tab ends, its calls are aborted, and
 * every wait of such a call fails. So a tab is valid from a successful wait to
 * the next wait.
 */
#ifndef BROWSER_BROWSER_H
#define BROWSER_BROWSER_H

#include <event2/event.h>
#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/id.h"
#include "browser/process/browser_sandbox.h"
#include "net/url_policy.h"
#include "ipc/browser_proto.h"

struct limits {
	unsigned sessions;
	unsigned tabs;
	unsigned tabs_per_session;
	int64_t session_idle_ms;
	int64_t session_max_ms;
	int64_t idle_ms;      /* idle time until Chromium is stopped */
	int64_t memory_bytes; /* bytes of all Chromium's processes together */
	int64_t processes;    /* count of Chromium's processes and threads */
	const char *chromium; /* path of Chromium; NULL: look for it */
};

TAILQ_HEAD(call_list, call);
TAILQ_HEAD(session_list, session);
TAILQ_HEAD(tab_list, tab);

struct browser {
	bool alone; /* the only requestor may have everything */
	struct event_base *base;
	struct limits limits;
	struct browser_sandbox cage; /* the own sandbox, as measured */
	struct rpc_server *rpc;
	struct chromium *chromium;
	struct resolver *resolver;
	struct call_list calls;
	unsigned n_calls;
	struct session_list sessions;
	unsigned n_sessions, n_tabs;
	struct hook *hooks;   /* uthash: DevTools session to tab */
	uint32_t n_proxy_ips; /* proxy addresses given to sessions */
	uint64_t refusals;    /* refused by the policy since the start */
	struct event *tick;
};

/* ---- call.c ---- */

struct fault {
	const char *code; /* code of the fault, static; NULL: no fault */
	char *message;
	struct json_object *details;
};

struct call {
	struct browser *b;
	uint32_t seq;
	const struct browser_proto_action *action;
	int (*run)(struct call *c);
	char *requestor;
	char *of_run;	  /* the run's id; NULL: a client's call */
	char *in_session; /* the session given to the run, or NULL */
	/* grants of the run's template; NULL: a client's call */
	struct host_grants *hosts;
	enum url_trust trust;
	struct json_object *args;
	/* clock_mono_ms(): the end of the call, and of its action */
	int64_t last, deadline;
	struct session *session; /* the session and the tab of the action */
	struct tab *tab;
	struct fiber *fiber;
	struct event *wake;
	bool aborted; /* there is a fault, and every wait fails */
	struct fault fault;
	struct json_object *result;
	TAILQ_ENTRY(call) link;
};

/* ---- quota.c ---- */

enum quota_kind {
	QUOTA_SESSIONS,	    /* a session for C's requestor */
	QUOTA_TABS,	    /* a tab in any session of the requestor */
	QUOTA_SESSION_TABS, /* a tab in C's session */
	QUOTA_CALLS,	    /* C itself, which is counted already */
};

/* May C's requestor have one more of KIND? 0, or -1 and a fault. */
int quota_claim(struct call *c, enum quota_kind kind);

/* ---- call.c ---- */

/* Start a call, answered later by rpc_server_reply(). Takes BODY. */
void call_start(struct browser *b, uint32_t seq, const char *tool,
		struct json_object *body);
/*
 * Set the call's fault, unless there is one. Takes DETAILS. Returns -1, so an
 * action can end with the call.
 */
int call_fault(struct call *c, const char *code, struct json_object *details,
	       const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* End C's wait with this fault; called outside C's fiber. */
void call_abort(struct call *c, const char *code, const char *message);
/* Start the time of C's action now. */
void call_begin(struct call *c);
/* Wake the calls in session S and tab T; NULL: in any. */
void calls_wake(struct browser *b, const struct session *s,
		const struct tab *t);

/*
 * Wait until UNTIL (clock_mono_ms()) or call_wake(), in C's fiber. 0, or -1:
 * there is a fault.
 */
int call_wait(struct call *c, int64_t until);
/*
 * Call Chromium. Return the result, which the caller puts; or NULL and a fault.
 * SESSION as in cdp_call(); takes PARAMS.
 */
struct json_object *call_cdp(struct call *c, const char *session,
			     const char *method, struct json_object *params);
/* Call Chromium and drop the result: 0, or -1 and a fault. */
int call_cdp_done(struct call *c, const char *session, const char *method,
		  struct json_object *params);
/*
 * Call Chromium as call_cdp() does, until UNTIL at most. NULL: *ERRMSG is
 * Chromium's error (valid until the next call), "" when no answer came in time,
 * or NULL when the call has a fault.
 */
struct json_object *call_cdp_try(struct call *c, const char *session,
				 const char *method, struct json_object *params,
				 int64_t until, const char **errmsg);
/* Call Chromium and ignore the result. */
void send_cdp(struct browser *b, const char *session, const char *method,
	      struct json_object *params);

/* ---- args.c ---- */

/*
 * Fill C from BODY (lent; see PROTOCOL.md). 0, or -1 and a fault; then some
 * fields may be empty.
 */
int args_take(struct call *c, struct json_object *body);
/* Return an argument, by default from the action's table. */
int64_t arg_int(struct call *c, const char *name);
bool arg_bool(struct call *c, const char *name);
/* returns NULL when not given */
const char *arg_str(struct call *c, const char *name);

/* ---- session.c ---- */

#define FAILURES_KEPT 16
#define SESSION_REACHED_MAX 512 /* hosts with ports that are remembered */

struct failure { /* a failed connection to a host */
	char host[URL_HOST_MAX];
	unsigned port;
	char errmsg[96];
	bool policy;
	int64_t at; /* time by clock_mono_ms(); 0: unused entry */
};

struct session {
	struct browser *b;
	char id[ID_SIZE];
	char *requestor;
	char *of_run; /* the run that made it; NULL: a client did */
	enum url_trust trust;
	bool kept;
	char *context;	   /* Chromium's context; NULL: not yet made */
	uint32_t proxy_ip; /* proxy address of all its traffic */
	/* grants of the run that made it; NULL: a client did */
	struct host_grants *hosts;
	/* runs that joined the session */
	LIST_HEAD(, joined_run) joined_runs;
	/* hosts reached before any run joined */
	TAILQ_HEAD(reached_list, reached) reached;
	unsigned n_reached;
	struct tab_list tabs;
	unsigned n_tabs;
	int64_t created_wall, used_wall; /* times in Unix ms */
	int64_t created, used;		 /* times by clock_mono_ms() */
	struct failure failures[FAILURES_KEPT];
	unsigned n_failures; /* count since the session began */
	uint64_t cookies;    /* digest of the cookies seen last */
	int64_t cookie_changes;
	TAILQ_ENTRY(session) link;
};

/*
 * Find C's session by ID (NULL: the call's default, or the run's own), into
 * C->session; MAKE: make a session when there is none. 0, or -1 and a fault.
 */
int session_enter(struct call *c, const char *id, bool make);
/* Close the session ID, made by the failed call C, if it still exists. */
void session_undo(struct call *c, const char *id);
/* May the call C use the session S? */
bool session_is_of(const struct session *s, const struct call *c);
struct session *session_by_proxy_ip(struct browser *b, uint32_t proxy_ip);
void session_used(struct session *s);
/*
 * Close S and abort its calls with CODE and ERRMSG. TELL: close it in Chromium,
 * too.
 */
void session_close(struct session *s, const char *code, const char *errmsg,
		   bool tell);
unsigned sessions_run_ended(struct browser *b, const char *run);
unsigned sessions_requestor_gone(struct browser *b, const char *requestor);
void sessions_lost(struct browser *b); /* closes all sessions: Chromium ended */
void sessions_sweep(struct browser *b);
/* Return S as in `sessions' and list_sessions; the caller owns the object. */
struct json_object *session_view(const struct session *s);
/* Record a failure to reach HOST; find the last record since the time SINCE. */
void session_failed(struct session *s, const char *host, unsigned port,
		    const char *errmsg, bool policy);
const struct failure *session_failure(const struct session *s, const char *host,
				      unsigned port, int64_t since);

/* ---- tab.c ---- */

#define TAB_REQUESTS_MAX 1000 /* tracked requests of a tab */
/* age from which wait_for_stable ignores a request */
#define TAB_REQUEST_OLD_MS 10000
#define TAB_POPUPS_MAX 8 /* popups reported in an answer */

struct request;

struct tab {
	struct session *session;
	char id[ID_SIZE];
	char *target;	    /* NULL: not yet made; also the main frame's id */
	char *attached;	    /* the tab's DevTools session */
	char *url, *title;  /* the values that Chromium last reported */
	char *loader;	    /* loader of the present document */
	unsigned commits;   /* number of documents so far */
	char *asked_loader; /* loader of the document requested last */
	char *asked_url;
	int status;   /* HTTP status of the last response; 0: none */
	char *loaded; /* the loader of the last DOMContentLoaded */
	char *led_by; /* the joined run that navigated the tab, or NULL */
	bool hung;    /* the document did not answer in time */
	struct request *requests;   /* pending requests; uthash */
	struct json_object *popups; /* an array of closed popups */
	TAILQ_ENTRY(tab) link;
};

/* Open a tab in C->session, as C->tab. 0, or -1, a fault, and no tab. */
int tab_open(struct call *c);
/* Close the tab ID, made by C, if it still exists. */
void tab_undo(struct call *c, const char *id);
/* Find C->tab and C->session by the argument tabId. 0, or -1 and a fault. */
int tab_take(struct call *c);
void tab_close(struct tab *t, const char *code, const char *errmsg, bool tell);
/* Return the tab of the DevTools session ATTACHED, or NULL. */
struct tab *tab_attached(struct browser *b, const char *attached);
/* Give the events of ATTACHED to T, until it is unhooked. */
void tab_hook(struct tab *t, const char *attached);
void tab_unhook(struct tab *t, const char *attached);

unsigned tab_requests(struct tab *t); /* counts pending requests that are not
					 old */
/* Return the HTTP status of the tab's document; 0: unknown. */
int tab_status(const struct tab *t);
/* Track a request of the document of LOADER. A known ID is a redirect. */
void tab_request_begin(struct tab *t, const char *id, const char *loader);
void tab_request_end(struct tab *t, const char *id);
/* Forget requests of documents other than LOADER's; NULL: all requests. */
void tab_requests_keep(struct tab *t, const char *loader);

/* ---- tab_event.c ---- */

/* Handle an event from Chromium. */
void tab_event(struct browser *b, const char *attached, const char *method,
	       struct json_object *params);

/* ---- script.c ---- */

/*
 * Call FUNCTION of page.js with ARGS (taken) in C's tab, in an isolated world
 * that no script of the page reaches. Return its result (the caller's, never
 * NULL: an object or array), or NULL and a fault. UNTIL 0: C's deadline; else
 * NULL without a fault (see C->aborted) when there is no answer by then.
 */
struct json_object *script(struct call *c, const char *function,
			   struct json_object *args, int64_t until);
/* Set the fault for a bad argument selector, as found by page.js; return -1. */
int script_bad_selector(struct call *c);
const char *script_source(void);
#define SCRIPT_WORLD "paddock"

/* ---- actions ---- */

int action_create_tab(struct call *c);
int action_navigate(struct call *c);
int action_close_tab(struct call *c);
int action_wait_for_stable(struct call *c);
int action_wait(struct call *c);
int action_get_page_info(struct call *c);
int action_get_page_content(struct call *c);
int action_find_element(struct call *c);
int action_screenshot(struct call *c);
int action_click(struct call *c);
int action_type_text(struct call *c);
int action_press_key(struct call *c);
int action_keep_session(struct call *c);
int action_close_session(struct call *c);
int action_list_sessions(struct call *c);

#endif
