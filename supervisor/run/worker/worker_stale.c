/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker_stale.c - finds whether a program cannot be shown to a run, or has
 * changed since the grant: worker.c asks before starting a worker. The run's
 * error has the fault and whether showing is tried anew; the log alone has the
 * path.
 */
#include "supervisor/run/worker/worker_private.h"

#include <errno.h>

#include "base/os/log.h"
#include "proto/json/json_pack.h"

static void tell_too_large(struct run *r, const struct spawner_lack *lack)
{
	static const char *const names[] = {"max_package_copy_bytes",
					    "max_package_copies_bytes"};
	const char *name = names[lack->by_all];
	/* sizes of others' packages are no requestor's to know */
	struct json_object *d =
	    tool_error_limit(name, lack->by_all ? -1 : (int64_t)lack->used,
			     (int64_t)lack->allowed, "bytes",
			     "the operator, in [sandbox] of paddock.conf");

	run_set_error(
	    r, "RESOURCE_LIMIT", d,
	    "%s is granted by its digest, so that its runs see a copy "
	    "of its package, and %s in [sandbox] of paddock.conf is "
	    "less than %s: the operator can raise it",
	    r->template->id, name,
	    lack->by_all ? "all such packages have together"
			 : "that package has");
}

static const char anew[] =
    "run it again in some seconds, which does where its files are as they were "
    "loaded; else the operator has templates reloaded (paddock reload, or SIGHUP)";

/* Set R's error: the program was not shown what it needs. */
static void tell_lack(struct run *r, const struct spawner_lack *lack)
{
	const char *id = r->template->id;

	if (lack->is_copy && lack->err == EFBIG)
		tell_too_large(r, lack);
	else if (lack->is_copy)
		run_set_error(
		    r, "EXECUTION_ERROR", json_pack("cure:s", anew),
		    "%s could not be shown its package: its grant is bound to a "
		    "digest, and %s when programs were prepared; that is tried "
		    "anew, so a run in some seconds may do better, if the files "
		    "are as they were granted; else the operator, whose log "
		    "says more, can have templates reloaded (paddock reload, or "
		    "SIGHUP) and grant the new digest",
		    id,
		    lack->err == ESTALE
			? "the files there had another"
			: "the files there could not be copied");
	else if (lack->is_read)
		run_set_error(
		    r, "PERMISSION_NOT_ALLOWED", NULL,
		    "%s could not be shown what it asks to read: %s; "
		    "that is tried anew, so a run in some seconds may "
		    "do better",
		    id, lack->errmsg);
	else
		run_set_error(
		    r, "EXECUTION_ERROR", json_pack("cure:s", anew),
		    "%s could not be shown its package, which was not "
		    "the folder that was loaded when programs were "
		    "prepared; that is tried anew, so a run in some "
		    "seconds may do better",
		    id);
}

bool worker_is_stale(struct run *r, struct spawner *spawner,
		     const struct spawner_job *job)
{
	struct spawner_lack lack;

	if (!spawner_lacks(spawner, job, &lack))
		return false;
	log_warn("worker", "run=%s template=%s unshown=\"%s\"", r->id,
		 r->template->id, lack.errmsg);
	tell_lack(r, &lack);
	return true;
}
