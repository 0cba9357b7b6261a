/* SPDX-License-Identifier: Apache-2.0 */
/*
 * template_watch.c - watches, by inotify(7), the folders of templates, and the
 * packages in them, for changes. reload.c opens a watch on its thread with each
 * load, and loads again after a change. A folder that cannot be watched is
 * logged, and not watched.
 */
#include "supervisor/start/template_watch.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/os/log.h"

#define CHANGES                                                                \
	(IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM |              \
	 IN_MOVED_TO | IN_ATTRIB)

struct template_watch {
	struct event_base *base;
	void (*changed)(void *arg);
	void *arg;
	int fd;			/* inotify(7); -1: no watch */
	struct event *readable; /* event of FD */
	struct event *soon; /* timer: the time for further changes is over */
};

/* ---- on a thread ---- */

/* A walk over folders, and its results. */
struct walk {
	int fd;
	size_t folders;
	bool beyond; /* some folders lie beyond the bounds */
	int err;     /* errno of the first folder that could not be watched */
};

static void watch_folder(struct walk *w, const char *path, int depth);

static void watch_children(struct walk *w, const char *path, int depth)
{
	DIR *d = opendir(path);
	struct dirent *e;

	while (d != NULL && !w->beyond && (e = readdir(d)) != NULL) {
		char *child;

		if ((e->d_type != DT_DIR && e->d_type != DT_UNKNOWN &&
		     !(e->d_type == DT_LNK && depth == 0)) ||
		    strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		child = xasprintf("%s/%s", path, e->d_name);
		watch_folder(w, child, depth + 1);
		free(child);
	}
	if (d != NULL)
		closedir(d);
}

static void watch_folder(struct walk *w, const char *path, int depth)
{
	/* links to packages are followed */
	int follow = depth <= 1 ? 0 : IN_DONT_FOLLOW;

	if (depth > TEMPLATE_WATCH_DEPTH + 1 || /* folders within a package */
	    w->folders == TEMPLATE_WATCH_FOLDERS) {
		w->beyond = true;
		return;
	}
	if (inotify_add_watch(w->fd, path, CHANGES | IN_ONLYDIR | follow) < 0) {
		/* a file, or removed meanwhile: the watch of its folder
		   tells */
		if (errno != ENOTDIR && errno != ENOENT && w->err == 0)
			w->err = errno;
		return;
	}
	w->folders++;
	watch_children(w, path, depth);
}

int template_watch_open(char *const *dirs, size_t n)
{
	struct walk w = {.fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC)};
	int err = errno;

	if (w.fd < 0) {
		log_warn("catalogue", "watch=none err=\"%s\"", strerror(err));
		return -err;
	}
	for (size_t i = 0; i < n; i++)
		watch_folder(&w, dirs[i], 0);
	if (w.beyond || w.err != 0)
		log_warn(
		    "catalogue", "watch=partial folders=%zu why=\"%s\"",
		    w.folders,
		    w.err != 0
			? strerror(w.err)
			: "there are more of them, or deeper ones, than are "
			  "watched");
	return w.fd;
}

/* ---- on the loop ---- */

/*
 * Wait a moment after a change. All templates are loaded again, whatever
 * changed, and by then further changes are written.
 */
static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct template_watch *w = arg;

	(void)fd, (void)what;
	event_del(w->readable);
	evtimer_add(w->soon, CLOCK_TIMEVAL(TEMPLATE_WATCH_QUIET_MS));
}

static void on_soon(evutil_socket_t fd, short what, void *arg)
{
	struct template_watch *w = arg;

	(void)fd, (void)what;
	w->changed(w->arg);
}

int template_watch_take(struct template_watch *w)
{
	int fd = w->fd;

	if (w->readable != NULL)
		event_free(w->readable);
	w->readable = NULL;
	evtimer_del(w->soon);
	w->fd = -1;
	return fd;
}

void template_watch_set(struct template_watch *w, int fd)
{
	w->fd = fd >= 0 ? fd : -1;
	if (fd < 0)
		return;
	w->readable =
	    event_new(w->base, fd, EV_READ | EV_PERSIST, on_readable, w);
	event_add(w->readable, NULL);
}

struct template_watch *template_watch_new(struct event_base *base,
					  void (*changed)(void *arg), void *arg)
{
	struct template_watch *w = xcalloc(1, sizeof(*w));

	*w = (struct template_watch){
	    .base = base, .changed = changed, .arg = arg, .fd = -1};
	w->soon = evtimer_new(base, on_soon, w);
	return w;
}

void template_watch_free(struct template_watch *w)
{
	int fd;

	if (w == NULL)
		return;
	fd = template_watch_take(w);
	if (fd >= 0)
		close(fd);
	event_free(w->soon);
	free(w);
}
