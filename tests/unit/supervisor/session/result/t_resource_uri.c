/* SPDX-License-Identifier: Apache-2.0 */
/* t_resource_uri.c - what paddock's own URIs name, and which part of it. */
#include "supervisor/session/result/resource_uri.h"

#include "tests/unit/tap.h"

#define RUN "paddock://runs/run_aaaaaaaaaaaaaaaaaaaaaaaaaa"
#define ART "art_bbbbbbbbbbbbbbbbbbbbbbbbbb"

static const struct {
	const char *uri;
	enum resource_uri_kind kind;
	bool asked;
	int64_t offset, limit;
} cases[] = {
    {"paddock://isolation", RESOURCE_URI_IS_ISOLATION, false, 0, 0},
    {RUN, RESOURCE_URI_IS_RUN, false, 0, 0},
    {RUN "/log", RESOURCE_URI_IS_LOG, false, 0, 0},
    {RUN "/result", RESOURCE_URI_IS_RESULT, false, 0, 0},
    {RUN "/artifacts/" ART, RESOURCE_URI_IS_ARTIFACT, false, 0, 0},
    {RUN "?offset=5", RESOURCE_URI_IS_RUN, true, 5, 0},
    {RUN "/log?limit=7", RESOURCE_URI_IS_LOG, true, 0, 7},
    {RUN "/result?offset=0&limit=10", RESOURCE_URI_IS_RESULT, true, 0, 10},
    {RUN "/result?limit=10&offset=3", RESOURCE_URI_IS_RESULT, true, 3, 10},
    {RUN "/artifacts/" ART "?offset=999999999999999", RESOURCE_URI_IS_ARTIFACT,
     true, INT64_C(999999999999999), 0},
    {RUN "/result?offset=1000000000000000", RESOURCE_URI_NONE, false, 0, 0},
    {RUN "/result?", RESOURCE_URI_NONE, false, 0, 0},
    {RUN "/result?offset=", RESOURCE_URI_NONE, false, 0, 0},
    {RUN "/result?offset=-1", RESOURCE_URI_NONE, false, 0, 0},
    {RUN "/result?limit=0", RESOURCE_URI_NONE, false, 0, 0},
    {RUN "/result?offset=1&offset=2", RESOURCE_URI_NONE, false, 0, 0},
    {RUN "/result?limit=1&limit=2", RESOURCE_URI_NONE, false, 0, 0},
    {RUN "/result?limit=5&offset=1000000000000000", RESOURCE_URI_NONE, false, 0,
     0},
    {RUN "/result?limit=5&offset=", RESOURCE_URI_NONE, false, 0, 0},
    {RUN "/result?offset=1&limit=0", RESOURCE_URI_NONE, false, 0, 0},
    {RUN "/result?offset=1&", RESOURCE_URI_NONE, false, 0, 0},
    {RUN "/result?size=1", RESOURCE_URI_NONE, false, 0, 0},
    {RUN "/result&offset=1", RESOURCE_URI_NONE, false, 0, 0},
    {RUN "/results", RESOURCE_URI_NONE, false, 0, 0},
    {RUN "/", RESOURCE_URI_NONE, false, 0, 0},
    {"paddock://isolation?offset=1", RESOURCE_URI_NONE, false, 0, 0},
    {"paddock://runs/run_a", RESOURCE_URI_NONE, false, 0, 0},
    {"http://runs/", RESOURCE_URI_NONE, false, 0, 0},
};

int main(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct resource_uri u = resource_uri_parse(cases[i].uri);

		is_int(u.kind, cases[i].kind, "%s", cases[i].uri);
		if (u.kind == RESOURCE_URI_NONE)
			continue;
		is_int(u.piece.asked, cases[i].asked, "  a part, or all");
		is_int(u.piece.offset, cases[i].offset, "  from where");
		is_int(u.piece.limit, cases[i].limit, "  how much");
	}
	return tap_done();
}
