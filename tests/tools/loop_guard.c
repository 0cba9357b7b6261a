/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop_guard.c - linked into the paddockd of make check-guard: ends paddockd when the
 * thread of the event loop makes a call which another process or a disk may delay.
 *
 * Between loop_guard_begin() and loop_guard_end(), and outside of loop_guard_allow(),
 * the thread may call no file, wait for no lock, thread, peer or name service, hash at
 * most 1 MiB in a turn of the loop, and use at most 10 ms of CPU in a turn. The call
 * and the stack are written to a file in REPORTS, which tests/tools/guarded prints. The
 * guard sees calls which the dynamic linker binds, so calls of libraries as well, but
 * no calls within the C library.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <linux/magic.h>
#include <netdb.h>
#include <nettle/sha2.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/loop_guard.h"

#define TURN_US 10000
#define HASH_BYTES ((size_t)1 << 20)
#define GOES_ON REPORTS "/goes-on"	   /* tell, and do not end */
#define CALLS_ALONE REPORTS "/calls-alone" /* take no notice of time */
/* while the file exists, each watch begins with a file call: an offence */
#define PROBE REPORTS "/probe"
#define FRAMES 64
#define ALARM (SIGRTMIN + 6)

static __thread bool is_loop;
static __thread int allowed; /* how deep, also before the loop is watched */
static pid_t loop_tid;
static size_t hashed;
static timer_t timer;
static bool has_timer, told_turn, calls_alone;
static int64_t turn_us; /* CPU time when the turn began */

static void *real(void **at, const char *name)
{
	if (*at == NULL)
		*at = dlsym(RTLD_NEXT, name);
	return *at;
}

/* The function with the same name behind the wrapper. */
#define REAL(name)                                                             \
	({                                                                     \
		static void *found_;                                           \
		(__typeof__(name) *)real(&found_, #name);                      \
	})

/* ---- the report ---- */

static void say(int fd, const char *s)
{
	(void)!REAL(write)(fd, s, strlen(s));
}

static void tell(const char *call, const char *of)
{
	static int n;
	void *frame[FRAMES];
	char path[128];
	int fd, depth;

	snprintf(path, sizeof(path), REPORTS "/report.%d.%d", (int)loop_tid,
		 n++);
	fd = REAL(open)(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd < 0)
		fd = STDERR_FILENO;
	say(fd, "loop_guard: ");
	say(fd, call);
	say(fd, " on the loop: ");
	say(fd, of);
	say(fd, "\n");
	depth = backtrace(frame, FRAMES);
	backtrace_symbols_fd(frame, depth, fd);
	if (fd != STDERR_FILENO)
		REAL(close)(fd);
}

/*
 * Report CALL with the argument OF. A child before exec shares all memory but not the
 * thread.
 */
static void offend(const char *call, const char *of)
{
	static bool goes_on;

	if (gettid() != loop_tid)
		return;
	allowed++;
	tell(call, of);
	goes_on = goes_on || REAL(access)(GOES_ON, F_OK) == 0;
	if (!goes_on)
		abort();
	allowed--;
}

static bool watched(void)
{
	return is_loop && allowed == 0;
}

/* Does PATH belong to the kernel or to memory, with no disk behind? */
static bool is_memory(const char *path)
{
	static const char *const all[] = {"/proc/", "/sys/fs/cgroup/",
					  "/dev/null", "/memfd:"};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (strncmp(path, all[i], strlen(all[i])) == 0)
			return true;
	return false;
}

/* The path of FD's file; "": the file is on no disk. */
static void file_of(int fd, char path[256])
{
	char link[64];
	struct stat st;
	struct statfs fs;
	ssize_t n;
	int err = errno;

	path[0] = '\0';
	allowed++;
	if (REAL(fstat)(fd, &st) == 0 &&
	    (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) &&
	    REAL(fstatfs)(fd, &fs) == 0 && fs.f_type != PROC_SUPER_MAGIC &&
	    fs.f_type != CGROUP_SUPER_MAGIC &&
	    fs.f_type != CGROUP2_SUPER_MAGIC) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		n = REAL(readlink)(link, path, 255);
		path[n > 0 ? n : 0] = '\0';
		if (is_memory(path))
			path[0] = '\0';
	}
	allowed--;
	errno = err;
}

/*
 * Check a call of FD. Descriptors 0 to 2 are the client's or the operator's, who waits
 * alone.
 */
static void with_fd(const char *call, int fd)
{
	char path[256];

	if (!watched() || fd <= STDERR_FILENO)
		return;
	file_of(fd, path);
	if (path[0] != '\0')
		offend(call, path);
}

static void with_path(const char *call, const char *path)
{
	if (watched() && !is_memory(path))
		offend(call, path);
}

/*
 * Check a call of PATH below AT: a folder in memory is recognized by the descriptor.
 */
static void with_at(const char *call, int at, const char *path)
{
	if (!watched())
		return;
	if (path[0] == '/' || at == AT_FDCWD)
		with_path(call, path);
	else
		with_fd(call, at);
}

/*
 * Check the close of the last descriptor of a deleted file, which frees the file's
 * blocks.
 */
static void with_last(const char *call, int fd)
{
	struct stat st;

	if (watched() && REAL(fstat)(fd, &st) == 0 && st.st_nlink == 0)
		with_fd(call, fd);
}

/* ---- turns ---- */

static int64_t cpu_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

static int64_t work_us(void)
{
	static volatile uint32_t memory[1 << 14];
	int64_t began = cpu_us();

	for (uint32_t i = 0, x = 1; i < 1u << 17; i++) {
		x = x * 1664525 + 1013904223;
		memory[x >> 18] += x;
	}
	return cpu_us() - began;
}

/*
 * The factor by which this machine is slower at the moment than a machine which takes
 * NOMINAL_US: on shared CPUs, the time of other processes counts as time of this
 * process.
 */
#define NOMINAL_US 400

static int64_t times_slower(void)
{
	int64_t us = work_us();

	return us <= NOMINAL_US ? 1 : (us + NOMINAL_US - 1) / NOMINAL_US;
}

static void arm(int64_t us)
{
	const struct itimerspec in = {
	    .it_value = {.tv_sec = us / 1000000,
			 .tv_nsec = us % 1000000 * 1000}};

	if (has_timer && !calls_alone)
		timer_settime(timer, 0, &in, NULL);
}

static void begin_turn(void)
{
	hashed = 0;
	told_turn = false;
	turn_us = cpu_us();
	arm(TURN_US);
}

/*
 * The turn has used all CPU time allowed, unless the machine is slower at the moment.
 */
static void on_alarm(int sig)
{
	int err = errno;
	int64_t used = cpu_us() - turn_us, most = TURN_US * times_slower();
	char of[64];

	(void)sig;
	if (!watched() || told_turn) {
		errno = err;
		return;
	}
	if (used < most) {
		arm(most - used);
	} else {
		told_turn = true;
		snprintf(of, sizeof(of), "%lld us in one turn, at most %lld",
			 (long long)used, (long long)most);
		offend("CPU", of);
	}
	errno = err;
}

static void make_timer(void)
{
	struct sigaction act = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	struct sigevent ev = {.sigev_notify = SIGEV_THREAD_ID,
			      .sigev_signo = ALARM};
	sigset_t set;

	ev._sigev_un._tid = loop_tid;
	sigaction(ALARM, &act, NULL);
	sigemptyset(&set);
	sigaddset(&set, ALARM);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	has_timer = timer_create(CLOCK_THREAD_CPUTIME_ID, &ev, &timer) == 0;
}

void loop_guard_begin(void)
{
	void *frame[1];
	bool probes;

	if (is_loop)
		return;
	(void)backtrace(frame, 1); /* the first call loads libgcc */
	loop_tid = gettid();
	calls_alone = REAL(access)(CALLS_ALONE, F_OK) == 0;
	if (!has_timer)
		make_timer();
	probes = REAL(access)(PROBE, F_OK) == 0;
	is_loop = true;
	begin_turn();
	if (probes)
		(void)access(PROBE, F_OK);
}

void loop_guard_end(void)
{
	is_loop = false;
	arm(0);
}

void loop_guard_allow(const char *why)
{
	(void)why;
	allowed++;
}

void loop_guard_forbid(void)
{
	if (--allowed == 0 && is_loop)
		begin_turn(); /* the time of the allowed part does not count */
}

int epoll_wait(int fd, struct epoll_event *ev, int n, int timeout)
{
	int got = REAL(epoll_wait)(fd, ev, n, timeout);

	if (is_loop)
		begin_turn();
	return got;
}

/* ---- calls with a path ---- */

#define OPENS(flags) (((flags)&O_CREAT) != 0 || ((flags)&O_TMPFILE) != 0)

int open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list ap;

	va_start(ap, flags);
	if (OPENS(flags))
		mode = va_arg(ap, mode_t);
	va_end(ap);
	with_path("open", path);
	return REAL(open)(path, flags, mode);
}

int openat(int at, const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list ap;

	va_start(ap, flags);
	if (OPENS(flags))
		mode = va_arg(ap, mode_t);
	va_end(ap);
	with_at("openat", at, path);
	return REAL(openat)(at, path, flags, mode);
}

/* nofollow_open() calls openat2(2) by number: see --wrap in the Makefile. */
int __real_nofollow_open(int at, const char *path, int flags);
int __wrap_nofollow_open(int at, const char *path, int flags);
int __wrap_nofollow_open(int at, const char *path, int flags)
{
	with_at("openat2", at, path);
	return __real_nofollow_open(at, path, flags);
}

int __real_nofollow_open_here(int at, const char *path, int flags);
int __wrap_nofollow_open_here(int at, const char *path, int flags);
int __wrap_nofollow_open_here(int at, const char *path, int flags)
{
	with_at("openat2", at, path);
	return __real_nofollow_open_here(at, path, flags);
}

#define PATH_CALL(type, name, params, path, ...)                               \
	type name params                                                       \
	{                                                                      \
		with_path(#name, path);                                        \
		return REAL(name)(__VA_ARGS__);                                \
	}
#define AT_CALL(type, name, params, at, path, ...)                             \
	type name params                                                       \
	{                                                                      \
		with_at(#name, at, path);                                      \
		return REAL(name)(__VA_ARGS__);                                \
	}
#define FD_CALL(type, name, params, fd, ...)                                   \
	type name params                                                       \
	{                                                                      \
		with_fd(#name, fd);                                            \
		return REAL(name)(__VA_ARGS__);                                \
	}

PATH_CALL(FILE *, fopen, (const char *p, const char *mode), p, p, mode)
PATH_CALL(DIR *, opendir, (const char *p), p, p)
PATH_CALL(int, mkostemp, (char *p, int flags), p, p, flags)
PATH_CALL(int, unlink, (const char *p), p, p)
PATH_CALL(int, rmdir, (const char *p), p, p)
PATH_CALL(int, mkdir, (const char *p, mode_t m), p, p, m)
PATH_CALL(int, rename, (const char *p, const char *to), p, p, to)
PATH_CALL(int, link, (const char *p, const char *to), p, p, to)
PATH_CALL(int, symlink, (const char *p, const char *to), to, p, to)
PATH_CALL(int, stat, (const char *p, struct stat *st), p, p, st)
PATH_CALL(int, lstat, (const char *p, struct stat *st), p, p, st)
PATH_CALL(int, access, (const char *p, int mode), p, p, mode)
PATH_CALL(int, statvfs, (const char *p, struct statvfs *fs), p, p, fs)
PATH_CALL(int, statfs, (const char *p, struct statfs *fs), p, p, fs)
PATH_CALL(int, truncate, (const char *p, off_t n), p, p, n)
PATH_CALL(int, chmod, (const char *p, mode_t m), p, p, m)
PATH_CALL(int, chown, (const char *p, uid_t u, gid_t g), p, p, u, g)
PATH_CALL(ssize_t, readlink, (const char *p, char *to, size_t n), p, p, to, n)
PATH_CALL(char *, realpath, (const char *p, char *to), p, p, to)

PATH_CALL(int, scandir,
	  (const char *p, struct dirent ***all,
	   int (*fits)(const struct dirent *),
	   int (*order)(const struct dirent **, const struct dirent **)),
	  p, p, all, fits, order)
PATH_CALL(int, glob,
	  (const char *p, int flags, int (*fails)(const char *, int),
	   glob_t *all),
	  p, p, flags, fails, all)

/*
 * Functions called by code with the checks of _FORTIFY_SOURCE, unlike code of paddock.
 */
char *__realpath_chk(const char *p, char *to, size_t size);
PATH_CALL(char *, __realpath_chk, (const char *p, char *to, size_t size), p, p,
	  to, size)

AT_CALL(int, unlinkat, (int at, const char *p, int flags), at, p, at, p, flags)
AT_CALL(int, mkdirat, (int at, const char *p, mode_t m), at, p, at, p, m)
AT_CALL(int, fstatat, (int at, const char *p, struct stat *st, int flags), at,
	p, at, p, st, flags)
AT_CALL(int, statx,
	(int at, const char *p, int flags, unsigned mask, struct statx *st), at,
	p, at, p, flags, mask, st)
AT_CALL(int, faccessat, (int at, const char *p, int mode, int flags), at, p, at,
	p, mode, flags)
AT_CALL(int, renameat, (int at, const char *p, int to, const char *name), at, p,
	at, p, to, name)
AT_CALL(int, renameat2,
	(int at, const char *p, int to, const char *name, unsigned flags), at,
	p, at, p, to, name, flags)
AT_CALL(int, linkat,
	(int at, const char *p, int to, const char *name, int flags), at, p, at,
	p, to, name, flags)
AT_CALL(int, utimensat,
	(int at, const char *p, const struct timespec t[2], int flags), at, p,
	at, p, t, flags)
AT_CALL(ssize_t, readlinkat, (int at, const char *p, char *to, size_t n), at, p,
	at, p, to, n)

/* ---- calls with a descriptor: of files alone ---- */

FD_CALL(ssize_t, read, (int fd, void *to, size_t n), fd, fd, to, n)
FD_CALL(ssize_t, write, (int fd, const void *p, size_t n), fd, fd, p, n)
FD_CALL(ssize_t, pread, (int fd, void *to, size_t n, off_t at), fd, fd, to, n,
	at)
FD_CALL(ssize_t, pwrite, (int fd, const void *p, size_t n, off_t at), fd, fd, p,
	n, at)
FD_CALL(int, fsync, (int fd), fd, fd)
FD_CALL(int, fdatasync, (int fd), fd, fd)
FD_CALL(int, ftruncate, (int fd, off_t n), fd, fd, n)
FD_CALL(int, fallocate, (int fd, int mode, off_t at, off_t n), fd, fd, mode, at,
	n)
FD_CALL(int, sync_file_range, (int fd, off_t at, off_t n, unsigned flags), fd,
	fd, at, n, flags)
FD_CALL(int, fstatvfs, (int fd, struct statvfs *fs), fd, fd, fs)
FD_CALL(DIR *, fdopendir, (int fd), fd, fd)
FD_CALL(ssize_t, sendfile, (int to, int fd, off_t *at, size_t n), fd, to, fd,
	at, n)

FD_CALL(ssize_t, readv, (int fd, const struct iovec *v, int n), fd, fd, v, n)
FD_CALL(ssize_t, writev, (int fd, const struct iovec *v, int n), fd, fd, v, n)
FD_CALL(ssize_t, preadv, (int fd, const struct iovec *v, int n, off_t at), fd,
	fd, v, n, at)
FD_CALL(ssize_t, pwritev, (int fd, const struct iovec *v, int n, off_t at), fd,
	fd, v, n, at)
FD_CALL(size_t, fread, (void *to, size_t size, size_t n, FILE *f), fileno(f),
	to, size, n, f)
FD_CALL(char *, fgets, (char *to, int n, FILE *f), fileno(f), to, n, f)
FD_CALL(ssize_t, getline, (char **to, size_t *n, FILE *f), fileno(f), to, n, f)
FD_CALL(ssize_t, getdelim, (char **to, size_t *n, int end, FILE *f), fileno(f),
	to, n, end, f)

int close(int fd)
{
	with_last("close", fd);
	return REAL(close)(fd);
}

void *mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset)
{
	if (fd >= 0)
		with_fd("mmap", fd);
	return REAL(mmap)(at, n, prot, flags, fd, offset);
}

struct dirent *readdir(DIR *d)
{
	with_fd("readdir", dirfd(d));
	return REAL(readdir)(d);
}

/* ---- waiting ---- */

/*
 * Is CALLER libevent, waiting in the event loop by another call than epoll_wait()?
 */
static bool is_libevent(const void *caller)
{
	static const void *is, *is_not;
	Dl_info in;

	if (caller == is || caller == is_not)
		return caller == is;
	if (dladdr(caller, &in) == 0 ||
	    strstr(in.dli_fname, "libevent") == NULL)
		is_not = caller;
	else
		is = caller;
	return caller == is;
}

int poll(struct pollfd *fds, nfds_t n, int timeout)
{
	int got;

	if (is_loop && is_libevent(__builtin_return_address(0))) {
		got = REAL(poll)(fds, n, timeout);
		begin_turn();
		return got;
	}
	if (timeout != 0 && watched())
		offend("poll", "it waits");
	return REAL(poll)(fds, n, timeout);
}

int usleep(useconds_t us)
{
	if (watched())
		offend("usleep", "it waits");
	return REAL(usleep)(us);
}

int nanosleep(const struct timespec *t, struct timespec *left)
{
	if (watched())
		offend("nanosleep", "it waits");
	return REAL(nanosleep)(t, left);
}

pid_t waitpid(pid_t pid, int *status, int flags)
{
	if ((flags & WNOHANG) == 0 && watched())
		offend("waitpid", "it waits");
	return REAL(waitpid)(pid, status, flags);
}

/* Waiting for a lock of another process. */
int flock(int fd, int how)
{
	if ((how & LOCK_NB) == 0 && watched())
		offend("flock", "it waits");
	return REAL(flock)(fd, how);
}

int fcntl(int fd, int cmd, ...)
{
	void *arg;
	va_list ap;

	va_start(ap, cmd);
	arg = va_arg(ap, void *);
	va_end(ap);
	if ((cmd == F_SETLKW || cmd == F_OFD_SETLKW) && watched())
		offend("fcntl", "it waits");
	return REAL(fcntl)(fd, cmd, arg);
}

int pthread_join(pthread_t id, void **value)
{
	if (watched())
		offend("pthread_join", "it waits");
	return REAL(pthread_join)(id, value);
}

/*
 * By --wrap in the Makefile, since the linker alone knows the version of the symbol.
 */
int __real_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m);
int __wrap_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m);
int __wrap_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
	if (watched())
		offend("pthread_cond_wait", "it waits");
	return __real_pthread_cond_wait(c, m);
}

int __real_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
				  const struct timespec *until);
int __wrap_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
				  const struct timespec *until);
int __wrap_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
				  const struct timespec *until)
{
	if (watched())
		offend("pthread_cond_timedwait", "it waits");
	return __real_pthread_cond_timedwait(c, m, until);
}

/* A look-up of a name may read a file or ask another machine. */
#define NAME_CALL(type, name, params, ...)                                     \
	type name params                                                       \
	{                                                                      \
		if (watched())                                                 \
			offend(#name, "it looks names up");                    \
		return REAL(name)(__VA_ARGS__);                                \
	}

NAME_CALL(struct passwd *, getpwuid, (uid_t uid), uid)
NAME_CALL(struct passwd *, getpwnam, (const char *name), name)
NAME_CALL(struct group *, getgrgid, (gid_t gid), gid)
NAME_CALL(struct group *, getgrnam, (const char *name), name)
NAME_CALL(int, getgrouplist, (const char *name, gid_t gid, gid_t *all, int *n),
	  name, gid, all, n)

int getaddrinfo(const char *host, const char *port, const struct addrinfo *how,
		struct addrinfo **all)
{
	if (watched() && (how == NULL || (how->ai_flags & AI_NUMERICHOST) == 0))
		offend("getaddrinfo", "it waits");
	return REAL(getaddrinfo)(host, port, how, all);
}

/* An idle peer blocks a reader or writer without MSG_DONTWAIT. */
static void with_peer(const char *call, int fd, int flags)
{
	if (watched() && (flags & MSG_DONTWAIT) == 0 &&
	    (fcntl(fd, F_GETFL) & O_NONBLOCK) == 0)
		offend(call, "its socket blocks");
}

ssize_t recv(int fd, void *to, size_t n, int flags)
{
	with_peer("recv", fd, flags);
	return REAL(recv)(fd, to, n, flags);
}

ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
	with_peer("recvmsg", fd, flags);
	return REAL(recvmsg)(fd, m, flags);
}

ssize_t send(int fd, const void *p, size_t n, int flags)
{
	with_peer("send", fd, flags);
	return REAL(send)(fd, p, n, flags);
}

ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
	with_peer("sendmsg", fd, flags);
	return REAL(sendmsg)(fd, m, flags);
}

int connect(int fd, const struct sockaddr *to, socklen_t len)
{
	with_peer("connect", fd, 0);
	return REAL(connect)(fd, to, len);
}

/* ---- hashes ---- */

void nettle_sha256_update(struct sha256_ctx *ctx, size_t n, const uint8_t *p)
{
	char of[64];

	if (watched() && (hashed += n) > HASH_BYTES) {
		snprintf(of, sizeof(of), "%zu bytes in one turn", hashed);
		hashed = 0;
		offend("sha256_update", of);
	}
	REAL(nettle_sha256_update)(ctx, n, p);
}
