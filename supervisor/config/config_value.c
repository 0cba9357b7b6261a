/* SPDX-License-Identifier: Apache-2.0 */
/* Values: text to a field of its type, and back. */
#include "supervisor/config/config_keys.h"

#include <arpa/inet.h>
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "base/text/host_list.h"
#include "base/mem.h"
#include "base/text/errmsg.h"
#include "ipc/host_pattern.h"
#include "supervisor/browser/browser_tools.h"
#include "supervisor/config/config_private.h"

#define SPACES " \t"
#define DIGEST_HEX 64
#define ID_MAX 64

struct unit {
	const char *name;
	int64_t of;
};

static const struct unit no_units[] = {{"", 1}, {NULL, 0}};
static const struct unit ms_units[] = {
    {"", 1},	    {"ms", 1},	     {"s", 1000}, {"m", 60000},
    {"h", 3600000}, {"d", 86400000}, {NULL, 0}};
static const struct unit byte_units[] = {{"", 1},
					 {"K", INT64_C(1) << 10},
					 {"M", INT64_C(1) << 20},
					 {"G", INT64_C(1) << 30},
					 {"T", INT64_C(1) << 40},
					 {NULL, 0}};

/* Digits and then one of UNITS. */
static bool number(int64_t *out, const char *s, const struct unit *units)
{
	int64_t v = 0;

	if (!isdigit((unsigned char)*s))
		return false;
	for (; isdigit((unsigned char)*s); s++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, *s - '0', &v))
			return false;
	for (; units->name != NULL; units++)
		if (strcmp(s, units->name) == 0)
			return !__builtin_mul_overflow(v, units->of, out);
	return false;
}

static bool set_number(const struct config_key *k, void *field,
		       const char *value, const struct unit *units)
{
	int64_t v;

	if (!number(&v, value, units) || v < k->min || v > k->max)
		return false;
	memcpy(field, &v, sizeof(v));
	return true;
}

static bool set_int(const struct config_key *k, void *field, const char *value)
{
	return set_number(k, field, value, no_units);
}

static bool set_ms(const struct config_key *k, void *field, const char *value)
{
	return set_number(k, field, value, ms_units);
}

static bool set_bytes(const struct config_key *k, void *field,
		      const char *value)
{
	return set_number(k, field, value, byte_units);
}

static bool set_bytes_or_none(const struct config_key *k, void *field,
			      const char *value)
{
	const int64_t none = CONFIG_NONE;

	if (strcmp(value, "none") != 0)
		return set_bytes(k, field, value);
	memcpy(field, &none, sizeof(none));
	return true;
}

static bool set_bool(const struct config_key *k, void *field, const char *value)
{
	bool yes = strcmp(value, "yes") == 0;

	(void)k;
	if (!yes && strcmp(value, "no") != 0)
		return false;
	memcpy(field, &yes, sizeof(yes));
	return true;
}

/* Takes TEXT. */
static void replace(void *field, char *text)
{
	char **p = field;

	free(*p);
	*p = text;
}

static bool set_text(const struct config_key *k, void *field, const char *value)
{
	(void)k;
	replace(field, xstrdup(value));
	return true;
}

static bool set_path(const struct config_key *k, void *field, const char *value)
{
	return *value == '/' && set_text(k, field, value);
}

static bool set_socket(const struct config_key *k, void *field,
		       const char *value)
{
	return strlen(value) < sizeof((struct sockaddr_un){0}.sun_path) &&
	       set_path(k, field, value);
}

/* 127.0.0.1:80, [::1]:80 or localhost:80; port 0 is any that is free. */
static bool set_listen(const struct config_key *k, void *field,
		       const char *value)
{
	const char *colon = strrchr(value, ':');
	char addr[INET6_ADDRSTRLEN + 2], binary[sizeof(struct in6_addr)];
	size_t n = colon != NULL ? (size_t)(colon - value) : 0;
	int64_t port;
	bool good;

	if (n == 0 || n >= sizeof(addr) ||
	    !number(&port, colon + 1, no_units) || port > UINT16_MAX)
		return false;
	memcpy(addr, value, n);
	addr[n] = '\0';
	if (addr[0] == '[' && addr[n - 1] == ']') {
		addr[n - 1] = '\0';
		good = inet_pton(AF_INET6, addr + 1, binary) == 1;
	} else {
		good = strcmp(addr, "localhost") == 0 ||
		       inet_pton(AF_INET, addr, binary) == 1;
	}
	return good && set_text(k, field, value);
}

static bool set_choice(const struct config_key *k, void *field,
		       const char *value)
{
	for (const char *const *c = k->choices; *c != NULL; c++)
		if (strcmp(value, *c) == 0)
			return set_text(k, field, value);
	return false;
}

static bool set_digest(const struct config_key *k, void *field,
		       const char *value)
{
	char *hex;

	(void)k;
	if (strspn(value, "0123456789abcdefABCDEF") != DIGEST_HEX ||
	    value[DIGEST_HEX] != '\0')
		return false;
	hex = xstrdup(value);
	for (size_t i = 0; i < DIGEST_HEX; i++)
		hex[i] = (char)tolower((unsigned char)hex[i]);
	replace(field, hex);
	return true;
}

bool config_is_id(const char *s, size_t n)
{
	if (n == 0 || n > ID_MAX || !islower((unsigned char)*s))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!islower((unsigned char)s[i]) &&
		    !isdigit((unsigned char)s[i]) && s[i] != '_')
			return false;
	return true;
}

static bool is_tool(const char *s, size_t n)
{
	char *word = xstrndup(s, n);
	bool good = strcmp(word, "all") == 0 || strcmp(word, "none") == 0 ||
		    browser_tool(word) != NULL;

	free(word);
	return good;
}

/* What a template may call is what it may be granted. */
static bool is_granted(const char *s, size_t n)
{
	char *word = xstrndup(s, n);
	bool good =
	    strcmp(word, "all") == 0 || browser_proto_action(word) != NULL;

	free(word);
	return good;
}

static bool is_host(const char *s, size_t n)
{
	struct host_pattern p;

	return host_pattern_parse(&p, s, n) == 0;
}

static bool is_place(const char *s, size_t n)
{
	struct host_pattern p;

	return host_pattern_parse(&p, s, n) == 0 && p.port > 0 &&
	       (p.kind == HOST_NAME ||
		(p.kind == HOST_NET && memchr(s, '/', n) == NULL));
}

static bool is_secret(const char *s, size_t n)
{
	if (n == 0 || n > ID_MAX || !isalpha((unsigned char)*s))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)s[i]) &&
		    strchr("._-", s[i]) == NULL)
			return false;
	return true;
}

static bool is_digest(const char *s, size_t n)
{
	return n == DIGEST_HEX && strspn(s, "0123456789abcdef") >= DIGEST_HEX;
}

/* The root would be everything, the state and its secrets too. */
static bool is_path(const char *s, size_t n)
{
	return *s == '/' && n > 1;
}

/* Adds to what is there. */
static bool add_words(void *field, const char *value,
		      bool (*good)(const char *s, size_t n))
{
	char **p = field;

	for (const char *s = value + strspn(value, SPACES); *s != '\0';) {
		size_t n = strcspn(s, SPACES);

		if (!good(s, n))
			return false;
		replace(p, *p == NULL ? xstrndup(s, n)
				      : xasprintf("%s %.*s", *p, (int)n, s));
		s += n;
		s += strspn(s, SPACES);
	}
	return true;
}

static bool set_ids(const struct config_key *k, void *field, const char *value)
{
	(void)k;
	return add_words(field, value, config_is_id);
}

static bool set_tools(const struct config_key *k, void *field,
		      const char *value)
{
	(void)k;
	return add_words(field, value, is_tool);
}

static bool set_hosts(const struct config_key *k, void *field,
		      const char *value)
{
	struct host_list *all;
	char **list = field;

	(void)k;
	if (!add_words(field, value, host_list_word_ok))
		return false;
	all = host_list_new(*list != NULL ? *list : ""); /* too many words? */
	host_list_free(all);
	return all != NULL;
}

static bool set_granted(const struct config_key *k, void *field,
			const char *value)
{
	(void)k;
	return add_words(field, value, is_granted);
}

static bool set_patterns(const struct config_key *k, void *field,
			 const char *value)
{
	(void)k;
	return add_words(field, value, is_host);
}

static bool set_places(const struct config_key *k, void *field,
		       const char *value)
{
	(void)k;
	return add_words(field, value, is_place);
}

static bool set_names(const struct config_key *k, void *field,
		      const char *value)
{
	(void)k;
	return add_words(field, value, is_secret);
}

static bool set_digests(const struct config_key *k, void *field,
			const char *value)
{
	(void)k;
	return add_words(field, value, is_digest);
}

static bool set_paths(const struct config_key *k, void *field,
		      const char *value)
{
	(void)k;
	return add_words(field, value, is_path);
}

/* Adds to what is there. FIELD is templates of a struct config. */
static bool set_dirs(const struct config_key *k, void *field, const char *value)
{
	struct config *c = (void *)((char *)field - k->offset);

	for (const char *s = value + strspn(value, SPACES); *s != '\0';) {
		size_t n = strcspn(s, SPACES);

		if (*s != '/')
			return false;
		c->templates = xrealloc(c->templates,
					(c->n_templates + 1) * sizeof(char *));
		c->templates[c->n_templates++] = xstrndup(s, n);
		s += n;
		s += strspn(s, SPACES);
	}
	c->templates_given = true;
	return true;
}

static const struct {
	bool (*set)(const struct config_key *k, void *field, const char *value);
	bool list;	      /* set() adds */
	const char *expected; /* %s: its bounds, its choices, or tools */
} types[] = {
    [CONFIG_INT] = {set_int, false, "a whole number %s"},
    [CONFIG_MS] = {set_ms, false,
		   "a duration such as 1500 (milliseconds), 10s, 5m, 24h or "
		   "7d, %s milliseconds"},
    [CONFIG_BYTES] = {set_bytes, false,
		      "a size such as 4096 (bytes), 64K, 16M or 1G, %s bytes"},
    [CONFIG_BYTES_OR_NONE] = {set_bytes_or_none, false,
			      "a size such as 4096 (bytes), 64K, 16M or 1G, %s "
			      "bytes, or none"},
    [CONFIG_BOOL] = {set_bool, false, "yes or no"},
    [CONFIG_TEXT] = {set_text, false, "a text"},
    [CONFIG_PATH] = {set_path, false, "an absolute path"},
    [CONFIG_SOCKET] = {set_socket, false,
		       "an absolute path of at most 107 bytes"},
    [CONFIG_LISTEN] = {set_listen, false,
		       "ADDRESS:PORT such as 127.0.0.1:8080 or [::1]:8080"},
    [CONFIG_CHOICE] = {set_choice, false, "one of: %s"},
    [CONFIG_DIGEST] = {set_digest, false,
		       "64 hexadecimal digits, the SHA-256 of the token"},
    [CONFIG_IDS] = {set_ids, true, "templateIds with spaces between them"},
    [CONFIG_TOOLS] = {set_tools, true,
		      "all, none, or with spaces between them: %s"},
    [CONFIG_HOSTS] =
	{set_hosts, true,
	 "names such as example.com (and all below), addresses, "
	 "and networks such as 192.0.2.0/24, 256 at the most, with "
	 "spaces between them"},
    [CONFIG_GRANTED] = {set_granted, true,
			"all, or with spaces between them: %s"},
    [CONFIG_PATTERNS] =
	{set_patterns, true,
	 "with spaces between them: *, names such as example.org, "
	 "*.example.org for those below one, addresses such as "
	 "192.0.2.7, [2001:db8::7] or 10.0.0.0/8, each with :PORT "
	 "for that port alone"},
    [CONFIG_PLACES] = {set_places, true,
		       "HOST:PORT such as db.example.org:5432, spaces between "
		       "them"},
    [CONFIG_NAMES] = {set_names, true,
		      "names of letters, digits and . _ -, beginning with a "
		      "letter, spaces between them"},
    [CONFIG_DIGESTS] = {set_digests, true,
			"64 lower-case hexadecimal digits, as paddock template "
			"grant prints them; spaces between several"},
    [CONFIG_PATHS] = {set_paths, true,
		      "absolute paths, but for /, with spaces between them"},
    [CONFIG_DIRS] = {set_dirs, true, "absolute paths with spaces between them"},
};

bool config_key_is_list(const struct config_key *k)
{
	return types[k->type].list;
}

bool config_key_is_text(const struct config_key *k)
{
	return k->type >= CONFIG_TEXT && k->type != CONFIG_DIRS;
}

void config_key_expected(const struct config_key *k, char *text, size_t size)
{
	const struct browser_proto_action *a = NULL;
	char detail[224];
	size_t n = 0;

	snprintf(detail, sizeof(detail), "from %" PRId64 " to %" PRId64, k->min,
		 k->max);
	for (const char *const *c = k->choices; c != NULL && *c != NULL; c++)
		n += (size_t)snprintf(detail + n, sizeof(detail) - n, "%s%s",
				      n > 0 ? ", " : "", *c);
	while (k->type == CONFIG_TOOLS && (a = browser_tool_next(a)) != NULL)
		n += (size_t)snprintf(detail + n, sizeof(detail) - n, "%s%s",
				      n > 0 ? ", " : "", a->name);
	for (a = browser_proto_actions; k->type == CONFIG_GRANTED && a->name;
	     a++)
		n += (size_t)snprintf(detail + n, sizeof(detail) - n, "%s%s",
				      n > 0 ? ", " : "", a->name);
	assert(n < sizeof(detail));
	snprintf(text, size, types[k->type].expected, detail);
}

static void empty(const struct config_key *k, void *base)
{
	if (k->type == CONFIG_DIRS)
		config_clear_templates(base);
	else if (config_key_is_text(k))
		replace((char *)base + k->offset, NULL);
}

void config_key_default(const struct config_key *k, void *base)
{
	void *field = (char *)base + k->offset;
	bool yes = k->def != 0;

	if (k->type == CONFIG_BOOL)
		memcpy(field, &yes, sizeof(yes));
	else if (k->type < CONFIG_BOOL)
		memcpy(field, &k->def, sizeof(k->def));
	else if (config_key_is_text(k))
		replace(field, k->def_text ? xstrdup(k->def_text) : NULL);
}

int config_key_set(const struct config_key *k, void *base, const char *value,
		   bool more, char *errmsg, size_t size)
{
	char expected[256];

	if (*value == '\0' && k->optional && !more) {
		empty(k, base);
		config_key_default(k, base);
		return 0;
	}
	if (types[k->type].list && !more)
		empty(k, base);
	if (*value != '\0' &&
	    types[k->type].set(k, (char *)base + k->offset, value))
		return 0;
	config_key_expected(k, expected, sizeof(expected));
	if (k->type == CONFIG_DIGEST) /* it may be the token itself */
		return errmsg_set(errmsg, size, "%s: expected %s", k->name,
				  expected);
	return errmsg_set(errmsg, size, "%s = \"%s\": expected %s", k->name,
			  value, expected);
}

/* A list takes a line for each but the first, which inih calls continued. */
static void print_list(const char *text, FILE *out)
{
	const char *gap = "";

	for (const char *s = text; *s != '\0';) {
		size_t n = strcspn(s, SPACES);

		fprintf(out, "%s%.*s", gap, (int)n, s);
		gap = "\n\t";
		s += n;
		s += strspn(s, SPACES);
	}
}

static void print_dirs(const struct config *c, FILE *out)
{
	for (size_t i = 0; i < c->n_templates; i++)
		fprintf(out, "%s%s", i > 0 ? "\n\t" : "", c->templates[i]);
}

static void print_value(const struct config_key *k, const void *base, FILE *out)
{
	const void *field = (const char *)base + k->offset;

	if (k->type == CONFIG_DIRS) {
		print_dirs(base, out);
	} else if (k->type == CONFIG_BOOL) {
		fputs(*(const bool *)field ? "yes" : "no", out);
	} else if (k->type < CONFIG_BOOL) {
		int64_t v = *(const int64_t *)field;

		if (k->type == CONFIG_BYTES_OR_NONE && v == CONFIG_NONE)
			fputs("none", out);
		else if (!k->optional || v != k->def)
			fprintf(out, "%" PRId64, v);
	} else if (*(char *const *)field != NULL) {
		if (config_key_is_list(k))
			print_list(*(char *const *)field, out);
		else
			fputs(*(char *const *)field, out);
	}
}

void config_key_print(const struct config_key *k, const void *base, FILE *out)
{
	const void *field = (const char *)base + k->offset;

	if (k->type == CONFIG_DIGEST && *(char *const *)field != NULL) {
		fprintf(out, "# %s is set, and not shown\n", k->name);
		return;
	}
	fprintf(out, "%s = ", k->name);
	print_value(k, base, out);
	fputc('\n', out);
}
