/* SPDX-License-Identifier: Apache-2.0 */
/*
 * template.h - a template package on disk, checked and ready to run.
 *
 * DIR/template.json is the manifest; its schema is etc/template.schema.json.
 */
#ifndef SUPERVISOR_TEMPLATES_TEMPLATE_H
#define SUPERVISOR_TEMPLATES_TEMPLATE_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/os/nofollow.h"
#include "ipc/runtime.h"
#include "proto/mcp/mcp_param_header.h"
#include "proto/schema/schema.h"
#include "supervisor/inputs/file_schema.h"
#include "supervisor/templates/semver.h"

enum template_trust { TRUST_LOCAL = 1, TRUST_REMOTE = 2 }; /* bits */

enum template_mode { MODE_SYNC, MODE_ASYNC, MODE_AUTO };
enum template_task { TASK_OPTIONAL, TASK_REQUIRED, TASK_FORBIDDEN };

/* After what it is tried again (bits). */
enum template_retry_on { RETRY_INTERRUPTED = 1, RETRY_CRASHED = 2 };

struct template_retry {
	unsigned attempts;  /* in all; 0: it is not tried again */
	int64_t backoff_ms; /* before the second; doubles with each */
	unsigned on;	    /* enum template_retry_on */
};

#define TEMPLATE_UNSAID (-1) /* the server's default holds */

struct template_limits { /* the manifest's, or TEMPLATE_UNSAID */
#define LIMIT(id, field, ...) int64_t field;
#include "base/limits.def"
	int64_t cancel_grace_ms; /* 5000, at most 60000 */
};

struct template_file {	  /* of the package, named by a resource or a prompt */
	const char *path; /* borrowed from the manifest */
	char *data;
	size_t len;
};

struct template
{
	unsigned users;	       /* template_ref(), template_unref() */
	char *dir;	       /* absolute, no part of it a link */
	struct file_id folder; /* which folder the digest was taken of */
	char *id;
	char *version_text;
	struct semver version;
	char *name;
	char *description;
	enum runtime runtime;
	char *entry; /* file in dir */
	char *code;  /* lua: the text of entry; a program's
				  arguments, each with a NUL */
	size_t code_len;
	char digest[65];  /* SHA-256 over every file of the package */
	char stamp[65];	  /* a program: the files' metadata then */
	size_t n_package; /* files of its package */
	/* with many files: until then they are taken for unchanged */
	int64_t unchanged_until_us;
	const char **reads; /* a program's: each borrowed from manifest */
	size_t n_reads;
	unsigned trust; /* enum template_trust bits */
	bool partial;	/* supportsPartialSuccess */
	double partial_threshold;
	enum template_mode mode;
	char *auto_pointer; /* autoAsync; NULL: none */
	int64_t auto_items_over;
	struct template_limits limits;
	enum template_task task;
	bool secret; /* some property of inputsSchema is writeOnly */
	/* inputs that HTTP's header repeats, of MCP 2026-07-28 */
	struct mcp_param_headers mcp_headers;
	bool stream_poll;
	struct template_retry retry;
	unsigned prestart; /* a program's: so many wait for their run */
	bool shipped; /* it is in the folder of our own: template_shipped.h */
	struct json_object *manifest;	  /* owned: the whole */
	struct json_object *limits_json;  /* borrowed; NULL: none */
	struct json_object *inputs_json;  /* borrowed: inputsSchema */
	struct json_object *outputs_json; /* borrowed; NULL: none */
	struct json_object *annotations;  /* borrowed; NULL: none */
	struct json_object *resources;	  /* borrowed: array; NULL: none */
	struct json_object *prompts;	  /* borrowed: array; NULL: none */
	struct template_file *files;	  /* what these two name; owned */
	size_t n_files;
	struct schema *inputs;
	struct file_spot
	    *file_spots;	/* owned: inputs that are files; NULL: none */
	struct schema *outputs; /* NULL: any value */
};

struct template *template_ref(struct template *t); /* T itself */
void template_unref(struct template *t);	   /* NULL is fine */

/* The bytes of PATH, which a resource or a prompt of T names. Borrowed. */
const struct template_file *template_file(const struct template *t,
					  const char *path);

/* Does T run ASYNC by its own rule (autoAsync) for INPUTS? */
bool template_auto_async(const struct template *t, struct json_object *inputs);
/*
 * Is T's output always an object, by its outputsSchema? Then its tool has an
 * outputSchema, as MCP has it, and keeps to it in every answer.
 */
bool template_promises(const struct template *t);

#endif
