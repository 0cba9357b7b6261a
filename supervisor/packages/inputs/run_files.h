/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_files.h - lists the files given to one run: each file's place in the
 * inputs, and the path that the template gets in its place.
 */
#ifndef SUPERVISOR_INPUTS_RUN_FILES_H
#define SUPERVISOR_INPUTS_RUN_FILES_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "supervisor/packages/inputs/file_schema.h"

#define RUN_FILES_MAX 256      /* most files of one run */
#define RUN_FILES_ARTIFACTS 64 /* most artifacts among the files */
#define RUN_FILES_IN "in/"     /* where a program finds files */

struct run_file {
	char *pointer; /* the place in the inputs */
	char *name;    /* name in in/; unique in the run */
	bool named;    /* true: the caller named the file */
	/* the bytes of an inline file */
	char *bytes; /* bytes of the file; NULL: an artifact */
	int64_t size;
	/* an artifact: its id, and its folder among the state's artifacts */
	char artifact[ID_SIZE];
	char folder[ID_SIZE];
	int64_t expires_ms; /* expiry of the artifact; 0: with its run's end */
	/* the name of the artifact's copy, while the run has a copy; "" and
	   -errno: no copy */
	char copy[ID_SIZE + 8];
	int copy_rc;
};

struct run_files {
	struct run_file *v;
	size_t n;
	char *inputs; /* inputs as JSON, with paths in place of files */
	size_t inputs_len;
};

struct run_files_error {
	char pointer[256];
	char expected[128];
	char text[512]; /* the fault as a sentence */
};

/*
 * Find the files of INPUTS, which conform to their schema, at the places SPOTS.
 * Returns the files, the caller's; INPUTS is unchanged. NULL: a file is wrong,
 * and ERR has the fault, or there are no files, and ERR's text is "".
 */
struct run_files *run_files_collect(const struct file_spot *spots,
				    struct json_object *inputs,
				    struct run_files_error *err);
void run_files_free(struct run_files *f); /* NULL is fine */

/*
 * Set what is known of F's artifact: F takes the artifact's NAME unless the
 * caller named F.
 */
void run_files_found(struct run_file *f, const char *folder, const char *name,
		     int64_t size, int64_t expires_ms);

/*
 * Make names safe and distinct, and make F->inputs. Call when all artifacts are
 * known.
 */
void run_files_settle(struct run_files *f, struct json_object *inputs);

/*
 * Return the description of F's artifacts for the run's row (NULL: nothing);
 * the caller's.
 */
struct json_object *run_files_describe(const struct run_files *f);
/*
 * Make the files of a run again from its row: TEXT are the inputs, LIST the
 * description of the artifacts. NULL: there are no files. An artifact missing
 * in LIST is gone. The caller's.
 */
struct run_files *run_files_restore(const struct file_spot *spots,
				    const char *text, struct json_object *list);

/* how many files are artifacts */
size_t run_files_artifacts(const struct run_files *f);
int64_t run_files_bytes(const struct run_files *f, bool artifacts_too);

#endif
