/* SPDX-License-Identifier: Apache-2.0 */
/*
 * authority.c - the authority of a run: made in the child, so that its key is in no
 * other process, and known in the run's cage alone. The child shows certificates of the
 * authority where TLS of the program ends in the child. OpenSSL's failures are NULL.
 */
#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "egress/run/tls.h"

#define BEFORE_S (-86400L)     /* a clock of the cage may be behind */
#define VALID_S (400 * 86400L) /* longer than any run */
#define V3 2		       /* X.509's number of version 3 */

struct authority {
	EVP_PKEY *key, *host_key;
	X509 *certificate;
	SSL_CTX *clients;
};

static bool add_extension(X509 *x, X509 *issuer, int nid, const char *value)
{
	X509V3_CTX context;
	X509_EXTENSION *e;
	bool added;

	X509V3_set_ctx(&context, issuer, x, NULL, NULL, 0);
	e = X509V3_EXT_conf_nid(NULL, &context, nid, value);
	added = e != NULL && X509_add_ext(x, e, -1) == 1;
	X509_EXTENSION_free(e);
	return added;
}

static bool set_serial(X509 *x)
{
	unsigned char bytes[15];
	BIGNUM *n = RAND_bytes(bytes, sizeof(bytes)) == 1
			? BN_bin2bn(bytes, sizeof(bytes), NULL)
			: NULL;
	bool set = n != NULL &&
		   BN_to_ASN1_INTEGER(n, X509_get_serialNumber(x)) != NULL;

	BN_free(n);
	return set;
}

/* A certificate of KEY with the common name NAME; no extension, not signed. */
static X509 *begin_certificate(EVP_PKEY *key, const char *name)
{
	X509 *x = X509_new();

	if (x != NULL && X509_set_version(x, V3) == 1 && set_serial(x) &&
	    X509_gmtime_adj(X509_getm_notBefore(x), BEFORE_S) != NULL &&
	    X509_gmtime_adj(X509_getm_notAfter(x), VALID_S) != NULL &&
	    X509_set_pubkey(x, key) == 1 &&
	    X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN",
				       MBSTRING_ASC, (const void *)name, -1, -1,
				       0) == 1)
		return x;
	X509_free(x);
	return NULL;
}

static X509 *make_root(EVP_PKEY *key)
{
	X509 *x = begin_certificate(key, "paddock, for one run");

	if (x != NULL &&
	    X509_set_issuer_name(x, X509_get_subject_name(x)) == 1 &&
	    add_extension(x, x, NID_basic_constraints,
			  "critical,CA:TRUE,pathlen:0") &&
	    add_extension(x, x, NID_key_usage, "critical,keyCertSign") &&
	    add_extension(x, x, NID_subject_key_identifier, "hash") &&
	    X509_sign(x, key, EVP_sha256()) != 0)
		return x;
	X509_free(x);
	return NULL;
}

static X509 *make_leaf(const struct authority *a, const struct place *at)
{
	char names[PLACE_TEXT_MAX + 8];
	/* a common name has 64 characters at most, and is for people */
	X509 *x = begin_certificate(a->host_key, "paddock");

	snprintf(names, sizeof(names), "%s:%s", at->literal ? "IP" : "DNS",
		 at->host);
	if (x != NULL &&
	    X509_set_issuer_name(x, X509_get_subject_name(a->certificate)) ==
		1 &&
	    add_extension(x, a->certificate, NID_basic_constraints,
			  "critical,CA:FALSE") &&
	    add_extension(x, a->certificate, NID_key_usage,
			  "critical,digitalSignature") &&
	    add_extension(x, a->certificate, NID_ext_key_usage, "serverAuth") &&
	    add_extension(x, a->certificate, NID_authority_key_identifier,
			  "keyid:always") &&
	    add_extension(x, a->certificate, NID_subject_alt_name, names) &&
	    X509_sign(x, a->key, EVP_sha256()) != 0)
		return x;
	X509_free(x);
	return NULL;
}

/* Choose HTTP/1.1, where the client offers a choice. */
static int choose(SSL *ssl, const unsigned char **out, unsigned char *len,
		  const unsigned char *in, unsigned int n, void *arg)
{
	static const unsigned char ours[] = {8,	  'h', 't', 't', 'p',
					     '/', '1', '.', '1'};

	(void)ssl;
	(void)arg;
	return SSL_select_next_proto((unsigned char **)out, len, ours,
				     sizeof(ours), in,
				     n) == OPENSSL_NPN_NEGOTIATED
		   ? SSL_TLSEXT_ERR_OK
		   : SSL_TLSEXT_ERR_ALERT_FATAL;
}

static SSL_CTX *client_context(void)
{
	SSL_CTX *c = SSL_CTX_new(TLS_server_method());

	if (c == NULL ||
	    SSL_CTX_set_min_proto_version(c, TLS1_2_VERSION) != 1 ||
	    SSL_CTX_set_num_tickets(c, 0) != 1) {
		SSL_CTX_free(c);
		return NULL;
	}
	SSL_CTX_set_alpn_select_cb(c, choose, NULL);
	SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_options(c, SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION |
				   SSL_OP_NO_RENEGOTIATION);
	SSL_CTX_set_mode(c, SSL_MODE_ENABLE_PARTIAL_WRITE |
				SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
				SSL_MODE_RELEASE_BUFFERS);
	return c;
}

struct authority *authority_new(void)
{
	struct authority *a = xcalloc(1, sizeof(*a));

	a->key = EVP_EC_gen("P-256");
	a->host_key = EVP_EC_gen("P-256");
	if (a->key != NULL && a->host_key != NULL)
		a->certificate = make_root(a->key);
	a->clients = client_context();
	return a->certificate != NULL && a->clients != NULL ? a : NULL;
}

static int write_all(int fd, const char *p, size_t n)
{
	while (n > 0) {
		ssize_t done = write(fd, p, n);

		if (done <= 0)
			return -errno;
		p += done;
		n -= (size_t)done;
	}
	return 0;
}

int authority_certificates(const struct authority *a, const struct tls *t,
			   size_t *bytes)
{
	BIO *text = BIO_new(BIO_s_mem());
	int fd = memfd_create("certificates", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	char *own = NULL;
	long n = 0;
	int rc = -ENOMEM;

	if (text != NULL && PEM_write_bio_X509(text, a->certificate) == 1)
		n = BIO_get_mem_data(text, &own);
	if (fd >= 0 && n > 0)
		rc = write_all(fd, t->pem, t->pem_bytes);
	if (rc == 0)
		rc = write_all(fd, own, (size_t)n);
	if (rc == 0 && fcntl(fd, F_ADD_SEALS,
			     F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW |
				 F_SEAL_WRITE) != 0)
		rc = -errno;
	*bytes = t->pem_bytes + (size_t)n;
	BIO_free(text);
	if (rc == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return rc;
}

SSL *authority_to_client(const struct authority *a, const struct place *at)
{
	X509 *leaf = make_leaf(a, at);
	SSL *ssl = leaf == NULL ? NULL : SSL_new(a->clients);

	if (ssl != NULL && (SSL_use_certificate(ssl, leaf) != 1 ||
			    SSL_use_PrivateKey(ssl, a->host_key) != 1)) {
		SSL_free(ssl);
		ssl = NULL;
	}
	X509_free(leaf);
	ERR_clear_error();
	if (ssl != NULL)
		SSL_set_accept_state(ssl);
	return ssl;
}
