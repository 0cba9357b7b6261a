/* SPDX-License-Identifier: Apache-2.0 */
/*
 * artifact_copies.h - copies artifacts from the database to files for as long
 * as runs hold the copies: STATE/artifacts/tmp/INSTANCE.XXXXXX, one file for an
 * artifact however many runs hold it.
 */
#ifndef SUPERVISOR_ARTIFACTS_ARTIFACT_COPIES_H
#define SUPERVISOR_ARTIFACTS_ARTIFACT_COPIES_H

#include <stdbool.h>

struct artifact_copies;
struct context;
struct run_files;

/*
 * Make an empty set of copies; CTX is lent. ON_HERE is called with each run
 * whose copies are all there, or failed.
 */
struct artifact_copies *
artifact_copies_new(struct context *ctx,
		    void (*on_here)(void *arg, const char *run_id), void *arg);
/*
 * Free ALL after the store has stopped, and with it the fetching. NULL is fine.
 */
void artifact_copies_free(struct artifact_copies *all);

/*
 * Hold the artifacts among FILES for the run RUN_ID of REQUESTOR. True: the
 * copies are settled; false: ON_HERE follows. Then call artifact_copies_name().
 */
bool artifact_copies_take(struct artifact_copies *all, const char *run_id,
			  const char *requestor, const struct run_files *files);
/*
 * Set in the FILES of RUN_ID the name of each copy, or -errno for a failed
 * copy.
 */
void artifact_copies_name(struct artifact_copies *all, const char *run_id,
			  struct run_files *files);
/* Release the copies of RUN_ID, which may hold none. */
void artifact_copies_release(struct artifact_copies *all, const char *run_id);

#endif
