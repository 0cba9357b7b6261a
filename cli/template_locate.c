/* SPDX-License-Identifier: Apache-2.0 */
/*
 * template_locate.c - who has just written a package asks for it by its name, and gets
 * to know why that is not enough: its folder was not given, or it is broken.
 * run.c and template.c call it. What cannot be found out is not said.
 */
#include "cli/template_locate.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/template_findings.h"
#include "cli/terminal.h"
#include "cli/server_flags.h"

#define ID_CHARS "abcdefghijklmnopqrstuvwxyz0123456789_"

/* ./ID is a package, which nobody named. */
static void say_here(const char *id)
{
	char *path = xasprintf("./%s/template.json", id);

	if (access(path, F_OK) == 0)
		message_more(
		    "  hint: ./%s is a package: --templates ./%s takes it", id,
		    id);
	free(path);
}

void template_locate(const struct cli *cli, const char *name, bool private)
{
	char *id = xstrndup(name, strcspn(name, "@"));
	char *broken = private ? template_findings_skipped(cli, id) : NULL;

	if (broken != NULL && server_flags_is_plain(broken))
		message_more(
		    "  hint: \"paddock template check %s\" tells all that "
		    "is wrong with it",
		    broken);
	else if (broken == NULL && cli->templates.n == 0 &&
		 cli->socket == NULL && id[0] != '\0' &&
		 id[strspn(id, ID_CHARS)] == '\0')
		say_here(id);
	free(broken);
	free(id);
}
