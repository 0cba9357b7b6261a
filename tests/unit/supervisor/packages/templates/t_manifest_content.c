/* SPDX-License-Identifier: Apache-2.0 */
/* t_manifest_content.c - resources and prompts of a manifest. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "proto/json/json.h"
#include "supervisor/packages/templates/template_load.h"
#include "supervisor/packages/templates/manifest.h"
#include "tests/unit/supervisor/packages/templates/diagnostics_fixture.h"
#include "tests/unit/tap.h"

/* A manifest with KEY set to the JSON text VALUE; the caller's. */
static char *manifest(const char *key, const char *value)
{
	return xasprintf("{\"templateId\":\"t\",\"version\":\"1.2.3\","
			 "\"name\":\"T\",\"description\":\"Does.\","
			 "\"runtime\":{\"type\":\"lua\"},"
			 "\"inputsSchema\":{\"type\":\"object\"},\"%s\":%s}",
			 key, value);
}

static struct template *parse(const char *key, const char *value)
{
	char *text = manifest(key, value);
	struct template *t;

	t = manifest_of(text, strlen(text));
	free(text);
	return t;
}

#define RESOURCE(members) "[{\"name\":\"r\"," members "}]"
#define MESSAGE(content)                                                       \
	"[{\"name\":\"p\",\"arguments\":[{\"name\":\"x\"}],\"messages\":["     \
	"{\"role\":\"user\",\"content\":{" content "}}]}]"

#define ASKS(key, properties)                                                  \
	"\"asks\":{\"" key "\":{\"message\":\"m\",\"requestedSchema\":{"       \
	"\"type\":\"object\",\"properties\":{" properties "}}}}"
#define ASKING(key, properties, text)                                          \
	"[{\"name\":\"p\",\"arguments\":[{\"name\":\"k.x\"}],"                 \
	"\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\","     \
	"\"text\":\"" text "\"}}]," ASKS(key, properties) "}]"
#define NAME "\"name\":{\"type\":\"string\"}"
#define KEY_64                                                                 \
	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const struct {
	const char *key, *value;
} good[] = {
    {"prompts", ASKING("k", NAME, "{{k.name}} {{k.x}} {k.z}")},
    {"prompts", ASKING("a-b.c_D9", NAME, "{{a-b.c_D9.name}}")},
    {"prompts", ASKING(KEY_64, NAME, "{{" KEY_64 ".name}}")},
    {"resources",
     RESOURCE(
	 "\"uri\":\"a:b\",\"text\":\"{k.name} {kk.z}{k}\"," ASKS("k", NAME))},
    {"resources", RESOURCE("\"uriTemplate\":\"a:{b}\",\"text\":\"{b}{k-1.name}"
			   "\"," ASKS("k-1", NAME))},
    {"resources", "[]"},
    {"resources", RESOURCE("\"uri\":\"a:b\",\"text\":\"\"")},
    {"resources", RESOURCE("\"uri\":\"a-1+.x://b/c?d=e#f\",\"file\":\"x/y\"")},
    {"resources",
     RESOURCE("\"uriTemplate\":\"a://{b}/{c}\",\"text\":\"{b}{d}\"")},
    {"prompts", "[]"},
    {"prompts", "[{\"name\":\"p\",\"messages\":[]}]"},
    {"prompts", MESSAGE("\"type\":\"text\",\"text\":\"{{x}} {x} {{ y }}\"")},
    {"prompts",
     MESSAGE(
	 "\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"AAAA\"")},
    {"prompts",
     MESSAGE(
	 "\"type\":\"audio\",\"mimeType\":\"audio/wav\",\"file\":\"a.wav\"")},
    {"prompts",
     MESSAGE(
	 "\"type\":\"resource\",\"resource\":{\"uri\":\"{{x}}\",\"text\":\"{{x}}\"}")},
    {"prompts",
     MESSAGE(
	 "\"type\":\"resource\",\"resource\":{\"uri\":\"a:b\",\"mimeType\":\"a/b\",\"file\":\"f\"}")},
    {"prompts",
     MESSAGE(
	 "\"type\":\"resource_link\",\"uri\":\"{{x}}\",\"name\":\"{{x}}\",\"mimeType\":\"a/b\"")},
    {"prompts",
     "[{\"name\":\"p\",\"arguments\":[{\"name\":\"x\",\"required\":true},"
     "{\"name\":\"y\"}],\"messages\":[],\"complete\":{\"y\":[\"1\"]}}]"},
};

static const struct {
	const char *key, *value, *errmsg;
} bad[] = {
    {"resources", RESOURCE("\"uri\":\"a\",\"text\":\"\""),
     "/resources/0/uri: \"a\" is not an absolute URI such as notes://today"},
    {"resources", RESOURCE("\"uri\":\"a:\",\"text\":\"\""),
     "/resources/0/uri: \"a:\" is not an absolute URI such as notes://today"},
    {"resources", RESOURCE("\"uri\":\"1:a\",\"text\":\"\""),
     "/resources/0/uri: \"1:a\" is not an absolute URI such as notes://today"},
    {"resources", RESOURCE("\"uri\":\"a:b c\",\"text\":\"\""),
     "/resources/0/uri: \"a:b c\" is not an absolute URI such as "
     "notes://today"},
    {"resources", RESOURCE("\"uri\":\"a:{b}\",\"text\":\"\""),
     "/resources/0/uri: \"a:{b}\" is not an absolute URI such as "
     "notes://today"},
    {"resources", RESOURCE("\"uri\":\"Paddock://isolation\",\"text\":\"\""),
     "/resources/0/uri: \"Paddock://isolation\" begins with paddock:, which is "
     "paddock's own; choose another scheme"},
    {"resources", RESOURCE("\"uriTemplate\":\"paddock://{x}\",\"text\":\"\""),
     "/resources/0/uriTemplate: \"paddock://{x}\" begins with paddock:, which "
     "is paddock's own; choose another scheme"},
    {"resources", RESOURCE("\"uriTemplate\":\"a:b\",\"text\":\"\""),
     "/resources/0/uriTemplate: \"a:b\" has no {name}; with none it is a "
     "\"uri\""},
    {"resources", RESOURCE("\"uri\":\"a:b\",\"file\":\"f\"," ASKS("k", NAME)),
     "/resources/0/asks: a resource that asks has \"text\", which the answers "
     "are filled into"},
    {"resources",
     RESOURCE("\"uri\":\"a:b\",\"text\":\"{k.nam}\"," ASKS("k", NAME)),
     "/resources/0/text: {k.nam} is no property of what is asked"},
    {"resources",
     RESOURCE("\"uriTemplate\":\"a:{k.name}\",\"text\":\"\"," ASKS("k", NAME)),
     "/resources/0/asks/k: \"k.name\" is the name of something else that is "
     "filled in"},
    {"prompts", ASKING("k", "\"x\":{\"type\":\"string\"}", ""),
     "/prompts/0/asks/k: \"k.x\" is the name of something else that is filled "
     "in"},
    {"prompts",
     ASKING("a",
	    "\"b.c\":{\"type\":\"string\"}}}},\"a.b\":{\"message\":\"m\","
	    "\"requestedSchema\":{\"type\":\"object\",\"properties\":{"
	    "\"c\":{\"type\":\"string\"}",
	    ""),
     "/prompts/0/asks/a.b: \"a.b.c\" is the name of something else that is "
     "filled in"},
    {"prompts", ASKING("k", NAME, "{{k.nam}}"),
     "/prompts/0/messages/0/content/text: {{k.nam}} is none of the prompt's "
     "arguments, nor a property of what it asks"},
    {"prompts", ASKING("k", "\"a\":{\"type\":\"object\"}", ""),
     "/prompts/0/asks/k/requestedSchema/properties/a: this has to be a property "
     "of type string, number, integer, boolean, or an array of choices"},
    {"prompts",
     ASKING("k", "\"a\":{\"type\":\"string\",\"format\":\"password\"}", ""),
     "/prompts/0/asks/k/requestedSchema/properties/a/format: this has to be "
     "email, uri, date or date-time; a form is no place for secrets"},
    {"prompts", ASKING("k", "\"a\":{\"type\":\"string\",\"minLength\":-1}", ""),
     "/prompts/0/asks/k/requestedSchema/properties/a/minLength: this has "
     "to be a count, 0 or more"},
    {"prompts", ASKING("a b", NAME, ""),
     "/prompts/0/asks/a b: a question's name has to be 1 to 64 of A-Z a-z 0-9 "
     "_ . -"},
    {"prompts", ASKING(KEY_64 "0", NAME, ""),
     "/prompts/0/asks/" KEY_64 "0: a question's name has to be 1 to 64 of A-Z "
     "a-z 0-9 _ . -"},
    {"prompts", "[{\"name\":\"p\",\"messages\":[],\"asks\":{}}]",
     "/prompts/0/asks: \"asks\" has 0 members; it must have at least 1"},
    {"prompts", "[{\"name\":\"p\",\"messages\":[],\"asks\":{\"k\":{}}}]",
     "/prompts/0/asks/k: \"k\" lacks the member \"message\""},
    {"prompts",
     "[{\"name\":\"p\",\"messages\":[],\"asks\":{\"k\":{\"message\":\"m\","
     "\"requestedSchema\":{},\"mode\":\"url\"}}}]",
     "/prompts/0/asks/k/mode: unknown key \"mode\"; known here: message, "
     "requestedSchema"},
    {"resources",
     "[{\"name\":\"a\",\"uri\":\"a:b\",\"text\":\"\"},"
     "{\"name\":\"b\",\"uri\":\"a:b\",\"text\":\"\"}]",
     "/resources/1: an earlier one has the same URI"},
    {"prompts",
     "[{\"name\":\"p\",\"messages\":[]},{\"name\":\"p\",\"messages\":[]}]",
     "/prompts/1: an earlier one has the same name"},
    {"prompts",
     "[{\"name\":\"p\",\"arguments\":[{\"name\":\"x\"},{\"name\":\"x\"}],"
     "\"messages\":[]}]",
     "/prompts/0/arguments/1: an earlier one has the same name"},
    {"prompts", "[{\"name\":\"p\",\"messages\":[],\"complete\":{\"x\":[]}}]",
     "/prompts/0/complete/x: \"x\" is none of the prompt's arguments"},
    {"prompts", MESSAGE("\"type\":\"text\""),
     "/prompts/0/messages/0/content: content of type text has \"text\""},
    {"prompts", MESSAGE("\"type\":\"text\",\"text\":\"\",\"data\":\"\""),
     "/prompts/0/messages/0/content/data: content of type text has no such "
     "key"},
    {"prompts", MESSAGE("\"type\":\"text\",\"text\":\"{{y}}\""),
     "/prompts/0/messages/0/content/text: {{y}} is none of the prompt's "
     "arguments, nor a property of what it asks"},
    {"prompts", MESSAGE("\"type\":\"text\",\"text\":\"\",\"txet\":1"),
     "/prompts/0/messages/0/content/txet: unknown key \"txet\"; did you mean "
     "\"text\"?"},
    {"prompts", MESSAGE("\"type\":\"image\",\"mimeType\":\"a/b\""),
     "/prompts/0/messages/0/content: content of type image has either "
     "\"data\" or \"file\""},
    {"prompts", MESSAGE("\"type\":\"image\",\"data\":\"\""),
     "/prompts/0/messages/0/content: content of type image has \"mimeType\""},
    {"prompts",
     MESSAGE("\"type\":\"image\",\"mimeType\":\"a/b\",\"data\":\"A\""),
     "/prompts/0/messages/0/content/data: the data is not base64 (RFC 4648, section "
     "4)"},
    {"prompts",
     MESSAGE("\"type\":\"audio\",\"mimeType\":\"a/b\",\"file\":\"/a\""),
     "/prompts/0/messages/0/content/file: \"/a\" is not the plain relative "
     "path of a file in the package"},
    {"prompts", MESSAGE("\"type\":\"resource\",\"resource\":{\"uri\":\"a:b\"}"),
     "/prompts/0/messages/0/content/resource: a resource has either \"file\" "
     "or \"text\""},
    {"prompts",
     MESSAGE("\"type\":\"resource\",\"resource\":{\"uri\":\"{{z}}\",\"text\":"
	     "\"\"}"),
     "/prompts/0/messages/0/content/resource/uri: {{z}} is none of the "
     "prompt's arguments, nor a property of what it asks"},
    {"prompts", MESSAGE("\"type\":\"resource_link\",\"uri\":\"a:b\""),
     "/prompts/0/messages/0/content: content of type resource_link has "
     "\"name\""},
};

static void checking(void)
{
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		struct template *t = parse(good[i].key, good[i].value);

		ok(t != NULL, "%s %s: %s", good[i].key, good[i].value, errmsg);
		template_unref(t);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		char *want = xasprintf("template.json#%s", bad[i].errmsg);

		ok(parse(bad[i].key, bad[i].value) == NULL, "refused: %s %s",
		   bad[i].key, bad[i].value);
		is_str(errmsg, want,
		       "the refusal of the content has the right text");
		free(want);
	}
	ok(parse("prompts",
		 "[{\"name\":\"p\",\"arguments\":[{\"name\":\"a b\"}],"
		 "\"messages\":[]}]") == NULL &&
	       strncmp(errmsg,
		       "template.json#/prompts/0/arguments/0/name: ", 43) == 0,
	   "an argument's name fits into braces: %s", errmsg);
}

/* ---- files ---- */

static char dir[] = "/tmp/paddock-t_manifest_content-XXXXXX";

static void put(const char *name, const char *bytes, size_t len)
{
	char *path = xasprintf("%s/%s", dir, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (fd < 0 || write(fd, bytes, len) != (ssize_t)len)
		exit(2);
	close(fd);
	free(path);
}

static struct template *load(const char *key, const char *value)
{
	char *text = manifest(key, value);
	struct template *t;

	put("template.json", text, strlen(text));
	free(text);
	errmsg[0] = '\0';
	t = template_load(dir, geteuid() == 0, errmsg, sizeof(errmsg));
	point();
	return t;
}

#define FILES                                                                  \
	"[{\"name\":\"a\",\"uri\":\"a:a\",\"file\":\"a.bin\"},"                \
	"{\"name\":\"b\",\"uri\":\"a:b\",\"file\":\"a.bin\"}]"

static void files(void)
{
	const struct template_file *f;
	struct template *t;
	char *big = xcalloc(1, (size_t)1 << 20), digest[65], link[64];

	if (mkdtemp(dir) == NULL)
		exit(2);
	put("main.lua", "return 1", 8);
	ok(load("resources", FILES) == NULL,
	   "a missing file of a resource is refused");
	is_str(errmsg,
	       "template.json#/resources/0/file: a.bin: No such file or "
	       "directory",
	       "the missing file is named");
	put("a.bin", "\0\xff", 2);
	t = load("resources", FILES);
	ok(t != NULL, "a file is read: %s", errmsg);
	if (t == NULL)
		return;
	is_int((long long)t->n_files, 1,
	       "the file of two resources is read once");
	f = template_file(t, "a.bin");
	ok(f != NULL && f->len == 2 && memcmp(f->data, "\0\xff", 2) == 0,
	   "the file is read unchanged");
	ok(template_file(t, "main.lua") == NULL,
	   "a file outside of resources is not read");
	memcpy(digest, t->digest, sizeof(digest));
	template_unref(t);
	put("a.bin", "\0\xfe", 2);
	t = load("resources", FILES);
	ok(t != NULL && strcmp(t->digest, digest) != 0,
	   "the file's bytes are part of the digest");
	template_unref(t);

	t = load("prompts",
		 MESSAGE("\"type\":\"image\",\"mimeType\":\"a/b\",\"file\":"
			 "\"a.bin\""));
	ok(t != NULL && template_file(t, "a.bin") != NULL,
	   "a file of a prompt is read");
	template_unref(t);
	ok(load("prompts", MESSAGE("\"type\":\"resource\",\"resource\":{"
				   "\"uri\":\"a:b\",\"file\":\"none\"}")) ==
	       NULL,
	   "a missing file of a prompt is refused");
	is_str(errmsg,
	       "template.json#/prompts/0/messages/0/content/resource/file: "
	       "none: No such file or directory",
	       "a missing file of a prompt is named");

	snprintf(link, sizeof(link), "%s/a.bin", dir);
	unlink(link);
	if (symlink("/etc/hostname", link) < 0)
		exit(2);
	ok(load("resources", FILES) == NULL,
	   "a link as a resource's file is refused");
	is_str(errmsg,
	       "template.json#/resources/0/file: a.bin is a symbolic link, but "
	       "must be a plain file",
	       "the refusal of a link has the right text");
	unlink(link);

	for (int i = 0; i < 9; i++) {
		char name[16];

		snprintf(name, sizeof(name), "f%d", i);
		put(name, big, (size_t)1 << 20);
	}
	free(big);
#define F(n) "{\"name\":\"" n "\",\"uri\":\"a:" n "\",\"file\":\"f" n "\"}"
	t = load("resources", "[" F("0") "," F("1") "," F("2") "," F("3") "," F(
				  "4") "," F("5") "," F("6") "," F("7") "]");
	ok(t != NULL, "8 MiB of files are read: %s", errmsg);
	template_unref(t);
	ok(load("resources",
		"[" F("0") "," F("1") "," F("2") "," F("3") "," F("4") "," F(
		    "5") "," F("6") "," F("7") "," F("8") "]") == NULL,
	   "more than 8 MiB of files are refused");
	is_str(
	    errmsg,
	    "template.json#/resources/8/file: with f8 the files of resources "
	    "and prompts have more than 8388608 bytes together",
	    "the refusal of too many bytes has the right text");
}

static void clean_up(void)
{
	static const char *const names[] = {"template.json",
					    "main.lua",
					    "f0",
					    "f1",
					    "f2",
					    "f3",
					    "f4",
					    "f5",
					    "f6",
					    "f7",
					    "f8"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		char *path = xasprintf("%s/%s", dir, names[i]);

		unlink(path);
		free(path);
	}
	is_int(rmdir(dir), 0, "nothing is left behind");
}

int main(void)
{
	checking();
	files();
	clean_up();
	return tap_done();
}
