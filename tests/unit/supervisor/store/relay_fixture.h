/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relay_fixture.h - stands between a store and PostgreSQL, and loses answers, or
 * keeps what was sent and has it arrive late. A thread of its own moves bytes; each
 * call below returns once what it asks for is so.
 */
#ifndef TESTS_UNIT_SUPERVISOR_STORE_RELAY_FIXTURE_H
#define TESTS_UNIT_SUPERVISOR_STORE_RELAY_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>

struct relay;

/*
 * The next transaction that writes is lost, done if IS_DONE, with its connection. Then
 * the one made next ends as well: instead of its message AT, counted from 0, or if
 * IS_ANSWER of the answer AT.
 */
struct relay_cut {
	unsigned at;
	bool is_done, is_answer;
};

/* Listens in DIR, as PostgreSQL would; URL, which has a host=FOLDER, is where to. */
struct relay *relay_start(const char *dir, const char *url);
void relay_stop(struct relay *r);
/* The same URL, by the relay; the caller frees it. */
char *relay_url(const struct relay *r);

/* The next commit is done, and its connection ends instead of an answer. */
void relay_lose_answer(struct relay *r);
/* And no other is had until relay_pass(). */
void relay_lose_all(struct relay *r);
void relay_cut(struct relay *r, struct relay_cut cut);
/* Has the second ended so? From then on all passes. */
bool relay_has_cut(struct relay *r);
/* Answers to heartbeats are kept; this returns once there is one… */
void relay_hold_beats(struct relay *r);
/* …and it goes on its way. The next is kept as well. */
void relay_release_beat(struct relay *r);
/* What is connected now is lost without a sign, for both ends; a new one is not. */
void relay_deafen(struct relay *r);
/* Each answer of connections to come is late by MS; how many there were until now. */
size_t relay_slow(struct relay *r, int ms);
/* How often something was sent that is no heartbeat. */
size_t relay_requests(struct relay *r);
/* The next transaction that writes is kept… */
void relay_hold(struct relay *r);
/* …to its end it is; its connection ends, and no other gets through… */
void relay_cut_held(struct relay *r);
/* …until now… */
void relay_pass(struct relay *r);
/* …and now what was kept arrives, and has been answered. */
void relay_release(struct relay *r);

#endif
