/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls.c - connections to hosts by TLS 1.2 and 1.3, with the certificate and the name
 * verified, and nothing kept between connections. The keeper loads the authorities; a
 * file without a certificate fails the settings.
 */
#include "egress/run/tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "ipc/egress_proto.h"

/* Where systems keep all authorities in a file. */
static const char *const usual[] = {"/etc/ssl/certs/ca-certificates.crt",
				    "/etc/pki/tls/certs/ca-bundle.crt",
				    "/etc/ssl/cert.pem"};

static const unsigned char http_1_1[] = {8,   'h', 't', 't', 'p',
					 '/', '1', '.', '1'};

static const char *find_usual(void)
{
	for (size_t i = 0; i < ARRAY_LEN(usual); i++)
		if (access(usual[i], R_OK) == 0)
			return usual[i];
	return usual[0];
}

static int read_pem(struct tls *t, const char *path)
{
	struct buf text = {.max = EGRESS_CERTIFICATES_MAX};
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;

	if (fd < 0)
		return -errno;
	rc = buf_read(&text, fd, EGRESS_CERTIFICATES_MAX / 2);
	close(fd);
	if (rc == 0)
		t->pem = buf_take(&text, &t->pem_bytes);
	buf_fini(&text);
	return rc;
}

static SSL_CTX *host_context(const char *path)
{
	SSL_CTX *c = SSL_CTX_new(TLS_client_method());

	if (c == NULL || SSL_CTX_load_verify_file(c, path) != 1 ||
	    SSL_CTX_set_min_proto_version(c, TLS1_2_VERSION) != 1 ||
	    SSL_CTX_set_alpn_protos(c, http_1_1, sizeof(http_1_1)) != 0) {
		SSL_CTX_free(c);
		return NULL;
	}
	SSL_CTX_set_verify(c, SSL_VERIFY_PEER, NULL);
	SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_options(c, SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION |
				   SSL_OP_NO_RENEGOTIATION);
	SSL_CTX_set_mode(c, SSL_MODE_ENABLE_PARTIAL_WRITE |
				SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
				SSL_MODE_RELEASE_BUFFERS);
	return c;
}

struct tls *tls_new(const char *path, char fault[TLS_FAULT_MAX])
{
	struct tls *t = xcalloc(1, sizeof(*t));
	const char *file = path == NULL ? find_usual() : path;
	int rc = read_pem(t, file);

	t->hosts = rc < 0 ? NULL : host_context(file);
	ERR_clear_error();
	if (t->hosts != NULL)
		return t;
	snprintf(
	    fault, TLS_FAULT_MAX,
	    "The certificates of authorities in %.200s cannot be used: %s.",
	    file, rc < 0 ? strerror(-rc) : "there is none in PEM");
	tls_free(t);
	return NULL;
}

void tls_free(struct tls *t)
{
	if (t == NULL)
		return;
	SSL_CTX_free(t->hosts);
	free(t->pem);
	free(t);
}

/* Have the certificate checked for AT, and ask for AT's. */
static int name_host(SSL *ssl, const struct place *at)
{
	X509_VERIFY_PARAM *p = SSL_get0_param(ssl);

	if (at->literal)
		return X509_VERIFY_PARAM_set1_ip_asc(p, at->host);
	X509_VERIFY_PARAM_set_hostflags(
	    p, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS |
		   X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
	return X509_VERIFY_PARAM_set1_host(p, at->host, 0) == 1 &&
	       SSL_set_tlsext_host_name(ssl, at->host) == 1;
}

SSL *tls_to_host(const struct tls *t, const struct place *at)
{
	SSL *ssl = SSL_new(t->hosts);

	if (ssl == NULL || name_host(ssl, at) != 1) {
		SSL_free(ssl);
		return NULL;
	}
	SSL_set_connect_state(ssl);
	return ssl;
}
