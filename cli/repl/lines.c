/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines.c - reads lines for cells.c: by libedit where a person types at a
 * terminal that can move its cursor, else as they come. A signal wakes every
 * wait; without libedit lines are read without editing.
 */
#include "cli/repl/lines.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "base/mem.h"
#include "cli/ask/ask.h"
#include "cli/repl/history_file.h"
#include "cli/repl/libedit.h"
#include "cli/terminal/signals.h"
#include "cli/terminal/terminal.h"

#define HISTORY_LINES 1000
#define READ_BYTES 65536
#define PROMPT_SIZE 16
#define TAB_BLANKS "    "

struct lines {
	bool typed;
	/* without editing */
	struct buf rx;
	bool eof;
	/* with editing */
	const struct libedit *lib; /* NULL: without */
	EditLine *edit;
	History *history;
	char *file; /* of the history, or NULL */
	char prompt[PROMPT_SIZE];
	mbstate_t shift;    /* within a character */
	enum lines_end how; /* why the last character did not come */
};

/* ---- waiting ---- */

static volatile sig_atomic_t continued; /* after a ctrl-Z */

static void on_continue(int sig)
{
	(void)sig;
	continued = 1;
}

/* The shell has set the terminal for itself meanwhile. */
static void resume_editing(const struct lines *l)
{
	if (!continued || l->edit == NULL)
		return;
	continued = 0;
	l->lib->el_set(l->edit, EL_PREP_TERM, 1);
	l->lib->el_set(l->edit, EL_REFRESH);
}

/* Wait until stdin can be read. A ctrl-C is forgotten once it is told. */
static enum lines_end wait_input(const struct lines *l)
{
	struct pollfd p[2] = {{.fd = STDIN_FILENO, .events = POLLIN},
			      {.fd = signals_fd(), .events = POLLIN}};

	while (poll(p, ARRAY_LEN(p), -1) < 0) {
		if (errno != EINTR)
			return LINES_EOF;
		resume_editing(l);
	}
	if (p[1].revents == 0)
		return LINES_LINE;
	if (signals_noted() != SIGINT || !l->typed)
		return LINES_STOPPED;
	signals_forget();
	return LINES_DROPPED;
}

/* ---- without editing ---- */

static enum lines_end read_more(struct lines *l)
{
	enum lines_end how = wait_input(l);
	ssize_t n;

	if (how != LINES_LINE)
		return how;
	n = read(STDIN_FILENO, buf_room(&l->rx, READ_BYTES), READ_BYTES);
	if (n > 0)
		buf_wrote(&l->rx, (size_t)n);
	else if (n == 0 || errno != EINTR)
		l->eof = true;
	return LINES_LINE;
}

static enum lines_end next_plain(struct lines *l, struct buf *line)
{
	size_t scanned = 0, n;
	const char *nl = NULL;
	enum lines_end how;

	for (;;) {
		n = buf_len(&l->rx);
		if (n > scanned)
			nl = memchr(buf_data(&l->rx) + scanned, '\n',
				    n - scanned);
		if (nl != NULL || l->eof)
			break;
		scanned = n;
		how = read_more(l);
		if (how != LINES_LINE)
			return how;
	}
	if (n == 0)
		return LINES_EOF;
	if (nl != NULL)
		n = (size_t)(nl - buf_data(&l->rx)) + 1;
	buf_add(line, buf_data(&l->rx), n);
	if (nl == NULL)
		buf_add_str(line, "\n");
	buf_drop(&l->rx, n);
	return LINES_LINE;
}

/* ---- with editing ---- */

static struct lines *edited; /* the lines that libedit's callbacks are of */

static char *show_prompt(EditLine *edit)
{
	(void)edit;
	return edited->prompt;
}

/* Read a character for libedit: 1, or 0 or -1 when none comes. */
static int read_char(EditLine *edit, wchar_t *c)
{
	struct lines *l = edited;
	char byte;
	ssize_t n;

	(void)edit;
	for (;;) {
		l->how = wait_input(l);
		if (l->how != LINES_LINE)
			return -1;
		n = read(STDIN_FILENO, &byte, 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return 0;
		switch (mbrtowc(c, &byte, 1, &l->shift)) {
		case (size_t)-2: /* the character has more bytes */
			break;
		case (size_t)-1:
			memset(&l->shift, 0, sizeof(l->shift));
			*c = L'?';
			return 1;
		default:
			return 1;
		}
	}
}

/* A tab indents: there are no names to complete. */
static unsigned char insert_tab(EditLine *edit, int key)
{
	(void)key;
	return edited->lib->el_insertstr(edit, TAB_BLANKS) == 0 ? CC_REFRESH
								: CC_ERROR;
}

static void note_history(struct lines *l, const char *line)
{
	HistEvent event;

	if (line[strspn(line, " \t\n")] != '\0')
		l->lib->history(l->history, &event, H_ENTER, line);
}

static enum lines_end next_edited(struct lines *l, struct buf *line)
{
	int n = 0;
	const char *text;

	l->how = LINES_LINE;
	continued = 0;
	l->lib->el_resize(l->edit);
	text = l->lib->el_gets(l->edit, &n);
	if (text != NULL && n > 0 && l->how == LINES_LINE) {
		buf_add(line, text, (size_t)n);
		if (text[n - 1] != '\n')
			buf_add_str(line, "\n");
		note_history(l, text);
		return LINES_LINE;
	}
	return l->how == LINES_LINE ? LINES_EOF : l->how;
}

static void open_history(struct lines *l, const char *language)
{
	HistEvent event;

	l->history = l->lib->history_init();
	l->file = history_file(language);
	l->lib->history(l->history, &event, H_SETSIZE, HISTORY_LINES);
	l->lib->history(l->history, &event, H_SETUNIQUE, 1);
	if (l->file != NULL)
		l->lib->history(l->history, &event, H_LOAD, l->file);
}

static void open_editor(struct lines *l, const char *language)
{
	l->lib = libedit_load();
	if (l->lib == NULL)
		return;
	/* code is UTF-8 in every locale */
	if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
		setlocale(LC_CTYPE, "C.UTF-8");
	edited = l;
	signal(SIGCONT, on_continue);
	l->edit = l->lib->el_init("paddock", stdin, stderr, stderr);
	open_history(l, language);
	l->lib->el_set(l->edit, EL_PROMPT, show_prompt);
	l->lib->el_set(l->edit, EL_EDITOR, "emacs");
	l->lib->el_set(l->edit, EL_HIST, l->lib->history, l->history);
	l->lib->el_set(l->edit, EL_GETCFN, read_char);
	l->lib->el_set(l->edit, EL_ADDFN, "paddock-tab", "indent", insert_tab);
	l->lib->el_set(l->edit, EL_BIND, "\t", "paddock-tab", NULL);
	l->lib->el_set(l->edit, EL_BIND, "^R", "em-inc-search-prev", NULL);
	l->lib->el_source(l->edit, NULL);
}

/* ---- any input ---- */

struct lines *lines_open(const char *language)
{
	struct lines *l = xcalloc(1, sizeof(*l));

	l->typed = isatty(STDIN_FILENO);
	if (ask_possible())
		open_editor(l, language);
	return l;
}

void lines_close(struct lines *l)
{
	HistEvent event;

	if (l->edit != NULL) {
		if (l->file != NULL)
			l->lib->history(l->history, &event, H_SAVE, l->file);
		l->lib->el_end(l->edit);
		l->lib->history_end(l->history);
		edited = NULL;
	}
	free(l->file);
	buf_fini(&l->rx);
	free(l);
}

bool lines_are_typed(const struct lines *l)
{
	return l->typed;
}

bool lines_lack_editing(const struct lines *l)
{
	return l->edit == NULL && ask_possible();
}

enum lines_end lines_next(struct lines *l, const char *prompt, struct buf *line)
{
	enum lines_end how;

	fflush(stdout);
	if (l->edit != NULL) {
		snprintf(l->prompt, sizeof(l->prompt), "%s", prompt);
		how = next_edited(l, line);
	} else {
		if (l->typed)
			safe_fprintf(stderr, "%s", prompt);
		how = next_plain(l, line);
	}
	if (l->typed && how != LINES_LINE)
		safe_fprintf(stderr, "%s\n",
			     how == LINES_DROPPED && l->edit != NULL ? "^C"
								     : "");
	return how;
}
