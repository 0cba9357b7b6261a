/* SPDX-License-Identifier: Apache-2.0 */
/*
 * template_watch.h - [server] watch_templates: has something changed in the
 * folders of templates? By inotify(7), with bounds on folders and on wake-ups.
 */
#ifndef SUPERVISOR_START_TEMPLATE_WATCH_H
#define SUPERVISOR_START_TEMPLATE_WATCH_H

#include <event2/event.h>
#include <stddef.h>

#define TEMPLATE_WATCH_FOLDERS                                                 \
	2048 /* most folders; folders beyond are not watched */
#define TEMPLATE_WATCH_DEPTH 8 /* depth of folders in a package */
#define TEMPLATE_WATCH_QUIET_MS                                                \
	100 /* after a first change, until CHANGED is called once */

struct template_watch; /* opaque */

/*
 * Make a watch. CHANGED is called once; then again only after the next
 * template_watch_set().
 */
struct template_watch *template_watch_new(struct event_base *base,
					  void (*changed)(void *arg),
					  void *arg);
void template_watch_free(struct template_watch *w); /* NULL is fine */

/*
 * Watch the N folders DIRS, their packages and all folders in packages; on any
 * thread. Returns the descriptor, the caller's; or -errno, which is logged.
 */
int template_watch_open(char *const *dirs, size_t n);
/*
 * Have W watch by FD (taken; negative: nothing). The descriptor set before must
 * have been taken out.
 */
void template_watch_set(struct template_watch *w, int fd);
/*
 * Take the descriptor out of W: the caller owns the descriptor; negative: W has
 * none.
 */
int template_watch_take(struct template_watch *w);

#endif
