/* SPDX-License-Identifier: Apache-2.0 */
/* t_egress_proto.c - reports of a child of paddock-egress that pass, and that do not. */
#include "ipc/egress_proto.h"

#include <errno.h>
#include <string.h>

#include "tests/unit/tap.h"

static const struct egress_report fine = {.kind = EGRESS_REFUSED,
					  .reason = EGRESS_NOT_GRANTED,
					  .port = 443,
					  .connection = 1,
					  .refused = 1,
					  .host = "api.example.org",
					  .method = "CONNECT",
					  .path = "/"};

#define WRONG(name, ...)                                                       \
	do {                                                                   \
		struct egress_report r = fine;                                 \
                                                                               \
		__VA_ARGS__;                                                   \
		is_int(egress_report_check(&r, sizeof(r)), -EPROTO, name);     \
	} while (0)

TEST(reports)
{
	is_int(egress_report_check(&fine, sizeof(fine)), 0, "a report passes");
	is_int(egress_report_check(&fine, sizeof(fine) - 1), -EPROTO,
	       "a short packet does not");
	WRONG("kind 0", r.kind = 0);
	WRONG("a kind beyond the last", r.kind = EGRESS_KINDS);
	WRONG("a reason beyond the last", r.reason = EGRESS_REASONS);
	WRONG("a refusal without a reason", r.reason = 0);
	WRONG("a reason without a refusal", r.kind = EGRESS_OPENED);
	WRONG("a port beyond the last", r.port = 65536);
	WRONG("a member that is reserved", r.zero = 1);
	WRONG("a host without an end", memset(r.host, 'a', sizeof(r.host)));
	WRONG("a host with a line break", r.host[3] = '\n');
	WRONG("a path with a quote", r.path[0] = '"');
	WRONG("a method with a space", r.method[2] = ' ');
	WRONG("a secret beyond ASCII", r.secret[0] = '\xc3');
	WRONG("bytes behind an address", r.address[9] = 'x');
}

TEST(reasons)
{
	for (int i = EGRESS_NO_REASON + 1; i < EGRESS_REASONS; i++)
		ok(egress_reasons[i].status >= 400 &&
		       strncmp(egress_reasons[i].code, "NETWORK_", 8) == 0 &&
		       egress_reasons[i].sentence != NULL,
		   "reason %d has its words", i);
}
