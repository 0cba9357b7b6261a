/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lua_questions.h - questions of this run to its supervisor, until they are
 * answered.
 */
#ifndef WORKER_LUA_LUA_QUESTIONS_H
#define WORKER_LUA_LUA_QUESTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "ipc/msg.h"

struct ask;

/* may there be one more? At most MSG_ASKS_MAX wait */
bool lua_questions_have_space(void);

/*
 * Send M, a CALL or INPUT without seq, total and head, and the N bytes at P,
 * when there is space. The question lives until lua_questions_done() or
 * lua_questions_drop().
 */
struct ask *lua_questions_send(struct msg *m, const char *p, size_t n);

bool lua_questions_answered(const struct ask *a); /* completely */

/*
 * The answer, LEN bytes and a NUL, lent until lua_questions_done(); NULL: there
 * was no memory for it.
 */
const char *lua_questions_answer(const struct ask *a, bool *ok, size_t *len);

/* The answer to A has been read. */
void lua_questions_done(struct ask *a);

/* The answer to A is not wanted: tell the supervisor, unless it has come. */
void lua_questions_drop(struct ask *a);

bool lua_questions_owed(void); /* is any answer still to come, wanted or not? */

/* Receive the answers that have come, without waiting. Was there any? */
bool lua_questions_recv(void);

/* Process M, received by somebody who waited for another message. */
void lua_questions_take(const struct msg *m);

#endif
