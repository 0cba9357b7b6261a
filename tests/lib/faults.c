/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults.c - preloaded into paddockd or paddock: makes calls fail, as listed in a file
 * which the test changes at any time. PADDOCK_FAULTS is the path of the file: one fault
 * a line, "CALL ERRNO PATH", where PATH is a part of the path of the written file. Each
 * fault that occurred is noted in FILE.hit, so the test can wait for the fault.
 *
 * CALL is open (for writing), write, half (the first write is cut in half, the next
 * write fails), fsync, rename, mkdir, watch (by inotify), send (to a socket: PATH is
 * socket) or wait (of the loop, three times in a row; PATH is loop). With slow, ERRNO
 * is a number of milliseconds, by which each write and sync of the path takes longer,
 * as on a slow disk. Programs in a cage are not affected: the library acts only in the
 * process that was started with the library.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char file[4096], hit[4104];

__attribute__((constructor)) static void begin(void)
{
	const char *name = getenv("PADDOCK_FAULTS");

	snprintf(file, sizeof(file), "%s", name != NULL ? name : "");
	snprintf(hit, sizeof(hit), "%s.hit", file);
	unsetenv("LD_PRELOAD");
	unsetenv("PADDOCK_FAULTS");
}

static void note(const char *line, size_t n)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, hit,
			      O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);

	if (fd < 0)
		return;
	(void)!syscall(SYS_write, fd, line, n);
	(void)syscall(SYS_close, fd);
}

/* The errno for CALL of PATH, or 0 without a fault. */
static int fault(const char *request, const char *path)
{
	char text[4096], name[32], part[1024], line[1200];
	int fd, err, used, found = 0;
	long n;

	if (file[0] == '\0')
		return 0;
	fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = syscall(SYS_read, fd, text, sizeof(text) - 1);
	(void)syscall(SYS_close, fd);
	text[n > 0 ? n : 0] = '\0';
	for (const char *p = text;
	     sscanf(p, "%31s %d %1023s%n", name, &err, part, &used) == 3;
	     p += used) {
		if (strcmp(name, request) != 0 || strstr(path, part) == NULL)
			continue;
		found = snprintf(line, sizeof(line), "%s %s\n", request, part);
		note(line, (size_t)found);
		return err;
	}
	return 0;
}

static int fault_of_fd(const char *request, int fd)
{
	char link[64], path[4096];
	int saved = errno, err = 0;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = file[0] != '\0' ? readlink(link, path, sizeof(path) - 1) : -1;
	if (n > 0) {
		path[n] = '\0';
		err = fault(request, path);
	}
	errno = saved;
	return err;
}

static void delay(int fd)
{
	int ms = fault_of_fd("slow", fd);

	if (ms > 0)
		usleep((useconds_t)ms * 1000);
}

static bool fails(int err)
{
	if (err != 0)
		errno = err;
	return err != 0;
}

static int open_it(int at, const char *path, int flags, mode_t mode)
{
	if ((flags & O_ACCMODE) != O_RDONLY && fails(fault("open", path)))
		return -1;
	return (int)syscall(SYS_openat, at, path, flags, mode);
}

#define MODE(flags, mode)                                                      \
	do {                                                                   \
		va_list ap;                                                    \
		va_start(ap, flags);                                           \
		(mode) = ((flags) & (O_CREAT | __O_TMPFILE)) != 0              \
			     ? va_arg(ap, mode_t)                              \
			     : 0;                                              \
		va_end(ap);                                                    \
	} while (0)

int open(const char *path, int flags, ...)
{
	mode_t mode;

	MODE(flags, mode);
	return open_it(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
	mode_t mode;

	MODE(flags, mode);
	return open_it(AT_FDCWD, path, flags, mode);
}

int openat(int at, const char *path, int flags, ...)
{
	mode_t mode;

	MODE(flags, mode);
	return open_it(at, path, flags, mode);
}

int mkostemp(char *path, int flags)
{
	static unsigned n;
	size_t len = strlen(path);

	snprintf(path + len - 6, 7, "%06x", (unsigned)getpid() * 64 + n++ % 64);
	return open_it(AT_FDCWD, path, flags | O_RDWR | O_CREAT | O_EXCL, 0600);
}

int mkostemp64(char *path, int flags)
{
	return mkostemp(path, flags);
}

ssize_t write(int fd, const void *p, size_t n)
{
	static int halves; /* number of half writes so far */
	int err = fault_of_fd("write", fd), half = 0;

	delay(fd);
	if (err == 0 && n > 1)
		half = fault_of_fd("half", fd);
	if (half != 0 && halves++ % 2 == 0)
		n /= 2;
	else if (half != 0)
		err = half;
	return fails(err) ? -1 : syscall(SYS_write, fd, p, n);
}

ssize_t pwrite64(int fd, const void *p, size_t n, off64_t at)
{
	delay(fd);
	return fails(fault_of_fd("write", fd))
		   ? -1
		   : syscall(SYS_pwrite64, fd, p, n, at);
}

ssize_t pwrite(int fd, const void *p, size_t n, off_t at)
{
	return pwrite64(fd, p, n, at);
}

int fsync(int fd)
{
	delay(fd);
	return fails(fault_of_fd("fsync", fd)) ? -1
					       : (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
	delay(fd);
	return fails(fault_of_fd("fsync", fd))
		   ? -1
		   : (int)syscall(SYS_fdatasync, fd);
}

int rename(const char *from, const char *to)
{
	return fails(fault("rename", to))
		   ? -1
		   : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to,
				  0);
}

int mkdir(const char *path, mode_t mode)
{
	return fails(fault("mkdir", path))
		   ? -1
		   : (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

int mkdirat(int at, const char *path, mode_t mode)
{
	return fails(fault("mkdir", path))
		   ? -1
		   : (int)syscall(SYS_mkdirat, at, path, mode);
}

int inotify_add_watch(int fd, const char *path, uint32_t mask)
{
	return fails(fault("watch", path))
		   ? -1
		   : (int)syscall(SYS_inotify_add_watch, fd, path, mask);
}

ssize_t send(int fd, const void *p, size_t n, int flags)
{
	return fails(fault_of_fd("send", fd))
		   ? -1
		   : syscall(SYS_sendto, fd, p, n, flags, NULL, 0);
}

static bool wait_fails(void)
{
	static unsigned turns;

	return turns++ % 4 != 3 && fails(fault("wait", "loop"));
}

int epoll_wait(int ep, struct epoll_event *events, int n, int ms)
{
	return wait_fails() ? -1
			    : (int)syscall(SYS_epoll_pwait, ep, events, n, ms,
					   NULL, (size_t)8);
}

int poll(struct pollfd *fds, nfds_t n, int ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000L};

	return n > 1 && wait_fails()
		   ? -1
		   : (int)syscall(SYS_ppoll, fds, n, ms < 0 ? NULL : &t, NULL,
				  (size_t)8);
}
