/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_access.h - a session's bounds beside its trust: the hosts of the template
 * that made it, for as long as it lasts; and of templates whose runs were let
 * into it (guests), for as long as they run or a tab is where they led it.
 *
 * Connections tell their session and not their tab. So while there are guests
 * all pages of a session reach what all guests may, and what the session had
 * reached before, or is sent to by its own client.
 */
#ifndef BROWSER_SESSION_ACCESS_H
#define BROWSER_SESSION_ACCESS_H

#include "browser/browser.h"

/* C, a run's or not, is about to work in S: bounds are what C brings. */
void session_access_enter(struct session *s, const struct call *c);
/* C led C->tab somewhere: NEW, to another document. */
void session_access_led(const struct call *c, bool anew);
/* A client, whose C is, sends a page of C->session to this place. */
void session_access_sent(const struct call *c, const char *host, unsigned port);

void session_access_tab_gone(struct tab *t);
void session_access_run_ended(struct browser *b, const char *run);
void session_access_fini(struct session *s);

/*
 * May S reach HOST, and ADDRESS (NULL: it is not known yet)? NULL, or why
 * not. With an address it is noted as reached.
 */
const char *session_access_reach(struct session *s, const char *host,
				 unsigned port, const struct sockaddr *address);

#endif
