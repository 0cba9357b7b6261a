/* SPDX-License-Identifier: Apache-2.0 */
/*
 * upload_method.h - paddock/putArtifact, paddock/readArtifact and
 * paddock/artifacts: files on a stream of lines, for the command.
 */
#ifndef SUPERVISOR_UPLOADS_UPLOAD_METHOD_H
#define SUPERVISOR_UPLOADS_UPLOAD_METHOD_H

#include "supervisor/session/request.h"

/*
 * Receive a file: {name?, mimeType?, bytes, sha256?} is answered by {uploadId};
 * then the client sends so many raw bytes, and no message before the last byte.
 * notifications/paddock/artifact reports the outcome: {uploadId, artifact} or
 * {uploadId, error, errorCode, details?}.
 */
void upload_method_put(struct request *req);

/*
 * Send a file: {artifactId, offset?} is answered by the artifact with
 * "follows": so many raw bytes come after the line of the answer.
 */
void upload_method_read(struct request *req);

/*
 * List artifacts: {before?, idPrefix?} is answered by {artifacts, more}:
 * uploads, the newest first; with idPrefix all artifacts of the requestor whose
 * ids begin so, those of runs with runId.
 */
void upload_method_list(struct request *req);

#endif
