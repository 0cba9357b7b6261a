/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interpreter.c - predicts errors of execve(2) for a package's program, before
 * a run fails: the kernel says only "No such file or directory" of a missing
 * interpreter. Called when a package is checked, not when a package is loaded;
 * reads a few hundred bytes of the entry, and starts nothing.
 */
#include "supervisor/packages/grants/interpreter.h"

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text/suggest.h"
#include "base/os/system_paths.h"
#include "base/text/utf8.h"
#include "supervisor/packages/grants/granted_path.h"
#include "supervisor/packages/package/package.h"

/* the part of a #! line that the kernel reads: BINPRM_BUF_SIZE */
#define HEAD_BYTES 256
#define SEGMENTS_MAX 64		 /* most segments of an ELF program */
#define PACKAGE_DIR "/template/" /* where a run sees its package */

struct look {
	const struct template *t;
	int package;
	int file; /* the open entry */
	struct diagnostics *f;
	char head[HEAD_BYTES + 1];
	size_t n;
};

#define fail(l, ...)                                                           \
	diagnostics_add((l)->f, DIAGNOSTIC_ERROR, (l)->t->entry, NULL,         \
			__VA_ARGS__)
/* Report a fault of the first line. */
#define fail_line(l, ...)                                                      \
	do {                                                                   \
		fail(l, __VA_ARGS__);                                          \
		diagnostics_at((l)->f, 1, 1);                                  \
	} while (0)

/* ---- the paths that runs see ---- */

static const char *const folders[] = {SYSTEM_PATHS};

static bool is_shown(const struct template *t, const char *path)
{
	for (size_t i = 0; i < ARRAY_LEN(folders); i++)
		if (granted_path_names(folders[i], path))
			return true;
	for (size_t i = 0; i < t->n_reads; i++)
		if (granted_path_names(t->reads[i], path))
			return true;
	return false;
}

enum standing { FOUND, MISSING, NOT_SHOWN, NO_PROGRAM };

static enum standing file_standing(const struct stat *st)
{
	return S_ISREG(st->st_mode) &&
		       (st->st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) != 0
		   ? FOUND
		   : NO_PROGRAM;
}

/* Can a run find and execute PATH, which is absolute? */
static enum standing stands(const struct look *l, const char *path)
{
	char real[PATH_MAX], errmsg[512];
	struct stat st;
	int file;

	if (strncmp(path, PACKAGE_DIR, strlen(PACKAGE_DIR)) == 0) {
		file = package_open_file(l->package, path + strlen(PACKAGE_DIR),
					 &st, errmsg, sizeof(errmsg));
		if (file < 0)
			return MISSING;
		close(file);
		return file_standing(&st);
	}
	if (!is_shown(l->t, path))
		return NOT_SHOWN;
	if (realpath(path, real) == NULL || stat(real, &st) != 0)
		return MISSING;
	return is_shown(l->t, real) ? file_standing(&st) : NOT_SHOWN;
}

/*
 * Take the next folder of SYSTEM_PATHS_ENV at *AT into DIR. False: there is no
 * more.
 */
static bool next_folder(const char **at, char *dir, size_t size)
{
	size_t n = strcspn(*at, ":");

	if (n == 0 || n >= size)
		return false;
	memcpy(dir, *at, n);
	dir[n] = '\0';
	*at += n + ((*at)[n] == ':');
	return true;
}

/* ---- suggestions ---- */

static const char *const familiar[] = {"sh",   "bash", "python3", "perl",
				       "node", "ruby", "env"};

/*
 * Return the program in DIR whose name is nearest to NAME, or NULL. The caller
 * frees it.
 */
static char *near_in(const struct look *l, const char *dir, const char *name)
{
	struct dirent **list = NULL;
	int n = scandir(dir, &list, NULL, alphasort);
	char *path = NULL, *best = NULL;
	struct suggest suggest;

	suggest_init(&suggest, name);
	for (size_t i = 0; i < ARRAY_LEN(familiar); i++) {
		path = xasprintf("%s/%s", dir, familiar[i]);
		if (stands(l, path) == FOUND)
			suggest_try(&suggest, familiar[i]);
		free(path);
	}
	for (int i = 0; i < n; i++)
		suggest_try(&suggest, list[i]->d_name);
	if (suggest.best != NULL)
		best = xasprintf("%s/%s", dir, suggest.best);
	for (int i = 0; i < n; i++)
		free(list[i]);
	free(list);
	if (best != NULL && stands(l, best) == FOUND)
		return best;
	free(best);
	return NULL;
}

/*
 * Return the program probably meant by PATH: of the same name in another
 * folder, or of a similar name in the same folder. The caller frees it.
 */
static char *near_path(const struct look *l, const char *path)
{
	const char *name = strrchr(path, '/') + 1, *at = SYSTEM_PATHS_ENV;
	char dir[PATH_MAX], *best;

	while (next_folder(&at, dir, sizeof(dir))) {
		best = xasprintf("%s/%s", dir, name);
		if (strcmp(best, path) != 0 && stands(l, best) == FOUND)
			return best;
		free(best);
	}
	snprintf(dir, sizeof(dir), "%.*s", (int)(name - 1 - path), path);
	return dir[0] != '\0' && is_shown(l->t, dir) ? near_in(l, dir, name)
						     : NULL;
}

/* ---- #! lines ---- */

static void check_interpreter(struct look *l, const char *path)
{
	enum standing how = path[0] == '/' ? stands(l, path) : FOUND;
	char *suggest;

	if (path[0] != '/') {
		fail_line(l,
			  "the #! line has \"%s\", but an interpreter is "
			  "named by its whole path, such as /bin/sh",
			  path);
	} else if (how == MISSING) {
		suggest = near_path(l, path);
		fail_line(l,
			  "the interpreter %s of the #! line is not there"
			  "%s%s%s",
			  path, suggest != NULL ? "; did you mean " : "",
			  suggest != NULL ? suggest : "",
			  suggest != NULL ? "?" : "");
		free(suggest);
	} else if (how == NOT_SHOWN) {
		fail_line(l,
			  "the interpreter %s of the #! line is nothing that "
			  "a run sees: of the machine that is /usr, and what "
			  "\"readPaths\" asks for",
			  path);
	} else if (how == NO_PROGRAM) {
		fail_line(l,
			  "the interpreter %s of the #! line is not "
			  "executable",
			  path);
	}
}

/* Check a command NAME that env looks for in PATH. */
static void check_command(struct look *l, const char *name)
{
	const char *at = SYSTEM_PATHS_ENV;
	char dir[PATH_MAX], *path, *suggest;

	if (strchr(name, '/') != NULL) {
		check_interpreter(l, name);
		return;
	}
	while (next_folder(&at, dir, sizeof(dir))) {
		bool found;

		path = xasprintf("%s/%s", dir, name);
		found = stands(l, path) == FOUND;
		free(path);
		if (found)
			return;
	}
	at = SYSTEM_PATHS_ENV;
	suggest = NULL;
	while (suggest == NULL && next_folder(&at, dir, sizeof(dir)))
		suggest = near_in(l, dir, name);
	fail_line(l,
		  "the #! line has env look for %s, which is nowhere in "
		  "the PATH of runs, " SYSTEM_PATHS_ENV "%s%s%s",
		  name, suggest != NULL ? "; did you mean " : "",
		  suggest != NULL ? strrchr(suggest, '/') + 1 : "",
		  suggest != NULL ? "?" : "");
	free(suggest);
}

/*
 * Check the arguments of env. The kernel gives env all of REST as one argument;
 * env -S splits the argument.
 */
static void check_env(struct look *l, char *rest)
{
	bool split = strncmp(rest, "-S", 2) == 0;
	char *word, *at = split ? rest + 2 : rest;

	if (!split && strpbrk(rest, " \t") != NULL) {
		fail_line(l,
			  "the #! line has env look for a program that is "
			  "called \"%s\", blanks and all; env -S %s would take "
			  "it apart",
			  rest, rest);
		return;
	}
	if (split && strpbrk(at, "'\"\\$") != NULL)
		return; /* env has a syntax of its own for these characters */
	while ((word = strsep(&at, " \t")) != NULL &&
	       (word[0] == '\0' || word[0] == '-' || strchr(word, '=')))
		if (strcmp(word, "-u") == 0 || strcmp(word, "-C") == 0)
			(void)strsep(&at, " \t"); /* the option's value */
	if (word == NULL)
		fail_line(l, "the #! line does not tell env what to start");
	else
		check_command(l, word);
}

/* Check the #! line. */
static void check_script(struct look *l)
{
	char *line = l->head + 2, *end = memchr(line, '\n', l->n - 2), *rest;
	const char *name;

	if (end == NULL && l->n == HEAD_BYTES) {
		fail_line(l,
			  "the #! line has more than %d bytes, which the "
			  "kernel does not read",
			  HEAD_BYTES - 1);
		return;
	}
	if (end == NULL)
		end = l->head + l->n;
	*end = '\0';
	if (end > line && end[-1] == '\r') {
		end[-1] = '\0';
		fail(l,
		     "the #! line ends with CR LF, as files of Windows do, "
		     "so \"%s\" is looked for with a CR in its name; save the "
		     "file with LF alone",
		     line + strspn(line, " \t"));
		diagnostics_at(l->f, 1, (size_t)(end - l->head));
		return;
	}
	while (end > line && (end[-1] == ' ' || end[-1] == '\t'))
		*--end = '\0';
	line += strspn(line, " \t");
	rest = line + strcspn(line, " \t");
	if (*rest != '\0')
		*rest++ = '\0';
	rest += strspn(rest, " \t");
	if (line[0] == '\0') {
		fail_line(l, "the #! line names no interpreter");
		return;
	}
	check_interpreter(l, line);
	name = strrchr(line, '/');
	if (name != NULL && strcmp(name, "/env") == 0 &&
	    stands(l, line) == FOUND)
		check_env(l, rest);
}

/* ---- ELF ---- */

static const char *machine_name(unsigned machine)
{
	static const struct {
		unsigned machine;
		const char *name;
	} names[] = {{EM_X86_64, "x86-64"},
		     {EM_386, "x86 of 32 bits"},
		     {EM_AARCH64, "ARM of 64 bits"},
		     {EM_ARM, "ARM of 32 bits"},
		     {EM_RISCV, "RISC-V"},
		     {EM_PPC64, "POWER"},
		     {EM_S390, "S/390"}};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (names[i].machine == machine)
			return names[i].name;
	return "another machine";
}

static bool is_for_us(struct look *l)
{
	unsigned char own[EI_NIDENT + 4];
	uint16_t type, machine, ours;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	bool good = fd >= 0 && read(fd, own, sizeof(own)) == sizeof(own);

	if (fd >= 0)
		close(fd);
	if (!good)
		return false;
	memcpy(&type, l->head + EI_NIDENT, sizeof(type));
	memcpy(&machine, l->head + EI_NIDENT + 2, sizeof(machine));
	/* this program is built for this machine */
	memcpy(&ours, own + EI_NIDENT + 2, sizeof(ours));
	if (own[EI_DATA] != (unsigned char)l->head[EI_DATA])
		machine = __builtin_bswap16(machine);
	if (machine != ours ||
	    own[EI_DATA] != (unsigned char)l->head[EI_DATA] ||
	    own[EI_CLASS] != (unsigned char)l->head[EI_CLASS]) {
		fail(l, "this program is for %s, and this machine is %s",
		     machine != ours ? machine_name(machine)
				     : "another width of words",
		     machine_name(ours));
		return false;
	}
	if (type != ET_EXEC && type != ET_DYN) {
		fail(l,
		     "this is an object file, not a program that was linked");
		return false;
	}
	return true;
}

static void check_loader(struct look *l, off_t at, size_t size)
{
	char path[PATH_MAX] = "", *suggest;
	enum standing how;

	if (size >= sizeof(path) ||
	    pread(l->file, path, size, at) != (ssize_t)size)
		return;
	how = path[0] == '/' ? stands(l, path) : MISSING;
	if (how == FOUND)
		return;
	suggest = path[0] == '/' ? near_path(l, path) : NULL;
	fail(l,
	     "this program was linked for the loader %s, which %s%s%s%s; "
	     "linked statically it needs none",
	     path, how == MISSING ? "is not there" : "no run sees",
	     suggest != NULL ? " (" : "", suggest != NULL ? suggest : "",
	     suggest != NULL ? " is)" : "");
	free(suggest);
}

#if UINTPTR_MAX > 0xFFFFFFFFu
typedef Elf64_Ehdr own_ehdr;
typedef Elf64_Phdr own_phdr;
#else
typedef Elf32_Ehdr own_ehdr;
typedef Elf32_Phdr own_phdr;
#endif

static void check_elf(struct look *l)
{
	own_ehdr h;
	own_phdr p;

	if (l->n < sizeof(h)) {
		fail(l, "this program is cut short");
		return;
	}
	if (!is_for_us(l))
		return;
	memcpy(&h, l->head, sizeof(h));
	for (unsigned i = 0; i < h.e_phnum && i < SEGMENTS_MAX; i++) {
		off_t at = (off_t)(h.e_phoff + (uint64_t)i * sizeof(p));

		if (at < 0 ||
		    pread(l->file, &p, sizeof(p), at) != (ssize_t)sizeof(p)) {
			fail(l, "this program is cut short");
			return;
		}
		/* the kernel takes the first PT_INTERP */
		if (p.p_type == PT_INTERP) {
			check_loader(l, (off_t)p.p_offset, p.p_filesz);
			return;
		}
	}
}

/* ---- files of any kind ---- */

static void check_program_head(struct look *l)
{
	static const char bom[] = "\xEF\xBB\xBF";
	const char *from = l->head + strspn(l->head, " \t\r\n");

	if (l->n >= SELFMAG && memcmp(l->head, ELFMAG, SELFMAG) == 0)
		check_elf(l);
	else if (l->n >= 2 && memcmp(l->head, "#!", 2) == 0)
		check_script(l);
	else if (l->n == 0)
		fail(l, "the file is empty, and no program");
	else if (strncmp(l->head, bom, strlen(bom)) == 0)
		fail_line(l, "the file begins with a byte order mark, before "
			     "which the kernel sees no #!; save it without");
	else if (strncmp(from, "#!", 2) == 0 || strncmp(l->head, "# !", 3) == 0)
		fail_line(l, "#! has to be the first two bytes of the file");
	else
		fail_line(l, "this is no program: a script begins with #! and "
			     "its interpreter, such as #!/bin/sh");
}

void interpreter_check(const struct template *t, int fd, struct diagnostics *f)
{
	struct look l = {.t = t, .package = fd, .f = f};
	char errmsg[512];
	struct stat st;
	ssize_t n;

	l.file = package_open_file(fd, t->entry, &st, errmsg, sizeof(errmsg));
	if (l.file < 0)
		return; /* template_entry_load() has reported the fault */
	n = pread(l.file, l.head, HEAD_BYTES, 0);
	if (n >= 0) {
		l.n = (size_t)n;
		check_program_head(&l);
	}
	close(l.file);
}
