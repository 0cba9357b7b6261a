/* SPDX-License-Identifier: Apache-2.0 */
/*
 * browser_status.c - the state of the browser: for clients by
 * get_runtime_profile, for the log on SIGUSR1. paddock-browser is asked if it
 * runs, and is not started; without an answer the reason is given.
 */
#include "supervisor/browser/browser_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/os/log.h"
#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "supervisor/spawn/cgroup.h"

/* ---- for clients ---- */

struct view { /* request.state */
	struct request *call;
	struct browser_rpc_call *asked; /* NULL: the call was answered */
	void (*done)(struct request *req, struct json_object *view);
};

static void view_free(void *state)
{
	struct view *v = state;

	if (v->asked != NULL)
		browser_process_forget(v->asked);
	free(v);
}

static const struct request_ops view_ops = {.free = view_free};

/* Describe the browser without asking it. The path is for local clients. */
static struct json_object *known_session(const struct session *s)
{
	const struct config *config = s->ctx->config;
	const char *errmsg = browser_lacks(config);
	const char *path = browser_chromium(config);
	bool shown = errmsg == NULL && session_trust(s) == TRUST_LOCAL;

	return json_pack("available:b reason?s path?s", errmsg == NULL, errmsg,
			 shown ? path : NULL);
}

/* Describe the cage of paddock-browser, as measured by the program. */
static struct json_object *cage_of(const struct browser *b,
				   struct json_object *status)
{
	struct json_object *cage = json_member(status, "cage");
	int64_t uid = json_member_int(cage, "uid");
	bool grouped =
	    cgroup_holds(CGROUP_BROWSER, browser_process_pid(b->process));

	return json_pack("seccomp:b landlock:i limits:b ownUser:b cgroup:s",
			 json_member_bool(cage, "seccomp"),
			 json_member_int(cage, "landlock"),
			 json_member_bool(cage, "limits"),
			 cage != NULL && uid != (int64_t)geteuid(),
			 grouped ? cgroup_name() : "none");
}

static void on_view(void *arg, const struct browser_rpc_answer *answer)
{
	static const char *const told[] = {"version", "sandboxed"};
	struct view *v = arg;
	struct request *req = v->call;
	void (*done)(struct request *, struct json_object *) = v->done;
	struct json_object *o = known_session(req->session), *is;
	/* to a requestor without a session more would disclose what others do */
	bool knows =
	    answer->ok && json_member(json_member(answer->body, "requestors"),
				      req->session->requestor->name) != NULL;

	for (size_t i = 0; knows && i < ARRAY_LEN(told); i++)
		if ((is = json_member(answer->body, told[i])) != NULL)
			json_object_object_add(o, told[i], json_object_get(is));
	if (knows)
		json_add(o, "cage:o",
			 cage_of(req->session->ctx->browser, answer->body));
	free(request_take_state(req));
	done(req, o);
}

static struct browser_rpc_call *ask_status(struct browser *b,
					   browser_rpc_done done, void *arg)
{
	return browser_process_ask(b->process, "status",
				   json_object_new_object(), BROWSER_REQUEST_MS,
				   done, arg);
}

void browser_view(struct request *req,
		  void (*done)(struct request *req, struct json_object *view))
{
	struct browser *b = req->session->ctx->browser;
	struct view *v;

	if (!req->session->requestor->browses ||
	    !browser_process_is_running(b->process)) {
		done(req, known_session(req->session));
		return;
	}
	v = xcalloc(1, sizeof(*v));
	v->call = req;
	v->done = done;
	request_set_state(req, &view_ops, v);
	v->asked = ask_status(b, on_view, v);
}

/* ---- for the log ---- */

static void on_status(void *arg, const struct browser_rpc_answer *answer)
{
	const struct browser *b = arg;
	struct json_object *o = answer->body;
	struct json_object *all = json_member(o, "requestors");
	struct json_object *sandboxed = json_member(o, "sandboxed");
	const char *version = json_member_str(o, "version");

	if (!answer->ok) {
		log_info("browser", "status=unknown why=\"%s\"",
			 json_member_str(o, "message"));
		return;
	}
	log_info("browser",
		 "status=%s starts=%llu chromium=\"%s\" chromium_starts=%lld "
		 "crashes=%lld sandboxed=%s sessions=%lld tabs=%lld calls=%lld "
		 "refusals=%lld",
		 json_member_bool(o, "running") ? "running" : "idle",
		 (unsigned long long)browser_process_starts(b->process),
		 version != NULL ? version : "",
		 (long long)json_member_int(o, "starts"),
		 (long long)json_member_int(o, "crashes"),
		 sandboxed == NULL		      ? "unknown"
		 : json_object_get_boolean(sandboxed) ? "yes"
						      : "no",
		 (long long)json_member_int(o, "sessions"),
		 (long long)json_member_int(o, "tabs"),
		 (long long)json_member_int(o, "calls"),
		 (long long)json_member_int(o, "refusals"));
	if (!json_object_is_type(all, json_type_object))
		return;
	json_object_object_foreach(all, name, of) {
		log_info("browser", "requestor=%s sessions=%lld tabs=%lld",
			 name, (long long)json_member_int(of, "sessions"),
			 (long long)json_member_int(of, "tabs"));
	}
}

void browser_log(struct browser *b)
{
	const char *errmsg = browser_lacks(b->ctx->config);

	if (browser_process_is_running(b->process))
		ask_status(b, on_status, b);
	else
		log_info("browser", "status=%s starts=%llu why=\"%s\"",
			 errmsg == NULL ? "off" : "none",
			 (unsigned long long)browser_process_starts(b->process),
			 errmsg == NULL ? "nothing has asked for it" : errmsg);
}
