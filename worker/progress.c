/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.c - the run's progress, for both runtimes: at most one message in 50 ms, and
 * the last one before any other message. The functions cannot fail; channel.c exits when
 * the supervisor is gone.
 */
#include "worker/progress.h"

#include <stdbool.h>

#include "base/clock.h"
#include "worker/channel.h"
#include "worker/memory.h"
#include "worker/text.h"

#define INTERVAL_US 50000

static struct {
	uint64_t done;
	uint64_t total;
	size_t len; /* of message */
	bool held;
	int64_t due_us; /* earliest time of the next message */
} progress MEMORY_EACH_RUN;
static char message[MSG_TEXT_MAX];

void progress_flush(void)
{
	struct msg m = {.type = MSG_PROGRESS};

	if (!progress.held)
		return;
	progress.held = false;
	progress.due_us = clock_mono_us() + INTERVAL_US;
	m.progress.done = progress.done;
	m.progress.total = progress.total;
	m.progress.message = (struct str){message, progress.len};
	channel_send(&m);
}

int64_t progress_due_us(void)
{
	return progress.held ? progress.due_us : INT64_MAX;
}

void progress_tick(void)
{
	if (progress.held && clock_mono_us() >= progress.due_us)
		progress_flush();
}

void progress_set(uint64_t done, uint64_t total, const char *text, size_t len)
{
	if (total > 0 && done > total)
		done = total;
	if (done < progress.done)
		return;
	progress.done = done;
	progress.total = total;
	progress.len = text_clean(message, sizeof(message), text, len);
	progress.held = true;
	progress_tick();
}

void progress_forget(void)
{
	progress.done = progress.total = 0;
	progress.held = false;
}
