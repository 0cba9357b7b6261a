/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_format.c - the table of checked formats: name, function and price in
 * steps. schema_build.c looks up a name; a name without a row only annotates,
 * and schema_lint.c then proposes the nearest.
 */
#include "proto/schema/schema_format.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/schema/schema_private.h"

#define WEIGHT_REGEX 6 /* times the price of another format */

/* Is S a UUID: hexadecimal digits and hyphens, as in 8-4-4-4-12? */
static bool is_uuid(const char *s, size_t len)
{
	if (len != 36)
		return false;
	for (size_t i = 0; i < len; i++) {
		bool hyphen = i == 8 || i == 13 || i == 18 || i == 23;

		if (hyphen ? s[i] != '-' : !isxdigit((unsigned char)s[i]))
			return false;
	}
	return true;
}

static bool is_json_pointer(const char *s, size_t len)
{
	if (len > 0 && s[0] != '/')
		return false;
	for (size_t i = 0; i < len; i++)
		if (s[i] == '~' &&
		    (i + 1 == len || (s[i + 1] != '0' && s[i + 1] != '1')))
			return false;
	return true;
}

static bool is_relative_json_pointer(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && isdigit((unsigned char)s[n]))
		n++;
	if (n == 0 || (n > 1 && s[0] == '0'))
		return false;
	if (len - n == 1 && s[n] == '#')
		return true;
	return is_json_pointer(s + n, len - n);
}

/* The name of a notebook, or of another resident of a template. */
static bool is_notebook(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)s[i]) &&
		    (s[i] == '\0' || strchr("._-", s[i]) == NULL))
			return false;
	return len >= 1 && len <= 64;
}

/* Is S well-formed? Whether PCRE2 can run it matters to "pattern" alone. */
static bool is_regex(const char *s, size_t len)
{
	char errmsg[160];
	struct schema_text t;
	struct schema_regex re;

	schema_text_init(&t, errmsg, sizeof(errmsg));
	if (schema_regex_translate(&re, s, len, &t) != 0)
		return false;
	free(re.text);
	return true;
}

size_t schema_format_steps(const struct schema_format *f, size_t len)
{
	size_t steps = 1 + len / BYTES_FORMAT;

	return f->good == is_regex ? steps * WEIGHT_REGEX : steps;
}

static const struct schema_format formats[] = {
    {"date", "a date (YYYY-MM-DD)", schema_is_date},
    {"date-time", "a date and time (RFC 3339, 2026-01-31T23:59:59Z)",
     schema_is_date_time},
    {"duration", "a duration (ISO 8601, P1DT2H)", schema_is_duration},
    {"email", "an e-mail address", schema_is_email},
    {"hostname", "a host name", schema_is_hostname},
    {"idn-email", "an e-mail address", schema_is_idn_email},
    {"ipv4", "an IPv4 address", schema_is_ipv4},
    {"ipv6", "an IPv6 address", schema_is_ipv6},
    {"iri", "an absolute IRI", schema_is_iri},
    {"iri-reference", "an IRI reference", schema_is_iri_reference},
    {"json-pointer", "a JSON Pointer (/a/0)", is_json_pointer},
    {"paddock-notebook", "a name of 1 to 64 letters, digits, '.', '_' and '-'",
     is_notebook},
    {"regex", "an ECMA-262 regular expression", is_regex},
    {"relative-json-pointer", "a relative JSON Pointer (1/a)",
     is_relative_json_pointer},
    {"time", "a time with offset (RFC 3339, 23:59:59Z)", schema_is_time},
    {"uri", "an absolute URI", schema_is_uri},
    {"uri-reference", "a URI reference", schema_is_uri_reference},
    {"uri-template", "a URI template (RFC 6570)", schema_is_uri_template},
    {"uuid", "a UUID", is_uuid},
};

const struct schema_format *schema_format_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(formats); i++)
		if (strcmp(formats[i].name, name) == 0)
			return &formats[i];
	return NULL;
}

/* A format of the standard without a check here. */
#define UNCHECKED "idn-hostname"
/* The format of a template's files (supervisor/packages/inputs/file_schema.h). */
#define OF_TEMPLATES "paddock-file"

bool schema_format_is_known(const char *name)
{
	return strcmp(name, UNCHECKED) == 0 ||
	       strcmp(name, OF_TEMPLATES) == 0 ||
	       schema_format_find(name) != NULL;
}

void schema_format_near(struct suggest *suggest)
{
	for (size_t i = 0; i < ARRAY_LEN(formats); i++)
		suggest_try(suggest, formats[i].name);
	suggest_try(suggest, UNCHECKED);
	suggest_try(suggest, OF_TEMPLATES);
}
