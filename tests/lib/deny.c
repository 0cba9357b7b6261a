/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deny.c - runs a command with some system calls denied, as on a restricted machine:
 *
 *   deny WHAT... -- COMMAND [ARGUMENT...]
 */
#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <unistd.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define EXIT_UNABLE 126 /* as in env(1) and similar commands */
#define EXIT_USAGE 2

/*
 * How calls are selected: any call, by bits or value of an argument, or of the fourth.
 */
enum match { ANY, HAS_BITS, IS_VALUE, FOURTH_IS_VALUE };

/* How mounts.c mounts a layer, and nothing else is mounted. */
#define LAYER (MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOATIME)

static const struct {
	const char *what;
	int call;
	int error;
	enum match match;
	unsigned long arg;
} denials[] = {
    {"userns", SCMP_SYS(unshare), EPERM, HAS_BITS, CLONE_NEWUSER},
    {"userns", SCMP_SYS(clone), EPERM, HAS_BITS, CLONE_NEWUSER},
    {"userns", SCMP_SYS(clone3), ENOSYS, ANY, 0},
    {"namespaces", SCMP_SYS(unshare), EPERM, ANY, 0},
    {"namespaces", SCMP_SYS(clone), EPERM, HAS_BITS, CLONE_NEWUSER},
    {"namespaces", SCMP_SYS(clone3), ENOSYS, ANY, 0},
    {"mount", SCMP_SYS(mount), EPERM, ANY, 0},
    {"mount", SCMP_SYS(open_tree), EPERM, ANY, 0},
    {"mount", SCMP_SYS(fsopen), EPERM, ANY, 0},
    {"mount", SCMP_SYS(move_mount), EPERM, ANY, 0},
    {"layers", SCMP_SYS(mount), EINVAL, FOURTH_IS_VALUE, LAYER},
    {"openat2", SCMP_SYS(openat2), ENOSYS, ANY, 0},
    {"open_tree", SCMP_SYS(open_tree), ENOSYS, ANY, 0},
    {"move_mount", SCMP_SYS(move_mount), ENOSYS, ANY, 0},
    {"mount_setattr", SCMP_SYS(mount_setattr), ENOSYS, ANY, 0},
    {"landlock", SCMP_SYS(landlock_create_ruleset), EOPNOTSUPP, ANY, 0},
    {"seccomp", SCMP_SYS(seccomp), EINVAL, ANY, 0},
    {"seccomp", SCMP_SYS(prctl), EINVAL, IS_VALUE, PR_SET_SECCOMP},
    {"seccomp", SCMP_SYS(prctl), EINVAL, IS_VALUE, PR_GET_SECCOMP},
    {"filters", SCMP_SYS(seccomp), EINVAL, ANY, 0},
    {"filters", SCMP_SYS(prctl), EINVAL, IS_VALUE, PR_SET_SECCOMP},
    {"setuid", SCMP_SYS(setresuid), EPERM, ANY, 0},
    {"setuid", SCMP_SYS(setuid), EPERM, ANY, 0},
};

static int add(scmp_filter_ctx ctx, size_t i)
{
	unsigned long arg = denials[i].arg;
	bool bits = denials[i].match == HAS_BITS;
	struct scmp_arg_cmp cmp = {
	    .arg = denials[i].match == FOURTH_IS_VALUE ? 3 : 0,
	    .op = bits ? SCMP_CMP_MASKED_EQ : SCMP_CMP_EQ,
	    .datum_a = arg, /* the mask, of bits */
	    .datum_b = arg};

	return seccomp_rule_add_array(
	    ctx, SCMP_ACT_ERRNO((unsigned)denials[i].error), denials[i].call,
	    denials[i].match == ANY ? 0 : 1, &cmp);
}

static int deny(scmp_filter_ctx ctx, const char *what)
{
	bool known = false;
	int rc = 0;

	for (size_t i = 0; i < ARRAY_LEN(denials) && rc == 0; i++) {
		if (strcmp(denials[i].what, what) != 0)
			continue;
		known = true;
		rc = add(ctx, i);
	}
	return known ? rc : -EINVAL;
}

int main(int argc, char **argv)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
	int rc = ctx == NULL ? -ENOMEM : 0, i;

	if (rc == 0 && geteuid() == 0) /* root's privileges stay as before */
		rc = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_NNP, 0);
	for (i = 1; rc == 0 && i < argc && strcmp(argv[i], "--") != 0; i++)
		rc = deny(ctx, argv[i]);
	if (rc == 0 && i + 1 >= argc) {
		fputs("usage: deny WHAT... -- COMMAND [ARGUMENT...]\n", stderr);
		return EXIT_USAGE;
	}
	if (rc == 0)
		rc = seccomp_load(ctx);
	if (rc != 0) {
		fprintf(stderr, "deny: %s: %s\n", i < argc ? argv[i] : "",
			strerror(-rc));
		return EXIT_UNABLE;
	}
	seccomp_release(ctx);
	execvp(argv[i + 1], argv + i + 1);
	fprintf(stderr, "deny: %s: %s\n", argv[i + 1], strerror(errno));
	return EXIT_UNABLE;
}
