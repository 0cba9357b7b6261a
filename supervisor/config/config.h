/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.h - what the operator decided: defaults, files, then flags.
 *
 * One table, config_keys.def, names every key with its section, type, default,
 * bounds and a line of help; the fields here, the parser, --print-config and
 * the manual page all come from it.
 */
#ifndef SUPERVISOR_CONFIG_CONFIG_H
#define SUPERVISOR_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define CONFIG_NONE (-1) /* where a size may be "none": there is no limit */

/* The C type of a field, by enum config_type. */
typedef int64_t config_INT, config_MS, config_BYTES, config_BYTES_OR_NONE;
typedef bool config_BOOL;
typedef char *config_TEXT, *config_PATH, *config_SOCKET, *config_LISTEN,
    *config_CHOICE, *config_DIGEST, *config_IDS, *config_TOOLS, *config_HOSTS,
    *config_GRANTED, *config_PATHS, *config_PATTERNS, *config_PLACES,
    *config_DATABASE, *config_ARTIFACTS, *config_NAMES, *config_DIGESTS,
    **config_DIRS;

struct config_requestor { /* a [requestor "NAME"] section */
	char *name;
#define REQUESTOR_KEY(type, key, ...) config_##type key;
#include "supervisor/config/config_keys.def"
};

/* A [grant "TEMPLATE"] section: what it may have of what it asks for. */
struct config_grant {
	char *name; /* a templateId, or "*": every template */
#define GRANT_KEY(type, key, ...) config_##type key;
#include "supervisor/config/config_keys.def"
};

/* A field each key; NULL is what is not set. Lists have spaces between words. */
struct config {
#define KEY(section, type, key, ...) config_##type key;
#define BROWSER_KEY(type, key, field, ...) config_##type field;
#define STORE_KEY(type, key, field, ...) config_##type field;
#include "supervisor/config/config_keys.def"
	size_t n_templates;
	bool templates_given; /* by a file or a flag: each has to exist */
	struct config_requestor *requestors;
	size_t n_requestors;
	struct config_grant *grants;
	size_t n_grants;
};

/* All defaults, for UID (0: the system's folders, else its XDG ones). */
struct config *config_new(uid_t uid);
void config_free(const struct config *c); /* NULL is fine */
/*
 * What only a new start can change (state_dir, socket, listen) keeps in NOW the
 * value that it has in THEN; CHANGED is told each key for which that matters.
 */
void config_keep_fixed(struct config *now, const struct config *then,
		       void (*changed)(const char *key));

/*
 * The folder whose artifacts/ has files of artifacts, and all that are on their
 * way; lent.
 */
const char *config_files_dir(const struct config *c);
/* Are they in the database instead, once they are whole? */
bool config_has_rows(const struct config *c);

/*
 * Read FILE, then conf.d/NAME.conf beside it in the order of their names.
 * 0; -ENOENT: no FILE; -EINVAL with ERRMSG (SIZE bytes): "FILE:12: key …: what
 * came, what would pass".
 */
int config_read(struct config *c, const char *file, char *errmsg, size_t size);

/*
 * The same for LEN bytes of TEXT that NAME stands for in ERRMSG; no conf.d. On
 * an error C holds half of it, and is only good for config_free().
 */
int config_read_text(struct config *c, const char *name, const char *text,
		     size_t len, char *errmsg, size_t size);

/* Where the file is looked for without --config; the caller's. */
char *config_default_file(uid_t uid);

/*
 * The template folders of the program EXE: those of the source tree when it
 * lies in its build folder, else the system's, where it is installed. N of
 * them; the caller's, each and the array.
 */
char **config_default_templates(const char *exe, size_t *n);
/* The folder of the templates that EXE was built or installed with. */
char *config_shipped_templates(const char *exe);

/*
 * Set one key of [server], [limits] or [sandbox], as a flag does: a path may
 * be relative to the working directory, and "templates" is one folder more.
 * 0, or -EINVAL with ERRMSG.
 */
int config_set(struct config *c, const char *section, const char *key,
	       const char *value, char *errmsg, size_t size);
void config_clear_templates(struct config *c); /* --templates replaces */
/*
 * [TEMPLATE:]KEY=VALUE of a --grant flag: adds to what is granted to TEMPLATE,
 * else to all. 0, or -EINVAL with ERRMSG.
 */
int config_add_grant(struct config *c, const char *text, char *errmsg,
		     size_t size);

/*
 * Of an artifact, in one answer: max_artifact_inline_bytes, or fewer, for they
 * are told twice, as base64, in a message of max_answer_bytes.
 */
int64_t config_inline_bytes(const struct config *c);

/* Every key with its value, in the file's own syntax; no secret. */
void config_print(const struct config *c, FILE *out);

#endif
