/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_config.c - "paddock client-config": prints the entry that an MCP
 * client's own configuration needs to start paddockd or to reach a daemon, or
 * merges it into the client's file. main.c's table calls it. CLI_USAGE for an
 * invalid URL, a client whose file takes no URL, and for missing folders; a file
 * that is not plain JSON, as with comments in it, is refused and stays as it is.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "cli/terminal/cli.h"
#include "cli/client/transport.h"
#include "cli/terminal/json_io.h"
#include "cli/terminal/terminal.h"
#include "proto/json/json_pack.h"

#define ENTRY_NAME "paddock"
#define NEW_MODE 0644 /* of a new file, less the umask */

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

static struct json_object *local(const struct cli *cli, bool typed)
{
	struct json_object *o, *args = json_object_new_array();
	char *program = transport_program();

	if (program == NULL)
		message_print(
		    "paddockd is not found here; its name alone is written");
	json_object_array_add(args, json_object_new_string("--stdio"));
	add_path(args, "--config", cli->config);
	add_path(args, "--state-dir", cli->state_dir);
	for (size_t i = 0; i < cli->templates.n; i++)
		add_path(args, "--templates", cli->templates.item[i]);
	o = json_pack("type?s command:s args:o", typed ? "stdio" : NULL,
		      program != NULL ? program : "paddockd", args);
	free(program);
	return o;
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
	if (flags.url != NULL && strncmp(flags.url, "http://", 7) != 0 &&
	    strncmp(flags.url, "https://", 8) != 0)
		return message_fail(
		    false,
		    "--url is \"%s\"; it has to begin with http:// or https://, as "
		    "http://127.0.0.1:8080/mcp does",
		    flags.url);
	if (flags.url != NULL)
		return true;
	/* a client that cannot start a server seldom says why */
	if (cli->config != NULL && access(cli->config, F_OK) != 0)
		return message_fail(false, "%s, which --config names: %s",
				    cli->config, strerror(errno));
	for (size_t k = 0; k < cli->templates.n; k++)
		if (access(cli->templates.item[k], F_OK) != 0)
			return message_fail(
			    false, "%s, which --templates names: %s",
			    cli->templates.item[k], strerror(errno));
	return true;
}

/* ---- --write: into the client's own file ---- */

/*
 * Return the member KEY of ROOT, made if missing; NULL: ROOT or KEY is no
 * object, which was printed.
 */
static struct json_object *servers_of(struct json_object *root,
				      const char *path, const char *key)
{
	struct json_object *servers;

	if (!json_object_is_type(root, json_type_object)) {
		message_print("%s is left as it is: it has to be an object",
			      path);
		return NULL;
	}
	if (!json_object_object_get_ex(root, key, &servers)) {
		servers = json_object_new_object();
		json_object_object_add(root, key, servers);
	}
	if (json_object_is_type(servers, json_type_object))
		return servers;
	message_print("%s is left as it is: \"%s\" in it has to be an object",
		      path, key);
	return NULL;
}

/* Write TEXT to FD, with mode and owner of ST if THERE. 0 or -errno. */
static int fill_config(int fd, const struct stat *st, bool there,
		       const char *text, size_t len)
{
	mode_t mask = umask(0);

	umask(mask);
	if (there && (st->st_uid != geteuid() || st->st_gid != getegid()) &&
	    fchown(fd, st->st_uid, st->st_gid) < 0)
		return -errno;
	if (fchmod(fd, there ? st->st_mode & 07777 : NEW_MODE & ~mask) < 0)
		return -errno;
	for (size_t done = 0; done < len;) {
		ssize_t n = write(fd, text + done, len - done);

		if (n < 0 && errno != EINTR)
			return -errno;
		done += n > 0 ? (size_t)n : 0;
	}
	return fsync(fd) < 0 ? -errno : 0;
}

/* Replace the file PATH by TEXT in one step. 0 or -errno. */
static int replace_config(const char *path, const struct stat *st, bool there,
			  const char *text, size_t len)
{
	char *temporary = xasprintf("%s.XXXXXX", path);
	int fd = mkostemp(temporary, O_CLOEXEC), rc = fd < 0 ? -errno : 0;

	if (fd >= 0) {
		rc = fill_config(fd, st, there, text, len);
		if (close(fd) < 0 && rc == 0)
			rc = -errno;
		if (rc == 0 && rename(temporary, path) < 0)
			rc = -errno;
		if (rc < 0)
			unlink(temporary);
	}
	free(temporary);
	return rc;
}

static void report_written(const char *path, struct json_object *servers,
			   bool again)
{
	struct buf others = {0};

	json_object_object_foreach(servers, name, value) {
		(void)value;
		if (strcmp(name, ENTRY_NAME) != 0)
			buf_printf(&others, "%s%s",
				   buf_len(&others) > 0 ? ", " : "", name);
	}
	buf_add(&others, "", 1);
	message_more(
	    "%s " ENTRY_NAME " in %s%s%s", again ? "replaced" : "wrote", path,
	    buf_len(&others) > 1 ? ", beside " : "", buf_data(&others));
	buf_fini(&others);
}

static int merge_config(const char *path, const struct stat *st, bool there,
			const char *key, struct json_object *entry, bool quiet)
{
	struct json_object *root = json_object_new_object(), *servers;
	struct buf text = {0};
	bool again;
	int rc = 0;

	if (there && st->st_size > 0) {
		json_object_put(root);
		if (json_file_read(&root, path) < 0) {
			message_more("  hint: %s is left as it is; without "
				     "--write what belongs there is printed",
				     path);
			return CLI_USAGE;
		}
	}
	servers = servers_of(root, path, key);
	if (servers == NULL) {
		json_object_put(root);
		return CLI_USAGE;
	}
	again = json_object_object_get_ex(servers, ENTRY_NAME, NULL);
	json_object_object_add(servers, ENTRY_NAME, json_object_get(entry));
	json_pretty_add(&text, root);
	buf_add_str(&text, "\n");
	rc = replace_config(path, st, there, buf_data(&text), buf_len(&text));
	if (rc < 0)
		rc = message_fail(CLI_TROUBLE, "%s is left as it is: %s", path,
				  strerror(-rc));
	else if (!quiet)
		report_written(path, servers, again);
	buf_fini(&text);
	json_object_put(root);
	return rc;
}

/*
 * Put ENTRY (lent) as "paddock" under KEY of the JSON file PATH, creating the
 * file if need be. An entry of that name is replaced, everything else stays.
 * The file is replaced whole and keeps its mode and owner. 0, or CLI_USAGE for
 * a file of another shape, CLI_TROUBLE when writing fails; the file is then as
 * before, and the reason printed. Unless QUIET a line says what was done.
 */
static int write_entry(const char *path, const char *key,
		       struct json_object *entry, bool quiet)
{
	struct stat st;
	bool there = stat(path, &st) == 0;
	char *real;
	int rc;

	if (!there && errno != ENOENT)
		return message_fail(CLI_TROUBLE, "%s: %s", path,
				    strerror(errno));
	if (there && !S_ISREG(st.st_mode))
		return message_fail(
		    CLI_USAGE, "%s, which --write names, is no file", path);
	real = there ? realpath(path, NULL) : NULL; /* a link stays a link */
	rc = merge_config(real != NULL ? real : path, &st, there, key, entry,
			  quiet);
	free(real);
	return rc;
}

/* ---- the command ---- */

static int config(const struct cli *cli, int n, const char *const *arg)
{
	int i = find_client(flags.client);
	struct json_object *o, *servers, *entry;
	int rc;

	(void)n, (void)arg;
	if (i < 0 || !are_good(cli, i))
		return CLI_USAGE;
	if (flags.url == NULL)
		entry = local(cli, clients[i].typed);
	else /* without --token-env the user adds a token */
		entry = json_pack("type?s url:s headers?o",
				  clients[i].typed ? "http" : NULL, flags.url,
				  flags.token_env != NULL
				      ? headers(i, flags.token_env)
				      : NULL);
	if (flags.write != NULL) {
		rc =
		    write_entry(flags.write, clients[i].key, entry, cli->quiet);
		json_object_put(entry);
		return rc;
	}
	servers = json_object_new_object();
	json_object_object_add(servers, ENTRY_NAME, entry);
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
