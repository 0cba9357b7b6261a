/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_pictures.c - reads the pictures of a run from the store, one after the other,
 * before session/response.c makes an answer with pictures on a thread. The bytes of
 * an artifact decide whether the artifact is a picture. An unreadable picture is left
 * out: the link to the artifact stays.
 */
#include "supervisor/session/result/run_pictures.h"

#include <stdlib.h>
#include <string.h>

#include "base/id.h"
#include "base/mem.h"
#include "base/text/media.h"
#include "proto/json/json.h"

/*
 * Bytes of a view in which the loop looks for artifacts: artifacts come behind the
 * steps, and before a large result.
 */
#define LOOKED_AT ((size_t)256 << 10)
/* An answer has the bytes, the base64 of the bytes, and a message with the base64. */
#define COPIES 4

static struct json_object *artifacts_of(const char *view, size_t len)
{
	struct json_object *list = NULL;
	struct json_span at;

	if (json_find(&at, view, len < LOOKED_AT ? len : LOOKED_AT,
		      "artifacts") == 0 &&
	    at.len > strlen("[]") && at.off + at.len <= LOOKED_AT)
		json_parse(&list, view + at.off, at.len, NULL);
	return list;
}

int64_t run_pictures_choose(struct run_pictures *p, struct requestor *who,
			    const char *view, size_t len, int64_t each,
			    int64_t all)
{
	struct json_object *list = each > 0 ? artifacts_of(view, len) : NULL;
	int64_t sum = 0;

	*p = (struct run_pictures){.who = who};
	json_each(artifact, list) {
		const char *type = json_member_str(artifact, "mimeType");
		const char *id = json_member_str(artifact, "artifactId");
		int64_t size = json_member_int(artifact, "size");
		struct run_picture *one = &p->all[p->n];

		if (type == NULL || media_claimed(type) != MEDIA_PICTURE ||
		    id == NULL || !id_ok(id, "art") || size <= 0 ||
		    size > each || size > all - sum)
			continue;
		memcpy(one->artifact_id, id, strlen(id) + 1);
		one->size = size;
		sum += size;
		if (++p->n == RUN_PICTURES_MAX)
			break;
	}
	json_object_put(list);
	if (sum > 0 && memory_take_spare(&who->memory, COPIES * (size_t)sum))
		p->held = COPIES * (size_t)sum;
	else
		p->n = 0;
	return p->n > 0 ? sum : 0;
}

static void on_read(void *arg, const struct store_result *res);

static void read_next(struct run_pictures *p)
{
	const struct run_picture *one = &p->all[p->read];

	if (p->read == p->n)
		p->done(p->arg);
	else
		store_read_artifact(p->store, p->who->name, one->artifact_id, 0,
				    one->size, on_read, p);
}

static void on_read(void *arg, const struct store_result *res)
{
	struct run_pictures *p = arg;
	struct run_picture *one = &p->all[p->read++];

	if (res->rc == 0 && (int64_t)res->len == one->size)
		one->mime_type = media_type(MEDIA_PICTURE, res->data, res->len);
	if (one->mime_type != NULL) {
		one->len = res->len;
		one->data = store_take_bytes(res); /* may be MiB: not copied */
	}
	read_next(p);
}

void run_pictures_read(struct run_pictures *p, struct store *store,
		       void (*done)(void *arg), void *arg)
{
	p->store = store;
	p->done = done;
	p->arg = arg;
	read_next(p);
}

const struct run_picture *run_pictures_find(const struct run_pictures *p,
					    const char *artifact_id)
{
	for (size_t i = 0; artifact_id != NULL && i < p->n; i++)
		if (p->all[i].mime_type != NULL &&
		    strcmp(p->all[i].artifact_id, artifact_id) == 0)
			return &p->all[i];
	return NULL;
}

void run_pictures_fini(struct run_pictures *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->all[i].data);
	if (p->held > 0)
		memory_give(&p->who->memory, p->held);
	*p = (struct run_pictures){0};
}
