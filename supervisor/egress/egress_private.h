/* SPDX-License-Identifier: Apache-2.0 */
/*
 * egress_private.h - shared by the files of egress.h alone:
 *
 *   egress.c         the program: start, packets, death
 *   egress_child.c   its children, and their reports
 *   egress_config.c  the configuration, as a packet
 */
#ifndef SUPERVISOR_EGRESS_EGRESS_PRIVATE_H
#define SUPERVISOR_EGRESS_EGRESS_PRIVATE_H

#include <stdint.h>
#include <sys/queue.h>

#include "supervisor/egress/egress.h"
#include "supervisor/spawn/ids/uid_range.h"

struct egress_child {
	struct egress *egress;
	uint32_t number; /* in packets */
	unsigned place;	 /* of its uid */
	char *network;	 /* the text of what it may reach, and of its secrets */
	int report;	 /* our end of the report channel; -1: ended */
	struct event *readable;
	struct event
	    *later; /* ends a pause of reading, or the wait for an end */
	const struct egress_ops *ops;
	void *owner;
	void (*done)(void *arg); /* not NULL: to be called at the end */
	void *done_arg;
	LIST_ENTRY(egress_child) link;
};

LIST_HEAD(egress_children, egress_child);

/* A packet to the program, with up to two descriptors. */
struct egress_packet {
	char *text;
	size_t len;
	int fds[2]; /* -1: none */
	TAILQ_ENTRY(egress_packet) link;
};

struct egress {
	struct event_base *base;
	const char *program;
	char **argv; /* of the process; NULL: never started */
	const struct config *config;
	enum { EGRESS_NONE, EGRESS_RUNNING, EGRESS_ENDING } life;
	pid_t pid;
	int fd; /* -1: not running */
	struct event *readable, *writable;
	struct event *again; /* the next start, while packets wait */
	struct helper_log *log;
	int64_t start_at, restart_ms; /* as of browser_process.c */
	bool answered;		      /* since the last start */
	bool stopped;
	bool stale;    /* a secret's file is not among ARGV */
	char *trouble; /* NULL: no fault is known */
	TAILQ_HEAD(, egress_packet) out;
	struct egress_children children;
	bool places[UID_RANGE_EGRESS];
	uint32_t last_number;
	unsigned long long starts, opened, refused;
};

/* ---- egress.c ---- */

/* Queue the packet O (*taken*) with the descriptors FDS (*taken*; NULL: none). */
void egress_send(struct egress *e, struct json_object *o, const int fds[2]);

/* A child is no more: a stale program without children is ended. */
void egress_retire(struct egress *e);

/* ---- egress_child.c ---- */

/* The child NUMBER is there, or has ended. WHY: a sentence; NULL: it is there. */
void egress_child_told(struct egress *e, uint32_t number, const char *why);
/* WHY NULL: the server ends, and owners are not told. */
void egress_children_lost(struct egress *e, const char *why);

/* ---- egress_config.c ---- */

/*
 * Return the packet "config" of C, without secrets whose file is not among ARGV; the
 * caller's.
 */
struct json_object *egress_config_packet(const struct config *c,
					 char *const argv[]);
/* Return arguments with the files of all secrets of C; for egress_config_free(). */
char **egress_config_argv(const struct config *c);
void egress_config_free(char **argv); /* NULL is fine */
/* Return the first secret of SECRETS, all when NULL, whose file is not in ARGV. */
const char *egress_config_lacked(const struct config *c, char *const argv[],
				 struct json_object *secrets);

#endif
