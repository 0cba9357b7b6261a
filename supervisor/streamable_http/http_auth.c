/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_auth.c - who asks over HTTP, by the bearer token. http_routes.c calls it
 * for each request to the endpoint. NULL when the client has been refused: 401
 * for no token where one is needed or an unknown one, 400 for one in the
 * address, where it would be logged.
 */
#include "supervisor/streamable_http/http_auth.h"

#include <string.h>
#include <strings.h>

#include "base/os/log.h"
#include "supervisor/config/config.h"
#include "supervisor/requestor/requestor.h"

bool http_auth_possible(const struct config *config)
{
	for (size_t i = 0; i < config->n_requestors; i++)
		if (config->requestors[i].token_sha256 != NULL)
			return true;
	return false;
}

/* What follows "Bearer "; NULL: another scheme, or nothing. */
static const char *token_of(const char *field)
{
	static const char scheme[] = "Bearer ";

	if (field == NULL || strncasecmp(field, scheme, strlen(scheme)) != 0)
		return NULL;
	field += strlen(scheme);
	return field + strspn(field, " ");
}

/* Where a token came that it must not: addresses are logged and shown. */
static bool is_in_query(const char *query)
{
	return query != NULL && strcasestr(query, "access_token=") != NULL;
}

struct requestor *http_auth(struct context *ctx, bool loopback,
			    struct http_conn *c, const struct http_request *r)
{
	const char *token = token_of(r->field[HTTP_AUTHORIZATION]);
	struct requestor *q = NULL;

	if (is_in_query(r->query)) {
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
