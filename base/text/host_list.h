/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_list.h - a list of hosts and networks, as people write it: example.com
 * (that name and all below it), 192.0.2.7, 192.0.2.0/24, 2001:db8::/32.
 * Pure; whoever asks has the name or the address already.
 */
#ifndef BASE_TEXT_HOST_LIST_H
#define BASE_TEXT_HOST_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define HOST_LIST_MAX 256	   /* words in a list */
#define HOST_LIST_WORD_MAX 256	   /* bytes of one, with its NUL */
#define HOST_LIST_SEPARATORS " \t" /* between words */

/* Is that, N bytes, a word of such a list? */
bool host_list_word_ok(const char *word, size_t n);

struct host_list;

/* Copies what LIST has; NULL: a word of it is none, or there are too many. */
struct host_list *host_list_new(const char *list);
void host_list_free(struct host_list *h); /* NULL is fine */

/*
 * Is NAME, a host as a URL has it, without brackets, in H (NULL: an empty one)
 * as a name? The case of letters and a final dot mean nothing.
 */
bool host_list_have_name(const struct host_list *h, const char *name);
/* Is ADDRESS in it? IPv4 within IPv6 (::ffff:0:0/96) counts as IPv4. */
bool host_list_have_address(const struct host_list *h,
			    const struct sockaddr *address);

/* Is HOST, H bytes, NAME or a name below it, whatever the case of letters? */
bool host_list_is_or_below(const char *host, size_t h, const char *name);
/* Are the first BITS of A those of NET? */
bool host_list_within(const uint8_t *a, const uint8_t *net, unsigned bits);

#endif
