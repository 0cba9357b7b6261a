/* SPDX-License-Identifier: Apache-2.0 */
/*
 * upload_method.h - paddock/putArtifact, paddock/readArtifact and
 * paddock/artifacts: files over a stream of lines, as the command sends and gets
 * them.
 */
#ifndef SUPERVISOR_UPLOADS_UPLOAD_METHOD_H
#define SUPERVISOR_UPLOADS_UPLOAD_METHOD_H

#include "supervisor/session/request.h"

/*
 * {name?, mimeType?, bytes, sha256?}: {uploadId}, and then the client sends so many
 * bytes as they are, and nothing else before their last. What became of them is
 * told by notifications/paddock/artifact: {uploadId, artifact} or {uploadId, error,
 * errorCode, details?}.
 */
void upload_method_put(struct request *c);

/*
 * {artifactId, offset?}: what it is, and "follows": so many bytes come after the
 * answer's line as they are.
 */
void upload_method_read(struct request *c);

/*
 * {before?, idPrefix?}: {artifacts, more}: what was uploaded, the newest first; with
 * idPrefix whatever artifacts of its own have ids that begin so, those of runs with
 * runId.
 */
void upload_method_list(struct request *c);

#endif
