/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter_refine.c - the errors of calls that take a command or an option, for the filters
 * of filter_program.c. An unknown command fails with the error that programs expect,
 * where ENOSYS would mean that ioctl(2) does not exist at all. libseccomp has no rule for
 * "all other values", so the new instructions precede the instructions of libseccomp.
 * -EFBIG when a filter is too long for the kernel.
 */
#include "sandbox/filter_private.h"

#include <asm/unistd.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define KEYS_MAX 2

/* Calls whose arguments from FIRST on, 32 bits each, select the operation. */
static const struct call {
	int nr;
	unsigned int first, keys;
	uint32_t error;
} calls[] = {{SYS(ioctl), 1, 1, ENOTTY},
	     {SYS(fcntl), 1, 1, EPERM},
	     {SYS(prctl), 0, 1, EPERM},
	     {SYS(setsockopt), 1, 2, ENOPROTOOPT}};

#define RULES_MAX 63 /* for one call: a jump reaches 255 instructions */
#define PER_RULE (2 * KEYS_MAX)

#define LOAD(field)                                                            \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS,                                     \
		 (uint32_t)offsetof(struct seccomp_data, field))
/* The lower half of 64 bits: all supported architectures are little-endian. */
#define LOAD_ARG(n) LOAD(args[n])
#define IF_EQUAL(value, then, otherwise)                                       \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, then, otherwise)
#define GO_ON(n) BPF_STMT(BPF_JMP | BPF_JA, n)

struct code {
	struct sock_filter
	    at[ARRAY_LEN(calls) * (RULES_MAX * PER_RULE + 5) + 3];
	size_t n;
};

static void emit(struct code *c, struct sock_filter f)
{
	c->at[c->n++] = f;
}

/* When a key of R does not match, the instructions of the next rule follow. */
static void emit_rule(struct code *c, const struct call *of,
		      const struct filter_rule *r)
{
	for (unsigned int k = 0; k < of->keys; k++) {
		emit(c, (struct sock_filter)LOAD_ARG(of->first + k));
		emit(c, (struct sock_filter)IF_EQUAL(
			    (uint32_t)r->arg[k].datum_b, 0,
			    (uint8_t)(2 * (of->keys - 1 - k) + 1)));
	}
	emit(c, (struct sock_filter)GO_ON(0)); /* emit_call() sets the target */
}

/* Jump to the end when the call has a known command, or when the call is not OF. */
static int emit_call(struct code *c, const struct call *of,
		     const struct filter_table *const *t, size_t n)
{
	size_t per = 2 * of->keys + 1, first = c->n + 2, known = 0, end;

	emit(c, (struct sock_filter)IF_EQUAL((uint32_t)of->nr, 1, 0));
	emit(c, (struct sock_filter)GO_ON(0));
	for (size_t i = 0; i < n && t[i] != NULL; i++)
		for (size_t r = 0; r < t[i]->n; r++)
			if (t[i]->rules[r].nr == of->nr) {
				if (++known > RULES_MAX)
					return -EFBIG;
				emit_rule(c, of, &t[i]->rules[r]);
			}
	emit(c, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
					     SECCOMP_RET_ERRNO | of->error));
	end = c->n;
	c->at[first - 1].k = (uint32_t)(end - first);
	for (size_t i = 1; i <= known; i++) {
		size_t at = first + i * per - 1;

		c->at[at].k = (uint32_t)(end - at - 1);
	}
	/* load the number again, for the next call */
	emit(c, (struct sock_filter)LOAD(nr));
	return 0;
}

int filter_refine(struct sock_fprog *prog, const struct filter_table *const *t,
		  size_t n)
{
	struct code c = {.n = 0};
	size_t arch, size = sizeof(struct sock_filter);
	struct sock_filter *all;
	int rc = 0;

	emit(&c, (struct sock_filter)LOAD(arch));
	emit(&c, (struct sock_filter)IF_EQUAL(seccomp_arch_native(), 1, 0));
	arch = c.n;
	emit(&c, (struct sock_filter)GO_ON(0));
	emit(&c, (struct sock_filter)LOAD(nr));
	for (size_t i = 0; i < ARRAY_LEN(calls) && rc == 0; i++)
		rc = emit_call(&c, &calls[i], t, n);
	/* libseccomp's part refuses another architecture */
	c.at[arch].k = (uint32_t)(c.n - arch - 1);
	if (rc != 0 || c.n + prog->len > BPF_MAXINSNS)
		return -EFBIG;
	all = xcalloc(c.n + prog->len, size);
	memcpy(all, c.at, c.n * size);
	memcpy(all + c.n, prog->filter, prog->len * size);
	free(prog->filter);
	prog->filter = all;
	prog->len = (unsigned short)(c.n + prog->len);
	return 0;
}
