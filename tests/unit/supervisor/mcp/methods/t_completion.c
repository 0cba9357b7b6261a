/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_completion.c - completion/complete: values for arguments of prompts and of paddock's
 * resources, by their beginning, and what is refused.
 */
#include "supervisor/mcp/methods/methods.h"
#include "tests/unit/supervisor/session/server_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#define VALUES "/result/completion/values"
#define RUN_URI "paddock://runs/{runId}"
#define PROMPT                                                                 \
	"\"prompts\":[{\"name\":\"hello\",\"arguments\":[{\"name\":\"who\"}]," \
	"\"complete\":{\"who\":[\"Ada\",\"Adam\",\"Bob\"]},\"messages\":[{"    \
	"\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"hi\"}}]"  \
	"}],\"resources\":[{\"uriTemplate\":\"talk://{x}\",\"name\":\"x\","    \
	"\"text\":\"{x}\"}]"

static struct client ada, few;

static void begin(void)
{
	server_begin("[requestor \"few\"]\nuid = 8\ntemplates = none\n");
	server_package("talk", "1.0.0", PROMPT);
	server_load();
	client_begin(&ada, 7, MCP_2025_11_25);
	client_begin(&few, 8, MCP_2025_11_25);
}

static void end(void)
{
	client_end(&ada);
	client_end(&few);
	server_end();
}

static struct json_object *complete(struct client *c, const char *ref,
				    const char *name, const char *value)
{
	return client_call(c, "completion/complete",
			   "{\"ref\":%s,\"argument\":{\"name\":\"%s\","
			   "\"value\":\"%s\"}}",
			   ref, name, value);
}

static struct json_object *prompt(struct client *c, const char *value)
{
	return complete(c, "{\"type\":\"ref/prompt\",\"name\":\"hello\"}",
			"who", value);
}

static struct json_object *resource(struct client *c, const char *uri,
				    const char *name, const char *value)
{
	char ref[256];

	snprintf(ref, sizeof(ref), "{\"type\":\"ref/resource\",\"uri\":\"%s\"}",
		 uri);
	return complete(c, ref, name, value);
}

static const char *started(void)
{
	static char id[ID_SIZE];
	struct json_object *answer =
	    client_tool(&ada, "run_task_template",
			"{\"templateId\":\"talk\",\"inputs\":{},"
			"\"options\":{\"mode\":\"async\"}}");

	snprintf(id, sizeof(id), "%s", tool_at(answer, "/runId"));
	return id;
}

static void refused(struct json_object *answer, const char *name)
{
	is_str(at(answer, "/error/code"), "-32602", "%s is refused", name);
}

TEST(prompts)
{
	struct json_object *answer;

	begin();
	answer = prompt(&ada, "Ad");
	is_str(at(answer, VALUES), "[\"Ada\",\"Adam\"]",
	       "values that begin like the given text are offered");
	is_str(at(answer, "/result/completion/total"), "2",
	       "the number of values that fit is told");
	is_str(at(answer, "/result/completion/hasMore"), "false",
	       "an answer with all values says so");
	is_str(at(prompt(&ada, "Ada"), VALUES), "[\"Ada\",\"Adam\"]",
	       "a value that is complete is offered as well");
	is_str(at(prompt(&ada, "ad"), VALUES), "[]",
	       "values are compared with the case of letters");
	is_int((int)json_length(json_member(
		   json_member(json_member(prompt(&ada, ""), "result"),
			       "completion"),
		   "values")),
	       3, "an empty text is the beginning of all values");
	is_str(at(complete(&ada, "{\"type\":\"ref/prompt\",\"name\":\"hello\"}",
			   "else", ""),
		  VALUES),
	       "[]", "an argument without values gets none");
	refused(prompt(&few, "A"), "a prompt that a requestor may not see");
	refused(complete(&ada, "{\"type\":\"ref/prompt\",\"name\":\"hullo\"}",
			 "who", ""),
		"an unknown prompt");
	end();
}

TEST(runs)
{
	const char *id;
	char begins[8];

	begin();
	id = started();
	snprintf(begins, sizeof(begins), "%.6s", id);
	is_str(at(resource(&ada, RUN_URI, "runId", begins), VALUES "/0"), id,
	       "a run is offered by the beginning of its id");
	is_str(at(resource(&ada, RUN_URI, "runId", "run_0"), VALUES), "[]",
	       "a run is not offered by the beginning of another id");
	is_str(at(resource(&few, RUN_URI, "runId", ""), VALUES), "[]",
	       "another requestor's run is not offered");
	is_str(at(resource(&ada, RUN_URI, "else", ""), VALUES), "[]",
	       "an unknown argument of paddock's resources gets no value");
	is_str(at(resource(&ada, "talk://{x}", "x", ""), VALUES), "[]",
	       "a resource of a template gets no value");
	refused(resource(&ada, "none://{x}", "x", ""),
		"an unknown template of a URI");
	refused(resource(&few, "talk://{x}", "x", ""),
		"a template of a URI that a requestor may not see");
	refused(complete(&ada, "{\"type\":\"ref/resource\"}", "runId", ""),
		"a reference to a resource without a URI");
	server_run_end(server_run(), "1");
	end();
}

static struct json_object *artifact(struct client *c, const char *run,
				    const char *value)
{
	return client_call(c, "completion/complete",
			   "{\"ref\":{\"type\":\"ref/resource\",\"uri\":\""
			   "paddock://runs/{runId}/artifacts/{artifactId}\"},"
			   "\"argument\":{\"name\":\"artifactId\",\"value\":"
			   "\"%s\"},\"context\":{\"arguments\":{\"runId\":"
			   "\"%s\"}}}",
			   value, run);
}

TEST(artifacts)
{
	struct run_artifact made = {.id = "art_one"};
	struct store_run row;
	const char *id;
	struct run *r;

	begin();
	id = started();
	r = server_run();
	r->artifacts = &made;
	r->n_artifacts = 1;
	is_str(at(artifact(&ada, id, "art_"), VALUES), "[\"art_one\"]",
	       "an artifact of an open run is offered");
	is_str(at(artifact(&ada, id, "art_x"), VALUES), "[]",
	       "an artifact is offered by its beginning alone");
	is_str(at(artifact(&few, id, ""), VALUES), "[]",
	       "an artifact of another requestor's run is not offered");
	is_int((int64_t)few.session.requestor->lookups_failed, 1,
	       "a look-up of another requestor's run is counted");
	is_str(at(artifact(&ada, "run_none", ""), VALUES), "[]",
	       "a malformed id of a run gets no artifact");
	is_str(at(resource(&ada, RUN_URI, "artifactId", ""), VALUES), "[]",
	       "a call that names no run gets no artifact");
	r->artifacts = NULL;
	r->n_artifacts = 0;
	server_run_end(r, "1");
	is_str(at(artifact(&ada, id, ""), VALUES), "[]",
	       "an ended run without artifacts gets none");
	row = help_run("uid:7", STORE_SUCCEEDED);
	row.view = "{\"artifacts\":[{\"artifactId\":\"art_two\"}]}";
	row.finished_ms = 1;
	help_put(server.context.store, &row, STORE_SYNC);
	is_str(at(artifact(&ada, row.id, "art"), VALUES), "[\"art_two\"]",
	       "an artifact of an ended run is offered from its row");
	end();
}

TEST(more_values_than_fit)
{
	char *many = xcalloc(1, 8192), *to = many;
	struct json_object *answer;

	to += sprintf(to, "\"prompts\":[{\"name\":\"p\",\"arguments\":[{"
			  "\"name\":\"a\"}],\"complete\":{\"a\":[");
	for (int i = 0; i <= COMPLETION_MAX; i++)
		to += sprintf(to, "%s\"v%03d\"", i > 0 ? "," : "", i);
	sprintf(to, "]},\"messages\":[{\"role\":\"user\",\"content\":{"
		    "\"type\":\"text\",\"text\":\"x\"}}]}]");
	server_begin(NULL);
	server_package("many", "1.0.0", many);
	free(many);
	server_load();
	client_begin(&ada, 7, MCP_2025_11_25);
	answer = complete(&ada, "{\"type\":\"ref/prompt\",\"name\":\"p\"}", "a",
			  "v");
	is_str(at(answer, "/result/completion/total"), "101",
	       "all values that fit are counted");
	is_str(at(answer, VALUES "/99"), "v099",
	       "a hundred values are offered");
	is_str(at(answer, VALUES "/100"), NULL, "no more values are offered");
	is_str(at(answer, "/result/completion/hasMore"), "true",
	       "an answer without all values says so");
	answer = complete(&ada, "{\"type\":\"ref/prompt\",\"name\":\"p\"}", "a",
			  "v0");
	is_str(at(answer, "/result/completion/hasMore"), "false",
	       "an answer with just a hundred values has all");
	client_end(&ada);
	server_end();
}

TEST(malformed)
{
	begin();
	refused(client_call(&ada, "completion/complete", "{}"),
		"completion/complete without a reference");
	refused(client_call(&ada, "completion/complete",
			    "{\"ref\":{\"type\":\"ref/else\"},\"argument\":{"
			    "\"name\":\"a\",\"value\":\"\"}}"),
		"a reference of an unknown type");
	refused(client_call(&ada, "completion/complete",
			    "{\"ref\":{\"type\":\"ref/prompt\",\"name\":"
			    "\"hello\"},\"argument\":{\"name\":\"who\"}}"),
		"an argument without a value");
	refused(client_call(&ada, "completion/complete",
			    "{\"ref\":{\"type\":\"ref/prompt\",\"name\":"
			    "\"hello\"},\"argument\":{\"value\":\"\"}}"),
		"an argument without a name");
	end();
}

int main(void)
{
	tap_run();
	return tap_done();
}
