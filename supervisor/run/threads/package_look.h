/* SPDX-License-Identifier: Apache-2.0 */
/*
 * package_look.h - finds whether a program's package is still as it was loaded
 * (template_look.h). A thread looks, since the owner of the package decides how
 * long a look takes.
 */
#ifndef SUPERVISOR_THREADS_PACKAGE_LOOK_H
#define SUPERVISOR_THREADS_PACKAGE_LOOK_H

#include "supervisor/packages/templates/template_look.h"
#include "supervisor/run/threads/thread_pool.h"

struct package_look; /* opaque: one question */

/*
 * RC is 0, -ESTALE with a sentence for the log in ERRMSG (lent), or another
 * errno, for a passing failure. The look is over, and freed after the call.
 */
typedef void (*package_look_done)(void *arg, int rc, const char *errmsg);

/*
 * Look at T's package, now or soon, for Q (lent, or NULL: the server). DONE is
 * called once, on the loop and never from within this call, unless
 * package_look_forget() comes first. BASE and O are lent, and outlive the look;
 * T gets a user.
 */
struct package_look *package_look_ask(struct event_base *base,
				      struct thread_pool *o,
				      struct requestor *q, struct template *t,
				      package_look_done done, void *arg);
void package_look_forget(struct package_look *p); /* NULL is fine */

#endif
