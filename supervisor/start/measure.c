/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.c - judges the cages that the zygotes have measured, logs them, and
 * says whether they are good enough. server.c calls it. A weak cage for Lua
 * ends the server; a weak cage for programs has programs refused.
 */
#include "supervisor/start/measure.h"

#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/os/log.h"
#include "supervisor/config/config.h"
#include "supervisor/spawn/cgroup.h"
#include "supervisor/spawn/privsep.h"
#include "supervisor/spawn/spawner.h"
#include "supervisor/packages/templates/catalogue.h"

/* Every layer but a uid of its own per run, Landlock, and an empty process. */
#define PROGRAM_LAYERS                                                         \
	(SANDBOX_ALL &                                                         \
	 ~(SANDBOX_BIT(SANDBOX_UID) | SANDBOX_BIT(SANDBOX_LANDLOCK) |          \
	   SANDBOX_BIT(SANDBOX_CLOSED) | SANDBOX_BIT(SANDBOX_EMPTY_ENV)))

/* Is ISO at least REQUIRE? 0, or the exit status. */
static int check_level(const struct isolation *iso,
		       enum isolation_level require)
{
	char lacks[256];

	if (iso->level >= require)
		return 0;
	isolation_lacks(iso, require, lacks, sizeof(lacks));
	log_tell(
	    LOG_LEVEL_ERROR, "server",
	    "runs would be caged as %s, but %s is required, which lacks %s%s%s%s; "
	    "paddock doctor says what would help, or require less "
	    "(require_isolation)",
	    isolation_name(iso->level), isolation_name(require), lacks,
	    iso->report.text[0] != '\0' ? " (" : "", iso->report.text,
	    iso->report.text[0] != '\0' ? ")" : "");
	return EX_UNAVAILABLE;
}

/*
 * Return the operator's further choice, when ERRMSG begins with a missing user
 * namespace.
 */
static const char *opt_in(const struct context *ctx, const char *errmsg)
{
	static const char layer[] = "userns:";

	if (strncmp(errmsg, layer, strlen(layer)) != 0 ||
	    !privsep_workers_are_others() || ctx->config->allow_weak_programs)
		return "";
	return "; where the other namespaces can be had, the operator can let "
	       "programs do without: allow_weak_programs = yes in [sandbox], "
	       "and what that risks is told there";
}

/*
 * Decide whether programs run: in the whole cage or not at all; but the
 * operator may allow a missing user namespace when each run has a uid of its
 * own.
 */
void measure_programs(const struct context *ctx,
		      const struct zygote_proto_event *report,
		      const char *errmsg)
{
	struct isolation *iso = ctx->isolation;
	uint32_t lacks = report != NULL ? PROGRAM_LAYERS & ~report->layers : 0;
	bool weak = lacks == SANDBOX_BIT(SANDBOX_USERNS) &&
		    (report->layers & SANDBOX_BIT(SANDBOX_UID)) != 0 &&
		    ctx->config->allow_weak_programs;

	iso->programs_known = true;
	iso->no_programs[0] = iso->weak[0] = '\0';
	if (errmsg == NULL && lacks != 0)
		errmsg = report->text;
	if (errmsg != NULL)
		snprintf(weak ? iso->weak : iso->no_programs, sizeof(iso->weak),
			 "%.*s%s", ZYGOTE_PROTO_TEXT_MAX - 1, errmsg,
			 opt_in(ctx, errmsg));
	if (iso->weak[0] != '\0')
		log_warn("server",
			 "programs=weak missing=\"%s\" msg=\"programs run "
			 "without a user namespace, since allow_weak_programs "
			 "is yes: a fault of the kernel's that gives them a "
			 "capability gives it over this machine\"",
			 iso->weak);
	else if (iso->no_programs[0] != '\0')
		log_warn("server", "programs=refused why=\"%s\"",
			 iso->no_programs);
	else
		log_info("server", "programs=caged missing=\"%s\"",
			 report->text);
}

/* Return the cgroup that holds the zygote of Lua, which has just reported. */
static const char *measured_cgroup(const struct context *ctx)
{
	pid_t pid = spawner_zygote_pid(ctx->spawner, RUNTIME_LUA);

	return cgroup_holds(CGROUP_LUA, pid) ? cgroup_name() : "none";
}

int measure_lua(const struct context *ctx, enum isolation_level require,
		const struct zygote_proto_event *report)
{
	struct isolation *iso = ctx->isolation;
	bool more = cgroup_why()[0] != '\0';
	const char *cgroup = measured_cgroup(ctx);

	isolation_set(iso, report, cgroup);
	log_info("server",
		 "isolation=%s landlock_abi=%d uid_base=%d cgroup=%s "
		 "missing=\"%s\" why=\"%s%s%s%s\"",
		 isolation_name(iso->level), report->landlock_abi,
		 report->uid_base, cgroup, iso->missing, report->text,
		 more && report->text[0] != '\0' ? "; " : "",
		 more ? "cgroup: " : "", cgroup_why());
	if (iso->level != ISOLATION_NONE)
		return check_level(iso, require);
	log_tell(LOG_LEVEL_ERROR, "server",
		 "a worker cannot be caged here, so nothing is run%s%s",
		 report->text[0] != '\0' ? ": " : "", report->text);
	return EX_UNAVAILABLE;
}

static bool has_programs(const struct catalogue *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->all[i]->runtime == RUNTIME_PROGRAM)
			return true;
	return false;
}

bool measure_is_done(const struct context *ctx)
{
	const struct isolation *iso = ctx->isolation;

	return iso->view != NULL &&
	       (iso->programs_known || !has_programs(ctx->catalogue));
}
