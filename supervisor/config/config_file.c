/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_file.c - reads paddock.conf by inih. inih cuts lines and names at
 * fixed sizes silently, passes over empty sections, and does not tell the
 * handler its line. So this file checks each line first and hands lines to inih
 * one by one.
 */
#include "supervisor/config/config_private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text/suggest.h"
#include "base/text/words.h"
#include "base/text/utf8.h"
#include "base/text/errmsg.h"
#include "supervisor/config/config_keys.h"

#define FILE_BYTES_MAX ((size_t)1 << 20)
#define SECTION_MAX 96 /* longest section name; inih's copy is cut at 49 */

struct reading {
	struct config *c;
	const char *file; /* name of the file, for people */
	const char *text;
	size_t len, at;
	int line;
	char section[SECTION_MAX + 1];
	bool approved; /* sections for grants alone */
	bool indented; /* the current line begins with a space */
	/* a key came since the section: inih continues that key */
	bool continues;
	bool brackets; /* the list of that key may have [ADDRESS] */
	bool failed;   /* ERRMSG is set: hand out no more lines */
	/* keys in this file: [0] of the server's sections; then of each
	   named section */
	bool (*seen)[CONFIG_KEYS_MAX];
	size_t n_seen;
	char *errmsg;
	size_t size;
};

static int fail_reading(struct reading *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static int fail_reading(struct reading *r, const char *fmt, ...)
{
	va_list ap;
	char *reason;

	va_start(ap, fmt);
	reason = xvasprintf(fmt, ap);
	va_end(ap);
	errmsg_set(r->errmsg, r->size, "%s:%d: %s", r->file, r->line, reason);
	free(reason);
	r->failed = true;
	return -EINVAL;
}

/* ---- sections with a name ---- */

/* Return the kind of named section with which SECTION begins; NULL: no kind. */
static const struct config_section *section_kind(const char *section)
{
	for (size_t i = 0; i < CONFIG_SECTIONS; i++)
		if (config_sections[i].names != NULL &&
		    strncmp(section, config_sections[i].name,
			    strlen(config_sections[i].name)) == 0)
			return &config_sections[i];
	return NULL;
}

/* Return NAME of [KIND "NAME"], N bytes; NULL: SECTION has another form. */
static const char *name_in(const struct config_section *k, const char *section,
			   size_t *n)
{
	const char *s = section + strlen(k->name);

	if (*s != ' ' && *s != '\t')
		return NULL;
	s += strspn(s, " \t");
	if (*s++ != '"')
		return NULL;
	*n = strcspn(s, "\"");
	return strcmp(s + *n, "\"") == 0 && k->is_name(s, *n) ? s : NULL;
}

/* Add "[server]", or "[grant \"TEMPLATE\"]". */
static void add_section(struct buf *out, const struct config_section *s)
{
	buf_printf(out, "[%s", s->name);
	if (s->names != NULL)
		buf_printf(out, " \"%s\"", s->names);
	buf_add_str(out, "]");
}

static int no_section(struct reading *r, const char *section)
{
	struct buf all = {0};
	int rc;

	for (size_t i = 0; i < CONFIG_SECTIONS; i++) {
		if (i > 0)
			buf_add_str(&all,
				    i + 1 < CONFIG_SECTIONS ? ", " : " or ");
		add_section(&all, &config_sections[i]);
	}
	rc = fail_reading(r, "[%s]: unknown section; expected %.*s", section,
			  (int)buf_len(&all), buf_data(&all));
	buf_fini(&all);
	return rc;
}

static int unknown_section(struct reading *r, const char *section)
{
	const struct config_section *k = section_kind(section);
	struct suggest suggest;

	suggest_init(&suggest, section);
	for (size_t i = 0; i < CONFIG_SECTIONS; i++)
		suggest_try(&suggest, config_sections[i].name);
	if (k != NULL)
		return fail_reading(r, "[%s]: expected %s", section,
				    k->expected);
	if (suggest.best != NULL)
		return fail_reading(r,
				    "[%s]: unknown section; did you mean [%s]?",
				    section, suggest.best);
	return no_section(r, section);
}

static bool is_for_grants(const struct config_section *k)
{
	return strcmp(k->name, CONFIG_GRANT) == 0 ||
	       strcmp(k->name, CONFIG_TEMPLATE) == 0;
}

/*
 * Begin a section. Its requestor or template exists from here on, even without
 * a key.
 */
static int enter_section(struct reading *r, const char *section)
{
	const struct config_section *k = section_kind(section);
	const struct config_section *plain = config_section_find(section);
	const char *name;
	size_t n;

	r->continues = false;
	snprintf(r->section, sizeof(r->section), "%s", section);
	if (r->approved && (k == NULL || !is_for_grants(k)))
		return fail_reading(
		    r,
		    "[%s]: expected [grant \"TEMPLATE\"] or "
		    "[template \"TEMPLATE\"], since the file is of "
		    "approved grants",
		    section);
	if (plain != NULL && plain->names == NULL)
		return 0;
	name = k != NULL ? name_in(k, section, &n) : NULL;
	if (name == NULL)
		return unknown_section(r, section);
	if (strcmp(k->name, CONFIG_REQUESTOR) == 0 &&
	    n == strlen("anonymous") && strncmp(name, "anonymous", n) == 0)
		return fail_reading(
		    r, "\"anonymous\" stands for callers without a "
		       "token; choose another name");
	if (config_section_index(r->c, k, name, n) >= CONFIG_NAMED_MAX)
		return fail_reading(r, "%s", k->too_many);
	return 0;
}

/* Check LINE, which begins with '['. inih refuses a line without ']'. */
static int look_at_section(struct reading *r, const char *line)
{
	const char *end = strchr(line, ']');
	char section[SECTION_MAX + 1];
	size_t n = end != NULL ? (size_t)(end - line - 1) : 0;

	if (end == NULL)
		return 0;
	if (n > SECTION_MAX)
		return fail_reading(r, "the name of the section is too long");
	end += 1 + strspn(end + 1, " \t\r\n");
	if (*end != '\0' && *end != ';' && *end != '#')
		return fail_reading(r,
				    "something follows the ']' of the section");
	memcpy(section, line + 1, n);
	section[n] = '\0';
	return enter_section(r, section);
}

static int look_at_line(struct reading *r, const char *line, size_t n)
{
	/* inih passes over a byte order mark */
	const char *bom = "\xEF\xBB\xBF";
	size_t blank, end = n;

	if (strlen(line) != n || !utf8_ok(line, n))
		return fail_reading(r, "this is not text in UTF-8");
	while (end > 0 && (line[end - 1] == '\n' || line[end - 1] == '\r'))
		end--;
	for (size_t i = 0; i < end; i++)
		if (((unsigned char)line[i] < ' ' && line[i] != '\t') ||
		    line[i] == 0x7F)
			return fail_reading(r, "there is a control character");
	if (r->line == 1 && strncmp(line, bom, strlen(bom)) == 0)
		line += strlen(bom);
	blank = strspn(line, " \t");
	r->indented = blank > 0;
	if (line[blank] == '[' && blank > 0 && !(r->continues && r->brackets))
		return fail_reading(
		    r, "a section begins at the start of its line");
	return *line == '[' ? look_at_section(r, line) : 0;
}

/* Return the next line, as fgets(3), for inih; NULL to stop. */
static char *next_line(char *line, int room, void *arg)
{
	struct reading *r = arg;
	const char *start = r->text + r->at, *end;
	size_t n;

	if (r->failed || r->at == r->len || room < 1)
		return NULL;
	end = memchr(start, '\n', r->len - r->at);
	n = end != NULL ? (size_t)(end - start) + 1 : r->len - r->at;
	r->line++;
	if (n >= (size_t)room) {
		fail_reading(
		    r,
		    "the line has more than %d bytes; a list goes on in a "
		    "line that begins with a space, and a comment in one of "
		    "its own",
		    room - 2);
		return NULL;
	}
	memcpy(line, start, n);
	line[n] = '\0';
	r->at += n;
	if (look_at_line(r, line, n) < 0)
		return NULL;
	/* a comment begins at " #"; inih itself ends a value at " ;" alone */
	for (char *p = line; (p = strchr(p, '#')) != NULL; p++)
		if (p > line && (p[-1] == ' ' || p[-1] == '\t')) {
			memcpy(p, "\n", 2);
			break;
		}
	return line;
}

/* Has KEY come before for slot I of this file? From now on it has. */
static bool twice(struct reading *r, size_t slot, const struct config_key *key)
{
	size_t n, k = (size_t)(key - config_keys(&n));
	bool before;

	if (slot >= r->n_seen) {
		r->seen = xrealloc(r->seen, (slot + 1) * sizeof(*r->seen));
		memset(r->seen + r->n_seen, 0,
		       (slot + 1 - r->n_seen) * sizeof(*r->seen));
		r->n_seen = slot + 1;
	}
	before = r->seen[slot][k];
	r->seen[slot][k] = true;
	return before;
}

static int unknown_key(struct reading *r, const char *section, const char *name,
		       const char *suggest)
{
	const char *refused = config_key_refused(section, name);
	struct buf there = {0};
	const char *none;
	size_t i = 0;
	int rc;

	if (refused != NULL)
		return fail_reading(r, "%s: %s", name, refused);
	if (suggest != NULL)
		return fail_reading(r,
				    "%s: unknown key in [%s]; did you mean %s?",
				    name, section, suggest);
	while (i < CONFIG_SECTIONS &&
	       config_key_find(config_sections[i].name, name, &none) == NULL)
		i++;
	if (i < CONFIG_SECTIONS) {
		add_section(&there, &config_sections[i]);
		rc = fail_reading(
		    r, "%s: unknown key in [%s]; it is one of %.*s", name,
		    section, (int)buf_len(&there), buf_data(&there));
		buf_fini(&there);
		return rc;
	}
	return fail_reading(r,
			    "%s: unknown key in [%s]; paddockd --print-config "
			    "lists them all",
			    name, section);
}

/*
 * Check a key again: a line that begins with a space (MORE) continues the key
 * before.
 */
static int check_line(struct reading *r, const struct config_key *k,
		      size_t slot, bool more)
{
	if (more && config_key_is_list(k))
		return 0;
	if (more)
		return fail_reading(
		    r,
		    "the line begins with a space, so it would go on "
		    "with %s, which is no list",
		    k->name);
	if (!twice(r, slot, k))
		return 0;
	return fail_reading(
	    r, "%s: the key came before in this file and section%s", k->name,
	    config_key_is_list(k)
		? "; name all in one line, with spaces between them"
		: "");
}

static int take_key(struct reading *r, const char *name, const char *value)
{
	const struct config_section *kind = section_kind(r->section);
	const struct config_key *k;
	const char *suggest, *who;
	char reason[512];
	void *base = r->c;
	size_t n = 0, i, slot = 0;
	bool more = r->indented && r->continues;

	if (*r->section == '\0')
		return fail_reading(
		    r, "a key before the first section; begin with "
		       "[server]");
	if (kind != NULL) {
		who = name_in(kind, r->section, &n);
		i = config_section_index(r->c, kind, who, n);
		base = config_section_at(r->c, kind, i);
		slot =
		    1 + i * CONFIG_SECTIONS + (size_t)(kind - config_sections);
	}
	k = config_key_find(kind != NULL ? kind->name : r->section, name,
			    &suggest);
	if (k == NULL)
		return unknown_key(r, r->section, name, suggest);
	if (check_line(r, k, slot, more) < 0)
		return -EINVAL;
	r->continues = true;
	r->brackets = k->type == CONFIG_PATTERNS || k->type == CONFIG_NETWORK ||
		      k->type == CONFIG_RANGES;
	if (config_key_set(k, base, value, more, reason, sizeof(reason)) < 0)
		return fail_reading(r, "%s", reason);
	return 0;
}

/* inih's handler: 1 is good. */
static int on_key(void *arg, const char *section, const char *name,
		  const char *value)
{
	struct reading *r = arg;

	(void)section;
	return r->failed || take_key(r, name, value) < 0 ? 0 : 1;
}

static int read_text(struct config *c, const char *name, bool approved,
		     const char *text, size_t len, char *errmsg, size_t size)
{
	struct reading r = {.c = c,
			    .file = name,
			    .approved = approved,
			    .text = text,
			    .len = len,
			    .errmsg = errmsg,
			    .size = size};
	int bad = ini_parse_stream(next_line, &r, on_key, &r);

	free(r.seen);
	if (bad > 0 && (!r.failed || bad < r.line))
		return errmsg_set(errmsg, size,
				  "%s:%d: expected KEY = VALUE, [SECTION] or "
				  "# COMMENT",
				  name, bad);
	return r.failed ? -EINVAL : 0;
}

int config_read_text(struct config *c, const char *name, const char *text,
		     size_t len, char *errmsg, size_t size)
{
	int rc = read_text(c, name, false, text, len, errmsg, size);

	return rc < 0 ? rc : config_check(c, name, errmsg, size);
}

/*
 * Report an error of reading PATH. Root reads a file at the start, and the
 * server's own user at a reload, so the user is named.
 */
static int not_read(const char *path, int err, char *errmsg, size_t size)
{
	if (err != EACCES)
		return errmsg_set(errmsg, size, "%s: %s", path, strerror(err));
	return errmsg_set(errmsg, size,
			  "%s: %s; the server reads it as user id %u, which "
			  "has to be let by chmod or chgrp",
			  path, strerror(err), (unsigned)geteuid());
}

int config_file_read(struct config *c, const char *path, bool approved,
		     char *errmsg, size_t size)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC |
				(approved ? O_NOFOLLOW : 0));
	struct buf text = {0};
	struct stat st;
	int rc;

	if (fd < 0 || fstat(fd, &st) < 0)
		rc = -errno;
	else if (!S_ISREG(st.st_mode))
		rc = S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	else
		rc = buf_read(&text, fd, FILE_BYTES_MAX);
	if (fd >= 0)
		close(fd);
	if (rc == 0)
		rc = read_text(c, path, approved,
			       buf_len(&text) > 0 ? buf_data(&text) : "",
			       buf_len(&text), errmsg, size);
	else
		not_read(path, -rc, errmsg, size);
	buf_fini(&text);
	return rc == 0 || rc == -ENOENT ? rc : -EINVAL;
}

static int is_conf(const struct dirent *e)
{
	const char *dot = strrchr(e->d_name, '.');

	return e->d_name[0] != '.' && dot != NULL && strcmp(dot, ".conf") == 0;
}

static int compare_entries(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

int config_file_list(const char *dir, struct dirent ***list, char *errmsg,
		     size_t size)
{
	int n = scandir(dir, list, is_conf, compare_entries);

	if (n >= 0)
		return n;
	*list = NULL;
	return errno == ENOENT ? 0 : not_read(dir, errno, errmsg, size);
}

int config_read(struct config *c, const char *file, char *errmsg, size_t size)
{
	const char *slash = strrchr(file, '/');
	int n = slash != NULL ? (int)(slash - file + 1) : 0;
	char *dir = xasprintf("%.*sconf.d", n, file);
	struct dirent **list = NULL;
	int rc = config_file_read(c, file, false, errmsg, size), entries = 0;

	if (rc == 0)
		entries = config_file_list(dir, &list, errmsg, size);
	if (entries < 0)
		rc = entries;
	for (int i = 0; i < entries; i++) {
		char *path = xasprintf("%s/%s", dir, list[i]->d_name);

		if (rc == 0 &&
		    config_file_read(c, path, false, errmsg, size) < 0)
			rc = -EINVAL;
		free(path);
		free(list[i]);
	}
	free(list);
	if (rc == 0)
		rc = config_check(c, file, errmsg, size);
	free(dir);
	return rc;
}
