/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_routes.c - paths, Host, Origin, methods and tokens: decides before a
 * body is read who is served. http_conn.c calls it by http_routes_ops. A
 * refusal is a status with a sentence; requests which come before the server is
 * ready wait in a queue.
 */
#include "supervisor/clients/streamable_http/http_routes.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/os/log.h"
#include "proto/json/json_pack.h"
#include "supervisor/config/config.h"
#include "supervisor/run/health/health.h"
#include "supervisor/clients/http/http_field.h"
#include "supervisor/requestor/admission.h"
#include "supervisor/requestor/requestor.h"
#include "supervisor/clients/http_artifacts/http_artifacts.h"
#include "supervisor/clients/streamable_http/http_mcp.h"

bool http_routes_token_possible(const struct config *config)
{
	for (size_t i = 0; i < config->n_requestors; i++)
		if (config->requestors[i].token_sha256 != NULL)
			return true;
	return false;
}

/*
 * Return the text after "Bearer " in FIELD, or NULL for another scheme or no
 * field.
 */
static const char *token_of(const char *field)
{
	static const char scheme[] = "Bearer ";

	if (field == NULL || strncasecmp(field, scheme, strlen(scheme)) != 0)
		return NULL;
	field += strlen(scheme);
	return field + strspn(field, " ");
}

/*
 * Return the requestor of R, borrowed. On LOOPBACK a request without a token
 * may be anonymous while no requestor has a token. NULL: C was refused: 401 for
 * an unknown token or a missing token, 400 for a token in the URL.
 */
static struct requestor *requestor_of(struct context *ctx, bool loopback,
				      struct http_conn *c,
				      const struct http_request *r)
{
	const char *token = token_of(r->field[HTTP_AUTHORIZATION]);
	struct requestor *q = NULL;

	/* URLs are logged and shown, so no token may be there */
	if (r->query != NULL && strcasestr(r->query, "access_token=") != NULL) {
		http_conn_refuse(c, 400,
				 "a token came in the address, where "
				 "others see it; send it as "
				 "Authorization: Bearer, and have it "
				 "replaced");
		return NULL;
	}
	if (loopback)
		q = requestors_anonymous(ctx->requestors);
	if (q == NULL && token != NULL)
		q = requestors_of_token(ctx->requestors, token, strlen(token));
	if (q != NULL)
		return q;
	log_rarely("http", "auth=refused token=%s",
		   token != NULL ? "unknown" : "none");
	http_conn_fields(c, token != NULL
				? "WWW-Authenticate: Bearer realm=\"paddock\", "
				  "error=\"invalid_token\"\r\n"
				: "WWW-Authenticate: Bearer "
				  "realm=\"paddock\"\r\n");
	http_conn_refuse(c, 401,
			 token != NULL
			     ? "the token is nobody's; ask the operator "
			       "for one (paddock token makes it)"
			     : "this server wants Authorization: Bearer "
			       "with a token that its operator gave "
			       "you");
	return NULL;
}

#define JSON "application/json"

#define BIT(method) (1u << (method))
#define LOOKS (BIT(HTTP_IS_GET) | BIT(HTTP_IS_HEAD))

/*
 * Header fields for pages of other origins (https://fetch.spec.whatwg.org,
 * CORS).
 */
#define EXPOSED                                                                \
	"Access-Control-Expose-Headers: Mcp-Session-Id, WWW-Authenticate, "    \
	"Retry-After, Content-Range\r\n"
#define PREFLIGHT                                                              \
	"Access-Control-Allow-Methods: GET, POST, PUT, DELETE\r\n"             \
	"Access-Control-Max-Age: 600\r\n"                                      \
	"Access-Control-Allow-Headers: Accept, Authorization, Content-Type, "  \
	"Content-Digest, Range, "                                              \
	"Last-Event-ID, MCP-Protocol-Version, Mcp-Method, Mcp-Name, "          \
	"Mcp-Session-Id"

/* ---- what is served ---- */

static void healthz(struct http_routes *site, struct http_conn *c,
		    const struct http_request *r)
{
	static const char text[] = "{\"status\":\"ok\"}";

	(void)site, (void)r;
	http_conn_reply(c, 200, JSON, text, sizeof(text) - 1);
}

static void readyz(struct http_routes *site, struct http_conn *c,
		   const struct http_request *r)
{
	struct json_object *o = json_object_new_object();
	const char *errmsg = health_reason(site->ctx), *text;
	struct json_object *warnings = health_warnings(site->ctx);
	size_t len;

	(void)r;
	/* "warning" is the first of "warnings" */
	json_add(o, "status:s reason?s warning?O warnings?o database?o",
		 errmsg ? "not ready" : "ready", errmsg,
		 warnings == NULL ? NULL
				  : json_object_array_get_idx(warnings, 0),
		 warnings, health_database_view(site->ctx, false));
	text = json_text(o, &len);
	http_conn_reply(c, errmsg != NULL ? 503 : 200, JSON, text, len);
	json_object_put(o);
}

/* Return the requestor of C's whole request R, or NULL: C was refused. */
static struct requestor *asker(struct http_routes *site, struct http_conn *c,
			       const struct http_request *r)
{
	/* the body came after a reload: check the token again */
	if (http_conn_head_ms(c) <= site->looked_ms)
		return requestor_of(site->ctx, site->addr.loopback, c, r);
	return http_conn_user(c);
}

static void mcp(struct http_routes *site, struct http_conn *c,
		const struct http_request *r)
{
	struct requestor *requestor;

	if (!site->ready) {
		if (!http_waitq_add(&site->early, c))
			http_waitq_refuse_one(c, HTTP_ROUTES_STARTS);
		return;
	}
	requestor = asker(site, c, r);
	if (requestor != NULL)
		http_mcp_request(&site->sessions, requestor, c);
}

static void artifacts(struct http_routes *site, struct http_conn *c,
		      const struct http_request *r)
{
	struct requestor *q = asker(site, c, r);

	if (r->method == HTTP_IS_PUT)
		http_artifacts_whole(q, c);
	else if (q != NULL && r->method == HTTP_IS_DELETE)
		http_artifacts_delete(site->ctx, q, c, r);
	else if (q != NULL)
		http_artifacts_get(site->ctx, q, c, r);
}

/* Set the requestor of C to Q (NULL: not known). */
static void set_user(struct http_routes *site, struct http_conn *c,
		     struct requestor *q)
{
	struct requestor *was = http_conn_user(c);

	if (was != NULL) {
		was->http_conns--;
		site->n_known--;
	}
	if (q != NULL) {
		q->http_conns++;
		site->n_known++;
	}
	http_conn_set_user(c, q);
}

/* May Q have the connection C? Each requestor leaves connections to others. */
static bool has_request_room(const struct http_routes *site,
			     struct http_conn *c, const struct requestor *q)
{
	int64_t theirs = (int64_t)(site->n_known - q->http_conns);

	if ((int64_t)q->http_conns <
	    admission_share((int64_t)site->connections_max, theirs))
		return true;
	http_conn_retry_after(c, HTTP_RETRY_SOON_MS);
	http_conn_refuse(c, 429,
			 "%zu connections of yours are open, and of the "
			 "%zu in all this server gives you no more now; "
			 "close one, or try again later",
			 q->http_conns, site->connections_max);
	return false;
}

/*
 * Find the requestor of R and count C as the requestor's. NULL: C was refused.
 */
static struct requestor *take_user(struct http_routes *site,
				   struct http_conn *c,
				   const struct http_request *r)
{
	struct requestor *requestor;

	requestor = requestor_of(site->ctx, site->addr.loopback, c, r);
	if (requestor != NULL && !has_request_room(site, c, requestor))
		return NULL;
	set_user(site, c, requestor);
	http_conn_set_usage(c, requestor != NULL ? &requestor->http : NULL,
			    requestor != NULL ? &requestor->turns : NULL);
	return requestor;
}

/* Check the requestor and the head of a request to /mcp. */
static bool mcp_head(struct http_routes *site, struct http_conn *c,
		     const struct http_request *r)
{
	return take_user(site, c, r) != NULL && http_mcp_head(c, r);
}

static bool artifacts_head(struct http_routes *site, struct http_conn *c,
			   const struct http_request *r)
{
	struct requestor *q = take_user(site, c, r);

	if (q == NULL)
		return false;
	if (!site->ready) {
		http_waitq_refuse_one(c, HTTP_ROUTES_STARTS);
		return false;
	}
	return r->method != HTTP_IS_PUT ||
	       http_artifacts_begin(site->ctx, q, c, r);
}

static const struct page {
	const char *path;  /* a path which ends in '/' covers the paths below */
	unsigned methods;  /* the methods served, as bits of BIT() */
	const char *allow; /* METHODS as text, for the field Allow */
	/* checks a request's head; NULL: any head is served */
	bool (*head)(struct http_routes *site, struct http_conn *c,
		     const struct http_request *r);
	void (*serve)(struct http_routes *site, struct http_conn *c,
		      const struct http_request *r);
} pages[] = {
    {HTTP_ARTIFACTS, BIT(HTTP_IS_PUT), "PUT", artifacts_head, artifacts},
    {HTTP_ARTIFACTS "/", LOOKS | BIT(HTTP_IS_DELETE), "GET, HEAD, DELETE",
     artifacts_head, artifacts},
    {"/mcp", BIT(HTTP_IS_GET) | BIT(HTTP_IS_POST) | BIT(HTTP_IS_DELETE),
     HTTP_MCP_ALLOW, mcp_head, mcp},
    {"/healthz", LOOKS, "GET, HEAD", NULL, healthz},
    {"/readyz", LOOKS, "GET, HEAD", NULL, readyz},
};

static const struct page *page_of(const struct http_request *r)
{
	for (size_t i = 0; i < ARRAY_LEN(pages); i++) {
		const char *path = pages[i].path;
		size_t n = strlen(path);

		if (path[n - 1] == '/' ? strncmp(path, r->path, n) == 0
				       : strcmp(path, r->path) == 0)
			return &pages[i];
	}
	return NULL;
}

/* ---- admission ---- */

/*
 * Check Host and Origin, by which a page whose host name was pointed at
 * paddockd (DNS rebinding) is told from a proper client.
 */
static bool may_come(const struct http_routes *site, struct http_conn *c,
		     const struct http_request *r)
{
	const struct config *config = site->ctx->config;
	const char *host = r->field[HTTP_HOST];
	const char *origin = r->field[HTTP_ORIGIN];
	char line[HTTP_HEAD_MAX + 64];

	if (!http_host_ok(&site->addr, host, config->allowed_hosts)) {
		http_conn_refuse(c, 403,
				 "Host is \"%.80s\", which is no name "
				 "of this server; its operator can add "
				 "one to allowed_hosts",
				 host);
		return false;
	}
	if (origin == NULL)
		return true;
	if (!http_origin_ok(origin, host, config->allowed_origins)) {
		http_conn_refuse(c, 403,
				 "pages of \"%.80s\" may not call this "
				 "server; its operator can add that "
				 "to allowed_origins",
				 origin);
		return false;
	}
	/* pages of that origin may read the answer */
	snprintf(line, sizeof(line),
		 "Access-Control-Allow-Origin: %s\r\nVary: Origin\r\n" EXPOSED,
		 origin);
	http_conn_fields(c, line);
	return true;
}

/*
 * Answer a preflight. "*" does not cover Authorization, so fields are named:
 * those of PREFLIGHT and the Mcp-Param- fields asked for.
 */
static void answer_preflight(struct http_conn *c, const struct http_request *r)
{
	const char *names = r->field[HTTP_WANTS_FIELDS];
	struct buf out = {0};

	buf_add_str(&out, PREFLIGHT);
	while (names != NULL && *names != '\0') {
		size_t n;

		names += strspn(names, ", \t");
		n = strcspn(names, ", \t");
		if (http_is_param(names, n))
			buf_printf(&out, ", %.*s", (int)n, names);
		names += n;
	}
	buf_add(&out, "\r\n", 3); /* three bytes: CR, LF and NUL */
	http_conn_fields(c, buf_data(&out));
	http_conn_reply(c, 204, NULL, NULL, 0);
	buf_fini(&out);
}

static bool on_head(void *arg, struct http_conn *c,
		    const struct http_request *r)
{
	struct http_routes *site = arg;
	const struct page *page = page_of(r);
	char line[64];

	set_user(site, c, NULL);
	if (!may_come(site, c, r))
		return false;
	if (page == NULL) {
		http_conn_refuse(c, 404,
				 "there is nothing here; MCP is at "
				 "/mcp");
		return false;
	}
	if (r->method == HTTP_IS_OPTIONS && r->field[HTTP_ORIGIN] != NULL &&
	    r->field[HTTP_WANTS_METHOD] != NULL) {
		answer_preflight(c, r);
		return false;
	}
	if ((page->methods & BIT(r->method)) == 0) {
		snprintf(line, sizeof(line), "Allow: %s\r\n", page->allow);
		http_conn_fields(c, line);
		http_conn_refuse(c, 405,
				 "the request has another method; %s takes %s",
				 page->path, page->allow);
		return false;
	}
	return page->head == NULL || page->head(site, c, r);
}

static void on_request(void *arg, struct http_conn *c,
		       const struct http_request *r)
{
	const struct page *page = page_of(r);

	assert(page != NULL); /* on_head() has found the page */
	page->serve(arg, c, r);
}

static void on_closed(void *arg, struct http_conn *c)
{
	set_user(arg, c, NULL);
}

static void on_unread_less(void *arg)
{
	const struct http_routes *site = arg;

	sessions_read_on(site->ctx);
}

const struct http_conn_ops http_routes_ops = {on_head, on_request, on_closed,
					      on_unread_less};
