/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_files.h - the files that one run is given: what its inputs say of each,
 * and what its template gets in their place.
 */
#ifndef SUPERVISOR_INPUTS_RUN_FILES_H
#define SUPERVISOR_INPUTS_RUN_FILES_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "supervisor/inputs/file_schema.h"

#define RUN_FILES_MAX 256      /* of one run */
#define RUN_FILES_ARTIFACTS 64 /* of these, that are artifacts */
#define RUN_FILES_IN "in/"     /* where a program finds them */

struct run_file {
	char *pointer; /* where in the inputs */
	char *name;    /* in in/; of its own in the run */
	bool named;    /* by who asks, rather than by its place */
	/* inline: its bytes… */
	char *bytes; /* NULL: it is an artifact… */
	int64_t size;
	/* …of this id, in this folder of the state's artifacts */
	char artifact[ID_SIZE];
	char folder[ID_SIZE];
	int64_t expires_ms; /* 0: with its run's end */
	/* …or it is a copy of this name, while the run has it; "" and -errno: none */
	char copy[ID_SIZE + 8];
	int copy_rc;
};

struct run_files {
	struct run_file *v;
	size_t n;
	char *inputs; /* JSON: with paths in the places of files */
	size_t inputs_len;
};

struct run_files_error {
	char pointer[256];
	char expected[128];
	char text[512]; /* one sentence */
};

/*
 * The files that INPUTS, which their schema has passed, have where SPOTS says: the
 * caller's, and INPUTS is as before. NULL: one is wrong, as ERR says, or there
 * is none, and ERR's text is "".
 */
struct run_files *run_files_collect(const struct file_spot *spots,
				    struct json_object *inputs,
				    struct run_files_error *err);
void run_files_free(struct run_files *f); /* NULL is fine */

/* What is known of an artifact now: its own NAME is taken unless it has one. */
void run_files_found(struct run_file *f, const char *folder, const char *name,
		     int64_t size, int64_t expires_ms);

/* All is known: names become safe and distinct, and F->inputs is made. */
void run_files_settle(struct run_files *f, struct json_object *inputs);

/* What a row says of the artifacts of F (NULL: nothing); the caller's. */
struct json_object *run_files_describe(const struct run_files *f);
/*
 * What that row is made a run of again: TEXT are the inputs. The caller's; NULL:
 * there are no files. An artifact that LIST has not is one that is gone.
 */
struct run_files *run_files_restore(const struct file_spot *spots,
				    const char *text, struct json_object *list);

size_t run_files_artifacts(const struct run_files *f); /* how many are that */
int64_t run_files_bytes(const struct run_files *f, bool artifacts_too);

#endif
