/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_client_elsewhere.c - what of a client's response leaves for the server that asked,
 * and that no large one becomes text for that. The database is none.
 */
#include <json-c/printbuf.h>
#include <string.h>

#include "base/os/log.h"
#include "supervisor/session/client_elsewhere.h"
#include "supervisor/store/store.h"
#include "supervisor/threads/rpc_async.h"
#include "tests/unit/tap.h"

static struct context ctx = {.instance = "inst_one"};
static struct requestor requestor = {.name = (char *)"somebody"};
static int written; /* how often a response became text */

static int write_it(struct json_object *o, struct printbuf *out, int level,
		    int flags)
{
	(void)o, (void)level, (void)flags;
	written++;
	return printbuf_memappend(out, "{}", 2);
}

static void key(void *arg, char *out)
{
	(void)arg;
	memset(out, 'k', SESSION_KEY_SIZE - 1);
	out[SESSION_KEY_SIZE - 1] = '\0';
}

/* How many bytes leave of a response that came as so many, of which TEXT was kept. */
static size_t leaves(size_t bytes, const char *text)
{
	static const struct session_ops ops = {.key = key};
	struct session s = {.ctx = &ctx, .requestor = &requestor, .ops = &ops};
	struct rpc_msg m = {
	    .kind = RPC_RESPONSE,
	    .root = json_object_new_object(),
	    .id = (char *)"\"paddock-inst_22222222222222222222222222-1\"",
	    .bytes = bytes,
	    .inputs = (char *)(uintptr_t)text,
	    .inputs_len = text != NULL ? strlen(text) : 0};
	size_t before = requestor.letter_bytes;

	json_object_set_serializer(m.root, write_it, NULL, NULL);
	client_elsewhere_forward(&s, &m);
	json_object_put(m.root);
	return requestor.letter_bytes - before;
}

TEST(leaves)
{
	log_set_level(LOG_LEVEL_ERROR);
	ctx.store = store_start("/proc/nowhere", ctx.instance);
	store_set_url(ctx.store, "postgresql:///none?host=/proc/nowhere");
	is_int((long long)leaves(100, NULL), 2, "a small response leaves");
	is_int(written, 1, "as text that is made");
	is_int((long long)leaves(RPC_ASYNC_LARGE + 1, "{ }"), 3,
	       "a large one leaves as it came");
	is_int((long long)leaves(RPC_ASYNC_TEXT_MAX + 1, NULL), 0,
	       "one whose text is too long to be kept does not");
	is_int(written, 1, "and of neither text is made to find that");
	store_stop(ctx.store, 0);
	is_int((long long)requestor.letter_bytes, 0,
	       "nothing is on its way when the store has ended");
}
