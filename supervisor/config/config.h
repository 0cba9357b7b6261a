/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.h - what the operator decided: defaults, files, then flags.
 *
 * One table in config_keys.c names every key with its section, type, default,
 * bounds and a line of help; the parser, --print-config and the manual page
 * all come from it.
 */
#ifndef SUPERVISOR_CONFIG_CONFIG_H
#define SUPERVISOR_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define CONFIG_NONE (-1) /* where a size may be "none": there is no limit */

struct config_requestor { /* a [requestor "NAME"] section */
	char *name;
	char *token_sha256; /* hex, or NULL */
	int64_t uid;	    /* -1: none */
	char *trust_level;  /* "local" or "remote"; NULL: as it connects */
	int64_t max_concurrent_runs; /* 0: no limit but the server's, each */
	int64_t max_queued_runs;
	int64_t rate_per_second;
	int64_t burst;
	int64_t max_run_timeout_ms; /* of one run; 0: the server's, each */
	int64_t max_cpu_ms;
	int64_t max_memory_bytes;
	int64_t max_processes;
	int64_t max_ttl_ms;
	int64_t cpu_seconds_per_hour;
	int64_t artifact_bytes;
	int64_t store_bytes; /* 0: the server's default; CONFIG_NONE */
	char *templates;     /* space-separated ids; NULL: all */
	char *browser_tools; /* likewise, tools, "all" or "none"; NULL: all
				when templates is NULL, else none */
	int64_t weight;	     /* 1 */
};

/*
 * A [grant "TEMPLATE"] section: what the template may have of what it asks
 * for. Lists have spaces between their words; NULL: nothing.
 */
struct config_grant {
	char *name;  /* a templateId, or "*": every template */
	char *tools; /* of the browser, or "all" */
	char *hosts; /* patterns (ipc/host_pattern.h) that it may open there */
	char *read_paths;
	char *network; /* HOST:PORT */
	char *secrets; /* names */
	bool locks;
	char *digest; /* of packages that it holds for; NULL: any */
};

struct config {
	/* [server] */
	char *listen;	       /* NULL: no TCP */
	char *allowed_hosts;   /* space-separated names; NULL: none */
	char *allowed_origins; /* likewise, origins */
	char *socket;
	char *state_dir;
	char **templates; /* directories */
	size_t n_templates;
	bool templates_given; /* by a file or a flag: each has to exist */
	bool publish_templates;
	char *user;	/* whom root becomes; NULL: see privs.h */
	char *log_file; /* NULL: stderr */
	char *log_level;
	char *audit_file;
	/* [limits] */
	int64_t max_concurrent_runs;	   /* 5 */
	int64_t max_queued_runs;	   /* 1000 */
	int64_t max_run_timeout_ms;	   /* 900000 */
	int64_t default_ttl_ms;		   /* 86400000 */
	int64_t max_ttl_ms;		   /* 604800000 */
	int64_t artifact_ttl_ms;	   /* 86400000 */
	int64_t max_artifact_inline_bytes; /* 262144 */
	int64_t inline_wait_ms;		   /* 45000 */
	int64_t drain_timeout_ms;	   /* 30000 */
	int64_t session_idle_ms;	   /* 1800000; over HTTP */
	int64_t sse_keepalive_ms;	   /* 15000 */
	int64_t max_message_bytes; /* 16 MiB: one message of a client's */
	int64_t max_answer_bytes;  /* 8 MiB: and one to a client */
	int64_t max_memory_bytes;  /* 1 GiB: a template's at the most */
	int64_t max_cpu_ms;	   /* 900000 */
	int64_t max_output_bytes;  /* 64 MiB */
	int64_t max_open_files;	   /* 65536: of each process of a program */
	int64_t max_files;	   /* 1048576: that a program may make */
	int64_t max_logged_bytes;  /* 16 MiB: of a run, that are kept */
	int64_t max_artifacts;	   /* 10000: of a run */
	int64_t max_messages_per_second; /* 10000: of a run's worker */
	int64_t default_timeout_ms;	 /* 60000; where a manifest is silent */
	int64_t default_cpu_ms;		 /* 60000 */
	int64_t default_memory_bytes;	 /* 128 MiB */
	int64_t default_processes;	 /* 64 */
	int64_t default_open_files;	 /* 1024 */
	int64_t default_files;		 /* 16384 */
	int64_t default_output_bytes;	 /* 8 MiB */
	int64_t default_logged_bytes;	 /* 256 KiB */
	int64_t default_artifacts;	 /* 1000 */
	int64_t default_artifact_bytes;	 /* 64 MiB */
	int64_t default_messages_per_second; /* 10000 */
	int64_t max_artifact_bytes;	     /* 1 GiB: all artifacts of a run */
	int64_t max_processes;		     /* 256: of a program */
	int64_t default_store_bytes;	     /* 4 GiB: of a requestor */
	int64_t disk_reserve_bytes;	     /* 256 MiB */
	/* [sandbox] */
	char *read_paths;		  /* space-separated; NULL: none */
	bool allow_weak_programs;	  /* without a user namespace */
	int64_t max_package_copy_bytes;	  /* 64 MiB */
	int64_t max_package_copies_bytes; /* 256 MiB: all together */
	char *require_isolation;	  /* NULL: whatever the machine can */
	/* [browser] */
	bool browser_enabled; /* true */
	char *chromium;	      /* NULL: where it is usual */
	char *browser_deny;   /* base/text/host_list.h's list; NULL: nothing */
	int64_t browser_max_sessions;	 /* 20 */
	int64_t browser_max_tabs;	 /* 50 */
	int64_t browser_session_tabs;	 /* 20 */
	int64_t browser_max_memory;	 /* 2 GiB */
	int64_t browser_max_processes;	 /* 2000 */
	int64_t browser_session_idle_ms; /* 600000 */
	int64_t browser_session_max_ms;	 /* 3600000 */
	int64_t browser_idle_ms;	 /* 60000 */
	/* [requestor "…"] */
	struct config_requestor *requestors;
	size_t n_requestors;
	/* [grant "…"] */
	struct config_grant *grants;
	size_t n_grants;
};

/* All defaults, for UID (0: the system's folders, else its XDG ones). */
struct config *config_new(uid_t uid);
void config_free(struct config *c); /* NULL is fine */

/*
 * Read FILE, then conf.d/NAME.conf beside it in the order of their names.
 * 0; -ENOENT: no FILE; -EINVAL with ERRMSG (SIZE bytes): "FILE:12: key …: what
 * came, what would pass".
 */
int config_read(struct config *c, const char *file, char *errmsg, size_t size);

/*
 * The same for LEN bytes of TEXT that NAME stands for in ERRMSG; no conf.d. On
 * an error C holds half of it, and is only good for config_free().
 */
int config_read_text(struct config *c, const char *name, const char *text,
		     size_t len, char *errmsg, size_t size);

/* Where the file is looked for without --config; the caller's. */
char *config_default_file(uid_t uid);

/*
 * The template folders of the program EXE: those of the source tree when it
 * lies in its build folder, else the system's, where it is installed. N of
 * them; the caller's, each and the array.
 */
char **config_default_templates(const char *exe, size_t *n);
/* The folder of the templates that EXE was built or installed with. */
char *config_shipped_templates(const char *exe);

/*
 * Set one key of [server], [limits] or [sandbox], as a flag does: a path may
 * be relative to the working directory, and "templates" is one folder more.
 * 0, or -EINVAL with ERRMSG.
 */
int config_set(struct config *c, const char *section, const char *key,
	       const char *value, char *errmsg, size_t size);
void config_clear_templates(struct config *c); /* --templates replaces */
/*
 * [TEMPLATE:]KEY=VALUE of a --grant flag: adds to what is granted to TEMPLATE,
 * else to all. 0, or -EINVAL with ERRMSG.
 */
int config_add_grant(struct config *c, const char *text, char *errmsg,
		     size_t size);

/*
 * Of an artifact, in one answer: max_artifact_inline_bytes, or fewer, for they
 * are told twice, as base64, in a message of max_answer_bytes.
 */
int64_t config_inline_bytes(const struct config *c);

/* Every key with its value, in the file's own syntax; no secret. */
void config_print(const struct config *c, FILE *out);
/* The keys for paddock.conf(5): a list in mdoc(7). */
void config_manual(FILE *out);

#endif
