/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_privsep.c - the keeper (the process with root's rights) starts only programs that
 * the keeper's own list allows.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "supervisor/spawn/privsep.h"
#include "supervisor/run/worker/programs.h"
#include "tests/unit/tap.h"

static char root[] = "/tmp/paddock-keeper-XXXXXX";

/* Text with ROOT between BEFORE and AFTER, never freed. */
/* Kept until the end. */
static char *at(const char *before, const char *after)
{
	static char *all[1024];
	static size_t n;

	if (n == ARRAY_LEN(all))
		abort();
	return all[n++] = xasprintf("%s%s%s", before, root, after);
}

/* How many of the first 64 descriptors are open. */
static int descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 64; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void make_folders(void)
{
	static const char *const names[] = {
	    "",		 "/sets",  "/sets/one", "/sets/one/in",	       "/else",
	    "/else/two", "/alone", "/alone/in", "/alone/template.json"};

	if (mkdtemp(root) == NULL)
		abort();
	for (size_t i = 1; i < ARRAY_LEN(names); i++)
		if (mkdir(at("", names[i]), 0755) != 0)
			abort();
	if (symlink(at("", "/else/two"), at("", "/sets/linked")) != 0 ||
	    symlink(at("", "/sets"), at("", "/way")) != 0)
		abort();
}

static void add_folder(struct config *c, const char *name)
{
	char errmsg[256];

	if (config_set(c, "server", "templates", at("", name), errmsg,
		       sizeof(errmsg)) != 0)
		abort();
}

static struct config *configured(bool weak)
{
	struct config *c = config_new(0);
	char errmsg[256];

	config_clear_templates(c);
	add_folder(c, "/way");
	add_folder(c, "/alone");
	free(c->read_paths);
	c->read_paths = xstrdup("/srv/data /opt/files/");
	if (config_add_grant(c, "one:read_paths=/srv/one/", errmsg,
			     sizeof(errmsg)) < 0 ||
	    config_add_grant(c, "read_paths=/srv/all", errmsg, sizeof(errmsg)) <
		0)
		abort();
	c->allow_weak_programs = weak;
	return c;
}

/* PATH with the file id of WHAT. */
static char *as_package(const char *path, const char *what)
{
	char *full = at("", path);
	struct stat st = {0};

	(void)stat(at("", what), &st);
	return xasprintf("package=%jx:%jx:%s", (uintmax_t)st.st_dev,
			 (uintmax_t)st.st_ino, full);
}

static char *package(const char *path)
{
	return as_package(path, path);
}

static char *stale(const char *path)
{
	return as_package(path, "/else");
}

#define HEX16 "0123456789abcdef"
#define DIGEST HEX16 HEX16 HEX16 HEX16

/* The same, to be copied. */
static char *copied(const char *path, const char *digest)
{
	char *whole = package(path);
	char *name = strstr(whole, root);

	return xasprintf("%.*s%s:%s", (int)(name - whole), whole, digest, name);
}

static void allows(void)
{
	const struct {
		const char *one, *two, *three;
		/* allowed in the strict and in the weak mode */
		bool strict, weak;
		const char *name;
	} cases[] = {
	    {NULL, NULL, NULL, true, true, "a zygote of Lua"},
	    {"program", NULL, NULL, true, true,
	     "one of programs that are none"},
	    {"other", NULL, NULL, false, false, "another word"},
	    {"program", "other", NULL, false, false, "an unknown argument"},
	    {"program", "program", NULL, false, false, "a word said twice"},
	    {"program", "weak", NULL, false, true,
	     "weak, where that is allowed"},
	    {"program", package("/sets/one"), NULL, true, true, "a package"},
	    {"program", package("/else/two"), NULL, true, true,
	     "one that a link leads to"},
	    {"program", package("/alone"), NULL, true, true,
	     "one that is a folder of the configuration"},
	    {"program", package("/alone/in"), NULL, false, false,
	     "which has no others"},
	    {"program", package("/else"), NULL, false, false,
	     "a folder elsewhere"},
	    {"program", package("/sets/one/in"), NULL, false, false,
	     "a folder in a package"},
	    {"program", package("/sets"), NULL, false, false,
	     "the folder of packages"},
	    {"program", package("/sets/.."), NULL, false, false,
	     "what is above it"},
	    {"program", package("/sets/."), NULL, false, false, "itself"},
	    {"program", package("/sets/one/../../else"), NULL, false, false,
	     "a way out of it"},
	    {"program", copied("/sets/one", DIGEST), NULL, true, true,
	     "one to be copied"},
	    {"program", copied("/sets/one", DIGEST "a"), NULL, false, false,
	     "one with more than a digest"},
	    {"program", copied("/sets/one", "abc"), NULL, false, false,
	     "one with less"},
	    {"program", copied("/else", DIGEST), NULL, false, false,
	     "a copy of a folder elsewhere"},
	    {"program", "copies=67108864:268435456", NULL, true, true,
	     "how much may be copied"},
	    {"program", "copies=67108865:268435456", NULL, false, false,
	     "more of one"},
	    {"program", "copies=67108864:268435457", NULL, false, false,
	     "more of all"},
	    {"program", "copies=", NULL, false, false, "no number of bytes"},
	    {"program", "package=0:0:/", NULL, false, false, "all"},
	    {"program", xstrdup("package=0:0:/none"), NULL, true, true,
	     "nothing that is there"},
	    {"program", "package=", NULL, false, false, "nothing"},
	    {"program", "package=0:0:one", NULL, false, false,
	     "a relative name"},
	    {"program", stale("/sets/one"), NULL, true, true,
	     "a package that is another folder by now, which is not shown"},
	    {"program", at("package=", "/sets/one"), NULL, false, false,
	     "one without saying which folder it was"},
	    {"program", package("/way/two"), NULL, true, true,
	     "a link, by its own name, which is not shown"},
	    {"program", package("/sets/one"), "read=/etc", false, false,
	     "a package, and more"},
	    {"program", "read=/srv/data", NULL, true, true, "what may be read"},
	    {"program", "read=/srv/data/x/y", NULL, true, true,
	     "and what is in it"},
	    {"program", "read=/opt/files/x", "read=/srv/data", true, true,
	     "both"},
	    {"program", "read=/srv/data/../../etc", NULL, false, false,
	     "a way out of that"},
	    {"program", "read=/srv/database", NULL, false, false,
	     "a name that begins so"},
	    {"program", "read=/srv", NULL, false, false, "what is above"},
	    {"program", "read=", NULL, false, false, "an empty name"},
	    {"program", "read=/srv/one/x", NULL, true, true,
	     "what a template is granted"},
	    {"program", "read=/srv/all", "read=/srv/one", true, true,
	     "or each of them"},
	    {"program", "read=/srv/one/../two", NULL, false, false,
	     "not a way out of that"},
	    {"program", "read=/srv/only", NULL, false, false,
	     "nor a name that begins so"},
	};
	struct config *strict = configured(false), *weak = configured(true);
	int before = descriptors();
	char *none[] = {NULL};
	const struct {
		char *arg;
		bool is;
		const char *name;
	} shown[] = {
	    {package("/sets/one"), true, "a package"},
	    {package("/else/two"), true, "one that a link leads to"},
	    {package("/alone"), true, "a folder of the configuration"},
	    {copied("/sets/one", DIGEST), true, "one to be copied"},
	    {stale("/sets/one"), false, "what is another folder by now"},
	    {package("/way/two"), false, "a link"},
	    {package("/way/one"), false, "what lies behind a link"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char *argv[] = {(char *)"paddock-worker", (char *)cases[i].one,
				(char *)cases[i].two, (char *)cases[i].three,
				NULL};

		is_int(programs_may_start(strict, argv), cases[i].strict, "%s",
		       cases[i].name);
		is_int(programs_may_start(weak, argv), cases[i].weak,
		       "%s, with weak programs", cases[i].name);
	}
	ok(!programs_may_start(strict, none), "no name at all");
	for (size_t i = 0; i < ARRAY_LEN(shown); i++) {
		char *argv[] = {(char *)"x", (char *)"program", shown[i].arg,
				NULL};

		programs_may_start(strict, argv);
		is_int(strncmp(shown[i].arg, "package=", 8) == 0, shown[i].is,
		       "%s %s shown", shown[i].name,
		       shown[i].is ? "is" : "is not");
	}
	is_int(descriptors(), before, "each folder looked at is closed again");
	config_free(strict);
	config_free(weak);
}

static int go[2] = {-1, -1}; /* a late start waits for a byte from the pipe */

static bool may_start(void *arg, char *const argv[])
{
	char c;

	if (strcmp(argv[1], "late") == 0)
		return read(go[0], &c, 1) == 1;
	return strcmp(argv[1], arg) == 0;
}

static int start(const char *word, pid_t *pid)
{
	char *argv[] = {(char *)"x", (char *)word, NULL};

	*pid = 0;
	return privsep_exec(argv, STDOUT_FILENO, pid);
}

static void obeys(void)
{
	const struct privsep_paths paths = {.worker = "/bin/true",
					    .may_start = may_start,
					    .arg = (void *)"good",
					    .answer_ms = 300};
	int status, left;
	pid_t pid, late;

	if (pipe(go) != 0)
		abort();
	is_int(privsep_start(&paths), 0, "a keeper can be started");
	is_int(start("bad", &pid), -EPERM,
	       "the keeper refuses a program outside of the list");
	is_int(start("good", &pid), 0,
	       "the keeper starts a program of the list");
	is_int(waitpid(pid, &status, 0), pid,
	       "the started program is a child of the server");
	is_int(status, 0, "the started program runs and exits with 0");

	ok(privsep_trouble() == NULL, "a working keeper has no trouble");
	is_int(start("late", &pid), -ETIMEDOUT,
	       "an answer that does not come is told as that");
	ok(strstr(privsep_trouble(), "does not answer") != NULL,
	   "the trouble of a silent keeper is known");
	is_int(start("bad", &pid), -ETIMEDOUT,
	       "the next start behind a late start times out");
	if (write(go[1], "x", 1) != 1)
		abort();
	for (left = 1000; start("good", &pid) == -ETIMEDOUT && left > 0; left--)
		;
	ok(pid > 0, "the keeper answers again");
	late = waitpid(-1, &status, 0);
	if (late == pid)
		late = waitpid(-1, &status, 0);
	ok(late > 0 && late != pid,
	   "a program started late is not taken for another");
	is_int(start("bad", &pid), -EPERM,
	       "a later answer is not taken for another");
	ok(privsep_trouble() == NULL,
	   "a keeper which answers again has no trouble");
	kill(privsep_pid(), SIGKILL);
	(void)start("good", &pid);
	ok(strstr(privsep_trouble(), "has ended") != NULL,
	   "the trouble of a killed keeper is known");
	privsep_release();
	is_int(waitpid(privsep_pid(), &status, 0), privsep_pid(),
	       "the keeper's end is reaped");
}

int main(void)
{
	make_folders();
	allows();
	obeys();
	if (system(at("rm -rf '", "'")) != 0)
		abort();
	return tap_done();
}
