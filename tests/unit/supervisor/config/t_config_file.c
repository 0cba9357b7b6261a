/* SPDX-License-Identifier: Apache-2.0 */
/* Files and folders of the configuration, and the documentation of both. */
#include "supervisor/config/config.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "supervisor/config/config_keys.h"
#include "supervisor/config/config_private.h"
#include "tests/unit/supervisor/config/config_fixture.h"
#include "tests/unit/supervisor/config/config_manual_fixture.h"

/* Remove the N bytes of MARK from lines which begin with MARK. */
static char *uncommented(const char *text, const char *mark, size_t n,
			 bool spaces)
{
	char *out = xcalloc(1, strlen(text) + 1), *o = out;

	for (const char *s = text; *s != '\0';) {
		size_t len = strcspn(s, "\n") + 1;
		size_t off = strncmp(s, mark, strlen(mark)) == 0 &&
				     (spaces || (s[1] != ' ' && s[1] != '\n'))
				 ? n
				 : 0;

		memcpy(o, s + off, len - off);
		o += len - off;
		s += len;
	}
	return out;
}

static void example(void)
{
	struct config *a = config_new(0), *b = config_new(0);
	char *text = buf_file("etc/paddock.conf", 1 << 16), *active, *want,
	     *got;
	struct config_requestor *r;
	const struct config_key *keys;
	size_t n;

	/*
	 * The example is of an installed server, so compare with the installed folders.
	 */
	config_clear_templates(a);
	a->templates =
	    config_default_templates("/usr/bin/paddockd", &a->n_templates);
	want = printed(a);
	is_int(parse(b, text), 0, "etc/paddock.conf is good: %s", errmsg);
	active = uncommented(text, "#", 1, false);
	is_int(parse(b, active), 0, "etc/paddock.conf without '#' is valid: %s",
	       errmsg);
	got = printed(b);
	is_str(got, want, "values in etc/paddock.conf are the defaults");
	keys = config_keys(&n);
	for (size_t i = 0; i < n; i++) {
		char *line = xasprintf(
		    "\n#%s%s =",
		    config_section_find(keys[i].section)->names != NULL ? "   "
									: "",
		    keys[i].name);

		ok(strstr(text, line) != NULL, "etc/paddock.conf has %s",
		   keys[i].name);
		free(line);
	}
	free(active);
	free(got);
	free(want);

	active = uncommented(text, "#   ", 4, true);
	is_int(parse(b, active), 0,
	       "sections with a name in etc/paddock.conf are valid: %s",
	       errmsg);
	is_int(b->n_requestors, 1,
	       "etc/paddock.conf has an example of a requestor");
	is_int(b->n_grants, 1, "etc/paddock.conf has an example of a grant");
	r = b->requestors;
	free(r->token_sha256);
	r->token_sha256 = NULL;
	got = printed(b);
	parse(a, "[secret \"example\"]\nfile = /etc/paddock/example.key\n"
		 "hosts = api.example.org\nheader = Authorization: Bearer {}\n"
		 "[requestor \"alice\"]\n[grant \"my_template\"]\n"
		 "[template \"run_python\"]\n");
	want = printed(a);
	is_str(got, want, "values of named sections are the defaults");
	free(active);
	free(got);
	free(want);
	free(text);
	config_free(a);
	config_free(b);
}

static void write_file(const char *dir, const char *name, const char *text)
{
	char *path = xasprintf("%s/%s", dir, name);
	FILE *f = fopen(path, "w");

	if (f != NULL) {
		fputs(text, f);
		fclose(f);
	}
	free(path);
}

TEST(files)
{
	char dir[] = "/tmp/t_config.XXXXXX";
	struct config *c = config_new(0);
	char *file, *drop, *want;

	if (mkdtemp(dir) == NULL)
		return;
	file = xasprintf("%s/p.conf", dir);
	drop = xasprintf("%s/conf.d", dir);
	is_int(config_read(c, file, errmsg, sizeof(errmsg)), -ENOENT,
	       "a missing file is ENOENT");
	is_int(config_read(c, dir, errmsg, sizeof(errmsg)), -EINVAL,
	       "a folder as a file is refused");
	write_file(dir, "p.conf",
		   "[server]\nlog_level = warn\nuser = main\n"
		   "[requestor \"a\"]\nweight = 9\n");
	is_int(config_read(c, file, errmsg, sizeof(errmsg)), -EINVAL,
	       "a requestor without a token");
	mkdir(drop, 0700);
	write_file(drop, "20.conf", "[server]\nuser = second\n");
	write_file(drop, "10.conf",
		   "[server]\nuser = first\n"
		   "[requestor \"a\"]\nuid = 1\n");
	write_file(drop, ".hidden.conf", "[what]\n");
	write_file(drop, "10.conf.bak", "[what]\n");
	is_int(config_read(c, file, errmsg, sizeof(errmsg)), 0,
	       "a file with a folder conf.d is read: %s", errmsg);
	is_str(c->user, "second", "the last file of conf.d has precedence");
	is_str(c->log_level, "warn",
	       "the main file has the keys missing in conf.d");
	is_int(c->requestors[0].weight, 9,
	       "a requestor has keys of a file in conf.d");
	is_int(c->requestors[0].uid, 1, "a requestor has keys of both files");
	write_file(drop, "15.conf", "\n[server]\nuesr = x\n");
	is_int(config_read(c, file, errmsg, sizeof(errmsg)), -EINVAL,
	       "a bad one");
	want = xasprintf("%s/15.conf:3: uesr: unknown key in [server]; did "
			 "you mean user?",
			 drop);
	is_str(errmsg, want, "an unknown key is named with the line");
	free(want);
	for (const char *const *s =
		 (const char *const[]){"conf.d/10.conf", "conf.d/15.conf",
				       "conf.d/20.conf", "conf.d/.hidden.conf",
				       "conf.d/10.conf.bak", "p.conf", NULL};
	     *s != NULL; s++) {
		char *path = xasprintf("%s/%s", dir, *s);

		unlink(path);
		free(path);
	}
	rmdir(drop);
	is_int(rmdir(dir), 0, "nothing is left behind");
	free(file);
	free(drop);
	config_free(c);
}

static void paths_of(uid_t uid, const char *state, const char *socket,
		     const char *file, const char *name)
{
	struct config *c = config_new(uid);
	char *path = config_default_file(uid);

	is_str(c->state_dir, state, "%s: state", name);
	is_str(c->socket, socket, "%s: socket", name);
	is_str(path, file, "%s: config", name);
	free(path);
	config_free(c);
}

TEST(paths)
{
	setenv("HOME", "/home/u", 1);
	unsetenv("XDG_STATE_HOME");
	unsetenv("XDG_RUNTIME_DIR");
	unsetenv("XDG_CONFIG_HOME");
	paths_of(0, "/var/lib/paddock", "/run/paddock/paddock.sock",
		 "/etc/paddock/paddock.conf", "root");
	paths_of(1000, "/home/u/.local/state/paddock",
		 "/home/u/.local/state/paddock/paddock.sock",
		 "/home/u/.config/paddock/paddock.conf", "a user");
	setenv("XDG_STATE_HOME", "/s", 1);
	setenv("XDG_RUNTIME_DIR", "/r", 1);
	setenv("XDG_CONFIG_HOME", "/c", 1);
	paths_of(1000, "/s/paddock", "/r/paddock/paddock.sock",
		 "/c/paddock/paddock.conf",
		 "the paths of a user with XDG variables");
	paths_of(0, "/var/lib/paddock", "/run/paddock/paddock.sock",
		 "/etc/paddock/paddock.conf", "root has none of it");
	setenv("XDG_STATE_HOME", "s", 1);
	setenv("XDG_RUNTIME_DIR", "", 1);
	setenv("XDG_CONFIG_HOME", "c", 1);
	paths_of(1000, "/home/u/.local/state/paddock",
		 "/home/u/.local/state/paddock/paddock.sock",
		 "/home/u/.config/paddock/paddock.conf", "relative ones");
}

TEST(template_dirs)
{
	char dir[] = "/tmp/t_config.XXXXXX", **list;
	char *exe, *etc, *templates;
	size_t n;

	if (mkdtemp(dir) == NULL)
		return;
	exe = xasprintf("%s/build/paddockd", dir);
	etc = xasprintf("%s/etc", dir);
	templates = xasprintf("%s/etc/templates", dir);
	list = config_default_templates(exe, &n);
	is_int(n, 2, "no source tree: the system's");
	is_str(list[0], "/etc/paddock/templates", "the operator's first");
	free(list[0]);
	free(list[1]);
	free(list);
	mkdir(etc, 0700);
	mkdir(templates, 0700);
	list = config_default_templates(exe, &n);
	is_int(n, 1, "a source tree");
	is_str(list[0], templates, "the source tree has the own templates");
	free(list[0]);
	free(list);
	list = config_default_templates("/paddockd", &n);
	is_int(n, 2,
	       "a server in the root folder has two folders of templates");
	is_str(list[1], "/usr/share/paddock/templates",
	       "a server in the root folder uses /usr/share");
	free(list[0]);
	free(list[1]);
	free(list);
	list = config_default_templates("/opt/p/bin/paddockd", &n);
	is_str(list[1], "/opt/p/share/paddock/templates",
	       "a server under another prefix uses the prefix's folder");
	free(list[0]);
	free(list[1]);
	free(list);
	rmdir(templates);
	rmdir(etc);
	rmdir(dir);
	free(exe);
	free(etc);
	free(templates);
}

static void manual(void)
{
	char *text = NULL;
	size_t len, n;
	const struct config_key *keys = config_keys(&n);
	FILE *f = open_memstream(&text, &len);

	help_config_manual(f);
	fclose(f);
	for (char *s = text; *s != '\0'; s++) /* where lines end is free */
		if (*s == '\n')
			*s = ' ';
	for (size_t i = 0; i < n; i++) {
		char *item =
		    xasprintf(".It Ic %s %s ", keys[i].name, keys[i].help);

		ok(strstr(text, item) != NULL, "the manual has %s",
		   keys[i].name);
		free(item);
	}
	free(text);
}

int main(void)
{
	example();
	tap_run();
	manual();
	return tap_done();
}
