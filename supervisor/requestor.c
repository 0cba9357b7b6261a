#include "supervisor/requestor.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

struct requestor *requestors_find(struct requestors *all, const char *name)
{
	struct requestor *q;

	HASH_FIND_STR(all->by_name, name, q);
	return q;
}

struct requestor *requestors_of_uid(struct requestors *all, uid_t uid)
{
	struct requestor *q;
	char name[32];

	snprintf(name, sizeof(name), "uid:%u", (unsigned)uid);
	q = requestors_find(all, name);
	if (q != NULL)
		return q;
	q = xcalloc(1, sizeof(*q));
	q->name = xstrdup(name);
	q->trust = TRUST_LOCAL;
	sched_lane_init(&q->lane);
	HASH_ADD_KEYPTR(hh, all->by_name, q->name, strlen(q->name), q);
	return q;
}

void requestors_fini(struct requestors *all)
{
	struct requestor *q = all->by_name, *next;

	HASH_CLEAR(hh, all->by_name);
	for (; q != NULL; q = next) {
		next = q->hh.next;
		free(q->name);
		free(q);
	}
}

bool requestor_is_anonymous(const struct requestor *q)
{
	return strcmp(q->name, REQUESTOR_ANONYMOUS) == 0;
}

const char *trust_name(enum template_trust trust)
{
	return trust == TRUST_LOCAL ? "local" : "remote";
}
