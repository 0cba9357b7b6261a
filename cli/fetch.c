/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/fetch.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/mem.h"
#include "cli/name.h"
#include "cli/report.h"
#include "cli/say.h"
#include "proto/json.h"

#define SHA256_HEX 64
#define NAMES_MAX 1000 /* a.csv, a-2.csv, … */

struct fetch {
	struct client *client;
	const char *id;
	fetch_sink sink;
	void *arg;
	EVP_MD_CTX *hash;
	int64_t at;
	bool complete;
	char sha256[SHA256_HEX + 1]; /* as the server says; "" when it does not */
};

/* ---- one piece ---- */

static int bad_piece(const struct fetch *f, const char *what)
{
	say("artifact %s: %s", f->id, what);
	return CLI_TROUBLE;
}

static int take(struct fetch *f, struct json_object *piece)
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
	EVP_DigestUpdate(f->hash, bytes, len);
	f->at += (int64_t)len;
	rc = f->sink(f->arg, bytes, len);
	free(bytes);
	if (rc < 0)
		return bad_piece(f, strerror(-rc));
	if (sha256 != NULL)
		snprintf(f->sha256, sizeof(f->sha256), "%s", sha256);
	return 0;
}

static int next_piece(struct fetch *f)
{
	struct json_object *args = json_object_new_object();
	struct answer a;
	int rc;

	json_object_object_add(args, "artifactId", json_object_new_string(f->id));
	json_object_object_add(args, "offset", json_object_new_int64(f->at));
	rc = client_tool(f->client, "get_artifact", args, &a);
	if (rc != 0)
		return rc;
	rc = a.good ? take(f, a.value) : report_refusal(a.value, NULL);
	answer_fini(&a);
	return rc;
}

static int check_hash(const struct fetch *f)
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	char hex[2 * EVP_MAX_MD_SIZE + 1];
	unsigned n = 0;

	EVP_DigestFinal_ex(f->hash, digest, &n);
	for (unsigned i = 0; i < n; i++)
		snprintf(hex + (size_t)2 * i, 3, "%02x", digest[i]);
	if (f->sha256[0] == '\0' || strcmp(f->sha256, hex) == 0)
		return 0;
	return bad_piece(f, "what came is not what was stored: its sha256 "
			    "differs");
}

int fetch_artifact(struct client *c, const char *id, fetch_sink sink, void *arg)
{
	struct fetch f = {.client = c, .id = id, .sink = sink, .arg = arg};
	int rc = 0;

	f.hash = EVP_MD_CTX_new();
	if (f.hash == NULL)
		abort();
	EVP_DigestInit_ex(f.hash, EVP_sha256(), NULL);
	while (rc == 0 && !f.complete)
		rc = next_piece(&f);
	if (rc == 0)
		rc = check_hash(&f);
	EVP_MD_CTX_free(f.hash);
	return rc;
}

/* ---- into files ---- */

static int write_all(void *arg, const void *p, size_t n)
{
	const char *at = p;
	int fd = *(int *)arg;

	while (n > 0) {
		ssize_t wrote = write(fd, at, n);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote < 0)
			return -errno;
		at += wrote;
		n -= (size_t)wrote;
	}
	return 0;
}

/* A new file in folder DIR; its name goes to USED. The fd, or -errno. */
static int create_new(int dir, const char *name, char used[NAME_NUMBERED_SIZE])
{
	char clean[NAME_SIZE];
	int fd = -1;

	name_clean(clean, name);
	for (unsigned i = 1; fd < 0 && i <= NAMES_MAX; i++) {
		if (i == 1)
			snprintf(used, NAME_NUMBERED_SIZE, "%s", clean);
		else
			name_numbered(used, clean, i);
		fd = openat(dir, used,
			    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			    0666);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	return fd < 0 ? -errno : fd;
}

static int fetch_into(struct client *c, struct json_object *artifact, int dir,
		      const char *dir_name, bool quiet)
{
	const char *id = json_member_str(artifact, "artifactId");
	const char *name = json_member_str(artifact, "name");
	char used[NAME_NUMBERED_SIZE];
	int fd, rc;

	if (id == NULL)
		return 0;
	fd = create_new(dir, name != NULL ? name : id, used);
	if (fd < 0) {
		say("%s/%s: %s", dir_name, used, strerror(-fd));
		return CLI_TROUBLE;
	}
	rc = fetch_artifact(c, id, write_all, &fd);
	if (close(fd) < 0 && rc == 0) {
		say("%s/%s: %s", dir_name, used, strerror(errno));
		rc = CLI_TROUBLE;
	}
	if (rc != 0)
		unlinkat(dir, used, 0);
	else if (!quiet)
		say_more("wrote %s/%s", dir_name, used);
	return rc;
}

/* As mkdir -p; the user named it. */
static int make_folders(const char *path)
{
	char *copy = xstrdup(path);
	int rc = 0;

	for (char *at = copy + 1; rc == 0 && *at != '\0'; at++) {
		if (*at != '/')
			continue;
		*at = '\0';
		if (mkdir(copy, 0777) < 0 && errno != EEXIST)
			rc = -errno;
		*at = '/';
	}
	if (rc == 0 && mkdir(copy, 0777) < 0 && errno != EEXIST)
		rc = -errno;
	free(copy);
	return rc;
}

int fetch_all(struct client *c, struct json_object *view, const char *dir,
	      bool quiet)
{
	struct json_object *list = json_member(view, "artifacts");
	int fd, rc = 0;

	if (!json_object_is_type(list, json_type_array) ||
	    json_object_array_length(list) == 0)
		return 0;
	rc = make_folders(dir);
	fd = rc < 0 ? rc : open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		say("%s: %s", dir, strerror(rc < 0 ? -rc : errno));
		return CLI_TROUBLE;
	}
	rc = 0;
	for (size_t i = 0; rc == 0 && i < json_object_array_length(list); i++)
		rc = fetch_into(c, json_object_array_get_idx(list, i), fd, dir,
				quiet);
	close(fd);
	return rc;
}

int fetch_file(struct client *c, const char *id, const char *path)
{
	bool standard = strcmp(path, "-") == 0;
	int fd = standard ? STDOUT_FILENO
			  : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
				 0666);
	int rc;

	if (fd < 0) {
		say("%s: %s", path, strerror(errno));
		return CLI_TROUBLE;
	}
	rc = fetch_artifact(c, id, write_all, &fd);
	if (!standard && close(fd) < 0 && rc == 0) {
		say("%s: %s", path, strerror(errno));
		rc = CLI_TROUBLE;
	}
	return rc;
}
