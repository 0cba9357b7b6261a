/* SPDX-License-Identifier: Apache-2.0 */
/* t_health_helpers.c - what readyz says of a server that has no descriptor left. */
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "supervisor/run/health/health.h"
#include "tests/unit/tap.h"

int main(void)
{
	enum health_status v = HEALTH_FAILED;
	struct rlimit was, now;
	int next = dup(0);

	close(next);
	ok(health_descriptors(NULL, &v) == NULL, "a descriptor is left");
	getrlimit(RLIMIT_NOFILE, &was);
	now = was;
	now.rlim_cur = (rlim_t)next;
	setrlimit(RLIMIT_NOFILE, &now);
	is_str(health_descriptors(NULL, &v),
	       "the server has no file descriptor left (LimitNOFILE)",
	       "none is left");
	is_int(v, HEALTH_FAILED, "no run is started without a descriptor");
	setrlimit(RLIMIT_NOFILE, &was);
	ok(health_descriptors(NULL, &v) == NULL, "one is left again");
	return tap_done();
}
