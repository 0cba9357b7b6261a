/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_filter_table.c - each filter's answer to every system call number of
 * every architecture, against the tables in tests/unit/sandbox/golden.
 *
 * The filters are walked offline, down both branches wherever a system call's
 * arguments decide. "t_filter_table --write" writes the tables anew.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "sandbox/filter.h"
#include "tests/unit/tap.h"

#define NUMBERS 1024
#define X32 0x40000000u
#define ACTIONS_MAX 8

static const struct {
	enum filter_kind kind;
	const char *golden;
} filters[] = {
    {FILTER_WORKER, "tests/unit/sandbox/golden/filter_worker.txt"},
    {FILTER_ZYGOTE, "tests/unit/sandbox/golden/filter_zygote.txt"},
    {FILTER_CLONE, "tests/unit/sandbox/golden/filter_birth.txt"},
    {FILTER_PROGRAM, "tests/unit/sandbox/golden/filter_program.txt"},
    {FILTER_NETWORK, "tests/unit/sandbox/golden/filter_network.txt"},
    {FILTER_BUILD, "tests/unit/sandbox/golden/filter_build.txt"},
    {FILTER_SHIM, "tests/unit/sandbox/golden/filter_shim.txt"},
    {FILTER_NO_LOCKS, "tests/unit/sandbox/golden/filter_no_locks.txt"},
    {FILTER_ONE_EXEC, "tests/unit/sandbox/golden/filter_one_exec.txt"},
    {FILTER_BROWSER, "tests/unit/sandbox/golden/filter_broker.txt"},
    {FILTER_NAMES, "tests/unit/sandbox/golden/filter_names.txt"},
    {FILTER_EGRESS, "tests/unit/sandbox/golden/filter_egress.txt"},
};

static const struct {
	const char *name;
	uint32_t audit, scmp, first;
} archs[] = {
    {"x86_64", AUDIT_ARCH_X86_64, SCMP_ARCH_X86_64, 0},
    {"i386", AUDIT_ARCH_I386, SCMP_ARCH_X86, 0},
    {"x32", AUDIT_ARCH_X86_64, SCMP_ARCH_X32, X32},
};

/* ---- a walk through a filter ---- */

struct walk {
	const struct sock_fprog *prog;
	uint32_t arch, nr;
	uint32_t actions[ACTIONS_MAX]; /* the possible results, ascending */
	size_t n;
	bool seen[BPF_MAXINSNS]; /* with an unknown accumulator */
	/* an instruction unused by the project's filters */
	bool broken;
};

static void add_action(struct walk *w, uint32_t action)
{
	size_t i = 0;

	while (i < w->n && w->actions[i] < action)
		i++;
	if (i < w->n && w->actions[i] == action)
		return;
	if (w->n == ACTIONS_MAX) {
		w->broken = true;
		return;
	}
	memmove(w->actions + i + 1, w->actions + i,
		(w->n - i) * sizeof(*w->actions));
	w->actions[i] = action;
	w->n++;
}

/* The accumulator: unknown after loading a piece of an argument. */
struct acc {
	bool known;
	uint32_t value;
};

static struct acc load(const struct walk *w, uint32_t at)
{
	if (at == offsetof(struct seccomp_data, nr))
		return (struct acc){true, w->nr};
	if (at == offsetof(struct seccomp_data, arch))
		return (struct acc){true, w->arch};
	return (struct acc){false, 0};
}

static bool holds(uint16_t code, uint32_t a, uint32_t k)
{
	switch (BPF_OP(code)) {
	case BPF_JEQ:
		return a == k;
	case BPF_JGT:
		return a > k;
	case BPF_JGE:
		return a >= k;
	default:
		return (a & k) != 0;
	}
}

static void walk_from(struct walk *w, size_t pc, struct acc a)
{
	for (; pc < w->prog->len && !w->broken; pc++) {
		const struct sock_filter *f = &w->prog->filter[pc];

		if (!a.known && w->seen[pc])
			return;
		w->seen[pc] = !a.known;
		switch (f->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			a = load(w, f->k);
			continue;
		case BPF_ALU | BPF_AND | BPF_K:
			a.value &= f->k;
			continue;
		case BPF_JMP | BPF_JA:
			pc += f->k;
			continue;
		case BPF_JMP | BPF_JEQ | BPF_K:
		case BPF_JMP | BPF_JGT | BPF_K:
		case BPF_JMP | BPF_JGE | BPF_K:
		case BPF_JMP | BPF_JSET | BPF_K:
			if (!a.known)
				walk_from(w, pc + 1 + f->jt, a);
			pc += a.known && holds(f->code, a.value, f->k) ? f->jt
								       : f->jf;
			continue;
		case BPF_RET | BPF_K:
			add_action(w, f->k);
			return;
		default:
			w->broken = true;
			return;
		}
	}
	w->broken = true; /* past the end */
}

/* ---- the table ---- */

static void put_action(struct buf *b, uint32_t action)
{
	char text[48];

	switch (action & SECCOMP_RET_ACTION_FULL) {
	case SECCOMP_RET_ALLOW:
		buf_add_str(b, "ALLOW");
		return;
	case SECCOMP_RET_TRAP:
		buf_add_str(b, "TRAP");
		return;
	case SECCOMP_RET_USER_NOTIF:
		buf_add_str(b, "NOTIFY");
		return;
	case SECCOMP_RET_KILL_PROCESS:
		buf_add_str(b, "KILL_PROCESS");
		return;
	case SECCOMP_RET_ERRNO:
		snprintf(text, sizeof(text), "ERRNO(%s)",
			 strerrorname_np((int)(action & SECCOMP_RET_DATA)));
		break;
	default:
		snprintf(text, sizeof(text), "0x%x", action);
		break;
	}
	buf_add_str(b, text);
}

static void put_actions(struct buf *b, const struct walk *w)
{
	for (size_t i = 0; i < w->n; i++) {
		buf_add_str(b, i > 0 ? " or " : "");
		put_action(b, w->actions[i]);
	}
}

static bool same_actions(const struct walk *a, const struct walk *b)
{
	return a->n == b->n &&
	       memcmp(a->actions, b->actions, a->n * sizeof(*a->actions)) == 0;
}

static struct walk walk_number(const struct sock_fprog *prog, size_t arch,
			       uint32_t nr)
{
	struct walk w = {.prog = prog,
			 .arch = archs[arch].audit,
			 .nr = archs[arch].first + nr};

	walk_from(&w, 0, (struct acc){true, 0});
	return w;
}

/*
 * Print a line for the common result of all numbers, then a line for each exception.
 */
static void put_arch(struct buf *b, const struct sock_fprog *prog, size_t arch)
{
	struct walk rest = walk_number(prog, arch, NUMBERS);
	char text[128];

	snprintf(text, sizeof(text), "%-7s %-23s ", archs[arch].name,
		 "(others)");
	buf_add_str(b, text);
	put_actions(b, &rest);
	buf_add_str(b, "\n");
	for (uint32_t nr = 0; nr < NUMBERS; nr++) {
		struct walk w = walk_number(prog, arch, nr);
		char *name;

		if (w.broken)
			ok(false, "%s %u can be walked", archs[arch].name, nr);
		if (same_actions(&w, &rest))
			continue;
		name = seccomp_syscall_resolve_num_arch(archs[arch].scmp,
							(int)w.nr);
		snprintf(text, sizeof(text), "%-7s %-23s ", archs[arch].name,
			 name != NULL ? name : "?");
		buf_add_str(b, text);
		put_actions(b, &w);
		buf_add_str(b, "\n");
		free(name);
	}
}

static void test_large_numbers(const char *golden,
			       const struct sock_fprog *prog)
{
	static const uint32_t numbers[] = {1025, 4096, 0x3fffffff, 0x3ffffc00,
					   0x7fffffff - X32};

	for (size_t a = 0; a < ARRAY_LEN(archs); a++) {
		struct walk rest = walk_number(prog, a, NUMBERS);
		size_t same = 0;

		for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
			struct walk w = walk_number(prog, a, numbers[i]);

			same += same_actions(&w, &rest);
		}
		is_int(same, ARRAY_LEN(numbers),
		       "%s: %s: numbers that no kernel has are as any other",
		       golden, archs[a].name);
	}
}

/* ---- the files ---- */

/* Print the first differing line. */
static void show_difference(const char *got, const char *want)
{
	while (*got != '\0' && strcspn(got, "\n") == strcspn(want, "\n") &&
	       strncmp(got, want, strcspn(got, "\n")) == 0) {
		got += strcspn(got, "\n");
		want += strcspn(want, "\n");
		got += *got == '\n';
		want += *want == '\n';
	}
	printf("# got:  %.*s\n# want: %.*s\n", (int)strcspn(got, "\n"), got,
	       (int)strcspn(want, "\n"), want);
}

static void compare(const char *path, struct buf *got)
{
	char *want = buf_file(path, 1 << 20);

	buf_add(got, "", 1);
	if (!ok(strcmp(buf_data(got), want) == 0,
		"every number of every architecture is as %s says", path))
		show_difference(buf_data(got), want);
	free(want);
}

static void save(const char *path, const struct buf *b)
{
	FILE *f = fopen(path, "we");

	ok(f != NULL && fwrite(buf_data(b), 1, buf_len(b), f) == buf_len(b) &&
	       fclose(f) == 0,
	   "%s is written", path);
}

int main(int argc, char **argv)
{
	bool write = argc > 1 && strcmp(argv[1], "--write") == 0;

	for (size_t i = 0; i < ARRAY_LEN(filters); i++) {
		struct sock_fprog prog;
		struct buf table = {0};

		is_int(filter_make(filters[i].kind, &prog), 0,
		       "%s: it compiles", filters[i].golden);
		for (size_t a = 0; a < ARRAY_LEN(archs); a++)
			put_arch(&table, &prog, a);
		test_large_numbers(filters[i].golden, &prog);
		if (write)
			save(filters[i].golden, &table);
		else
			compare(filters[i].golden, &table);
		buf_fini(&table);
		free(prog.filter);
	}
	return tap_done();
}
