/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token.c - "paddock token": makes a random secret for a caller, and the
 * secret's digest for paddock.conf. main.c's table calls it. A name that the
 * configuration would refuse is CLI_USAGE; without random bytes there is no
 * token.
 */
#include <nettle/sha2.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/text/base64.h"
#include "base/text/words.h"
#include "cli/terminal/cli.h"
#include "cli/terminal/json_io.h"
#include "cli/terminal/terminal.h"
#include "proto/json/json_pack.h"

#define TOKEN_BYTES ((size_t)32)
#define DEFAULT_NAME "alice"

/* Encode as base64url without padding (RFC 4648, section 5). */
static void encode(char out[BASE64_LEN(TOKEN_BYTES) + 1],
		   const unsigned char *bytes)
{
	base64_encode(out, bytes, TOKEN_BYTES);
	out[BASE64_LEN(TOKEN_BYTES)] = '\0';
	out[strcspn(out, "=")] = '\0';
	for (char *at = out; *at != '\0'; at++) {
		if (*at == '+')
			*at = '-';
		else if (*at == '/')
			*at = '_';
	}
}

static int token(const struct cli *cli, int n, const char *const *arg)
{
	const char *name = n > 0 ? arg[0] : DEFAULT_NAME;
	unsigned char bytes[TOKEN_BYTES];
	char text[BASE64_LEN(TOKEN_BYTES) + 1];
	unsigned char digest[SHA256_DIGEST_SIZE];
	char hex[2 * SHA256_DIGEST_SIZE + 1];
	struct sha256_ctx md;
	struct json_object *o;

	if (!requestor_name_ok(name, strlen(name)) ||
	    strcmp(name, "anonymous") == 0)
		return message_fail(
		    CLI_USAGE,
		    "\"%.64s\" cannot be a caller's name; a name is " REQUESTOR_NAME_RULE
		    ", and not \"anonymous\"",
		    name);
	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return message_fail(
		    CLI_TROUBLE,
		    "the kernel gave no random bytes, so no token was made");
	encode(text, bytes);
	sha256_init(&md);
	sha256_update(&md, strlen(text), (const void *)text);
	sha256_digest(&md, sizeof(digest), digest);
	for (size_t i = 0; i < sizeof(digest); i++)
		snprintf(hex + 2 * i, 3, "%02x", digest[i]);
	if (cli->json) {
		o = json_pack("token:s tokenSha256:s", text, hex);
		json_pretty_print(o, true);
		json_object_put(o);
		return CLI_OK;
	}
	puts(text);
	message_more(
	    "# The caller sends the token above, which is shown only once. For paddock.conf:");
	message_more("[requestor \"%s\"]", name);
	message_more("token_sha256 = %s", hex);
	return CLI_OK;
}

const struct command cmd_token = {
    .name = "token",
    .args = "[NAME]",
    .summary = "make a token for a caller over HTTP",
    .text =
	"The token goes to stdout, the section for paddock.conf, which "
	"holds its SHA-256,\nto stderr. Without NAME the caller is called " DEFAULT_NAME
	".\n",
    .max = 1,
    .run = token,
};
