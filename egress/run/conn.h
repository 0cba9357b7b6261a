/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conn.h - a connection of the run's program to its proxy, and the connection to the
 * host that is reached for it. The program asks by HTTP: CONNECT for a tunnel, or a
 * request with an absolute address.
 *
 *   HEAD ─▶ NAME ─▶ CONNECT ─▶ EXCHANGE ─▶ HEAD         a plain request
 *   HEAD ─▶ NAME ─▶ CONNECT ─▶ GRANTED ─▶ HELLO ─▶ TUNNEL
 * Where the host has rules or a secret, TLS ends here on both sides:
 *   HEAD ─▶ NAME ─▶ CONNECT ─▶ VERIFY ─▶ GRANTED ─▶ HELLO ─▶ SHAKE ─▶ HEAD
 *   HEAD ─▶ EXCHANGE ─▶ HEAD, with a new connection where the host has closed its own
 * Each state leads to LAST by a refusal, and to CLOSED. The Lua worker of a run has one
 * connection for all requests, so that a refusal leads to REFUSED ─▶ HEAD there.
 */
#ifndef EGRESS_RUN_CONN_H
#define EGRESS_RUN_CONN_H

#include "base/buf.h"
#include "egress/run/child.h"
#include "egress/parse/message.h"
#include "egress/parse/place.h"
#include "egress/run/stream.h"

#define CONN_HELD_MAX 65536u   /* bytes held for a slow side, each way */
#define CONN_PART_BYTES 16384u /* bytes of one read */
#define CONN_HEAD_S 60	       /* for a head, and between requests */
#define CONN_NAME_S 10
#define CONN_CONNECT_S 10 /* for one address */
#define CONN_HELLO_S 20	  /* for a TLS hello, and for a handshake */
#define CONN_IDLE_S 900	  /* without a byte either way */
#define CONN_LAST_S 2	  /* for the client to read a refusal */

enum conn_state {
	CONN_HEAD,
	CONN_NAME,
	CONN_CONNECT,
	CONN_VERIFY,  /* the handshake with the host */
	CONN_GRANTED, /* the answer to CONNECT is being written */
	CONN_HELLO,
	CONN_SHAKE, /* the handshake with the client */
	CONN_TUNNEL,
	CONN_EXCHANGE,
	CONN_REFUSED, /* of a worker: the rest of the request is read away */
	CONN_LAST,
	CONN_CLOSED,
	CONN_STATES
};

struct conn {
	LIST_ENTRY(conn) link;
	struct child *child;
	enum conn_state state;
	int64_t deadline_ms; /* of clock_mono_ms() */
	struct stream client, host;
	struct buf in;	     /* from the client, not parsed yet */
	struct buf up, down; /* to the host, to the client */
	/* the host that is reached */
	struct place at;
	const struct order_host *grant;
	uint32_t number; /* of the connection to the host */
	uint64_t bytes_up, bytes_down;
	struct names_query *query;
	union names_address list[NAMES_ADDRESSES];
	size_t n_list, next;
	enum egress_reason why; /* no address could be connected to */
	char address[64];
	/* HTTP */
	struct message request, answer;
	struct span path; /* of the request's target, with its query */
	bool worker;	  /* the client is the run's Lua worker */
	bool secure;	  /* TLS to the host is the child's own */
	bool tunnel;	  /* the request is CONNECT */
	bool again; /* the connection to the host served a request before */
	int64_t
	    until_ms; /* of clock_mono_ms(): the worker waits so long; 0: none */
	int key;      /* number of the secret in the request; -1: none */
	bool masks;   /* the host has a secret of the run */
	struct buf held; /* an answer's bytes which may be part of a secret */
	bool answered;	 /* the answer's head is written */
	bool closes;	 /* the client's connection ends with the answer */
	bool rechunks;	 /* the answer goes on in chunks */
};

/* Serve the client of FD, which is taken: a program, or the run's Lua WORKER. */
void conn_new(struct child *child, int fd, bool worker);
/* Go on as far as possible; may free C. */
void conn_turn(struct conn *c);
void conn_close(struct conn *c); /* frees C */
/* Is a deadline over? May free C. */
void conn_tick(struct conn *c, int64_t now_ms);

/* ---- between the files of a connection ---- */

void conn_enter(struct conn *c, enum conn_state state, int seconds);
/* Refuse what was asked for; the client is told in HTTP while that is spoken. */
void conn_refuse(struct conn *c, enum egress_reason reason);
/* Drop the request and the answer, for the next request. */
void conn_reset(struct conn *c);
/* Close the connection to the host, and report that. */
void conn_leave_host(struct conn *c);
/* Count N bytes from or to the host; false: the run has had all of its bytes. */
bool conn_count(struct conn *c, size_t up, size_t down);

/* reach.c: from a granted place to a connection, or to a refusal */
void reach_start(struct conn *c);
bool reach_step(struct conn *c);	 /* at CONN_CONNECT */
void reach_next_address(struct conn *c); /* the present one is too slow */

/* request.c: a request's head was read */
void request_begin(struct conn *c);
/* The host is there: begin the exchange. */
void request_send(struct conn *c);

/* exchange.c */
bool exchange_step(struct conn *c);
void exchange_body_up(void *conn, const char *p, size_t n);
void exchange_body_down(void *conn, const char *p, size_t n);

/* Does TLS to the present place end in the child? */
bool conn_ends_tls(const struct conn *c);

/* tunnel.c */
bool tunnel_hello_step(struct conn *c);
bool tunnel_step(struct conn *c);

#endif
