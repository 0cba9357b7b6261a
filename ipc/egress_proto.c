/* SPDX-License-Identifier: Apache-2.0 */
/*
 * egress_proto.c - the words of refusals, and the check of reports. Reports come from a
 * process that parses bytes of strangers, so the supervisor drops a child whose report
 * fails the check.
 */
#include "ipc/egress_proto.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

const struct egress_reason_row egress_reasons[EGRESS_REASONS] = {
    [EGRESS_NOT_GRANTED] =
	{403, "NETWORK_NOT_GRANTED",
	 "The host and port are not granted to the template."},
    [EGRESS_RULE] = {403, "NETWORK_RULE",
		     "No rule of the grant has this method and path."},
    [EGRESS_DENIED] = {403, "NETWORK_DENIED",
		       "The operator denies this host to all templates."},
    [EGRESS_ADDRESS] = {403, "NETWORK_ADDRESS",
			"The host has no address that a run may reach; private "
			"addresses need a range granted by the operator."},
    [EGRESS_NAME] = {502, "NETWORK_NO_SUCH_NAME",
		     "The host's name has no address."},
    [EGRESS_UNREACHABLE] = {502, "NETWORK_UNREACHABLE",
			    "The host accepts no connection at the port."},
    [EGRESS_SLOW] = {504, "NETWORK_TIMEOUT",
		     "The host did not answer in time."},
    [EGRESS_BAD_REQUEST] = {400, "NETWORK_BAD_REQUEST",
			    "The request is not well-formed HTTP/1.1."},
    [EGRESS_HOST_DIFFERS] = {400, "NETWORK_HOST_DIFFERS",
			     "The Host header names another host than the "
			     "connection or the address of the request."},
    [EGRESS_NOT_TLS] = {403, "NETWORK_NOT_TLS",
			"A tunnel carries TLS alone; plain HTTP goes by its "
			"absolute address."},
    [EGRESS_NO_SERVER_NAME] = {403, "NETWORK_NO_SERVER_NAME",
			       "The client's TLS hello names no server."},
    [EGRESS_SERVER_NAME_DIFFERS] = {403, "NETWORK_SERVER_NAME_DIFFERS",
				    "The client's TLS hello names another host "
				    "than the tunnel."},
    [EGRESS_ENCRYPTED_HELLO] =
	{403, "NETWORK_ENCRYPTED_HELLO",
	 "The client's TLS hello is encrypted, so its host "
	 "cannot be checked."},
    [EGRESS_CERTIFICATE] = {502, "NETWORK_CERTIFICATE",
			    "The host has no valid certificate for its name."},
    [EGRESS_TLS] = {502, "NETWORK_TLS",
		    "The host speaks no TLS 1.2 or 1.3, or breaks it off."},
    [EGRESS_BAD_ANSWER] = {502, "NETWORK_BAD_ANSWER",
			   "The host's answer is not well-formed HTTP/1.1."},
    [EGRESS_SECRET] =
	{403, "NETWORK_SECRET",
	 "The secret of this host does not go with such a request."},
    [EGRESS_BYTES] = {403, "NETWORK_LIMIT_BYTES",
		      "The run has sent and received all its maxNetworkBytes."},
    [EGRESS_REQUESTS] = {403, "NETWORK_LIMIT_REQUESTS",
			 "The run has made all its maxNetworkRequests."},
    [EGRESS_CONNECTIONS] =
	{403, "NETWORK_LIMIT_CONNECTIONS",
	 "The run has opened all its maxNetworkConnections."},
    [EGRESS_OVERLOADED] = {503, "NETWORK_BUSY",
			   "Too many connections of the run are open at once."},
};

/* Is TEXT printable, without spaces, and filled up with NULs to SIZE bytes? */
static bool text_ok(const char *text, size_t size)
{
	size_t n = strnlen(text, size), i;

	for (i = 0; i < n; i++)
		if (text[i] <= ' ' || text[i] > '~' || text[i] == '"' ||
		    text[i] == '\\')
			return false;
	for (; i < size; i++)
		if (text[i] != '\0')
			return false;
	return n < size;
}

int egress_report_check(const void *packet, size_t len)
{
	struct egress_report r;

	if (len != sizeof(r))
		return -EPROTO;
	memcpy(&r, packet, sizeof(r));
	if (r.kind == 0 || r.kind >= EGRESS_KINDS ||
	    r.reason >= EGRESS_REASONS ||
	    (r.reason != 0) != (r.kind == EGRESS_REFUSED) || r.port > 65535 ||
	    r.zero != 0)
		return -EPROTO;
	return text_ok(r.host, sizeof(r.host)) &&
		       text_ok(r.method, sizeof(r.method)) &&
		       text_ok(r.path, sizeof(r.path)) &&
		       text_ok(r.secret, sizeof(r.secret)) &&
		       text_ok(r.address, sizeof(r.address))
		   ? 0
		   : -EPROTO;
}
