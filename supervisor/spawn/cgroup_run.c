/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_run.c - one program's run in a group of its own: bounded before the
 * program starts, killed and counted at its end. exec/programs.c begins it,
 * exec/worker.c ends it; after root is given up privsep.c makes the folder.
 * Without groups -ENOTSUP, and the use of such a run is unknown.
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
#include "ipc/zygote_proto.h"
#include "supervisor/spawn/privsep.h"

#define KILL_ROUNDS 10 /* without cgroup.kill: until none is left */

static struct slot {
	bool made;
	int procs[CGROUP_TREES];
	struct cgroup_use before; /* what earlier runs in it had used */
	int peak; /* version 2: reset for this descriptor alone; 0: none */
} slots[ZYGOTE_PROTO_SLOTS];

static void name_slot(char name[16], uint32_t slot)
{
	snprintf(name, 16, "run-%u", slot);
}

int cgroup_make_run(uint32_t slot, enum cgroup_tree tree)
{
	char name[16];

	if (slot >= ZYGOTE_PROTO_SLOTS || (unsigned)tree >= CGROUP_TREES)
		return -EINVAL;
	if (cgroups.base[tree] == NULL)
		return -ENOENT;
	name_slot(name, slot);
	return cgroup_make(cgroups.base[tree], name);
}

/* By privsep when there is one, else by ourselves. */
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
		if (fd < 0)
			return fd;
		s->procs[t] = fd;
	}
	s->made = true;
	return 0;
}

static char *dir_of(uint32_t slot, enum cgroup_tree tree)
{
	char name[16];

	if (cgroups.base[tree] == NULL)
		return NULL;
	name_slot(name, slot);
	return xasprintf("%s/%s", cgroups.base[tree], name);
}

/* ---- what it used ---- */

static void read_memory(uint32_t slot, struct cgroup_use *u)
{
	bool v1 = cgroups.version == CGROUP_V1;
	char *dir = dir_of(slot, v1 ? CGROUP_MEMORY : CGROUP_UNIFIED);

	if (dir == NULL)
		return;
	u->peak_bytes = cgroup_number(
	    dir, v1 ? "memory.max_usage_in_bytes" : "memory.peak", NULL);
	u->oom_kills = cgroup_number(
	    dir, v1 ? "memory.oom_control" : "memory.events", "oom_kill");
	free(dir);
}

static void read_refused(uint32_t slot, struct cgroup_use *u)
{
	bool v1 = cgroups.version == CGROUP_V1;
	char *dir = dir_of(slot, v1 ? CGROUP_PIDS : CGROUP_UNIFIED);

	if (dir != NULL)
		u->refused = cgroup_number(dir, "pids.events", "max");
	free(dir);
}

static void read_use(uint32_t slot, struct cgroup_use *u)
{
	char *dir = dir_of(slot, CGROUP_UNIFIED);

	*u = CGROUP_USE_UNKNOWN;
	read_memory(slot, u);
	read_refused(slot, u);
	if (dir == NULL)
		return;
	u->cpu_user_us = cgroup_number(dir, "cpu.stat", "user_usec");
	u->cpu_system_us = cgroup_number(dir, "cpu.stat", "system_usec");
	free(dir);
}

static int64_t since(int64_t now, int64_t before)
{
	return now < 0 ? -1 : now - (before > 0 ? before : 0);
}

/* A peak that cannot be reset says nothing unless it grew. */
static void subtract(struct cgroup_use *u, const struct cgroup_use *b)
{
	u->cpu_user_us = since(u->cpu_user_us, b->cpu_user_us);
	u->cpu_system_us = since(u->cpu_system_us, b->cpu_system_us);
	u->oom_kills = since(u->oom_kills, b->oom_kills);
	u->refused = since(u->refused, b->refused);
	if (b->peak_bytes >= 0 && u->peak_bytes <= b->peak_bytes)
		u->peak_bytes = -1;
}

/* Version 2's peak is reset for who did it, in kernels since 6.12. */
static bool reset_peak_v2(struct slot *s, const char *dir)
{
	char *path = xasprintf("%s/memory.peak", dir);

	s->peak = open(path, O_RDWR | O_CLOEXEC);
	free(path);
	if (s->peak >= 0 && write(s->peak, "0", 1) == 1)
		return true;
	if (s->peak >= 0)
		close(s->peak);
	s->peak = 0;
	return false;
}

static void reset(uint32_t slot)
{
	bool v1 = cgroups.version == CGROUP_V1;
	struct slot *s = &slots[slot];
	char *dir = dir_of(slot, v1 ? CGROUP_MEMORY : CGROUP_UNIFIED);
	bool done = v1 ? cgroup_put(dir, "memory.max_usage_in_bytes", "0") == 0
		       : reset_peak_v2(s, dir);

	free(dir);
	read_use(slot, &s->before);
	if (done)
		s->before.peak_bytes = -1;
}

/* Through the descriptor that reset it. */
static void take_peak(struct slot *s, struct cgroup_use *u)
{
	char text[32];
	ssize_t n;

	if (s->peak <= 0)
		return;
	n = pread(s->peak, text, sizeof(text) - 1, 0);
	close(s->peak);
	s->peak = 0;
	text[n > 0 ? n : 0] = '\0';
	if (n > 0)
		u->peak_bytes = strtoll(text, NULL, 10);
}

/* ---- begin and end ---- */

int cgroup_run_begin(uint32_t slot, const struct cgroup_limits *limits,
		     pid_t pid)
{
	char name[16];
	int rc = 0;

	if (cgroups.version == CGROUP_NONE)
		return -ENOTSUP;
	if (!slots[slot].made)
		rc = make_slot(slot);
	if (rc < 0)
		return rc;
	name_slot(name, slot);
	rc = cgroup_bound(name, limits);
	reset(slot);
	for (int t = 0; t < CGROUP_TREES && rc == 0; t++)
		if (cgroups.base[t] != NULL)
			rc = cgroup_move(slots[slot].procs[t], pid);
	return rc;
}

/* Each that is in DIR. How many. */
static size_t kill_members(const char *dir)
{
	char *path = xasprintf("%s/cgroup.procs", dir);
	FILE *f = fopen(path, "re");
	size_t n = 0;
	int pid;

	/* NOLINTNEXTLINE(cert-err34-c): the kernel wrote these numbers */
	while (f != NULL && fscanf(f, "%d", &pid) == 1 && pid > 0) {
		kill(pid, SIGKILL);
		n++;
	}
	if (f != NULL)
		fclose(f);
	free(path);
	return n;
}

static void kill_all(uint32_t slot)
{
	char *unified = dir_of(slot, CGROUP_UNIFIED);
	char *pids = dir_of(slot, CGROUP_PIDS);

	if (unified == NULL || cgroup_put(unified, "cgroup.kill", "1") < 0)
		for (int i = 0; pids != NULL && i < KILL_ROUNDS; i++)
			if (kill_members(pids) == 0)
				break;
	free(unified);
	free(pids);
}

void cgroup_run_end(uint32_t slot, struct cgroup_use *use)
{
	*use = CGROUP_USE_UNKNOWN;
	if (cgroups.version == CGROUP_NONE || !slots[slot].made)
		return;
	kill_all(slot);
	read_use(slot, use);
	take_peak(&slots[slot], use);
	subtract(use, &slots[slot].before);
}
