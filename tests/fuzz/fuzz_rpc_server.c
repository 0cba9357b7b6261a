/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any frames, of which the first two bytes of each are its length: CALLs that
 * rise, whose arguments are in their table's bounds, or a refusal.
 */
#include "tests/fuzz/fuzz.h"
#include "browser/browser.h"
#include "browser/rpc_server_parse.h"

static void check_arg(struct call *c, const struct browser_proto_arg *a)
{
	const char *s;

	if (a->type == BROWSER_PROTO_INTEGER)
		assert(arg_int(c, a->name) >= a->min || !a->has_value);
	if (a->type == BROWSER_PROTO_INTEGER)
		assert(arg_int(c, a->name) <= a->max);
	s = arg_str(c, a->name);
	if (a->type == BROWSER_PROTO_STRING && s != NULL)
		assert(strlen(s) >= (size_t)a->min &&
		       strlen(s) <= (size_t)a->max);
	if (a->required)
		assert(json_object_object_get_ex(c->args, a->name, NULL));
}

static void check_call(const char *tool, struct json_object *body)
{
	struct call c = {.action = browser_proto_action(tool)};

	if (c.action == NULL)
		return;
	if (args_take(&c, body) == 0) {
		assert(c.fault.code == NULL);
		assert(strlen(c.requestor) <= BROWSER_PROTO_REQUESTOR_MAX);
		for (const struct browser_proto_arg *a = c.action->args;
		     a->name; a++)
			check_arg(&c, a);
	} else {
		assert(c.fault.code != NULL && c.fault.message != NULL);
	}
	free(c.requestor);
	free(c.of_run);
	free(c.in_session);
	free(c.fault.message);
	json_object_put(c.fault.details);
	json_object_put(c.args);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rpc_server_parse p = {0};
	struct json_object *body;
	uint32_t last = 0;
	const char *errmsg;
	int rc = 0;

	while (rc >= 0 && size >= 2) {
		size_t n = (size_t)data[0] << 8 | data[1];

		data += 2;
		size -= 2;
		n = n < size ? n : size;
		rc = rpc_server_parse(&p, data, n, &body, &errmsg);
		data += n;
		size -= n;
		assert((rc > 0) == (body != NULL));
		assert(rc >= 0 || (errmsg != NULL && *errmsg != '\0'));
		if (rc <= 0)
			continue;
		assert(p.seq > last);
		last = p.seq;
		check_call(p.tool, body);
		json_object_put(body);
	}
	buf_fini(&p.body);
	return 0;
}
