/* SPDX-License-Identifier: Apache-2.0 */
/* What is held of a worker that waits for its run, and when it is let go. */
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

/* Another process lets go, and has ended. */
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
	ok(was_let_go(first), "its own lets it go, in a child");
	held_mounts_release(LAST, 7);

	second = held_mounts_open(LAST, 8);
	close(first);
	first = held_mounts_open(LAST, 9);
	ok(was_let_go(second) && is_held(first),
	   "who is next in a slot lets go of what was never released");
	held_mounts_release(LAST, 8);
	ok(is_held(first), "a release that comes late is not for it");
	held_mounts_release(LAST, 9);
	close(first);
	close(second);
	return tap_done();
}
