/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_tasks.h - tasks over HTTP, by each way that there is to wait for one.
 */
#ifndef BENCH_HTTP_TASKS_H
#define BENCH_HTTP_TASKS_H

#include "bench/http_client.h"

/* Ask on connection I for METHOD of the task that the answer CREATED made. */
void http_ask_task(struct http *h, int i, const char *method,
		   const char *created);

/*
 * How long after its job, which takes 13 ms, a task's result is in the client's
 * hands, at PADDOCK: a table, beside a plain call of the same job.
 */
void http_tasks(const char *paddock);

#endif
