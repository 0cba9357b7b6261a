/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deletion.h - paddock/deleteRuns and paddock/deleteArtifacts, methods of our own:
 * its client's runs that have ended, and what it uploaded, are forgotten before they
 * expire. man/paddockd.8 has their form.
 */
#ifndef SUPERVISOR_METHODS_DELETION_H
#define SUPERVISOR_METHODS_DELETION_H

#include "supervisor/session/request.h"

#define DELETION_MAX 1000 /* that are named in one request */

void deletion_runs(struct request *c);
void deletion_artifacts(struct request *c);

#endif
