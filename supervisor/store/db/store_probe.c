/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_probe.c - checks whether the state can be used: its folders before the
 * start, an open store by a write, or by a new open. health.c and server.c ask;
 * a failure is reported like the failure of any request.
 */
#include "supervisor/store/store_impl.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "supervisor/store/state/state_file.h"

int store_folders(const char *state_dir, char **at)
{
	static const char *const names[] = {"", "/" STORE_INSTANCES_DIR,
					    "/" STORE_ARTIFACTS_DIR,
					    "/" STORE_TMP_DIR};
	int rc;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		*at = xasprintf("%s%s", state_dir, names[i]);
		rc = state_file_folder_ok(*at);
		if (rc != 0 && rc != -ENOENT)
			return rc;
		free(*at);
		*at = NULL;
	}
	return 0;
}

static int look_at_folders(struct store *s, struct store_req *r)
{
	char *at;
	int rc = store_folders(s->dir, &at);

	(void)r;
	if (rc != 0)
		store_failed(s, rc, at);
	free(at);
	return rc;
}

static int probe(struct store *s, struct store_req *r)
{
	(void)r;
	return s->engine->touch(s);
}

static int nothing(struct store *s, struct store_req *r)
{
	(void)s, (void)r;
	return 0;
}

STORE_OP(probe, .writes = true, .prep = look_at_folders);
const struct store_op store_op_open = {.prep = look_at_folders,
				       .exec = nothing};
