/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_files.c - finds and names the files among a run's inputs, and replaces
 * the files by paths in the inputs for the template. tools/tool_run_files.c
 * and exec/runs_recover.c call the functions. A fault in a file is the caller's
 * fault and told with its pointer.
 */
#include "supervisor/packages/inputs/run_files.h"

#include <json-c/json_pointer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text/base64.h"
#include "proto/json/json.h"
#include "proto/json/json_pack.h"
#include "proto/json/json_pointer.h"
#include "supervisor/packages/inputs/file_name.h"

/* ---- files in the inputs ---- */

struct collect {
	struct run_files *files;
	size_t artifacts;
	const char *pointer; /* JSON pointer of the current place */
	/* key of the enclosing member: a name for want of another */
	const char *key;
	struct run_files_error *err;
};

static void refuse_file(struct collect *c, const char *member,
			const char *expected, const char *says)
{
	struct run_files_error *e = c->err;

	if (e->text[0] != '\0')
		return;
	snprintf(e->pointer, sizeof(e->pointer), "%.200s%s", c->pointer,
		 member);
	snprintf(e->expected, sizeof(e->expected), "%s", expected);
	snprintf(e->text, sizeof(e->text), "%s %s", e->pointer, says);
}

static void hold_file_bytes(struct run_file *f, const char *p, size_t n)
{
	f->bytes = xcalloc(n + 1, 1);
	memcpy(f->bytes, p, n);
	f->size = (int64_t)n;
}

static bool take_base64(struct collect *c, struct run_file *f,
			struct json_object *v)
{
	size_t n = (size_t)json_object_get_string_len(v), len = 0;

	f->bytes = xcalloc(n / 4 * 3 + 1, 1);
	if (base64_decode(f->bytes, &len, json_object_get_string(v), n) == 0) {
		f->size = (int64_t)len;
		return true;
	}
	refuse_file(
	    c, "/base64", "base64 (RFC 4648), padded",
	    "is no base64: it takes A-Z, a-z, 0-9, + and /, padded with =, "
	    "without blanks");
	return false;
}

/* Take a file from V; false: V is no object in one of the forms. */
static bool take_form(struct collect *c, struct run_file *f,
		      struct json_object *v)
{
	struct json_object *one;

	if ((one = json_member(v, FILE_SCHEMA_ARTIFACT)) != NULL) {
		snprintf(f->artifact, sizeof(f->artifact), "%s",
			 json_object_get_string(one));
		if (++c->artifacts > RUN_FILES_ARTIFACTS)
			refuse_file(
			    c, "", "64 artifacts at most",
			    "is one artifact more than the 64 that a run can "
			    "be given as files");
	} else if ((one = json_member(v, "text")) != NULL) {
		hold_file_bytes(f, json_object_get_string(one),
				(size_t)json_object_get_string_len(one));
	} else if ((one = json_member(v, "base64")) != NULL) {
		(void)take_base64(c, f, one);
	}
	return one != NULL;
}

/* Is V a file? Then add the file. */
static bool take_file(struct collect *c, struct json_object *v)
{
	struct run_files *all = c->files;
	struct run_file f = {0};
	const char *name;

	if (json_object_is_type(v, json_type_string))
		hold_file_bytes(&f, json_object_get_string(v),
				(size_t)json_object_get_string_len(v));
	else if (!json_object_is_type(v, json_type_object) ||
		 !take_form(c, &f, v))
		return false;
	name = json_member_str(v, "name");
	f.named = name != NULL;
	f.name = file_name_safe(name != NULL ? name : c->key);
	if (f.name == NULL)
		f.name = xstrdup("file");
	if (all->n == RUN_FILES_MAX) {
		refuse_file(
		    c, "", "256 files at most",
		    "is one file more than the 256 that a run can be given");
		free(f.name);
		free(f.bytes);
		return true;
	}
	f.pointer = xstrdup(c->pointer);
	all->v = xrealloc(all->v, (all->n + 1) * sizeof(*all->v));
	all->v[all->n++] = f;
	return true;
}

static void collect_files(struct collect *c, const struct file_spot *spot,
			  struct json_object *v);

/*
 * Collect the files of V at KEY. NAME: the name of a file there, for want of a
 * name of its own.
 */
static void enter_file(struct collect *c, const struct file_spot *spot,
		       const char *key, const char *name, struct json_object *v)
{
	const struct file_spot *below = file_schema_below(spot, key);
	const struct collect was = *c;
	char *pointer;

	if (below == NULL || v == NULL || c->err->text[0] != '\0')
		return;
	pointer = json_pointer_below(was.pointer, key);
	c->pointer = pointer;
	c->key = name;
	collect_files(c, below, v);
	c->pointer = was.pointer;
	c->key = was.key;
	free(pointer);
}

static void collect_files(struct collect *c, const struct file_spot *spot,
			  struct json_object *v)
{
	char index[24];
	size_t i = 0;

	if (spot->is_file && take_file(c, v))
		return;
	json_each(one, v) {
		snprintf(index, sizeof(index), "%zu", i++);
		enter_file(c, spot, index, c->key, one);
	}
	if (!json_object_is_type(v, json_type_object))
		return;
	json_object_object_foreach(v, key, one) {
		enter_file(c, spot, key, key, one);
	}
}

struct run_files *run_files_collect(const struct file_spot *spots,
				    struct json_object *inputs,
				    struct run_files_error *err)
{
	struct collect c = {.pointer = "", .key = "file", .err = err};

	*err = (struct run_files_error){0};
	if (spots == NULL)
		return NULL;
	c.files = xcalloc(1, sizeof(*c.files));
	collect_files(&c, spots, inputs);
	if (c.files->n > 0 && err->text[0] == '\0')
		return c.files;
	run_files_free(c.files);
	return NULL;
}

void run_files_free(struct run_files *f)
{
	if (f == NULL)
		return;
	for (size_t i = 0; i < f->n; i++) {
		free(f->v[i].pointer);
		free(f->v[i].name);
		free(f->v[i].bytes);
	}
	free(f->v);
	free(f->inputs);
	free(f);
}

/* ---- files in the template's view ---- */

void run_files_found(struct run_file *f, const char *folder, const char *name,
		     int64_t size, int64_t expires_ms)
{
	char *own = f->named ? NULL : file_name_safe(name);

	if (own != NULL) {
		free(f->name);
		f->name = own;
	}
	snprintf(f->folder, sizeof(f->folder), "%s", folder);
	f->size = size;
	f->expires_ms = expires_ms;
}

static bool is_taken(const struct run_files *f, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(f->v[i].name, name) == 0)
			return true;
	return false;
}

/* Give the file AT a number when an earlier file has the same name. */
static void make_distinct(struct run_files *f, size_t at)
{
	struct run_file *one = &f->v[at];
	char *name = NULL;

	if (!is_taken(f, at, one->name))
		return;
	for (unsigned n = 2; name == NULL; n++) {
		name = file_name_numbered(one->name, n);
		if (!is_taken(f, at, name))
			break;
		free(name);
		name = NULL;
	}
	free(one->name);
	one->name = name;
}

/*
 * Put V (taken) at F's place in INPUTS. Returns the value that was there, the
 * caller's.
 */
static struct json_object *put_at(struct json_object *inputs,
				  const struct run_file *f,
				  struct json_object *v)
{
	const char *last = strrchr(f->pointer, '/');
	char *up = xstrndup(f->pointer, (size_t)(last - f->pointer));
	struct json_object *in = inputs, *was = NULL;
	char *key = json_pointer_token(&last);

	if (up[0] != '\0')
		(void)json_pointer_get(inputs, up, &in);
	if (json_object_is_type(in, json_type_array)) {
		size_t i = strtoul(key, NULL, 10);

		was = json_object_get(json_object_array_get_idx(in, i));
		json_object_array_put_idx(in, i, v);
	} else {
		was = json_object_get(json_member(in, key));
		json_object_object_add(in, key, v);
	}
	free(key);
	free(up);
	return was;
}

void run_files_settle(struct run_files *f, struct json_object *inputs)
{
	struct json_object **was =
	    xcalloc(f->n + 1, sizeof(struct json_object *));
	const char *text;

	for (size_t i = 0; i < f->n; i++)
		make_distinct(f, i);
	for (size_t i = 0; i < f->n; i++) {
		char *path = xasprintf(RUN_FILES_IN "%s", f->v[i].name);

		was[i] = put_at(inputs, &f->v[i], json_text_new(path));
		free(path);
	}
	text = json_text(inputs, &f->inputs_len);
	f->inputs = xstrndup(text, f->inputs_len);
	for (size_t i = 0; i < f->n; i++)
		json_object_put(put_at(inputs, &f->v[i], was[i]));
	free(was);
}

size_t run_files_artifacts(const struct run_files *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++)
		n += f->v[i].bytes == NULL;
	return n;
}

int64_t run_files_bytes(const struct run_files *f, bool artifacts_too)
{
	int64_t n = 0;

	for (size_t i = 0; i < f->n; i++)
		if (artifacts_too || f->v[i].bytes != NULL)
			n += f->v[i].size;
	return n;
}

/* ---- files of a queued run, in its row ---- */

struct json_object *run_files_describe(const struct run_files *f)
{
	struct json_object *list = NULL;

	for (size_t i = 0; f != NULL && i < f->n; i++) {
		const struct run_file *one = &f->v[i];

		if (one->bytes != NULL)
			continue;
		if (list == NULL)
			list = json_object_new_array();
		json_object_array_add(
		    list, json_pack("id:s folder:s name:s size:i expiresMs:i",
				    one->artifact, one->folder, one->name,
				    one->size, one->expires_ms));
	}
	return list;
}

struct run_files *run_files_restore(const struct file_spot *spots,
				    const char *text, struct json_object *list)
{
	struct run_files_error err;
	struct json_object *inputs = NULL;
	struct run_files *f = NULL;

	if (spots == NULL || text == NULL ||
	    json_parse(&inputs, text, strlen(text), NULL) < 0)
		return NULL;
	f = run_files_collect(spots, inputs, &err);
	for (size_t i = 0; f != NULL && i < f->n; i++) {
		if (f->v[i].bytes != NULL)
			continue;
		json_each(one, list) {
			const char *folder = json_member_str(one, "folder");
			const char *name = json_member_str(one, "name");

			if (!json_member_is(one, "id", f->v[i].artifact) ||
			    folder == NULL || name == NULL)
				continue;
			run_files_found(&f->v[i], folder, name,
					json_member_int(one, "size"),
					json_member_int(one, "expiresMs"));
			break;
		}
	}
	if (f != NULL)
		run_files_settle(f, inputs);
	json_object_put(inputs);
	return f;
}
