/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_uids.c - for "paddock doctor": compares the locks of
 * base/os/id_range.c with the files of users. A server checks its range only
 * when it starts; a range given to a user later is found here. Without locks,
 * or as an ordinary user, nothing is reported.
 */
#include "cli/server/doctor_uids.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "base/os/id_range.h"

#define RANGES_MAX 64 /* servers on a machine */

struct held {
	struct {
		uint32_t first, count;
	} all[RANGES_MAX];
	size_t n;
};

/*
 * Collect the ranges held within [FROM, END). The kernel reports any range in
 * it: the parts before and after follow by recursion.
 */
static void find_held(int fd, uint64_t from, uint64_t end, struct held *h)
{
	uint32_t first, count;

	if (h->n == RANGES_MAX ||
	    !id_range_held(fd, from, end, &first, &count) || count == 0)
		return;
	find_held(fd, from, first, h);
	if (h->n < RANGES_MAX) {
		h->all[h->n].first = first;
		h->all[h->n++].count = count;
	}
	find_held(fd, (uint64_t)first + count, end, h);
}

void doctor_uids(struct json_object *report,
		 void (*bad)(void *arg, const char *range, const char *errmsg),
		 void *arg)
{
	int fd = geteuid() == 0 && access(ID_RANGE_LOCKS, F_OK) == 0
		     ? id_range_open(ID_RANGE_LOCKS)
		     : -1;
	struct json_object *list;
	struct id_range_view v;
	struct held h = {.n = 0};

	if (fd < 0)
		return;
	find_held(fd, 1, UINT32_MAX, &h);
	close(fd);
	list = json_object_new_array();
	id_range_read(&v);
	for (size_t i = 0; i < h.n; i++) {
		uint32_t first = h.all[i].first, count = h.all[i].count;
		struct id_range_taken t;
		char range[32];

		snprintf(range, sizeof(range), "%" PRIu32 "-%" PRIu32, first,
			 first + count - 1);
		json_object_array_add(list, json_object_new_string(range));
		if (!id_range_is_free(&v, first, count, &t))
			bad(arg, range, t.errmsg);
	}
	id_range_forget(&v);
	json_object_object_add(report, DOCTOR_UIDS, list);
}
