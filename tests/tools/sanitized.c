/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sanitized.c - linked into all programs of a sanitized build (make asan).
 *
 * A sanitizer's findings go to a file in REPORTS, whatever the process has become and
 * wherever stderr leads, so tests/tools/reports prints each finding even if the test
 * did not look. The options are compiled in, since the programs are started without an
 * environment.
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

#define FOUND 86 /* exit status of a process with a finding */
#define COMMON                                                                 \
	"log_path=" REPORTS "/report:log_exe_name=1:exitcode=86:"              \
	"print_stacktrace=1:handle_abort=1"

/* Called by the runtime libraries, which have no header for the functions. */
const char *__asan_default_options(void);
const char *__ubsan_default_options(void);
const char *__lsan_default_options(void);

/* Keep 32 MiB of freed memory, to detect a later use. */
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

static pid_t began; /* the process id at the start, to recognize a fork */
static int report = -1;

/*
 * Give the descriptor to the runtime, which otherwise opens a file for each copy.
 */
static void keep_report(void)
{
	__sanitizer_set_report_fd((void *)(intptr_t)report);
}

/*
 * Open the report at the start, since a process in a sandbox opens no file later: the
 * broker's report stays open from the start.
 */
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

/*
 * The leak checker uses a thread, which may not trace a process after a change of user.
 */
__attribute__((destructor)) static void look_for_leaks(void)
{
	if (getpid() != began || prctl(PR_GET_SECCOMP) != 0)
		/*
		 * a forked copy, or a process with seccomp, which no thread may trace
		 */
		return;
	prctl(PR_SET_DUMPABLE, 1);
	if (__lsan_do_recoverable_leak_check() != 0)
		_exit(FOUND);
}
