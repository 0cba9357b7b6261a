/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls.h - TLS on both sides of a child: to hosts, verified by the authorities of the
 * machine, and to the run's program, by an authority of the run's own.
 */
#ifndef EGRESS_RUN_TLS_H
#define EGRESS_RUN_TLS_H

#include <openssl/ssl.h>
#include <stddef.h>

#include "egress/parse/place.h"

#define TLS_FAULT_MAX 400 /* bytes of a sentence on a fault */

/* The authorities, loaded once by the keeper. */
struct tls {
	SSL_CTX *hosts;
	char *pem; /* PEM_BYTES bytes, for cages */
	size_t pem_bytes;
};

struct authority; /* the run's: a key, a certificate, and a key for all hosts */

/* Load PATH, or the machine's file. NULL: a fault, with a sentence in FAULT. */
struct tls *tls_new(const char *path, char fault[TLS_FAULT_MAX]);
void tls_free(struct tls *t); /* NULL is fine */
/* An end for AT, which has to have a certificate for AT's name. NULL: no memory. */
SSL *tls_to_host(const struct tls *t, const struct place *at);

/* Make an authority, in the child. NULL: OpenSSL fails. */
struct authority *authority_new(void);
/*
 * A sealed memfd with the authorities of T and the run's own, and the size in *BYTES;
 * or -errno.
 */
int authority_certificates(const struct authority *a, const struct tls *t,
			   size_t *bytes);
/* An end that shows a certificate for AT. NULL: OpenSSL fails. */
SSL *authority_to_client(const struct authority *a, const struct place *at);

#endif
