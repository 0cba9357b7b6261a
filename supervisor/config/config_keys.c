/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_keys.c - holds the table of paddock.conf's keys, made from
 * config_keys.def, and finds keys. The reader of files, flags, --print-config
 * and the manual page call it. For an unknown key the result is NULL with the
 * nearest key, or the reason for its refusal.
 */
#include "supervisor/config/config_keys.h"

#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "base/text/suggest.h"
#include "supervisor/config/config.h"

#define KIB (INT64_C(1) << 10)
#define MIB (INT64_C(1) << 20)
#define GIB (INT64_C(1) << 30)
#define TIB (INT64_C(1) << 40)
#define HOUR_MS INT64_C(3600000)
#define DAY_MS (24 * HOUR_MS)
#define YEAR_MS (365 * DAY_MS)
#define RUNS_MAX 10000
#define QUEUED_MAX 1000000
#define UID_MAX INT64_C(4294967294) /* (uid_t)-1 is no user */

static const char *const levels[] = {"error", "warn", "info", "debug", NULL};
static const char *const trusts[] = {"local", "remote", NULL};
static const char *const isolations[] = {"full", "userns", "container",
					 "restricted", NULL};

#define AT(where, of, t, key, field, ...)                                      \
	{.section = (where),                                                   \
	 .name = #key,                                                         \
	 .type = CONFIG_##t,                                                   \
	 .offset = offsetof(struct of, field),                                 \
	 __VA_ARGS__},

static const struct config_key keys[] = {
#define KEY(where, t, key, ...) AT(#where, config, t, key, key, __VA_ARGS__)
#define BROWSER_KEY(t, key, field, ...)                                        \
	AT("browser", config, t, key, field, __VA_ARGS__)
#define NETWORK_KEY(t, key, field, ...)                                        \
	AT("network", config, t, key, field, __VA_ARGS__)
#define SECRET_KEY(t, key, ...)                                                \
	AT(CONFIG_SECRET, config_secret, t, key, key, __VA_ARGS__)
#define STORE_KEY(t, key, field, ...)                                          \
	AT("store", config, t, key, field, __VA_ARGS__)
#define REQUESTOR_KEY(t, key, ...)                                             \
	AT(CONFIG_REQUESTOR, config_requestor, t, key, key, __VA_ARGS__)
#define GRANT_KEY(t, key, ...)                                                 \
	AT(CONFIG_GRANT, config_grant, t, key, key, __VA_ARGS__)
#define TEMPLATE_KEY(t, key, ...)                                              \
	AT(CONFIG_TEMPLATE, config_template, t, key, key, __VA_ARGS__)
#include "supervisor/config/config_keys.def"
};

_Static_assert(ARRAY_LEN(keys) <= CONFIG_KEYS_MAX, "room for every key");

const struct config_key *config_keys(size_t *n)
{
	*n = ARRAY_LEN(keys);
	return keys;
}

const struct config_key *config_key_find(const char *section, const char *name,
					 const char **suggest)
{
	struct suggest found;

	suggest_init(&found, name);
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		if (strcmp(keys[i].section, section) != 0)
			continue;
		if (strcmp(keys[i].name, name) == 0)
			return &keys[i];
		suggest_try(&found, keys[i].name);
	}
	*suggest = found.best;
	return NULL;
}

const char *config_key_refused(const char *section, const char *name)
{
	static const char *const unchecked[] = {"jwks_file", "issuer",
						"audience"};

	for (size_t i = 0; i < ARRAY_LEN(unchecked); i++)
		if (strcmp(section, "server") == 0 &&
		    strcmp(name, unchecked[i]) == 0)
			return "paddockd does not check access tokens of an "
			       "authorization server yet, so the key would "
			       "protect nothing; remove it, and give each "
			       "caller over HTTP a token_sha256 in a "
			       "[requestor \"NAME\"]";
	return NULL;
}
