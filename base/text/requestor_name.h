/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requestor_name.h - what a requestor may be called: the server's
 * configuration and who makes sections for it have one rule.
 */
#ifndef BASE_TEXT_REQUESTOR_NAME_H
#define BASE_TEXT_REQUESTOR_NAME_H

#include <stdbool.h>
#include <stddef.h>

#define REQUESTOR_NAME_MAX 32
/* For messages: what would pass. */
#define REQUESTOR_NAME_RULE "1 to 32 of A-Z a-z 0-9 . _ @ -"

/* The N bytes at NAME. "uid:N" is none: ':' stays for the server's own. */
bool requestor_name_ok(const char *name, size_t n);

#endif
