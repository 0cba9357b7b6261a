/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delete_runs.h - paddock/deleteRuns, a method of our own: its client's runs that
 * have ended are forgotten before they expire. man/paddockd.8 has its form.
 */
#ifndef SUPERVISOR_METHODS_DELETE_RUNS_H
#define SUPERVISOR_METHODS_DELETE_RUNS_H

#include "supervisor/session/request.h"

#define DELETE_RUNS_MAX 1000 /* that are named in one request */

void delete_runs(struct request *c);

#endif
