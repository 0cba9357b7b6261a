/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requestor_left.c - finds counters of requestors that are not zero when
 * nothing is left to count: server_fini() asks at the very end. Such a counter
 * was taken and never given back, and gets a line of the log; the tests expect
 * none.
 */
#include "supervisor/run/requestor/requestor.h"

#include "base/os/log.h"

struct counter {
	const char *name;
	long long left;
};

static size_t tell_counter(const struct requestor *q, const struct counter *c)
{
	if (c->left == 0)
		return 0;
	log_warn("requestor", "requestor=%s left=%lld of=%s", q->name, c->left,
		 c->name);
	return 1;
}

#define COUNTER(member)                                                        \
	{                                                                      \
#member, (long long)q->member                                  \
	}

static size_t tell_requestor(const struct requestor *q)
{
	const struct counter all[] = {
	    COUNTER(lane.running),	COUNTER(lane.queued),
	    COUNTER(lane.queued_bytes), COUNTER(parked),
	    COUNTER(keeping_bytes),	COUNTER(n_reads),
	    COUNTER(n_listens),		COUNTER(http_sessions),
	    COUNTER(http_streams),	COUNTER(http_conns),
	    COUNTER(http_store_waits),	COUNTER(http_session_deletes),
	    COUNTER(http_open_streams), COUNTER(http_live_bytes),
	    COUNTER(http_ended_bytes),	COUNTER(http.bodies),
	    COUNTER(http.unread),	COUNTER(message_bytes),
	    COUNTER(uploads),		COUNTER(downloads),
	    COUNTER(line_bytes),	COUNTER(memory.held),
	    COUNTER(n_requests),
	};
	size_t n = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		n += tell_counter(q, &all[i]);
	return n;
}

size_t requestors_left(const struct requestors *all)
{
	const struct requestor *q, *next;
	size_t n = 0;

	HASH_ITER(hh, all->by_name, q, next)
		n += tell_requestor(q);
	return n;
}
