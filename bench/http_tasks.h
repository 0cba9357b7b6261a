/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_tasks.h - tasks over HTTP, by each way to wait for a task.
 */
#ifndef BENCH_HTTP_TASKS_H
#define BENCH_HTTP_TASKS_H

#include "bench/http_client.h"

/* Ask on connection I for METHOD of the task in the answer CREATED. */
void http_ask_task(struct http *h, int i, const char *method,
		   const char *created);

/*
 * Print how long after a job of 13 ms the task's result has come from PADDOCK: a
 * table, beside a plain call of the same job.
 */
void http_tasks(const char *paddock);

#endif
