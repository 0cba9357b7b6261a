/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress_bar.c - the line of a progress bar, and times as people read them,
 * for progress.c and the lists. Pure functions: what has no room in the columns
 * is left out, the least important first.
 */
#include "cli/progress_bar.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/terminal.h"

#define PROGRESS_BAR_COLUMNS 24
#define NAME_COLUMNS 24
#define TEXT_COLUMNS_MIN 8 /* in less a text would say nothing */
#define SPIN_MS 100

#define GREEN "\033[32m"
#define DIM "\033[2m"
#define PLAIN "\033[0m"

void progress_bar_time(char out[PROGRESS_BAR_TIME_SIZE], int64_t ms)
{
	int64_t s = ms / 1000;

	if (ms < 1000)
		snprintf(out, PROGRESS_BAR_TIME_SIZE, "%" PRId64 " ms", ms);
	else if (s < 60)
		snprintf(out, PROGRESS_BAR_TIME_SIZE,
			 "%" PRId64 ".%" PRId64 " s", s, ms / 100 % 10);
	else if (s < 3600)
		snprintf(out, PROGRESS_BAR_TIME_SIZE,
			 "%" PRId64 " min %02" PRId64 " s", s / 60, s % 60);
	else
		snprintf(out, PROGRESS_BAR_TIME_SIZE,
			 "%" PRId64 " h %02" PRId64 " min", s / 3600,
			 s / 60 % 60);
}

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

/* "3/10 " or, without a total, "3 ". */
static void add_count(struct buf *out, const struct progress_bar *b)
{
	if (b->total > 0)
		buf_printf(out, "%" PRIu64 "/%" PRIu64 " ", b->done, b->total);
	else if (b->done > 0)
		buf_printf(out, "%" PRIu64 " ", b->done);
}

/* TEXT and a blank, within *LEFT columns. */
static void add_text(struct buf *out, const char *text, size_t most,
		     size_t *left)
{
	size_t start = buf_len(out);

	if (text == NULL || text[0] == '\0' || *left < TEXT_COLUMNS_MIN)
		return;
	sanitize_add(out, text, strlen(text), most < *left ? most : *left - 1);
	buf_add_str(out, " ");
	*left -= sanitize_width(buf_data(out) + start, buf_len(out) - start);
}

/* True, and it is taken off *LEFT, when that much is left. */
static bool room(size_t *left, size_t columns)
{
	if (columns > *left)
		return false;
	*left -= columns;
	return true;
}

/* What matters most gets its room first; then all goes in its order. */
void progress_bar_render(struct buf *out, const struct progress_bar *b)
{
	size_t left = b->columns > 0 ? b->columns - 1 : 0;
	struct buf count = {0};
	char time[PROGRESS_BAR_TIME_SIZE];
	bool counts, turns, times, has_bar;

	add_count(&count, b);
	progress_bar_time(time, b->elapsed_ms);
	counts = room(&left, buf_len(&count));
	turns = b->total == 0 && room(&left, 2);
	times = room(&left, strlen(time));
	has_bar = b->total > 0 && left >= PROGRESS_BAR_COLUMNS + NAME_COLUMNS &&
		  room(&left, PROGRESS_BAR_COLUMNS + (b->utf8 ? 1 : 3));
	add_text(out, b->name, NAME_COLUMNS, &left);
	if (has_bar)
		add_bar(out, b);
	if (turns)
		add_spinner(out, b);
	if (counts && buf_len(&count) > 0)
		buf_add(out, buf_data(&count), buf_len(&count));
	add_text(out, b->message, SANITIZE_NO_LIMIT, &left);
	if (times)
		buf_add_str(out, time);
	buf_fini(&count);
}
