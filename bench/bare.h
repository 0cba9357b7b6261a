/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bare.h - a DevTools client without paddock: no namespaces for Chromium, no
 * proxy, no policy, no worker. The client takes the steps of batch_extract_pages
 * for a page.
 */
#ifndef BENCH_BARE_H
#define BENCH_BARE_H

#include <sys/types.h>

struct bare;

/*
 * Start a Chromium like the Chromium below the process BROKER, without the proxy,
 * with the profile in HOME, a new folder.
 */
struct bare *bare_start(pid_t broker, const char *home);
pid_t bare_pid(const struct bare *b); /* Chromium's */
void bare_page(struct bare *b, const char *url);
void bare_stop(struct bare *b);

#endif
