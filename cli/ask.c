/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/ask.h"

#include "cli/pretty.h"
#include "cli/report.h"

struct json_object *ask_args(const char *key, const char *text)
{
	struct json_object *o = json_object_new_object();

	if (key != NULL)
		json_object_object_add(o, key, json_object_new_string(text));
	return o;
}

int ask(const struct cli *cli, struct client *c, const char *tool,
	struct json_object *args, struct json_object **out)
{
	struct answer a;
	int rc = client_tool(c, tool, args, &a);

	*out = NULL;
	if (rc != 0)
		return rc;
	if (a.good) {
		*out = a.value;
		return 0;
	}
	if (cli->json)
		pretty_print(a.value, true);
	rc = report_refusal(a.value, NULL);
	answer_fini(&a);
	return rc;
}

int ask_once(const struct cli *cli, const char *tool, struct json_object *args,
	     struct json_object **out)
{
	struct client *c = client_open(cli);
	int rc;

	*out = NULL;
	if (c == NULL) {
		json_object_put(args);
		return client_trouble();
	}
	rc = ask(cli, c, tool, args, out);
	client_close(c);
	return rc;
}
