/* SPDX-License-Identifier: Apache-2.0 */
/*
 * egress_record.c - sums of the reports about a run's network, host by host, for
 * worker_network.c and the views of runs. Hosts beyond the bound are counted in the
 * sums alone.
 */
#include "supervisor/egress/egress_record.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/os/log.h"
#include "proto/json/json_pack.h"

#define SECRETS_OF_HOST 8 /* names that a view has */

struct host {
	char *name; /* HOST:PORT, or "": not known */
	uint64_t connections, requests, refused, up, down;
	uint32_t reasons;		/* a bit for each enum egress_reason */
	char *secrets[SECRETS_OF_HOST]; /* names that were put in */
	size_t n_secrets;
};

struct egress_record {
	uint64_t connections, requests, refused, up, down;
	struct host hosts[EGRESS_RECORD_HOSTS];
	size_t n;
	bool more; /* than HOSTS */
};

_Static_assert(EGRESS_REASONS <= 32, "a bit for each reason");

static char *name_of(const struct egress_report *r)
{
	bool six = strchr(r->host, ':') != NULL;

	if (r->host[0] == '\0')
		return xstrdup("");
	return xasprintf("%s%s%s:%u", six ? "[" : "", r->host, six ? "]" : "",
			 r->port);
}

/* Return the host of R, which may be new; NULL: too many. */
static struct host *host_of(struct egress_record *rec,
			    const struct egress_report *r)
{
	char *name = name_of(r);

	for (size_t i = 0; i < rec->n; i++)
		if (strcmp(rec->hosts[i].name, name) == 0) {
			free(name);
			return &rec->hosts[i];
		}
	if (rec->n == EGRESS_RECORD_HOSTS) {
		rec->more = true;
		free(name);
		return NULL;
	}
	rec->hosts[rec->n].name = name;
	return &rec->hosts[rec->n++];
}

/* Note the secret of R. Is it new of the host? */
static bool add_secret(struct host *h, const struct egress_report *r)
{
	for (size_t i = 0; i < h->n_secrets; i++)
		if (strcmp(h->secrets[i], r->secret) == 0)
			return false;
	if (r->secret[0] == '\0' || h->n_secrets == SECRETS_OF_HOST)
		return false;
	h->secrets[h->n_secrets++] = xstrdup(r->secret);
	return true;
}

bool egress_record_add(struct egress_record **rec,
		       const struct egress_report *r)
{
	static struct host beyond;
	struct egress_record *all = *rec;
	struct host *h;
	bool first;

	if (all == NULL)
		all = *rec = xcalloc(1, sizeof(*all));
	if (r->kind == EGRESS_TOTALS)
		return false;
	h = host_of(all, r);
	if (h == NULL)
		h = &beyond;
	first = h != &beyond && r->reason != 0 &&
		(h->reasons & UINT32_C(1) << r->reason) == 0;
	h->reasons |= UINT32_C(1) << r->reason;
	if (h != &beyond && r->kind == EGRESS_REQUEST)
		first |= add_secret(h, r);
	h->connections += r->kind == EGRESS_OPENED;
	h->requests += r->kind == EGRESS_REQUEST;
	h->refused += r->kind == EGRESS_REFUSED;
	h->up += r->bytes_up;
	h->down += r->bytes_down;
	all->connections += r->kind == EGRESS_OPENED;
	all->requests += r->kind == EGRESS_REQUEST;
	all->refused += r->kind == EGRESS_REFUSED;
	all->up += r->bytes_up;
	all->down += r->bytes_down;
	return first;
}

void egress_record_log(const char *run, const char *requestor,
		       const char *template, const struct egress_report *r)
{
	log_warn("network",
		 "run=%s requestor=%s template=%s host=\"%s\" port=%u "
		 "refused=%s grant=\"[grant \\\"%s\\\"] network = %s:%u\"",
		 run, requestor, template, r->host, r->port,
		 egress_reasons[r->reason].code, template, r->host, r->port);
}

static struct json_object *secrets_of(const struct host *h)
{
	struct json_object *list =
	    h->n_secrets > 0 ? json_object_new_array() : NULL;

	for (size_t i = 0; i < h->n_secrets; i++)
		json_object_array_add(list,
				      json_object_new_string(h->secrets[i]));
	return list;
}

static struct json_object *refusals(const struct host *h)
{
	struct json_object *list = NULL;

	for (uint32_t i = 1; i < EGRESS_REASONS; i++) {
		if ((h->reasons & UINT32_C(1) << i) == 0)
			continue;
		if (list == NULL)
			list = json_object_new_array();
		json_object_array_add(
		    list, json_pack("code:s message:s", egress_reasons[i].code,
				    egress_reasons[i].sentence));
	}
	return list;
}

struct json_object *egress_record_view(const struct egress_record *rec)
{
	struct json_object *hosts;

	if (rec == NULL)
		return NULL;
	hosts = json_object_new_array();
	for (size_t i = 0; i < rec->n; i++) {
		const struct host *h = &rec->hosts[i];

		json_object_array_add(
		    hosts,
		    json_pack("host:s connections:i requests:i bytesUp:i "
			      "bytesDown:i secrets?o refused?i refusals?o",
			      h->name, h->connections, h->requests, h->up,
			      h->down, secrets_of(h), h->refused, refusals(h)));
	}
	return json_pack("connections:i requests:i refused:i bytesUp:i "
			 "bytesDown:i hosts:o moreHosts?b",
			 rec->connections, rec->requests, rec->refused, rec->up,
			 rec->down, hosts, rec->more);
}

void egress_record_free(struct egress_record *rec)
{
	for (size_t i = 0; rec != NULL && i < rec->n; i++) {
		for (size_t j = 0; j < rec->hosts[i].n_secrets; j++)
			free(rec->hosts[i].secrets[j]);
		free(rec->hosts[i].name);
	}
	free(rec);
}
