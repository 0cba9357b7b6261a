/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sanitized.c - linked into all programs of a sanitized build (make asan).
 *
 * What a sanitizer finds goes to a file of its own in REPORTS, whoever the
 * process has become and wherever its stderr goes, so that tests/tools/reports tells
 * it though the test that made it did not look. The options are here since the
 * programs are started without an environment.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define FOUND 86 /* the exit status of a process that was not clean */
#define COMMON                                                                 \
	"log_path=" REPORTS "/report:log_exe_name=1:exitcode=86:"              \
	"print_stacktrace=1:handle_abort=1"

/* Called by the runtime libraries, which declare them for themselves. */
const char *__asan_default_options(void);
const char *__ubsan_default_options(void);
const char *__lsan_default_options(void);

/* What is freed is kept for 32 MiB, to be noticed when it is used. */
const char *__asan_default_options(void)
{
	return COMMON ":detect_leaks=1:leak_check_at_exit=0:"
		      "quarantine_size_mb=32:malloc_context_size=20:"
		      "detect_stack_use_after_return=0:"
		      "allocator_may_return_null=1";
}

const char *__ubsan_default_options(void)
{
	return COMMON;
}

const char *__lsan_default_options(void)
{
	return "log_path=" REPORTS "/report:log_exe_name=1:exitcode=86";
}

static pid_t began; /* who it was before it forked */
static int report = -1;

/* Else the runtime opens another file, for each copy. */
static void keep_report(void)
{
	__sanitizer_set_report_fd((void *)(intptr_t)report);
}

/* Who locks itself in opens no file later: the broker's is open from the start. */
__attribute__((constructor)) static void open_report(void)
{
	char path[256];

	began = getpid();
	if (strcmp(program_invocation_short_name, "paddock-browser") != 0)
		return;
	snprintf(path, sizeof(path), REPORTS "/report.paddock-browser.%d",
		 (int)getpid());
	report = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (report < 0)
		return;
	keep_report();
	pthread_atfork(NULL, NULL, keep_report);
}

/* Its looker-on is a thread of ours, which may not look at who left root. */
__attribute__((destructor)) static void look_for_leaks(void)
{
	if (getpid() != began || prctl(PR_GET_SECCOMP) != 0)
		return; /* a copy; or it is locked in, and nobody looks in */
	prctl(PR_SET_DUMPABLE, 1);
	if (__lsan_do_recoverable_leak_check() != 0)
		_exit(FOUND);
}
