/* SPDX-License-Identifier: Apache-2.0 */
/* reload_method.h - paddock/reload: reloads as SIGHUP does, and reports. */
#ifndef SUPERVISOR_METHODS_RELOAD_METHOD_H
#define SUPERVISOR_METHODS_RELOAD_METHOD_H

#include "supervisor/session/request.h"

void reload_method(struct request *req);

#endif
