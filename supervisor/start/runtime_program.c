/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime_program.c - what is the programs' own in the server: looks at the
 * executable of a template, and judges the cage that the zygote has measured.
 * The table of runtimes has the functions. A weak cage has programs refused.
 */
#include "supervisor/runtime/runtime.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/log.h"
#include "base/text/errmsg.h"
#include "supervisor/config/config.h"
#include "supervisor/context.h"
#include "supervisor/packages/grants/interpreter.h"
#include "supervisor/packages/package/package.h"
#include "supervisor/packages/templates/template.h"
#include "supervisor/spawn/isolation.h"
#include "supervisor/spawn/privsep.h"

/* Every layer but a uid of its own per run, Landlock, and an empty process. */
#define PROGRAM_LAYERS                                                         \
	(SANDBOX_ALL &                                                         \
	 ~(SANDBOX_BIT(SANDBOX_UID) | SANDBOX_BIT(SANDBOX_LANDLOCK) |          \
	   SANDBOX_BIT(SANDBOX_CLOSED) | SANDBOX_BIT(SANDBOX_EMPTY_ENV)))

/*
 * Can other users enter each folder above FD's? Not below root's home, as a
 * rule. A folder without a name, or changed meanwhile, passes here; starting a
 * run will fail.
 */
static int can_others_enter(int fd, char *errmsg, size_t size)
{
	char link[64], path[PATH_MAX], *end;
	struct stat st;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = '\0';
	while ((end = strrchr(path, '/')) != NULL) {
		*end = '\0';
		if (stat(end > path ? path : "/", &st) == 0 &&
		    (st.st_mode & S_IXOTH) == 0)
			return errmsg_set(
			    errmsg, size,
			    "the package is below %s, which others may not "
			    "enter, but workers are others here (chmod o+x "
			    "would do, or another place for it)",
			    end > path ? path : "/");
	}
	return 0;
}

/*
 * Can workers, which run as other users, read and execute the entry and its
 * folder?
 */
static int can_others(int fd, const struct stat *file, const char *entry,
		      char *errmsg, size_t size)
{
	const mode_t need = S_IROTH | S_IXOTH;
	struct stat dir;

	if (fstat(fd, &dir) == 0 && (dir.st_mode & need) == need &&
	    (file->st_mode & need) == need)
		return can_others_enter(fd, errmsg, size);
	return errmsg_set(
	    errmsg, size,
	    "others may not read and execute the folder and %s, but "
	    "workers are others here (chmod -R o+rX would do)",
	    entry);
}

static int program_load(struct template *t, int fd, bool others,
			struct diagnostics *f, char *errmsg, size_t size)
{
	struct stat st;
	int file = package_open_file(fd, t->entry, &st, errmsg, size);

	(void)f;
	if (file < 0)
		return file;
	close(file);
	if ((st.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) == 0)
		return errmsg_set(errmsg, size,
				  "%s is not executable (chmod +x would do)",
				  t->entry);
	return others ? can_others(fd, &st, t->entry, errmsg, size) : 0;
}

static void program_check(const struct template *t, int fd, bool loaded,
			  struct json_object *said, struct diagnostics *f)
{
	(void)loaded, (void)said;
	interpreter_check(t, fd, f);
}

/* ---- the cage ---- */

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
static int judge_cage(const struct context *ctx,
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
	return 0;
}

static int program_measured(const struct context *ctx, int require,
			    const struct zygote_proto_event *report)
{
	(void)require;
	return judge_cage(ctx, report, NULL);
}

static int program_broken(const struct context *ctx, const char *errmsg)
{
	return judge_cage(ctx, NULL, errmsg);
}

static bool program_is_measured(const struct isolation *iso)
{
	return iso->programs_known;
}

const struct runtime runtime_program = {
    .title = "a program",
    .group = "programs",
    .kept_max = 32,
    .sees_host = true,
    .has_shim = true,
    .load = program_load,
    .check = program_check,
    .measured = program_measured,
    .broken = program_broken,
    .is_measured = program_is_measured,
};
