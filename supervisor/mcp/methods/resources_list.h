/* SPDX-License-Identifier: Apache-2.0 */
/* resources_list.h - lists the resources, and the URIs with names in them. */
#ifndef SUPERVISOR_METHODS_RESOURCES_LIST_H
#define SUPERVISOR_METHODS_RESOURCES_LIST_H

#include "supervisor/session/request.h"

void resources_list(struct request *req);
void resources_templates(struct request *req);

#endif
