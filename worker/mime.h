/* SPDX-License-Identifier: Apache-2.0 */
/* mime.h - the type of a file, guessed by the end of its name. */
#ifndef WORKER_MIME_H
#define WORKER_MIME_H

#include "ipc/msg.h"

struct str mime_of(struct str name); /* static */

#endif
