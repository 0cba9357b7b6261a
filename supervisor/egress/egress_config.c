/* SPDX-License-Identifier: Apache-2.0 */
/*
 * egress_config.c - the configuration of paddock-egress as a packet, for egress.c. The
 * program checks all of the packet again, and refuses the whole for a fault.
 */
#include "supervisor/egress/egress_private.h"

#include <string.h>

#include "base/text/words.h"
#include "proto/json/json_pack.h"

static struct json_object *word_list(const char *words)
{
	struct json_object *list = json_object_new_array();
	const char *word;
	size_t n;

	while ((word = words_next(&words, &n)) != NULL)
		json_object_array_add(list,
				      json_object_new_string_len(word, (int)n));
	return list;
}

/* The words RANGE and RANGE=REQUESTOR. */
static struct json_object *range_list(const char *words)
{
	struct json_object *list = json_object_new_array();
	const char *word;
	size_t n;

	while ((word = words_next(&words, &n)) != NULL) {
		const char *equals = memchr(word, '=', n);
		size_t net = equals != NULL ? (size_t)(equals - word) : n;
		struct json_object *o = json_pack("range:S", word, net);

		if (equals != NULL)
			json_add(o, "requestor:S", equals + 1, n - net - 1);
		json_object_array_add(list, o);
	}
	return list;
}

struct json_object *egress_config_packet(const struct config *c)
{
	return json_pack("config:o",
			 json_pack("deny:o private:o resolver?s ca?s secrets:o",
				   word_list(c->network_deny),
				   range_list(c->network_private),
				   c->network_resolver, c->network_authorities,
				   json_object_new_array()));
}
