/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.c - a run's progress on stderr while run.c waits: a bar on a
 * terminal, a few lines elsewhere, nothing when quiet. It cannot fail; a
 * terminal without a size is taken to have the usual one.
 */
#include "cli/progress.h"

#include <inttypes.h>
#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/progress_bar.h"
#include "cli/client.h"
#include "cli/terminal.h"

#define TICK_MS 100
#define SHOW_AFTER_MS 150 /* a run that is over at once needs no bar */
#define LINE_EVERY_MS 1000

void progress_init(struct progress *p, const char *name, bool quiet)
{
	*p = (struct progress){.name = name,
			       .quiet = quiet,
			       .draws =
				   !quiet && message_is_terminal(STDERR_FILENO),
			       .start_ms = clock_mono_ms()};
}

static void draw(struct progress *p)
{
	struct buf out = {0};
	struct progress_bar b = {.name = p->name,
				 .message = p->message,
				 .done = p->done,
				 .total = p->total,
				 .columns =
				     (unsigned)text_wrap_columns(STDERR_FILENO),
				 .elapsed_ms = clock_mono_ms() - p->start_ms,
				 .colour = message_has_colours(STDERR_FILENO)};

	if (b.elapsed_ms < SHOW_AFTER_MS)
		return;
	b.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	buf_add_str(&out, "\r");
	progress_bar_render(&out, &b);
	buf_add_str(&out, "\033[K");
	fwrite(buf_data(&out), 1, buf_len(&out), stderr);
	buf_fini(&out);
	p->drawn = true;
}

/* Off a terminal: each tenth once, and messages, but not too many. */
static void tell_out(struct progress *p, bool new_message)
{
	int64_t now = clock_mono_ms();
	uint64_t tenth =
	    p->total == 0
		? 1
		: 1 + (uint64_t)((double)p->done / (double)p->total * 10);

	if (p->done == 0 && !new_message)
		return;
	if (tenth <= p->told &&
	    !(new_message && now - p->told_ms >= LINE_EVERY_MS))
		return;
	p->told = tenth;
	p->told_ms = now;
	if (p->total > 0)
		message_more("%s: %" PRIu64 "/%" PRIu64 "%s%s", p->name,
			     p->done, p->total, p->message != NULL ? " " : "",
			     p->message != NULL ? p->message : "");
	else if (p->message != NULL)
		message_more("%s: %s", p->name, p->message);
	else if (p->done > 0)
		message_more("%s: %" PRIu64, p->name, p->done);
	else
		p->told = 0;
}

void progress_set(struct progress *p, uint64_t done, uint64_t total,
		  const char *message)
{
	bool fresh = message != NULL &&
		     (p->message == NULL || strcmp(p->message, message) != 0);

	p->done = done;
	p->total = total;
	if (fresh) {
		free(p->message);
		p->message = xstrdup(message);
	}
	if (p->draws)
		draw(p);
	else if (!p->quiet)
		tell_out(p, fresh);
}

int progress_tick(struct progress *p)
{
	if (!p->draws)
		return CLIENT_FOREVER;
	draw(p);
	return TICK_MS;
}

void progress_hide(struct progress *p)
{
	if (p->drawn)
		fputs("\r\033[K", stderr);
	p->drawn = false;
}

void progress_fini(struct progress *p)
{
	progress_hide(p);
	free(p->message);
	p->message = NULL;
}
