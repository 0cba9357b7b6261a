/* SPDX-License-Identifier: Apache-2.0 */
/* methods.h - the table of all methods which a client may call. */
#ifndef SUPERVISOR_METHODS_METHODS_H
#define SUPERVISOR_METHODS_METHODS_H

#include "supervisor/session/dispatch.h"

extern const struct methods methods;

#endif
