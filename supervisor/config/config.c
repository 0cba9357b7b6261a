/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.c - holds the operator's decisions in one struct: defaults from
 * config_keys.def, then values from files and flags. main.c and reload.c make
 * the struct, all other modules read it. A value that does not pass is -EINVAL
 * with a sentence that names the file, the key and a value that would pass;
 * then the start, or the reload, ends.
 */
#include "supervisor/config/config.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text/words.h"
#include "base/text/errmsg.h"
#include "supervisor/config/config_private.h"
#include "supervisor/config/config_keys.h"

#define SYSTEM_STATE "/var/lib/paddock"
#define SYSTEM_SOCKET "/run/paddock/paddock.sock"
#define SYSTEM_CONFIG "/etc/paddock/paddock.conf"
#define HOME_OF_NOBODY "/nonexistent"

/*
 * Return the XDG folder VARIABLE of the environment, if its value is absolute;
 * else NULL.
 */
static const char *folder_from_env(const char *variable)
{
	const char *dir = getenv(variable);

	return dir != NULL && *dir == '/' ? dir : NULL;
}

static char *home(uid_t uid)
{
	const char *dir = folder_from_env("HOME");
	const struct passwd *pw;

	if (dir != NULL)
		return xstrdup(dir);
	pw = getpwuid(uid);
	return xstrdup(pw != NULL && pw->pw_dir != NULL ? pw->pw_dir
							: HOME_OF_NOBODY);
}

/* Return TAIL below the folder VARIABLE, else below REST in the home of UID. */
static char *xdg(uid_t uid, const char *variable, const char *rest,
		 const char *tail)
{
	const char *dir = folder_from_env(variable);
	char *base, *path;

	if (dir != NULL)
		return xasprintf("%s/%s", dir, tail);
	base = home(uid);
	path = xasprintf("%s/%s/%s", base, rest, tail);
	free(base);
	return path;
}

char *config_default_file(uid_t uid)
{
	if (uid == 0)
		return xstrdup(SYSTEM_CONFIG);
	return xdg(uid, "XDG_CONFIG_HOME", ".config", "paddock/paddock.conf");
}

/* Return etc/templates beside the folder "build" above EXE; or NULL. */
static char *source_templates(const char *exe)
{
	static const char part[] = "/build/";
	const char *build = NULL;
	struct stat st;
	char *dir;

	for (const char *p = exe; (p = strstr(p, part)) != NULL; p++)
		build = p;
	if (build == NULL)
		return NULL;
	dir = xasprintf("%.*s/etc/templates", (int)(build - exe), exe);
	if (stat(dir, &st) == 0 && S_ISDIR(st.st_mode))
		return dir;
	free(dir);
	return NULL;
}

char *config_shipped_templates(const char *exe)
{
	static const char bin[] = "/bin/";
	const char *name = strrchr(exe, '/');
	size_t n = name == NULL ? 0 : (size_t)(name - exe) + 1;
	char *dir = source_templates(exe);

	if (dir != NULL)
		return dir;
	if (n < strlen(bin) ||
	    strncmp(exe + n - strlen(bin), bin, strlen(bin)) != 0)
		return xstrdup("/usr/share/paddock/templates");
	return xasprintf("%.*s/share/paddock/templates", (int)(n - strlen(bin)),
			 exe);
}

char **config_default_templates(const char *exe, size_t *n)
{
	char **list = xcalloc(2, sizeof(char *));

	*n = 1;
	list[0] = source_templates(exe);
	if (list[0] != NULL)
		return list;
	*n = 2;
	list[0] = xstrdup("/etc/paddock/templates");
	list[1] = config_shipped_templates(exe);
	return list;
}

struct config *config_new(uid_t uid)
{
	struct config *c = xcalloc(1, sizeof(*c));
	const char *runtime = folder_from_env("XDG_RUNTIME_DIR");
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	exe[n > 0 ? n : 0] = '\0';
	for (size_t i = 0; i < CONFIG_SECTIONS; i++)
		if (config_sections[i].names == NULL)
			config_section_default(&config_sections[i], c);
	if (uid == 0) {
		c->state_dir = xstrdup(SYSTEM_STATE);
		c->socket = xstrdup(SYSTEM_SOCKET);
	} else {
		c->state_dir =
		    xdg(uid, "XDG_STATE_HOME", ".local/state", "paddock");
		c->socket = runtime != NULL
				? xasprintf("%s/paddock/paddock.sock", runtime)
				: xasprintf("%s/paddock.sock", c->state_dir);
	}
	c->templates = config_default_templates(exe, &c->n_templates);
	return c;
}

void config_free(const struct config *config)
{
	struct config *c = (struct config *)(uintptr_t)config;
	size_t n;
	const struct config_key *keys = config_keys(&n);

	if (c == NULL)
		return;
	for (size_t i = 0; i < CONFIG_SECTIONS; i++) {
		const struct config_section *s = &config_sections[i];

		for (size_t j = 0; j < config_section_count(c, s); j++) {
			char *base = config_section_at(c, s, j);

			/* the values that the section's keys own */
			for (size_t k = 0; k < n; k++)
				if (strcmp(keys[k].section, s->name) == 0 &&
				    config_key_is_text(&keys[k]))
					free(*(char **)(base + keys[k].offset));
			if (s->names != NULL)
				free(*(char **)base);
		}
	}
	free(c->requestors);
	free(c->secrets);
	free(c->grants);
	free(c->overs);
	free(c->grants_dir);
	config_clear_templates(c);
	free(c);
}

void config_keep_fixed(struct config *now, const struct config *then,
		       void (*changed)(void *arg, const char *key), void *arg)
{
	const struct {
		const char *key;
		char **now;
		const char *then;
	} fixed[] = {
	    {"state_dir", &now->state_dir, then->state_dir},
	    {"url", &now->database, then->database},
	    {"node_name", &now->node_name, then->node_name},
	    {"password_file", &now->password_file, then->password_file},
	    {"artifacts", &now->artifacts, then->artifacts},
	    {"socket", &now->socket, then->socket},
	    {"listen", &now->listen, then->listen},
	    {"user", &now->user, then->user},
	};

	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
		char **value = fixed[i].now;
		const char *kept = fixed[i].then;

		if (*value == kept || (*value != NULL && kept != NULL &&
				       strcmp(*value, kept) == 0))
			continue;
		free(*value);
		*value = xstrdup_opt(kept);
		changed(arg, fixed[i].key);
	}
}

const char *config_files_dir(const struct config *c)
{
	static const char folder[] = "folder:";

	return c->artifacts != NULL &&
		       strncmp(c->artifacts, folder, strlen(folder)) == 0
		   ? c->artifacts + strlen(folder)
		   : c->state_dir;
}

bool config_has_rows(const struct config *c)
{
	return c->database != NULL && config_files_dir(c) == c->state_dir;
}

void config_clear_templates(struct config *c)
{
	for (size_t i = 0; i < c->n_templates; i++)
		free(c->templates[i]);
	free(c->templates);
	c->templates = NULL;
	c->n_templates = 0;
}

static bool same_token(const struct config_requestor *a,
		       const struct config_requestor *b)
{
	return a->token_sha256 != NULL && b->token_sha256 != NULL &&
	       strcmp(a->token_sha256, b->token_sha256) == 0;
}

static int check_requestor(const struct config *c, size_t i, const char *file,
			   char *errmsg, size_t size)
{
	const struct config_requestor *a = &c->requestors[i];

	if (a->token_sha256 == NULL && a->uid < 0)
		return errmsg_set(
		    errmsg, size,
		    "%s: [requestor \"%s\"] needs a token_sha256 or "
		    "a uid, by which it is known",
		    file, a->name);
	for (size_t j = 0; j < i; j++) {
		const struct config_requestor *b = &c->requestors[j];

		if (same_token(a, b) || (a->uid >= 0 && a->uid == b->uid))
			return errmsg_set(
			    errmsg, size,
			    "%s: [requestor \"%s\"] and [requestor "
			    "\"%s\"] have the same %s",
			    file, b->name, a->name,
			    same_token(a, b) ? "token_sha256" : "uid");
	}
	return 0;
}

int config_check(const struct config *c, const char *file, char *errmsg,
		 size_t size)
{
	if (c->default_ttl_ms > c->max_ttl_ms)
		return errmsg_set(errmsg, size,
				  "%s: default_ttl_ms (%" PRId64 ") is above "
				  "max_ttl_ms (%" PRId64 "); lower the one or "
				  "raise the other",
				  file, c->default_ttl_ms, c->max_ttl_ms);
	if (c->artifacts != NULL && c->database == NULL)
		return errmsg_set(errmsg, size,
				  "%s: artifacts is \"%s\", and there is no "
				  "url of a database that knows them; set url "
				  "in [store], or leave artifacts unset",
				  file, c->artifacts);
	for (size_t i = 0; i < c->n_requestors; i++)
		if (check_requestor(c, i, file, errmsg, size) < 0)
			return -EINVAL;
	return config_check_secrets(c, file, errmsg, size);
}

/*
 * Return VALUE as an absolute path, if K's type is a path; the caller frees the
 * text.
 */
static char *absolute(const struct config_key *k, const char *value)
{
	char cwd[PATH_MAX];
	bool path = k->type == CONFIG_PATH || k->type == CONFIG_SOCKET ||
		    k->type == CONFIG_DIRS;

	if (!path || *value == '/' || *value == '\0' ||
	    getcwd(cwd, sizeof(cwd)) == NULL)
		return xstrdup(value);
	return xasprintf("%s/%s", cwd, value);
}

void config_add_templates(struct config *c, const char *path, size_t n)
{
	c->templates =
	    xrealloc(c->templates, (c->n_templates + 1) * sizeof(char *));
	c->templates[c->n_templates++] = xstrndup(path, n);
	c->templates_given = true;
}

/*
 * Has VALUE a control character? A log, and --print-config, show a value on one
 * line.
 */
static bool has_control(const char *value)
{
	for (const unsigned char *p = (const unsigned char *)value; *p != 0;
	     p++)
		if (*p < ' ' || *p == 0x7F)
			return true;
	return false;
}

int config_set(struct config *c, const char *section, const char *key,
	       const char *value, char *errmsg, size_t size)
{
	const char *suggest = NULL;
	const struct config_key *k = config_key_find(section, key, &suggest);
	char *text;
	int rc = 0;

	if (k == NULL || config_section_find(section)->names != NULL)
		return errmsg_set(errmsg, size, "%s: unknown key in [%s]", key,
				  section);
	if (has_control(value))
		return errmsg_set(errmsg, size,
				  "%s = \"%s\": there is a control "
				  "character, such as a line break, in it",
				  key, value);
	text = absolute(k, value);
	if (k->type != CONFIG_DIRS)
		rc = config_key_set(k, c, text, false, errmsg, size);
	else if (*text == '/') /* a flag's folder may have spaces */
		config_add_templates(c, text, strlen(text));
	else
		rc = errmsg_set(errmsg, size,
				"templates = \"%s\": expected a path", text);
	free(text);
	return rc;
}

/*
 * Split TEXT at the ':' into a name ("*" without a ':') and *REST. False: the
 * name is bad.
 */
static bool split_owner(const char *text, const char **name, size_t *n,
			const char **rest)
{
	size_t colon = strcspn(text, ":=");

	*name = "*";
	*n = 1;
	*rest = text;
	if (text[colon] != ':')
		return true;
	*name = text;
	*n = colon;
	*rest = text + colon + 1;
	return (*n == 1 && *text == '*') || config_is_id(text, colon);
}

bool config_has_search(const struct config *c)
{
	return c->publish_templates != NULL &&
	       strcmp(c->publish_templates, "search") == 0;
}

bool config_publishes(const struct config *c, const char *id)
{
	static const char run_code[] = "run_bash run_lua run_node run_python";
	const char *list = c->publish_templates;

	if (list == NULL || strcmp(list, "yes") == 0)
		return true;
	if (config_has_search(c))
		list = run_code;
	return strcmp(list, "no") != 0 && words_have(list, id);
}

int config_add_grant(struct config *c, const char *text, char *errmsg,
		     size_t size)
{
	const struct config_key *k = NULL;
	const char *name, *rest, *suggest = NULL;
	char reason[512], *key;
	size_t n, len, i;
	int rc;

	if (!split_owner(text, &name, &n, &rest))
		return errmsg_set(errmsg, size,
				  "--grant %s: %.*s is no templateId; expected "
				  "[TEMPLATE:]KEY=VALUE",
				  text, (int)n, name);
	len = strcspn(rest, "=");
	key = xstrndup(rest, len);
	if (rest[len] == '=')
		k = config_key_find(CONFIG_GRANT, key, &suggest);
	free(key);
	if (k == NULL)
		return errmsg_set(
		    errmsg, size,
		    "--grant %s: expected [TEMPLATE:]KEY=VALUE, with "
		    "tools, hosts, read_paths, templates, network, secrets, "
		    "locks or digest as KEY",
		    text);
	i = config_section_index(c, config_section_find(CONFIG_GRANT), name, n);
	rc = config_key_set(k, &c->grants[i], rest + len + 1,
			    config_key_is_list(k), reason, sizeof(reason));
	return rc < 0 ? errmsg_set(errmsg, size, "--grant %s", reason) : 0;
}

/* Bytes of an answer beside its artifact. */
#define ANSWER_REST 65536

int64_t config_inline_bytes(const struct config *c)
{
	int64_t room = (c->max_answer_bytes - ANSWER_REST) / 8 * 3;

	return room < c->max_artifact_inline_bytes
		   ? room
		   : c->max_artifact_inline_bytes;
}
