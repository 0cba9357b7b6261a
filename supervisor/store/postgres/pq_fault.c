/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pq_fault.c - converts errors of PostgreSQL to -errno, by one table of
 * SQLSTATE and its classes, for pq_link.c. An unknown error is -EIO.
 */
#include "supervisor/store/postgres/pq_link.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"

/* The first that SQLSTATE begins with: the whole before its class. */
static const struct {
	const char *begins;
	int rc;
} faults[] = {
    {"08", -ENOTCONN},	      /* connection exception */
    {"57014", -EBUSY},	      /* it took longer than a statement may */
    {"57P", -ENOTCONN},	      /* it is being stopped, or started */
    {"25P03", -ENOTCONN},     /* its session was idle in a transaction */
    {"53300", -ENOTCONN},     /* too many connections */
    {"53100", -ENOSPC},	      /* its disk is full */
    {"53", -ENOMEM},	      /* other resources */
    {"25006", -EREMOTEIO},    /* a standby, or it was told so */
    {"28", -EKEYREJECTED},    /* authorization */
    {"42501", -EKEYREJECTED}, /* no right to this */
    {"3D", -EKEYREJECTED},    /* no such database */
    {"3F", -EKEYREJECTED},    /* no such schema */
    {"23505", -EEXIST},	      /* unique_violation */
    {"23", -EINVAL},	      /* other rules of a table */
    {"22", -EINVAL},	      /* no value of its type */
    {"54", -E2BIG},	      /* a limit of the program's */
    {"40", -EDEADLK},	      /* deadlock, serialization */
    {"55P03", -EBUSY},	      /* lock_not_available */
    {"XX00", -EUCLEAN},	      /* data_corrupted, index_corrupted: 1 and 2 */
    {"PD001", -EOWNERDEAD},   /* our own: paddock_write() in the schema */
};

int pq_fault(const char *sqlstate)
{
	for (size_t i = 0; i < ARRAY_LEN(faults); i++)
		if (strncmp(sqlstate, faults[i].begins,
			    strlen(faults[i].begins)) == 0)
			return faults[i].rc;
	return -EIO;
}
