/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shim_given.c - input files of a run that are no artifacts, written into in/ before the
 * program gets the inputs; shim.c calls shim_take_files(). The program sees in/ by a
 * separate, read-only mount. A file that cannot be written ends the run.
 */
#include "worker/program/shim_private.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/os/errname.h"
#include "base/os/sys.h"
#include "ipc/file_part.h"
#include "worker/channel.h"

static int write_given(int fd, struct str s)
{
	while (s.n > 0) {
		ssize_t n = write(fd, s.p, s.n);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			s.p += n;
			s.n -= (size_t)n;
		}
	}
	return 0;
}

static int write_file(int in, const struct file_part *f)
{
	/* openat2(2), as the shim's filter allows no other call */
	struct open_how how = {.flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
			       .mode = 0444,
			       .resolve =
				   RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
	char name[256];
	int fd, rc;

	if (f->label.n == 0 || f->label.n >= sizeof(name))
		channel_broken();
	memcpy(name, f->label.p, f->label.n);
	name[f->label.n] = '\0';
	fd = (int)syscall(SYS_openat2, in, name, &how, sizeof(how));
	if (fd < 0)
		return -errno;
	rc = write_given(fd, f->data);
	close(fd);
	return rc;
}

static void fail_given(const struct file_part *f, int rc)
{
	if (rc == -ENOSPC)
		shim_fail(
		    "RESOURCE_LIMIT", NULL,
		    "the file %.*s, which the run is given, has %zu bytes, "
		    "and its memory has no room for them; who can raise "
		    "that is the template's author: "
		    "limits.maxMemoryBytes, up to the server's "
		    "max_memory_bytes",
		    (int)f->label.n, f->label.p, f->data.n);
	shim_fail("EXECUTION_ERROR", NULL,
		  "the file %.*s could not be put into in/: %s",
		  (int)f->label.n, f->label.p, errname_text(-rc));
}

void shim_take_files(struct shim *s)
{
	int in = s->p->in_fd;
	struct str rest = {s->body + s->run.code_bytes + s->run.inputs_bytes,
			   (size_t)s->run.files_bytes};
	struct file_part f;

	if (s->p->missing != 0) {
		size_t i = (size_t)__builtin_ctzll(s->p->missing);

		shim_fail("ARTIFACT_EXPIRED", NULL,
			  "the artifact for in/%.255s was removed while the "
			  "run was being started",
			  i < s->p->n_files ? s->p->files[i].name : "");
	}
	if (rest.n > 0 && in < 0)
		channel_broken();
	while (rest.n > 0) {
		int rc;

		if (!file_part_next(&rest, &f))
			channel_broken();
		rc = write_file(in, &f);
		if (rc < 0)
			fail_given(&f, rc);
	}
	if (!shim_stays()) /* else for the files of the next run */
		sys_close(in);
}
