/* SPDX-License-Identifier: Apache-2.0 */
/* opt.h - flags by table: parsing, help and completion come from one place. */
#ifndef CLI_OPT_H
#define CLI_OPT_H

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

struct opt_list {
	const char **item; /* borrowed from argv */
	size_t n;
};

enum opt_kind {
	OPT_FLAG, /* to: bool */
	OPT_TEXT, /* to: const char *, from argv; the last use counts */
	OPT_LIST, /* to: struct opt_list */
};

struct opt {
	const char *name; /* without the dashes */
	char letter;	  /* 0: no short form */
	enum opt_kind kind;
	void *to;
	const char *arg; /* the value's name in help; NULL for OPT_FLAG */
	const char *help;
};

/*
 * Return the values that O accepts, found by O->arg, with NULL at the end; or
 * NULL: any value.
 */
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
/*
 * Is WORD, from the command line, the flag O? *ALONE: the next word is no value
 * of O, since O takes none or WORD holds the value as well.
 */
bool opt_is(const struct opt *o, const char *word, bool *alone);

void opt_list_add(struct opt_list *list, const char *item);
void opt_list_free(struct opt_list *list);

#endif
