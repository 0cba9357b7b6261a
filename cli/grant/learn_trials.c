/* SPDX-License-Identifier: Apache-2.0 */
/*
 * learn_trials.c - runs the tests of a package in a private server, for learn.c, and keeps
 * the views of failed runs. The comparison is that of "paddock template test".
 */
#include "cli/grant/learn_trials.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/template/template_test.h"
#include "cli/terminal/json_io.h"
#include "proto/json/json_diff.h"
#include "proto/json/json_pack.h"

static int is_test(const struct dirent *e)
{
	const char *dot = strrchr(e->d_name, '.');

	return e->d_name[0] != '.' && dot != NULL && strcmp(dot, ".json") == 0;
}

struct json_object *learn_trials_of(const char *dir)
{
	char *tests = xasprintf("%s/tests", dir);
	struct json_object *list = json_object_new_array();
	struct dirent **names = NULL;
	int n = scandir(tests, &names, is_test, alphasort);

	for (int i = 0; i < n; i++) {
		char *path = xasprintf("%s/%s", tests, names[i]->d_name);
		struct json_object *test = NULL;

		if (list != NULL && json_file_read(&test, path) < 0) {
			json_object_put(list);
			list = NULL;
		}
		if (list != NULL) {
			json_add(test, "name:s", names[i]->d_name);
			json_object_array_add(list, json_object_get(test));
		}
		json_object_put(test);
		free(path);
		free(names[i]);
	}
	free(names);
	free(tests);
	return list;
}

/* Is the outcome of A as the TRIAL expects? */
static bool passes(struct json_object *trial, const struct tool_result *a)
{
	struct json_object *expect = json_member(trial, "expect");
	struct json_object *got = template_test_outcome(a);
	char pointer[512];
	bool good = true;

	if (expect == NULL) {
		good = json_member_is(got, "status", "succeeded");
	} else if (json_object_is_type(expect, json_type_object)) {
		json_object_object_foreach(expect, key, value) {
			struct json_object *is;

			good = good &&
			       json_object_object_get_ex(got, key, &is) &&
			       json_diff(value, is, pointer, sizeof(pointer));
		}
	}
	json_object_put(got);
	return good;
}

int learn_trials_run(struct client *c, const char *id,
		     struct json_object *trials, struct learn_round *round)
{
	int rc = 0;

	*round = (struct learn_round){.views = json_object_new_array()};
	json_each(trial, trials) {
		struct tool_result a;

		if (rc != 0)
			continue;
		rc = client_tool(c, "run_task_template",
				 json_pack("templateId:s inputs:O options:o",
					   id, json_member(trial, "inputs"),
					   json_pack("mode:s", "sync")),
				 &a);
		if (rc != 0)
			continue;
		if (!passes(trial, &a)) {
			round->failed++;
			json_object_array_add(round->views,
					      json_object_get(a.value));
		}
		tool_result_fini(&a);
	}
	return rc;
}

void learn_trials_fini(struct learn_round *round)
{
	json_object_put(round->views);
	round->views = NULL;
}
