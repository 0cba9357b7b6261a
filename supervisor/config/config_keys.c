/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/config/config_keys.h"

#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "base/text/suggest.h"
#include "supervisor/config/config.h"

#define KIB (INT64_C(1) << 10)
#define MIB (INT64_C(1) << 20)
#define GIB (INT64_C(1) << 30)
#define TIB (INT64_C(1) << 40)
#define HOUR_MS INT64_C(3600000)
#define DAY_MS (24 * HOUR_MS)
#define YEAR_MS (365 * DAY_MS)
#define RUNS_MAX 10000
#define QUEUED_MAX 1000000
#define UID_MAX INT64_C(4294967294) /* (uid_t)-1 is nobody's */

static const char *const levels[] = {"error", "warn", "info", "debug", NULL};
static const char *const trusts[] = {"local", "remote", NULL};
static const char *const isolations[] = {"full", "userns", "container",
					 "restricted", NULL};

const char *const config_sections[] = {
    "server",	      "limits",	    "sandbox", "browser",
    CONFIG_REQUESTOR, CONFIG_GRANT, NULL};

bool config_section_is_named(const char *section)
{
	return strcmp(section, CONFIG_REQUESTOR) == 0 ||
	       strcmp(section, CONFIG_GRANT) == 0;
}

#define KEY(sec, field, t)                                                     \
	.section = (sec), .name = #field, .type = CONFIG_##t,                  \
	.offset = offsetof(struct config, field)
#define BROWSER(key, field, t)                                                 \
	.section = "browser", .name = #key, .type = CONFIG_##t,                \
	.offset = offsetof(struct config, field)
#define REQ(field, t)                                                          \
	.section = CONFIG_REQUESTOR, .name = #field, .type = CONFIG_##t,       \
	.offset = offsetof(struct config_requestor, field)
#define GRANT(field, t)                                                        \
	.section = CONFIG_GRANT, .name = #field, .type = CONFIG_##t,           \
	.offset = offsetof(struct config_grant, field)

static const struct config_key keys[] = {
    {KEY("server", listen, LISTEN), .optional = true,
     .help = "Serve HTTP on this address and port, at /mcp. Unset: no TCP."},
    {KEY("server", allowed_hosts, TEXT), .optional = true,
     .help = "More names, with spaces between them, that a request's Host may "
	     "have: those that a proxy passes on. Without them loopback has "
	     "its own names alone, and any other address takes any."},
    {KEY("server", allowed_origins, TEXT), .optional = true,
     .help = "More origins, such as https://example.com, whose pages may "
	     "call. Pages of the host itself and of loopback may without."},
    {KEY("server", socket, SOCKET), .help = "The unix socket."},
    {KEY("server", state_dir, PATH),
     .help = "Where runs, artifacts and their history are kept."},
    {KEY("server", templates, DIRS), .optional = true,
     .help = "Folders whose child folders are template packages."},
    {KEY("server", publish_templates, BOOL), .def = true,
     .help = "Offer each template as a tool of its own name."},
    {KEY("server", user, TEXT), .optional = true,
     .help = "Whom paddockd becomes when root starts it; root: it stays root. "
	     "Unset: paddock, else an id that nobody has."},
    {KEY("server", log_file, PATH), .optional = true,
     .help = "Where the log goes. Unset: to standard error."},
    {KEY("server", log_level, CHOICE), .def_text = "info", .choices = levels,
     .help = "The least important events that are logged."},
    {KEY("server", audit_file, PATH), .optional = true,
     .help = "Where it is recorded who did what, as JSON lines. Unset: "
	     "nowhere."},

    {KEY("limits", max_concurrent_runs, INT), .def = 5, .min = 1,
     .max = RUNS_MAX, .help = "Runs at the same time, of all requestors."},
    {KEY("limits", max_queued_runs, INT), .def = 1000, .max = QUEUED_MAX,
     .help = "Runs that wait for their turn."},
    {KEY("limits", max_run_timeout_ms, MS), .def = 900000, .min = 1,
     .max = 7 * DAY_MS, .help = "The longest that a run may take."},
    {KEY("limits", default_ttl_ms, MS), .def = DAY_MS, .min = 1, .max = YEAR_MS,
     .help = "How long a task is known when its caller does not say."},
    {KEY("limits", max_ttl_ms, MS), .def = 7 * DAY_MS, .min = 1, .max = YEAR_MS,
     .help = "The longest that a caller may ask for."},
    {KEY("limits", artifact_ttl_ms, MS), .def = DAY_MS, .max = YEAR_MS,
     .help = "How long artifacts live once their run has ended."},
    {KEY("limits", max_artifact_inline_bytes, BYTES), .def = 256 * KIB,
     .min = 1, .max = 64 * MIB,
     .help = "Bytes of an artifact that one answer carries."},
    {KEY("limits", inline_wait_ms, MS), .def = 45000, .max = HOUR_MS,
     .help = "In mode auto: how long a call waits before it gets a handle."},
    {KEY("limits", drain_timeout_ms, MS), .def = 30000, .max = HOUR_MS,
     .help = "How long runs may go on once the server is told to stop."},
    {KEY("limits", session_idle_ms, MS), .def = 1800000, .min = 100,
     .max = 7 * DAY_MS,
     .help = "How long a session over HTTP may be idle before it ends."},
    {KEY("limits", sse_keepalive_ms, MS), .def = 15000, .min = 10,
     .max = HOUR_MS,
     .help = "How long a stream over HTTP may be silent before it gets a "
	     "comment, so that nobody between takes it for dead."},
    {KEY("limits", max_message_bytes, BYTES), .def = 16 * MIB, .min = 64 * KIB,
     .max = GIB, .help = "The longest message that a client may send."},
    {KEY("limits", max_answer_bytes, BYTES), .def = 8 * MIB, .min = 2 * MIB,
     .max = GIB,
     .help =
	 "The longest message that a client is sent. Of a longer result it gets "
	 "the beginning, and a link by which it reads the whole in parts. Many "
	 "clients drop a connection whose message has 10 MiB."},
    {KEY("limits", max_memory_bytes, BYTES), .def = GIB, .min = MIB, .max = TIB,
     .help = "The most memory that a template may ask for."},
    {KEY("limits", max_cpu_ms, MS), .def = 900000, .min = 1, .max = 7 * DAY_MS,
     .help = "The most CPU time that a template may ask for."},
    {KEY("limits", max_output_bytes, BYTES), .def = 64 * MIB, .min = 1,
     .max = GIB, .help = "The longest output that a template may ask for."},
    {KEY("limits", max_artifact_bytes, BYTES), .def = GIB, .max = TIB,
     .help = "The most that all artifacts of a run may ask for."},

    {KEY("limits", max_processes, INT), .def = 256, .min = 1, .max = 4096,
     .help = "The most processes and threads that a program may ask for."},
    {KEY("limits", max_open_files, INT), .def = 65536, .min = 16,
     .max = 1048576,
     .help =
	 "The most files that a process of a program may ask to have open."},
    {KEY("limits", max_files, INT), .def = 1048576, .min = 1, .max = 16777216,
     .help =
	 "The most files and folders that a program may ask to have in /work; a "
	 "quarter as many in /tmp, a sixteenth in /dev/shm."},
    {KEY("limits", max_logged_bytes, BYTES), .def = 16 * MIB, .min = 0,
     .max = GIB,
     .help = "The longest log of a run that a template may ask to be kept."},
    {KEY("limits", max_artifacts, INT), .def = 10000, .min = 0, .max = 1000000,
     .help = "The most artifacts of a run that a template may ask for."},
    {KEY("limits", max_messages_per_second, INT), .def = 10000, .min = 100,
     .max = 1000000,
     .help = "The most messages a second, progress, steps and log lines among "
	     "them, that a template may ask to send; four seconds' worth may "
	     "come at once."},
    {KEY("limits", default_timeout_ms, MS), .def = 60000, .min = 1,
     .max = 7 * DAY_MS,
     .help = "Where a manifest says no maxTimeoutMs; so below."},
    {KEY("limits", default_cpu_ms, MS), .def = 60000, .min = 1,
     .max = 7 * DAY_MS, .help = "Its maxCpuMs."},
    {KEY("limits", default_memory_bytes, BYTES), .def = 128 * MIB, .min = MIB,
     .max = TIB, .help = "Its maxMemoryBytes."},
    {KEY("limits", default_processes, INT), .def = 64, .min = 1, .max = 4096,
     .help = "Its maxProcesses; interpreters have several threads."},
    {KEY("limits", default_open_files, INT), .def = 1024, .min = 16,
     .max = 1048576, .help = "Its maxOpenFiles."},
    {KEY("limits", default_files, INT), .def = 16384, .min = 1, .max = 16777216,
     .help = "Its maxFiles."},
    {KEY("limits", default_output_bytes, BYTES), .def = 8 * MIB, .min = 1,
     .max = GIB, .help = "Its maxOutputBytes."},
    {KEY("limits", default_logged_bytes, BYTES), .def = 256 * KIB, .min = 0,
     .max = GIB, .help = "Its maxLoggedBytes."},
    {KEY("limits", default_artifacts, INT), .def = 1000, .min = 0,
     .max = 1000000, .help = "Its maxArtifacts."},
    {KEY("limits", default_artifact_bytes, BYTES), .def = 64 * MIB, .min = 0,
     .max = TIB, .help = "Its maxArtifactBytes."},
    {KEY("limits", default_messages_per_second, INT), .def = 10000, .min = 100,
     .max = 1000000, .help = "Its maxMessagesPerSecond."},

    {KEY("limits", default_store_bytes, BYTES_OR_NONE), .def = 4 * GIB,
     .min = MIB, .max = KIB * TIB,
     .help = "What a requestor may have in the store whose section says no "
	     "store_bytes, or who has none."},
    {KEY("limits", disk_reserve_bytes, BYTES_OR_NONE), .def = 256 * MIB,
     .max = TIB,
     .help =
	 "Free space of the state's file system, a tenth of it at the most, that "
	 "artifacts and rows of 64 KiB and more leave alone, so that what was "
	 "promised can be written; below half of it no run is made."},

    {KEY("sandbox", read_paths, PATHS), .optional = true,
     .help =
	 "What all programs may ask to read, beside programs and libraries: "
	 "files, and folders with all that is in them. No link is followed, "
	 "so each is named by its own path. A grant has the same for one "
	 "template."},
    {KEY("sandbox", allow_weak_programs, BOOL), .def = false,
     .help =
	 "Run programs also where there is no user namespace, if the server "
	 "is started as root and all else of their cage holds."},
    {KEY("sandbox", max_package_copy_bytes, BYTES), .def = 64 * MIB, .min = 0,
     .max = 64 * MIB,
     .help = "The most that the files of a program's package may have when a "
	     "grant is bound to its digest: its runs see a copy of them, in "
	     "memory."},
    {KEY("sandbox", max_package_copies_bytes, BYTES), .def = 256 * MIB,
     .min = 0, .max = TIB,
     .help = "The same of all such packages together. While programs are "
	     "prepared anew, there are two copies of each, and runs that go on "
	     "keep those that they began with."},
    {KEY("sandbox", require_isolation, CHOICE), .optional = true,
     .choices = isolations,
     .help = "Refuse to start with less. Unset: take what the machine has."},

    {BROWSER(enabled, browser_enabled, BOOL), .def = true,
     .help = "Let templates and clients use a browser, where there is one."},
    {BROWSER(chromium, chromium, PATH), .optional = true,
     .help = "The browser's program. Unset: chromium-headless-shell or "
	     "chromium, in PATH or /usr/bin."},
    {BROWSER(deny, browser_deny, HOSTS), .optional = true,
     .help = "Names (with all below them), addresses and networks that no page "
	     "reaches, at any trust level: such as the public address that a "
	     "router translates to this machine's, which cannot be seen here."},
    {BROWSER(max_sessions, browser_max_sessions, INT), .def = 20, .min = 1,
     .max = 1000, .help = "Sessions at the same time."},
    {BROWSER(max_tabs, browser_max_tabs, INT), .def = 50, .min = 1, .max = 1000,
     .help = "Tabs at the same time, of all sessions."},
    {BROWSER(max_tabs_per_session, browser_session_tabs, INT), .def = 20,
     .min = 1, .max = 1000, .help = "Tabs at the same time, of one session."},
    {BROWSER(max_memory, browser_max_memory, BYTES), .def = INT64_C(2) << 30,
     .min = INT64_C(256) << 20, .max = INT64_C(1) << 50,
     .help =
	 "Memory of all the browser's processes together; when it is used up, "
	 "the page that uses the most ends."},
    {BROWSER(max_processes, browser_max_processes, INT), .def = 2000,
     .min = 100, .max = 100000,
     .help = "Its processes and their threads, likewise."},
    {BROWSER(session_idle_ms, browser_session_idle_ms, MS), .def = 600000,
     .min = 1000, .max = DAY_MS,
     .help = "How long a session that is kept may be unused before it ends."},
    {BROWSER(session_max_ms, browser_session_max_ms, MS), .def = HOUR_MS,
     .min = 1000, .max = 7 * DAY_MS, .help = "The longest life of a session."},
    {BROWSER(idle_ms, browser_idle_ms, MS), .def = 60000, .min = 100,
     .max = DAY_MS,
     .help = "How long the browser goes on without a session. All of this "
	     "section but enabled holds when paddock-browser is next started."},

    {REQ(token_sha256, DIGEST), .optional = true,
     .help = "The SHA-256 of the bearer token, as paddock token prints it."},
    {REQ(uid, INT), .optional = true, .def = -1, .max = UID_MAX,
     .help = "The user at the other end of the unix socket or of stdio."},
    {REQ(trust_level, CHOICE), .optional = true, .choices = trusts,
     .help = "Unset: local on the socket and stdio, remote over HTTP."},
    {REQ(max_concurrent_runs, INT), .max = RUNS_MAX,
     .help =
	 "Runs at the same time; 0: what the server allows, but beyond a fair part "
	 "for a place for each requestor that has less, a tenth of all or one at the most."},
    {REQ(max_queued_runs, INT), .max = QUEUED_MAX,
     .help = "Runs that wait; 0: as many as the server allows. Of what others "
	     "leave of its max_queued_runs a tenth stays free."},
    {REQ(rate_per_second, INT), .max = 1000000,
     .help = "Requests a second; besides, ten times as many pings, "
	     "notifications and other messages; 0: any number."},
    {REQ(burst, INT), .max = 1000000,
     .help = "Requests at once; 0: as many as in a second."},
    {REQ(max_run_timeout_ms, MS), .max = 7 * DAY_MS,
     .help = "The longest that a run may take; 0: what the server allows."},
    {REQ(max_cpu_ms, MS), .max = 7 * DAY_MS,
     .help = "CPU time of a run; 0: what the server allows."},
    {REQ(max_memory_bytes, BYTES), .max = TIB,
     .help = "Memory of a run; 0: what the server allows."},
    {REQ(max_processes, INT), .max = 4096,
     .help = "Processes and threads of a program; 0: what the server "
	     "allows."},
    {REQ(max_ttl_ms, MS), .max = YEAR_MS,
     .help = "The longest life of a task; 0: what the server allows."},
    {REQ(cpu_seconds_per_hour, INT), .max = 1000000000,
     .help = "CPU time in any hour; 0: no limit. Counted by this server since "
	     "its start, when a run ends; over it, none begins."},
    {REQ(artifact_bytes, BYTES), .max = KIB * TIB,
     .help = "Artifacts kept at the same time, by all servers that share the "
	     "state; 0: as many as store_bytes allows."},
    {REQ(store_bytes, BYTES_OR_NONE), .max = KIB * TIB,
     .help =
	 "All that it may have in the store at the same time: artifacts, and the "
	 "inputs, results and logs of runs; 0: default_store_bytes."},
    {REQ(templates, IDS), .optional = true,
     .help = "The templates that it sees. Unset: all."},
    {REQ(browser_tools, TOOLS), .optional = true,
     .help =
	 "The browser's tools that it may call itself; what a template calls "
	 "is up to its grant. Unset: all, or none where templates is set."},
    {REQ(weight, INT), .def = 1, .min = 1, .max = 1000,
     .help = "Its share of the turns when several wait."},

    {GRANT(tools, GRANTED), .optional = true,
     .help = "The browser's tools that it may call, of those that its manifest "
	     "asks for."},
    {GRANT(hosts, PATTERNS), .optional = true,
     .help = "What the browser opens for it, for whatever reason: names, "
	     "*.example.org for all below one, addresses and networks, each "
	     "with :PORT when that port alone; * is any host. Loopback and "
	     "private addresses are opened only when an address or network "
	     "here has them, or a local name (localhost) stands here itself, "
	     "and to a run at trust level local."},
    {GRANT(read_paths, PATHS), .optional = true,
     .help = "What it may read, of what permissions.readPaths asks for: files, "
	     "and folders with all that is in them."},
    {GRANT(network, PLACES), .optional = true,
     .help = "What it may connect to. Nothing can be yet: a template that asks "
	     "for it is refused."},
    {GRANT(secrets, NAMES), .optional = true,
     .help = "The secrets that it may have. None can be had yet: a template "
	     "that asks for one is refused."},
    {GRANT(locks, BOOL), .def = false,
     .help = "Let it lock files that it may read."},
    {GRANT(digest, DIGESTS), .optional = true,
     .help = "The grant holds for the packages with these digests alone, as "
	     "they are: paddock template grant prints a package's. Unset: for "
	     "any package with that templateId."},
};

_Static_assert(ARRAY_LEN(keys) <= CONFIG_KEYS_MAX, "room for every key");

const struct config_key *config_keys(size_t *n)
{
	*n = ARRAY_LEN(keys);
	return keys;
}

const struct config_key *config_key_find(const char *section, const char *name,
					 const char **suggest)
{
	struct suggest found;

	suggest_init(&found, name);
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		if (strcmp(keys[i].section, section) != 0)
			continue;
		if (strcmp(keys[i].name, name) == 0)
			return &keys[i];
		suggest_try(&found, keys[i].name);
	}
	*suggest = found.best;
	return NULL;
}

const char *config_key_refused(const char *section, const char *name)
{
	static const char *const unchecked[] = {"jwks_file", "issuer",
						"audience"};

	for (size_t i = 0; i < ARRAY_LEN(unchecked); i++)
		if (strcmp(section, "server") == 0 &&
		    strcmp(name, unchecked[i]) == 0)
			return "paddockd does not check access tokens of an "
			       "authorization server yet, so the key would "
			       "protect nothing; remove it, and give each "
			       "caller over HTTP a token_sha256 in a "
			       "[requestor \"NAME\"]";
	return NULL;
}
