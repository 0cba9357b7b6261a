/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - paddock-worker: the zygote of the supervisor's workers. It takes its
 * arguments from paddockd and chooses the runtime; or it fills a package for
 * "paddock template build". Whoever else starts it is told so, with status 2.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os/fdpass.h"
#include "ipc/zygote_proto.h"
#include "worker/fetch/build.h"
#include "worker/lua/lua_job.h"
#include "worker/program/shim.h"
#include "worker/zygote.h"

#define EXIT_USAGE 2

/* Workers inherit our memory: they must not read our environment in it. */
static void wipe_environment(void)
{
	for (char **e = environ; e != NULL && *e != NULL; e++)
		memset(*e, 0, strlen(*e));
	clearenv();
}

static int usage(const char *argument)
{
	fprintf(stderr,
		"paddock-worker: unknown argument '%s': --version is for "
		"people, the rest for paddockd\n",
		argument);
	return EXIT_USAGE;
}

static const struct zygote_runtime lua = {
    .kind = RUNTIME_LUA, .prepare = lua_job_prepare, .serve = lua_job_serve};
static const struct zygote_runtime programs = {.kind = RUNTIME_PROGRAM,
					       .prepare = shim_prepare,
					       .serve_program = shim_serve};

/*
 * A zygote of programs is told "package=DEVICE:INODE:[DIGEST:]DIR", "unshown="
 * the same of one that is not there, "read=PATH", "weak" when programs may do
 * without a user namespace, and with a digest "copies=BYTES:BYTES", of one and
 * of all.
 */
static size_t take_id(struct rootfs_path *p, const char *arg)
{
	int n = 0;

	/* NOLINTNEXTLINE(cert-err34-c): the supervisor writes the numbers */
	return sscanf(arg, "%" SCNx64 ":%" SCNx64 ":%n", &p->id.dev, &p->id.ino,
		      &n) == 2
		   ? (size_t)n
		   : 0;
}

static bool take_package(struct rootfs *r, const char *arg, int err)
{
	struct rootfs_path p = {.err = err};
	size_t n = take_id(&p, arg);

	if (n == 0)
		return false;
	if (zygote_proto_digest_len(arg + n) > 0) {
		memcpy(p.digest, arg + n, ZYGOTE_PROTO_DIGEST_DIGITS);
		p.may_be_itself = arg[n + ZYGOTE_PROTO_DIGEST_DIGITS] == '?';
		n += zygote_proto_digest_len(arg + n);
	}
	if (arg[n] != '/')
		return false;
	p.path = xstrdup(arg + n);
	r->packages[r->n_packages++] = p;
	return true;
}

/* "artifacts=DEVICE:INODE:DIR", of which runs are shown files. */
static bool take_artifacts(struct rootfs *r, const char *arg)
{
	struct rootfs_path p = {0};
	size_t n = take_id(&p, arg);

	if (n == 0 || arg[n] != '/')
		return false;
	p.path = xstrdup(arg + n);
	r->artifacts = p;
	return true;
}

/* ARG is wiped once it is read, as the environment is. */
static bool take_argument(struct rootfs *r, char *arg)
{
	static const char package[] = "package=", unshown[] = "unshown=";
	static const char read[] = "read=", copies[] = "copies=";
	static const char artifacts[] = "artifacts=";
	bool good = true;

	if (strcmp(arg, "weak") == 0)
		r->no_userns = true;
	else if (strncmp(arg, package, strlen(package)) == 0)
		good = take_package(r, arg + strlen(package), 0);
	else if (strncmp(arg, unshown, strlen(unshown)) == 0)
		good = take_package(r, arg + strlen(unshown), -ESTALE);
	else if (strncmp(arg, artifacts, strlen(artifacts)) == 0)
		good = take_artifacts(r, arg + strlen(artifacts));
	else if (strncmp(arg, copies, strlen(copies)) == 0)
		/* NOLINTNEXTLINE(cert-err34-c): likewise */
		good = sscanf(arg + strlen(copies), "%" SCNu64 ":%" SCNu64,
			      &r->copy_bytes, &r->copies_bytes) == 2;
	else if (strncmp(arg, read, strlen(read)) == 0 &&
		 r->n_reads < ROOTFS_READS_MAX)
		r->reads[r->n_reads++].path = xstrdup(arg + strlen(read));
	else
		good = false;
	if (good)
		memset(arg, 0, strlen(arg));
	return good;
}

/* "ids=FIRST": the ids of the host that root keeps for our workers. */
static unsigned int take_ids(int *argc, char ***argv)
{
	static const char ids[] = "ids=";
	unsigned int first = 0;
	char *arg = *argc > 1 ? (*argv)[1] : NULL;

	if (arg == NULL || strncmp(arg, ids, strlen(ids)) != 0)
		return 0;
	first = (unsigned int)strtoul(arg + strlen(ids), NULL, 10);
	memset(arg, 0, strlen(arg));
	--*argc;
	++*argv;
	return first;
}

int main(int argc, char **argv)
{
	unsigned int ids = take_ids(&argc, &argv);
	bool program = argc > 1 && strcmp(argv[1], "program") == 0;
	struct rootfs rootfs = {0};

	if (argc == 2 && strcmp(argv[1], "--version") == 0) {
		puts("paddock-worker " PADDOCK_VERSION);
		return EXIT_SUCCESS;
	}
	if (argc > 1 && strcmp(argv[1], "build") == 0)
		return build_run(argc - 2, argv + 2);
	if (argc > 1 && !program)
		return usage(argv[1]);
	if (!fdpass_is_control(ZYGOTE_PROTO_CONTROL_FD)) {
		fprintf(
		    stderr,
		    "paddock-worker: descriptor %d is not a control socket: "
		    "only paddockd starts this program\n",
		    ZYGOTE_PROTO_CONTROL_FD);
		return EXIT_USAGE;
	}
	rootfs.packages = xcalloc((size_t)argc, sizeof(*rootfs.packages));
	rootfs.reads = xcalloc((size_t)argc, sizeof(*rootfs.reads));
	for (int i = 2; i < argc; i++)
		if (!take_argument(&rootfs, argv[i]))
			return usage(argv[i]);
	wipe_environment();
	/* no stdio to flush, nothing to finalize */
	_exit(zygote_run(program ? &programs : &lua, ids, &rootfs));
}
