/* SPDX-License-Identifier: Apache-2.0 */
/*
 * egress_proto.h - the channels of paddock-egress, which reaches hosts for runs;
 * PROTOCOL.md, "paddock-egress", has the packets of the supervisor.
 *
 * A child of paddock-egress serves one run, by two channels (SOCK_SEQPACKET):
 *   cage channel    with the run's worker: struct egress_hello from the child,
 *                   struct egress_listen and the listening socket from the worker
 *   report channel  to the supervisor: struct egress_report, again and again
 * Each end takes the other for hostile. All structs are in this machine's layout.
 */
#ifndef IPC_EGRESS_PROTO_H
#define IPC_EGRESS_PROTO_H

#include <stddef.h>
#include <stdint.h>

#define EGRESS_FD 3	  /* the end of paddock-egress, from exec on */
#define EGRESS_VERSION 1u /* of the structs */
/* the most bytes of a packet from the supervisor or to it, a JSON object */
#define EGRESS_PACKET_MAX (256u << 10)
/* the most bytes of certificates for a cage */
#define EGRESS_CERTIFICATES_MAX (4u << 20)
#define EGRESS_HOSTS_MAX 256u	  /* the most hosts of a run */
#define EGRESS_RULES_MAX 256u	  /* the most rules of a host */
#define EGRESS_SECRETS_MAX 64u	  /* the most secrets of a run */
#define EGRESS_SECRET_BYTES 8192u /* the most bytes of a secret */

/* ---- the cage channel ---- */

/*
 * The child's first packet. With CERTIFICATES_BYTES above 0 a sealed memfd comes
 * along, of so many bytes of PEM: the machine's authorities and the run's own.
 */
struct egress_hello {
	uint32_t version;
	uint32_t flags; /* 0 */
	uint32_t certificates_bytes;
	uint32_t zero;
};

/*
 * The worker's answer, with one descriptor: a listening TCP socket of the cage's
 * network namespace, non-blocking or not.
 */
struct egress_listen {
	uint32_t version;
	uint32_t zero;
};

/* ---- the report channel ---- */

enum egress_kind {
	EGRESS_OPENED = 1, /* a connection to a host stands */
	EGRESS_REQUEST,	   /* a request passed; in tunnels none is seen */
	EGRESS_CLOSED,	   /* the connection is closed; bytes are of it */
	EGRESS_REFUSED,	   /* a connection or a request; REASON is set */
	EGRESS_TOTALS,	   /* sums of the run, at times and at the end */
	EGRESS_KINDS
};

/* Why something was refused; egress_reasons has the words. */
enum egress_reason {
	EGRESS_NO_REASON,
	EGRESS_NOT_GRANTED,
	EGRESS_RULE,
	EGRESS_DENIED,
	EGRESS_ADDRESS,
	EGRESS_NAME,
	EGRESS_UNREACHABLE,
	EGRESS_SLOW,
	EGRESS_BAD_REQUEST,
	EGRESS_HOST_DIFFERS,
	EGRESS_NOT_TLS,
	EGRESS_NO_SERVER_NAME,
	EGRESS_SERVER_NAME_DIFFERS,
	EGRESS_ENCRYPTED_HELLO,
	EGRESS_CERTIFICATE,
	EGRESS_TLS,
	EGRESS_BAD_ANSWER,
	EGRESS_SECRET,
	EGRESS_BYTES,
	EGRESS_REQUESTS,
	EGRESS_CONNECTIONS,
	EGRESS_OVERLOADED,
	EGRESS_REASONS
};

struct egress_reason_row {
	unsigned status;      /* of HTTP, in the answer to the program */
	const char *code;     /* in capitals */
	const char *sentence; /* a plain sentence, without the host */
};

/* By enum egress_reason; row 0 is empty. */
extern const struct egress_reason_row egress_reasons[EGRESS_REASONS];

struct egress_report {
	uint32_t kind;	     /* enum egress_kind */
	uint32_t reason;     /* enum egress_reason; 0 unless refused */
	uint32_t port;	     /* 0: no host is known */
	uint32_t connection; /* from 1 on, by the run's connections */
	/* of the connection when closed, of the run in totals; else 0 */
	uint64_t bytes_up, bytes_down;
	uint32_t connections, requests, refused; /* of the run */
	uint32_t zero;
	/* Texts end with NUL; the rest of each is NULs. "" where not known. */
	char host[256];	  /* a name in lower case, or an address */
	char method[24];  /* CONNECT for a tunnel */
	char path[512];	  /* without the query; a longer one is cut */
	char secret[64];  /* name of the secret that was put in */
	char address[64]; /* address of the host; IPv6 without brackets */
};

/*
 * Is PACKET, LEN bytes from a child, a report: of a known kind and reason, with texts
 * that end, of printable ASCII without spaces? 0, or -EPROTO.
 */
int egress_report_check(const void *packet, size_t len);

#endif
