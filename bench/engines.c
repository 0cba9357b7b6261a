/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engines.c - short caged runs on two servers in turn, whose records are in SQLite and
 * in PostgreSQL: how much of the rate does the other database leave?
 *
 *   engines SQLITE POSTGRESQL
 *
 * Both arguments are endpoints, 127.0.0.1:PORT/PATH. bench/cluster starts the
 * servers; both databases wait for the disk at each commit.
 */
#include <stdio.h>

#include "base/mem.h"
#include "bench/drive.h"
#include "bench/target.h"

#define ROUNDS 4
#define LEAST 0.7

static const int flights[] = {1, 8, 64};
static const struct drive_job job = {
    "word_count",
    "\"name\":\"word_count\",\"arguments\":{\"text\":\"a few words\"}",
    "\"words\":3",
};

int main(int argc, char *argv[])
{
	if (argc != 3) {
		fputs("usage: engines SQLITE POSTGRESQL\n", stderr);
		return 2;
	}
	printf("short caged runs %11s %11s %9s\n", "SQLite", "PostgreSQL",
	       "ratio");
	for (size_t i = 0; i < ARRAY_LEN(flights); i++) {
		struct drive_figures f[2] = {0};
		double ratio;

		for (int round = 0; round < 2 * ROUNDS; round++)
			drive_round(argv + 1 + round % 2, 1, &job, flights[i],
				    &f[round % 2]);
		ratio = f[1].done / f[0].done;
		printf("%2d in flight %14.0f/s %9.0f/s %9.2f\n", flights[i],
		       f[0].done / ROUNDS / (DRIVE_ROUND_NS / 1e9),
		       f[1].done / ROUNDS / (DRIVE_ROUND_NS / 1e9), ratio);
		if (flights[i] == 64)
			target(ratio, AT_LEAST, LEAST,
			       "of SQLite's rate: short caged runs on "
			       "PostgreSQL, 64 in flight");
	}
	return 0;
}
