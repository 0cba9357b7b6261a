/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_keys.h - the one table of keys, and what a value of each type is.
 */
#ifndef SUPERVISOR_CONFIG_CONFIG_KEYS_H
#define SUPERVISOR_CONFIG_CONFIG_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CONFIG_REQUESTOR "requestor" /* keys of each [requestor "NAME"] */
#define CONFIG_GRANT "grant"	     /* of each [grant "TEMPLATE"] */
#define CONFIG_KEYS_MAX 112

enum config_type {
	CONFIG_INT,   /* int64_t from min to max */
	CONFIG_MS,    /* likewise; ms, s, m, h, d may follow the number */
	CONFIG_BYTES, /* likewise; K, M, G, T may follow */
	CONFIG_BYTES_OR_NONE, /* that, or none: CONFIG_NONE */
	CONFIG_BOOL,	      /* bool */
	CONFIG_TEXT,	      /* char *, as are all below */
	CONFIG_PATH,	      /* absolute, after a flag was made so */
	CONFIG_SOCKET,	      /* a path that fits an address */
	CONFIG_LISTEN,	      /* ADDR:PORT */
	CONFIG_CHOICE,	      /* one of choices */
	CONFIG_DIGEST,	      /* 64 hex digits; never shown */
	CONFIG_IDS,	      /* template ids, spaces between them */
	CONFIG_TOOLS,	      /* likewise, of the browser; all; none */
	CONFIG_HOSTS,	/* base/text/host_list.h's words, spaces between them */
	CONFIG_GRANTED, /* likewise, that templates may call; all */
	CONFIG_PATHS,	/* absolute, spaces between them */
	CONFIG_PATTERNS,  /* of ipc/host_pattern.h, likewise */
	CONFIG_PLACES,	  /* HOST:PORT, likewise */
	CONFIG_NAMES,	  /* of secrets, likewise */
	CONFIG_DIGESTS,	  /* 64 hex digits each, likewise; shown */
	CONFIG_DATABASE,  /* postgresql://…, without a password */
	CONFIG_ARTIFACTS, /* database, or folder:PATH */
	CONFIG_DIRS,	  /* the templates of struct config; spaces between */
};

struct config_key {
	const char *section;
	const char *name;
	enum config_type type;
	size_t offset; /* in struct config, config_requestor or config_grant */
	bool optional; /* may be empty: then it has its default */
	bool shown;    /* to clients, in get_runtime_profile */
	int64_t def, min, max;	    /* numbers; def of a bool */
	const char *def_text;	    /* text; NULL: none, or by the user */
	const char *const *choices; /* NULL-ended */
	const char *help;	    /* for the manual: one sentence, mdoc(7) */
};

/* Every key, section by section; *N of them. */
const struct config_key *config_keys(size_t *n);
/* The key, or NULL; then *NEAR is the nearest of that section or NULL. */
const struct config_key *config_key_find(const char *section, const char *name,
					 const char **suggest);
/* Why there is no such key, though it has a name of its own; or NULL. */
const char *config_key_refused(const char *section, const char *name);

/*
 * Put VALUE into BASE (the struct that the key's offset means); with MORE, a
 * list gets longer. 0, or -EINVAL with ERRMSG: "key = "…": expected …".
 */
int config_key_set(const struct config_key *k, void *base, const char *value,
		   bool more, char *errmsg, size_t size);
void config_key_default(const struct config_key *k, void *base);
bool config_key_is_list(const struct config_key *k);
bool config_key_is_text(const struct config_key *k); /* its field is char * */

void config_key_print(const struct config_key *k, const void *base, FILE *out);
/* "a duration such as …": what would pass, into TEXT. */
void config_key_expected(const struct config_key *k, char *text, size_t size);

#endif
