/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selftest_table.c - the table of attacks: template, input, words for people,
 * and the outcome by which the cage holds. selftest.c tries each row. There is
 * no code here.
 */
#include "cli/server/selftest.h"

#define LUA SELFTEST_LUA
#define LUA_CPU SELFTEST_LUA_CPU /* with little CPU time */
#define SH SELFTEST_SH
#define SH_CPU SELFTEST_SH_CPU
#define PYTHON SELFTEST_PYTHON
#define NOTEBOOK SELFTEST_NOTEBOOK
#define CELLS SELFTEST_CELLS
#define OTHER SELFTEST_OTHER

#define LIMIT "RESOURCE_LIMIT"
#define MEMORY "\"limit\":\"memory\""
#define CPU "\"limit\":\"cpu\""
#define OUTPUT "\"limit\":\"output_bytes\""

/* A system call that ends the run, named in its error. */
#define VIOLATION(call)                                                        \
	{                                                                      \
		PYTHON, #call, #call, "SANDBOX_VIOLATION",                     \
		    "\"syscall\":\"" #call "\"", 0                             \
	}

const struct selftest selftests[] = {
    {LUA_CPU, "spin", "a loop without end", LIMIT, CPU, 0},
    {LUA_CPU, "pattern", "a pattern that backtracks for ever", LIMIT, CPU, 0},
    {LUA_CPU, "pcall_spin", "a loop within pcall", LIMIT, CPU, 0},
    {LUA_CPU, "finalizer", "a finalizer without end", LIMIT, CPU, 0},
    {LUA_CPU, "last_finalizer", "a finalizer at the end", NULL, "\"returned\"",
     0},
    {LUA, "sleep", "sleep without end", "RUN_TIMEOUT", "", 300},
    {LUA, "memory", "all memory", NULL, "\"not enough memory\"", 0},
    {LUA, "doubling", "a string that doubles", NULL, "\"not enough memory\"",
     0},
    {LUA, "recursion", "recursion without end", NULL, "true", 0},
    {LUA, "coroutines", "coroutines within coroutines", "EXECUTION_ERROR",
     "C stack overflow", 0},
    {LUA, "parentheses", "100,000 parentheses", NULL, "true", 0},
    {LUA, "binary", "a binary chunk", NULL, "true", 0},
    {LUA, "absent", "files, programs and the debugger", NULL, "[]", 0},
    {LUA, "addresses", "addresses in texts", NULL, "true", 0},
    {LUA, "output", "too large a result", LIMIT, OUTPUT, 0},
    {LUA, "endless", "a result within itself", "EXECUTION_ERROR", "", 0},
    {LUA, "forged_code", "an error that claims to be another",
     "EXECUTION_ERROR", "", 0},
    {LUA, "tool", "a tool that it was not given", "EXECUTION_ERROR",
     "CALL_NOT_ALLOWED", 0},
    {LUA, "calls", "a template that it was not given", "EXECUTION_ERROR",
     "PERMISSION_NOT_ALLOWED", 0},
    {LUA, "named_calls", "a name that looks like a call", "EXECUTION_ERROR",
     "PERMISSION_NOT_ALLOWED", 0},
    {LUA, "views", "the view of a run", "EXECUTION_ERROR", "CALL_NOT_ALLOWED",
     0},
    {LUA, "artifacts", "an artifact of its client", "EXECUTION_ERROR",
     "PERMISSION_NOT_ALLOWED", 0},
    {LUA, "searches", "the list of all templates", "EXECUTION_ERROR",
     "PERMISSION_NOT_ALLOWED", 0},
    {SELFTEST_ASKS, "everything",
     "the browser, a file, a connection and a key, which nobody granted",
     "PERMISSION_NOT_ALLOWED", "\"key\":", 0},
    {LUA, "flood", "a million reports of progress", NULL, "\"told\"", 0},

    {SH, "environment", "the environment", NULL, "0", 0},
    {SH, "secrets", "the system's secrets", NULL, "false", 0},
    {SH, "homes", "the files of others", NULL, "false", 0},
    {SH, "host_files", "the system's files, to write", NULL, "false", 0},
    {SH, "processes", "the processes of others", NULL, "true", 0},
    {SH, "shim", "the memory of PID 1", NULL, "false", 0},
    {SH, "devices", "a device", NULL, "false", 0},
    {SH, "locks", "a lock on a file of the system's", NULL, "false", 0},
    {SH, "times", "the times of devices and files", NULL, "false", 0},
    {SH, "mounts", "mounts that can be written to", NULL, "0", 0},
    {SH, "kernel", "the kernel's switches", NULL, "false", 0},
    {SH, "execute_tmp", "a program of its own in /tmp", NULL, "false", 0},
    {SH, "hostname", "the host's name", NULL, "true", 0},
    {SH_CPU, "spin", "a loop without end", LIMIT, CPU, 0},
    {SH, "sleep", "sleep without end", "RUN_TIMEOUT", "", 300},
    {SH, "deaf", "a loop that ignores signals", "RUN_TIMEOUT", "", 300},
    {SH, "output", "output without end", LIMIT, OUTPUT, 0},
    {SH, "forks", "a fork bomb", SELFTEST_ENDS, NULL, 1000},
    {SH, "fill", "all of the disk", NULL, "false", 0},
    {SH, "kill", "SIGKILL to all, and to PID 1", NULL, "true", 0},
    {SH, "daemon", "a daemon that stays", NULL, "true", 0},
    {SH, "link", "links and FIFOs as artifacts", NULL, "true", 0},
    {SH, "calls", "a template that nobody granted", NULL, "false", 0},
    {SH, "forged_end", "the end of its run, by another process", NULL, "true",
     0},
    {SH, "crash", "a crash", "WORKER_CRASHED", "SIGSEGV", 0},

    VIOLATION(ptrace),
    VIOLATION(process_vm_readv),
    VIOLATION(pidfd_getfd),
    VIOLATION(mount),
    VIOLATION(fsopen),
    VIOLATION(unshare),
    VIOLATION(setns),
    VIOLATION(bpf),
    VIOLATION(perf_event_open),
    VIOLATION(userfaultfd),
    VIOLATION(keyctl),
    VIOLATION(add_key),
    VIOLATION(open_by_handle_at),
    VIOLATION(seccomp),
    VIOLATION(init_module),
    VIOLATION(reboot),
    {PYTHON, "io_uring_setup", "io_uring", NULL, "\"ENOSYS\"", 0},
    {PYTHON, "memfd_create", "a file that is only memory", NULL, "\"ENOSYS\"",
     0},
    {PYTHON, "clone3", "clone3", NULL, "\"ENOSYS\"", 0},
    {PYTHON, "splice", "splice", NULL, "\"ENOSYS\"", 0},
    {PYTHON, "personality", "another personality", NULL, "\"ENOSYS\"", 0},
    {PYTHON, "setuid", "setuid", NULL, "\"EPERM\"", 0},
    {PYTHON, "chroot", "chroot", NULL, "\"EPERM\"", 0},
    {PYTHON, "sockets", "sockets", NULL, "\"EAFNOSUPPORT\"", 0},
    {PYTHON, "inotify_init1", "watches on what others do", NULL, "\"ENOSYS\"",
     0},
    {PYTHON, "lone_socket", "a socket that others could send to", NULL,
     "\"ENOSYS\"", 0},
    {PYTHON, "descriptors", "descriptors that leaked", NULL, "[]", 0},
    {PYTHON, "send_descriptors",
     "descriptors left on their way, which are "
     "counted by user",
     NULL, "\"EPERM\"", 0},
    {PYTHON, "timers", "all timers, which are counted by user", NULL,
     "\"EAGAIN\"", 0},
    {PYTHON, "waiting_signals",
     "all signals that wait, which are counted by "
     "user",
     NULL, "\"EAGAIN\"", 0},
    {PYTHON, "mq_open", "a queue of messages, which is counted by user", NULL,
     "\"ENOSYS\"", 0},
    {PYTHON, "io_setup", "asynchronous reads, which are counted by machine",
     NULL, "\"ENOSYS\"", 0},
    {PYTHON, "timerfd_create", "timers that fire in nobody's account", NULL,
     "\"ENOSYS\"", 0},
    {PYTHON, "signalfd4", "signals as files", NULL, "\"ENOSYS\"", 0},
    {PYTHON, "ranges", "locks without end, which nobody is charged for", NULL,
     "\"ENOLCK\"", 0},
    {PYTHON, "watches", "watches without end", NULL, "\"ENOSPC\"", 0},
    {PYTHON, "many_polled", "too many descriptors to wait for", NULL,
     "\"EINVAL\"", 0},
    {PYTHON, "socket_filter",
     "filters on a socket, which are counted by machine", NULL,
     "\"ENOPROTOOPT\"", 0},
    {PYTHON, "cached_pages", "what others have read of a file", NULL,
     "\"EOPNOTSUPP\"", 0},
    {PYTHON, "which_pages", "which pages of a file are in memory", NULL,
     "\"ENOSYS\"", 0},
    {PYTHON, "grows_down", "memory that no limit of data counts", NULL,
     "\"ENOMEM\"", 0},
    {PYTHON, "cores", "its own limit of cores", NULL, "\"refused\"", 0},
    {PYTHON, "socket_buffers", "larger buffers of sockets", NULL,
     "\"as it was\"", 0},
    {PYTHON, "executions", "files executed without end", NULL, "\"EAGAIN\"", 0},
    {PYTHON, "memory", "all memory, by several processes", LIMIT, MEMORY, 0},
    {PYTHON, "threads", "a thread bomb", SELFTEST_ENDS, NULL, 3000},

    {NOTEBOOK, "channel", "the channel of its program, by another process",
     NULL, "\"refused\"", 0},
    {NOTEBOOK, "forged_end", "the end of another run", "EXECUTION_ERROR",
     "a result has the id of", 0},
    {NOTEBOOK, "is_new", "variables of a program that was ended", NULL, "true",
     0},
    {NOTEBOOK, "spins", "a process that would spin until the next call", NULL,
     "\"left\"", 0},
    {NOTEBOOK, "deaf", "a call that does not end when asked", "RUN_TIMEOUT", "",
     300},
    {NOTEBOOK, "is_new", "a process of a program that was ended", NULL, "true",
     0},
    {NOTEBOOK, "dies", "the death of its program", "WORKER_CRASHED", "SIGKILL",
     0},
    {NOTEBOOK, "is_new", "and after that a notebook with nothing in it", NULL,
     "true", 0},

    {CELLS, "loops", "a loop within pcall", "RUN_TIMEOUT", "", 300},
    {CELLS, "is_kept", "and after that what was set before", NULL, "true", 0},
    {OTHER, "is_new", "the variables of another notebook", NULL, "true", 0},
    {CELLS, "backtracks", "a pattern that backtracks for ever", "RUN_TIMEOUT",
     "", 300},
    {CELLS, "is_new", "and after that a notebook with nothing in it", NULL,
     "true", 0},
    {CELLS, "keeps", "memory that is kept for the next call", LIMIT, MEMORY, 0},
    {CELLS, "is_new", "and after that no memory of the call before", NULL,
     "true", 0},

    {LUA, "binary", "and after all of it, a run as any other", NULL, "true", 0},
};

const size_t selftests_n = sizeof(selftests) / sizeof(selftests[0]);
