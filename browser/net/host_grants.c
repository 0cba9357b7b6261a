/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_grants.c - the hosts granted to a template by the operator, checked for
 * calls and, through session_access.c, for each connection. A granted name is
 * allowed at public addresses only: the owner of a public name could point it
 * at this machine. A host without a pattern is refused.
 */
#include "browser/net/host_grants.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/net_deny.h"
#include "net/url_policy.h"
#include "ipc/host_pattern.h"

static const char not_granted[] = "a host that is not granted to the template";
static const char not_named[] =
    "an address of this machine or a private network, which the template's "
    "grant does not name";

struct host_grants {
	unsigned users;
	size_t n;
	struct host_pattern all[];
};

struct host_grants *host_grants_new(struct json_object *list)
{
	size_t n = list == NULL ? 0 : json_object_array_length(list);
	struct host_grants *g;
	bool good = n <= HOST_PATTERNS_MAX;

	g = xcalloc(1, sizeof(*g) + (good ? n : 0) * sizeof(g->all[0]));
	g->users = 1;
	for (; good && g->n < n; g->n++) {
		struct json_object *o = json_object_array_get_idx(list, g->n);

		good = json_object_is_type(o, json_type_string) &&
		       host_pattern_parse(
			   &g->all[g->n], json_object_get_string(o),
			   (size_t)json_object_get_string_len(o)) == 0;
	}
	if (good)
		return g;
	host_grants_unref(g);
	return NULL;
}

struct host_grants *host_grants_ref(struct host_grants *g)
{
	if (g != NULL)
		g->users++;
	return g;
}

void host_grants_unref(struct host_grants *g)
{
	if (g != NULL && --g->users == 0)
		free(g);
}

/* Return HOST without a final dot. */
static const char *bare(const char *host, char buffer[URL_HOST_MAX])
{
	size_t n = strlen(host);

	if (n == 0 || n >= URL_HOST_MAX || host[n - 1] != '.')
		return host;
	memcpy(buffer, host, n - 1);
	buffer[n - 1] = '\0';
	return buffer;
}

/* Can the name only mean a local host? */
static bool is_local_name(const char *host)
{
	struct sockaddr_storage address;

	return !host_is_address(host, &address) &&
	       (strchr(host, '.') == NULL ||
		(url_policy_host(host, URL_REMOTE) != NULL &&
		 url_policy_host(host, URL_LOCAL) == NULL));
}

const char *host_grants_address(const struct host_grants *g, const char *host,
				unsigned port, const struct sockaddr *address)
{
	char buffer[URL_HOST_MAX];

	host = bare(host, buffer);
	if (url_policy_address(address, URL_REMOTE) == NULL &&
	    net_deny_address(address, URL_REMOTE) == NULL)
		return NULL; /* public */
	for (size_t i = 0; i < g->n; i++)
		if (host_pattern_has(&g->all[i], address, port) ||
		    (g->all[i].kind == HOST_NAME && is_local_name(host) &&
		     host_pattern_matches(&g->all[i], host, port)))
			return NULL;
	return not_named;
}

const char *host_grants_host(const struct host_grants *g, const char *host,
			     unsigned port)
{
	struct sockaddr_storage address;
	char buffer[URL_HOST_MAX];
	bool matches = false;

	host = bare(host, buffer);
	for (size_t i = 0; !matches && i < g->n; i++)
		matches = host_pattern_matches(&g->all[i], host, port);
	if (!matches)
		return not_granted;
	return host_is_address(host, &address)
		   ? host_grants_address(g, host, port,
					 (struct sockaddr *)&address)
		   : NULL;
}

bool host_grants_refuses(const char *errmsg)
{
	return strcmp(errmsg, not_granted) == 0 ||
	       strncmp(errmsg, not_named, strlen(errmsg)) == 0;
}
