/* SPDX-License-Identifier: Apache-2.0 */
/*
 * network.c - the way of a program with network to paddock-egress, for the shim: a
 * listening socket in the run's network namespace, which paddock-egress accepts from, and
 * the variables by which programs find the socket and the certificates. -errno when the way
 * cannot be made: then the program is not started.
 */
#include "worker/network/network.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os/fdpass.h"
#include "base/os/sys.h"
#include "ipc/egress_proto.h"
#include "sandbox/sandbox_types.h"

#define BACKLOG 128
#define TEXT_OF(number) #number
#define PROXY_AT(port) "http://127.0.0.1:" TEXT_OF(port)
#define PROXY PROXY_AT(SANDBOX_PROXY_PORT)
#define CERTIFICATES "/dev/shm/.certificates.pem"

static int channel = -1; /* to the run's child of paddock-egress */
static bool is_open, has_certificates;

static const char *const proxies[] = {
    "HTTP_PROXY=" PROXY,    "http_proxy=" PROXY, "HTTPS_PROXY=" PROXY,
    "https_proxy=" PROXY,   "ALL_PROXY=" PROXY,	 "all_proxy=" PROXY,
    "NODE_USE_ENV_PROXY=1",
};

static const char *const certificates[] = {
    "SSL_CERT_FILE=" CERTIFICATES,	 "CURL_CA_BUNDLE=" CERTIFICATES,
    "REQUESTS_CA_BUNDLE=" CERTIFICATES,	 "PIP_CERT=" CERTIFICATES,
    "NODE_EXTRA_CA_CERTS=" CERTIFICATES, "DENO_CERT=" CERTIFICATES,
    "GIT_SSL_CAINFO=" CERTIFICATES,	 "AWS_CA_BUNDLE=" CERTIFICATES,
    "CARGO_HTTP_CAINFO=" CERTIFICATES,	 "NPM_CONFIG_CAFILE=" CERTIFICATES,
};

/* variables of the supervisor, with a NUL after each */
static char own[EGRESS_SECRETS_MAX * 336];
static size_t own_bytes;

_Static_assert(ARRAY_LEN(proxies) + ARRAY_LEN(certificates) +
		       EGRESS_SECRETS_MAX <=
		   NETWORK_VARIABLES,
	       "room for all");

void network_take(int run)
{
	ssize_t n = fdpass_recv(run, own, sizeof(own) - 1, &channel, NULL);

	own_bytes = n > 1 ? (size_t)n : 0;
}

/* Write the N bytes of FROM, a file of another process, to the cage. 0 or -errno. */
static int keep_certificates(int from, size_t n)
{
	int to =
	    open(CERTIFICATES, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
	char *p = to >= 0 ? mmap(NULL, n, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
			  : MAP_FAILED;
	int rc = p == MAP_FAILED ? -errno : 0;

	if (rc == 0 && pread(from, p, n, 0) != (ssize_t)n)
		rc = -EPROTO;
	if (rc == 0 && write(to, p, n) != (ssize_t)n)
		rc = -ENOSPC;
	if (p != MAP_FAILED)
		munmap(p, n);
	sys_close(to);
	return rc;
}

static int recv_hello(void)
{
	struct egress_hello hello;
	int fd = -1, rc = 0;
	bool whole;
	ssize_t n = fdpass_recv(channel, &hello, sizeof(hello), &fd, &whole);

	if (n != sizeof(hello) || !whole || hello.version != EGRESS_VERSION ||
	    hello.certificates_bytes > EGRESS_CERTIFICATES_MAX)
		rc = n < 0 ? (int)n : -EPROTO;
	else if (hello.certificates_bytes > 0)
		rc = keep_certificates(fd, hello.certificates_bytes);
	has_certificates = rc == 0 && hello.certificates_bytes > 0;
	sys_close(fd);
	return rc;
}

/* Returns the listening socket, or -errno. */
static int listen_here(void)
{
	const struct sockaddr_in at = {.sin_family = AF_INET,
				       .sin_port = htons(SANDBOX_PROXY_PORT),
				       .sin_addr.s_addr =
					   htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int rc = -errno;

	if (fd < 0)
		return rc;
	if (bind(fd, (const struct sockaddr *)&at, sizeof(at)) == 0 &&
	    listen(fd, BACKLOG) == 0)
		return fd;
	rc = -errno;
	close(fd);
	return rc;
}

int network_open(void)
{
	const struct egress_listen listening = {.version = EGRESS_VERSION};
	int rc = channel < 0 ? -ENOTCONN : recv_hello();
	int fd;

	if (rc < 0)
		return rc;
	fd = listen_here();
	rc = fd < 0
		 ? fd
		 : fdpass_send(channel, &listening, sizeof(listening), fd, 0);
	sys_close(fd);
	sys_drop(&channel);
	is_open = rc == 0;
	return rc;
}

void network_variables(char *envp[])
{
	size_t n = 0;

	for (size_t i = 0; is_open && i < ARRAY_LEN(proxies); i++)
		envp[n++] = (char *)proxies[i];
	for (size_t i = 0; has_certificates && i < ARRAY_LEN(certificates); i++)
		envp[n++] = (char *)certificates[i];
	for (size_t at = 0; is_open && at < own_bytes && n < NETWORK_VARIABLES;
	     at += strlen(own + at) + 1)
		envp[n++] = own + at;
}
