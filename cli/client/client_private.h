/* SPDX-License-Identifier: Apache-2.0 */
/* client_private.h - the members of a connection, for the client_*.c files. */
#ifndef CLI_CLIENT_PRIVATE_H
#define CLI_CLIENT_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/buf.h"
#include "cli/client/client.h"
#include "cli/client/transport.h"
#include "proto/mcp/rpc.h"

/* A response that came while the caller waited for another response. */
struct early {
	TAILQ_ENTRY(early) link;
	struct rpc_msg msg;
};
TAILQ_HEAD(early_list, early);

struct client {
	struct transport link;
	bool is_private;
	bool gone; /* the server has left, and the message was printed */
	struct buf rx, tx;
	size_t scanned; /* bytes at the start of rx that hold no newline */
	int64_t last_id;
	struct early_list early;
	client_progress progress;
	void *progress_arg;
	int64_t progress_id;
	client_log log;
	void *log_arg;
	char *server_version;
	/* requests carry version and capabilities; false: a session */
	bool stateless;
	struct json_object *capabilities; /* declared by requests, or NULL */
	bool updated;			  /* since client_wait_update() */
	int64_t bytes_id; /* the request whose answer bytes follow, or 0 */
	int64_t bytes;	  /* raw bytes that come before the next line */
	/* owned, or NULL: the server's last notification about an upload */
	struct json_object *told;
	bool quiet_end; /* during a greeting: print nothing when it fails */
};

/* Return {name, version} of paddock for greetings. The caller frees it. */
struct json_object *client_info(void);
/*
 * Send a request, or a notification. Take PARAMS. client_request() returns the
 * request's id.
 */
int64_t client_request(struct client *c, const char *method,
		       struct json_object *params);
void client_notify(struct client *c, const char *method,
		   struct json_object *params);
/*
 * Poll once, then read and write as far as possible. 0, or as client_wait(). MS
 * below 0: no time limit.
 */
int client_pump(struct client *c, int ms);
/* Do as client_wait(), but return the message undecoded. */
int client_wait_message(struct client *c, int64_t id, int ms,
			struct rpc_msg *out);

#endif
