/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client.h - paddock as an MCP client: newline-delimited JSON-RPC with the
 * daemon, over its socket, or with a private server, over pipes.
 *
 * https://modelcontextprotocol.io/specification/2026-07-28, or with a server that
 * has not that, 2025-11-25.
 */
#ifndef CLI_CLIENT_H
#define CLI_CLIENT_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/tool_result.h"
#include "cli/cli.h"

struct client; /* opaque */

/*
 * Connect and greet: to CLI's socket; or, where nothing in CLI asks for a private
 * server, to the one that PADDOCK_SOCKET names, to this user's daemon, or root's;
 * else to a private one, which ends with the client. NULL: it has been said why.
 */
struct client *client_open(const struct cli *cli);
/*
 * To the daemon alone, likewise, which has MS to answer. NULL, and nothing is
 * said: there is none.
 */
struct client *client_open_daemon(const struct cli *cli, int ms);
/* Ends the private server and waits for it. NULL is fine. */
void client_close(struct client *c);

bool client_is_private(const struct client *c);
/* The version that the server told of itself; "" when it did not. */
const char *client_server_version(const struct client *c);
/* The socket's path, or the path of the private server's program. */
const char *client_peer(const struct client *c);

/* What the server says of the call whose progressToken is ID. */
typedef void (*client_progress)(void *arg, uint64_t done, uint64_t total,
				const char *message);
void client_on_progress(struct client *c, int64_t id, client_progress fn,
			void *arg);

/*
 * What requests declare from now on that this client can do (taken; NULL: nothing),
 * where each has its own terms: a session has told that nothing is.
 */
void client_declare(struct client *c, struct json_object *capabilities);

#define CLIENT_FOREVER (-1)

/* Call a tool; ARGS is taken. The request's id, which is its progressToken. */
int64_t client_send_tool(struct client *c, const char *tool,
			 struct json_object *args);
/*
 * The same call again with RESPONSES (taken) to what its answer asked for, and the
 * STATE that it gave.
 */
int64_t client_send_answers(struct client *c, const char *tool,
			    struct json_object *args, const char *state,
			    struct json_object *responses);
/* Read the resource URI; the answer's value is its one content. */
int64_t client_send_read(struct client *c, const char *uri);
/* Sends notifications/cancelled for ID. */
void client_cancel(struct client *c, int64_t id);
/*
 * Wait for the answer to ID. 0; -ETIMEDOUT after MS; -EINTR once a signal has
 * come that client_signal() then tells; -EPIPE when the server has gone,
 * which has been said then.
 */
int client_wait(struct client *c, int64_t id, int ms, struct tool_result *a);

/*
 * Be told by client_wait_update() when one of N resources has changed, if the
 * server tells that. 0, or as client_wait().
 */
int client_subscribe(struct client *c, const char *const *uris, size_t n);
/*
 * Until something that was subscribed to has changed since the last time: 0;
 * else as client_wait().
 */
int client_wait_update(struct client *c, int ms);
/* Nothing but time is waited for: 0, or as client_wait(). */
int client_pause(struct client *c, int64_t ms);
/* Asked too often: after how many ms A says to ask again; 0: it is another. */
int64_t client_limited(const struct tool_result *a);
#define CLIENT_PATIENCE_MS 60000 /* how long who asks too often goes on so */
/*
 * Does A say so, and is UNTIL_MS (monotonic) not over yet? Then A is let go, that
 * time is waited, and it is to be asked again: 1. 0: A is the answer; or as
 * client_wait().
 */
int client_ask_again(struct client *c, int64_t until_ms, struct tool_result *a);

/*
 * Both in one; who asks too often waits and asks again, for a while. 0, also
 * for a refusal; else the exit status: the server has gone, or a signal came.
 */
int client_tool(struct client *c, const char *tool, struct json_object *args,
		struct tool_result *a);

/*
 * The same for METHOD, which is no tool: A's value is its whole result. PARAMS is
 * taken.
 */
int client_method(struct client *c, const char *method,
		  struct json_object *params, struct tool_result *a);

/* The exit status after NULL, -EPIPE or -EINTR: CLI_TROUBLE, or the signal's. */
int client_trouble(void);

/* The signal that asks paddock to stop, or 0. A second one ends it at once. */
int client_signal(void);
/* Let client_wait() wait again although that signal came. */
void client_signal_seen(struct client *c);

#endif
