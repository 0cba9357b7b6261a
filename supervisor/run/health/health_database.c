/* SPDX-License-Identifier: Apache-2.0 */
/*
 * health_database.c - describes a database server: to programs (readyz, the
 * profile, and with it "paddock doctor" and "paddock status"), to the log on
 * USR1, and by "paddockd --check". Nothing here fails.
 */
#include "supervisor/run/health/health.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/buf.h"
#include "proto/json/json_pack.h"

struct json_object *health_database_view(struct context *ctx, bool local)
{
	char text[HEALTH_ERRMSG_SIZE];
	struct store_database d;
	struct json_object *o;

	if (!store_about(ctx->store, &d))
		return NULL;
	o = json_pack("reachable:b standby?b latencyUs?i nodes:i waiting:i",
		      d.reachable, d.standby, d.latency_us, d.nodes, d.waiting);
	if (!local)
		return o;
	health_database_text(&d, text, sizeof(text));
	json_add(o, "name:s serverVersion:s schemaVersion:i says:s", d.name,
		 d.version, d.schema, text);
	return o;
}

void health_database_text(const struct store_database *d, char *to, size_t size)
{
	struct buf b = {0};

	buf_printf(&b, "%s: ", d->name);
	if (!d->reachable)
		buf_printf(&b, "%s",
			   d->standby ? "read-only, as a standby is"
				      : "not reachable");
	else
		buf_printf(&b, "PostgreSQL %s", d->version);
	if (d->reachable && d->schema == 0)
		buf_printf(&b, ", no schema yet");
	else if (d->reachable && d->schema < d->schema_known)
		buf_printf(&b,
			   ", schema %" PRId64 ", which a start makes %" PRId64,
			   d->schema, d->schema_known);
	else if (d->reachable)
		buf_printf(&b, ", schema %" PRId64, d->schema);
	if (d->reachable && d->latency_us > 0)
		buf_printf(&b, ", answers in %.1f ms",
			   (double)d->latency_us / 1000);
	if (d->nodes > 0)
		buf_printf(&b, ", nodes that live: %" PRId64, d->nodes);
	if (d->waiting > 0)
		buf_printf(&b, ", rows that wait for it: %" PRId64, d->waiting);
	snprintf(to, size, "%.*s", (int)buf_len(&b), buf_data(&b));
	buf_fini(&b);
}
