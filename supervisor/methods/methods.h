/* SPDX-License-Identifier: Apache-2.0 */
/*
 * methods.h - the methods that a client may call: the only list of them.
 */
#ifndef SUPERVISOR_METHODS_METHODS_H
#define SUPERVISOR_METHODS_METHODS_H

#include "supervisor/session/dispatch.h"

extern const struct methods methods;

#endif
