/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - paddock-browser: flags, giving up root, the helper processes and the
 * loop. paddockd starts the process, and restarts it after an exit. The process
 * exits when the filter cannot be loaded, or when a helper process is lost.
 */
#include <errno.h>
#include <event2/event.h>
#include <getopt.h>
#include <grp.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/os/fdpass.h"
#include "base/os/errname.h"
#include "base/os/log.h"
#include "base/os/no_core.h"
#include "base/os/oom_victim.h"
#include "base/mem.h"
#include "browser/browser.h"
#include "browser/process/browser_sandbox.h"
#include "browser/chromium.h"
#include "browser/process/chromium_launch.h"
#include "browser/process/chromium_pages.h"
#include "net/net_deny.h"
#include "browser/net/resolve.h"
#include "browser/process/chromium_starter.h"
#include "browser/rpc_server.h"

#define EXIT_USAGE 2
#define TICK_MS 1000
/* numbers before are counts; later numbers are times and sizes */
#define COUNTS 3

/* The default uids to change to from root: first unused uids, then nobody's. */
static const unsigned ids[] = {1879048191, 60512, 65534};
static int64_t own_uid; /* value of --uid; 0: not given */

static const char usage[] =
    "usage: paddock-browser [option]...\n"
    "\n"
    "Only paddockd starts this program, with a socket as descriptor 3.\n"
    "\n"
    "  --chromium PATH           that one, not one in PATH or /usr/bin\n"
    "  --max-sessions N          browser sessions at once\n"
    "  --max-tabs N              tabs at once, in all\n"
    "  --max-tabs-per-session N  and in one session\n"
    "  --session-idle-ms N       a kept session without use ends after this\n"
    "  --session-max-ms N        and any after this\n"
    "  --idle-ms N               Chromium without a session ends after this\n"
    "  --alone                   no share is left for other requestors\n"
    "  --max-memory N            bytes of Chromium, all processes together\n"
    "  --max-processes N         and its processes and threads\n"
    "  --deny LIST               hosts and networks that no page reaches\n"
    "  --log-level LEVEL         error, warn, info or debug\n"
    "  --uid N                   where root starts it: whom it becomes\n"
    "  --version                 print the version, then exit\n"
    "  --help                    print this, then exit\n";

static struct browser broker = {
    .limits = {.sessions = 20,
	       .tabs = 50,
	       .tabs_per_session = 20,
	       .session_idle_ms = 600000,
	       .session_max_ms = 3600000,
	       .idle_ms = 60000,
	       .memory_bytes = INT64_C(2) << 30,
	       .processes = 2000},
};

static const char *deny; /* value of --deny; NULL: not given */

enum {
	OPT_LEVEL = 256,
	OPT_VERSION,
	OPT_HELP,
	OPT_CHROMIUM,
	OPT_DENY,
	OPT_ALONE,
	OPT_NUMBERS
};

static const struct option options[] = {
    {"log-level", required_argument, NULL, OPT_LEVEL},
    {"version", no_argument, NULL, OPT_VERSION},
    {"help", no_argument, NULL, OPT_HELP},
    {"chromium", required_argument, NULL, OPT_CHROMIUM},
    {"deny", required_argument, NULL, OPT_DENY},
    {"alone", no_argument, NULL, OPT_ALONE},
    {"max-sessions", required_argument, NULL, OPT_NUMBERS},
    {"max-tabs", required_argument, NULL, OPT_NUMBERS + 1},
    {"max-tabs-per-session", required_argument, NULL, OPT_NUMBERS + 2},
    {"session-idle-ms", required_argument, NULL, OPT_NUMBERS + 3},
    {"session-max-ms", required_argument, NULL, OPT_NUMBERS + 4},
    {"idle-ms", required_argument, NULL, OPT_NUMBERS + 5},
    {"max-memory", required_argument, NULL, OPT_NUMBERS + 6},
    {"max-processes", required_argument, NULL, OPT_NUMBERS + 7},
    {"uid", required_argument, NULL, OPT_NUMBERS + 8},
    {0},
};

/* Set the limit of the flag number WHICH. */
static bool take_number(int which, const char *text)
{
	struct limits *l = &broker.limits;
	unsigned *const counts[COUNTS] = {&l->sessions, &l->tabs,
					  &l->tabs_per_session};
	int64_t *const times[] = {&l->session_idle_ms, &l->session_max_ms,
				  &l->idle_ms,	       &l->memory_bytes,
				  &l->processes,       &own_uid};
	const char *name = options[which + OPT_NUMBERS - OPT_LEVEL].name;
	char *end;
	const long long most = which < COUNTS ? INT_MAX : INT64_C(1) << 50;
	long long n;

	errno = 0;
	n = strtoll(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0' || n < 1 || n > most) {
		fprintf(
		    stderr,
		    "paddock-browser: --%s is \"%s\"; 1 to %lld would pass\n",
		    name, text, most);
		return false;
	}
	if ((size_t)which < ARRAY_LEN(counts))
		*counts[which] = (unsigned)n;
	else
		*times[(size_t)which - ARRAY_LEN(counts)] = n;
	return true;
}

/* Return -1: go on; else the exit status. */
static int take_flag(int opt)
{
	int level;

	switch (opt) {
	case OPT_LEVEL:
		level = log_level_of(optarg);
		if (level >= 0) {
			log_set_level((enum log_level)level);
			return -1;
		}
		fprintf(stderr,
			"paddock-browser: --log-level is \"%s\"; error, warn, "
			"info or debug would pass\n",
			optarg);
		return EXIT_USAGE;
	case OPT_CHROMIUM:
		broker.limits.chromium = optarg;
		return -1;
	case OPT_DENY:
		deny = optarg;
		return -1;
	case OPT_ALONE:
		broker.alone = true;
		return -1;
	case OPT_VERSION:
		puts("paddock-browser " PADDOCK_VERSION);
		return EXIT_SUCCESS;
	case OPT_HELP:
		fputs(usage, stdout);
		return EXIT_SUCCESS;
	case '?':
		return EXIT_USAGE; /* getopt_long() has reported the fault */
	default:
		return take_number(opt - OPT_NUMBERS, optarg) ? -1 : EXIT_USAGE;
	}
}

static bool become_user(unsigned id)
{
	return setresgid(id, id, id) == 0 && setresuid(id, id, id) == 0;
}

/* Give up root, for this process and Chromium. 0 or -errno. */
static int give_up_root(void)
{
	const struct rlimit nice = {20 - CHROMIUM_PAGES_NICE,
				    20 - CHROMIUM_PAGES_NICE};

	if (geteuid() != 0)
		return 0;
	/* or a page that was busy once would yield for good */
	(void)setrlimit(RLIMIT_NICE, &nice);
	if (setgroups(0, NULL) != 0)
		return -errno;
	if (own_uid != 0)
		return become_user((unsigned)own_uid) ? 0 : -errno;
	for (size_t i = 0; i < ARRAY_LEN(ids); i++)
		if (become_user(ids[i]))
			return 0;
	return -errno;
}

static void on_signal(evutil_socket_t sig, short what, void *arg)
{
	(void)sig, (void)what, (void)arg;
	event_base_loopbreak(broker.base);
}

/*
 * Exit when the process that resolves names has ended; paddockd then restarts
 * paddock-browser.
 */
static void on_no_names(void *arg)
{
	(void)arg;
	log_error("main", "err=\"the process that resolves names has ended\"");
	event_base_loopbreak(broker.base);
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what, (void)arg;
	sessions_sweep(&broker);
	chromium_sweep(broker.chromium);
}

/* The helper processes, and our ends of the sockets. */
static struct {
	char *chromium; /* path of Chromium; NULL: not found */
	int starter, names;
	pid_t pids[2];
} helpers = {.starter = -1, .names = -1};

static int fork_helpers(void)
{
	struct chromium_launch_plan plan = {
	    .limits = {(uint64_t)broker.limits.memory_bytes,
		       (uint64_t)broker.limits.processes}};
	char **argv;

	helpers.chromium = chromium_find(broker.limits.chromium);
	argv = chromium_argv(helpers.chromium);
	plan.argv = argv;
	if (helpers.chromium != NULL)
		helpers.starter =
		    chromium_starter_fork(&plan, &helpers.pids[0]);
	free(argv);
	if (helpers.chromium != NULL && helpers.starter < 0)
		return helpers.starter;
	helpers.names =
	    resolver_fork(browser_sandbox_enter_names, &helpers.pids[1]);
	return helpers.names < 0 ? helpers.names : 0;
}

static void prepare_process(void)
{
	static const int signals[] = {SIGTERM, SIGINT};
	struct event *event;

	broker.base = event_base_new();
	if (broker.base == NULL)
		abort(); /* out of memory, as in xcalloc() */
	TAILQ_INIT(&broker.calls);
	TAILQ_INIT(&broker.sessions);
	broker.resolver = resolver_new(broker.base, helpers.names, broker.alone,
				       on_no_names, NULL);
	broker.chromium =
	    chromium_new(&broker, helpers.chromium, helpers.starter);
	for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
		event = evsignal_new(broker.base, signals[i], on_signal, NULL);
		event_add(event, NULL);
	}
	broker.tick = event_new(broker.base, -1, EV_PERSIST, on_tick, NULL);
	event_add(broker.tick, CLOCK_TIMEVAL(TICK_MS));
}

/* Confine the process, before reading anything from Chromium. */
static int confine(void)
{
	const char *step;
	int rc = browser_sandbox_enter(&broker.cage, &step);

	if (rc < 0)
		log_error("main", "cage=none step=\"%s\" err=\"%s\"", step,
			  errname_text(-rc));
	else
		log_info("main", "seccomp=%s limits=%s landlock=%d uid=%u",
			 broker.cage.seccomp ? "yes" : "no",
			 broker.cage.limits ? "yes" : "no",
			 broker.cage.landlock, (unsigned)broker.cage.uid);
	return rc;
}

static void run_broker(void)
{
	struct call *c;
	int status;

	broker.rpc = rpc_server_new(&broker, BROWSER_PROTO_FD);
	event_base_dispatch(broker.base);
	/* end the calls waiting in fibers; the answers are not read */
	while (!TAILQ_EMPTY(&broker.calls)) {
		TAILQ_FOREACH(c, &broker.calls, link)
			call_abort(c, "PAGE_CRASHED", "the broker ends");
		event_base_loop(broker.base, EVLOOP_NONBLOCK);
	}
	chromium_free(broker.chromium);
	resolver_free(broker.resolver);
	/* the helpers, whose sockets are closed, end with all children */
	for (size_t i = 0; i < ARRAY_LEN(helpers.pids); i++)
		while (helpers.pids[i] > 0 &&
		       waitpid(helpers.pids[i], &status, 0) < 0 &&
		       errno == EINTR)
			;
}

int main(int argc, char **argv)
{
	struct pollfd p = {.fd = BROWSER_PROTO_FD, .events = POLLIN};
	int opt, rc;

	(void)no_core(); /* the children inherit the limit */
	(void)oom_victim();
	umask(0); /* every file is created with an explicit mode */
	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		rc = take_flag(opt);
		if (rc >= 0)
			return rc;
	}
	if (optind < argc || !fdpass_is_control(BROWSER_PROTO_FD)) {
		fputs(usage, stderr);
		return EXIT_USAGE;
	}
	/* after the first request paddockd has put us into our cgroup */
	while (poll(&p, 1, -1) < 0 && errno == EINTR)
		;
	rc = give_up_root();
	if (rc < 0) {
		log_error("main", "err=\"giving up root: %s\"", strerror(-rc));
		return EX_NOPERM;
	}
	rc = net_deny_init(deny);
	if (rc < 0) {
		log_error("main", "err=\"what pages may reach: %s\"",
			  strerror(-rc));
		return rc == -EINVAL ? EXIT_USAGE : EX_OSERR;
	}
	signal(SIGPIPE, SIG_IGN);
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return EX_OSERR;
	rc = fork_helpers();
	if (rc < 0) {
		log_error("main", "err=\"forking: %s\"", strerror(-rc));
		return EX_OSERR;
	}
	prepare_process();
	if (confine() < 0)
		return EX_UNAVAILABLE;
	run_broker();
	return EXIT_SUCCESS;
}
