/* SPDX-License-Identifier: Apache-2.0 */
/*
 * artifact_fetch.c - gets an artifact's bytes in as many reads as needed and
 * checks the SHA-256 at the end; for artifact.c and artifact_write.c. A
 * refusal, a lost server, a wrong hash or a failing sink end the fetch with an
 * exit status, and the reason on stderr.
 */
#include "cli/artifact/artifact_fetch.h"

#include <errno.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/base64.h"
#include "base/mem.h"
#include "cli/client/client_bytes.h"
#include "cli/client/report.h"
#include "cli/terminal/terminal.h"
#include "proto/json/json_pack.h"

#define SHA256_HEX 64

struct fetch {
	struct client *client;
	const char *id;
	const char *to; /* the destination, for messages */
	artifact_fetch_sink sink;
	void *arg;
	struct sha256_ctx hash;
	int64_t at;
	bool complete;
	char sha256[SHA256_HEX + 1]; /* from the server; "" for none */
};

/* ---- reading a piece ---- */

static int bad_piece(const struct fetch *f, const char *what)
{
	return message_fail(CLI_TROUBLE, "artifact %s: %s", f->id, what);
}

static int take_piece(struct fetch *f, struct json_object *piece)
{
	struct json_object *data = json_member(piece, "data");
	struct json_object *complete = json_member(piece, "complete");
	const char *sha256 = json_member_str(piece, "sha256");
	size_t len, n = (size_t)json_object_get_string_len(data);
	char *bytes;
	int rc;

	if (!json_object_is_type(data, json_type_string))
		return bad_piece(f, "the server sent no data");
	bytes = xcalloc(n / 4 * 3 + 1, 1);
	rc = base64_decode(bytes, &len, json_object_get_string(data), n);
	f->complete = json_object_get_boolean(complete);
	if (rc < 0 || (len == 0 && !f->complete)) {
		free(bytes);
		return bad_piece(f, "the server sent bytes that make no sense");
	}
	sha256_update(&f->hash, len, (const void *)bytes);
	f->at += (int64_t)len;
	rc = f->sink(f->arg, bytes, len);
	free(bytes);
	if (rc < 0)
		return message_fail(CLI_TROUBLE, "%s: %s", f->to,
				    strerror(-rc));
	if (sha256 != NULL)
		snprintf(f->sha256, sizeof(f->sha256), "%s", sha256);
	return 0;
}

static int fetch_piece(struct fetch *f)
{
	struct tool_result a;
	int rc;

	rc = client_tool(f->client, "get_artifact",
			 json_pack("artifactId:s offset:i", f->id, f->at), &a);
	if (rc != 0)
		return rc;
	rc = a.good ? take_piece(f, a.value) : report_refusal(a.value, NULL);
	tool_result_fini(&a);
	return rc;
}

static int count_bytes(void *arg, const void *p, size_t n)
{
	struct fetch *f = arg;

	sha256_update(&f->hash, n, p);
	f->at += (int64_t)n;
	return f->sink(f->arg, p, n);
}

/* Get the rest of the artifact as raw bytes; -ENOTSUP: get it in pieces. */
static int fetch_bytes(struct fetch *f)
{
	struct tool_result a = {0};
	int rc = client_get_bytes(f->client, f->id, f->at, count_bytes, f, &a);
	const char *sha256 = json_member_str(a.value, "sha256");

	if (rc == -ENOTSUP)
		; /* nothing has come */
	else if (rc < 0)
		rc = message_fail(CLI_TROUBLE, "%s: %s", f->to, strerror(-rc));
	else if (rc == 0 && !a.good)
		rc = report_refusal(a.value, NULL);
	else if (rc == 0)
		f->complete = true;
	if (sha256 != NULL)
		snprintf(f->sha256, sizeof(f->sha256), "%s", sha256);
	tool_result_fini(&a);
	return rc;
}

int artifact_fetch(struct client *c, const char *id, const char *to,
		   artifact_fetch_sink sink, void *arg)
{
	struct fetch f = {
	    .client = c, .id = id, .to = to, .sink = sink, .arg = arg};
	unsigned char digest[SHA256_DIGEST_SIZE];
	char hex[SHA256_HEX + 1];
	int rc = 0;

	sha256_init(&f.hash);
	rc = fetch_piece(&f); /* most artifacts are no larger */
	if (rc == 0 && !f.complete)
		rc = fetch_bytes(&f);
	if (rc == -ENOTSUP)
		rc = 0;
	while (rc == 0 && !f.complete)
		rc = fetch_piece(&f);
	if (rc != 0)
		return rc;
	sha256_digest(&f.hash, sizeof(digest), digest);
	for (size_t i = 0; i < sizeof(digest); i++)
		snprintf(hex + (size_t)2 * i, 3, "%02x", digest[i]);
	if (f.sha256[0] == '\0' || strcmp(f.sha256, hex) == 0)
		return 0;
	return bad_piece(&f, "what came is not what was stored: its sha256 "
			     "differs");
}
