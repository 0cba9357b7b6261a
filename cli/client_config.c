/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_config.c - "paddock client-config": the entry that an MCP client's own
 * configuration needs to start paddockd or to reach a daemon. main.c's table
 * calls it. CLI_USAGE for a URL that is none or that the client's file cannot
 * hold, and for folders that are not there; it only prints.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "cli/transport.h"
#include "cli/json_io.h"
#include "cli/terminal.h"
#include "proto/json/json_pack.h"

static struct {
	const char *client;
	const char *url;
} flags;

static const struct opt opts[] = {
    {"client", 0, OPT_TEXT, &flags.client, "CLIENT",
     "claude-code, claude-desktop, vscode or cursor"},
    {"url", 0, OPT_TEXT, &flags.url, "URL",
     "a daemon's, such as http://127.0.0.1:8080/mcp"},
};

static const struct {
	const char *name;
	const char *key; /* that its servers stand under */
	bool typed;	 /* a server says that it is "stdio" or "http" */
	bool no_url;	 /* its file knows programs alone */
	const char *file;
} clients[] = {
    {"claude-code", "mcpServers", true, false, ".mcp.json of a project"},
    {"claude-desktop", "mcpServers", false, true, "claude_desktop_config.json"},
    {"vscode", "servers", true, false, ".vscode/mcp.json"},
    {"cursor", "mcpServers", false, false, "~/.cursor/mcp.json"},
};

/* Which of clients[]; opt.c lets no other name through. */
static int find(const char *name)
{
	if (name == NULL)
		return message_fail(
		    -1,
		    "name the client: --client claude-code, claude-desktop, "
		    "vscode or cursor");
	for (size_t i = 0; i < ARRAY_LEN(clients); i++)
		if (strcmp(clients[i].name, name) == 0)
			return (int)i;
	return -1;
}

/* A client starts it from anywhere, so that a path has to be absolute. */
static void add_path(struct json_object *args, const char *flag,
		     const char *path)
{
	char *whole;

	if (path == NULL)
		return;
	whole = realpath(path, NULL);
	json_object_array_add(args, json_object_new_string(flag));
	json_object_array_add(
	    args, json_object_new_string(whole != NULL ? whole : path));
	free(whole);
}

static struct json_object *server(const struct cli *cli, bool typed,
				  const char *program)
{
	struct json_object *args = json_object_new_array();

	json_object_array_add(args, json_object_new_string("--stdio"));
	add_path(args, "--config", cli->config);
	add_path(args, "--state-dir", cli->state_dir);
	for (size_t i = 0; i < cli->templates.n; i++)
		add_path(args, "--templates", cli->templates.item[i]);
	return json_pack("type?s command:s args:o", typed ? "stdio" : NULL,
			 program, args);
}

/* The daemon at URL; a token is for its owner to add. */
static struct json_object *remote(bool typed, const char *url)
{
	return json_pack("type?s url:s", typed ? "http" : NULL, url);
}

static struct json_object *local(const struct cli *cli, bool typed)
{
	char *program = transport_program();
	struct json_object *o;

	if (program == NULL)
		message_print(
		    "paddockd is not found here; its name alone is written");
	o = server(cli, typed, program != NULL ? program : "paddockd");
	free(program);
	return o;
}

/* A client that cannot start it seldom says why. */
static bool are_there(const struct cli *cli)
{
	if (cli->config != NULL && access(cli->config, F_OK) != 0)
		return message_fail(false, "%s, which --config names: %s",
				    cli->config, strerror(errno));
	for (size_t i = 0; i < cli->templates.n; i++)
		if (access(cli->templates.item[i], F_OK) != 0)
			return message_fail(
			    false, "%s, which --templates names: %s",
			    cli->templates.item[i], strerror(errno));
	return true;
}

static bool is_url(const char *url)
{
	if (strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0)
		return true;
	return message_fail(
	    false,
	    "--url is \"%s\"; it has to begin with http:// or https://, as "
	    "http://127.0.0.1:8080/mcp does",
	    url);
}

static int config(const struct cli *cli, int n, const char *const *arg)
{
	int i = find(flags.client);
	struct json_object *o, *servers;

	(void)n, (void)arg;
	if (i < 0)
		return CLI_USAGE;
	if (flags.url != NULL && clients[i].no_url)
		return message_fail(
		    CLI_USAGE,
		    "the configuration file of %s takes no URL; add it there "
		    "as a connector, in its settings",
		    clients[i].name);
	if (flags.url != NULL ? !is_url(flags.url) : !are_there(cli))
		return CLI_USAGE;
	servers = json_pack(
	    "paddock:o", flags.url != NULL ? remote(clients[i].typed, flags.url)
					   : local(cli, clients[i].typed));
	o = json_object_new_object();
	json_object_object_add(o, clients[i].key, servers);
	json_pretty_print(o, cli->json);
	if (!cli->quiet)
		message_more("for %s", clients[i].file);
	json_object_put(o);
	return CLI_OK;
}

const struct command cmd_client_config = {
    .name = "client-config",
    .args = "--client CLIENT",
    .summary = "what to write into an MCP client's configuration",
    .text = "Nothing is changed; the JSON is for you to merge. --templates, "
	    "--state-dir and\n--config are taken over. With --url the client "
	    "calls a daemon over HTTP; when that\nwants a token, add "
	    "\"headers\": {\"Authorization\": \"Bearer TOKEN\"}.\n",
    .opts = opts,
    .n_opts = ARRAY_LEN(opts),
    .run = config,
};
