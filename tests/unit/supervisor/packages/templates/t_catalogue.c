/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/packages/templates/catalogue.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/log.h"
#include "base/mem.h"
#include "tests/unit/tap.h"

static char root[] = "/tmp/t_catalogue.XXXXXX";
static char *log_path;

/* Packages in the order of the folders; the order of the catalogue differs. */
static const struct {
	const char *dir, *id, *version;
} packages[] = {
    {"one/a-new", "alpha", "1.10.0"},  {"one/a-old", "alpha", "1.2.0"},
    {"one/a-pre", "alpha", "2.0.0-b"}, {"one/b", "beta", "0.1.0"},
    {"one/twin", "twin", "1.0.0"},     {"one/twin2", "twin", "1.0.0+x"},
    {"one/twin3", "twin", "1.0.1"},    {"two/twin", "twin", "1.0.0"},
    {"two/c", "gamma_ray", "3.0.0"},
};

static char *in_root(const char *name)
{
	return xasprintf("%s/%s", root, name);
}

static void put(const char *dir, const char *name, const char *text)
{
	char *path = xasprintf("%s/%s/%s", root, dir, name);
	FILE *f = fopen(path, "w");

	if (f != NULL) {
		fputs(text, f);
		fclose(f);
	}
	free(path);
}

static void make_dir(const char *name)
{
	char *path = in_root(name);

	if (mkdir(path, 0700) < 0)
		printf("# cannot make %s\n", path);
	free(path);
}

static void gone(const char *dir, const char *name)
{
	char *path = xasprintf("%s/%s%s%s", root, dir, *name ? "/" : "", name);

	if (remove(path) < 0)
		printf("# cannot remove %s\n", path);
	free(path);
}

static void make_package(const char *dir, const char *id, const char *version)
{
	char *text = xasprintf("{\"templateId\":\"%s\",\"version\":\"%s\","
			       "\"name\":\"N\",\"description\":\"D\","
			       "\"runtime\":{\"type\":\"lua\"},"
			       "\"inputsSchema\":{\"type\":\"object\"}}",
			       id, version);

	make_dir(dir);
	put(dir, "template.json", text);
	put(dir, "main.lua", "return function() end\n");
	free(text);
}

static void set_up(void)
{
	make_dir("one");
	make_dir("two");
	for (size_t i = 0; i < ARRAY_LEN(packages); i++)
		make_package(packages[i].dir, packages[i].id,
			     packages[i].version);
	make_dir("one/empty");
	put("one", "README", "not a package");
	make_dir("one/broken");
	put("one/broken", "template.json", "{\"name\":\"a\"");
}

static void tear_down(void)
{
	for (size_t i = 0; i < ARRAY_LEN(packages); i++) {
		gone(packages[i].dir, "template.json");
		gone(packages[i].dir, "main.lua");
		gone(packages[i].dir, "");
	}
	gone("one/broken", "template.json");
	gone("one/broken", "");
	gone("one/empty", "");
	gone("one", "README");
	gone("one", "");
	gone("two", "");
}

static const char *why_of(const struct catalogue *c, const char *dir)
{
	char *path = in_root(dir);
	const char *errmsg = NULL;

	for (size_t i = 0; i < c->n_problems; i++)
		if (strcmp(c->problems[i].path, path) == 0)
			errmsg = c->problems[i].errmsg;
	free(path);
	return errmsg;
}

static const char *version_of(const struct template *t)
{
	return t != NULL ? t->version_text : NULL;
}

static void order(const struct catalogue *c)
{
	static const char *const want[] = {"alpha 2.0.0-b",   "alpha 1.10.0",
					   "alpha 1.2.0",     "beta 0.1.0",
					   "gamma_ray 3.0.0", "twin 1.0.1"};

	is_int(c->n, ARRAY_LEN(want), "every good package is there");
	for (size_t i = 0; i < c->n && i < ARRAY_LEN(want); i++) {
		char *got =
		    xasprintf("%s %s", c->all[i]->id, c->all[i]->version_text);

		is_str(got, want[i], "by id, then newest first: %s", want[i]);
		free(got);
	}
}

static void finding(const struct catalogue *c)
{
	static const struct {
		const char *id, *range, *version;
	} cases[] = {
	    {"alpha", NULL, "2.0.0-b"}, {"alpha", "1.2.0", "1.2.0"},
	    {"alpha", "^1", "1.10.0"},	{"alpha", "^1.2.0", "1.10.0"},
	    {"alpha", "^2", NULL},	{"alpha", "2.0.0-b", "2.0.0-b"},
	    {"alpha", "3.0.0", NULL},	{"alpha", "latest", NULL},
	    {"twin", "1.0.0", NULL},	{"twin", NULL, "1.0.1"},
	    {"delta", NULL, NULL},	{"", NULL, NULL},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		is_str(
		    version_of(catalogue_find(c, cases[i].id, cases[i].range)),
		    cases[i].version, "find %s %s", cases[i].id,
		    cases[i].range ? cases[i].range : "(any)");
	is_str(version_of(catalogue_newest(c, "beta")), "0.1.0",
	       "the newest version of a template is found");
}

static void problems(const struct catalogue *c)
{
	char *want = xasprintf("twin 1.0.0 is also in %s/one/twin2; both are "
			       "skipped, remove one",
			       root);
	char *back = xasprintf("twin 1.0.0+x is also in %s/one/twin; both are "
			       "skipped, remove one",
			       root);

	is_int(c->n_problems, 4,
	       "four packages are problems: one broken and three twins");
	is_str(why_of(c, "one/twin"), want,
	       "a twin's problem names the first twin");
	is_str(why_of(c, "one/twin2"), back,
	       "the first twin's problem names the other");
	ok(why_of(c, "two/twin") != NULL,
	   "a twin in another folder is a problem");
	ok(why_of(c, "one/broken") != NULL &&
	       strncmp(why_of(c, "one/broken"),
		       "template.json:1:12: this is not JSON: ", 38) == 0,
	   "a broken package's problem has the reason");
	free(back);
	free(want);
}

TEST(logging)
{
	char line[2048] = "", *want;
	FILE *f = fopen(log_path, "r");

	ok(f != NULL && fgets(line, sizeof(line), f) != NULL,
	   "a problem is logged");
	want = xasprintf("level=warn part=catalogue skipped=\"%s/one/broken\" "
			 "msg=\"template.json:1:12: this is not JSON: ",
			 root);
	ok(strstr(line, want) != NULL, "with its path and reason: %s",
	   strtok(line, "\n"));
	free(want);
	if (f != NULL)
		fclose(f);
}

TEST(directories)
{
	char *one = in_root("one"), *none = in_root("none"),
	     *file = in_root("one/README"), *two = in_root("two");
	char *again = xasprintf("%s/../one/.", two);
	const char *const missing[] = {none, two, file};
	const char *const same[] = {one, two, again, two};
	struct catalogue *c =
	    catalogue_load(missing, ARRAY_LEN(missing), false, NULL, NULL);

	is_int(c->n, 2, "a bad folder does not hide the good folder");
	is_int(c->n_problems, 2, "bad folders are problems");
	is_str(why_of(c, "none"),
	       "cannot read the folder: No such file or directory",
	       "a missing folder's problem has the reason");
	is_str(why_of(c, "one/README"),
	       "cannot read the folder: Not a directory",
	       "a file in place of a folder is a problem");
	catalogue_free(c);
	c = catalogue_load(same, ARRAY_LEN(same), false, NULL, NULL);
	order(c);
	is_int(c->n_problems, 4, "a folder named twice counts once");
	catalogue_free(c);
	c = catalogue_load(same, 0, false, NULL, NULL);
	is_int(c->n + c->n_problems, 0,
	       "without a folder there is no template");
	is_str(version_of(catalogue_newest(c, "alpha")), NULL,
	       "without a folder no template is found");
	catalogue_free(c);
	catalogue_free(NULL);
	free(again);
	free(two);
	free(file);
	free(none);
	free(one);
}

/* Run from the top of the tree, as make does. */
/* A folder which is a package itself, and a package with a program. */
TEST(single)
{
	char *dir = in_root("one/b"), *prog = in_root("prog");
	char *entry = in_root("prog/go");
	const char *dirs[] = {dir, prog};
	struct catalogue *c;

	make_dir("prog");
	put("prog", "template.json",
	    "{\"templateId\":\"prog\",\"version\":\"1.0.0\",\"name\":\"N\","
	    "\"description\":\"D\",\"runtime\":{\"type\":\"program\","
	    "\"entry\":\"go\"},\"inputsSchema\":{\"type\":\"object\"}}");
	put("prog", "go", "#!/bin/sh\n");
	if (chmod(entry, 0755) < 0 || chmod(prog, 0755) < 0)
		printf("# cannot chmod %s\n", entry);
	c = catalogue_load(dirs, 2, false, NULL, NULL);
	is_int((int64_t)c->n, 2, "a folder that is a package is one");
	is_str(c->n == 2 ? c->all[0]->id : "", "beta",
	       "a folder which is a package is loaded");
	is_str(c->n == 2 ? c->all[1]->id : "", "prog",
	       "a package with a program is loaded");
	is_int((int64_t)c->n_problems, 0,
	       "both packages load without a problem");
	catalogue_free(c);
	gone("prog", "go");
	gone("prog", "template.json");
	gone("prog", "");
	free(entry);
	free(prog);
	free(dir);
}

static size_t keeps(const char *const dirs[2], const struct catalogue *was)
{
	struct catalogue *c = catalogue_load(dirs, 2, false, NULL, NULL);
	size_t n = catalogue_keep(c, was);

	for (size_t i = 0; i + 1 < c->n; i++)
		if (strcmp(c->all[i]->id, c->all[i + 1]->id) > 0)
			n = 1000; /* the templates are not sorted */
	catalogue_free(c);
	return n;
}

/* A broken package keeps the loaded version; other packages keep nothing. */
TEST(kept)
{
	char *dir = in_root("k"), *other = in_root("l");
	const char *dirs[] = {dir, other};
	struct catalogue *c;

	make_dir("k");
	make_dir("l");
	make_package("k/a", "kept_a", "1.0.0");
	make_package("k/b", "kept_b", "1.0.0");
	make_package("l/c", "kept_c", "1.0.0");
	c = catalogue_load(dirs, 2, false, NULL, NULL);
	is_int((int)keeps(dirs, c), 0,
	       "valid packages are not kept from the old catalogue");
	put("k/a", "template.json", "{");
	is_int((int)keeps(dirs, c), 1,
	       "a broken package is kept from the old catalogue");
	ok(catalogue_newest(c, "kept_a")->broken != NULL,
	   "a kept package has the reason");
	gone("k/b", "template.json");
	is_int((int)keeps(dirs, c), 1, "a removed package is not kept");
	make_package("l/d", "kept_a", "1.0.0");
	is_int((int)keeps(dirs, c), 0,
	       "a package moved to another folder is not kept");
	make_package("l/e", "kept_a", "1.0.0");
	is_int((int)keeps(dirs, c), 1,
	       "a package moved within one folder is kept");
	gone("l/d", "template.json");
	gone("l/e", "template.json");
	gone("l/c", "template.json");
	gone("l/c", "main.lua");
	gone("l/c", "");
	put("l", "template.json", "{");
	is_int((int)keeps(dirs, c), 2, "packages in a broken folder are kept");
	catalogue_free(c);
	for (const char *const *p =
		 (const char *const[]){"k/a", "k/b", "l/d", "l/e", NULL};
	     *p != NULL; p++) {
		gone(*p, "main.lua");
		if (strcmp(*p, "k/a") == 0)
			gone(*p, "template.json");
		gone(*p, "");
	}
	gone("l", "template.json");
	gone("l", "");
	gone("k", "");
	free(dir);
	free(other);
}

/* A reload frees the old catalogue piece by piece. */
static void shrinks(const char *const *dirs)
{
	struct catalogue *c = catalogue_load(dirs, 2, false, NULL, NULL);
	size_t n = c->n;

	ok(catalogue_shrink(c, 2), "a catalogue has templates after a piece");
	is_int(c->n, n - 2, "a piece has as many templates as asked for");
	ok(!catalogue_shrink(c, n), "a catalogue is empty after all pieces");
	is_int(c->n, 0, "a piece larger than the rest is the rest");
	catalogue_free(c);
}

static void shipped(void)
{
	static const char *const dirs[] = {"etc/templates"};
	struct catalogue *c = catalogue_load(dirs, 1, false, NULL, NULL);

	for (size_t i = 0; i < c->n_problems; i++)
		printf("# %s: %s\n", c->problems[i].path,
		       c->problems[i].errmsg);
	is_int(c->n_problems, 0, "every shipped template is good");
	ok(c->n > 0, "the shipped folder has templates");
	catalogue_free(c);
}

int main(void)
{
	const char *dirs[2];
	char *one, *two;
	struct catalogue *c;

	if (mkdtemp(root) == NULL)
		return 1;
	log_path = in_root("log");
	if (log_open(log_path) < 0)
		return 1;
	set_up();
	dirs[0] = one = in_root("one");
	dirs[1] = two = in_root("two");
	c = catalogue_load(dirs, 2, false, NULL, NULL);
	order(c);
	finding(c);
	problems(c);
	shrinks(dirs);
	tap_run();
	log_open(NULL);
	catalogue_free(c);
	free(one);
	free(two);
	tear_down();
	unlink(log_path);
	free(log_path);
	is_int(rmdir(root), 0, "nothing is left behind");
	shipped();
	return tap_done();
}
