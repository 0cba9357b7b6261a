/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Approved grants: files of grants.d, which stand alone, hold for one package each, and
 * change no section of paddock.conf.
 */
#include "supervisor/config/config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "tests/unit/tap.h"

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static char errmsg[512];
static char dir[] = "/tmp/t_config_grants.XXXXXX", *file;

static void write_file(const char *name, const char *text)
{
	char *path = xasprintf("%s/%s", dir, name);
	FILE *f = fopen(path, "w");

	if (f != NULL) {
		fputs(text, f);
		fclose(f);
	}
	free(path);
}

static void remove_file(const char *name)
{
	char *path = xasprintf("%s/%s", dir, name);

	unlink(path);
	free(path);
}

/* Read all as a server does; NULL: refused. */
static struct config *reads(void)
{
	struct config *c = config_new(0);

	if (config_read(c, file, errmsg, sizeof(errmsg)) == 0 &&
	    config_read_grants(c, file, errmsg, sizeof(errmsg)) == 0)
		return c;
	config_free(c);
	return NULL;
}

/* The file "x.conf" of grants.d with TEXT is refused for a reason with WHY. */
static void refused(const char *text, const char *why, const char *what)
{
	struct config *c;

	write_file("grants.d/x.conf", text);
	c = reads();
	ok(c == NULL && strstr(errmsg, why) != NULL &&
	       strstr(errmsg, "/grants.d/x.conf") != NULL,
	   "%s is refused with the file's name: %s", what, errmsg);
	config_free(c);
	remove_file("grants.d/x.conf");
}

TEST(of_other_packages)
{
	struct config *c;

	write_file("grants.d/1.conf",
		   "[grant \"t\"]\ndigest = " B "\nread_paths = /srv/b\n");
	write_file("grants.d/2.conf",
		   "# two\n[grant \"t\"]\ndigest = " B
		   "\nlocks = yes\n[template \"t\"]\ndigest = " B
		   "\nmax_processes = 9\n");
	write_file("grants.d/.hidden.conf", "[what]\n");
	write_file("grants.d/3.conf.tmp", "[what]\n");
	c = reads();
	ok(c != NULL, "approved grants are read: %s", errmsg);
	if (c == NULL)
		return;
	is_int((int)c->n_grants, 3,
	       "each approved file has a section of its own");
	is_str(c->grants[0].digest, A,
	       "a section of paddock.conf keeps its digest");
	is_str(c->grants[0].read_paths, "/srv/a",
	       "a section of paddock.conf keeps its paths");
	is_str(c->grants[1].read_paths, "/srv/b",
	       "a section of an approved file has its own paths");
	ok(c->grants[2].read_paths == NULL && c->grants[2].locks,
	   "the section of the next file gets no path of the file before");
	is_int((int)c->n_overs, 1,
	       "limits of a package are read from an approved file");
	is_str(c->overs[0].digest, B,
	       "limits of an approved file are for a package");
	ok(c->grants_dir[0] == '/',
	   "the path of the folder of approved grants is absolute");
	config_free(c);
}

TEST(none)
{
	struct config *c;

	remove_file("grants.d/1.conf");
	remove_file("grants.d/2.conf");
	remove_file("grants.d/.hidden.conf");
	remove_file("grants.d/3.conf.tmp");
	c = reads();
	ok(c != NULL && c->n_grants == 1, "an empty folder adds nothing");
	config_free(c);
}

TEST(refusals)
{
	char *link = xasprintf("%s/grants.d/x.conf", dir);

	refused("[grant \"t\"]\nlocks = yes\n", "by digest",
		"a grant without a digest");
	refused("[grant \"*\"]\ndigest = " A "\n", "\"*\"",
		"a grant to all templates");
	refused("[template \"t\"]\nmax_processes = 9\n", "by digest",
		"a limit without a digest");
	refused("[server]\nuser = root\n", "[server]", "another section");
	refused("[requestor \"x\"]\nuid = 1\n", "requestor", "a requestor");
	refused("locks = yes\n", "before the first section",
		"a key before a section");
	refused("[grant \"t\"]\ndigest = " A "\nlocks = maybe\n", "locks",
		"a bad value");
	is_int(symlink(file, link), 0, "a link is made");
	ok(reads() == NULL, "a link is refused: %s", errmsg);
	unlink(link);
	is_int(mkfifo(link, 0600), 0, "a FIFO is made");
	ok(reads() == NULL, "a FIFO is refused, and not waited for");
	unlink(link);
	free(link);
}

int main(void)
{
	char *folder;

	if (mkdtemp(dir) == NULL)
		return 1;
	file = xasprintf("%s/p.conf", dir);
	folder = xasprintf("%s/grants.d", dir);
	mkdir(folder, 0700);
	write_file("p.conf",
		   "[grant \"t\"]\ndigest = " A "\nread_paths = /srv/a\n");
	tap_run();
	remove_file("p.conf");
	is_int(rmdir(folder), 0, "nothing is left in the folder");
	is_int(rmdir(dir), 0, "nothing is left behind");
	free(folder);
	free(file);
	return tap_done();
}
