/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_run.c - the cgroup of a program's run: set up with limits before the program
 * starts, killed and counted at the run's end. worker/programs.c begins the group,
 * worker/worker.c ends the group; after root is given up privsep.c makes the folder.
 * Without cgroups the functions return -ENOTSUP, and the use of the run is unknown.
 */
#include "supervisor/spawn/cgroup_private.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os/sys.h"
#include "ipc/zygote_proto.h"
#include "supervisor/spawn/privsep.h"

#define KILL_ROUNDS 10 /* without cgroup.kill: rounds of kill(2) */

static struct slot {
	struct cgroup_use before; /* use by earlier runs in the slot */
	int procs[CGROUP_TREES];
	int peak; /* version 2: the descriptor that was reset; 0: none */
	char name[16];
	bool made;
} slots[ZYGOTE_PROTO_SLOTS];

int cgroup_make_run(uint32_t slot, enum cgroup_tree tree)
{
	char name[16];
	int fd;

	if (slot >= ZYGOTE_PROTO_SLOTS || (unsigned)tree >= CGROUP_TREES)
		return -EINVAL;
	if (cgroups.base[tree] == NULL)
		return -ENOENT;
	snprintf(name, sizeof(name), "run-%u", slot);
	fd = cgroup_make(cgroups.base[tree], name);
	if (fd >= 0)
		cgroup_give(cgroups.base[tree], name);
	return fd;
}

static void forget_slot(struct slot *s)
{
	for (int t = 0; t < CGROUP_TREES; t++)
		if (s->procs[t] > 0)
			close(s->procs[t]);
	if (s->peak > 0)
		close(s->peak);
	*s = (struct slot){0};
}

/* Make the group by privsep if privsep runs, else directly. */
static int make_slot(uint32_t slot)
{
	struct slot *s = &slots[slot];

	for (int t = 0; t < CGROUP_TREES; t++) {
		int fd;

		if (cgroups.base[t] == NULL)
			continue;
		fd = privsep_make_run(slot, (enum cgroup_tree)t);
		if (fd == -ENOTCONN)
			fd = cgroup_make_run(slot, (enum cgroup_tree)t);
		if (fd < 0) {
			forget_slot(s);
			return fd;
		}
		s->procs[t] = fd;
	}
	snprintf(s->name, sizeof(s->name), "run-%u", slot);
	s->made = true;
	return 0;
}

/* ---- resource use ---- */

static void read_cpu(const struct slot *s, struct cgroup_use *u)
{
	char text[CGROUP_TEXT_MAX];

	cgroup_get(cgroups.base[CGROUP_UNIFIED], s->name, "cpu.stat", text);
	u->cpu_user_us = cgroup_number_in(text, "user_usec");
	u->cpu_system_us = cgroup_number_in(text, "system_usec");
}

static int64_t read_oom_kills(const struct slot *s)
{
	bool v1 = cgroups.version == CGROUP_V1;

	return cgroup_number(cgroup_base(CGROUP_MEMORY), s->name,
			     v1 ? "memory.oom_control" : "memory.events",
			     "oom_kill");
}

static void read_use(const struct slot *s, struct cgroup_use *u)
{
	bool v1 = cgroups.version == CGROUP_V1;
	const char *memory = cgroup_base(CGROUP_MEMORY);
	const char *pids = cgroup_base(CGROUP_PIDS);

	u->peak_bytes = cgroup_number(
	    memory, s->name, v1 ? "memory.max_usage_in_bytes" : "memory.peak",
	    NULL);
	u->oom_kills = read_oom_kills(s);
	u->refused = cgroup_number(pids, s->name, "pids.events", "max");
	read_cpu(s, u);
}

static int64_t since(int64_t now, int64_t before)
{
	return now < 0 ? -1 : now - (before > 0 ? before : 0);
}

/* Reset version 2's peak, which since Linux 6.12 is reset for the descriptor alone. */
static bool reset_peak_v2(struct slot *s)
{
	if (s->peak > 0) /* from a worker that waited for a run */
		close(s->peak);
	s->peak = cgroup_open(cgroups.base[CGROUP_UNIFIED], s->name,
			      "memory.peak", O_RDWR);
	if (s->peak >= 0 && write(s->peak, "0", 1) == 1)
		return true;
	sys_close(s->peak);
	s->peak = 0;
	return false;
}

static void reset_slot(struct slot *s)
{
	bool done = cgroups.version == CGROUP_V1
			? cgroup_put(cgroups.base[CGROUP_MEMORY], s->name,
				     "memory.max_usage_in_bytes", "0") == 0
			: reset_peak_v2(s);

	read_use(s, &s->before);
	if (done)
		s->before.peak_bytes = -1;
}

/* ---- begin and end ---- */

static int enter_group(struct slot *s, const struct cgroup_limits *limits,
		       pid_t pid)
{
	int rc = cgroup_bound(s->name, limits);

	reset_slot(s);
	for (int t = 0; t < CGROUP_TREES && rc == 0; t++)
		if (cgroups.base[t] != NULL)
			rc = cgroup_move(s->procs[t], pid);
	return rc;
}

/* A kept group may have been removed from outside: then make the group again. */
int cgroup_run_begin(uint32_t slot, const struct cgroup_limits *limits,
		     pid_t pid)
{
	struct slot *s = &slots[slot];
	int rc = 0;

	if (cgroups.version == CGROUP_NONE)
		return -ENOTSUP;
	if (s->made) {
		rc = enter_group(s, limits, pid);
		if (rc != -ENOENT && rc != -ENODEV)
			return rc;
		forget_slot(s);
	}
	rc = make_slot(slot);
	return rc < 0 ? rc : enter_group(s, limits, pid);
}

int cgroup_run_again(uint32_t slot, const struct cgroup_limits *limits)
{
	struct slot *s = &slots[slot];
	int rc = s->made ? cgroup_bound(s->name, limits) : -ENOTSUP;

	if (rc == 0)
		reset_slot(s);
	return rc;
}

static bool kill_one(void *arg, pid_t pid)
{
	(void)arg;
	kill(pid, SIGKILL);
	return true;
}

int64_t cgroup_run_cpu_ms(uint32_t slot)
{
	const struct slot *s = &slots[slot];
	struct cgroup_use u = CGROUP_USE_UNKNOWN;

	if (cgroups.version == CGROUP_NONE || !s->made)
		return -1;
	read_cpu(s, &u);
	if (u.cpu_user_us < 0 || u.cpu_system_us < 0)
		return -1;
	return (since(u.cpu_user_us, s->before.cpu_user_us) +
		since(u.cpu_system_us, s->before.cpu_system_us)) /
	       1000;
}

int64_t cgroup_run_oom_kills(uint32_t slot)
{
	const struct slot *s = &slots[slot];

	if (cgroups.version == CGROUP_NONE || !s->made)
		return -1;
	return since(read_oom_kills(s), s->before.oom_kills);
}

void cgroup_run_look(uint32_t slot, struct cgroup_use *use)
{
	struct slot *s = &slots[slot];
	const struct cgroup_use *b = &s->before;
	char text[32];
	ssize_t n;

	*use = CGROUP_USE_UNKNOWN;
	if (cgroups.version == CGROUP_NONE || !s->made)
		return;
	read_use(s, use);
	if (s->peak > 0) { /* through the descriptor of the reset */
		n = pread(s->peak, text, sizeof(text) - 1, 0);
		text[n > 0 ? n : 0] = '\0';
		if (n > 0)
			use->peak_bytes = strtoll(text, NULL, 10);
		close(s->peak);
		s->peak = 0;
	}
	use->cpu_user_us = since(use->cpu_user_us, b->cpu_user_us);
	use->cpu_system_us = since(use->cpu_system_us, b->cpu_system_us);
	use->oom_kills = since(use->oom_kills, b->oom_kills);
	use->refused = since(use->refused, b->refused);
	/* a peak that cannot be reset counts only after growing */
	if (b->peak_bytes >= 0 && use->peak_bytes <= b->peak_bytes)
		use->peak_bytes = -1;
}

void cgroup_run_end(uint32_t slot, struct cgroup_use *use)
{
	const struct slot *s = &slots[slot];

	if (cgroups.version != CGROUP_NONE && s->made &&
	    cgroup_put(cgroups.base[CGROUP_UNIFIED], s->name, "cgroup.kill",
		       "1") != 0)
		for (int i = 0; i < KILL_ROUNDS; i++)
			if (cgroup_members(cgroups.base[CGROUP_PIDS], s->name,
					   kill_one, NULL) == 0)
				break;
	cgroup_run_look(slot, use);
}
