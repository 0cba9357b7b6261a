/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_leaving.c - removes files of artifacts whose rows were deleted: notes the files
 * in the transaction, and removes them once the transaction is durable, so a failed
 * commit removes nothing. Names are removed at once; a thread frees the blocks of large
 * files. A file that stays has no row: recovery removes such files.
 */
#include "supervisor/store/store_impl.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os/log.h"
#include "supervisor/store/state/state_file.h"

#define LARGE_BYTES (1 << 20) /* smaller files are freed at once */
#define STACK_BYTES ((size_t)64 << 10)

/* The last descriptors of unlinked files. */
struct store_closing {
	pthread_t thread;
	bool begun, ends;
	pthread_mutex_t lock;
	pthread_cond_t wake; /* a descriptor is in FDS, or FDS has room */
	int fds[STORE_CLOSING_MAX];
	size_t n;
};

/* ---- files in use; called on any thread ---- */

/* LOCK must be held. */
static struct store_held *held_of(struct store *s, const char *id)
{
	for (size_t i = 0; i < s->n_held; i++)
		if (strcmp(s->held[i].id, id) == 0)
			return &s->held[i];
	return NULL;
}

void store_hold(struct store *s, const char *id)
{
	struct store_held *h;

	pthread_mutex_lock(&s->lock);
	h = held_of(s, id);
	if (h == NULL) {
		s->held = xrealloc(s->held, (s->n_held + 1) * sizeof(*s->held));
		h = &s->held[s->n_held++];
		*h = (struct store_held){.users = 0};
		snprintf(h->id, sizeof(h->id), "%s", id);
	}
	h->users++;
	pthread_mutex_unlock(&s->lock);
}

bool store_release(struct store *s, const char *id)
{
	struct store_held *h;
	bool wanted = false;

	pthread_mutex_lock(&s->lock);
	h = held_of(s, id);
	if (h != NULL && --h->users == 0) {
		wanted = h->wanted;
		*h = s->held[--s->n_held];
	}
	pthread_mutex_unlock(&s->lock);
	return wanted;
}

bool store_is_held(struct store *s, const char *id)
{
	struct store_held *h;

	pthread_mutex_lock(&s->lock);
	h = held_of(s, id);
	if (h != NULL)
		h->wanted = true;
	pthread_mutex_unlock(&s->lock);
	return h != NULL;
}

/* ---- in the transaction ---- */

int store_remove_bytes(struct store *s, const char *run_id, const char *id)
{
	struct store_file *f;
	int rc = s->in_rows ? s->engine->chunks->drop(s, id)
			    : state_file_may_remove(s->files, run_id, id);

	if (s->in_rows)
		return rc;
	if (store_is_held(s, id))
		return 1;
	if (rc != 0) {
		log_warn("store", "run=%s artifact=%s remove=\"%s\"", run_id,
			 id, strerror(-rc));
		return 1;
	}
	s->leaving =
	    xrealloc(s->leaving, (s->n_leaving + 1) * sizeof(*s->leaving));
	f = &s->leaving[s->n_leaving++];
	snprintf(f->folder, sizeof(f->folder), "%s", run_id);
	snprintf(f->id, sizeof(f->id), "%s", id);
	return 0;
}

void store_leaving_forget(struct store *s)
{
	free(s->leaving);
	s->leaving = NULL;
	s->n_leaving = 0;
}

/* ---- the thread ---- */

static void *closing_main(void *arg)
{
	struct store_closing *c = arg;

	pthread_mutex_lock(&c->lock);
	while (c->n > 0 || !c->ends) {
		int fd;

		if (c->n == 0) {
			pthread_cond_wait(&c->wake, &c->lock);
			continue;
		}
		fd = c->fds[--c->n];
		pthread_mutex_unlock(&c->lock);
		close(fd);
		pthread_mutex_lock(&c->lock);
		pthread_cond_signal(&c->wake);
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

static struct store_closing *begin_closing(struct store *s)
{
	struct store_closing *c = xcalloc(1, sizeof(*c));
	pthread_attr_t attr;
	sigset_t all, before;

	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->wake, NULL);
	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	c->begun = pthread_create(&c->thread, &attr, closing_main, c) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	s->closing = c;
	return c;
}

/* Close FD on the thread, since freeing the blocks may take long. */
static void close_aside(struct store *s, int fd)
{
	struct store_closing *c =
	    s->closing != NULL ? s->closing : begin_closing(s);

	if (!c->begun) {
		close(fd);
		return;
	}
	pthread_mutex_lock(&c->lock);
	while (c->n == STORE_CLOSING_MAX)
		pthread_cond_wait(&c->wake, &c->lock);
	c->fds[c->n++] = fd;
	pthread_cond_signal(&c->wake);
	pthread_mutex_unlock(&c->lock);
}

void store_closing_end(struct store *s)
{
	struct store_closing *c = s->closing;

	if (c == NULL)
		return;
	pthread_mutex_lock(&c->lock);
	c->ends = true;
	pthread_cond_signal(&c->wake);
	pthread_mutex_unlock(&c->lock);
	if (c->begun)
		pthread_join(c->thread, NULL);
	pthread_cond_destroy(&c->wake);
	pthread_mutex_destroy(&c->lock);
	free(c);
	s->closing = NULL;
}

/* ---- after the commit ---- */

void store_leaving_go(struct store *s)
{
	for (size_t i = 0; i < s->n_leaving; i++) {
		const struct store_file *f = &s->leaving[i];
		int fd = state_file_hold(s->files, f->folder, f->id);
		struct stat st;
		int rc = state_file_remove(s->files, f->folder, f->id);

		if (rc != 0)
			log_warn("store", "run=%s artifact=%s stray=\"%s\"",
				 f->folder, f->id, strerror(-rc));
		if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > LARGE_BYTES)
			close_aside(s, fd);
		else if (fd >= 0)
			close(fd);
	}
	store_leaving_forget(s);
}
