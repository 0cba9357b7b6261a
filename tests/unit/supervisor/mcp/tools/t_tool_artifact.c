/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_tool_artifact.c - get_artifact: which bytes an answer has, in which form, and how a
 * piece ends; who may read an artifact, and how a call is refused.
 */
#include "tests/unit/supervisor/session/server_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#define PNG "\x89PNG\r\n\x1a\n...."

static struct client ada, bob, old;

static void begin(void)
{
	server_begin("[limits]\nmax_artifact_inline_bytes = 16\n");
	server_package("draw", "1.0.0", NULL);
	server_load();
	client_begin(&ada, 7, MCP_2025_11_25);
	client_begin(&bob, 8, MCP_2025_11_25);
	client_begin(&old, 7, MCP_2024_11_05);
	client_tool(&ada, "run_task_template",
		    "{\"templateId\":\"draw\",\"inputs\":{},"
		    "\"options\":{\"mode\":\"async\"}}");
}

static void end(void)
{
	server_run_end(server_run(), "1");
	client_end(&ada);
	client_end(&bob);
	client_end(&old);
	server_end();
}

static const char *keep(const char *type, const char *data)
{
	return server_artifact(server_run(), "a.dat", type, data, strlen(data));
}

/* Read the artifact ID; MORE (such as ",\"offset\":3") are further arguments. */
static struct json_object *get(struct client *c, const char *id,
			       const char *more)
{
	return client_tool(c, "get_artifact", "{\"artifactId\":\"%s\"%s}", id,
			   more);
}

static void piece(const char *id, const char *more, const char *n,
		  const char *complete, const char *name)
{
	struct json_object *answer = get(&ada, id, more);

	is_str(tool_at(answer, "/bytesReturned"), n,
	       "a piece %s has as many bytes as may be given", name);
	is_str(tool_at(answer, "/complete"), complete,
	       "a piece %s says whether it is the last", name);
}

TEST(whole)
{
	struct json_object *answer;
	const char *id;

	begin();
	id = keep("text/plain", "hello");
	answer = get(&ada, id, "");
	is_str(at(answer, "/result/structuredContent/data"),
	       "aGVsbG8=", "the bytes of an artifact are given in base64");
	is_str(at(answer, "/result/structuredContent/artifactId"), id,
	       "an answer has the id of the artifact");
	is_str(at(answer, "/result/structuredContent/name"), "a.dat",
	       "an answer has the name of the artifact");
	is_str(at(answer, "/result/structuredContent/mimeType"), "text/plain",
	       "an answer has the type of the artifact");
	is_str(at(answer, "/result/structuredContent/size"), "5",
	       "an answer has the size of the artifact");
	is_str(tool_at(answer, "/complete"), "true",
	       "an artifact that fits is given whole");
	is_str(at(answer, "/result/content/1/text"), "hello",
	       "a text is shown as text beside the facts");
	answer = get(&ada, keep("text/plain", ""), "");
	is_str(tool_at(answer, "/bytesReturned"), "0",
	       "an artifact without bytes is given");
	is_str(tool_at(answer, "/complete"), "true",
	       "an artifact without bytes is complete");
	end();
}

TEST(forms)
{
	struct json_object *answer;

	begin();
	answer = get(&ada, keep("image/png", PNG), "");
	is_str(at(answer, "/result/content/1/type"), "image",
	       "a picture is shown as a picture");
	is_str(at(answer, "/result/content/1/mimeType"), "image/png",
	       "a picture is shown with its type");
	answer = get(&ada, keep("image/png", "no picture"), "");
	is_str(at(answer, "/result/content/1"), NULL,
	       "bytes that only claim to be a picture are not shown as one");
	answer = get(&ada, keep("image/png", "\x89PNG"), "");
	is_str(at(answer, "/result/content/1"), NULL,
	       "a picture that is shorter than its mark is not shown as one");
	answer = get(&ada, keep("image/webp", "RIFF....WEBP"), "");
	is_str(at(answer, "/result/content/1/type"), "image",
	       "a picture is known by a mark behind its beginning");
	answer = get(&ada, keep("application/json", "{}"), "");
	is_str(at(answer, "/result/content/1/text"), "{}",
	       "JSON is shown as text");
	answer = get(&ada, keep("image/svg+xml", "<svg/>"), "");
	is_str(at(answer, "/result/content/1/text"), "<svg/>",
	       "a type that ends with +xml is shown as text");
	answer = get(&ada, keep("application/a+json; charset=x", "[]"), "");
	is_str(at(answer, "/result/content/1/text"), "[]",
	       "a type that ends with +json is text, whatever its parameters");
	answer = get(&ada, keep("application/octet-stream", "hello"), "");
	is_str(at(answer, "/result/content/1"), NULL,
	       "bytes of an unknown type are not shown as text");
	answer = get(&ada, keep("text/plain", "\xff\xfe"), "");
	is_str(at(answer, "/result/content/1"), NULL,
	       "a text that is no UTF-8 is not shown as text");
	answer = get(
	    &ada, server_artifact(server_run(), "a", "text/plain", "a\0b", 3),
	    "");
	is_str(at(answer, "/result/content/1"), NULL,
	       "a text with a NUL is not shown as text");
	is_str(at(answer, "/result/structuredContent/data"), "YQBi",
	       "a text with a NUL is given whole in base64");
	end();
}

TEST(pieces)
{
	const char *id;

	begin();
	id = keep("application/octet-stream", "0123456789abcdefXYZ");
	piece(id, "", "16", "false", "without a limit");
	piece(id, ",\"offset\":16", "3", "true", "at the end");
	piece(id, ",\"offset\":19", "0", "true", "behind the last byte");
	piece(id, ",\"offset\":2,\"limit\":5", "5", "false",
	      "a piece with a limit");
	piece(id, ",\"offset\":3,\"limit\":16", "16", "true",
	      "a piece with the largest limit");
	is_str(at(get(&ada, id, ",\"offset\":16"),
		  "/result/structuredContent/data"),
	       "WFla", "a piece has the bytes from its offset on");
	is_str(at(get(&ada, id, ",\"offset\":16"),
		  "/result/structuredContent/offset"),
	       "16", "a piece has its offset");
	end();
}

TEST(pieces_of_text_end_between_characters)
{
	const char *id;

	begin();
	/* the 16th byte is the first of a character of two */
	id = keep("text/plain", "0123456789abcde\xc3\xa4xyz");
	piece(id, "", "15", "false", "of a text that would cut a character");
	piece(id, ",\"limit\":16", "16", "false",
	      "of a text with a limit of the client");
	piece(id, ",\"offset\":15", "5", "true",
	      "of a text from the character on");
	id = keep("text/plain", "0123456789abcd\xc3\xa4xyz");
	piece(id, "", "16", "false", "of a text that ends with a character");
	end();
}

TEST(a_picture_is_given_beyond_the_limit)
{
	struct json_object *answer;
	const char *id;

	begin();
	id = keep("image/gif", "GIF89a 0123456789 0123456789");
	answer = get(&ada, id, "");
	is_str(tool_at(answer, "/complete"), "true",
	       "a picture is given whole, beyond max_artifact_inline_bytes");
	is_str(at(answer, "/result/content/1/type"), "image",
	       "a picture beyond max_artifact_inline_bytes is shown");
	answer = get(&ada, id, ",\"limit\":16");
	is_str(tool_at(answer, "/bytesReturned"), "16",
	       "a picture is cut by the limit of a client");
	is_str(at(answer, "/result/content/1"), NULL,
	       "a piece of a picture is not shown");
	end();
}

TEST(sounds)
{
	struct json_object *answer;
	const char *id;

	begin();
	id = keep("audio/x-wav", "RIFF....WAVE 0123456789");
	answer = get(&ada, id, "");
	is_str(at(answer, "/result/content/1/type"), "audio",
	       "a sound is given whole, as a sound");
	is_str(at(answer, "/result/content/1/mimeType"), "audio/wav",
	       "a sound has the type of its bytes");
	answer = get(&old, id, "");
	is_str(at(answer, "/result/content/1/text"),
	       "[audio, audio/wav: this client's revision of MCP has no audio]",
	       "a revision without sounds is told of one");
	answer = get(&ada, keep("audio/mpeg", "no sound"), "");
	is_str(at(answer, "/result/content/1"), NULL,
	       "bytes that only claim to be a sound are not given as one");
	end();
}

TEST(refused)
{
	struct json_object *answer;
	const char *id;

	begin();
	id = keep("text/plain", "hello");
	answer = get(&ada, id, ",\"offset\":6");
	is_str(tool_at(answer, "/details/pointer"), "/offset",
	       "an offset behind the end of an artifact is refused");
	is_str(tool_at(answer, "/details/expected"), "at most 5",
	       "an offset behind the end is told the size");
	answer = get(&ada, id, ",\"limit\":17");
	is_str(tool_at(answer, "/details/pointer"), "/limit",
	       "a limit beyond max_artifact_inline_bytes is refused");
	is_str(tool_at(answer, "/details/expected"), "at most 16",
	       "a limit that is too large is told the largest");
	is_str(tool_at(get(&bob, id, ""), "/errorCode"), "ARTIFACT_NOT_FOUND",
	       "another requestor's artifact is not found");
	is_int((int64_t)bob.session.requestor->lookups_failed, 1,
	       "a look-up of another requestor's artifact is counted");
	is_str(tool_at(get(&ada, "art_none", ""), "/errorCode"),
	       "ARTIFACT_NOT_FOUND", "an unknown artifact is not found");
	end();
}

TEST(by_uri)
{
	char uri[160];
	const char *id;

	begin();
	id = keep("text/plain", "hello");
	snprintf(uri, sizeof(uri), "paddock://runs/%s/artifacts/%s",
		 server_run()->id, id);
	is_str(tool_at(get(&ada, uri, ""), "/artifactId"), id,
	       "an artifact is found by the URI of its resource");
	snprintf(uri, sizeof(uri), "paddock://runs/%s", server_run()->id);
	is_str(tool_at(get(&ada, uri, ""), "/errorCode"), "ARTIFACT_NOT_FOUND",
	       "the URI of another resource names no artifact");
	end();
}

TEST(expired)
{
	const char *id;

	begin();
	id = keep("text/plain", "hello");
	store_expire_artifacts(server.context.store, server_run()->id,
			       clock_wall_ms() - 1);
	is_str(tool_at(get(&ada, id, ""), "/errorCode"), "ARTIFACT_EXPIRED",
	       "an artifact that has expired is told from an unknown one");
	end();
}

int main(void)
{
	tap_run();
	return tap_done();
}
