/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_list.h - a list of hosts and networks, as people write it: example.com
 * (with all names below), 192.0.2.7, 192.0.2.0/24, 2001:db8::/32. Pure: nothing
 * is resolved; the caller has the name or the address.
 */
#ifndef BASE_TEXT_HOST_LIST_H
#define BASE_TEXT_HOST_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define HOST_LIST_MAX 256	   /* most words in a list */
#define HOST_LIST_WORD_MAX 256	   /* bytes of a word, with NUL */
#define HOST_LIST_SEPARATORS " \t" /* characters between words */

/* Is WORD, N bytes, legal in a list? */
bool host_list_word_ok(const char *word, size_t n);

struct host_list;

/* Parse LIST, which is copied; NULL: a bad word, or too many words. */
struct host_list *host_list_new(const char *list);
void host_list_free(struct host_list *h); /* frees H; NULL is fine */

/*
 * Is NAME in H (NULL: an empty list) as a name? NAME is a URL's host without
 * brackets; case and a final dot are ignored.
 */
bool host_list_have_name(const struct host_list *h, const char *name);
/* Is ADDRESS in H? IPv4 within IPv6 (::ffff:0:0/96) counts as IPv4. */
bool host_list_have_address(const struct host_list *h,
			    const struct sockaddr *address);

/* Is HOST, H bytes, NAME or a name below, ignoring case? */
bool host_list_is_or_below(const char *host, size_t h, const char *name);
/* Are the first BITS of A equal to NET's? */
bool host_list_within(const uint8_t *a, const uint8_t *net, unsigned bits);

#endif
