/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime_lua.c - what is Lua's own in the server: loads the source of a
 * template, and judges the cage that the zygote has measured. The table of
 * runtimes has the functions. A cage that is too weak ends the server.
 */
#include "supervisor/runtime/runtime.h"

#include <string.h>
#include <sysexits.h>

#include "base/os/log.h"
#include "base/text/errmsg.h"
#include "base/text/utf8.h"
#include "supervisor/context.h"
#include "supervisor/packages/package/diagnostics.h"
#include "supervisor/packages/package/package.h"
#include "supervisor/packages/templates/template.h"
#include "supervisor/spawn/cgroup.h"
#include "supervisor/spawn/isolation.h"
#include "supervisor/spawn/spawner.h"

#define LUA_BYTECODE '\x1b' /* first byte of precompiled Lua */

/* Is T's code text? If not, F gets the place of the fault. */
static int check_source(const struct template *t, struct diagnostics *f)
{
	size_t good = utf8_valid_len(t->code, t->code_len);
	size_t at = strnlen(t->code, good), line, column;

	if (at == t->code_len)
		return 0;
	utf8_position(t->code, at, &line, &column);
	diagnostics_add(f, DIAGNOSTIC_ERROR, t->entry, NULL,
			at < good ? "code has no character U+0000"
				  : "this is not text in UTF-8");
	return diagnostics_at(f, line, column);
}

static int lua_load(struct template *t, int fd, bool others,
		    struct diagnostics *f, char *errmsg, size_t size)
{
	int rc =
	    package_read(fd, t->entry, &t->code, &t->code_len, errmsg, size);

	(void)others;
	if (rc < 0)
		return rc;
	if (t->code_len > 0 && t->code[0] == LUA_BYTECODE)
		return errmsg_set(errmsg, size,
				  "%s is precompiled Lua, but must be source",
				  t->entry);
	return check_source(t, f);
}

static void lua_check(const struct template *t, int fd, bool loaded,
		      struct json_object *said, struct diagnostics *f)
{
	(void)fd, (void)f;
	if (loaded)
		json_set_mended(said, "lua", t->entry);
}

/* ---- the cage ---- */

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

static int lua_measured(const struct context *ctx, int require,
			const struct zygote_proto_event *report)
{
	struct isolation *iso = ctx->isolation;
	bool more = cgroup_why()[0] != '\0';
	/* the cgroup that holds the zygote of Lua, which has just reported */
	const char *cgroup =
	    cgroup_holds((enum cgroup_leaf)RUNTIME_LUA,
			 spawner_zygote_pid(ctx->spawner, RUNTIME_LUA))
		? cgroup_name()
		: "none";

	isolation_set(iso, report, cgroup);
	log_info("server",
		 "isolation=%s landlock_abi=%d uid_base=%d cgroup=%s "
		 "missing=\"%s\" why=\"%s%s%s%s\"",
		 isolation_name(iso->level), report->landlock_abi,
		 report->uid_base, cgroup, iso->missing, report->text,
		 more && report->text[0] != '\0' ? "; " : "",
		 more ? "cgroup: " : "", cgroup_why());
	if (iso->level != ISOLATION_NONE)
		return check_level(iso, (enum isolation_level)require);
	log_tell(LOG_LEVEL_ERROR, "server",
		 "a worker cannot be caged here, so nothing is run%s%s",
		 report->text[0] != '\0' ? ": " : "", report->text);
	return EX_UNAVAILABLE;
}

static int lua_broken(const struct context *ctx, const char *errmsg)
{
	(void)ctx;
	log_tell(LOG_LEVEL_ERROR, "server",
		 "no worker can be caged here, so nothing is run: %s", errmsg);
	return EX_UNAVAILABLE;
}

static bool lua_is_measured(const struct isolation *iso)
{
	return iso->view != NULL;
}

const struct runtime runtime_lua = {
    .title = "Lua",
    .group = "lua",
    .entry = "main.lua",
    .kept_max = 4,
    .always = true,
    .load = lua_load,
    .check = lua_check,
    .measured = lua_measured,
    .broken = lua_broken,
    .is_measured = lua_is_measured,
};
