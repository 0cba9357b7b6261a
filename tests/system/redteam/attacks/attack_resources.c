/* SPDX-License-Identifier: Apache-2.0 */
/* attack_resources.c - to have more than is allowed. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/system/redteam/attacks/attack.h"

#define MIB ((size_t)1 << 20)

static volatile unsigned long turns;

_Noreturn static void spin(void)
{
	for (;;)
		turns++;
}

static void deaf(void)
{
	signal(SIGTERM, SIG_IGN);
	tell_progress("deaf");
	spin();
}

_Noreturn static void wait_for_ever(void)
{
	for (;;)
		pause();
}

/* Some processes each take as much as possible, and keep everything. */
static void take(int flags)
{
	for (int i = 0; i < 4; i++)
		if (fork() == 0)
			break;
	for (;;) {
		char *p = mmap(NULL, MIB, PROT_READ | PROT_WRITE,
			       flags | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			wait_for_ever();
		memset(p, 1, MIB);
	}
}

static void take_memory(void)
{
	take(MAP_PRIVATE);
}

static void take_shared(void)
{
	take(MAP_SHARED);
}

static void take_and_sleep(void)
{
	static char taken[8 * MIB];

	memset(taken, 1, sizeof(taken));
	wait_for_ever();
}

static const char *fill_one(const char *path)
{
	static char block[1 << 16];
	int fd = open(path, O_CREAT | O_WRONLY, 0600);

	while (write(fd, block, sizeof(block)) > 0)
		continue;
	return strerrorname_np(errno);
}

static void fill(void)
{
	const char *work = fill_one("big"), *tmp = fill_one("/tmp/big");

	printf("[\"%s\",\"%s\",\"%s\"]", work, tmp, fill_one("/dev/shm/big"));
}

static void files(void)
{
	char path[64];
	int fd, n = 0;

	do {
		snprintf(path, sizeof(path), "/tmp/%d", n++);
		fd = open(path, O_CREAT | O_WRONLY, 0600);
	} while (fd >= 0 && close(fd) == 0 && n < 10000000);
	tell_errno(fd < 0);
}

static void sparse(void)
{
	int fd = open("sparse", O_CREAT | O_WRONLY, 0600);

	signal(SIGXFSZ, SIG_IGN);
	tell_errno(ftruncate(fd, (off_t)1 << 40) != 0);
}

static void sparse_signal(void)
{
	int fd = open("sparse", O_CREAT | O_WRONLY, 0600);

	(void)!ftruncate(fd, (off_t)1 << 40);
	wait_for_ever();
}

static void forks(void)
{
	for (;;)
		fork();
}

static void vforks(void)
{
	for (;;)
		if (vfork() < 0) /* NOLINT: rude on purpose */
			pause(); /* NOLINT */
}

static void *thread(void *arg)
{
	(void)arg;
	wait_for_ever();
}

static void threads(void)
{
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	do
		errno = pthread_create(&t, &attr, thread, NULL);
	while (errno == 0);
	tell_errno(true);
	fflush(stdout);
	_exit(0);
}

static void descriptors(void)
{
	while (open("/dev/null", O_RDONLY) >= 0)
		continue;
	tell_errno(true);
}

/* Memory of the kernel's, in as many buffers as there may be. */
static void hoard(void)
{
	static char block[1 << 16];
	int ends[2];

	for (;;) {
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) !=
		    0)
			break;
		while (write(ends[0], block, sizeof(block)) > 0)
			continue;
		if (pipe2(ends, O_NONBLOCK) != 0)
			break;
		while (write(ends[1], block, sizeof(block)) > 0)
			continue;
	}
	tell_errno(true);
}

static void epolls(void)
{
	struct epoll_event ev = {.events = EPOLLIN};
	int below = epoll_create1(0), fd, rc;

	do {
		fd = epoll_create1(0);
		rc = epoll_ctl(fd, EPOLL_CTL_ADD, below, &ev);
		below = fd;
	} while (fd >= 0 && rc == 0);
	tell_errno(true);
}

static void watches(void)
{
	int fd = inotify_init1(0), n = 0, rc;
	char path[64];

	do {
		snprintf(path, sizeof(path), "/tmp/%d", n++);
		rc = mkdir(path, 0700) != 0 ||
		     inotify_add_watch(fd, path, IN_ALL_EVENTS) < 0;
	} while (rc == 0 && n < 10000000);
	tell_errno(rc != 0);
}

static void shout(void)
{
	static char block[1 << 16];

	memset(block, '1', sizeof(block));
	for (;;)
		(void)!write(1, block, sizeof(block));
}

static void mutter(void)
{
	for (;;)
		(void)!write(2, ((turns++ & 15) != 0) ? "x" : "\n", 1);
}

static void deeper(volatile char *p)
{
	volatile char here[4096];

	here[0] = here[1] = p[0];
	if (here[0] == 0)
		deeper(here);
	p[0] = here[1];
}

static void recurse(void)
{
	char c = 0;

	deeper(&c);
}

static void core(void)
{
	const struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};

	setrlimit(RLIMIT_CORE, &all);
	if (chdir("/tmp") == 0)
		abort();
}

static void close_all(void)
{
	close_range(0, ~0u, 0);
	wait_for_ever();
}

const struct attack resource_attacks[] = {
    {"spin", spin},
    {"sleep", wait_for_ever},
    {"deaf", deaf},
    {"memory", take_memory},
    {"shared", take_shared},
    {"pin", take_and_sleep},
    {"fill", fill},
    {"files", files},
    {"sparse", sparse},
    {"sparse_signal", sparse_signal},
    {"forks", forks},
    {"vforks", vforks},
    {"threads", threads},
    {"descriptors", descriptors},
    {"hoard", hoard},
    {"epolls", epolls},
    {"watches", watches},
    {"shout", shout},
    {"mutter", mutter},
    {"recurse", recurse},
    {"core", core},
    {"close_all", close_all},
    {NULL, NULL},
};
