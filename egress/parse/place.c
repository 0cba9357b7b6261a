/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.c - reads hosts and ports of CONNECT, of absolute addresses and of Host, all by
 * the same reader, so two places cannot differ unseen. A failure is a refused request.
 */
#include "egress/parse/place.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "ipc/host_pattern.h"

/* Is there a port in the text: a colon outside of brackets? */
static bool has_port(const char *text, size_t n)
{
	const char *colon = memrchr(text, ':', n);

	return colon != NULL &&
	       memchr(colon, ']', n - (size_t)(colon - text)) == NULL;
}

bool place_parse(struct place *at, const char *text, size_t n,
		 unsigned fallback)
{
	char full[PLACE_TEXT_MAX + 8];
	struct host_pattern p;

	*at = (struct place){0};
	if (n == 0 || n >= PLACE_TEXT_MAX || memchr(text, '\0', n) != NULL)
		return false;
	if (has_port(text, n))
		snprintf(full, sizeof(full), "%.*s", (int)n, text);
	else if (fallback != 0)
		snprintf(full, sizeof(full), "%.*s:%u", (int)n, text, fallback);
	else
		return false;
	if (!host_pattern_is_place(full, strlen(full)) ||
	    host_pattern_parse(&p, full, strlen(full)) < 0)
		return false;
	at->port = p.port;
	at->literal = p.kind == HOST_NET;
	if (at->literal)
		return inet_ntop(p.family, p.net, at->host, sizeof(at->host)) !=
		       NULL;
	memcpy(at->host, p.name, strlen(p.name) + 1);
	return true;
}

void place_text(char text[PLACE_TEXT_MAX], const struct place *at,
		unsigned usual)
{
	bool brackets = strchr(at->host, ':') != NULL;
	int n = snprintf(text, PLACE_TEXT_MAX, brackets ? "[%.250s]" : "%.255s",
			 at->host);

	if (at->port != usual)
		snprintf(text + n, PLACE_TEXT_MAX - (size_t)n, ":%u", at->port);
}
