/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings.c - reads the supervisor's settings and orders of runs, for the keeper. The
 * supervisor has checked the operator's words already; a word that is not understood
 * here fails the whole, with a sentence for people, so that nothing is granted by halves.
 */
#include "egress/policy/settings.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text/host_list.h"
#include "proto/json/json.h"

static bool fail(char *fault, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static bool fail(char *fault, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(fault, SETTINGS_FAULT_MAX, fmt, ap);
	va_end(ap);
	return false;
}

/* ---- shared ---- */

static char *take_text(struct json_object *o, const char *key)
{
	const char *text = json_member_str(o, key);

	return text == NULL || *text == '\0' ? NULL : xstrdup(text);
}

/* The text of ITEM; "" for another type. */
static const char *item_text(struct json_object *item)
{
	return json_object_is_type(item, json_type_string)
		   ? json_object_get_string(item)
		   : "";
}

/* Is the member absent, or a list of at most MOST? */
static bool is_list(struct json_object *list, size_t most)
{
	return list == NULL || (json_object_is_type(list, json_type_array) &&
				json_length(list) <= most);
}

/* Add rules of LIST (NULL: none is given) to R. */
static bool take_rules(struct rules *r, struct json_object *list, char *fault)
{
	const char *errmsg = NULL;

	if (list == NULL)
		return true;
	if (!is_list(list, EGRESS_RULES_MAX))
		return fail(fault, "A list of rules has more than %u of them.",
			    EGRESS_RULES_MAX);
	r->given = true;
	r->all =
	    xrealloc(r->all, (r->n + json_length(list) + 1) * sizeof(*r->all));
	json_each(item, list) {
		const char *text = item_text(item);

		errmsg = path_rule_parse(&r->all[r->n], text, strlen(text));
		if (errmsg != NULL)
			return fail(fault, "\"%.200s\" is no rule: %s.", text,
				    errmsg);
		r->n++;
	}
	return true;
}

/* ---- settings ---- */

static bool take_range(struct private_range *r, struct json_object *o,
		       char *fault)
{
	const char *text = json_member_str(o, "range");

	if (text == NULL ||
	    host_pattern_parse(&r->net, text, strlen(text)) < 0 ||
	    r->net.kind != HOST_NET || r->net.port != 0)
		return fail(fault,
			    "The private range \"%.100s\" is no network, such "
			    "as 10.1.0.0/16.",
			    text == NULL ? "" : text);
	r->requestor = take_text(o, "requestor");
	return true;
}

static bool take_ranges(struct settings *s, struct json_object *list,
			char *fault)
{
	if (!is_list(list, SETTINGS_RANGES_MAX))
		return fail(fault, "At most %d private ranges are taken.",
			    SETTINGS_RANGES_MAX);
	s->ranges = xcalloc(json_length(list) + 1, sizeof(*s->ranges));
	json_each(item, list) {
		if (!take_range(&s->ranges[s->n_ranges++], item, fault))
			return false;
	}
	return true;
}

static bool take_deny(struct settings *s, struct json_object *list, char *fault)
{
	struct host_list *parsed;
	char *joined = xstrdup("");

	json_each(item, list) {
		char *longer = xasprintf("%s %s", joined, item_text(item));

		free(joined);
		joined = longer;
	}
	s->deny = joined;
	parsed = host_list_new(joined);
	if (parsed == NULL)
		return fail(fault,
			    "The list of denied hosts is \"%.200s\", "
			    "with a word that is no host and no network.",
			    joined);
	host_list_free(parsed);
	return true;
}

static bool take_secret_hosts(struct secret *s, struct json_object *list,
			      char *fault)
{
	if (json_length(list) == 0 || !is_list(list, EGRESS_HOSTS_MAX))
		return fail(fault, "The secret %s needs a list of hosts.",
			    s->name);
	s->hosts = xcalloc(json_length(list), sizeof(*s->hosts));
	json_each(item, list) {
		const char *text = item_text(item);
		struct host_pattern *p = &s->hosts[s->n_hosts++];

		if (host_pattern_parse(p, text, strlen(text)) < 0 ||
		    p->kind == HOST_ANY)
			return fail(fault,
				    "The secret %s has \"%.200s\", which is no "
				    "host.",
				    s->name, text);
	}
	return true;
}

/* Split "NAME: before{}after". */
static bool take_header(struct secret *s, const char *text, char *fault)
{
	const char *colon = strchr(text, ':');
	const char *hole = colon == NULL ? NULL : strstr(colon, "{}");
	const char *from;

	if (hole == NULL || colon == text ||
	    strcspn(text, "\r\n \t") < (size_t)(colon - text) ||
	    strpbrk(text, "\r\n") != NULL)
		return fail(fault,
			    "The secret %s has the header \"%.200s\"; one such "
			    "as \"Authorization: Bearer {}\" would pass.",
			    s->name, text);
	from = colon + 1 + strspn(colon + 1, " ");
	s->where = xstrndup(text, (size_t)(colon - text));
	s->before = xstrndup(from, (size_t)(hole - from));
	s->after = xstrdup(hole + 2);
	return true;
}

static bool take_place(struct secret *s, struct json_object *o, char *fault)
{
	const char *header = json_member_str(o, "header");
	const char *basic = json_member_str(o, "basic");
	const char *query = json_member_str(o, "query");

	if ((header != NULL) + (basic != NULL) + (query != NULL) != 1)
		return fail(fault,
			    "The secret %s needs one of header, basic and "
			    "query.",
			    s->name);
	if (header != NULL)
		return take_header(s, header, fault);
	s->place = basic != NULL ? SECRET_BASIC : SECRET_QUERY;
	s->where = xstrdup(basic != NULL ? basic : query);
	return true;
}

static bool take_secret(struct secret *s, struct json_object *o, char *fault)
{
	const char *name = json_member_str(o, "name");

	if (name == NULL || *name == '\0' || strlen(name) >= sizeof(s->name))
		return fail(fault, "A secret needs a name of 1 to %zu bytes.",
			    sizeof(s->name) - 1);
	memcpy(s->name, name, strlen(name) + 1);
	s->file = take_text(o, "file");
	if (s->file == NULL)
		return fail(fault, "The secret %s needs a file.", name);
	s->placeholder = take_text(o, "placeholder");
	if (s->placeholder != NULL && strlen(s->placeholder) < 8)
		return fail(fault,
			    "The placeholder of the secret %s needs 8 bytes or "
			    "more.",
			    name);
	return take_place(s, o, fault) &&
	       take_secret_hosts(s, json_member(o, "hosts"), fault) &&
	       take_rules(&s->rules, json_member(o, "rules"), fault);
}

static bool take_secrets(struct settings *s, struct json_object *list,
			 char *fault)
{
	if (!is_list(list, SETTINGS_SECRETS_MAX))
		return fail(fault, "At most %d secrets are taken.",
			    SETTINGS_SECRETS_MAX);
	s->secrets = xcalloc(json_length(list) + 1, sizeof(*s->secrets));
	json_each(item, list) {
		if (!take_secret(&s->secrets[s->n_secrets++], item, fault))
			return false;
	}
	return true;
}

/* An upstream proxy is refused: addresses can be checked only where hosts are reached directly. */
static bool lacks_proxy(const char *url, char *fault)
{
	return url == NULL || *url == '\0' ||
	       fail(fault,
		    "The upstream proxy is \"%.200s\", but hosts are reached "
		    "directly; a configuration without one passes.",
		    url);
}

struct settings *settings_new(struct json_object *spec,
			      char fault[SETTINGS_FAULT_MAX])
{
	struct settings *s = xcalloc(1, sizeof(*s));

	s->resolver = take_text(spec, "resolver");
	s->authorities = take_text(spec, "ca");
	if (take_deny(s, json_member(spec, "deny"), fault) &&
	    take_ranges(s, json_member(spec, "private"), fault) &&
	    lacks_proxy(json_member_str(spec, "upstreamProxy"), fault) &&
	    take_secrets(s, json_member(spec, "secrets"), fault))
		return s;
	settings_free(s);
	return NULL;
}

static void secret_fini(struct secret *s)
{
	free(s->file);
	free(s->where);
	free(s->before);
	free(s->after);
	free(s->placeholder);
	free(s->hosts);
	free(s->rules.all);
	*s = (struct secret){0};
}

static bool has_secret(const struct order *o, const struct secret *s)
{
	for (size_t i = 0; i < o->n_secrets; i++)
		if (o->secrets[i] == s)
			return true;
	return false;
}

void settings_keep(struct settings *s, const struct order *o)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->n_secrets; i++)
		if (!has_secret(o, &s->secrets[i]))
			secret_fini(&s->secrets[i]);
	for (size_t i = 0; i < s->n_ranges; i++)
		if (private_range_is_of(&s->ranges[i], o->requestor))
			s->ranges[kept++] = s->ranges[i];
		else
			free(s->ranges[i].requestor);
	explicit_bzero(s->ranges + kept,
		       (s->n_ranges - kept) * sizeof(*s->ranges));
	s->n_ranges = kept;
}

bool private_range_is_of(const struct private_range *r, const char *requestor)
{
	return r->requestor == NULL ||
	       (requestor != NULL && strcmp(r->requestor, requestor) == 0);
}

void settings_free(struct settings *s)
{
	if (s == NULL)
		return;
	for (size_t i = 0; i < s->n_ranges; i++)
		free(s->ranges[i].requestor);
	for (size_t i = 0; i < s->n_secrets; i++)
		secret_fini(&s->secrets[i]);
	free(s->ranges);
	free(s->secrets);
	free(s->deny);
	free(s->resolver);
	free(s->authorities);
	free(s);
}

/* ---- an order ---- */

static bool take_host(struct order_host *h, struct json_object *o, char *fault)
{
	const char *word = json_member_str(o, "host"), *errmsg;

	if (word == NULL)
		return fail(fault, "A host of the run is no text.");
	errmsg = host_rule_parse(&h->rule, word, strlen(word));
	if (errmsg != NULL)
		return fail(fault, "\"%.200s\" is no host: %s.", word, errmsg);
	if (!take_rules(&h->rules, json_member(o, "allow"), fault))
		return false;
	if (h->rule.n_git == 0)
		return true;
	h->rules.given = true;
	h->rules.all = xrealloc(h->rules.all, (h->rules.n + h->rule.n_git) *
						  sizeof(*h->rules.all));
	for (size_t i = 0; i < h->rule.n_git; i++)
		h->rules.all[h->rules.n++] = h->rule.git[i];
	return true;
}

static bool take_hosts(struct order *o, struct json_object *list, char *fault)
{
	size_t rules = 0;

	if (!is_list(list, EGRESS_HOSTS_MAX))
		return fail(fault, "A run may have at most %u hosts.",
			    EGRESS_HOSTS_MAX);
	o->hosts = xcalloc(json_length(list) + 1, sizeof(*o->hosts));
	json_each(item, list) {
		struct order_host *h = &o->hosts[o->n_hosts++];

		if (!take_host(h, item, fault))
			return false;
		rules += h->rules.n;
		if (rules > SETTINGS_RULES_MAX)
			return fail(fault, "A run may have at most %d rules.",
				    SETTINGS_RULES_MAX);
	}
	return true;
}

static const struct secret *find_secret(const struct settings *s,
					const char *name)
{
	for (size_t i = 0; i < s->n_secrets; i++)
		if (strcmp(s->secrets[i].name, name) == 0)
			return &s->secrets[i];
	return NULL;
}

static bool take_names(struct order *o, const struct settings *s,
		       struct json_object *list, char *fault)
{
	if (!is_list(list, EGRESS_SECRETS_MAX))
		return fail(fault, "A run may have at most %u secrets.",
			    EGRESS_SECRETS_MAX);
	o->secrets = xcalloc(json_length(list) + 1, sizeof(struct secret *));
	json_each(item, list) {
		const char *name = item_text(item);

		o->secrets[o->n_secrets] = find_secret(s, name);
		if (o->secrets[o->n_secrets++] == NULL)
			return fail(
			    fault, "The configuration has no secret \"%.64s\".",
			    name);
	}
	return true;
}

struct order *order_new(const struct settings *s, struct json_object *o,
			char fault[SETTINGS_FAULT_MAX])
{
	struct order *r = xcalloc(1, sizeof(*r));

	r->number = json_member_int(o, "open");
	r->requestor = take_text(o, "requestor");
	r->uid = json_member_int(o, "uid");
	r->bytes = json_member_int(o, "maxBytes");
	r->requests = json_member_int(o, "maxRequests");
	r->connections = json_member_int(o, "maxConnections");
	r->memory_bytes = json_member_int(o, "memoryBytes");
	r->cpu_ms = json_member_int(o, "cpuMs");
	if (take_hosts(r, json_member(o, "network"), fault) &&
	    take_names(r, s, json_member(o, "secrets"), fault))
		return r;
	order_free(r);
	return NULL;
}

void order_free(struct order *o)
{
	if (o == NULL)
		return;
	for (size_t i = 0; i < o->n_hosts; i++)
		free(o->hosts[i].rules.all);
	free(o->hosts);
	free(o->secrets);
	free(o->requestor);
	free(o);
}
