/* SPDX-License-Identifier: Apache-2.0 */
/*
 * template_files.c - reads the files that a template's resources and prompts
 * name, when its package is loaded, so that clients get what was digested. A
 * file that is missing, no plain file or too large is a diagnostic, and the
 * package is not loaded.
 */
#include "supervisor/templates/template_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json.h"
#include "supervisor/package/package.h"

struct load {
	struct template *t;
	int fd;
	size_t bytes;
	struct diagnostics *f;
};

/* The file that O, at the JSON Pointer AT, names; unless it was read before. */
static int load_file(struct load *l, struct json_object *o, const char *at)
{
	const char *path = json_member_str(o, "file");
	struct template *t = l->t;
	struct template_file f = {.path = path};
	char reason[512], place[160];

	if (path == NULL || template_file(t, path) != NULL)
		return 0;
	snprintf(place, sizeof(place), "%s/file", at);
	if (package_read(l->fd, path, &f.data, &f.len, reason, sizeof(reason)) <
	    0)
		return diagnostics_add(l->f, DIAGNOSTIC_ERROR, MANIFEST_FILE,
				       place, "%s", reason);
	t->files = xrealloc(t->files, (t->n_files + 1) * sizeof(f));
	t->files[t->n_files++] = f;
	l->bytes += f.len;
	if (l->bytes > TEMPLATE_FILES_MAX)
		return diagnostics_add(
		    l->f, DIAGNOSTIC_ERROR, MANIFEST_FILE, place,
		    "with %s the files of resources and "
		    "prompts have more than %zu bytes together",
		    path, TEMPLATE_FILES_MAX);
	return 0;
}

static int load_prompt(struct load *l, struct json_object *prompt, size_t i)
{
	struct json_object *messages = json_member(prompt, "messages");
	size_t n = json_object_array_length(messages);
	char at[128];
	int rc = 0;

	for (size_t j = 0;
	     l->bytes <= TEMPLATE_FILES_MAX && !l->f->more && j < n; j++) {
		struct json_object *content = json_member(
		    json_object_array_get_idx(messages, j), "content");

		snprintf(at, sizeof(at), "/prompts/%zu/messages/%zu/content", i,
			 j);
		if (load_file(l, content, at) < 0)
			rc = -EINVAL;
		snprintf(at, sizeof(at),
			 "/prompts/%zu/messages/%zu/content/resource", i, j);
		if (load_file(l, json_member(content, "resource"), at) < 0)
			rc = -EINVAL;
	}
	return rc;
}

int template_files_load(struct template *t, int fd, struct diagnostics *f)
{
	struct load l = {.t = t, .fd = fd, .f = f};
	size_t n = t->resources ? json_object_array_length(t->resources) : 0;
	char at[64];
	int rc = 0;

	for (size_t i = 0; l.bytes <= TEMPLATE_FILES_MAX && !f->more && i < n;
	     i++) {
		snprintf(at, sizeof(at), "/resources/%zu", i);
		if (load_file(&l, json_object_array_get_idx(t->resources, i),
			      at) < 0)
			rc = -EINVAL;
	}
	n = t->prompts ? json_object_array_length(t->prompts) : 0;
	for (size_t i = 0; l.bytes <= TEMPLATE_FILES_MAX && !f->more && i < n;
	     i++)
		if (load_prompt(&l, json_object_array_get_idx(t->prompts, i),
				i) < 0)
			rc = -EINVAL;
	return rc;
}
