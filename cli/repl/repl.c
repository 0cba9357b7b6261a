/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repl.c - "paddock repl": cells that are typed, or come on a pipe, run one
 * after the other in a notebook. main.c's table calls it. On a pipe the status
 * is CLI_FAILED when a cell did not end well; a lost server ends both.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/mem.h"
#include "cli/client/client.h"
#include "cli/repl/cell.h"
#include "cli/repl/cells.h"
#include "cli/repl/language.h"
#include "cli/repl/lines.h"
#include "cli/terminal/duration.h"
#include "cli/terminal/opt.h"
#include "cli/terminal/server_flags.h"
#include "cli/terminal/signals.h"
#include "cli/terminal/terminal.h"

#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyz234567" /* 32 */
#define NAME_RANDOM ((size_t)6)
#define NAME_MAX_BYTES ((size_t)64)
#define NAME_BYTES                                                             \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"

static struct {
	const char *notebook, *timeout, *out;
} flags = {.out = "."};

static const struct opt opts[] = {
    {"notebook", 0, OPT_TEXT, &flags.notebook, "NOTEBOOK",
     "use that notebook, a new one or one that is there; else a name is made"},
    {"timeout", 't', OPT_TEXT, &flags.timeout, "DURATION",
     "end a cell after that: 90s, 5m, 1m30s; a bare number is seconds"},
    {"out", 'o', OPT_TEXT, &flags.out, "DIR",
     "write figures here, not into the current folder"},
};

struct repl {
	const struct cli *cli;
	const struct language *language;
	struct lines *lines;
	struct cell_place place;
	char made[sizeof("repl-") + NAME_RANDOM]; /* a name of our own */
	bool begun;				  /* the notebook has a cell */
	bool failed;				  /* a cell did not end well */
};

/* ---- flags ---- */

static void make_name(struct repl *p)
{
	unsigned char random[NAME_RANDOM];
	size_t n = strlen("repl-");

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		abort();
	memcpy(p->made, "repl-", n);
	for (size_t i = 0; i < NAME_RANDOM; i++)
		p->made[n + i] = NAME_LETTERS[random[i] % 32];
}

static int read_repl_flags(struct repl *p, const char *language)
{
	const char *name = flags.notebook;

	p->language = language_find(language);
	if (p->language == NULL)
		return message_fail(CLI_USAGE,
				    "\"%.64s\" is no language of paddock repl; "
				    "it has python, node, bash and lua",
				    language);
	if (flags.timeout != NULL &&
	    duration_parse(&p->place.timeout_ms, flags.timeout) < 0)
		return message_fail(
		    CLI_USAGE,
		    "--timeout is \"%.64s\"; it has to be a duration "
		    "up to 366d: 90s, 5m, 1m30s, 1500ms; a bare number is seconds",
		    flags.timeout);
	if (name != NULL && (*name == '\0' || strlen(name) > NAME_MAX_BYTES ||
			     name[strspn(name, NAME_BYTES)] != '\0'))
		return message_fail(CLI_USAGE,
				    "--notebook is \"%.80s\"; it has to have 1 "
				    "to 64 letters, digits, '.', '_' and '-'",
				    name);
	if (name == NULL)
		make_name(p);
	p->place.notebook = name != NULL ? name : p->made;
	p->place.template = p->language->template;
	p->place.folder = flags.out;
	return 0;
}

/* ---- words at the beginning and the end ---- */

static void greet(const struct repl *p)
{
	if (p->cli->quiet || !lines_are_typed(p->lines))
		return;
	message_more("%s in the notebook %s; ctrl-C ends a cell, ctrl-D "
		     "leaves",
		     p->language->name, p->place.notebook);
	if (lines_lack_editing(p->lines))
		message_more("lines cannot be edited, since libedit is not "
			     "installed (Debian's package libedit2)");
}

/* Say how the notebook is found again. */
static void leave(const struct repl *p)
{
	if (p->cli->quiet || !p->begun)
		return;
	if (client_is_private(p->place.client))
		message_print("the notebook %s has ended with the private "
			      "server; it would stay in a daemon, paddockd",
			      p->place.notebook);
	else
		message_print("the notebook %s stays for a while: paddock repl "
			      "%s --notebook %s%s",
			      p->place.notebook, p->language->name,
			      p->place.notebook, server_flags());
}

/* ---- cells ---- */

/* At a terminal a ctrl-C was for the cell alone. 0 or the status of a signal. */
static int settle_signal(const struct repl *p)
{
	if (signals_noted() == SIGINT && lines_are_typed(p->lines))
		signals_forget();
	return signals_noted() != 0 ? client_trouble() : 0;
}

static int run_one_cell(struct repl *p, const struct buf *code)
{
	bool well;
	int rc = cell_run(&p->place, buf_data(code), buf_len(code), &well);

	p->begun = true;
	p->failed = p->failed || !well;
	return rc == 0 ? settle_signal(p) : rc;
}

static int run_cells(struct repl *p)
{
	struct cells cells = {.lines = p->lines, .language = p->language};
	struct buf code = {0};
	enum lines_end how;
	int rc = 0;

	while (rc == 0 && (how = cells_next(&cells, &code)) != LINES_EOF) {
		if (how == LINES_STOPPED)
			rc = client_trouble();
		else if (how == LINES_LINE)
			rc = run_one_cell(p, &code);
	}
	cells_fini(&cells);
	buf_fini(&code);
	return rc;
}

static int repl(const struct cli *cli, struct client *c, int n,
		const char *const *arg)
{
	struct repl p = {.cli = cli, .place = {.cli = cli, .client = c}};
	int rc = read_repl_flags(&p, n > 0 ? arg[0] : "python");

	if (rc != 0)
		return rc;
	p.lines = lines_open(p.language->name);
	greet(&p);
	rc = run_cells(&p);
	if (rc == 0)
		leave(&p);
	if (rc == 0 && p.failed && !lines_are_typed(p.lines))
		rc = CLI_FAILED;
	lines_close(p.lines);
	return rc;
}

const struct command cmd_repl = {
    .name = "repl",
    .args = "[LANGUAGE]",
    .summary = "run code cell by cell, and keep its variables",
    .text =
	"LANGUAGE is python, the default, node, bash or lua. What is typed "
	"at a terminal is\n"
	"run when it is whole; an empty line ends an indented block, and two "
	"end anything.\n"
	"Ctrl-C cancels the cell, or drops the line; the notebook stays. On a "
	"pipe cells are\n"
	"parted by empty lines, or by lines that begin with \"# %%\". Figures "
	"are written into\n"
	"files, never over one that is there.\n"
	"\n"
	"Exit status: 0; on a pipe 1 when a cell did not end well.\n",
    .opts = opts,
    .n_opts = ARRAY_LEN(opts),
    .min = 0,
    .max = 1,
    .call = repl,
};
