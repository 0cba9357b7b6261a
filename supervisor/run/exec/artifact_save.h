/* SPDX-License-Identifier: Apache-2.0 */
/* artifact_save.h - stores or refuses an artifact of a worker. */
#ifndef SUPERVISOR_EXEC_ARTIFACT_SAVE_H
#define SUPERVISOR_EXEC_ARTIFACT_SAVE_H

#include "supervisor/run/exec/runs.h"

/*
 * Store A for R, a run of RUNS (struct runs) with a worker. Takes A's texts and
 * TMP_PATH, the file with the bytes. The worker is answered now or later, unless
 * the worker has died by then.
 */
void artifact_save(void *runs, struct run *r, struct run_artifact *a,
		   char *tmp_path, const char *sha256);

/* Have the store count the bytes that Q keeps. */
void artifact_save_count(struct store *store, struct requestor *q);

#endif
