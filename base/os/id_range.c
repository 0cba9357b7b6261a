/* SPDX-License-Identifier: Apache-2.0 */
/*
 * id_range.c - finds user and group ids for servers started by root, and locks
 * them, so no two servers, and no user's subordinate ids, overlap. The server
 * asks at its start, "paddock doctor" later. An unreadable line of a file
 * counts as no range; without a free block, or a lock, the caller refuses to
 * start.
 */
#include "base/os/id_range.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"

#define FILE_MAX (16u << 20)
#define TRIES_MAX 1024 /* blocks of a region */

/*
 * The forms of a line: "NAME:FIRST:COUNT", "NAME:x:ID:", "INSIDE OUTSIDE
 * COUNT".
 */
enum kind { RANGES, NAMES, MAP };

static const struct {
	const char *path;
	enum kind kind;
} files[ID_RANGE_FILES] = {
    [ID_RANGE_SUBUID] = {"/etc/subuid", RANGES},
    [ID_RANGE_SUBGID] = {"/etc/subgid", RANGES},
    [ID_RANGE_PASSWD] = {"/etc/passwd", NAMES},
    [ID_RANGE_GROUP] = {"/etc/group", NAMES},
    [ID_RANGE_UID_MAP] = {"/proc/self/uid_map", MAP},
    [ID_RANGE_GID_MAP] = {"/proc/self/gid_map", MAP},
};

/*
 * Regions of systemd's table of ids (UIDS-GIDS): first an unused region; then
 * the containers' region, which begins above the usual ranges of users; then,
 * for a container with 16 bits of ids, an unused gap. The first block is left
 * to the spare ids.
 */
#define UNUSED_FIRST 0x70000000u
static const struct {
	uint32_t first, last;
} regions[] = {
    {UNUSED_FIRST + ID_RANGE_BLOCK, 0x7FFDFFFF},
    {524288, 0x6FFFFFFF},
    {60600, 61183},
};

static const uint32_t spares[] = {UNUSED_FIRST, UNUSED_FIRST + 1,
				  UNUSED_FIRST + 2, UNUSED_FIRST + 3, 60599};

/* ---- files ---- */

void id_range_read(struct id_range_view *v)
{
	for (size_t i = 0; i < ID_RANGE_FILES; i++)
		v->text[i] = buf_file(files[i].path, FILE_MAX);
}

void id_range_forget(struct id_range_view *v)
{
	for (size_t i = 0; i < ID_RANGE_FILES; i++)
		free(v->text[i]);
	*v = (struct id_range_view){{NULL}};
}

/* Read the number at *P, which moves past the number and END. */
static bool parse_range_number(const char **p, char end, uint64_t *value)
{
	char *after;

	if (**p < '0' || **p > '9')
		return false;
	errno = 0;
	*value = strtoull(*p, &after, 10);
	if (errno != 0 || (*after != end && !(end == '\n' && *after == '\0')))
		return false;
	*p = *after == '\0' ? after : after + 1;
	return true;
}

/* Return the place behind the next colon on the line; NULL: no colon. */
static const char *past_colon(const char *p)
{
	p += strcspn(p, ":\n");
	return *p == ':' ? p + 1 : NULL;
}

static bool read_range(const char *line, uint64_t *first, uint64_t *count)
{
	const char *p = past_colon(line);

	return p != NULL && parse_range_number(&p, ':', first) &&
	       parse_range_number(&p, '\n', count);
}

static bool read_name(const char *line, uint64_t *first, uint64_t *count)
{
	const char *p = past_colon(line);

	p = p != NULL ? past_colon(p) : NULL;
	*count = 1;
	return p != NULL && parse_range_number(&p, ':', first);
}

static bool read_map(const char *line, uint64_t *first, uint64_t *count)
{
	const char *p = line + strspn(line, " ");
	uint64_t outside;

	if (!parse_range_number(&p, ' ', first))
		return false;
	p += strspn(p, " ");
	if (!parse_range_number(&p, ' ', &outside))
		return false;
	p += strspn(p, " ");
	return parse_range_number(&p, '\n', count);
}

static bool (*const readers[])(const char *line, uint64_t *first,
			       uint64_t *count) = {
    [RANGES] = read_range, [NAMES] = read_name, [MAP] = read_map};

/* ---- free ids ---- */

/* Does a line of F have any of these ids? */
static bool has_one(const char *text, enum id_range_file f, uint32_t first,
		    uint32_t count, struct id_range_taken *t)
{
	uint64_t from, n, last;

	for (const char *line = text; *line != '\0';
	     line += strcspn(line, "\n"), line += *line == '\n') {
		if (!readers[files[f].kind](line, &from, &n) || n == 0)
			continue;
		if (n > UINT64_MAX - from)
			n = UINT64_MAX - from;
		if (from >= (uint64_t)first + count || from + n <= first)
			continue;
		last = from + n - 1;
		t->last = last > UINT32_MAX ? UINT32_MAX : (uint32_t)last;
		if (n == 1)
			snprintf(t->errmsg, sizeof(t->errmsg),
				 "%s has %" PRIu64 ", %.*s", files[f].path,
				 from, (int)strcspn(line, ":\n"), line);
		else
			snprintf(t->errmsg, sizeof(t->errmsg),
				 "%s gives %" PRIu64 "-%" PRIu64 " to %.*s",
				 files[f].path, from, last,
				 (int)strcspn(line, ":\n"), line);
		return true;
	}
	return false;
}

/* Does a line of the map F have all of these ids? */
static bool has_all(const char *text, enum id_range_file f, uint32_t first,
		    uint32_t count, struct id_range_taken *t)
{
	uint64_t from, n;

	for (const char *line = text; *line != '\0';
	     line += strcspn(line, "\n"), line += *line == '\n')
		if (readers[MAP](line, &from, &n) && from <= first &&
		    n <= UINT32_MAX && from + n >= (uint64_t)first + count)
			return true;
	t->last = first + count - 1;
	snprintf(t->errmsg, sizeof(t->errmsg), "%s has no %" PRIu32 "-%" PRIu32,
		 files[f].path, first, t->last);
	return false;
}

bool id_range_is_free(const struct id_range_view *v, uint32_t first,
		      uint32_t count, struct id_range_taken *t)
{
	for (int f = 0; f < ID_RANGE_FILES; f++) {
		const char *text = v->text[f];

		if (text == NULL || *text == '\0')
			continue;
		if (files[f].kind == MAP
			? !has_all(text, (enum id_range_file)f, first, count, t)
			: has_one(text, (enum id_range_file)f, first, count, t))
			return false;
	}
	return true;
}

uint32_t id_range_pick(const struct id_range_view *v, uint64_t salt,
		       bool (*take)(void *arg, uint32_t first), void *arg)
{
	for (size_t r = 0; r < ARRAY_LEN(regions); r++) {
		uint32_t blocks =
		    (regions[r].last - regions[r].first + 1) / ID_RANGE_BLOCK;
		uint32_t at = (uint32_t)(salt % blocks);

		for (int i = 0; i < TRIES_MAX && i < (int)blocks + 1; i++) {
			uint32_t first = regions[r].first + at * ID_RANGE_BLOCK;
			struct id_range_taken t = {.last = first};

			if (id_range_is_free(v, first, ID_RANGE_BLOCK, &t) &&
			    take(arg, first))
				return first;
			if (t.last > regions[r].last)
				at = 0;
			else if (t.last > first)
				at = (t.last - regions[r].first) /
					 ID_RANGE_BLOCK +
				     1;
			else
				at++;
			if (at >= blocks)
				at = 0;
		}
	}
	return 0;
}

uint32_t id_range_spare(const struct id_range_view *v, struct id_range_taken *t)
{
	for (size_t i = 0; i < ARRAY_LEN(spares); i++)
		if (id_range_is_free(v, spares[i], 1, t))
			return spares[i];
	return 0;
}

/* ---- locks ---- */

int id_range_open(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	return fd < 0 ? -errno : fd;
}

/*
 * The lock on ids [FROM, END): the byte at offset N of the file stands for the
 * id N. The file may be empty.
 */
static struct flock lock_on(uint64_t from, uint64_t end)
{
	return (struct flock){.l_type = F_WRLCK,
			      .l_whence = SEEK_SET,
			      .l_start = (off_t)from,
			      .l_len = (off_t)(end - from)};
}

int id_range_lock(int fd, uint32_t first, uint32_t count)
{
	struct flock l = lock_on(first, (uint64_t)first + count);

	if (fcntl(fd, F_OFD_SETLK, &l) == 0)
		return 0;
	return errno == EACCES ? -EAGAIN : -errno;
}

bool id_range_held(int fd, uint64_t from, uint64_t end, uint32_t *first,
		   uint32_t *count)
{
	struct flock l = lock_on(from, end);

	if (from >= end || fcntl(fd, F_OFD_GETLK, &l) != 0 ||
	    l.l_type == F_UNLCK)
		return false;
	*first = (uint32_t)l.l_start;
	*count = (uint32_t)l.l_len;
	return true;
}
