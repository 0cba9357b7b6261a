/* SPDX-License-Identifier: Apache-2.0 */
/* t_http_artifacts.c - name and digest in the head of an uploaded file. */
#include "supervisor/clients/http_artifacts/http_artifacts.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "tests/unit/tap.h"

/* of "abc" */
#define BASE64 "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="
#define HEX "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

static const struct {
	const char *query, *name; /* NULL: no name */
} names[] = {
    {"name=a", "a"},
    {"name=a%20b+c", "a b c"},
    {"x=1&name=a&y=2", "a"},
    {"name=a&name=b", "a"},
    {"name=gr%C3%BCn", "grün"},
    {"name=%2E%2e%2F", "../"}, /* a later step makes the name safe */
    {"name=a%00b", NULL},
    {"name=%00", NULL},
    {"name=%FF", NULL},
    {"name=%C3", NULL},
    {"name=a%", NULL},
    {"name=a%4", NULL},
    {"name=a%4&b=1", NULL},
    {"name=a%4g", NULL},
    {"name=a%-1", NULL},
    {"name=", NULL},
    {"name", NULL},
    {"names=a", NULL},
    {"surname=a", NULL},
    {"&&", NULL},
    {"", NULL},
    {NULL, NULL},
};

static const struct {
	const char *field;
	int rc;
} digests[] = {
    {"sha-256=:" BASE64 ":", 0},
    {"sha-512=:abcd:, sha-256=:" BASE64 ":", 0},
    {" \tsha-256=:" BASE64 ":,md5=:x:", 0},
    {"sha-512=:abcd:", -ENOENT},
    {"", -ENOENT},
    {",,", -ENOENT},
    {"sha-256=" BASE64, -EINVAL},
    {"sha-256=::", -EINVAL},
    {"sha-256=:" BASE64, -EINVAL},
    {"sha-256=:" BASE64 "=:", -EINVAL},
    {"sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa:", -EINVAL},
    {"sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIA!a0=:", -EINVAL},
    {"sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa==:", -EINVAL},
};

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		char *name = http_artifacts_name(names[i].query);

		is_str(name != NULL ? name : "(none)",
		       names[i].name != NULL ? names[i].name : "(none)",
		       "the name of \"%s\"",
		       names[i].query != NULL ? names[i].query : "(no query)");
		free(name);
	}
	for (size_t i = 0; i < ARRAY_LEN(digests); i++) {
		char hex[65] = "";

		is_int(http_artifacts_digest(digests[i].field, hex),
		       digests[i].rc, "a digest: \"%s\"", digests[i].field);
		if (digests[i].rc == 0)
			is_str(hex, HEX,
			       "the digest is converted to hexadecimal");
	}
	return tap_done();
}
