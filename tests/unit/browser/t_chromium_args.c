/* SPDX-License-Identifier: Apache-2.0 */
/* t_chromium_args.c - what Chromium is called with, and not. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "browser/chromium.h"
#include "tests/unit/tap.h"

/* With one of these a page can do to others what Chromium keeps it from. */
static const char *const never[] = {
    "--no-sandbox",
    "--disable-setuid-sandbox",
    "--disable-namespace-sandbox",
    "--disable-seccomp-filter-sandbox",
    "--no-zygote",
    "--single-process",
    "--disable-web-security",
    "--disable-site-isolation-trials",
    "--disable-ipc-flooding-protection",
    "--disable-hang-monitor",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-popup-blocking",
    "--disable-prompt-on-repost",
    "--allow-running-insecure-content",
    "--ignore-certificate-errors",
    "--remote-debugging-port",
    "--remote-allow-origins",
    "--js-flags",
    "--enable-automation",
    "--allow-file-access-from-files",
};

TEST(flags)
{
	char path[] = "/nowhere/chromium";
	char **argv = chromium_argv(path);

	for (size_t i = 0; i < ARRAY_LEN(never); i++) {
		bool found = false;

		for (char **a = argv; *a != NULL; a++)
			found = found ||
				strncmp(*a, never[i], strlen(never[i])) == 0;
		ok(!found, "%s is not given", never[i]);
	}
	free(argv);
}
