/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_file.h - the files of a state directory: their places, and how they are
 * made, so that every name has reached the disk. 0 or -errno.
 */
#ifndef SUPERVISOR_STATE_STATE_FILE_H
#define SUPERVISOR_STATE_STATE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STORE_DB "paddock.db"
#define STORE_INSTANCES_DIR "instances"
#define STORE_ARTIFACTS_DIR "artifacts"
#define STORE_TMP_NAME "tmp"
#define STORE_TMP_DIR STORE_ARTIFACTS_DIR "/" STORE_TMP_NAME

/* Make DIR and its parents, 0700 each; those that exist stay as they are. */
int state_file_mkdirs(const char *dir);

/* Is PATH a folder that files may be made in? 0 or -errno. */
int state_file_folder_ok(const char *path);

/* syncs a file's data, or a folder's names */
int state_file_sync(const char *path);

/* May NAME be one component of a path? */
bool state_file_name_ok(const char *name);

/* Return STATE/artifacts/RUN/ART; the caller frees the path. */
char *state_file_artifact(const char *state, const char *run, const char *art);

/*
 * Rename TMP (already synced) to the artifact's place, and sync the folder;
 * state_file_unplace() renames the file back to TMP.
 */
int state_file_place(const char *state, const char *run, const char *art,
		     const char *tmp);
int state_file_unplace(const char *state, const char *run, const char *art,
		       const char *tmp);

/*
 * Would state_file_remove() work, as far as can be seen? ART is a file, in a
 * writable folder.
 */
int state_file_may_remove(const char *state, const char *run, const char *art);
/* Return a descriptor that keeps the file of an artifact; or -errno. */
int state_file_hold(const char *state, const char *run, const char *art);
/* Remove an artifact's file, then the run's folder if empty. */
int state_file_remove(const char *state, const char *run, const char *art);
void state_file_remove_dir(const char *state, const char *run);

/* Read up to *LEN bytes at OFFSET; *LEN becomes the number of bytes read. */
int state_file_read(const char *path, int64_t offset, void *to, size_t *len);

/*
 * Call EACH with the name of each entry of DIR but "." and "..", until a call
 * returns not 0, which is then returned. A missing DIR has no entries.
 */
int state_file_each(const char *dir, int (*each)(void *arg, const char *name),
		    void *arg);

#endif
