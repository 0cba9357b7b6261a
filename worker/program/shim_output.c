/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shim_output.c - the files that a program left in out/, after the end of all processes:
 * plain files become artifacts, in the order of names, folder by folder. shim_exit.c
 * calls shim_collect(). A file that cannot be kept is logged and sent as LOST: the
 * program cannot be told any more, and the run's outcome depends on lost files.
 */
#include "worker/program/shim_private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os/sys.h"
#include "base/text/mime.h"
#include "worker/report.h"
#include "worker/text.h"

#define OUT "out"
#define ALL "(all of it)" /* instead of a name */
#define REST "(the rest)" /* without a name */
#define REFUSED_MAX 100	  /* refused files of out/; then no more are tried */
#define ENTRIES_MAX 10000
#define DEPTH_MAX 16
#define EMPTY_BYTES 40 /* of a folder of tmpfs with no entry but . and .. */
#define LOG_WARNING 4

static struct {
	size_t refused, no_files, entries;
	bool kept;     /* some files became artifacts */
	bool full;     /* no more are tried, but counted */
	uint64_t left; /* number of files not tried */
	char *first;   /* name of the first file not tried */
	const char *errmsg;
} out;

/* ---- lost files ---- */

/* Copy PATH without characters that could fake another line of the log. */
static size_t show_path_text(char *to, size_t max, const char *path)
{
	size_t n = text_clean(to, max, path, strlen(path));

	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)to[i];

		if (c < 0x20 || c == 0x7F)
			to[i] = '?';
		else if (c == 0xC2 && (unsigned char)to[i + 1] < 0xA0)
			to[i] = to[i + 1] = '?';
	}
	return n;
}

static void send_lost(enum msg_lost_kind kind, const char *path, uint64_t size,
		      uint64_t count, const char *errmsg)
{
	char name[MSG_NAME_MAX];

	report_lost(&(struct msg_lost){
	    .kind = kind,
	    .count = count,
	    .size = size,
	    .name = {name, show_path_text(name, sizeof(name), path)},
	    .errmsg = {errmsg, strlen(errmsg)}});
}

/* PATH, of SIZE bytes, is lost because of ERRMSG; S->refused has the kind. */
static void lose(const struct shim *s, const char *path, uint64_t size,
		 const char *errmsg)
{
	static const enum msg_lost_kind kinds[] = {
	    [BY_LIMIT] = MSG_LOST_LIMIT,
	    [BY_SUPERVISOR] = MSG_LOST_REFUSED,
	    [UNFIT] = MSG_LOST_UNFIT,
	    [NO_FILE] = MSG_LOST_NO_FILE};

	char text[1024], name[MSG_NAME_MAX];
	int n;

	if (s->refused == NO_FILE && ++out.no_files > REFUSED_MAX)
		return; /* not expected to be kept, and enough are logged */
	n = (int)show_path_text(name, sizeof(name), path);
	n = snprintf(text, sizeof(text), "out/%.*s is no artifact: %s", n, name,
		     errmsg);
	shim_log(LOG_WARNING, text,
		 (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
	send_lost(kinds[s->refused], path, size, 1, errmsg);
	if (s->refused == NO_FILE || ++out.refused < REFUSED_MAX)
		return;
	out.full = true;
	out.errmsg = "too many others of out/ could not be kept, so it was not "
		     "tried";
}

/* ---- the files ---- */

/* The position of NAME among N sorted names. */
static size_t name_place(char *const *names, size_t n, const char *name)
{
	size_t from = 0;

	while (from < n) {
		size_t mid = from + (n - from) / 2;

		if (strcmp(names[mid], name) < 0)
			from = mid + 1;
		else
			n = mid;
	}
	return from;
}

/*
 * The sorted names in D, for the caller; fewer names when out/ has too many. Without
 * qsort(3), whose query of the memory size the filter denies.
 */
static char **names_in(DIR *d, size_t *n)
{
	char **names = NULL;
	struct dirent *e;

	*n = 0;
	while ((e = readdir(d)) != NULL) {
		size_t at;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (++out.entries > ENTRIES_MAX)
			break;
		names = xrealloc(names, (*n + 1) * sizeof(*names));
		at = name_place(names, *n, e->d_name);
		memmove(names + at + 1, names + at, (*n - at) * sizeof(*names));
		names[at] = xstrdup(e->d_name);
		++*n;
	}
	return names;
}

static void collect_folder(struct shim *s, int fd, const char *prefix,
			   int depth);

static void collect_file(struct shim *s, int at, const char *name,
			 const char *path, const struct stat *st)
{
	static char id[MSG_TEXT_MAX + 1];
	struct str as = {path, strlen(path)};
	const char *type = mime_of(as.p, as.n);
	const char *errmsg;

	s->refused = UNFIT;
	if (!S_ISREG(st->st_mode)) {
		s->refused = NO_FILE;
		errmsg = "it is not a plain file";
	} else if ((st->st_mode & (S_ISUID | S_ISGID)) != 0) {
		errmsg = "it is set-id";
	} else {
		errmsg = shim_file_below(s, at, name, as,
					 (struct str){type, strlen(type)}, id);
	}
	if (errmsg != NULL)
		lose(s, path, (uint64_t)st->st_size, errmsg);
	else
		out.kept = true;
}

static void collect_one(struct shim *s, int at, const char *name,
			const char *path, int depth)
{
	struct stat st;
	int fd;

	s->refused = UNFIT;
	if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
		lose(s, path, 0, "it cannot be looked at");
	} else if (out.full && S_ISREG(st.st_mode)) {
		out.first = out.left++ == 0 ? xstrdup(path) : out.first;
	} else if (S_ISDIR(st.st_mode) && depth == DEPTH_MAX) {
		lose(s, path, 0, "it lies too deep");
	} else if (S_ISDIR(st.st_mode)) {
		fd = shim_open_below(at, name, O_RDONLY | O_DIRECTORY);
		if (fd >= 0)
			collect_folder(s, fd, path, depth + 1);
		else
			lose(s, path, 0, "it cannot be opened");
	} else if (!out.full) {
		collect_file(s, at, name, path, &st);
	}
}

/* Collect a folder; closes FD. */
static void collect_folder(struct shim *s, int fd, const char *prefix,
			   int depth)
{
	DIR *d = fdopendir(fd);
	char **names;
	size_t n;

	if (d == NULL) {
		close(fd);
		return;
	}
	names = names_in(d, &n);
	for (size_t i = 0; i < n; i++) {
		char *path = xasprintf("%s%s%s", prefix,
				       *prefix != '\0' ? "/" : "", names[i]);

		collect_one(s, fd, names[i], path, depth);
		free(path);
		free(names[i]);
	}
	free(names);
	closedir(d);
}

/* ---- the whole of out/ ---- */

static void log_warning(const char *text)
{
	shim_log(LOG_WARNING, text, strlen(text));
}

/* A program may ignore a failed write, like cp(1) in a script. */
void shim_doubt(void)
{
	struct shim_space r;

	if (out.kept && shim_full(&r) && strcmp(r.path, ROOTFS_WORK) == 0)
		send_lost(MSG_LOST_ROOM, ROOTFS_WORK, r.used, 1, r.limit);
}

void shim_collect(struct shim *s)
{
	static const char no_folder[] =
	    "out is no folder that can be opened, so "
	    "nothing in it is an artifact";
	static const char too_many[] = "out/ has more than 10000 files and "
				       "folders; the rest is dropped";
	int work =
	    openat(AT_FDCWD, ROOTFS_WORK, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int fd = work >= 0 ? shim_open_below(work, OUT, O_RDONLY | O_DIRECTORY)
			   : -EACCES;

	if (fd >= 0) {
		collect_folder(s, fd, "", 0);
	} else if (fd != -ENOENT) {
		log_warning(no_folder);
		send_lost(MSG_LOST_UNFIT, ALL, 0, 1, no_folder);
	}
	if (out.left > 0) {
		log_warning("too many files of out/ are no artifacts; the rest "
			    "is dropped");
		send_lost(MSG_LOST_UNFIT, out.first, 0, out.left, out.errmsg);
	}
	if (out.entries > ENTRIES_MAX) {
		log_warning(too_many);
		send_lost(MSG_LOST_UNFIT, REST, 0, 1, too_many);
	}
	sys_close(work);
}

/* ---- between the runs of a resident ---- */

static void empty_folder(int fd, int depth);

static void remove_entry(int at, const char *name, int depth)
{
	int fd;

	if (unlinkat(at, name, 0) == 0 || depth >= DEPTH_MAX)
		return;
	fd = shim_open_below(at, name, O_RDONLY | O_DIRECTORY);
	if (fd >= 0)
		empty_folder(fd, depth + 1);
	(void)unlinkat(at, name, AT_REMOVEDIR);
}

/* Remove all in a folder, as far as possible; closes FD. */
static void empty_folder(int fd, int depth)
{
	DIR *d = fdopendir(fd);
	struct dirent *e;

	if (d == NULL) {
		close(fd);
		return;
	}
	while ((e = readdir(d)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			remove_entry(fd, e->d_name, depth);
	closedir(d);
}

static bool is_empty_folder(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_size == EMPTY_BYTES;
}

/* Looks at sizes alone, since a process may hold the lock of a folder. */
bool shim_has_files(const struct shim *s)
{
	int work =
	    openat(AT_FDCWD, ROOTFS_WORK, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int fd = work >= 0 ? shim_open_below(work, OUT, O_RDONLY | O_DIRECTORY)
			   : -EACCES;
	bool empty = fd == -ENOENT || (fd >= 0 && is_empty_folder(fd));

	sys_close(fd);
	sys_close(work);
	return !empty || (s->p->in_fd >= 0 && !is_empty_folder(s->p->in_fd));
}

void shim_empty_folders(struct shim *s)
{
	int work =
	    openat(AT_FDCWD, ROOTFS_WORK, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int fd =
	    work >= 0 ? shim_open_below(work, OUT, O_RDONLY | O_DIRECTORY) : -1;

	if (fd >= 0)
		empty_folder(fd, 0);
	sys_close(work);
	if (s->p->in_fd >= 0)
		fd = openat(s->p->in_fd, ".",
			    O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->p->in_fd >= 0 && fd >= 0)
		empty_folder(fd, 0);
	free(out.first);
	memset(&out, 0, sizeof(out));
}
