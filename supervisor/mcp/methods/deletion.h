/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deletion.h - paddock/deleteRuns and paddock/deleteArtifacts, methods of
 * paddock: delete ended runs and uploads of the client before expiry.
 * man/paddockd.8 describes both.
 */
#ifndef SUPERVISOR_METHODS_DELETION_H
#define SUPERVISOR_METHODS_DELETION_H

#include "supervisor/session/request.h"

#define DELETION_MAX 1000 /* ids in a request */

void deletion_runs(struct request *req);
void deletion_artifacts(struct request *req);

#endif
