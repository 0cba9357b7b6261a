/* SPDX-License-Identifier: Apache-2.0 */
/* renderers.h - do pages have Chromium's own sandbox? By /proc. */
#ifndef BROWSER_PROCESS_RENDERERS_H
#define BROWSER_PROCESS_RENDERERS_H

/*
 * Asked in PID 1 of Chromium's namespaces. 1: each page's process has a filter
 * of system calls and a pid namespace below Chromium's; 0: one has not;
 * -ENOENT: there is none. Reads /proc for every process.
 */
int renderers_sandboxed(void);

#endif
