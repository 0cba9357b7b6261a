/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client.h - paddock as an MCP client: newline-delimited JSON-RPC with the
 * daemon, over its socket, or with a private server, over pipes.
 *
 * Protocol: https://modelcontextprotocol.io/specification/2026-07-28, or
 * 2025-11-25 with a server that lacks 2026-07-28.
 */
#ifndef CLI_CLIENT_H
#define CLI_CLIENT_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "cli/client/tool_result.h"
#include "cli/terminal/cli.h"

struct client; /* opaque */

/*
 * Connect and greet. The server is the socket of CLI; else, unless CLI has
 * flags for a private server, the socket of PADDOCK_SOCKET, this user's daemon,
 * or root's; else a private server, which ends with the client. NULL: failed,
 * the reason was printed.
 */
struct client *client_open(const struct cli *cli);
/*
 * Connect to a daemon as client_open() does, but never start a private server.
 * The daemon has MS to answer. NULL: no daemon answers; nothing is printed,
 * unless a daemon refuses the greeting.
 */
struct client *client_open_daemon(const struct cli *cli, int ms);
/*
 * Start a private server, whether there is a daemon or not. NULL: failed, the
 * reason was printed.
 */
struct client *client_open_private(const struct cli *cli);
/* Free C. Ends a private server and waits for it. NULL is fine. */
void client_close(struct client *c);

bool client_is_private(const struct client *c);
/* Return the version that the server gave in its greeting; "" for none. */
const char *client_server_version(const struct client *c);
/* Return the socket's path, or the path of the private server's program. */
const char *client_peer(const struct client *c);

/* Receives progress of the call ID, which is its progressToken. */
typedef void (*client_progress)(void *arg, uint64_t done, uint64_t total,
				const char *message);
void client_on_progress(struct client *c, int64_t id, client_progress fn,
			void *arg);

/* Receives a line that the run of a call has logged; LEVEL is a word of MCP. */
typedef void (*client_log)(void *arg, const char *level, const char *text);
/* Have the log of each further call's run come to FN while the run goes on. */
void client_on_log(struct client *c, client_log fn, void *arg);

/*
 * Set the client capabilities that each further request declares; takes
 * CAPABILITIES, NULL for none. Effective only with a server of 2026-07-28: a
 * session of 2025-11-25 has declared none in initialize.
 */
void client_declare(struct client *c, struct json_object *capabilities);

#define CLIENT_FOREVER (-1)

/*
 * Send a call of TOOL; takes ARGS. Returns the request's id, which is also the
 * progressToken.
 */
int64_t client_send_tool(struct client *c, const char *tool,
			 struct json_object *args);
/*
 * Repeat a call with RESPONSES (taken) to the input requests of its answer, and
 * the STATE of that answer. Returns the new id.
 */
int64_t client_send_answers(struct client *c, const char *tool,
			    struct json_object *args, const char *state,
			    struct json_object *responses);

/* Send notifications/cancelled for the request ID. */
void client_cancel(struct client *c, int64_t id);
/*
 * Wait for the answer to ID. 0 and A; -ETIMEDOUT after MS; -EINTR after a
 * signal, which signals_noted() returns; -EPIPE when the server has gone, after
 * a message on stderr.
 */
int client_wait(struct client *c, int64_t id, int ms, struct tool_result *a);

/*
 * Have client_wait_update() report changes of N resources, if the server
 * supports subscriptions. 0, or as client_wait().
 */
int client_subscribe(struct client *c, const char *const *uris, size_t n);
/*
 * Wait at most MS until a subscribed resource has changed since the last call.
 * 0, or as client_wait().
 */
int client_wait_update(struct client *c, int ms);
/* Let MS pass, handling messages. 0, or as client_wait(). */
int client_pause(struct client *c, int64_t ms);
/*
 * Append the text of the resource URI from byte FROM on to OUT, read in parts:
 * a server sends no message beyond its max_answer_bytes. 0 and *A, the last
 * answer: good, or the refusal; or -errno: the server is gone. The caller frees
 * *A.
 */
int client_read_text(struct client *c, const char *uri, size_t from,
		     struct buf *out, struct tool_result *a);
/*
 * Return after how many ms to ask again when A is the refusal RATE_LIMITED; 0:
 * A is another answer.
 */
int64_t client_limited(const struct tool_result *a);
#define CLIENT_PATIENCE_MS 60000 /* for how long calls are repeated */
/*
 * If A is RATE_LIMITED, and UNTIL_MS (monotonic) has not passed, free A, wait
 * as long as A says, and return 1: the caller asks again. 0: A is the answer;
 * or as client_wait().
 */
int client_ask_again(struct client *c, int64_t until_ms, struct tool_result *a);

/*
 * Call TOOL (takes ARGS) and wait for the answer; after RATE_LIMITED ask again
 * for up to CLIENT_PATIENCE_MS. 0, also for a refusal; else the exit status:
 * the server has gone, or a signal came.
 */
int client_tool(struct client *c, const char *tool, struct json_object *args,
		struct tool_result *a);

/*
 * Do as client_tool() for METHOD, which is no tool: A's value is the whole
 * result. Takes PARAMS.
 */
int client_method(struct client *c, const char *method,
		  struct json_object *params, struct tool_result *a);

/*
 * Return the exit status after NULL, -EPIPE or -EINTR: the signal's, CLI_USAGE
 * when flags or inputs were at fault, or CLI_TROUBLE.
 */
int client_trouble(void);
/* Did the server leave because a message was longer than it accepts? */
bool client_sent_too_much(void);

#endif
