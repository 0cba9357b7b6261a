/* SPDX-License-Identifier: Apache-2.0 */
/*
 * artifact_copies.h - artifacts that are in the database, as files here for as long as
 * runs have them: STATE/artifacts/tmp/INSTANCE.XXXXXX, one of an artifact however
 * many runs it is for.
 */
#ifndef SUPERVISOR_ARTIFACTS_ARTIFACT_COPIES_H
#define SUPERVISOR_ARTIFACTS_ARTIFACT_COPIES_H

#include <stdbool.h>

struct artifact_copies;
struct context;
struct run_files;

/* CTX is lent. ON_HERE is told of each run whose copies are all there, or failed. */
struct artifact_copies *
artifact_copies_new(struct context *ctx,
		    void (*on_here)(void *arg, const char *run_id), void *arg);
/* After the store has stopped, and with it what is on its way. NULL is fine. */
void artifact_copies_free(struct artifact_copies *all);

/*
 * The artifacts among FILES, which RUN_ID of REQUESTOR's has. True: they are there;
 * false: ON_HERE follows. artifact_copies_name() then notes where each is.
 */
bool artifact_copies_take(struct artifact_copies *all, const char *run_id,
			  const char *requestor, const struct run_files *files);
/* In the FILES of RUN_ID: each copy's name, or -errno why there is none. */
void artifact_copies_name(struct artifact_copies *all, const char *run_id,
			  struct run_files *files);
/* RUN_ID, which may have taken none, needs them no more. */
void artifact_copies_release(struct artifact_copies *all, const char *run_id);

#endif
