/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage.h - paddock/usage, paddock's own method: the resources used by runs.
 * man/paddockd.8 has its form.
 */
#ifndef SUPERVISOR_METHODS_USAGE_H
#define SUPERVISOR_METHODS_USAGE_H

#include "supervisor/session/request.h"

void usage_get(struct request *req);

#endif
