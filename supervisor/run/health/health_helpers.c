/* SPDX-License-Identifier: Apache-2.0 */
/*
 * health_helpers.c - checks, while the server serves, the processes that runs
 * need beside the server (programs, paddock-browser, the process that keeps
 * root's rights) and the descriptors for them; for health.c's table. Each
 * returns a fault, or NULL. Nothing here fails.
 */
#include "supervisor/run/health/health.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/loop_guard.h"
#include "supervisor/spawn/isolation.h"
#include "supervisor/spawn/privsep.h"
#include "supervisor/packages/templates/catalogue.h"
#include "supervisor/runtime/runtime.h"

/* A server of which no template can be run is not ready. */
const char *health_programs(struct context *ctx, enum health_status *v)
{
	static char says[ISOLATION_WHY + 64];
	const struct isolation *iso = ctx->isolation;
	bool caged = iso->no_programs[0] == '\0';
	const char *why = caged ? iso->no_start : iso->no_programs;
	const struct catalogue *c = ctx->catalogue;
	size_t n = 0;

	for (size_t i = 0; c != NULL && i < c->n; i++)
		n += runtimes[c->all[i]->runtime]->sees_host;
	if (n == 0 || why[0] == '\0')
		return NULL;
	if (n < c->n || (caged && !iso->no_start_sure))
		*v = HEALTH_WARNING;
	snprintf(says, sizeof(says), "no program can be %s: %s",
		 caged ? "run" : "caged", why);
	return says;
}

const char *health_programs_where(struct context *ctx)
{
	const char *said = ctx->isolation->no_start_why;

	return said[0] != '\0' ? said : NULL;
}

const char *health_browser(struct context *ctx, enum health_status *v)
{
	*v = HEALTH_WARNING;
	return ctx->browser == NULL || ctx->browser_trouble == NULL
		   ? NULL
		   : ctx->browser_trouble(ctx->browser);
}

const char *health_keeper(struct context *ctx, enum health_status *v)
{
	(void)ctx;
	*v = HEALTH_WARNING;
	return privsep_trouble();
}

/* Without a descriptor neither a worker nor a connection can be had. */
const char *health_descriptors(struct context *ctx, enum health_status *v)
{
	int fd, err;

	(void)ctx, (void)v;
	loop_guard_allow("a device that takes no time");
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	err = errno;
	if (fd >= 0)
		close(fd);
	loop_guard_forbid();
	if (fd >= 0 || (err != EMFILE && err != ENFILE))
		return NULL;
	return err == EMFILE
		   ? "the server has no file descriptor left (LimitNOFILE)"
		   : "the machine has no file left to open (sysctl fs.file-max)";
}
