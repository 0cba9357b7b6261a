/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/packages/templates/template.h"

#include <errno.h>

#include "tests/unit/supervisor/packages/templates/template_fixture.h"

static struct template *parse(const char *text)
{
	return manifest_of(text, strlen(text));
}

static struct template *with(const char *key, const char *value)
{
	char *text = manifest(key, value);
	struct template *t = parse(text);

	free(text);
	return t;
}

/* The text after "template.json#" for VALUE as KEY. */
static const struct {
	const char *key, *value, *errmsg;
} bad[] = {
    {"limitz", "{}",
     "/limitz: unknown key \"limitz\"; did you mean \"limits\"?"},
    {"TemplateID", "\"x\"",
     "/TemplateID: unknown key \"TemplateID\"; did you mean \"templateId\"?"},
    {"a/b~c\x1b", "1",
     "/a~1b~0c\x1b: unknown key \"a/b~c?\"; known here: $schema, templateId, version, name, "
     "description, runtime, trustLevelSupport, supportsPartialSuccess, "
     "partialSuccessThreshold, executionMode, autoAsync, tools, limits, "
     "inputsSchema, outputsSchema, annotations, retry, taskSupport, permissions, "
     "prestart, resident, stream, resources, prompts"},
    {"runtime", "{\"type\":\"lua\",\"enrty\":\"x\"}",
     "/runtime/enrty: unknown key \"enrty\"; did you mean \"entry\"?"},
    {"annotations", "{\"readOnly\":true}",
     "/annotations/readOnly: unknown key \"readOnly\"; known here: title, readOnlyHint, "
     "destructiveHint, idempotentHint, openWorldHint"},
    {"prompts",
     "[{\"name\":\"p\",\"messages\":[]},"
     "{\"name\":\"p\",\"messages\":[],\"argument\":[]}]",
     "/prompts/1/argument: unknown key \"argument\"; did you mean \"arguments\"?"},
    {"limits", "{\"maxTimeoutMS\":1}",
     "/limits/maxTimeoutMS: unknown key \"maxTimeoutMS\"; did you mean \"maxTimeoutMs\"?"},
    {"templateId", "\"run_task_template\"",
     "/templateId: \"run_task_template\" is the name of a tool of paddock's "
     "own; choose another"},
    {"templateId", "\"screenshot\"",
     "/templateId: \"screenshot\" is the name of a tool of paddock's own; "
     "choose another"},
    {"version", "\"1.2\"",
     "/version: \"1.2\" is not a semantic version such as 1.0.0"},
    {"version", "\"v1.2.3\"",
     "/version: \"v1.2.3\" is not a semantic version such as 1.0.0"},
    {"name", "\"a\\u0000b\"",
     ": a string has the character U+0000; leave it out"},
    {"runtime", "{\"type\":\"program\"}",
     "/runtime: a program names its \"entry\", a file of the package"},
    {"runtime", "{\"type\":\"lua\",\"entry\":\"/etc/passwd\"}",
     "/runtime/entry: \"/etc/passwd\" is not the plain relative path of a "
     "file in the package, such as main.lua"},
    {"runtime", "{\"type\":\"lua\",\"entry\":\"a/../../b\"}",
     "/runtime/entry: \"a/../../b\" is not the plain relative path of a file "
     "in the package, such as main.lua"},
    {"autoAsync", "{\"pointer\":\"urls\",\"itemsOver\":1}",
     "/autoAsync/pointer: \"urls\" is not a JSON Pointer such as /urls"},
    {"autoAsync", "{\"pointer\":\"/a~2\",\"itemsOver\":1}",
     "/autoAsync/pointer: \"/a~2\" is not a JSON Pointer such as /urls"},
    {"autoAsync", "{\"pointer\":\"/a~\",\"itemsOver\":1}",
     "/autoAsync/pointer: \"/a~\" is not a JSON Pointer such as /urls"},
    {"resources", "[{\"name\":\"r\",\"text\":\"\"}]",
     "/resources/0: a resource has either \"uri\" or \"uriTemplate\""},
    {"resources",
     "[{\"name\":\"r\",\"uri\":\"a:b\",\"text\":\"\",\"file\":\"f\"}]",
     "/resources/0: a resource has either \"file\" or \"text\""},
    {"resources", "[{\"name\":\"r\",\"uri\":\"a:b\",\"file\":\"../f\"}]",
     "/resources/0/file: \"../f\" is not the plain relative path of a file in "
     "the package"},
};

/*
 * Cases of the manifest's schema; the texts are tested with the schema's module, here
 * the place alone.
 */
static const struct {
	const char *key, *value, *pointer;
} misshapen[] = {
    {"templateId", NULL, ""},
    {"version", NULL, ""},
    {"name", NULL, ""},
    {"description", NULL, ""},
    {"runtime", NULL, ""},
    {"inputsSchema", NULL, ""},
    {"templateId", "\"Big\"", "/templateId"},
    {"templateId", "\"9a\"", "/templateId"},
    {"templateId", "\"a\\n\"", "/templateId"},
    {"templateId",
     "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"",
     "/templateId"},
    {"version", "1", "/version"},
    {"name", "\"\"", "/name"},
    {"name", "null", "/name"},
    {"description", "[]", "/description"},
    {"runtime", "\"lua\"", "/runtime"},
    {"runtime", "{}", "/runtime"},
    {"runtime", "{\"type\":\"python\"}", "/runtime/type"},
    {"runtime", "{\"type\":\"lua\",\"entry\":7}", "/runtime/entry"},
    {"runtime", "{\"type\":\"lua\",\"args\":[1]}", "/runtime/args/0"},
    {"trustLevelSupport", "[]", "/trustLevelSupport"},
    {"trustLevelSupport", "[\"local\",\"local\"]", "/trustLevelSupport"},
    {"trustLevelSupport", "[\"any\"]", "/trustLevelSupport/0"},
    {"supportsPartialSuccess", "\"yes\"", "/supportsPartialSuccess"},
    {"partialSuccessThreshold", "1.01", "/partialSuccessThreshold"},
    {"partialSuccessThreshold", "-0.1", "/partialSuccessThreshold"},
    {"executionMode", "\"later\"", "/executionMode"},
    {"executionMode", "null", "/executionMode"},
    {"autoAsync", "{\"pointer\":\"/a\"}", "/autoAsync"},
    {"autoAsync", "{\"pointer\":\"/a\",\"itemsOver\":-1}",
     "/autoAsync/itemsOver"},
    {"tools", "[\"a b\"]", "/tools/0"},
    {"limits", "{\"maxTimeoutMs\":0}", "/limits/maxTimeoutMs"},
    {"limits", "{\"maxTimeoutMs\":1e30}", "/limits/maxTimeoutMs"},
    {"limits", "{\"maxTimeoutMs\":18446744073709551615}",
     "/limits/maxTimeoutMs"},
    {"limits", "{\"maxMemoryBytes\":\"1G\"}", "/limits/maxMemoryBytes"},
    {"limits", "{\"cancelGraceMs\":60001}", "/limits/cancelGraceMs"},
    {"limits", "{\"maxUrls\":-1}", "/limits/maxUrls"},
    {"limits", "{\"maxUrls\":1.5}", "/limits/maxUrls"},
    {"limits", "{\"maxUrls\":true}", "/limits/maxUrls"},
    {"inputsSchema", "true", "/inputsSchema"},
    {"inputsSchema", "{}", "/inputsSchema"},
    {"inputsSchema", "{\"type\":\"array\"}", "/inputsSchema/type"},
    {"inputsSchema", "{\"type\":[\"object\"]}", "/inputsSchema/type"},
    {"inputsSchema",
     "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":7}}}",
     "/inputsSchema/properties/a/type"},
    {"inputsSchema",
     "{\"type\":\"object\",\"properties\":{\"a\":{\"pattern\":\"(\"}}}",
     "/inputsSchema/properties/a/pattern"},
    {"inputsSchema", "{\"type\":\"object\",\"$ref\":\"#/$defs/none\"}",
     "/inputsSchema/$ref"},
    {"inputsSchema",
     "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"number\","
     "\"x-mcp-header\":\"A\"}}}",
     "/inputsSchema/properties/a/x-mcp-header"},
    {"inputsSchema",
     "{\"type\":\"object\",\"properties\":{\"a\":{\"items\":{\"type\":"
     "\"string\",\"x-mcp-header\":\"A\"}}}}",
     "/inputsSchema/properties/a/items/x-mcp-header"},
    {"outputsSchema", "7", "/outputsSchema"},
    {"outputsSchema", "{\"minimum\":\"a\"}", "/outputsSchema/minimum"},
    {"annotations", "{\"readOnlyHint\":1}", "/annotations/readOnlyHint"},
    {"taskSupport", "\"no\"", "/taskSupport"},
    {"prestart", "1", "/prestart"},
    {"prestart", "9", "/prestart"},
    {"permissions", "{\"readPaths\":[\"etc\"]}", "/permissions/readPaths/0"},
    {"permissions", "{\"readPaths\":[\"/a/../b\"]}",
     "/permissions/readPaths/0"},
    {"permissions", "{\"network\":[\"a.b\"]}", "/permissions/network/0"},
    {"permissions", "{\"network\":[\"a.b:443\",\"*:443\"]}",
     "/permissions/network/1"},
    {"permissions", "{\"network\":[\"10.0.0.0/8:1\"]}",
     "/permissions/network/0"},
    {"permissions", "{\"network\":[\"a.b:1\",\"a.b:1\"]}",
     "/permissions/network"},
    {"permissions", "{\"network\":[\"granted\",\"a.b:1\"]}",
     "/permissions/network/0"},
    {"permissions", "{\"network\":[{\"host\":\"a.b:1\"}]}",
     "/permissions/network/0"},
    {"permissions", "{\"network\":[{\"host\":\"a.b:1\",\"allow\":[]}]}",
     "/permissions/network/0/allow"},
    {"permissions",
     "{\"network\":[{\"host\":\"a.b:1\",\"allow\":[\"GET x\"]}]}",
     "/permissions/network/0"},
    {"permissions",
     "{\"network\":[{\"host\":\"a.b:1\",\"allow\":[\"GET /a,b\"]}]}",
     "/permissions/network/0"},
    {"permissions",
     "{\"network\":[{\"host\":\"a.b:1=GET:/\",\"allow\":[\"GET /a\"]}]}",
     "/permissions/network/0"},
    {"permissions", "{\"secrets\":[\"a b\"]}", "/permissions/secrets/0"},
    {"permissions", "{\"secrets\":[\"\"]}", "/permissions/secrets/0"},
    {"permissions", "{\"secrets\":\"a\"}", "/permissions/secrets"},
    {"permissions", "{\"locks\":\"yes\"}", "/permissions/locks"},
    {"permissions", "{\"hosts\":[\"*\"]}", "/permissions/hosts"},
    {"permissions", "{\"memoryBytes\":1}", "/permissions/memoryBytes"},
    {"permissions", "{\"processes\":0}", "/permissions/processes"},
    {"stream", "\"push\"", "/stream"},
    {"stream", "null", "/stream"},
    {"resources", "[{\"uri\":\"a:b\",\"text\":\"\"}]", "/resources/0"},
    {"prompts", "[{\"name\":\"p\"}]", "/prompts/0"},
    {"prompts",
     "[{\"name\":\"p\",\"messages\":[{\"role\":\"system\","
     "\"content\":{\"type\":\"text\"}}]}]",
     "/prompts/0/messages/0/role"},
    {"prompts", "[{\"name\":\"p\",\"messages\":[],\"complete\":{\"a\":[1]}}]",
     "/prompts/0/complete/a/0"},
};

static void refusals(void)
{
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		char *want = xasprintf("template.json#%s", bad[i].errmsg);

		ok(with(bad[i].key, bad[i].value) == NULL, "refused: %s %s",
		   bad[i].key[0] == 'a' && bad[i].key[1] == '/' ? "odd bytes"
								: bad[i].key,
		   bad[i].value);
		is_str(errmsg, want, "the refusal of a key has the right text");
		free(want);
	}
	for (size_t i = 0; i < ARRAY_LEN(misshapen); i++) {
		char *want =
		    xasprintf("template.json#%s: ", misshapen[i].pointer);

		ok(with(misshapen[i].key, misshapen[i].value) == NULL,
		   "refused: %s %s", misshapen[i].key,
		   misshapen[i].value ? misshapen[i].value : "left out");
		ok(strncmp(errmsg, want, strlen(want)) == 0 &&
		       strlen(errmsg) > strlen(want) + 10,
		   "the refusal of a misshapen value has place and reason: %s",
		   errmsg);
		free(want);
	}
}

static void not_json(void)
{
	char deep[4096];

	ok(parse("") == NULL, "an empty text is no manifest");
	ok(parse("null") == NULL, "null is no manifest");
	ok(parse("[]") == NULL, "an array is no manifest");
	ok(parse("{\"a\":1,\"a\":2}") == NULL, "duplicate keys are refused");
	is_str(errmsg, "template.json#: this is not JSON: duplicate key \"a\"",
	       "the refusal of duplicate keys has the right text");
	memset(deep, '[', sizeof(deep));
	deep[sizeof(deep) - 1] = '\0';
	ok(parse(deep) == NULL, "a manifest nested too deep is refused");
}

static void defaults(void)
{
	struct template *t = parse(smallest);

	ok(t != NULL, "the smallest manifest: %s", errmsg);
	if (t == NULL)
		return;
	is_str(t->id, "t", "the manifest has the id");
	is_str(t->version_text, "1.2.3", "the manifest has the version");
	is_int(t->version.minor, 2, "the version is parsed");
	is_str(t->name, "T", "the manifest has the name");
	is_str(t->description, "Does.", "the manifest has the description");
	is_int(t->runtime, RUNTIME_LUA, "the default runtime is Lua");
	is_str(t->entry, "main.lua", "main.lua by default");
	is_int(t->trust, TRUST_LOCAL, "local by default");
	ok(!t->partial, "no partial success by default");
	ok(t->partial_threshold == 0.5, "a half by default");
	is_int(t->mode, MODE_AUTO, "auto by default");
	is_str(t->auto_pointer, NULL, "no rule by default");
	is_int(t->task, TASK_OPTIONAL, "tasks are optional by default");
	is_int(t->limits.timeout_ms, TEMPLATE_UNSAID,
	       "time is the server's to say");
	is_int(t->limits.memory_bytes, TEMPLATE_UNSAID,
	       "memory is decided by the server by default");
	is_int(t->limits.artifacts, TEMPLATE_UNSAID,
	       "artifacts are decided by the server by default");
	is_int(t->limits.cancel_grace_ms, 5000, "5 s of grace by default");
	ok(!t->secret && !t->stream_poll,
	   "secrets and polled streams are off by default");
	ok(t->inputs != NULL && t->inputs_json != NULL, "inputs are checked");
	ok(t->outputs == NULL && t->outputs_json == NULL, "any output will do");
	ok(t->limits_json == NULL && t->annotations == NULL, "nothing to show");
	ok(template_ref(t) == t, "a second user");
	template_unref(t);
	is_str(t->id, "t", "the first still has it");
	template_unref(t);
}

static const char largest[] =
    "{\"$schema\":\"x\",\"templateId\":\"big_1\",\"version\":\"0.1.0-rc.1\","
    "\"name\":\"Big\",\"description\":\"All of it.\","
    "\"runtime\":{\"type\":\"program\",\"entry\":\"bin/run.sh\","
    "\"args\":[\"-x\"]},\"trustLevelSupport\":[\"remote\",\"local\"],"
    "\"supportsPartialSuccess\":true,\"partialSuccessThreshold\":1,"
    "\"executionMode\":\"async\","
    "\"autoAsync\":{\"pointer\":\"/a~1b/urls\",\"itemsOver\":2},"
    "\"tools\":[\"navigate\"],"
    "\"limits\":{\"maxTimeoutMs\":1000,\"maxCpuMs\":2000.0,"
    "\"maxMemoryBytes\":2097152,\"maxProcesses\":7,\"maxOutputBytes\":9,"
    "\"maxArtifactBytes\":0,\"maxConcurrency\":3,\"cancelGraceMs\":0,"
    "\"maxUrls\":10},"
    "\"inputsSchema\":{\"type\":\"object\",\"properties\":{\"c\":"
    "{\"type\":\"object\",\"properties\":{\"p\":{\"type\":\"string\","
    "\"writeOnly\":true}}}}},\"outputsSchema\":{\"type\":\"integer\"},"
    "\"annotations\":{\"title\":\"B\",\"readOnlyHint\":true},"
    "\"taskSupport\":\"required\",\"permissions\":{\"readPaths\":[\"/usr\"],"
    "\"network\":[\"db.example.org:5432\",\"[::1]:80\"],"
    "\"secrets\":[\"api.key\"],\"locks\":true,"
    "\"memoryBytes\":1048576,\"processes\":2},\"stream\":\"poll\","
    "\"resources\":[{\"uri\":\"t://a\",\"name\":\"a\",\"text\":\"\"},"
    "{\"uriTemplate\":\"t://{x}\",\"name\":\"b\",\"file\":\"d/b.txt\","
    "\"mimeType\":\"text/plain\"}],"
    "\"prompts\":[{\"name\":\"p\",\"arguments\":[{\"name\":\"x\","
    "\"required\":true}],\"messages\":[{\"role\":\"user\",\"content\":"
    "{\"type\":\"text\",\"text\":\"{{x}}\"}}],\"complete\":{\"x\":[\"1\"]}}]}";

static void given(void)
{
	struct template *t = parse(largest);
	struct json_object *seven = json_object_new_int(7);

	ok(t != NULL, "the largest manifest: %s", errmsg);
	if (t == NULL)
		goto out;
	is_str(t->version.pre, "rc.1", "a version has a pre-release");
	is_int(t->runtime, RUNTIME_PROGRAM, "the runtime may be a program");
	is_str(t->entry, "bin/run.sh", "the manifest has the program's path");
	is_int(t->trust, TRUST_LOCAL | TRUST_REMOTE,
	       "a manifest may allow both trust levels");
	ok(t->partial && t->partial_threshold == 1,
	   "a manifest may allow partial success");
	is_int(t->mode, MODE_ASYNC, "the mode may be async");
	is_str(t->auto_pointer, "/a~1b/urls",
	       "the rule for async has its pointer");
	is_int(t->auto_items_over, 2, "the rule for async has its number");
	is_int(t->limits.timeout_ms, 1000, "the manifest has a timeout");
	is_int(t->limits.cpu_ms, 2000, "CPU, an integer for all its .0");
	is_int(t->limits.memory_bytes, 1 << 20, "memory, the lower one");
	is_int(t->limits.processes, 2, "processes, the lower one");
	is_int(t->limits.output_bytes, 9, "the manifest has an output limit");
	is_int(t->limits.artifact_bytes, 0,
	       "the manifest has a limit of artifacts");
	is_int(t->limits.cancel_grace_ms, 0, "the grace may be zero");
	is_int(json_object_object_length(t->limits_json), 9,
	       "all limits are in the view");
	is_int(t->task, TASK_REQUIRED, "a task may be required");
	ok(t->stream_poll, "a polled stream");
	ok(t->secret, "a secret deep inside");
	ok(t->annotations != NULL, "the manifest has annotations");
	is_int(schema_validate(t->outputs, seven, NULL), 0,
	       "valid outputs pass the outputs' schema");
	is_int(schema_validate(t->outputs, NULL, NULL), -EINVAL,
	       "invalid outputs do not pass the outputs' schema");
out:
	json_object_put(seven);
	template_unref(t);
}

static const struct {
	const char *schema, *name;
	bool secret;
} secrets[] = {
    {"{\"type\":\"object\",\"properties\":{\"a\":{\"writeOnly\":true}}}",
     "a property", true},
    {"{\"type\":\"object\",\"$defs\":{\"p\":{\"writeOnly\":true}},"
     "\"properties\":{\"a\":{\"$ref\":\"#/$defs/p\"}}}",
     "by reference", true},
    {"{\"type\":\"object\",\"properties\":{\"l\":{\"type\":\"array\","
     "\"prefixItems\":[{\"writeOnly\":true}]}}}",
     "in an array", true},
    {"{\"type\":\"object\",\"anyOf\":[{\"properties\":{\"a\":"
     "{\"writeOnly\":true}}}]}",
     "in an alternative", true},
    {"{\"type\":\"object\",\"properties\":{\"a\":{\"writeOnly\":false}}}",
     "none when it is false", false},
    {"{\"type\":\"object\",\"properties\":{\"writeOnly\":"
     "{\"type\":\"string\"}}}",
     "none in a property of that name", false},
};

static void secrecy(void)
{
	for (size_t i = 0; i < ARRAY_LEN(secrets); i++) {
		struct template *t = with("inputsSchema", secrets[i].schema);

		ok(t != NULL && t->secret == secrets[i].secret, "secret: %s %s",
		   secrets[i].name, errmsg);
		template_unref(t);
	}
}

static void headers(void)
{
	struct template *t = with(
	    "inputsSchema",
	    "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\","
	    "\"x-mcp-header\":\"Region\"},\"b\":{\"type\":\"object\","
	    "\"properties\":{\"c\":{\"type\":\"integer\",\"x-mcp-header\":"
	    "\"Count\"}}}}}");

	ok(t != NULL && t->mcp_headers.n == 2, "inputs may be in headers: %s",
	   errmsg);
	is_str(t->mcp_headers.list[0].name, "Mcp-Param-Region",
	       "an input's header has a name");
	is_str(t->mcp_headers.list[1].where, "params.arguments/b/c",
	       "a nested input may be in a header");
	template_unref(t);
	t = with(
	    "outputsSchema",
	    "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"number\","
	    "\"x-mcp-header\":\"A\"}}}");
	ok(t != NULL && t->mcp_headers.n == 0, "outputs are in none: %s",
	   errmsg);
	template_unref(t);
}

static const struct {
	const char *pointer, *inputs;
	bool async;
} autos[] = {
    {"/urls", "{\"urls\":[1,2]}", false},
    {"/urls", "{\"urls\":[1,2,3]}", true},
    {"/urls", "{\"urls\":\"abc\"}", false},
    {"/urls", "{\"urls\":{\"a\":1,\"b\":2,\"c\":3}}", false},
    {"/urls", "{\"urls\":null}", false},
    {"/urls", "{}", false},
    {"/a~1b/1", "{\"a/b\":[0,[1,2,3]]}", true},
    {"/a~1b/7", "{\"a/b\":[0,[1,2,3]]}", false},
    {"", "{\"urls\":[1,2,3]}", false},
};

static void auto_async(void)
{
	for (size_t i = 0; i < ARRAY_LEN(autos); i++) {
		char *rule = xasprintf("{\"pointer\":\"%s\",\"itemsOver\":2}",
				       autos[i].pointer);
		struct template *t = with("autoAsync", rule);
		struct json_object *inputs = NULL;

		json_parse(&inputs, autos[i].inputs, strlen(autos[i].inputs),
			   NULL);
		ok(t != NULL &&
		       template_auto_async(t, inputs) == autos[i].async,
		   "%s is %sasync by \"%s\"", autos[i].inputs,
		   autos[i].async ? "" : "not ", autos[i].pointer);
		json_object_put(inputs);
		template_unref(t);
		free(rule);
	}
}

static void paths(void)
{
	static const char *const good[] = {
	    "a", "main.lua", "a/b/c", "...", ".hidden", "a b", "..a"};
	static const char *const not_good[] = {
	    "",	  "/",	 "/a",	"a/",	  "a//b", ".",
	    "..", "./a", "a/.", "a/../b", "../a", "a\nb"};

	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		ok(nofollow_is_plain(good[i]), "a path: '%s'", good[i]);
	for (size_t i = 0; i < ARRAY_LEN(not_good); i++)
		ok(!nofollow_is_plain(not_good[i]),
		   "case %zu is not a plain path", i);
}

int main(void)
{
	refusals();
	not_json();
	defaults();
	given();
	secrecy();
	headers();
	auto_async();
	paths();
	return tap_done();
}
