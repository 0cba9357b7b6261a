/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waiting.h - paddock/waiting, paddock's own method: the workers which wait for
 * runs. man/paddockd.8 has its form.
 */
#ifndef SUPERVISOR_METHODS_WAITING_H
#define SUPERVISOR_METHODS_WAITING_H

#include "supervisor/session/request.h"

void waiting_get(struct request *req);

#endif
