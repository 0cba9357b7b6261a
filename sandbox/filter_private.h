/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter_private.h - declarations for the tables of the filters.
 *   filter.c          the Lua worker and the zygote; compiles
 *   filter_program.c  programs and builds
 *   filter_shim.c     the shim, and restrictions on top of a program's filter
 *   filter_refine.c   errors of forbidden commands and options
 *   filter_sockets.c  options of sockets, for all filters with sockets
 *   filter_browser.c  paddock-browser, the resolver, and a child of paddock-egress
 */
#ifndef SANDBOX_FILTER_PRIVATE_H
#define SANDBOX_FILTER_PRIVATE_H

#include <errno.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "sandbox/filter.h"

#define FILTER_ARGS_MAX 3

/* Comparisons cover all 64 bits, so that the upper 32 bits cannot differ. */
#define EQ(n, value)                                                           \
	{                                                                      \
		.arg = (n), .op = SCMP_CMP_EQ, .datum_a = (value)              \
	}
#define NE(n, value)                                                           \
	{                                                                      \
		.arg = (n), .op = SCMP_CMP_NE, .datum_a = (value)              \
	}
#define LT(n, value)                                                           \
	{                                                                      \
		.arg = (n), .op = SCMP_CMP_LT, .datum_a = (value)              \
	}
#define MASKED(n, mask, value)                                                 \
	{                                                                      \
		.arg = (n), .op = SCMP_CMP_MASKED_EQ, .datum_a = (mask),       \
		.datum_b = (value)                                             \
	}

#define GE(n, value)                                                           \
	{                                                                      \
		.arg = (n), .op = SCMP_CMP_GE, .datum_a = (value)              \
	}
#define WITHIN(n, bits) MASKED(n, ~(scmp_datum_t)(bits), 0)
#define BUT_FOR(n, bits, value) MASKED(n, ~(scmp_datum_t)(bits), value)
#define INT_EQ(n, value) MASKED(n, UINT32_MAX, (uint32_t)(value))
/*
 * Out-of-band data (MSG_OOB): no interpreter uses such data, and the kernel's code for
 * MSG_OOB had faults. FLAGS: the number of the argument of CALL with the flags.
 */
#define NOT_OOB(flags) MASKED(flags, MSG_OOB, 0)
#define MESSAGES(call, flags)                                                  \
	{SYS(call), ALLOW, 1, {NOT_OOB(flags)}},                               \
	{                                                                      \
		SYS(call), SCMP_ACT_ERRNO(EOPNOTSUPP), 1,                      \
		{                                                              \
			MASKED(flags, MSG_OOB, MSG_OOB)                        \
		}                                                              \
	}

/*
 * Signals of a descriptor (O_ASYNC): the kernel keeps a list for each inode, walks the list
 * with a lock held that is the machine's, and has a single list for /dev/random and
 * /dev/urandom. FLAGS: the number of the argument with the flags.
 */
#define NOT_ASYNC(flags) MASKED(flags, FASYNC, 0)

struct filter_rule {
	int nr;
	uint32_t action;
	unsigned int args;
	struct scmp_arg_cmp arg[FILTER_ARGS_MAX];
};

#define ALLOW SCMP_ACT_ALLOW
/* Huge pages, a reserve of the machine, and mappings that RLIMIT_DATA does not count. */
#define MAPS_REFUSED (MAP_HUGETLB | MAP_GROWSDOWN)
#define RW WITHIN(2, PROT_READ | PROT_WRITE)

#define SYS(name) SCMP_SYS(name)

struct filter_table {
	const int *calls; /* allowed with any arguments */
	size_t n_calls;
	const struct filter_rule *rules;
	size_t n;
};
#define FILTER_TABLE(calls, rules)                                             \
	{                                                                      \
		calls, ARRAY_LEN(calls), rules, ARRAY_LEN(rules)               \
	}

/* A table with rules alone. */
#define FILTER_RULES(list)                                                     \
	{                                                                      \
		.rules = (list), .n = ARRAY_LEN(list)                          \
	}

extern const struct filter_table filter_shim, filter_no_locks, filter_one_exec;
/* shared by programs and builds, of programs, and of builds */
extern const struct filter_table filter_local, filter_counts, filter_no_sockets,
    filter_no_counts, filter_network;
/* shared by builds and programs with network, and of these programs */
extern const struct filter_table filter_connects, filter_proxied;
/* shared by paddock-browser and the resolver, and of each */
extern const struct filter_table filter_shared, filter_browser, filter_names;
/* of a child of paddock-egress, beside those of paddock-browser */
extern const struct filter_table filter_egress;

/* madvise(2), of programs, builds, paddock-browser and its resolver */
extern const struct filter_table filter_advice;

/* setsockopt(2): options of all sockets, of internet sockets, and of netlink sockets. */
extern const struct filter_table filter_options, filter_internet_options,
    filter_address_options;

/* Add rules, or ACTION for the calls of LIST, to CTX. 0 or -errno. */
int filter_add(scmp_filter_ctx ctx, const struct filter_rule *rules, size_t n);
int filter_add_calls(scmp_filter_ctx ctx, uint32_t action, const int *list,
		     size_t n);
/* Add the rules of a program or of a build that are in no table. */
int filter_add_program(scmp_filter_ctx ctx);
int filter_add_build(scmp_filter_ctx ctx);

/*
 * Prepend to PROG the errors of calls whose command or option is in no rule of
 * the N tables T; NULL: no table. 0 or -errno.
 */
int filter_refine(struct sock_fprog *prog, const struct filter_table *const *t,
		  size_t n);

#endif
