/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings.h - what the supervisor tells paddock-egress: the settings for all runs, and
 * the order for a run. Both are parsed by the keeper, which never sees a run's bytes.
 */
#ifndef EGRESS_POLICY_SETTINGS_H
#define EGRESS_POLICY_SETTINGS_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ipc/egress_proto.h"
#include "net/host_rule.h"

#define SETTINGS_RANGES_MAX 64	 /* private ranges */
#define SETTINGS_SECRETS_MAX 256 /* secrets of all runs */
#define SETTINGS_RULES_MAX 1024	 /* rules of a run, of all its hosts */
#define SETTINGS_NAME_MAX 64	 /* bytes of a secret's name, with NUL */
#define SETTINGS_FAULT_MAX 400	 /* bytes of a sentence on a fault */

/* Methods and paths; an empty list that is GIVEN allows nothing. */
struct rules {
	struct path_rule *all;
	size_t n;
	bool given;
};

/* A range of private addresses that runs of a requestor may reach. */
struct private_range {
	struct host_pattern net;
	char *requestor; /* NULL: each requestor */
};

enum secret_place { SECRET_HEADER, SECRET_BASIC, SECRET_QUERY };

struct secret {
	char name[SETTINGS_NAME_MAX];
	char *file;
	enum secret_place place;
	char *where;	   /* the header's name, the user, or the query's key */
	char *before;	   /* of a header: the text before the secret */
	char *after;	   /* likewise */
	char *placeholder; /* NULL: none */
	struct host_pattern *hosts;
	size_t n_hosts;
	struct rules rules;
};

struct settings {
	char *deny;	   /* of base/text/host_list.h; NULL: none */
	char *resolver;	   /* "ADDRESS[:PORT] ..."; NULL: the machine's */
	char *authorities; /* path of PEM; NULL: the machine's */
	struct private_range *ranges;
	size_t n_ranges;
	struct secret *secrets;
	size_t n_secrets;
};

/* A host of a run. Rules of git+https are among RULES. */
struct order_host {
	struct host_rule rule;
	struct rules rules;
};

struct order {
	int64_t number; /* "open" */
	char *requestor;
	int64_t uid; /* 0: keep the own */
	struct order_host *hosts;
	size_t n_hosts;
	const struct secret **secrets; /* of the settings, which last longer */
	size_t n_secrets;
	int64_t bytes, requests, connections; /* the most; 0: no bound */
	int64_t memory_bytes, cpu_ms;	      /* the child's; 0: no bound */
};

/*
 * Read SPEC, the value of "config". The settings, which the caller owns; NULL: a fault,
 * with a sentence in FAULT.
 */
struct settings *settings_new(struct json_object *spec,
			      char fault[SETTINGS_FAULT_MAX]);
void settings_free(struct settings *s); /* NULL is fine */

/* May a run of REQUESTOR reach the range? */
bool private_range_is_of(const struct private_range *r, const char *requestor);

/* Read the packet O of a run likewise; lends S. */
struct order *order_new(const struct settings *s, struct json_object *o,
			char fault[SETTINGS_FAULT_MAX]);
void order_free(struct order *o); /* NULL is fine */

/* Forget the secrets and ranges of S that are not O's, in the process of O alone. */
void settings_keep(struct settings *s, const struct order *o);

#endif
