/* SPDX-License-Identifier: Apache-2.0 */
/*
 * template_findings.c - runs paddockd for reports on templates (--check,
 * --print-faults, --print-grants) and reads the output; for "template check",
 * "test", "grant", and for hints when a template does not exist. NULL, or a
 * status, when paddockd cannot be run or the configuration is wrong, the reason
 * printed.
 */
#include "cli/template/template_findings.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "cli/terminal/server_flags.h"
#include "cli/terminal/terminal.h"
#include "cli/client/transport.h"
#include "proto/json/json_pack.h"

#define PREFIX "paddockd: "
#define OUTPUT_MAX ((size_t)64 << 20)
#define ID_CHARS "abcdefghijklmnopqrstuvwxyz0123456789_"

/* Append the content of FD to B, up to a bound, and close FD. */
static void read_findings(int fd, struct buf *b)
{
	if (fd < 0)
		return;
	lseek(fd, 0, SEEK_SET);
	(void)buf_read(b, fd, OUTPUT_MAX);
	close(fd);
}

/*
 * Run ARGV to its end and append the output to OUT and ERR. Returns the exit
 * status (128 + a signal's number), or -errno when ARGV cannot be run.
 */
static int run_daemon(const char *const *argv, struct buf *out, struct buf *err)
{
	int o = memfd_create("out", MFD_CLOEXEC), status = 0;
	int e = memfd_create("err", MFD_CLOEXEC);
	int rc = o < 0 || e < 0 ? -errno : 0;
	posix_spawn_file_actions_t fa;
	pid_t pid = -1;

	if (rc == 0) {
		posix_spawn_file_actions_init(&fa);
		posix_spawn_file_actions_addopen(&fa, STDIN_FILENO, "/dev/null",
						 O_RDONLY, 0);
		posix_spawn_file_actions_adddup2(&fa, o, STDOUT_FILENO);
		posix_spawn_file_actions_adddup2(&fa, e, STDERR_FILENO);
		rc = -posix_spawn(&pid, argv[0], &fa, NULL, (char *const *)argv,
				  environ);
		posix_spawn_file_actions_destroy(&fa);
	}
	if (rc == 0) {
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		rc = WIFEXITED(status) ? WEXITSTATUS(status)
				       : 128 + WTERMSIG(status);
	}
	read_findings(o, out);
	read_findings(e, err);
	return rc;
}

/* Return the lines of B that begin with PREFIX, without PREFIX. */
static struct json_object *lines(struct buf *b, const char *prefix)
{
	size_t skip = strlen(prefix);
	struct json_object *list = json_object_new_array();
	size_t len;
	char *text = buf_take(b, &len), *at = text, *line;

	while ((line = strsep(&at, "\n")) != NULL) {
		if (strncmp(line, prefix, skip) == 0 && line[skip] != '\0')
			json_object_array_add(
			    list, json_object_new_string(line + skip));
	}
	free(text);
	return list;
}

/* Run paddockd with the flag WHAT to its end. 0, or -1 after a message. */
static int ask_checker(const struct cli *cli, const char *what, const char *dir,
		       struct buf *out, struct buf *err)
{
	char *program = transport_program();
	struct opt_list args = {0};
	int rc;

	if (program == NULL)
		return message_fail(
		    -1, "paddockd is neither beside this program nor in PATH");
	opt_list_add(&args, program);
	opt_list_add(&args, what);
	transport_arguments(&args, cli, dir);
	opt_list_add(&args, NULL);
	rc = run_daemon(args.item, out, err);
	if (rc < 0)
		message_print("%s: %s", program, strerror(-rc));
	else if (rc != 0 && rc != EX_CONFIG)
		message_print("%s %s ended with status %d", program, what, rc);
	opt_list_free(&args);
	free(program);
	return rc == 0 || rc == EX_CONFIG ? 0 : -1;
}

struct json_object *template_findings_all(const struct cli *cli,
					  const char *dir)
{
	struct buf out = {0}, err = {0};
	struct json_object *o = NULL;

	if (ask_checker(cli, "--check=templates", dir, &out, &err) == 0)
		o = json_pack("templates:o problems:o", lines(&out, ""),
			      lines(&err, PREFIX));
	buf_fini(&out);
	buf_fini(&err);
	return o;
}

/*
 * Return the folder in LINE, "/srv/t/greet: template.json:1:1: text", if its
 * last part is NAME; else NULL.
 */
static char *folder_of(const char *line, const char *name)
{
	const char *end = strstr(line, ": ");
	size_t n = end != NULL ? (size_t)(end - line) : 0, len;

	len = name != NULL ? strlen(name) : 0;
	return len > 0 && n > len && line[n - len - 1] == '/' &&
		       memcmp(line + n - len, name, len) == 0
		   ? xstrndup(line, n)
		   : NULL;
}

char *template_findings_skipped(const struct cli *cli, const char *name)
{
	char *folder = NULL;
	struct json_object *checked = template_findings_all(cli, NULL);
	struct json_object *list = json_member(checked, "problems");

	json_each(one, list) {
		folder = folder_of(json_object_get_string(one), name);
		if (folder == NULL)
			continue;
		message_print("skipped %s", json_object_get_string(one));
		break;
	}
	json_each(one, folder == NULL ? list : NULL)
		message_print("skipped %s", json_object_get_string(one));
	json_object_put(checked);
	return folder;
}

int template_findings_dir(const char *dir)
{
	struct stat st;
	int rc = stat(dir, &st) < 0 ? errno : S_ISDIR(st.st_mode) ? 0 : ENOTDIR;

	if (rc == ENOTDIR)
		message_print(
		    "%s: this is no folder; name the one that has template.json",
		    dir);
	else if (rc != 0)
		message_print("%s: %s", dir, strerror(rc));
	return rc == 0 ? CLI_OK : rc == ENOENT ? CLI_ABSENT : CLI_USAGE;
}

bool template_findings_is_package(const char *dir)
{
	char *path = xasprintf("%s/template.json", dir);
	bool yes = access(path, F_OK) == 0;

	free(path);
	return yes;
}

void template_findings_none(const char *dir)
{
	message_print("%s: neither it nor a folder in it has a template.json",
		      dir);
}

/*
 * Return the array printed by paddockd with the flag WHAT; NULL: none, the
 * reason printed.
 */
static struct json_object *ask_list(const struct cli *cli, const char *what,
				    const char *dir)
{
	struct buf out = {0}, err = {0};
	struct json_object *o = NULL, *errmsg;

	if (ask_checker(cli, what, dir, &out, &err) == 0 &&
	    (json_parse(&o, buf_data(&out), buf_len(&out), NULL) < 0 ||
	     !json_object_is_type(o, json_type_array))) {
		json_object_put(o);
		o = NULL;
		errmsg = lines(&err, PREFIX); /* of a wrong configuration */
		json_each(one, errmsg)
			message_print("%s", json_object_get_string(one));
		json_object_put(errmsg);
	}
	buf_fini(&out);
	buf_fini(&err);
	return o;
}

struct json_object *template_findings_grants(const struct cli *cli,
					     const char *dir)
{
	return ask_list(cli, "--print-grants", dir);
}

struct json_object *template_findings_errors(const struct cli *cli,
					     const char *dir)
{
	return ask_list(cli, "--print-faults", dir);
}

void template_locate(const struct cli *cli, const char *name, bool private)
{
	char *id = xstrndup(name, strcspn(name, "@"));
	char *broken = private ? template_findings_skipped(cli, id) : NULL;

	if (broken != NULL && server_flags_is_plain(broken))
		message_more(
		    "  hint: \"paddock template check %s\" tells all that "
		    "is wrong with it",
		    broken);
	else if (broken == NULL && cli->templates.n == 0 &&
		 cli->socket == NULL && id[0] != '\0' &&
		 id[strspn(id, ID_CHARS)] == '\0' &&
		 template_findings_is_package(id))
		message_more(/* --templates did not name the folder */
			     "  hint: ./%s is a package: --templates ./%s takes it",
			     id, id);
	free(broken);
	free(id);
}
