/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit.c - writes the audit log, a JSON line for each thing that somebody did
 * with a run, task or the browser. Called where it is done. Lines that cannot
 * be written are counted, told in the log and by health, and noted in the file
 * itself when it can be written again.
 */
#include "supervisor/run/audit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os/log_append.h"
#include "base/clock.h"
#include "base/os/log.h"
#include "base/mem.h"
#include "base/os/throttle.h"
#include "proto/json/json.h"

#define CLAIM_MAX 128 /* bytes */

static struct log_append file = {.fd = -1};
static struct throttle throttle; /* of what costs its requestor nothing */

int audit_open(const char *path)
{
	int fd = -1;

	if (path != NULL) {
		fd = log_file(path);
		if (fd < 0)
			return fd;
	}
	if (file.fd >= 0)
		close(file.fd);
	file = (struct log_append){.fd = fd, .lost = file.lost};
	return 0;
}

static void add(struct json_object *o, const char *key, const char *text)
{
	if (text != NULL)
		json_object_object_add(o, key, json_object_new_string(text));
}

static struct json_object *entry(const char *what, const char *requestor)
{
	struct json_object *o = json_object_new_object();
	char ts[CLOCK_ISO_SIZE];

	clock_iso(ts, clock_wall_ms());
	add(o, "ts", ts);
	add(o, "event", what);
	add(o, "requestor", requestor);
	return o;
}

/* One line; O takes its leave. 0, or -errno. */
static int put_entry(struct json_object *o)
{
	size_t len;
	const char *text = json_text(o, &len);
	char *line = xstrndup(text, len + 1);
	int rc;

	line[len] = '\n';
	rc = log_append_line(&file, line, len + 1);
	free(line);
	json_object_put(o);
	return rc;
}

/* Entries before the last one are not there: the file itself says so. */
static void tell_lost(uint64_t lost)
{
	struct json_object *o = entry("lost", NULL);

	json_object_object_add(o, "count",
			       json_object_new_int64((int64_t)lost));
	(void)put_entry(o);
	log_info("audit", "written=yes lost=%llu", (unsigned long long)lost);
}

/* The log tells when it begins to fail, and when that is over. */
static void write_entry(struct json_object *o)
{
	int was = file.err;
	uint64_t lost;

	if (put_entry(o) < 0) {
		if (was == 0)
			log_error("audit",
				  "written=no err=\"%s\" msg=\"entries "
				  "are lost until it can be written\"",
				  strerror(file.err));
		return;
	}
	lost = log_append_lost(&file);
	if (lost > 0)
		tell_lost(lost);
}

int audit_failing(void)
{
	return -file.err;
}

/* Entries like WHAT were held back. */
static void tell_held(void *arg, const void *what, const char *requestor,
		      uint64_t held)
{
	struct json_object *o = entry("held_back", requestor);

	(void)arg;
	add(o, "of", what);
	json_object_object_add(o, "count",
			       json_object_new_int64((int64_t)held));
	write_entry(o);
}

/* May Q's entry WHAT be written? No run stands behind it that Q pays for. */
static bool may_write(const char *what, const struct requestor *q)
{
	uint64_t held;
	bool pass;

	if (file.fd < 0)
		return false;
	pass = throttle_pass(&throttle, what, q->name, strlen(q->name),
			     AUDIT_MINUTE_MAX, clock_mono_ms(), &held);
	if (held > 0)
		tell_held(NULL, what, q->name, held);
	return pass;
}

void audit_held_back(bool final)
{
	if (file.fd >= 0)
		throttle_tell(&throttle, clock_mono_ms(), final, tell_held,
			      NULL);
}

void audit_run(const char *what, const struct run *r)
{
	struct json_object *o;

	if (file.fd < 0)
		return;
	o = entry(what, r->requestor->name);
	add(o, "runId", r->id);
	add(o, "template", r->template->id);
	add(o, "version", r->template->version_text);
	add(o, "digest", r->template->digest);
	write_entry(o);
}

void audit_input(const char *what, const struct run *r, uint32_t seq,
		 const char *how)
{
	struct json_object *o;

	if (!may_write(what, r->requestor))
		return;
	o = entry(what, r->requestor->name);
	add(o, "runId", r->id);
	add(o, "template", r->template->id);
	json_object_object_add(o, "question", json_object_new_int64(seq));
	add(o, "how", how);
	write_entry(o);
}

void audit_browser(const struct requestor *requestor, const char *id,
		   const char *tool, const char *code)
{
	struct json_object *o;

	if (!may_write("browser", requestor))
		return;
	o = entry("browser", requestor->name);
	add(o, "runId", id);
	add(o, "tool", tool);
	add(o, "errorCode", code);
	write_entry(o);
}

void audit_end(const struct run *r, const struct isolation *iso)
{
	struct json_object *o;

	if (file.fd < 0)
		return;
	o = entry("run_ended", r->requestor->name);
	add(o, "runId", r->id);
	add(o, "template", r->template->id);
	add(o, "version", r->template->version_text);
	add(o, "outcome", run_status(r));
	add(o, "errorCode", r->error.code);
	json_object_object_add(
	    o, "elapsedMs",
	    json_object_new_int64(r->finished_mono_ms - r->created_mono_ms));
	json_object_object_add(o, "cpuMs",
			       json_object_new_int64(r->use.cpu_ms));
	if (iso->view != NULL)
		json_object_object_add(o, "isolation",
				       json_object_get(iso->view));
	write_entry(o);
}

void audit_task(const char *what, const struct requestor *requestor,
		const char *id, const char *status)
{
	struct json_object *o;

	if (!may_write(what, requestor))
		return;
	o = entry(what, requestor->name);
	add(o, "taskId", id);
	add(o, "status", status);
	write_entry(o);
}

/* A text of a client's, which need not be a name at all. */
static void add_claim(struct json_object *o, const char *key, const char *text)
{
	if (text != NULL && strlen(text) <= CLAIM_MAX)
		add(o, key, text);
}

void audit_refused(const struct requestor *requestor, const char *tool,
		   const char *id, const char *code)
{
	struct json_object *o;

	if (!may_write("refused", requestor))
		return;
	o = entry("refused", requestor->name);
	add_claim(o, "tool", tool);
	add_claim(o, "id", id);
	add(o, "errorCode", code);
	write_entry(o);
}
