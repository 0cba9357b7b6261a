/* SPDX-License-Identifier: Apache-2.0 */
/* opt.h - flags by table: parsing, help and completion come from one place. */
#ifndef CLI_OPT_H
#define CLI_OPT_H

#include <stddef.h>
#include <stdint.h>

struct opt_list {
	const char **item; /* borrowed from argv */
	size_t n;
};

enum opt_kind {
	OPT_FLAG, /* bool */
	OPT_TEXT, /* const char *, borrowed from argv; the last one counts */
	OPT_LIST, /* struct opt_list */
};

struct opt {
	const char *name; /* without its dashes */
	char letter;	  /* 0: it has none */
	enum opt_kind kind;
	void *to;
	const char *arg; /* what its value is called; NULL for a flag */
	const char *help;
};

/* What the value of O may be, to its NULL, by what it is called; NULL: anything. */
const char *const *opt_values(const struct opt *o);

struct opt_set {
	const struct opt *opts;
	size_t n;
};

/*
 * Parse ARGV[0..ARGC-1] by all N sets. Flags and operands may be mixed; after
 * "--" there are operands alone. Operands go to REST. 0, or -EINVAL and ERRMSG.
 */
int opt_parse(const struct opt_set *sets, size_t n, struct opt_list *rest,
	      int argc, const char *const *argv, char *errmsg, size_t size);
void opt_list_add(struct opt_list *list, const char *item);
void opt_list_free(struct opt_list *list);

#define DURATION_MAX_MS ((int64_t)366 * 24 * 3600 * 1000)

/*
 * Units are ms, s, m, h, d, largest first; a bare number is seconds. 0 and
 * *MS, at least 1; -EINVAL, or -ERANGE for none or more than DURATION_MAX_MS.
 */
int duration_parse(int64_t *ms, const char *text);

#endif
