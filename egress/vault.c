/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vault.c - the values of secrets, for keeper.c. The pages are left out of forks and of
 * core dumps, and values are read into them and sent from them by system calls, so that
 * no copy is made in the keeper's other memory. A file that cannot be used fails all.
 */
#include "egress/vault.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/mem.h"
#include "egress/run/keys.h"

#define LEAST_BYTES 8 /* a shorter value is in answers by chance */

struct vault {
	size_t n;
	struct {
		size_t len;
		char *value; /* within PAGES */
	} * all;
	char *pages;
	size_t bytes;
};

static bool is_plain(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] < ' ' || p[i] > '~')
			return false;
	return true;
}

/* Read PATH to VALUE, without a newline at the end. The length, or -errno. */
static ssize_t read_value(char *value, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	size_t n = 0;
	ssize_t part = 0;

	if (fd < 0)
		return -errno;
	while (n <= EGRESS_SECRET_BYTES &&
	       (part = read(fd, value + n, EGRESS_SECRET_BYTES + 1 - n)) > 0)
		n += (size_t)part;
	part = part < 0 ? -errno : 0;
	close(fd);
	while (n > 0 && (value[n - 1] == '\n' || value[n - 1] == '\r'))
		n--;
	return part < 0 ? part : (ssize_t)n;
}

static bool take(struct vault *v, size_t i, const struct secret *s, char *fault)
{
	ssize_t n = read_value(v->all[i].value, s->file);

	if (n < 0)
		snprintf(fault, SETTINGS_FAULT_MAX,
			 "The file of the secret %s cannot be read: %s.",
			 s->name, strerror((int)-n));
	else if (n < LEAST_BYTES || n > EGRESS_SECRET_BYTES)
		snprintf(fault, SETTINGS_FAULT_MAX,
			 "The secret %s has %zd bytes; %d to %u would pass.",
			 s->name, n, LEAST_BYTES, EGRESS_SECRET_BYTES);
	else if (!is_plain(v->all[i].value, (size_t)n))
		snprintf(
		    fault, SETTINGS_FAULT_MAX,
		    "The secret %s has bytes that are not printable ASCII.",
		    s->name);
	else
		v->all[i].len = (size_t)n;
	return v->all[i].len > 0;
}

struct vault *vault_new(const struct settings *s,
			char fault[SETTINGS_FAULT_MAX])
{
	struct vault *v = xcalloc(1, sizeof(*v));
	const size_t each = EGRESS_SECRET_BYTES * 2;

	v->n = s->n_secrets;
	v->all = xcalloc(v->n + 1, sizeof(*v->all));
	v->bytes = (v->n + 1) * each;
	v->pages = mmap(NULL, v->bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (v->pages == MAP_FAILED ||
	    madvise(v->pages, v->bytes, MADV_DONTFORK) != 0 ||
	    madvise(v->pages, v->bytes, MADV_DONTDUMP) != 0) {
		snprintf(fault, SETTINGS_FAULT_MAX,
			 "There is no memory for secrets: %s.",
			 strerror(errno));
		v->pages = v->pages == MAP_FAILED ? NULL : v->pages;
		vault_free(v);
		return NULL;
	}
	for (size_t i = 0; i < v->n; i++) {
		v->all[i].value = v->pages + i * each;
		if (!take(v, i, &s->secrets[i], fault)) {
			vault_free(v);
			return NULL;
		}
	}
	return v;
}

void vault_free(struct vault *v)
{
	if (v == NULL)
		return;
	if (v->pages != NULL) {
		explicit_bzero(v->pages, v->bytes);
		munmap(v->pages, v->bytes);
	}
	free(v->all);
	free(v);
}

int vault_send(const struct vault *v, size_t at, uint32_t number, int sock)
{
	const struct key_head head = {.number = number};
	struct iovec parts[] = {{(void *)&head, sizeof(head)}, {NULL, 0}};
	const struct msghdr m = {.msg_iov = parts,
				 .msg_iovlen = ARRAY_LEN(parts)};

	if (at != VAULT_NONE)
		parts[1] = (struct iovec){v->all[at].value, v->all[at].len};
	return sendmsg(sock, &m, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}
