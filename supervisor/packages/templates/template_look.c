/* SPDX-License-Identifier: Apache-2.0 */
/*
 * template_look.c - finds whether a program's package is as it was loaded: by
 * its files' metadata, and where metadata differ by the bytes of a small
 * package. threads/package_look.c looks before runs and for workers ahead of
 * runs. A look without descriptors, or other means for now, is an errno and no
 * verdict.
 */
#include "supervisor/packages/templates/template_look.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text/errmsg.h"
#include "supervisor/packages/package/package.h"

/*
 * A look at thousands of files takes a while: such a package is looked at now
 * and then, for a small part of the time. Runs of a package granted by its
 * digest use a copy with that digest.
 */
#define MANY_FILES 512u
#define TIMES_AS_LONG 50

int template_look_known(const struct template *t)
{
	if (t->looked.changed)
		return -ESTALE;
	return t->looked.until_us > clock_mono_us() ? 0 : -EINPROGRESS;
}

void template_look_init(struct template_look *l, const struct template *t)
{
	*l = (struct template_look){.t = t};
	memcpy(l->stamp, t->stamp, sizeof(l->stamp));
}

static int see(struct template_look *l, int fd)
{
	struct package_size all;
	struct file_id id;
	char stamp[65], digest[65];
	int rc = file_id_of(fd, &id);

	if (rc < 0)
		return rc;
	if (!file_id_same(&id, &l->t->folder))
		return -ESTALE;
	rc = package_stamp(fd, stamp, &all, l->errmsg, sizeof(l->errmsg));
	if (rc == 0 && strcmp(stamp, l->stamp) != 0) {
		/* perhaps the folder has the bytes that were loaded */
		l->lasts =
		    all.files > MANY_FILES || all.bytes > TEMPLATE_LOOK_BYTES;
		rc = l->lasts ? -ESTALE
			      : package_digest(fd, NULL, 0, digest, l->errmsg,
					       sizeof(l->errmsg));
		if (rc == 0 && strcmp(digest, l->t->digest) != 0)
			rc = -ESTALE;
	}
	memcpy(l->stamp, stamp, sizeof(l->stamp));
	return rc;
}

void template_look(struct template_look *l)
{
	int64_t since_us = clock_mono_us();
	int fd = package_open(l->t->dir, l->errmsg, sizeof(l->errmsg));

	l->rc = fd < 0 ? fd : see(l, fd);
	if (fd >= 0)
		close(fd);
	/* a package found wrong has been changed */
	if (l->rc == -EINVAL)
		l->rc = -ESTALE;
	if (l->rc == -ESTALE)
		errmsg_set(
		    l->errmsg, sizeof(l->errmsg),
		    "%s was changed after it was loaded, and what is there "
		    "now is not run before templates are reloaded (paddock "
		    "reload, or SIGHUP)",
		    l->t->dir);
	l->us = clock_mono_us() - since_us;
}

void template_look_keep(const struct template_look *l, struct template *t)
{
	t->looked.changed |= l->rc == -ESTALE && l->lasts;
	if (l->rc != 0)
		return;
	memcpy(t->stamp, l->stamp, sizeof(t->stamp));
	if (t->n_package > MANY_FILES)
		t->looked.until_us = clock_mono_us() + TIMES_AS_LONG * l->us;
}
