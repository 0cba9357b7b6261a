/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_keys.h - the one table of keys, and the values of each type.
 */
#ifndef SUPERVISOR_CONFIG_CONFIG_KEYS_H
#define SUPERVISOR_CONFIG_CONFIG_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CONFIG_REQUESTOR "requestor" /* keys of each [requestor "NAME"] */
#define CONFIG_SECRET "secret"	     /* keys of each [secret "NAME"] */
#define CONFIG_GRANT "grant"	     /* keys of each [grant "TEMPLATE"] */
#define CONFIG_TEMPLATE "template"   /* keys of each [template "TEMPLATE"] */
#define CONFIG_KEYS_MAX 176

enum config_type {
	CONFIG_INT,   /* whole number, from min to max */
	CONFIG_MS,    /* int64_t; ms, s, m, h, d may follow the number */
	CONFIG_BYTES, /* int64_t; K, M, G, T may follow the number */
	CONFIG_BYTES_OR_NONE, /* as CONFIG_BYTES, or none: CONFIG_NONE */
	CONFIG_BOOL,	      /* yes or no */
	CONFIG_TEXT,	      /* char *, as are all below */
	CONFIG_PATH,	      /* absolute path, also from a flag */
	CONFIG_SOCKET,	      /* a path that fits an address */
	CONFIG_LISTEN,	      /* address to listen on, ADDR:PORT */
	CONFIG_CHOICE,	      /* a word among choices */
	CONFIG_DIGEST,	      /* 64 hex digits; never shown */
	CONFIG_IDS,	      /* template ids, spaces between */
	CONFIG_TOOLS,  /* tools of the browser, spaces between; all; none */
	CONFIG_HOSTS,  /* words of base/text/host_list.h, spaces between */
	CONFIG_CALLED, /* templates that templates may call, spaces between; * */
	CONFIG_GRANTED, /* tools that templates may call, spaces between; all */
	CONFIG_PATHS,	/* absolute paths, spaces between */
	CONFIG_PATTERNS,  /* patterns of ipc/host_pattern.h, spaces between */
	CONFIG_NETWORK,	  /* words of net/network_word.h, spaces between */
	CONFIG_RANGES,	  /* networks, perhaps =REQUESTOR, spaces between */
	CONFIG_NAMES,	  /* names of secrets, spaces between */
	CONFIG_HEADER,	  /* NAME: text with {} */
	CONFIG_WORD,	  /* printable, without spaces */
	CONFIG_VARIABLE,  /* of an environment */
	CONFIG_RULES,	  /* METHOD:/PATH, spaces between */
	CONFIG_CALLERS,	  /* names of requestors, spaces between */
	CONFIG_DIGESTS,	  /* 64 hex digits each, spaces between; shown */
	CONFIG_DATABASE,  /* a postgresql:// URL without a password */
	CONFIG_ARTIFACTS, /* "database", or folder:PATH */
	CONFIG_DIRS,	  /* the templates of struct config; spaces between */
};

struct config_key {
	const char *section;
	const char *name;
	enum config_type type;
	size_t offset; /* offset of the field in the section's struct */
	bool optional; /* the value may be empty: then the default holds */
	bool shown;    /* shown to clients, in get_runtime_profile */
	/* default and bounds of a number; def of a bool */
	int64_t def, min, max;
	int64_t above_0; /* the least number but 0, or 0: MIN alone holds */
	const char *def_text; /* default text; NULL: none, or by the user */
	const char *const *choices; /* the words allowed, NULL-ended */
	const char *help;	    /* for the manual: one sentence, mdoc(7) */
};

/* Return every key, section by section; *N of them. */
const struct config_key *config_keys(size_t *n);
/*
 * Find the key; NULL: there is none, and *SUGGEST is the nearest key of the
 * section or NULL.
 */
const struct config_key *config_key_find(const char *section, const char *name,
					 const char **suggest);
/* Return why there is deliberately no such key; NULL: there is no reason. */
const char *config_key_refused(const char *section, const char *name);

/*
 * Put VALUE into BASE (the struct of the key's section); with MORE, add to a
 * list. 0, or -EINVAL with ERRMSG: key = "VALUE": expected RULE.
 */
int config_key_set(const struct config_key *k, void *base, const char *value,
		   bool more, char *errmsg, size_t size);
void config_key_default(const struct config_key *k, void *base);
bool config_key_is_list(const struct config_key *k);
/* is K's field a char *? */
bool config_key_is_text(const struct config_key *k);

void config_key_print(const struct config_key *k, const void *base, FILE *out);
/*
 * Write the values that would pass into TEXT: "a duration such as 10s", and so
 * on.
 */
void config_key_expected(const struct config_key *k, char *text, size_t size);

#endif
