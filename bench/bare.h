/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bare.h - a DevTools client with nothing of paddock's around it: no world of
 * its own for Chromium, no proxy, no policy, no worker. It takes the steps that
 * batch_extract_pages takes for a page, one after the other.
 */
#ifndef BENCH_BARE_H
#define BENCH_BARE_H

#include <sys/types.h>

struct bare;

/*
 * Start a Chromium as the one below the process BROKER, less its proxy, with
 * its profile in HOME, a folder that there is not yet.
 */
struct bare *bare_start(pid_t broker, const char *home);
pid_t bare_pid(const struct bare *b); /* Chromium's */
void bare_page(struct bare *b, const char *url);
void bare_stop(struct bare *b);

#endif
