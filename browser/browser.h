/* SPDX-License-Identifier: Apache-2.0 */
/*
 * browser.h - what the files of paddock-browser share: its calls, sessions and
 * tabs.
 *
 * struct browser owns all of them. A call runs in a fiber and borrows its
 * session and tab: when one of these ends, its calls are aborted, and every
 * wait of theirs fails. So a tab is valid from one wait that succeeded to the
 * next.
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
#include "browser/net/url_policy.h"
#include "ipc/browser_proto.h"

struct limits {
	unsigned sessions;
	unsigned tabs;
	unsigned tabs_per_session;
	int64_t session_idle_ms;
	int64_t session_max_ms;
	int64_t idle_ms;      /* of Chromium without a session */
	int64_t memory_bytes; /* Chromium's, all processes together */
	int64_t processes;    /* and threads */
	const char *chromium; /* NULL: look for it */
};

TAILQ_HEAD(call_list, call);
TAILQ_HEAD(session_list, session);
TAILQ_HEAD(tab_list, tab);

struct browser {
	bool alone; /* there is one requestor, who may have everything */
	struct event_base *base;
	struct limits limits;
	struct browser_sandbox cage; /* as measured */
	struct rpc_server *rpc;
	struct chromium *chromium;
	struct resolver *resolver;
	struct call_list calls;
	unsigned n_calls;
	struct session_list sessions;
	unsigned n_sessions, n_tabs;
	struct hook *hooks;   /* uthash: DevTools session to tab */
	uint32_t n_proxy_ips; /* proxy addresses given to sessions */
	uint64_t refusals;    /* by the policy, since the start */
	struct event *tick;
};

/* ---- call.c ---- */

struct fault {
	const char *code; /* static; NULL: none */
	char *message;
	struct json_object *details;
};

struct call {
	struct browser *b;
	uint32_t seq;
	const struct browser_proto_action *action;
	int (*run)(struct call *c);
	char *requestor;
	char *of_run;	  /* NULL: a client's own */
	char *in_session; /* that the run was given, or NULL */
	/* of the run's template; NULL: a client's own */
	struct host_grants *hosts;
	enum url_trust trust;
	struct json_object *args;
	int64_t deadline;	 /* clock_mono_ms() */
	struct session *session; /* those it works in */
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
	QUOTA_SESSIONS,	    /* one more session of C's requestor's */
	QUOTA_TABS,	    /* one more tab of all its sessions */
	QUOTA_SESSION_TABS, /* one more of C's session */
	QUOTA_CALLS,	    /* C, which is counted already */
};

/* May the requestor of C have one more? 0, or -1 and a fault. */
int quota_claim(struct call *c, enum quota_kind kind);

/* ---- call.c ---- */

/* Start a call; it answers by rpc_server_reply(). Takes BODY. */
void call_start(struct browser *b, uint32_t seq, const char *tool,
		struct json_object *body);
/*
 * Returns -1, so that an action can end with it. Takes DETAILS; the first fault
 * counts.
 */
int call_fault(struct call *c, const char *code, struct json_object *details,
	       const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* From outside its fiber: end its wait with this fault. */
void call_abort(struct call *c, const char *code, const char *message);
void call_wake(struct call *c);
/* Those that work in S and T; NULL: in any. */
void calls_wake(struct browser *b, const struct session *s,
		const struct tab *t);

/*
 * Within C's fiber: wait until UNTIL (clock_mono_ms()) or call_wake(). 0; -1: a
 * fault.
 */
int call_wait(struct call *c, int64_t until);
/*
 * Call Chromium. The result, which the caller puts; or NULL and a fault.
 * SESSION as cdp_call(); takes PARAMS.
 */
struct json_object *call_cdp(struct call *c, const char *session,
			     const char *method, struct json_object *params);
/* The same, when its result does not matter: 0, or -1 and a fault. */
int call_cdp_done(struct call *c, const char *session, const char *method,
		  struct json_object *params);
/*
 * The same as call_cdp(), at most until UNTIL. NULL, and in *ERRMSG the error of Chromium
 * (good until the next), "" when it did not answer in time, NULL: a fault.
 */
struct json_object *call_cdp_try(struct call *c, const char *session,
				 const char *method, struct json_object *params,
				 int64_t until, const char **errmsg);
/* Call Chromium and ignore the result. */
void send_cdp(struct browser *b, const char *session, const char *method,
	      struct json_object *params);

/* Arguments, with the defaults of the action's table. */
int64_t arg_int(struct call *c, const char *name);
bool arg_bool(struct call *c, const char *name);
const char *arg_str(struct call *c, const char *name); /* NULL: not given */

/* ---- session.c ---- */

#define FAILURES_KEPT 16
#define SESSION_REACHED_MAX 512 /* hosts and ports that are remembered */

struct failure { /* a host that was not reached */
	char host[URL_HOST_MAX];
	unsigned port;
	char errmsg[96];
	bool policy;
	int64_t at; /* clock_mono_ms(); 0: none */
};

struct session {
	struct browser *b;
	char id[ID_SIZE];
	char *requestor;
	char *of_run; /* NULL: a client made it */
	enum url_trust trust;
	bool kept;
	char *context;	   /* Chromium's; NULL: being made */
	uint32_t proxy_ip; /* the proxy address that all its traffic uses */
	/* of the run that made it; NULL: a client did */
	struct host_grants *hosts;
	/* runs of other templates that use it */
	LIST_HEAD(, joined_run) joined_runs;
	TAILQ_HEAD(reached_list, reached) reached; /* before there were any */
	unsigned n_reached;
	struct tab_list tabs;
	unsigned n_tabs;
	int64_t created_wall, used_wall; /* Unix ms */
	int64_t created, used;		 /* clock_mono_ms() */
	struct failure failures[FAILURES_KEPT];
	unsigned n_failures; /* ever */
	uint64_t cookies;    /* a digest of those seen last */
	int64_t cookie_changes;
	TAILQ_ENTRY(session) link;
};

/*
 * C's session: the one called ID (NULL: its default), or its run's; MAKE: a
 * new one when it has none. In C->session. 0, or -1 and a fault.
 */
int session_enter(struct call *c, const char *id, bool make);
/* C failed after it made the session ID: close it, if it still exists. */
void session_undo(struct call *c, const char *id);
/* May C use S? */
bool session_is_of(const struct session *s, const struct call *c);
struct session *session_by_proxy_ip(struct browser *b, uint32_t proxy_ip);
void session_used(struct session *s);
/*
 * Aborts its calls with CODE and ERRMSG; TELL: Chromium, too, where it still
 * exists.
 */
void session_close(struct session *s, const char *code, const char *errmsg,
		   bool tell);
unsigned sessions_run_ended(struct browser *b, const char *run);
unsigned sessions_requestor_gone(struct browser *b, const char *requestor);
void sessions_lost(struct browser *b); /* Chromium ended */
void sessions_sweep(struct browser *b);
/* {sessionId…}, for `sessions' and list_sessions; the caller's. */
struct json_object *session_view(const struct session *s);
/* Note why HOST was not reached; find the last such note since SINCE. */
void session_failed(struct session *s, const char *host, unsigned port,
		    const char *errmsg, bool policy);
const struct failure *session_failure(const struct session *s, const char *host,
				      unsigned port, int64_t since);

/* ---- tab.c ---- */

#define TAB_REQUESTS_MAX 1000	 /* requests of a tab that are tracked */
#define TAB_REQUEST_OLD_MS 10000 /* then wait_for_stable ignores it */
#define TAB_POPUPS_MAX 8	 /* popups that are reported */

struct request;

struct tab {
	struct session *session;
	char id[ID_SIZE];
	char *target;	    /* NULL: being made; also the main frame's id */
	char *attached;	    /* its DevTools session */
	char *url, *title;  /* as Chromium last reported */
	char *loader;	    /* of the present document */
	unsigned commits;   /* documents that were loaded, ever */
	char *asked_loader; /* of the document that was requested last */
	char *asked_url;
	int status;   /* of its response; 0: none */
	char *loaded; /* the loader of the last DOMContentLoaded */
	char *led_by; /* the joined run that navigated it, or NULL */
	bool hung;    /* the document did not answer in time */
	struct request *requests;   /* uthash */
	struct json_object *popups; /* an array: popups that were closed */
	TAILQ_ENTRY(tab) link;
};

/* Open one in C->session, as C->tab. 0, or -1, a fault, and no tab. */
int tab_open(struct call *c);
/* Close the tab ID, which C made, if it still exists. */
void tab_undo(struct call *c, const char *id);
/* C->tab and C->session from its argument tabId. 0, or -1 and a fault. */
int tab_take(struct call *c);
void tab_close(struct tab *t, const char *code, const char *errmsg, bool tell);
/* The tab whose DevTools session ATTACHED is, or NULL. */
struct tab *tab_attached(struct browser *b, const char *attached);
/* Events of ATTACHED belong to T until it is unhooked. */
void tab_hook(struct tab *t, const char *attached);
void tab_unhook(struct tab *t, const char *attached);

/* ---- tab_request.c ---- */

unsigned tab_requests(struct tab *t); /* pending, and not old */
/* HTTP status of its document; 0: unknown */
int tab_status(const struct tab *t);
/* The document of LOADER made it. One with a known id is a redirect. */
void tab_request_begin(struct tab *t, const char *id, const char *loader);
void tab_request_end(struct tab *t, const char *id);
/* Forget those of other documents than LOADER's; NULL: all. */
void tab_requests_keep(struct tab *t, const char *loader);

/* ---- tab_event.c ---- */

/* An event of Chromium's. */
void tab_event(struct browser *b, const char *attached, const char *method,
	       struct json_object *params);

/* ---- script.c ---- */

/*
 * Call FUNCTION of page.js with ARGS (taken) in C's tab, in an isolated world
 * that no script of the page reaches. Its result (the caller's, never NULL: an
 * object or array), or NULL and a fault. UNTIL 0: C's deadline; else NULL
 * without a fault (see C->aborted) when there is no answer by then.
 */
struct json_object *script(struct call *c, const char *function,
			   struct json_object *args, int64_t until);
/* The fault that page.js reports of the argument selector; -1. */
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
