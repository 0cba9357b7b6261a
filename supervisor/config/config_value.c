/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_value.c - converts a value of paddock.conf from text to its field and
 * back, by the key's type; config.c and config_file.c call it. A text of
 * another form is -EINVAL with the expected form; the caller then drops the
 * configuration.
 */
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
#include "base/text/words.h"
#include "ipc/browser_proto.h"
#include "ipc/host_pattern.h"
#include "net/network_word.h"
#include "supervisor/config/config_private.h"

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

/* Read digits and then one of UNITS. */
static bool parse_with_unit(int64_t *out, const char *s,
			    const struct unit *units)
{
	int64_t v = 0;

	if (!isdigit((unsigned char)*s))
		return false;
	for (; isdigit((unsigned char)*s); s++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, *s - '0', &v))
			return false;
	while (units->name != NULL && strcmp(s, units->name) != 0)
		units++;
	if (units->name == NULL || __builtin_mul_overflow(v, units->of, &v))
		return false;
	*out = v;
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

/* Put TEXT, which is taken, in place of the old text. */
static void replace_text(void *field, char *text)
{
	char **p = field;

	free(*p);
	*p = text;
}

static bool is_absolute(const char *value)
{
	return *value == '/';
}

static bool is_socket(const char *value)
{
	return strlen(value) < sizeof((struct sockaddr_un){0}.sun_path) &&
	       is_absolute(value);
}

/* Is VALUE 127.0.0.1:80, [::1]:80 or localhost:80? Port 0 is any free port. */
static bool is_listen(const char *value)
{
	const char *colon = strrchr(value, ':');
	char addr[INET6_ADDRSTRLEN + 2], binary[sizeof(struct in6_addr)];
	size_t n = colon != NULL ? (size_t)(colon - value) : 0;
	int64_t port;

	if (n == 0 || n >= sizeof(addr) ||
	    !parse_with_unit(&port, colon + 1, no_units) || port > UINT16_MAX)
		return false;
	memcpy(addr, value, n);
	addr[n] = '\0';
	if (addr[0] == '[' && addr[n - 1] == ']') {
		addr[n - 1] = '\0';
		return inet_pton(AF_INET6, addr + 1, binary) == 1;
	}
	return strcmp(addr, "localhost") == 0 ||
	       inet_pton(AF_INET, addr, binary) == 1;
}

static bool set_choice(const struct config_key *k, void *field,
		       const char *value)
{
	for (const char *const *c = k->choices; *c != NULL; c++)
		if (strcmp(value, *c) == 0) {
			replace_text(field, xstrdup(value));
			return true;
		}
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
	replace_text(field, hex);
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

static bool is_called(const char *s, size_t n)
{
	return (n == 1 && *s == '*') || config_is_id(s, n);
}

static bool is_tool(const char *s, size_t n)
{
	char *word = xstrndup(s, n);
	const struct browser_proto_action *a = browser_proto_action(word);
	bool good = strcmp(word, "all") == 0 || strcmp(word, "none") == 0 ||
		    (a != NULL && !a->runs_alone);

	free(word);
	return good;
}

/* Is the word a tool that a template may call, and so be granted? */
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

static bool is_digest(const char *s, size_t n)
{
	return n == DIGEST_HEX && strspn(s, "0123456789abcdef") >= DIGEST_HEX;
}

/* Is the word a path? Not "/", which has the state and its secrets. */
static bool is_path(const char *s, size_t n)
{
	return *s == '/' && n > 1;
}

/* Add words to the list in FIELD. */
static bool add_words(void *field, const char *value,
		      bool (*good)(const char *s, size_t n))
{
	char **p = field;
	const char *word;
	size_t n;

	while ((word = words_next(&value, &n)) != NULL) {
		if (!good(word, n))
			return false;
		replace_text(p, *p == NULL
				    ? xstrndup(word, n)
				    : xasprintf("%s %.*s", *p, (int)n, word));
	}
	return true;
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

/* May libpq's parameter NAME be in a file that is shown? No passwords. */
static bool is_shown(const char *name, size_t n)
{
	static const char *const hidden[] = {"password", "sslpassword"};

	for (size_t i = 0; i < ARRAY_LEN(hidden); i++)
		if (n == strlen(hidden[i]) && memcmp(name, hidden[i], n) == 0)
			return false;
	return memchr(name, '%', n) == NULL; /* escapes may hide a name */
}

/* Is VALUE a URL that libpq takes, with no password in it? */
static bool is_database(const char *value)
{
	static const char scheme[] = "postgresql://";
	const char *at = value + strlen(scheme), *end, *host;

	if (strncmp(value, scheme, strlen(scheme)) != 0)
		return false;
	for (const char *p = value; *p != '\0'; p++)
		if (*p <= ' ' || *p > '~')
			return false;
	end = at + strcspn(at, "/?");
	host = memchr(at, '@', (size_t)(end - at));
	if (host != NULL && memchr(at, ':', (size_t)(host - at)) != NULL)
		return false;
	/* a further @ might make the text before it a password */
	if (strchr(host != NULL ? host + 1 : at, '@') != NULL)
		return false;
	for (at = strchr(at, '?'); at != NULL; at = strchr(at, '&'))
		if (at++, !is_shown(at, strcspn(at, "=&")))
			return false;
	return true;
}

static bool is_range(const char *s, size_t n)
{
	const char *equals = memchr(s, '=', n);
	size_t net = equals != NULL ? (size_t)(equals - s) : n;
	struct host_pattern p;

	return host_pattern_parse(&p, s, net) == 0 && p.kind == HOST_NET &&
	       p.port == 0 &&
	       (equals == NULL || requestor_name_ok(equals + 1, n - net - 1));
}

static bool is_artifacts(const char *value)
{
	static const char folder[] = "folder:/";

	return strcmp(value, "database") == 0 ||
	       strncmp(value, folder, strlen(folder)) == 0;
}

/* Add folders to FIELD, the templates of a struct config. */
static bool set_dirs(const struct config_key *k, void *field, const char *value)
{
	struct config *c = (void *)((char *)field - k->offset);
	const char *word;
	size_t n;

	while ((word = words_next(&value, &n)) != NULL) {
		if (*word != '/')
			return false;
		config_add_templates(c, word, n);
	}
	return true;
}

/* How to read values of each type; without these members any text passes. */
static const struct {
	const struct unit *units; /* a number that may end in a unit */
	bool (*word)(const char *s, size_t n); /* a list of such words */
	bool (*text)(const char *value);       /* does the text pass? */
	bool (*set)(const struct config_key *k, void *field, const char *value);
	const char *expected; /* expected form; %s: bounds, choices, or tools */
} types[] = {
    [CONFIG_INT] = {.units = no_units, .expected = "a whole number %s"},
    [CONFIG_MS] = {.units = ms_units,
		   .expected = "a duration such as 1500 (milliseconds), 10s, "
			       "5m, 24h or 7d, %s milliseconds"},
    [CONFIG_BYTES] = {.units = byte_units,
		      .expected =
			  "a size such as 4096 (bytes), 64K, 16M or 1G, "
			  "%s bytes"},
    [CONFIG_BYTES_OR_NONE] = {.units = byte_units,
			      .expected =
				  "a size such as 4096 (bytes), 64K, 16M or "
				  "1G, %s bytes, or none"},
    [CONFIG_BOOL] = {.set = set_bool, .expected = "yes or no"},
    [CONFIG_TEXT] = {.expected = "a text"},
    [CONFIG_PATH] = {.text = is_absolute, .expected = "an absolute path"},
    [CONFIG_SOCKET] = {.text = is_socket,
		       .expected = "an absolute path of at most 107 bytes"},
    [CONFIG_LISTEN] = {.text = is_listen,
		       .expected = "ADDRESS:PORT such as 127.0.0.1:8080 or "
				   "[::1]:8080"},
    [CONFIG_CHOICE] = {.set = set_choice, .expected = "one of: %s"},
    [CONFIG_DIGEST] = {.set = set_digest,
		       .expected = "64 hexadecimal digits, the SHA-256 of the "
				   "token"},
    [CONFIG_IDS] = {.word = config_is_id,
		    .expected = "templateIds with spaces between them"},
    [CONFIG_TOOLS] = {.word = is_tool,
		      .expected = "all, none, or with spaces between them: %s"},
    [CONFIG_HOSTS] = {.word = host_list_word_ok,
		      .set = set_hosts,
		      .expected = "names such as example.com (and all below), "
				  "addresses, and networks such as "
				  "192.0.2.0/24, 256 at the most, with spaces "
				  "between them"},
    [CONFIG_CALLED] = {.word = is_called,
		       .expected = "*, or templateIds with spaces between "
				   "them"},
    [CONFIG_GRANTED] = {.word = is_granted,
			.expected = "all, or with spaces between them: %s"},
    [CONFIG_PATTERNS] =
	{.word = is_host,
	 .expected = "with spaces between them: *, names such as example.org, "
		     "*.example.org for those below one, addresses such as "
		     "192.0.2.7, [2001:db8::7] or 10.0.0.0/8, each with :PORT "
		     "for that port alone"},
    [CONFIG_NETWORK] = {.word = network_word_ok,
			.expected =
			    "with spaces between them: HOST:PORT such as "
			    "api.example.org:443, *.example.org:443 for all "
			    "names below, or HOST:PORT=METHOD:/PATH,..., as "
			    "paddock template grant prints them"},
    [CONFIG_RANGES] = {.word = is_range,
		       .expected = "networks such as 10.1.0.0/16 or "
				   "[fd00::]/8, each with =REQUESTOR for the "
				   "runs of that requestor alone, spaces "
				   "between them"},
    [CONFIG_NAMES] = {.word = config_is_secret,
		      .expected = "names of letters, digits and . _ -, "
				  "beginning with a letter, spaces between "
				  "them"},
    [CONFIG_HEADER] = {.text = config_is_header,
		       .expected = "NAME: and a text with {} in the value's "
				   "place, such as Authorization: Bearer {}"},
    [CONFIG_WORD] = {.text = config_is_word,
		     .expected = "at most 255 printable characters of ASCII "
				 "without a space or a colon"},
    [CONFIG_VARIABLE] = {.text = config_is_variable,
			 .expected =
			     "a name of at most 63 capitals, digits and "
			     "_, such as GH_TOKEN"},
    [CONFIG_RULES] = {.word = config_is_rule,
		      .expected = "METHOD:/PATH such as GET:/repos/*, with "
				  "spaces between several"},
    [CONFIG_CALLERS] = {.word = requestor_name_ok,
			.expected = "names of requestors, spaces between "
				    "them"},
    [CONFIG_DIGESTS] = {.word = is_digest,
			.expected = "64 lower-case hexadecimal digits, as "
				    "paddock template grant prints them; "
				    "spaces between several"},
    [CONFIG_PATHS] = {.word = is_path,
		      .expected = "absolute paths, but for /, with spaces "
				  "between them"},
    [CONFIG_DATABASE] = {.text = is_database,
			 .expected =
			     "postgresql://USER@HOST:PORT/DATABASE with what "
			     "else libpq knows behind a question mark, and "
			     "without a password"},
    [CONFIG_ARTIFACTS] = {.text = is_artifacts,
			  .expected = "database, or folder:/PATH with an "
				      "absolute path"},
    [CONFIG_DIRS] = {.set = set_dirs,
		     .expected = "absolute paths with spaces between them"},
};

static bool set_number(const struct config_key *k, int64_t *field,
		       const char *value)
{
	int64_t v = CONFIG_NONE;
	bool none =
	    k->type == CONFIG_BYTES_OR_NONE && strcmp(value, "none") == 0;

	if (!none && (!parse_with_unit(&v, value, types[k->type].units) ||
		      v < k->min || v > k->max || (v > 0 && v < k->above_0)))
		return false;
	*field = v;
	return true;
}

/* Set the field from VALUE; a list grows. */
static bool set_field(const struct config_key *k, void *field,
		      const char *value)
{
	if (types[k->type].units != NULL)
		return set_number(k, field, value);
	if (types[k->type].set != NULL)
		return types[k->type].set(k, field, value);
	if (types[k->type].word != NULL)
		return add_words(field, value, types[k->type].word);
	if (types[k->type].text != NULL && !types[k->type].text(value))
		return false;
	replace_text(field, xstrdup(value));
	return true;
}

bool config_key_is_list(const struct config_key *k)
{
	return types[k->type].word != NULL || k->type == CONFIG_DIRS;
}

bool config_key_is_text(const struct config_key *k)
{
	return k->type >= CONFIG_TEXT && k->type != CONFIG_DIRS;
}

void config_key_expected(const struct config_key *k, char *text, size_t size)
{
	const struct browser_proto_action *a = browser_proto_actions;
	bool is_of_tools = k->type == CONFIG_TOOLS || k->type == CONFIG_GRANTED;
	char detail[224];
	size_t n = 0;

	snprintf(detail, sizeof(detail), "%sfrom %" PRId64 " to %" PRId64,
		 k->above_0 > 1 ? "0 or " : "",
		 k->above_0 > 1 ? k->above_0 : k->min, k->max);
	for (const char *const *c = k->choices; c != NULL && *c != NULL; c++)
		n += (size_t)snprintf(detail + n, sizeof(detail) - n, "%s%s",
				      n > 0 ? ", " : "", *c);
	for (; is_of_tools && a->name != NULL; a++)
		if (k->type == CONFIG_GRANTED || !a->runs_alone)
			n += (size_t)snprintf(detail + n, sizeof(detail) - n,
					      "%s%s", n > 0 ? ", " : "",
					      a->name);
	assert(n < sizeof(detail));
	snprintf(text, size, types[k->type].expected, detail);
}

static void empty(const struct config_key *k, void *base)
{
	if (k->type == CONFIG_DIRS)
		config_clear_templates(base);
	else if (config_key_is_text(k))
		replace_text((char *)base + k->offset, NULL);
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
		replace_text(field, k->def_text ? xstrdup(k->def_text) : NULL);
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
	if (config_key_is_list(k) && !more)
		empty(k, base);
	if (*value != '\0' && set_field(k, (char *)base + k->offset, value))
		return 0;
	config_key_expected(k, expected, sizeof(expected));
	/* the value may be a token, or have a password in it */
	if (k->type == CONFIG_DIGEST || k->type == CONFIG_DATABASE)
		return errmsg_set(errmsg, size, "%s: expected %s", k->name,
				  expected);
	return errmsg_set(errmsg, size, "%s = \"%s\": expected %s", k->name,
			  value, expected);
}

/* Print a list: words after the first have continued lines, for inih. */
static void print_list(const char *text, FILE *out)
{
	const char *gap = "", *word;
	size_t n;

	while ((word = words_next(&text, &n)) != NULL) {
		fprintf(out, "%s%.*s", gap, (int)n, word);
		gap = "\n\t";
	}
}

void config_key_print(const struct config_key *k, const void *base, FILE *out)
{
	const void *field = (const char *)base + k->offset;
	const struct config *c = base;

	if (k->type == CONFIG_DIGEST && *(char *const *)field != NULL) {
		fprintf(out, "# %s is set, and not shown\n", k->name);
		return;
	}
	fprintf(out, "%s = ", k->name);
	if (k->type == CONFIG_DIRS) {
		for (size_t i = 0; i < c->n_templates; i++)
			fprintf(out, "%s%s", i > 0 ? "\n\t" : "",
				c->templates[i]);
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
	fputc('\n', out);
}
