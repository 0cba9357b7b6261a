/* SPDX-License-Identifier: Apache-2.0 */
/* msg_fixture.h - good messages of each type, and whether two are the same. */
#ifndef TESTS_UNIT_IPC_MSG_FIXTURE_H
#define TESTS_UNIT_IPC_MSG_FIXTURE_H

#include "base/mem.h"
#include "ipc/msg.h"
#include "tests/unit/ipc/msg_error.h"
#include "tests/unit/tap.h"

extern unsigned char frame[CHAN_FRAME_MAX];
extern char bulk[CHAN_FRAME_MAX];

/* Good messages of each type. */
extern const struct msg samples[];
extern const size_t n_samples;

const char *msg_type_name(enum msg_type type); /* "PROGRESS" */

bool same(const struct msg *a, const struct msg *b);

#endif
