/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warm_view.c - shows which workers wait, and how often a run found one: for
 * paddock/waiting, as JSON, and for SIGUSR1, in sum. Nothing here can fail.
 */
#include "base/os/log.h"
#include "proto/json/json_pack.h"
#include "supervisor/run/warm/warm_private.h"
#include "supervisor/runtime/runtime.h"

static struct json_object *kept_view(const struct kept *k)
{
	const struct template *t = k->template;
	const struct spawned *b;
	uint64_t bytes = 0;
	struct json_object *o = json_pack(
	    "runtime:s templateId?s version?s waiting:i wanted:i hits:i "
	    "misses:i replaced:i",
	    runtime_names[k->job.kind], t != NULL ? t->id : NULL,
	    t != NULL ? t->version_text : NULL, (int64_t)k->n, (int64_t)k->want,
	    (int64_t)k->hits, (int64_t)k->misses, (int64_t)k->replaced);

	TAILQ_FOREACH(b, &k->waiting, link)
		bytes += b->bytes;
	if (t != NULL)
		json_add(o, "memoryBytes:i", (int64_t)bytes);
	return o;
}

struct json_object *warm_view(const struct warm *m)
{
	struct json_object *list = json_object_new_array();
	const struct kept *k;

	if (m == NULL)
		return list;
	TAILQ_FOREACH(k, &m->kept, link)
		json_object_array_add(list, kept_view(k));
	return list;
}

void warm_log(const struct warm *m)
{
	unsigned long long waiting = 0, hits = 0, misses = 0, replaced = 0;
	const struct kept *k;

	if (m == NULL)
		return;
	TAILQ_FOREACH(k, &m->kept, link) {
		waiting += k->n;
		hits += k->hits;
		misses += k->misses;
		replaced += k->replaced;
	}
	log_info("warm", "waiting=%llu hits=%llu misses=%llu replaced=%llu",
		 waiting, hits, misses, replaced);
}
