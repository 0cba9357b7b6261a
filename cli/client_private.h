/* SPDX-License-Identifier: Apache-2.0 */
/* client_private.h - what client.c, client_call.c and client_open.c know of a connection. */
#ifndef CLI_CLIENT_PRIVATE_H
#define CLI_CLIENT_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/buf.h"
#include "cli/client.h"
#include "cli/transport.h"
#include "proto/mcp/rpc.h"

/* An answer that came while another was waited for. */
struct early {
	TAILQ_ENTRY(early) link;
	struct rpc_msg msg;
};
TAILQ_HEAD(early_list, early);

struct client {
	struct transport link;
	bool is_private;
	bool gone; /* and that has been said */
	struct buf rx, tx;
	size_t scanned; /* bytes of rx without a newline */
	int64_t last_id;
	struct early_list early;
	client_progress progress;
	void *progress_arg;
	int64_t progress_id;
	char *server_version;
	/* its terms go with each request; else it was told them once */
	bool stateless;
	struct json_object *capabilities; /* that requests declare, or NULL */
	bool updated;			  /* since client_wait_update() */
	int64_t bytes_id; /* of a request whose answer bytes follow; or 0 */
	int64_t bytes;	  /* of these, that are to come before any line */
	/* what the server said of a file that it was sent; owned, or NULL */
	struct json_object *told;
	bool quiet_end; /* a greeting is tried: say nothing when it fails */
};

/* {name, version}: what paddock says of itself; the caller's. */
struct json_object *client_info(void);
/* Send a request, whose id this is, or a notification; PARAMS is taken. */
int64_t client_request(struct client *c, const char *method,
		       struct json_object *params);
void client_notify(struct client *c, const char *method,
		   struct json_object *params);
/* Move bytes, once: 0, or as client_wait(). */
int client_pump(struct client *c, int ms);
/* client_wait(), for a message as it is. */
int client_wait_message(struct client *c, int64_t id, int ms,
			struct rpc_msg *out);

#endif
