/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stubs, linked into the paddockd of make check-one-machine in place of
 * supervisor/cluster/, supervisor/store/postgres/ and supervisor/store/import/: the only
 * names by which the rest of paddockd knows these folders. A server on SQLite calls
 * pq_password_file() at the start, without a path, and no other.
 */
#include <errno.h>

#include "supervisor/cluster/cluster_table.h"
#include "supervisor/store/import/store_import.h"
#include "supervisor/store/postgres/pq_password.h"
#include "supervisor/store/store_engine.h"

const struct cluster cluster_table;
const struct store_engine store_postgres;

void pq_password_file(const char *path)
{
	(void)path;
}

int store_postgres_look(struct store *s, struct store_database *about)
{
	(void)s, (void)about;
	return -EOPNOTSUPP;
}

int store_import(const char *state_dir, const char *url, const char *folder,
		 struct store_imported *done, char *errmsg, size_t size)
{
	(void)state_dir, (void)url, (void)folder, (void)done;
	if (size > 0)
		errmsg[0] = '\0';
	return -EOPNOTSUPP;
}
