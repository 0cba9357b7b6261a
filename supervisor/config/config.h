/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.h - the operator's decisions: defaults, files, then flags.
 *
 * One table, config_keys.def, names every key with its section, type, default,
 * bounds and a line of help; the fields here, the parser, --print-config and
 * the manual page all come from the table.
 */
#ifndef SUPERVISOR_CONFIG_CONFIG_H
#define SUPERVISOR_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define CONFIG_NONE (-1) /* the value of a size that is "none": no limit */

/* The C type of a field, by enum config_type. */
typedef int64_t config_INT, config_MS, config_BYTES, config_BYTES_OR_NONE;
typedef bool config_BOOL;
typedef char *config_TEXT, *config_PATH, *config_SOCKET, *config_LISTEN,
    *config_CHOICE, *config_DIGEST, *config_IDS, *config_TOOLS, *config_HOSTS,
    *config_GRANTED, *config_CALLED, *config_PATHS, *config_PATTERNS,
    *config_NETWORK, *config_RANGES, *config_DATABASE, *config_ARTIFACTS,
    *config_NAMES, *config_HEADER, *config_WORD, *config_VARIABLE,
    *config_RULES, *config_CALLERS, *config_DIGESTS, **config_DIRS;

struct config_requestor { /* a [requestor "NAME"] section */
	char *name;
#define REQUESTOR_KEY(type, key, ...) config_##type key;
#include "supervisor/config/config_keys.def"
};

struct config_secret { /* a [secret "NAME"] section */
	char *name;
#define SECRET_KEY(type, key, ...) config_##type key;
#include "supervisor/config/config_keys.def"
};
#define CONFIG_SECRETS_MAX 256

/*
 * A [grant "TEMPLATE"] section: the permissions granted, of those that a
 * template asks for.
 */
struct config_grant {
	char *name; /* a templateId, or "*": every template */
#define GRANT_KEY(type, key, ...) config_##type key;
#include "supervisor/config/config_keys.def"
};

/*
 * A [template "TEMPLATE"] section: limits of the template's runs; 0: as without
 * the section.
 */
struct config_template {
	char *name; /* a templateId */
#define TEMPLATE_KEY(type, key, ...) config_##type key;
#include "supervisor/config/config_keys.def"
};

/*
 * The whole configuration, with a field for each key; NULL: not set. Lists have
 * spaces between words.
 */
struct config {
#define KEY(section, type, key, ...) config_##type key;
#define BROWSER_KEY(type, key, field, ...) config_##type field;
#define NETWORK_KEY(type, key, field, ...) config_##type field;
#define STORE_KEY(type, key, field, ...) config_##type field;
#include "supervisor/config/config_keys.def"
	size_t n_templates;
	bool templates_given; /* by a file or a flag: each has to exist */
	struct config_requestor *requestors;
	size_t n_requestors;
	struct config_secret *secrets;
	size_t n_secrets;
	struct config_grant *grants;
	size_t n_grants;
	/* limits that replace those of manifests */
	struct config_template *overs;
	size_t n_overs;
	char
	    *grants_dir; /* of approved grants: config_read_grants(); or NULL */
};

/*
 * Return all defaults, for UID (0: the system's folders, else the user's XDG
 * folders).
 */
struct config *config_new(uid_t uid);
void config_free(const struct config *c); /* NULL is fine */
/*
 * Keep in NOW the values of THEN that only a new start can change: state_dir,
 * url, node_name, password_file, artifacts, socket, listen, user. CHANGED is
 * called with ARG and each key whose value differed.
 */
void config_keep_fixed(struct config *now, const struct config *then,
		       void (*changed)(void *arg, const char *key), void *arg);

/*
 * Return the folder whose artifacts/ holds files of artifacts, and all files on
 * their way; lent.
 */
const char *config_files_dir(const struct config *c);
/*
 * Does the database hold the artifacts instead, once their files are complete?
 */
bool config_has_rows(const struct config *c);

/*
 * Read FILE, then conf.d/NAME.conf beside FILE in the order of names. 0;
 * -ENOENT: no FILE; -EINVAL with ERRMSG (SIZE bytes): "FILE:12: KEY: the fault,
 * a value that would pass".
 */
int config_read(struct config *c, const char *file, char *errmsg, size_t size);

/*
 * As config_read() for LEN bytes of TEXT, called NAME in ERRMSG; no conf.d.
 * After an error C holds half of the text, and is only good for config_free().
 */
int config_read_text(struct config *c, const char *name, const char *text,
		     size_t len, char *errmsg, size_t size);

/*
 * Read the approved grants: the files of grants.d beside FILE in the order of names, after
 * config_read() and the flags. Each file stands alone, so that no file changes a section of another; each section is
 * [grant] or [template] of one template, with a digest. A link is refused. 0; or -EINVAL
 * with ERRMSG.
 */
int config_read_grants(struct config *c, const char *file, char *errmsg,
		       size_t size);

/*
 * Return the path of the file read without --config; the caller frees the path.
 */
char *config_default_file(uid_t uid);

/*
 * Return the template folders of the program EXE: those of the source tree when
 * EXE lies in its build folder, else the system's, where EXE is installed. *N
 * folders; the caller frees each and the array.
 */
char **config_default_templates(const char *exe, size_t *n);
/* Return the folder of templates that EXE was built or installed with. */
char *config_shipped_templates(const char *exe);

/*
 * Set one key of [server], [limits] or [sandbox], as a flag does: a path may be
 * relative to the working directory, and "templates" adds one folder. 0, or
 * -EINVAL with ERRMSG.
 */
int config_set(struct config *c, const char *section, const char *key,
	       const char *value, char *errmsg, size_t size);
/* drop all folders, for --templates */
void config_clear_templates(struct config *c);
/*
 * Add the grant of a --grant flag, [TEMPLATE:]KEY=VALUE, to TEMPLATE, else to
 * all templates. 0, or -EINVAL with ERRMSG.
 */
int config_add_grant(struct config *c, const char *text, char *errmsg,
		     size_t size);

/*
 * Return how many bytes of an artifact fit into one answer:
 * max_artifact_inline_bytes, or fewer, since a message of max_answer_bytes has
 * the artifact twice, as base64.
 */
int64_t config_inline_bytes(const struct config *c);

/* Does a search take the place of templates as tools (publish_templates)? */
bool config_has_search(const struct config *c);
/* Is the template ID offered as a tool of its own name (publish_templates)? */
bool config_publishes(const struct config *c, const char *id);

/* Return the secret NAME of C; NULL: there is none. */
const struct config_secret *config_secret_find(const struct config *c,
					       const char *name);
/* Return what stands for S in the cage, the caller's; NULL: nothing does. */
char *config_secret_placeholder(const struct config_secret *s);

/* Print every key with its value, in the file's own syntax; no secret. */
void config_print(const struct config *c, FILE *out);

#endif
