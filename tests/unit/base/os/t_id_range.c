/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_id_range.c - free ranges of user ids, by made-up system files; and the holders of
 * locked ranges.
 */
#include "base/os/id_range.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "tests/unit/tap.h"

#define UNUSED 1879048192u /* the first id that no distribution hands out */
#define FIRST (UNUSED + ID_RANGE_BLOCK)

/* The text of /etc/subuid as adduser(8) writes the file for N users. */
static char *usual_ranges(unsigned n)
{
	char *text = xcalloc(n + 1, 64);
	size_t len = 0;

	for (unsigned i = 0; i < n; i++)
		len += (size_t)sprintf(text + len, "user%u:%u:65536\n", i,
				       100000 + 65536 * i);
	return text;
}

static bool any(void *arg, uint32_t first)
{
	(void)arg, (void)first;
	return true;
}

/* The range picked with TEXT as FILE and all other files empty. */
static uint32_t picked(enum id_range_file file, const char *text)
{
	struct id_range_view v = {{NULL}};

	v.text[file] = (char *)text;
	return id_range_pick(&v, 0, any, NULL);
}

TEST(free)
{
	static const struct {
		const char *text;
		uint32_t first, count;
		const char *errmsg; /* NULL: the ids are free */
	} cases[] = {
	    {"", 200000, 257, NULL},
	    {"a:100000:65536\nb:165536:65536\n", 200000, 257,
	     "/etc/subuid gives 165536-231071 to b"},
	    {"a:100000:65536\nb:165536:65536\n", 199999, 1,
	     "/etc/subuid gives 165536-231071 to b"},
	    {"a:100000:65536\n", 165536, 1, NULL},
	    {"a:100000:65536\n", 165535, 2,
	     "/etc/subuid gives 100000-165535 to a"},
	    {"a:100000:65536\n", 99999, 1, NULL},
	    {"a:100000:65536\n", 99999, 2,
	     "/etc/subuid gives 100000-165535 to a"},
	    {"a:100000:65536\n", 90000, 200000,
	     "/etc/subuid gives 100000-165535 to a"},
	    {"1000:100000:65536", 100000, 1, /* no newline; a uid for a name */
	     "/etc/subuid gives 100000-165535 to 1000"},
	    {"a:7:1\n", 7, 1, "/etc/subuid has 7, a"},
	    {"a:7:0\n", 7, 1, NULL},
	    {"a:0:4294967296\n", 4294967000u, 9,
	     "/etc/subuid gives 0-4294967295 to a"},
	    {"a:5:18446744073709551615\n", 100, 1,
	     "/etc/subuid gives 5-18446744073709551614 to a"},
	    /* a malformed line has no effect, and does not hide later lines */
	    {"\n\n# a comment\na\na:\na:b:c\na:1\n:::\na:-5:90\na:1:2:3\n"
	     "a:99999999999999999999999:5\nb:100:5\n",
	     102, 1, "/etc/subuid gives 100-104 to b"},
	    {"a:99999999999999999999999:5\n", 5, 1, NULL},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct id_range_view v = {{NULL}};
		struct id_range_taken t = {.errmsg = ""};
		bool is;

		v.text[ID_RANGE_SUBUID] = (char *)cases[i].text;
		is = id_range_is_free(&v, cases[i].first, cases[i].count, &t);
		ok(is == (cases[i].errmsg == NULL), "%u from %u: %s",
		   cases[i].count, cases[i].first, is ? "free" : t.errmsg);
		is_str(t.errmsg, cases[i].errmsg != NULL ? cases[i].errmsg : "",
		       "the reason for a range that is not free");
	}
}

TEST(other_files)
{
	struct id_range_view v = {{NULL}};
	struct id_range_taken t;

	v.text[ID_RANGE_SUBGID] = (char *)"b:165536:65536\n";
	ok(!id_range_is_free(&v, 200000, 257, &t), "groups' ranges count");
	v = (struct id_range_view){{NULL}};
	v.text[ID_RANGE_PASSWD] =
	    (char
		 *)"root:x:0:0:root:/root:/bin/sh\n+::::::\nme:x:200099:5::/:\n";
	ok(!id_range_is_free(&v, 200000, 257, &t),
	   "a user within is in the way");
	is_str(t.errmsg, "/etc/passwd has 200099, me",
	       "the message names the user in the way");
	ok(id_range_is_free(&v, 200000, 99, &t),
	   "the ids before a user are free");
	v = (struct id_range_view){{NULL}};
	v.text[ID_RANGE_GROUP] = (char *)"us:x:200000:me,you\n";
	ok(!id_range_is_free(&v, 200000, 1, &t),
	   "a group within the range is in the way");
	v = (struct id_range_view){{NULL}};
	v.text[ID_RANGE_UID_MAP] = (char *)"         0     100000      65536\n";
	ok(id_range_is_free(&v, 65535, 1, &t),
	   "in a container, the last id of the container is free");
	ok(!id_range_is_free(&v, 65535, 2, &t) &&
	       !id_range_is_free(&v, 70000, 1, &t),
	   "ids outside the container are not free");
	v.text[ID_RANGE_UID_MAP] = NULL;
	v.text[ID_RANGE_GID_MAP] = (char *)"0 0 1\n1 100000 65536\n";
	ok(id_range_is_free(&v, 1, 65536, &t) &&
	       !id_range_is_free(&v, 0, 2, &t),
	   "a group's map, too; what lies in two pieces is not taken");
}

TEST(pick)
{
	char *few = usual_ranges(2), *many = usual_ranges(7000);
	struct id_range_view v = {{NULL}};
	struct id_range_taken t;
	uint32_t first;

	is_int(picked(ID_RANGE_SUBUID, ""), FIRST,
	       "without other ranges, the first block is picked");
	is_int(picked(ID_RANGE_SUBUID, few), FIRST,
	       "two users' ranges: the first block is picked");
	is_int(picked(ID_RANGE_SUBUID, many), FIRST,
	       "7,000 users' ranges: the first block is picked");
	v.text[ID_RANGE_SUBUID] = few;
	ok(!id_range_is_free(&v, 200000, 257, &t),
	   "the block of earlier releases belongs to the second user");
	v.text[ID_RANGE_SUBUID] = many;
	is_int(id_range_pick(&v, 41, any, NULL), FIRST + 41 * ID_RANGE_BLOCK,
	       "another salt picks another block");
	is_int(picked(ID_RANGE_SUBGID, "x:1879048704:1000\n"),
	       FIRST + 2 * ID_RANGE_BLOCK, "a taken block is skipped");
	is_int(picked(ID_RANGE_PASSWD, "x:x:1879048704:1::/:\n"),
	       FIRST + ID_RANGE_BLOCK, "a block with one taken id is skipped");
	first = picked(ID_RANGE_SUBUID, "x:1879048192:268435456\n");
	is_int(first, 524288,
	       "the block at 524288 is picked when the usual space is taken");
	first =
	    picked(ID_RANGE_SUBUID, "x:1879048192:268435456\na:524288:65536\n");
	ok(first >= 589824, "a user's range at 524288 is skipped");
	is_int(picked(ID_RANGE_UID_MAP, "0 100000 65536\n"), 60600,
	       "a block is picked within a container of 16 bits");
	is_int(picked(ID_RANGE_UID_MAP, "0 100000 1048576\n"), 524288,
	       "a block is picked within a container of 20 bits");
	is_int(picked(ID_RANGE_UID_MAP, "0 1000 1\n"), 0,
	       "a container with one id has no block");
	is_int(picked(ID_RANGE_SUBUID, "x:0:4294967295\n"), 0,
	       "all given: none");
	free(few);
	free(many);
}

TEST(spare)
{
	struct id_range_view v = {{NULL}};
	struct id_range_taken t;

	is_int(id_range_spare(&v, &t), UNUSED, "the spare id is no worker's");
	v.text[ID_RANGE_SUBUID] = (char *)"a:100000:65536\nb:165536:65536\n";
	is_int(id_range_spare(&v, &t), UNUSED,
	       "the spare id is not in the second user's range");
	v.text[ID_RANGE_PASSWD] = (char *)"x:x:1879048192:1::/:\n";
	is_int(id_range_spare(&v, &t), UNUSED + 1,
	       "the spare id is not the id of a user");
	v.text[ID_RANGE_SUBGID] = (char *)"x:60000:1879000000\n";
	is_int(id_range_spare(&v, &t), 0,
	       "no id is spare when all are covered");
	is_str(t.errmsg, "/etc/subgid gives 60000-1879059999 to x",
	       "the message says why there is no spare id");
	v = (struct id_range_view){{NULL}};
	v.text[ID_RANGE_UID_MAP] = (char *)"0 100000 65536\n";
	is_int(id_range_spare(&v, &t), 60599,
	       "in a container there is another");
}

/* ---- locks ---- */

static bool lock(void *arg, uint32_t first)
{
	return id_range_lock(*(int *)arg, first, ID_RANGE_BLOCK) == 0;
}

TEST(locks)
{
	struct id_range_view v = {{NULL}};
	uint32_t first, count, got[3];
	int fd[3], pipes[2];
	char byte = 'x';
	pid_t pid;

	for (int i = 0; i < 3; i++) { /* as three servers */
		fd[i] = id_range_open("ids.lock");
		got[i] = id_range_pick(&v, 7, lock, &fd[i]);
	}
	ok(got[0] != got[1] && got[1] != got[2] && got[0] != got[2] &&
	       got[0] == FIRST + 7 * ID_RANGE_BLOCK,
	   "three servers have three different blocks");
	is_int(id_range_lock(fd[1], got[0] + 500, 1), -EAGAIN,
	       "an id in another server's block is not locked");
	ok(id_range_held(fd[0], got[1], got[1] + 1, &first, &count) &&
	       first == got[1] && count == ID_RANGE_BLOCK,
	   "the holder of a block is visible to another server");
	ok(!id_range_held(fd[0], got[2] + ID_RANGE_BLOCK, UINT32_MAX, &first,
			  &count),
	   "a block without a holder is visible as free");
	close(fd[1]);
	is_int(id_range_lock(fd[2], got[1], ID_RANGE_BLOCK), 0,
	       "the block of a closed file is free");

	if (pipe(pipes) != 0)
		return;
	pid = fork();
	if (pid == 0) { /* a server which the test kills */
		int own = id_range_open("ids.lock");

		byte = id_range_lock(own, 524288, 1) == 0 ? 'y' : 'n';
		(void)!write(pipes[1], &byte, 1);
		pause();
		_exit(0);
	}
	(void)!read(pipes[0], &byte, 1);
	ok(byte == 'y' && id_range_lock(fd[0], 524288, 1) == -EAGAIN,
	   "another process holds one");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	is_int(id_range_lock(fd[0], 524288, 1), 0,
	       "a killed process no longer holds the id");
	close(fd[0]);
	close(fd[2]);
	close(pipes[0]);
	close(pipes[1]);
	ok(symlink("elsewhere", "link.lock") == 0 &&
	       id_range_open("link.lock") < 0 && access("elsewhere", F_OK) != 0,
	   "no link is followed to a file of locks");
	unlink("link.lock");
	unlink("ids.lock");
}

TEST(machine)
{
	struct id_range_view v;
	struct id_range_taken t;

	id_range_read(&v);
	ok(strncmp(v.text[ID_RANGE_PASSWD], "root:", 5) == 0, "files are read");
	ok(!id_range_is_free(&v, 0, 1, &t), "root's id is not free here");
	id_range_forget(&v);
}
