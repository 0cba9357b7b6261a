/*
 * resources.h - what can be read by URI:
 *
 *   paddock://isolation                            how well runs are caged
 *   paddock://runs/{runId}/log                     what a run has logged
 *   paddock://runs/{runId}/artifacts/{artifactId}  an artifact's bytes
 *
 * A requestor reads its own; another's answers like an unknown one.
 */
#ifndef SUPERVISOR_RESOURCES_H
#define SUPERVISOR_RESOURCES_H

#include "supervisor/call.h"

void resources_list(struct call *c);
void resources_templates(struct call *c);
void resources_read(struct call *c);

#endif
