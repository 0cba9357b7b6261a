/* SPDX-License-Identifier: Apache-2.0 */
/* cluster_table.h - the table of functions of a server that shares its database. */
#ifndef SUPERVISOR_CLUSTER_CLUSTER_TABLE_H
#define SUPERVISOR_CLUSTER_CLUSTER_TABLE_H

#include "supervisor/run/exec/cluster.h"

extern const struct cluster cluster_table;

#endif
