/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pq_fault.c - converts errors of PostgreSQL to -errno, by a table of SQLSTATE
 * codes and classes, for pq_link.c. An unknown error is -EIO.
 */
#include "supervisor/store/postgres/pq_link.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"

/* The first row with a prefix of the SQLSTATE applies: a whole code before the class. */
static const struct {
	const char *begins;
	int rc;
} faults[] = {
    {"08", -ENOTCONN},	      /* connection exception */
    {"57014", -EBUSY},	      /* statement_timeout */
    {"57P", -ENOTCONN},	      /* the server is stopping or starting */
    {"25P03", -ENOTCONN},     /* the session was idle in a transaction */
    {"53300", -ENOTCONN},     /* too many connections */
    {"53100", -ENOSPC},	      /* the disk is full */
    {"53", -ENOMEM},	      /* other resources */
    {"25006", -EREMOTEIO},    /* a standby or read-only server */
    {"28", -EKEYREJECTED},    /* authorization */
    {"42501", -EKEYREJECTED}, /* no permission */
    {"3D", -EKEYREJECTED},    /* no such database */
    {"3F", -EKEYREJECTED},    /* no such schema */
    {"23505", -EEXIST},	      /* unique_violation */
    {"23", -EINVAL},	      /* other constraints of a table */
    {"22", -EINVAL},	      /* not a value of the type */
    {"54", -E2BIG},	      /* program_limit_exceeded */
    {"40", -EDEADLK},	      /* deadlock, serialization */
    {"55P03", -EBUSY},	      /* lock_not_available */
    {"XX00", -EUCLEAN},	      /* data_corrupted, index_corrupted: 1 and 2 */
    /* paddock's own code: paddock_write() in the schema */
    {"PD001", -EOWNERDEAD},
};

int pq_fault(const char *sqlstate)
{
	for (size_t i = 0; i < ARRAY_LEN(faults); i++)
		if (strncmp(sqlstate, faults[i].begins,
			    strlen(faults[i].begins)) == 0)
			return faults[i].rc;
	return -EIO;
}
