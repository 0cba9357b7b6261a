/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/template_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/why.h"
#include "proto/json.h"
#include "supervisor/package.h"

struct load {
	struct template *t;
	int fd;
	size_t bytes;
	char *why;
	size_t size;
};

const struct template_file *template_file(const struct template *t,
					  const char *path)
{
	for (size_t i = 0; i < t->n_files; i++)
		if (strcmp(t->files[i].path, path) == 0)
			return &t->files[i];
	return NULL;
}

/* The file that O, at the JSON Pointer AT, names; unless it was read before. */
static int load_file(struct load *l, struct json_object *o, const char *at)
{
	const char *path = json_member_str(o, "file");
	struct template *t = l->t;
	struct template_file f = {.path = path};
	char reason[512];

	if (path == NULL || template_file(t, path) != NULL)
		return 0;
	if (package_read(l->fd, path, &f.data, &f.len, reason,
			 sizeof(reason)) < 0)
		return why_set(l->why, l->size, "template.json#%s/file: %s", at,
			       reason);
	t->files = xrealloc(t->files, (t->n_files + 1) * sizeof(f));
	t->files[t->n_files++] = f;
	l->bytes += f.len;
	if (l->bytes > TEMPLATE_FILES_MAX)
		return why_set(l->why, l->size,
			       "template.json#%s/file: with %s the files of "
			       "resources and prompts have more than %zu bytes "
			       "together",
			       at, path, TEMPLATE_FILES_MAX);
	return 0;
}

static int load_prompt(struct load *l, struct json_object *prompt, size_t i)
{
	struct json_object *messages = json_member(prompt, "messages");
	size_t n = json_object_array_length(messages);
	char at[128];
	int rc = 0;

	for (size_t j = 0; rc == 0 && j < n; j++) {
		struct json_object *content = json_member(
		    json_object_array_get_idx(messages, j), "content");

		snprintf(at, sizeof(at), "/prompts/%zu/messages/%zu/content", i,
			 j);
		rc = load_file(l, content, at);
		snprintf(at, sizeof(at),
			 "/prompts/%zu/messages/%zu/content/resource", i, j);
		if (rc == 0)
			rc = load_file(l, json_member(content, "resource"), at);
	}
	return rc;
}

int template_files_load(struct template *t, int fd, char *why, size_t size)
{
	struct load l = {.t = t, .fd = fd, .why = why, .size = size};
	size_t n = t->resources ? json_object_array_length(t->resources) : 0;
	char at[64];
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < n; i++) {
		snprintf(at, sizeof(at), "/resources/%zu", i);
		rc = load_file(&l, json_object_array_get_idx(t->resources, i),
			       at);
	}
	n = t->prompts ? json_object_array_length(t->prompts) : 0;
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = load_prompt(&l, json_object_array_get_idx(t->prompts, i),
				 i);
	return rc;
}

void template_files_free(struct template *t)
{
	for (size_t i = 0; i < t->n_files; i++)
		free(t->files[i].data);
	free(t->files);
}
