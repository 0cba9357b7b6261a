/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_config.c - "paddock client-config": prints the entry that an MCP
 * client's own configuration needs to start paddockd or to reach a daemon, or
 * has client_config_write.c write it. main.c's table calls it. CLI_USAGE for an
 * invalid URL, a client whose file takes no URL, and for missing folders.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/terminal/cli.h"
#include "cli/server/client_config_write.h"
#include "cli/client/transport.h"
#include "cli/terminal/json_io.h"
#include "cli/terminal/terminal.h"
#include "proto/json/json_pack.h"

static struct {
	const char *client;
	const char *url;
	const char *token_env;
	const char *write;
} flags;

static const struct opt opts[] = {
    {"client", 0, OPT_TEXT, &flags.client, "CLIENT",
     "claude-code, claude-desktop, vscode or cursor"},
    {"url", 0, OPT_TEXT, &flags.url, "URL",
     "a daemon's, such as http://127.0.0.1:8080/mcp"},
    {"token-env", 0, OPT_TEXT, &flags.token_env, "NAME",
     "with --url: the variable of the client's environment that has the token"},
    {"write", 0, OPT_TEXT, &flags.write, "FILE",
     "write it into this file of the client's, beside what is there"},
};

static const struct {
	const char *name;
	const char *key;      /* under which the client's servers stand */
	bool typed;	      /* an entry has a type: "stdio" or "http" */
	bool no_url;	      /* the client's file has no entries with a URL */
	const char *variable; /* how the file refers to a variable */
	const char *file;
} clients[] = {
    {"claude-code", "mcpServers", true, false, "${%s}",
     ".mcp.json of a project"},
    {"claude-desktop", "mcpServers", false, true, NULL,
     "claude_desktop_config.json"},
    {"vscode", "servers", true, false, "${env:%s}", ".vscode/mcp.json"},
    {"cursor", "mcpServers", false, false, "${env:%s}", "~/.cursor/mcp.json"},
};

/* Return the index of NAME in clients[]; -1: no name was given. */
static int find_client(const char *name)
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

/* Paths are made absolute, since a client starts the server from any folder. */
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

/* Return the headers for client I with the token of the variable NAME. */
static struct json_object *headers(int i, const char *name)
{
	const char *before = strchr(clients[i].variable, '%');
	char *text =
	    xasprintf("Bearer %.*s%s%s", (int)(before - clients[i].variable),
		      clients[i].variable, name, before + 2);
	struct json_object *o = json_pack("Authorization:s", text);

	free(text);
	return o;
}

/* Return the entry for --url; without --token-env the user adds a token. */
static struct json_object *remote(int i)
{
	return json_pack("type?s url:s headers?o",
			 clients[i].typed ? "http" : NULL, flags.url,
			 flags.token_env != NULL ? headers(i, flags.token_env)
						 : NULL);
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

/*
 * Refuse missing files and folders here: a client that cannot start a server
 * seldom says why.
 */
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

static bool is_variable(const char *name)
{
	size_t n = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				"abcdefghijklmnopqrstuvwxyz0123456789_");

	if (n > 0 && name[n] == '\0' && strchr("0123456789", name[0]) == NULL)
		return true;
	return message_fail(
	    false,
	    "--token-env is \"%.64s\"; it has to be the name of a variable, of "
	    "letters, digits and _, such as PADDOCK_TOKEN, and not the token",
	    name);
}

/* Do the flags fit each other and the client I? If not, print why. */
static bool are_good(const struct cli *cli, int i)
{
	if (flags.url != NULL && clients[i].no_url)
		return message_fail(
		    false,
		    "the configuration file of %s takes no URL; add it there "
		    "as a connector, in its settings",
		    clients[i].name);
	if (flags.token_env != NULL && flags.url == NULL)
		return message_fail(
		    false, "--token-env goes with --url: a server that the "
			   "client starts itself wants no token");
	if (flags.token_env != NULL && !is_variable(flags.token_env))
		return false;
	return flags.url != NULL ? is_url(flags.url) : are_there(cli);
}

static int config(const struct cli *cli, int n, const char *const *arg)
{
	int i = find_client(flags.client);
	struct json_object *o, *servers, *entry;
	int rc;

	(void)n, (void)arg;
	if (i < 0 || !are_good(cli, i))
		return CLI_USAGE;
	entry = flags.url != NULL ? remote(i) : local(cli, clients[i].typed);
	if (flags.write != NULL) {
		rc = client_config_write(flags.write, clients[i].key, entry,
					 cli->quiet);
		json_object_put(entry);
		return rc;
	}
	servers = json_object_new_object();
	json_object_object_add(servers, CLIENT_CONFIG_NAME, entry);
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
    .text =
	"The JSON is printed; with --write it goes into the client's own "
	"file, whose other\nservers stay. --templates, --state-dir and "
	"--config are taken over. With --url the\nclient calls a daemon "
	"over HTTP; when that wants a token, --token-env names the\nvariable "
	"in which the client finds it, so that no file has it.\n",
    .opts = opts,
    .n_opts = ARRAY_LEN(opts),
    .run = config,
};
