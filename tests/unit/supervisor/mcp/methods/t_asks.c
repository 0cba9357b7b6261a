/* SPDX-License-Identifier: Apache-2.0 */
/* t_asks.c - what a prompt asks of a session's client, and when that ends. */
#include "tests/unit/supervisor/run/worker/worker_fixture.h"
#include "tests/unit/supervisor/mcp/input/input_fixture.h"

#include "proto/json/json_pack.h"
#include "supervisor/mcp/methods/asks.h"

static struct template *template;
static struct catalogue_entry offer;

static void give(struct request *req, const struct catalogue_entry *o,
		 struct json_object *answers)
{
	note("{%s given: %s}", o->key, json_text(answers, NULL));
	request_result(req, json_object_new_object());
}

/* A request of REQ's by STREAM, whose prompt asks for A and then B. */
static struct request *asks(struct client *c, const char *stream)
{
	struct request *r = call_of(c, stream, "{}");

	asks_before(r, &offer, give);
	return r;
}

static void in_order(void)
{
	struct client a;

	client_begin(&a, "A");
	asks(&a, "1");
	is_str(noted(), "{A.1: elicitation/create}",
	       "a prompt's question goes by its request's stream");
	says(&a,
	     "\"result\":{\"action\":\"accept\",\"content\":{\"x\":\"y\"}}");
	is_str(noted(), "{A.1: elicitation/create}",
	       "the prompt's second question follows the first answer");
	says(&a, "\"result\":{\"action\":\"accept\",\"content\":{}}");
	is_str(noted(),
	       "{p given: {\"a.x\":\"y\",\"b.x\":\"\"}}{A.1: answered}",
	       "the prompt is given with all answers");
	client_end(&a);
}

static void ends(void)
{
	struct client a;
	struct request *req;

	client_begin(&a, "A");
	req = asks(&a, "1");
	noted();
	event_active(req->timer, EV_TIMEOUT, 1);
	event_base_loop(it.base, EVLOOP_NONBLOCK);
	is_str(noted(), "{A.1: forget: no answer came in time}{A.1: answered}",
	       "a question that is not answered in time ends its request");
	req = asks(&a, "2");
	noted();
	request_drop(req, true);
	is_str(noted(),
	       "{A.2: forget: the request that it belongs to is over}"
	       "{A.2: answered}",
	       "one whose request is cancelled is taken back, while its stream "
	       "is there");
	a.backlogged = true;
	asks(&a, "3");
	is_str(noted(), "{A.3: answered}",
	       "a client which does not read gets no question");
	a.backlogged = false;
	asks(&a, "4");
	noted();
	client_end(&a);
	is_str(noted(), "", "a session may end with a question under way");
}

#define ASK                                                                    \
	"{\"message\":\"m\",\"requestedSchema\":{\"type\":\"object\","         \
	"\"properties\":{\"x\":{\"type\":\"string\"}}}}"

int main(void)
{
	set_up_server();
	template = xcalloc(1, sizeof(*template));
	template->users = 1;
	template->manifest =
	    json_unpack("{\"asks\":{\"a\":" ASK ",\"b\":" ASK "}}",
			strlen("{\"asks\":{\"a\":" ASK ",\"b\":" ASK "}}"));
	offer = (struct catalogue_entry){
	    .template = template, .def = template->manifest, .key = "p"};
	start(false);
	in_order();
	ends();
	stop();
	is_int(template->users, 1, "each lets go of the package");
	template_unref(template);
	runs_free(ctx.runs);
	return done();
}
