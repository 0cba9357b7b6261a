/* SPDX-License-Identifier: Apache-2.0 */
/* lua_questions.h - questions of the run to the supervisor, until answered. */
#ifndef WORKER_LUA_LUA_QUESTIONS_H
#define WORKER_LUA_LUA_QUESTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "ipc/msg.h"

struct ask;

/* is a further question allowed? At most MSG_ASKS_MAX wait */
bool lua_questions_have_space(void);

/*
 * Send M, a CALL or INPUT without seq, total and head, and the N bytes at P; a further
 * question must be allowed. The question lives until lua_questions_done() or
 * lua_questions_drop().
 */
struct ask *lua_questions_send(struct msg *m, const char *p, size_t n);

bool lua_questions_answered(const struct ask *a); /* completely */

/*
 * The answer, LEN bytes and a NUL, lent until lua_questions_done(); NULL: no memory for
 * the answer.
 */
const char *lua_questions_answer(const struct ask *a, bool *ok, size_t *len);

/* Free A after reading the answer. */
void lua_questions_done(struct ask *a);
/* The run is over, and no question is answered any more. */
void lua_questions_forget(void);

/* The answer to A is not wanted: notify the supervisor, unless the answer has arrived. */
void lua_questions_drop(struct ask *a);

bool lua_questions_owed(void); /* is any answer outstanding, wanted or not? */

/* Receive answers without waiting. Returns whether any arrived. */
bool lua_questions_recv(void);

/* Process M, received while waiting for another message. */
void lua_questions_take(const struct msg *m);

#endif
