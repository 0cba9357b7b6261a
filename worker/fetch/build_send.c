/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_send.c - sends the result of a build: plain files alone, sorted by name, with
 * names and bytes. PID 1 of the cage calls build_send() when all other processes of the
 * cage have ended. A file that a package may not have is reported, and nothing more is
 * sent.
 */
#include "worker/fetch/build_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/os/dir_walk.h"
#include "base/os/file_stream.h"
#include "base/os/nofollow.h"
#include "base/os/sys.h"
#include "worker/fetch/build.h"

static int send_tree(const struct build *b, int at, const struct dir_walk *f)
{
	int rc = 0;

	for (size_t i = 0; i < f->n && rc == 0; i++) {
		if (b->skipped != NULL && strcmp(f->names[i], b->skipped) == 0)
			continue;
		rc = nofollow_is_plain(f->names[i])
			 ? file_stream_put_file(BUILD_FD, at, f->names[i],
						f->names[i])
			 : -EILSEQ;
		if (rc < 0)
			build_fail("%s: %s", f->names[i], strerror(-rc));
	}
	return rc == 0 ? file_stream_put(BUILD_FD, FILE_STREAM_DONE, "", 0)
		       : rc;
}

int build_send(const struct build *b, int out)
{
	char errmsg[1024];
	struct dir_walk *f = NULL;
	int at = nofollow_open_here(out, b->folder, O_RDONLY | O_DIRECTORY);
	int rc;

	if (at == -ENOENT) /* the lock names no package */
		return file_stream_put(BUILD_FD, FILE_STREAM_DONE, "", 0);
	rc = at;
	if (at < 0)
		build_fail("%s: %s", b->folder, strerror(-at));
	else if ((rc = dir_walk_list(at, &f, errmsg, sizeof(errmsg))) < 0)
		build_fail("what was fetched cannot be in a package: %s",
			   errmsg);
	else
		rc = send_tree(b, at, f);
	dir_walk_free(f);
	sys_close(at);
	return rc < 0 ? -1 : 0;
}
