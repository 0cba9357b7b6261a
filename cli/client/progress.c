/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.c - a run's progress on stderr while run_call.c waits: a bar on a
 * terminal, a few lines elsewhere, nothing when quiet. The bar is a pure
 * function of its values; nothing here can fail.
 */
#include "cli/client/progress.h"

#include <inttypes.h>
#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/client/client.h"
#include "cli/terminal/duration.h"
#include "cli/terminal/terminal.h"

#define TICK_MS 100
#define SHOW_AFTER_MS 150 /* a shorter run needs no bar */
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

/*
 * Print a line, off a terminal: for each tenth once, and for a new message at
 * most once in LINE_EVERY_MS.
 */
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

#define PROGRESS_BAR_COLUMNS 24
#define NAME_COLUMNS 24
#define TEXT_COLUMNS_MIN 8 /* a shorter text is not worth printing */
#define SPIN_MS 100

#define GREEN "\033[32m"
#define DIM "\033[2m"
#define PLAIN "\033[0m"

static void repeat(struct buf *out, const char *s, uint64_t n)
{
	while (n-- > 0)
		buf_add_str(out, s);
}

static void add_bar(struct buf *out, const struct progress_bar *b)
{
	uint64_t done = b->done < b->total ? b->done : b->total;
	uint64_t full =
	    (uint64_t)((double)done / (double)b->total * PROGRESS_BAR_COLUMNS);

	buf_add_str(out, b->utf8 ? "" : "[");
	buf_add_str(out, b->colour ? GREEN : "");
	repeat(out, b->utf8 ? "\xE2\x94\x81" : "=", full);
	buf_add_str(out, b->colour ? PLAIN DIM : "");
	repeat(out, b->utf8 ? "\xE2\x94\x80" : " ",
	       PROGRESS_BAR_COLUMNS - full);
	buf_add_str(out, b->colour ? PLAIN : "");
	buf_add_str(out, b->utf8 ? " " : "] ");
}

static void add_spinner(struct buf *out, const struct progress_bar *b)
{
	static const char *const round[] = {
	    "\xE2\xA0\x8B", "\xE2\xA0\x99", "\xE2\xA0\xB9", "\xE2\xA0\xB8",
	    "\xE2\xA0\xBC", "\xE2\xA0\xB4", "\xE2\xA0\xA6", "\xE2\xA0\xA7",
	    "\xE2\xA0\x87", "\xE2\xA0\x8F"};
	static const char *const plain[] = {"|", "/", "-", "\\"};
	uint64_t turn = (uint64_t)b->elapsed_ms / SPIN_MS;

	buf_add_str(out, b->utf8 ? round[turn % 10] : plain[turn % 4]);
	buf_add_str(out, " ");
}

/* Append TEXT, at most MOST columns, and a blank, within *LEFT columns. */
static void add_progress_text(struct buf *out, const char *text, size_t most,
			      size_t *left)
{
	size_t start = buf_len(out);

	if (text == NULL || text[0] == '\0' || *left < TEXT_COLUMNS_MIN)
		return;
	sanitize_add(out, text, strlen(text), most < *left ? most : *left - 1);
	buf_add_str(out, " ");
	*left -= sanitize_width(buf_data(out) + start, buf_len(out) - start);
}

/* Take COLUMNS off *LEFT; false: less is left. */
static bool take_columns(size_t *left, size_t columns)
{
	if (columns > *left)
		return false;
	*left -= columns;
	return true;
}

/*
 * Space is given to the most important parts first; then all parts are printed
 * in their order.
 */
void progress_bar_render(struct buf *out, const struct progress_bar *b)
{
	size_t left = b->columns > 0 ? b->columns - 1 : 0;
	struct buf count = {0};
	char time[DURATION_SIZE];
	bool counts, turns, times, has_bar;

	if (b->total > 0)
		buf_printf(&count, "%" PRIu64 "/%" PRIu64 " ", b->done,
			   b->total);
	else if (b->done > 0)
		buf_printf(&count, "%" PRIu64 " ", b->done);
	duration_text(time, b->elapsed_ms);
	counts = take_columns(&left, buf_len(&count));
	turns = b->total == 0 && take_columns(&left, 2);
	times = take_columns(&left, strlen(time));
	has_bar = b->total > 0 && left >= PROGRESS_BAR_COLUMNS + NAME_COLUMNS &&
		  take_columns(&left, PROGRESS_BAR_COLUMNS + (b->utf8 ? 1 : 3));
	add_progress_text(out, b->name, NAME_COLUMNS, &left);
	if (has_bar)
		add_bar(out, b);
	if (turns)
		add_spinner(out, b);
	if (counts && buf_len(&count) > 0)
		buf_add(out, buf_data(&count), buf_len(&count));
	add_progress_text(out, b->message, SANITIZE_NO_LIMIT, &left);
	if (times)
		buf_add_str(out, time);
	buf_fini(&count);
}
