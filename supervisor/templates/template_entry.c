/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a package is run by: is the file there, readable, and of the kind that
 * the manifest says? For whoever loads a package, so it has to be cheap: what
 * is in the file is looked at by interpreter.c, and compiled by a worker.
 */
#include "supervisor/templates/template_entry.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/text/text_position.h"
#include "base/text/utf8.h"
#include "base/text/errmsg.h"
#include "supervisor/package/package.h"

#define LUA_BYTECODE '\x1b' /* how precompiled Lua begins */

/* Is what was read text? Else where not is said. */
static int check_text(const struct template *t, struct diagnostics *f)
{
	size_t good = utf8_valid_len(t->code, t->code_len);
	size_t at = strnlen(t->code, good), line, column;

	if (at == t->code_len)
		return 0;
	text_position(t->code, at, &line, &column);
	diagnostics_add(f, DIAGNOSTIC_ERROR, t->entry, NULL,
			at < good ? "code has no character U+0000"
				  : "this is not text in UTF-8");
	return diagnostics_at(f, line, column);
}

static int load_lua(struct template *t, int fd, struct diagnostics *f,
		    char *errmsg, size_t size)
{
	int rc =
	    package_read(fd, t->entry, &t->code, &t->code_len, errmsg, size);

	if (rc < 0)
		return rc;
	if (t->code_len > 0 && t->code[0] == LUA_BYTECODE)
		return errmsg_set(errmsg, size,
				  "%s is precompiled Lua, but must be source",
				  t->entry);
	return check_text(t, f);
}

/* Workers are somebody else, with the rights of others. */
static int can_others(int fd, const struct stat *file, const char *entry,
		      char *errmsg, size_t size)
{
	const mode_t need = S_IROTH | S_IXOTH;
	struct stat dir;

	if (fstat(fd, &dir) == 0 && (dir.st_mode & need) == need &&
	    (file->st_mode & need) == need)
		return 0;
	return errmsg_set(
	    errmsg, size,
	    "others may not read and execute the folder and %s, but "
	    "workers are others here (chmod -R o+rX would do)",
	    entry);
}

static int look_at_program(struct template *t, int fd, bool others,
			   char *errmsg, size_t size)
{
	struct stat st;
	int file = package_open_file(fd, t->entry, &st, errmsg, size);

	if (file < 0)
		return file;
	close(file);
	if ((st.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) == 0)
		return errmsg_set(errmsg, size,
				  "%s is not executable (chmod +x would do)",
				  t->entry);
	return others ? can_others(fd, &st, t->entry, errmsg, size) : 0;
}

int template_entry_load(struct template *t, int fd, bool workers_are_others,
			struct diagnostics *f)
{
	char errmsg[512] = "";
	int rc = t->runtime == RUNTIME_LUA
		     ? load_lua(t, fd, f, errmsg, sizeof(errmsg))
		     : look_at_program(t, fd, workers_are_others, errmsg,
				       sizeof(errmsg));

	if (errmsg[0] != '\0')
		diagnostics_add(f, DIAGNOSTIC_ERROR, MANIFEST_FILE,
				"/runtime/entry", "%s", errmsg);
	return rc;
}
