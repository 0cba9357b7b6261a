/* SPDX-License-Identifier: Apache-2.0 */
/* renderers.h - whether Chromium's own sandbox holds the pages, by /proc. */
#ifndef BROWSER_PROCESS_RENDERERS_H
#define BROWSER_PROCESS_RENDERERS_H

/*
 * Of the pages' processes, asked by the PID 1 of chromium_launch.h: 1: each has
 * a filter of system calls and a pid namespace below Chromium's; 0: one has
 * not; -ENOENT: there is none. Costs a look at every process there is.
 */
int renderers_sandboxed(void);

#endif
