/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warm_program.c - starts a program that waits for a run, for warm.c: the
 * cgroup, the PREPARE message, and the report that the program waits. A
 * failure, or any other message, ends the worker. The shim watches the rest,
 * and its exit status tells the fault.
 */
#include "supervisor/run/warm/warm_private.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include "base/os/log.h"
#include "ipc/chan.h"
#include "ipc/msg.h"
#include "supervisor/spawn/cgroup.h"

#define SHIM_BYTES (16u << 20) /* memory of the shim itself, as in programs.c */
/* as worker/program/shim_wait.c limits growth */
#define GROWTH_PART 4
#define GROWTH_BYTES (4u << 20)

/* ---- messages from the shim ---- */

static bool is_told(struct spawned *b, const struct msg *m)
{
	uint64_t bytes = m->waiting.memory_bytes;

	if (m->type == MSG_READY)
		return true;
	if (m->type != MSG_WAITING)
		return false;
	b->settled = true;
	b->start_cpu_ms = m->waiting.cpu_ms;
	bytes += bytes / GROWTH_PART + GROWTH_BYTES;
	if (bytes < b->bytes)
		b->bytes = bytes;
	b->kept->needs = b->bytes;
	log_debug("warm", "template=%s pid=%d settled=yes",
		  b->kept->template->id, (int)b->child.pid);
	return true;
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	uint8_t frame[CHAN_FRAME_MAX];
	struct spawned *b = arg;
	const char *errmsg;
	struct msg m;
	ssize_t n = chan_recv(fd, frame);

	(void)what;
	if (n == -EAGAIN)
		return;
	if (n <= 0)
		event_del(b->readable); /* on_exit() follows */
	else if (msg_get(&m, frame, (size_t)n, &errmsg) < 0 || !is_told(b, &m))
		warm_replace(b);
}

/* ---- messages to the shim ---- */

/* Send PREPARE with all arguments, which fit into an empty socket. */
static int send_args(struct spawned *b, const struct template *t)
{
	uint8_t frame[CHAN_FRAME_MAX];
	uint64_t cpu_ms = b->kept->job.cpu_ms;
	struct msg m = {.type = MSG_PREPARE,
			.prepare = {.entry = {t->entry, strlen(t->entry)},
				    .cpu_ms = cpu_ms < WARM_START_CPU_MS
						  ? cpu_ms
						  : WARM_START_CPU_MS,
				    .memory_bytes = b->bytes,
				    .total = t->code_len}};
	size_t sent = 0;
	int rc = 0;

	do {
		size_t n = t->code_len - sent;
		struct str piece = {t->code + sent,
				    n < MSG_CHUNK_MAX ? n : MSG_CHUNK_MAX};

		if (sent == 0)
			m.prepare.head = piece;
		else
			m = (struct msg){.type = MSG_CHUNK, .chunk = {piece}};
		rc = chan_send(b->fd, frame, msg_put(frame, &m));
		sent += piece.n;
	} while (rc == 0 && sent < t->code_len);
	return rc;
}

void warm_program_begin(struct spawned *b)
{
	const struct kept *k = b->kept;
	const struct cgroup_limits limits = {
	    .memory_bytes = b->bytes + SHIM_BYTES,
	    .processes = k->job.limits.processes + 1};
	int rc = -ESRCH;

	if (spawned_is_alive(b)) {
		rc = cgroup_run_begin(b->child.slot, &limits, b->child.pid);
		b->held = rc == 0;
	}
	if (rc == 0 || rc == -ENOTSUP)
		rc = send_args(b, k->template);
	if (rc < 0) {
		log_warn("warm", "template=%s pid=%d err=\"%s\"",
			 k->template->id, (int)b->child.pid, strerror(-rc));
		warm_replace(b);
		return;
	}
	b->prepared = true;
	b->readable = event_new(k->warm->ctx->base, b->fd, EV_READ | EV_PERSIST,
				on_readable, b);
	event_add(b->readable, NULL);
}

const char *warm_why(int status)
{
	static const char *const reasons[UNFITS] = {
	    [UNFIT_ENDED] = "it could not be started, or ended before its run",
	    [UNFIT_SPOKE] = "it spoke, or closed what it was given, too early",
	    [UNFIT_SLOW] = "it did not come to wait for its inputs",
	    [UNFIT_SPINS] = "it used more CPU time than who waits may",
	    [UNFIT_GREW] = "it needed more memory than who waits may have",
	    [UNFIT_CROWD] = "it had too many processes or open files",
	    [UNFIT_CALLS] = "it made a system call that is forbidden",
	    [UNFIT_WOKE] = "one of its processes went on while it was stopped",
	};
	int why = WIFEXITED(status)
		      ? WEXITSTATUS(status) - ZYGOTE_PROTO_EXIT_UNFIT
		      : -1;

	return why >= 0 && why < UNFITS ? reasons[why] : "its worker was ended";
}

void warm_program_end(struct spawned *b)
{
	struct cgroup_use use;

	if (b->held)
		cgroup_run_end(b->child.slot, &use);
	b->held = false;
}
