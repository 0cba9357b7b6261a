/* SPDX-License-Identifier: Apache-2.0 */
/* The record of a run's network: sums by host, refusals, and the bound of hosts. */
#include "supervisor/egress/egress_record.h"

#include <stdio.h>

#include "proto/json/json.h"
#include "tests/unit/tap.h"

static struct egress_report report(enum egress_kind kind, const char *host,
				   unsigned port)
{
	struct egress_report r = {.kind = kind, .port = port};

	snprintf(r.host, sizeof(r.host), "%s", host);
	return r;
}

static struct json_object *host_at(struct json_object *view, size_t i)
{
	return json_object_array_get_idx(json_member(view, "hosts"), i);
}

TEST(sums)
{
	struct egress_record *rec = NULL;
	struct egress_report r = report(EGRESS_OPENED, "a.b", 443);
	struct json_object *v;

	ok(egress_record_view(rec) == NULL, "without a report no view");
	egress_record_add(&rec, &r);
	egress_record_add(&rec, &r);
	r = report(EGRESS_REQUEST, "a.b", 443);
	egress_record_add(&rec, &r);
	r = report(EGRESS_CLOSED, "a.b", 443);
	r.bytes_up = 5;
	r.bytes_down = 70;
	egress_record_add(&rec, &r);
	egress_record_add(&rec, &r);
	r = report(EGRESS_OPENED, "::1", 80);
	egress_record_add(&rec, &r);
	r = report(EGRESS_TOTALS, "", 0);
	r.bytes_up = 1000;
	egress_record_add(&rec, &r);
	v = egress_record_view(rec);
	is_int(json_member_int(v, "connections"), 3, "connections");
	is_int(json_member_int(v, "requests"), 1, "requests");
	is_int(json_member_int(v, "bytesUp"), 10, "bytes to hosts");
	is_int(json_member_int(v, "bytesDown"), 140, "bytes from hosts");
	is_str(json_member_str(host_at(v, 0), "host"), "a.b:443", "a name");
	is_int(json_member_int(host_at(v, 0), "connections"), 2,
	       "connections of a host");
	is_str(json_member_str(host_at(v, 1), "host"), "[::1]:80",
	       "an address");
	json_object_put(v);
	egress_record_free(rec);
}

TEST(refusals)
{
	struct egress_record *rec = NULL;
	struct egress_report r = report(EGRESS_REFUSED, "a.b", 443);
	struct json_object *v, *list;

	r.reason = EGRESS_NOT_GRANTED;
	ok(egress_record_add(&rec, &r), "the first refusal is told");
	ok(!egress_record_add(&rec, &r), "the same again is not");
	r.reason = EGRESS_ADDRESS;
	ok(egress_record_add(&rec, &r), "another reason is told");
	v = egress_record_view(rec);
	is_int(json_member_int(v, "refused"), 3, "all are counted");
	list = json_member(host_at(v, 0), "refusals");
	is_int((int)json_length(list), 2, "each reason is there once");
	is_str(json_member_str(json_object_array_get_idx(list, 0), "code"),
	       "NETWORK_NOT_GRANTED", "by its code");
	json_object_put(v);
	egress_record_free(rec);
}

TEST(many_hosts)
{
	struct egress_record *rec = NULL;
	struct json_object *v;
	bool told = false;

	for (unsigned i = 1; i <= 2 * EGRESS_RECORD_HOSTS; i++) {
		struct egress_report r = report(EGRESS_REFUSED, "a.b", i);

		r.reason = EGRESS_NOT_GRANTED;
		told = egress_record_add(&rec, &r);
	}
	ok(!told, "refusals beyond the bound are not told");
	v = egress_record_view(rec);
	is_int((int)json_length(json_member(v, "hosts")), EGRESS_RECORD_HOSTS,
	       "the view names hosts up to the bound");
	is_int(json_member_int(v, "refused"), 2 * EGRESS_RECORD_HOSTS,
	       "all are counted");
	ok(json_member_bool(v, "moreHosts"),
	   "the view says that there are more");
	json_object_put(v);
	egress_record_free(rec);
	egress_record_free(NULL);
}
