/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_access.h - the hosts reachable for a session, beside the session's
 * trust: the grants of the run that made the session, for the session's whole
 * life; and the grants of joined runs, until the run's end and until no tab
 * shows a page to which the run navigated.
 *
 * A connection names a session and not a tab. So after a run has joined, all
 * pages of the session reach the hosts granted to every joined run, hosts
 * reached before, and hosts to which the session's own client navigates.
 */
#ifndef BROWSER_SESSION_ACCESS_H
#define BROWSER_SESSION_ACCESS_H

#include "browser/browser.h"

/* Apply the hosts of C's run to S, when C begins to use S. */
void session_access_enter(struct session *s, const struct call *c);
/* Record that C may have navigated C->tab; ANEW: C did, to a new document. */
void session_access_led(const struct call *c, bool anew);
/* Record that a client's C navigates C->session to HOST; not for a run's C. */
void session_access_sent(const struct call *c, const char *host, unsigned port);

void session_access_tab_gone(struct tab *t);
void session_access_run_ended(struct browser *b, const char *run);
void session_access_fini(struct session *s);

/*
 * May S reach HOST, and ADDRESS (NULL: not yet known)? NULL, or the reason for
 * a refusal. With an address, HOST is recorded as reached.
 */
const char *session_access_reach(struct session *s, const char *host,
				 unsigned port, const struct sockaddr *address);

#endif
