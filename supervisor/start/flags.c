/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flags.c - reads paddockd's flags, and the configuration over which flags go.
 * main.c reads the flags once, and the configuration at the start and for each
 * HUP. A bad flag is reported on stderr, as no log is open yet, and nothing
 * starts.
 */
#include "supervisor/start/flags.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/os/log.h"
#include "base/text/suggest.h"
#include "supervisor/config/config.h"

#define EXIT_USAGE 2

static const char usage[] =
    "usage: paddockd [--stdio] [option]...\n"
    "\n"
    "Serve MCP clients on a unix socket and over HTTP, or one on stdin and\n"
    "stdout.\n"
    "\n"
    "  --stdio                    serve one client on stdin and stdout\n"
    "  --no-takeover              leave what waits in a server that ended to the\n"
    "                             next one: this one ends soon\n"
    "  --config FILE              read FILE, and conf.d beside it\n"
    "  --check                    check all that a start needs, then exit;\n"
    "                             --check=templates: them alone\n"
    "  --print-grants             print what each template asks for and is\n"
    "                             granted, as JSON, then exit\n"
    "  --print-faults             print all that is wrong with each template,\n"
    "                             as JSON, then exit\n"
    "  --import DIR               copy the state in DIR, which SQLite has, into the\n"
    "                             database of url, then exit\n"
    "  --print-config             print every setting, then exit\n"
    "  --templates DIR            take templates from DIR (repeatable)\n"
    "  --grant [TEMPLATE:]KEY=VALUE\n"
    "                             grant that to TEMPLATE, or to every one\n"
    "                             (repeatable)\n"
    "  --state-dir DIR            keep runs and artifacts in DIR\n"
    "  --socket PATH              listen there\n"
    "  --listen ADDR:PORT         serve HTTP there as well, at /mcp; port 0 is\n"
    "                             one that is free\n"
    "  --log-level LEVEL          error, warn, info or debug\n"
    "  --log-file FILE            log to FILE instead of stderr\n"
    "  --require-isolation LEVEL  full, userns, container or restricted;\n"
    "                             exit 69 when runs are caged less well\n"
    "  --version                  print the version, then exit\n"
    "  --help                     print this, then exit\n";

enum {
	OPT_STDIO = 256,
	OPT_NO_TAKEOVER,
	OPT_CONFIG,
	OPT_CHECK,
	OPT_PRINT,
	OPT_IMPORT,
	OPT_PRINT_GRANTS,
	OPT_PRINT_FAULTS,
	OPT_TEMPLATES,
	OPT_GRANT,
	OPT_STATE_DIR,
	OPT_SOCKET,
	OPT_LISTEN,
	OPT_LOG_LEVEL,
	OPT_LOG_FILE,
	OPT_REQUIRE,
	OPT_VERSION,
	OPT_HELP
};

static const struct option options[] = {
    {"stdio", no_argument, NULL, OPT_STDIO},
    {"no-takeover", no_argument, NULL, OPT_NO_TAKEOVER},
    {"config", required_argument, NULL, OPT_CONFIG},
    {"check", optional_argument, NULL, OPT_CHECK},
    {"import", required_argument, NULL, OPT_IMPORT},
    {"print-grants", no_argument, NULL, OPT_PRINT_GRANTS},
    {"print-faults", no_argument, NULL, OPT_PRINT_FAULTS},
    {"print-config", no_argument, NULL, OPT_PRINT},
    {"templates", required_argument, NULL, OPT_TEMPLATES},
    {"grant", required_argument, NULL, OPT_GRANT},
    {"state-dir", required_argument, NULL, OPT_STATE_DIR},
    {"socket", required_argument, NULL, OPT_SOCKET},
    {"listen", required_argument, NULL, OPT_LISTEN},
    {"log-level", required_argument, NULL, OPT_LOG_LEVEL},
    {"log-file", required_argument, NULL, OPT_LOG_FILE},
    {"require-isolation", required_argument, NULL, OPT_REQUIRE},
    {"version", no_argument, NULL, OPT_VERSION},
    {"help", no_argument, NULL, OPT_HELP},
    {0},
};

#define GRANT "grant" /* stands for a flag that is no key */

/* Flags that set a key of the configuration, over the value of files. */
static const struct {
	int opt;
	const char *key;
} keys[] = {
    {OPT_TEMPLATES, "templates"}, {OPT_STATE_DIR, "state_dir"},
    {OPT_SOCKET, "socket"},	  {OPT_LISTEN, "listen"},
    {OPT_GRANT, GRANT},		  {OPT_LOG_LEVEL, "log_level"},
    {OPT_LOG_FILE, "log_file"},
};

static bool set_key(struct flags *f, int opt, const char *value)
{
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		if (keys[i].opt != opt)
			continue;
		if (f->n_set == FLAGS_MAX) {
			fprintf(stderr, "paddockd: more than %d flags\n",
				FLAGS_MAX);
			return false;
		}
		f->set[f->n_set].key = keys[i].key;
		f->set[f->n_set++].value = value;
		return true;
	}
	return false;
}

/* Report the bad flag FLAG. OPT is ':' or '?' from getopt_long(3). */
static bool bad_flag(int opt, const char *flag)
{
	struct suggest suggest;
	char word[SUGGEST_WORD_MAX + 3];

	snprintf(word, sizeof(word), "%.*s", (int)strcspn(flag, "="), flag);
	suggest_init(&suggest, word + strspn(word, "-"));
	for (const struct option *o = options; o->name != NULL; o++)
		suggest_try(&suggest, o->name);
	if (opt == ':')
		fprintf(stderr, "paddockd: %s needs a value; see --help\n",
			word);
	else if (optopt != 0 && strncmp(flag, "--", 2) == 0)
		fprintf(stderr, "paddockd: %s takes no value; see --help\n",
			word);
	else if (suggest.best != NULL)
		fprintf(stderr,
			"paddockd: there is no flag %s; did you mean --%s?\n",
			word, suggest.best);
	else
		fprintf(stderr, "paddockd: there is no flag %s; see --help\n",
			word);
	return false;
}

static bool set_require(struct flags *f, const char *name)
{
	int level = isolation_level_of(name);

	if (level < 0) {
		fprintf(stderr,
			"paddockd: --require-isolation is \"%s\"; full, "
			"userns, container or restricted would pass\n",
			name);
		return false;
	}
	f->require = (enum isolation_level)level;
	return true;
}

static bool set_check(struct flags *f, const char *what)
{
	f->check = true;
	f->templates_alone = what != NULL;
	if (what == NULL || strcmp(what, "templates") == 0)
		return true;
	log_plain("--check=%s: expected --check, or --check=templates", what);
	return false;
}

int flags_read(struct flags *f, int argc, char **argv)
{
	int opt;

	opterr = 0; /* bad_flag() reports errors instead */
	while ((opt = getopt_long(argc, argv, ":", options, NULL)) != -1) {
		bool good = true;

		switch (opt) {
		case ':':
		case '?':
			good = bad_flag(opt, argv[optind - 1]);
			break;
		case OPT_STDIO:
			f->stdio = true;
			break;
		case OPT_NO_TAKEOVER:
			f->passing = true;
			break;
		case OPT_CONFIG:
			f->config_file = optarg;
			break;
		case OPT_CHECK:
			good = set_check(f, optarg);
			break;
		case OPT_IMPORT:
			f->import = optarg;
			break;
		case OPT_PRINT:
			f->print = true;
			break;
		case OPT_PRINT_GRANTS:
			f->check = f->grants = f->templates_alone = true;
			break;
		case OPT_PRINT_FAULTS:
			f->check = f->faults = f->templates_alone = true;
			break;
		case OPT_REQUIRE:
			good = set_require(f, optarg);
			break;
		case OPT_VERSION:
			puts("paddockd " PADDOCK_VERSION);
			return 0;
		case OPT_HELP:
			fputs(usage, stdout);
			return 0;
		default:
			good = set_key(f, opt, optarg);
		}
		if (!good)
			return EXIT_USAGE;
	}
	if (optind == argc)
		return -1;
	fprintf(stderr, "paddockd: \"%s\" is not a flag; see --help\n",
		argv[optind]);
	return EXIT_USAGE;
}

static int apply_flags(struct config *c, const struct flags *f, char *errmsg,
		       size_t size)
{
	bool cleared = false;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < f->n_set; i++) {
		if (!cleared && strcmp(f->set[i].key, "templates") == 0) {
			config_clear_templates(c);
			cleared = true;
		}
		rc = strcmp(f->set[i].key, GRANT) == 0
			 ? config_add_grant(c, f->set[i].value, errmsg, size)
			 : config_set(c, "server", f->set[i].key,
				      f->set[i].value, errmsg, size);
	}
	return rc;
}

struct config *flags_config(void *flags, char *errmsg, size_t size)
{
	const struct flags *f = flags;
	struct config *c = config_new(f->uid);
	char *standard = config_default_file(f->uid);
	const char *file = f->config_file != NULL ? f->config_file : standard;
	int rc = config_read(c, file, errmsg, size);

	if (rc == -ENOENT && f->config_file == NULL)
		rc = 0;
	else if (rc == -ENOENT)
		snprintf(errmsg, size, "%s: there is no such file", file);
	if (rc == 0)
		rc = apply_flags(c, f, errmsg, size);
	if (rc == 0)
		rc = config_read_grants(c, file, errmsg, size);
	free(standard);
	if (rc == 0)
		return c;
	config_free(c);
	return NULL;
}
