/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_access.h - the hosts that a session may reach, beside its trust:
 * those of the template whose run made it, as long as it lasts; and those of
 * runs that joined it, until they end and no tab is where they navigated it.
 *
 * A connection names its session and not its tab. So in a session that was
 * joined all pages reach what all joined runs may, and what the session had
 * reached before, or its own client sends it to.
 */
#ifndef BROWSER_SESSION_ACCESS_H
#define BROWSER_SESSION_ACCESS_H

#include "browser/browser.h"

/* C begins to use S: apply the hosts of its run. */
void session_access_enter(struct session *s, const struct call *c);
/* C may have navigated C->tab; ANEW: it did, to another document. */
void session_access_led(const struct call *c, bool anew);
/* If C is a client's: it navigates a page of C->session to this host. */
void session_access_sent(const struct call *c, const char *host, unsigned port);

void session_access_tab_gone(struct tab *t);
void session_access_run_ended(struct browser *b, const char *run);
void session_access_fini(struct session *s);

/*
 * May S reach HOST, and ADDRESS (NULL: it is not known yet)? NULL, or why not.
 * With an address it is noted as reached.
 */
const char *session_access_reach(struct session *s, const char *host,
				 unsigned port, const struct sockaddr *address);

#endif
