/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relay_fixture.h - a relay between a store and PostgreSQL, which drops answers, or
 * keeps requests and delivers the requests late. A thread moves the bytes; each call
 * below returns once the requested state is reached.
 */
#ifndef TESTS_UNIT_SUPERVISOR_STORE_RELAY_FIXTURE_H
#define TESTS_UNIT_SUPERVISOR_STORE_RELAY_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>

struct relay;

/*
 * The next writing transaction is lost, after the commit if IS_DONE, with the
 * connection. Then the next connection ends as well: instead of message AT, counted
 * from 0, or if IS_ANSWER instead of the answer AT.
 */
struct relay_cut {
	unsigned at;
	bool is_done, is_answer;
};

/* Listens in DIR, as PostgreSQL would; URL, which has a host=FOLDER, is where to. */
struct relay *relay_start(const char *dir, const char *url);
void relay_stop(struct relay *r);
/* The same URL through the relay; the caller frees the text. */
char *relay_url(const struct relay *r);

/* Let the next commit be done, and end the connection instead of the answer. */
void relay_lose_answer(struct relay *r);
/*
 * Like relay_lose_answer(), with all further connections refused until relay_pass().
 */
void relay_lose_all(struct relay *r);
void relay_cut(struct relay *r, struct relay_cut cut);
/*
 * Has the second connection ended as set? From then on the relay passes all bytes.
 */
bool relay_has_cut(struct relay *r);
/* Keep answers to heartbeats; returns once an answer is kept. */
void relay_hold_beats(struct relay *r);
/* Send the kept answer on its way. The next answer is kept as well. */
void relay_release_beat(struct relay *r);
/*
 * Drop the bytes of present connections without a sign for either end; new connections
 * work.
 */
void relay_deafen(struct relay *r);
/*
 * Delay each answer on later connections by MS; returns the number of connections so
 * far.
 */
size_t relay_slow(struct relay *r, int ms);
/* The number of requests other than heartbeats. */
size_t relay_requests(struct relay *r);
/* Keep the next writing transaction. */
void relay_hold(struct relay *r);
/*
 * Keep the transaction to the end; then end the connection and refuse new connections.
 */
void relay_cut_held(struct relay *r);
/* Accept new connections again. */
void relay_pass(struct relay *r);
/* Deliver the kept transaction, and wait for the answer. */
void relay_release(struct relay *r);

#endif
