/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cage_hints.c - a table of what programs say when the cage refuses them, and
 * what that means; explain.c looks a run's standard error up in it. A text
 * without a row has no meaning, and nothing is said.
 */
#include "cli/cage_hints.h"

#include <stddef.h>
#include <string.h>

#include "base/mem.h"

#define RAISE(key, max)                                                        \
	"Its author can ask for more in limits." key                           \
	", up to the server's " max "."

static const struct cage_hints
    processes =
	{"It said so as one does that has all the processes and threads "
	 "that it may.",
	 RAISE("maxProcesses", "max_processes")},
    open_files = {"One of its processes had all the files open that it may.",
		  RAISE("maxOpenFiles", "max_open_files")},
    room = {"What it writes to had no room left: /work has a half, /tmp and "
	    "/dev/shm a quarter each of what its memory may be, and files are "
	    "counted.",
	    "Its author can ask for more in limits.maxMemoryBytes and "
	    "limits.maxFiles, up to the server's max_memory_bytes and "
	    "max_files."},
    memory = {"It was refused memory, or a file longer than all of its memory.",
	      RAISE("maxMemoryBytes", "max_memory_bytes")},
    network = {"No template has a network of its own; nothing in the manifest "
	       "or the configuration can allow one.",
	       "A tool of the server's can fetch for it (call, on descriptor "
	       "3), if its manifest lists that in tools."},
    reads = {"It sees no more of the host than programs, libraries and its own "
	     "package, and may write to /work, /tmp and /dev/shm alone.",
	     "What else it has to read its manifest can name in "
	     "permissions.readPaths, and the operator grant."},
    head = {"The #! line of its program ends with CR LF, as files of Windows "
	    "do, or has more than one word after /usr/bin/env.",
	    "Its author has to save the file with LF alone; \"paddock template "
	    "check\" tells which it is."},
    denied = {"The sandbox says so to calls that programs can do without.",
	      "Nothing in the manifest or the configuration can allow them."};

static const struct {
	const char *words;
	const struct cage_hints *mean;
} all[] = {
    {"Resource temporarily unavailable", &processes},
    {"can't start new thread", &processes},
    {"Too many open files", &open_files},
    {"No space left on device", &room},
    {"Cannot allocate memory", &memory},
    {"MemoryError", &memory},
    {"heap out of memory", &memory},
    {"Out of memory", &memory},
    {"File too large", &memory},
    {"Address family not supported", &network},
    {"name resolution", &network},
    {"EAI_AGAIN", &network},
    {"EAFNOSUPPORT", &network},
    {"in shebang lines", &head}, /* env(1) */
    {"\\r': No such file", &head},
    {"Read-only file system", &reads},
    {"No such file or directory", &reads},
    {"Operation not permitted", &denied},
    {"Function not implemented", &denied},
};

const struct cage_hints *cage_hints(const char *text)
{
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (strstr(text, all[i].words) != NULL)
			return all[i].mean;
	return NULL;
}
