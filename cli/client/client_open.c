/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_open.c - opens and closes connections: chooses the server, greets it,
 * and ends a private server. client.c has the messages in between. When no
 * connection can be made the reason is printed, but not by
 * client_open_daemon().
 */
#include "cli/client/client_private.h"

#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/signals.h"
#include "proto/json/json_pack.h"
#include "proto/mcp/mcp_envelope.h"

#define SOCKET_VARIABLE "PADDOCK_SOCKET"
#define GREET_MS 10000 /* for a daemon; a private server may start slowly */

/*
 * Send server/discover (2026-07-28) or initialize (2025-11-25) and wait for the
 * answer in *M; after RATE_LIMITED wait and ask again. 0 or -errno.
 */
static int exchange_greetings(struct client *c, int ms, struct rpc_msg *m)
{
	int64_t id, until_ms = clock_mono_ms() + CLIENT_PATIENCE_MS;
	int rc;

	do {
		struct tool_result a = {.good = true};

		if (c->stateless)
			id = client_request(c, "server/discover",
					    json_object_new_object());
		else
			id = client_request(
			    c, "initialize",
			    json_pack(
				"protocolVersion:s capabilities:o clientInfo:o",
				mcp_revision_name(MCP_LATEST_SESSION),
				json_object_new_object(), client_info()));
		rc = client_wait_message(c, id, ms, m);
		if (rc < 0)
			return rc;
		if (m->error != NULL)
			tool_result_read(&a, m);
		rc = client_ask_again(c, until_ms, &a);
		tool_result_fini(&a);
		if (rc != 0)
			rpc_fini(m);
	} while (rc > 0);
	return rc;
}

/*
 * Does the answer M support 2026-07-28, where each request carries version and
 * capabilities?
 */
static bool is_stateless(const struct rpc_msg *m)
{
	struct json_object *all = json_member(m->result, "supportedVersions");

	for (size_t i = 0; i < json_length(all); i++)
		if (mcp_revision_of(json_object_get_string(
			json_object_array_get_idx(all, i))) == MCP_LATEST)
			return true;
	return false;
}

static int greet_server(struct client *c, int ms)
{
	struct json_object *server;
	const char *version;
	struct rpc_msg m;
	int rc;

	c->stateless = true;
	rc = exchange_greetings(c, ms, &m);
	if (rc == 0 && !is_stateless(&m)) {
		rpc_fini(&m);
		c->stateless = false;
		rc = exchange_greetings(c, ms, &m);
	}
	if (rc < 0)
		return rc;
	server = c->stateless ? json_member(json_member(m.result, "_meta"),
					    MCP_META_SERVER)
			      : json_member(m.result, "serverInfo");
	version = json_member_str(server, "version");
	if (version != NULL)
		c->server_version = xstrdup(version);
	if (m.error != NULL) {
		message_print("the server at %s refuses to talk: %s",
			      c->link.peer,
			      json_member_str(m.error, "message"));
		rc = -EPROTO;
	}
	rpc_fini(&m);
	if (!c->stateless)
		client_notify(c, "notifications/initialized", NULL);
	return rc;
}

static struct client *client_new(void)
{
	struct client *c = xcalloc(1, sizeof(*c));

	TAILQ_INIT(&c->early);
	c->link = (struct transport){
	    .in = -1, .out = -1, .pid = -1, .pidfd = -1, .log = -1};
	return c;
}

/* Connect to PATH and greet. NULL: no answer; *ERRMSG is then -errno. */
static struct client *open_socket(const char *path, int ms, int *errmsg)
{
	struct client *c = client_new();

	*errmsg = transport_connect(&c->link, path);
	c->quiet_end = true;
	if (*errmsg == 0)
		*errmsg = greet_server(c, ms);
	c->quiet_end = false;
	if (*errmsg == 0)
		return c;
	client_close(c);
	return NULL;
}

struct client *client_open_private(const struct cli *cli)
{
	struct client *c = client_new();
	char errmsg[512];

	signals_watch();
	if (transport_spawn(&c->link, cli, errmsg, sizeof(errmsg)) < 0) {
		message_print("%s", errmsg);
		client_close(c);
		return NULL;
	}
	c->is_private = true;
	if (greet_server(c, CLIENT_FOREVER) == 0)
		return c;
	client_close(c);
	return NULL;
}

/* Connect to the server that FLAG or the environment names, and to no other. */
static struct client *open_named(const char *path, const char *flag)
{
	int errmsg = 0;
	struct client *c = open_socket(path, GREET_MS, &errmsg);

	if (c != NULL || errmsg == -EINTR)
		return c;
	message_print("no server answers at %s%s: %s", path,
		      flag != NULL ? "" : ", which " SOCKET_VARIABLE " names",
		      strerror(-errmsg));
	if (errmsg != -ENOENT && errmsg != -ECONNREFUSED)
		return c;
	if (flag != NULL)
		message_more("  hint: start paddockd with that %s, or leave "
			     "the flag out for a private server",
			     flag);
	else
		message_more("  hint: start paddockd with that --socket, or "
			     "unset " SOCKET_VARIABLE);
	return c;
}

/*
 * Is no daemon at PATH, so that the next path is tried? If a daemon is there
 * but does not answer, print that.
 */
static bool none_there(const struct cli *cli, const char *path, int errmsg)
{
	const struct group *group = NULL;
	struct stat st;

	if (errmsg == -ENOENT || errmsg == -ECONNREFUSED)
		return true;
	if (errmsg == -EINTR || cli->quiet)
		return false;
	if (errmsg != -EACCES || strcmp(path, TRANSPORT_SYSTEM_SOCKET) != 0) {
		message_print("the daemon at %s does not answer (%s); using a "
			      "private server",
			      path, strerror(-errmsg));
		return false;
	}
	/* the group that may write to the socket; NULL: the daemon is root's alone */
	if (stat(path, &st) == 0 && st.st_gid != 0 &&
	    (st.st_mode & S_IWGRP) != 0)
		group = getgrgid(st.st_gid);
	if (group != NULL)
		message_print("the daemon at %s is for the group %s: root can "
			      "add you to it; using a private server",
			      path, group->gr_name);
	return false;
}

static const char *named_by_environment(void)
{
	const char *path = getenv(SOCKET_VARIABLE);

	return path != NULL && *path != '\0' ? path : NULL;
}

struct client *client_open(const struct cli *cli)
{
	struct client *c;
	int errmsg = 0;
	char *own;

	signals_watch();
	if (cli->socket != NULL)
		return open_named(cli->socket, "--socket");
	if (cli->templates.n > 0 || cli->state_dir != NULL ||
	    cli->config != NULL || cli->grants.n > 0)
		return client_open_private(cli);
	if (named_by_environment() != NULL)
		return open_named(named_by_environment(), NULL);
	/* the daemon of the user, else of root */
	own = transport_usual_socket();
	c = open_socket(own, GREET_MS, &errmsg);
	if (c == NULL && none_there(cli, own, errmsg) &&
	    strcmp(own, TRANSPORT_SYSTEM_SOCKET) != 0) {
		c = open_socket(TRANSPORT_SYSTEM_SOCKET, GREET_MS, &errmsg);
		if (c == NULL)
			none_there(cli, TRANSPORT_SYSTEM_SOCKET, errmsg);
	}
	free(own);
	return c != NULL || errmsg == -EINTR ? c : client_open_private(cli);
}

struct client *client_open_daemon(const struct cli *cli, int ms)
{
	const char *named =
	    cli->socket != NULL ? cli->socket : named_by_environment();
	char *path = named != NULL ? xstrdup(named) : transport_usual_socket();
	struct client *c;
	int errmsg;

	signals_watch();
	c = open_socket(path, ms, &errmsg);
	if (c == NULL && named == NULL)
		c = open_socket(TRANSPORT_SYSTEM_SOCKET, ms, &errmsg);
	free(path);
	return c;
}

void client_declare(struct client *c, struct json_object *capabilities)
{
	json_object_put(c->capabilities);
	c->capabilities = capabilities;
}

void client_close(struct client *c)
{
	struct early *e;

	if (c == NULL)
		return;
	transport_end(&c->link);
	transport_fini(&c->link);
	while ((e = TAILQ_FIRST(&c->early)) != NULL) {
		TAILQ_REMOVE(&c->early, e, link);
		rpc_fini(&e->msg);
		free(e);
	}
	buf_fini(&c->rx);
	buf_fini(&c->tx);
	json_object_put(c->capabilities);
	json_object_put(c->told);
	free(c->server_version);
	free(c);
}
