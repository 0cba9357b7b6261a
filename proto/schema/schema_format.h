/* SPDX-License-Identifier: Apache-2.0 */
/* schema_format.h - checks of a string's syntax, usable without a schema. */
#ifndef PROTO_SCHEMA_SCHEMA_FORMAT_H
#define PROTO_SCHEMA_SCHEMA_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Are the LEN bytes at S of the format? Defined in schema_format_time.c and
 * others.
 */
typedef bool schema_format_fn(const char *s, size_t len);

schema_format_fn schema_is_date, schema_is_time, schema_is_date_time,
    schema_is_duration;
schema_format_fn schema_is_ipv4, schema_is_ipv6, schema_is_hostname,
    schema_is_email, schema_is_idn_email;
schema_format_fn schema_is_uri, schema_is_uri_reference, schema_is_iri,
    schema_is_iri_reference, schema_is_uri_template;

/*
 * Return the expression P in the strict spelling of ECMA-262's flag u, without
 * the usual leniency; NULL when P is no expression. The caller frees the text.
 */
char *schema_regex_strict(const char *p, size_t len);

#endif
