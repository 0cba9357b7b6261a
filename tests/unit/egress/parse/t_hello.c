/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_hello.c - hellos of OpenSSL, whole and cut: a part of a hello is never taken for
 * foreign, nor is a hello with any byte more.
 */
#include "egress/parse/hello.h"

#include <openssl/ssl.h>
#include <string.h>

#include "tests/unit/tap.h"

/* The hello of a client for NAME, or for no name. */
static size_t make(uint8_t *to, size_t size, const char *name)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
	SSL *ssl = SSL_new(ctx);
	BIO *in = BIO_new(BIO_s_mem()), *out = BIO_new(BIO_s_mem());
	int n;

	SSL_set_bio(ssl, in, out);
	if (name != NULL)
		SSL_set_tlsext_host_name(ssl, name);
	SSL_set_connect_state(ssl);
	(void)SSL_do_handshake(ssl);
	n = BIO_read(out, to, (int)size);
	SSL_free(ssl);
	SSL_CTX_free(ctx);
	return n > 0 ? (size_t)n : 0;
}

TEST(hellos)
{
	uint8_t bytes[4096];
	size_t n = make(bytes, sizeof(bytes), "Api.Example.org"), cut = 0;
	struct hello h;

	is_int(hello_parse(&h, bytes, n), HELLO_WHOLE, "a hello is whole");
	is_str(h.name, "api.example.org", "the name is in lower case");
	ok(!h.encrypted, "nothing is encrypted");
	while (cut < n && hello_parse(&h, bytes, cut) == HELLO_PART)
		cut++;
	is_int(cut, n, "each part of a hello is a part");
	memset(bytes + n, 0x17, 100);
	is_int(hello_parse(&h, bytes, n + 100), HELLO_WHOLE,
	       "bytes behind a hello do not matter");
	n = make(bytes, sizeof(bytes), NULL);
	is_int(hello_parse(&h, bytes, n), HELLO_WHOLE,
	       "a hello may have no name");
	is_str(h.name, "", "without a name the name is empty");
	bytes[1] = 2;
	is_int(hello_parse(&h, bytes, n), HELLO_FOREIGN,
	       "another version is foreign");
}
