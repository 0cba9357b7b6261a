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
#include "supervisor/packages/inputs/file_schema.h"
#include "supervisor/packages/templates/semver.h"

struct search_doc;

enum template_trust { TRUST_LOCAL = 1, TRUST_REMOTE = 2 }; /* bits of a set */

enum template_mode { MODE_SYNC, MODE_ASYNC, MODE_AUTO };
enum template_task { TASK_OPTIONAL, TASK_REQUIRED, TASK_FORBIDDEN };

/* Ends after which a run is tried again (bits). */
enum template_retry_on { RETRY_INTERRUPTED = 1, RETRY_CRASHED = 2 };

struct template_retry {
	unsigned attempts; /* attempts in all; 0: no second attempt */
	/* pause before the second attempt; doubles each time */
	int64_t backoff_ms;
	unsigned on; /* bits of enum template_retry_on */
};

/* the only word of a manifest's network: all that the operator grants */
#define TEMPLATE_GRANTED "granted"

#define TEMPLATE_UNSAID (-1) /* a limit not set: the server's default holds */

struct template_limits { /* limits of the manifest, or TEMPLATE_UNSAID */
#define LIMIT(id, field, ...) int64_t field;
#include "base/limits.def"
	int64_t cancel_grace_ms; /* 5000 by default, at most 60000 */
};

/* a file of the package, named by a resource or a prompt */
struct template_file {
	const char *path; /* borrowed from the manifest */
	char *data;
	size_t len;
};

struct template
{
	unsigned users; /* count of template_ref() and template_unref() */
	char *dir;	/* absolute path, without links */
	struct file_id folder; /* the folder that was digested */
	char *id;
	char *version_text;
	struct semver version;
	char *name;
	char *description;
	enum runtime_kind runtime;
	char *entry; /* the program or script, a file in dir */
	/* the text of entry, or the arguments of a program, each with a NUL */
	char *code;
	size_t code_len;
	char digest[65];  /* SHA-256 over every file of the package */
	char stamp[65];	  /* program: the metadata of the files when loaded */
	size_t n_package; /* number of files in the package */
	uint64_t package_bytes; /* bytes of these files */
	char *broken;		/* owned: the package's fault now; NULL: none */
	struct {		/* the last look, for template_look.c */
		/* a package of many files counts as unchanged until then */
		int64_t until_us;
		bool changed; /* the package was changed; true until a reload */
	} looked;
	/* program: paths asked for, borrowed from manifest */
	const char **reads;
	size_t n_reads;
	/* owned: words of net/network_word.h, asked for; NULL: no network */
	struct json_object *network;
	bool network_granted; /* instead: all that the operator grants */
	unsigned trust;	      /* enum template_trust bits */
	bool partial;	      /* the manifest's supportsPartialSuccess */
	double partial_threshold;
	enum template_mode mode;
	char *auto_pointer; /* pointer of autoAsync; NULL: none */
	int64_t auto_items_over;
	struct template_limits limits;
	enum template_task task;
	bool secret; /* a property of inputsSchema is writeOnly */
	/* inputs repeated in HTTP's header, for MCP 2026-07-28 */
	struct mcp_param_headers mcp_headers;
	bool stream_poll;
	struct template_retry retry;
	unsigned prestart; /* program: how many workers wait for a run */
	/* the property of the inputs that names a resident, borrowed from
	   manifest; NULL: no run of the template has a resident */
	const char *notebook;
	bool shipped; /* in paddock's own folder: template_shipped.h */
	struct json_object *manifest;	  /* owned: the whole manifest */
	struct json_object *limits_json;  /* borrowed; NULL: none */
	struct json_object *inputs_json;  /* borrowed: inputsSchema */
	struct json_object *outputs_json; /* borrowed; NULL: none */
	struct json_object *annotations;  /* borrowed; NULL: none */
	struct json_object *resources;	  /* borrowed: array; NULL: none */
	struct json_object *prompts;	  /* borrowed: array; NULL: none */
	/* files named by resources and prompts; owned */
	struct template_file *files;
	size_t n_files;
	/* for searches, a reference; template_index.h */
	struct search_doc *words;
	char *signature; /* owned: of inputs_json, for models; NULL as WORDS */
	struct schema *inputs;
	struct file_spot *file_spots; /* owned: file inputs; NULL: none */
	struct schema *outputs; /* schema of the output; NULL: any value */
};

struct template *template_ref(struct template *t); /* returns T */
void template_unref(struct template *t);	   /* NULL is fine */

/* Return the file PATH, which a resource or a prompt of T names. Borrowed. */
const struct template_file *template_file(const struct template *t,
					  const char *path);

/* Does T run ASYNC by its own rule (autoAsync) for INPUTS? */
bool template_auto_async(const struct template *t, struct json_object *inputs);
/*
 * Is T's output always an object, by its outputsSchema? Then T's tool has an
 * outputSchema, as MCP defines it, and every answer conforms.
 */
bool template_promises(const struct template *t);

#endif
