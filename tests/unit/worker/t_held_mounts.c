/* SPDX-License-Identifier: Apache-2.0 */
/* The mount held for a worker without a run, and the release of the mount. */
#include "worker/held_mounts.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ipc/zygote_proto.h"
#include "tests/unit/tap.h"

#define LAST (ZYGOTE_PROTO_SLOTS - 1)

static bool is_held(int end)
{
	struct pollfd p = {.fd = end, .events = POLLIN};

	return poll(&p, 1, 0) == 0;
}

/* A child process has released the mount and ended. */
static bool was_let_go(int end)
{
	return waitpid(-1, NULL, 0) > 0 && !is_held(end);
}

int main(void)
{
	int first = held_mounts_open(LAST, 7), second;

	ok(first > 0 && is_held(first), "a worker's end is there");
	held_mounts_release(LAST, 6);
	held_mounts_release(LAST - 1, 7);
	held_mounts_release(ZYGOTE_PROTO_SLOTS, 7);
	ok(is_held(first), "another worker's release leaves it alone");
	held_mounts_release(LAST, 7);
	ok(was_let_go(first),
	   "a worker's own release lets the mount go, in a child");
	held_mounts_release(LAST, 7);

	second = held_mounts_open(LAST, 8);
	close(first);
	first = held_mounts_open(LAST, 9);
	ok(was_let_go(second) && is_held(first),
	   "the next worker of a slot releases a mount left behind");
	held_mounts_release(LAST, 8);
	ok(is_held(first), "a release that comes late is not for it");
	held_mounts_release(LAST, 9);
	close(first);
	close(second);
	return tap_done();
}
