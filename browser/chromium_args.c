/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chromium_args.c - finds Chromium and makes its arguments, for main.c, before
 * the process is confined. A missing program is reported when Chromium is first
 * needed.
 */
#include "browser/chromium.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

static const char *const names[] = {"chromium-headless-shell", "chromium"};
/* Folders of the programs: bin has only scripts. */
static const char *const homes[] = {"/usr/lib/chromium"};

/*
 * Flags: the proxy is the only connection, and Chromium itself makes none: no
 * updates, no sync, no pings. Chromium's own sandbox is on.
 */
static const char *const flags[] = {
    "--headless",
    "--remote-debugging-pipe",
    "--user-data-dir=/tmp/profile",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-pings",
    /* an address of no session: refused */
    "--proxy-server=socks5://127.0.0.1:1080",
    "--proxy-bypass-list=<-loopback>",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-update",
    "--disable-component-extensions-with-background-pages",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-features=Translate,OptimizationHints,MediaRouter",
    "--disable-gpu",
    "--disable-notifications",
    "--disable-print-preview",
    "--disable-search-engine-choice-screen",
    "--disable-sync",
    "--hide-scrollbars",
    "--metrics-recording-only",
    "--mute-audio",
    "--password-store=basic",
    "--use-mock-keychain",
    "--window-size=1280,800",
    "--disk-cache-size=67108864",
    "about:blank",
};

static char *in_folder(const char *folder, size_t n, const char *name)
{
	char *path = xasprintf("%.*s/%s", (int)n, folder, name);

	if (path[0] == '/' && access(path, X_OK) == 0)
		return path;
	free(path);
	return NULL;
}

static char *in_path(const char *name)
{
	const char *p = getenv("PATH");
	char *found = NULL;

	for (; p != NULL && found == NULL; p = strchr(p, ':')) {
		p += *p == ':';
		found = in_folder(p, strcspn(p, ":"), name);
	}
	return found != NULL ? found : in_folder("/usr/bin", 8, name);
}

/*
 * Return the real PATH (taken): Chromium's namespace lacks links to the
 * program.
 */
static char *resolved(char *path)
{
	char *real = path == NULL ? NULL : realpath(path, NULL);

	if (real == NULL)
		return path;
	free(path);
	return real;
}

char *chromium_find(const char *path)
{
	char *found = NULL;

	if (path != NULL)
		return resolved(xstrdup(path));
	for (size_t i = 0; i < ARRAY_LEN(homes) && found == NULL; i++)
		found = in_folder(homes[i], strlen(homes[i]), names[0]);
	for (size_t i = 0; i < ARRAY_LEN(names) && found == NULL; i++)
		found = in_path(names[i]);
	return resolved(found);
}

char **chromium_argv(char *path)
{
	char **argv = xcalloc(ARRAY_LEN(flags) + 2, sizeof(*argv));

	argv[0] = path;
	for (size_t i = 0; i < ARRAY_LEN(flags); i++)
		argv[i + 1] = (char *)(uintptr_t)flags[i];
	return argv;
}
