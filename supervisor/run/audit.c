/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit.c - writes the audit log, a JSON line for each action with a run, a
 * task or the browser. The acting modules call it. Lines without success are
 * counted, told in the log and by health, and noted in the file when writing
 * works again.
 */
#include "supervisor/run/audit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/os/log.h"
#include "base/os/log_append.h"
#include "base/os/throttle.h"
#include "base/text/utf8.h"
#include "proto/json/json_pack.h"

#define CLAIM_MAX 128 /* bytes of a client's text */

static struct log_append file = {.fd = -1};
/* for entries that are free for their requestor */
static struct throttle throttle;

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

static struct json_object *entry(const char *what, const char *requestor)
{
	char ts[CLOCK_ISO_SIZE];

	clock_iso(ts, clock_wall_ms());
	return json_pack("ts:s event:s requestor?s", ts, what, requestor);
}

/* Append O as a line, and free O. 0, or -errno. */
static int put_entry(struct json_object *o)
{
	char escape[UTF8_ESCAPE_SIZE];
	struct buf line = {0};
	size_t len, n;
	const char *text = json_text(o, &len);
	int rc;

	/* line ends, direction marks and invisible characters are escaped: clients
	   choose names, and people read the file at terminals */
	for (size_t i = 0; i < len; i += n) {
		int32_t point = utf8_decode(text + i, len - i, &n);

		if (point >= 0 && utf8_is_control(point))
			buf_add(&line, escape, utf8_escape(escape, point));
		else
			buf_add(&line, text + i, n);
	}
	buf_add(&line, "\n", 1);
	rc = log_append_line(&file, buf_data(&line), buf_len(&line));
	buf_fini(&line);
	json_object_put(o);
	return rc;
}

/*
 * Write O, and free O. The log says when writing begins to fail, and when
 * writing works again.
 */
static void write_entry(struct json_object *o)
{
	int was = file.err;
	uint64_t lost;

	if (put_entry(o) < 0) {
		if (was == 0)
			log_error("audit",
				  "written=no err=\"%s\" msg=\"entries "
				  "are lost until it can be written\"",
				  log_append_why(file.err));
		return;
	}
	lost = log_append_lost(&file);
	if (lost == 0)
		return;
	/* the LOST entries before this one are missing */
	o = entry("lost", NULL);
	json_add(o, "count:i", lost);
	(void)put_entry(o);
	log_info("audit", "written=yes lost=%llu", (unsigned long long)lost);
}

/* Write the entry WHAT of requestor Q, with members by SPEC of json_pack.h. */
static void put(const char *what, const struct requestor *q, const char *spec,
		const struct json_pack_arg *args)
{
	struct json_object *o = entry(what, q->name);

	json_add_args(o, spec, args);
	write_entry(o);
}

#define audit(what, q, spec, ...)                                              \
	put(what, q, spec, JSON_PACK_LIST(__VA_ARGS__))

int audit_failing(void)
{
	return -file.err;
}

/* Write the number HELD of held-back entries WHAT. */
static void tell_held(void *arg, const void *what, const char *requestor,
		      uint64_t held)
{
	struct json_object *o = entry("held_back", requestor);

	(void)arg;
	json_add(o, "of:s count:i", (const char *)what, held);
	write_entry(o);
}

/*
 * May the audit log have one more entry WHAT of requestor Q now? Such entries
 * count in no limit of Q, so their number a minute is bounded here.
 */
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
	if (file.fd >= 0)
		audit(what, r->requestor,
		      "runId:s template:s version:s digest:s retriedFrom?s "
		      "parentRunId?s traceparent?s",
		      r->id, r->template->id, r->template->version_text,
		      r->template->digest,
		      r->retried_from[0] != '\0' ? r->retried_from : NULL,
		      r->family.parent_id,
		      r->trace[0] != '\0' ? r->trace : NULL);
}

void audit_reused(const struct run *parent, const struct store_run *child)
{
	if (may_write("run_reused", parent->requestor))
		audit("run_reused", parent->requestor,
		      "runId:s template:s version:s digest:s parentRunId:s",
		      child->id, child->template_id, child->version,
		      child->digest, parent->id);
}

void audit_input(const char *what, const struct run *r, uint32_t seq,
		 const char *how)
{
	if (may_write(what, r->requestor))
		audit(what, r->requestor, "runId:s template:s question:i how?s",
		      r->id, r->template->id, seq, how);
}

void audit_browser(const struct requestor *requestor, const char *id,
		   const char *tool, const char *code)
{
	if (may_write("browser", requestor))
		audit("browser", requestor, "runId?s tool?s errorCode?s", id,
		      tool, code);
}

void audit_network(const struct run *r, const struct egress_report *report)
{
	const char *code =
	    report->reason != 0 ? egress_reasons[report->reason].code : NULL;

	if (may_write("network", r->requestor))
		audit("network", r->requestor,
		      "runId:s template:s host:s port:i address?s method?s "
		      "secret?s errorCode?s",
		      r->id, r->template->id, report->host, report->port,
		      report->address[0] != '\0' ? report->address : NULL,
		      report->method[0] != '\0' ? report->method : NULL,
		      report->secret[0] != '\0' ? report->secret : NULL, code);
}

void audit_deleted(const struct requestor *requestor, const char *id,
		   const char *template_id, const char *status,
		   int64_t before_ms, int64_t n)
{
	const char *what = id != NULL ? "run_deleted" : "runs_deleted";

	if (may_write(what, requestor))
		audit(what, requestor,
		      "runId?s template?s status?s before?i count?i", id,
		      template_id, status, before_ms, id != NULL ? 0 : n);
}

void audit_uploads_deleted(const struct requestor *requestor, const char *id,
			   int64_t before_ms, int64_t n)
{
	const char *what =
	    id != NULL ? "artifact_deleted" : "artifacts_deleted";

	if (may_write(what, requestor))
		audit(what, requestor, "artifactId?s before?i count?i", id,
		      before_ms, id != NULL ? 0 : n);
}

void audit_attempt(const struct run *r)
{
	if (file.fd >= 0)
		audit("run_attempt_ended", r->requestor,
		      "runId:s template:s attempt:i errorCode?s cpuMs:i", r->id,
		      r->template->id, run_attempts(r), r->error.code,
		      r->use.cpu_ms);
}

void audit_end(const struct run *r, const struct isolation *iso)
{
	if (file.fd >= 0)
		audit("run_ended", r->requestor,
		      "runId:s template:s version:s outcome:s errorCode?s "
		      "elapsedMs:i cpuMs:i isolation?O",
		      r->id, r->template->id, r->template->version_text,
		      run_status(r), r->error.code,
		      r->finished_mono_ms - r->created_mono_ms, r->use.cpu_ms,
		      iso->view);
}

void audit_grant(const char *what, const struct requestor *requestor,
		 const char *id, const char *owner, const char *template_id,
		 const char *digest)
{
	if (may_write(what, requestor))
		audit(what, requestor,
		      "proposalId:s owner:s template:s digest:s", id, owner,
		      template_id, digest);
}

void audit_task(const char *what, const struct requestor *requestor,
		const char *id, const char *status)
{
	if (may_write(what, requestor))
		audit(what, requestor, "taskId?s status?s", id, status);
}

void audit_uploaded(const struct requestor *requestor, const char *id,
		    int64_t bytes, const char *sha256)
{
	if (may_write("artifact_put", requestor))
		audit("artifact_put", requestor,
		      "artifactId:s bytes:i sha256:s", id, bytes, sha256);
}

/* Returns TEXT, a client's, or NULL when TEXT is too long for a name. */
static const char *claimed_name(const char *text)
{
	return text != NULL && strlen(text) <= CLAIM_MAX ? text : NULL;
}

void audit_refused(const struct requestor *requestor, const char *tool,
		   const char *id, const char *code)
{
	if (may_write("refused", requestor))
		audit("refused", requestor, "tool?s id?s errorCode?s",
		      claimed_name(tool), claimed_name(id), code);
}
