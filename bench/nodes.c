/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nodes.c - runs that sleep 100 ms on 1, 2 and 4 servers with a shared
 * database: does throughput grow with the servers?
 *
 *   nodes PLACES ENDPOINT ENDPOINT ENDPOINT ENDPOINT
 *
 * An ENDPOINT is 127.0.0.1:PORT/PATH. bench/cluster starts them.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "bench/drive.h"
#include "bench/http_client.h"
#include "bench/target.h"

#define ROUNDS 3
#define LINEAR 0.95
#define BUSY 0.9 /* of all cores: above, no target is judged */

static const int sizes[] = {1, 2, DRIVE_MAX};
static const struct drive_job job = {
    "nap_100",
    "\"name\":\"nap_100\",\"arguments\":{}",
    "\"structuredContent\":{}",
};

int main(int argc, char *argv[])
{
	struct drive_figures f[ARRAY_LEN(sizes)] = {0};
	int places = argc == 6 ? atoi(argv[1]) : 0;

	if (places < 1 || places > HTTP_CONNS_MAX) {
		fputs("usage: nodes PLACES ENDPOINT ENDPOINT ENDPOINT "
		      "ENDPOINT\n",
		      stderr);
		return 2;
	}
	for (int round = 0; round < ROUNDS; round++)
		for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
			drive_round(argv + 2, sizes[i], &job, places, &f[i]);
	printf("%2d places a node %9s %9s %9s\n", places, "runs/s", "of linear",
	       "CPU busy");
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		double of = f[i].done / f[0].done / sizes[i];
		double busy = f[i].busy_s / f[i].all_s;

		printf("%d node%-11s %9.0f %9.3f %8.0f%%%s\n", sizes[i],
		       i == 0 ? "" : "s",
		       f[i].done / ROUNDS / (DRIVE_ROUND_NS / 1e9), of,
		       busy * 100, busy > BUSY ? "  where the cores end" : "");
		if (i > 0 && busy <= BUSY)
			target(of, AT_LEAST, LINEAR,
			       "of linear: %d nodes of %d places, runs of 100 "
			       "ms",
			       sizes[i], places);
	}
	return 0;
}
