#include "worker/nap.h"

#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define US_PER_S 1000000
#define NAP_MAX_US (3600ll * US_PER_S)

static _Atomic uint32_t word;

uint32_t nap_ticket(void)
{
	return atomic_load(&word);
}

void nap_wake(void)
{
	atomic_fetch_add(&word, 1);
}

void nap_until(uint32_t ticket, int64_t until_us)
{
	int64_t left = until_us - clock_mono_us();
	struct timespec ts;

	if (left <= 0)
		return;
	if (left > NAP_MAX_US)
		left = NAP_MAX_US;
	ts.tv_sec = left / US_PER_S;
	ts.tv_nsec = left % US_PER_S * 1000;
	(void)syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, ticket, &ts, NULL,
		      0);
}
