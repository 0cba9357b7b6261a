/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ns.c - namespaces. The zygotes enter namespaces, and so does a program's
 * worker where runs share a uid. When the kernel refuses a namespace, the error
 * stands in err[] and the other namespaces are entered all the same; a caller
 * that needs all namespaces must check err[].
 */
#include "sandbox/ns.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os/fdpass.h"
#include "base/os/sys.h"
#include "sandbox/uids.h"
#include "sandbox/rlimits.h"

#define MAP_MAX 64 /* bytes in one line of a uid_map */

static const struct {
	enum sandbox_layer layer;
	int flag;
	const char *link;
} kinds[] = {
    {SANDBOX_NETNS, CLONE_NEWNET, "/proc/self/ns/net"},
    {SANDBOX_IPCNS, CLONE_NEWIPC, "/proc/self/ns/ipc"},
    {SANDBOX_UTSNS, CLONE_NEWUTS, "/proc/self/ns/uts"},
    {SANDBOX_MNTNS, CLONE_NEWNS, "/proc/self/ns/mnt"},
};

/* The inode of the namespace at LINK; 0: unknown. */
static ino_t ns_inode(const char *link)
{
	struct stat st;

	return stat(link, &st) == 0 ? st.st_ino : 0;
}

/* Call ENTER (unshare or setns), and check that the namespace at LINK changed. */
static int ns_change(int (*enter)(int, int), int arg, int flag,
		     const char *link)
{
	ino_t before = ns_inode(link);

	if (before == 0)
		return -ENOENT;
	if (enter(arg, flag) != 0)
		return -errno;
	return ns_inode(link) != before ? 0 : -ENOTRECOVERABLE;
}

static int unshare_one(int unused, int flag)
{
	(void)unused;
	return unshare(flag);
}

/* PROC: a descriptor of /proc, or AT_FDCWD. WHO: the folder of a process in /proc. */
static int write_file(int proc, const char *who, const char *name,
		      const char *text)
{
	char path[MAP_MAX];
	int fd, rc = 0;

	snprintf(path, sizeof(path), "%s/%s", who, name);
	fd = openat(proc, path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		rc = -errno;
	close(fd);
	return rc;
}

/* Map an id for each slot and one more for the zygote; no id inside is 0. */
static int map_range(struct sandbox *sb, const char *who)
{
	char map[MAP_MAX];
	int rc;

	if (sb->host_ids == 0)
		return -ENOENT;
	snprintf(map, sizeof(map), "%u %u %u\n", UIDS_FIRST_INSIDE,
		 sb->host_ids, sb->slots + 1);
	rc = write_file(AT_FDCWD, who, "gid_map", map);
	if (rc == 0)
		rc = write_file(AT_FDCWD, who, "uid_map", map);
	if (rc != 0)
		return rc;
	sb->uid_base = (int)sb->host_ids;
	sb->own_ids = true;
	sb->first_id = UIDS_FIRST_INSIDE;
	return 0;
}

/* An ordinary user may map the user's own id, after giving up setgroups(2). */
static int map_self(int proc, const char *who, uid_t uid, gid_t gid)
{
	char map[MAP_MAX];
	int rc = write_file(proc, who, "setgroups", "deny");

	if (rc != 0 && rc != -ENOENT)
		return rc;
	snprintf(map, sizeof(map), "%u %u 1\n", gid, gid);
	rc = write_file(proc, who, "gid_map", map);
	if (rc != 0)
		return rc;
	snprintf(map, sizeof(map), "%u %u 1\n", uid, uid);
	return write_file(proc, who, "uid_map", map);
}

/* In a child process: hold a new user namespace until the parent has joined. */
_Noreturn static void hold_userns(int out, int in)
{
	int err = 0;
	char c;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* the creator's limits hold in the namespace */
	err = -rlimits_userns();
	if (err == 0 && unshare(CLONE_NEWUSER) != 0)
		err = errno;
	if (write(out, &err, sizeof(err)) == sizeof(err) && err == 0)
		(void)!read(in, &c, 1);
	_exit(0);
}

/*
 * A map of several ids can only be written from outside, and a namespace whose map was
 * refused must not be entered, since no way leads back. So a child creates the namespace,
 * the parent writes the map, and joins the namespace when all went well.
 */
static int join_userns(struct sandbox *sb, pid_t holder)
{
	char who[MAP_MAX / 2], path[MAP_MAX];
	int fd, rc;

	snprintf(who, sizeof(who), "/proc/%d", (int)holder);
	rc = map_range(sb, who);
	if (rc != 0)
		rc = map_self(AT_FDCWD, who, geteuid(), getegid());
	if (rc != 0)
		return rc;
	/*
	 * any process in the namespace may write projid_map once, and all runs
	 * read the map
	 */
	rc = write_file(AT_FDCWD, who, "projid_map", "0 0 1\n");
	if (rc != 0)
		return rc;
	snprintf(path, sizeof(path), "%s/ns/user", who);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	rc = ns_change(setns, fd, CLONE_NEWUSER, "/proc/self/ns/user");
	close(fd);
	return rc;
}

static int enter_userns(struct sandbox *sb)
{
	int up[2] = {-1, -1}, down[2] = {-1, -1};
	int err = 0, rc;
	pid_t pid;

	if (pipe2(up, O_CLOEXEC) != 0)
		return -errno;
	if (pipe2(down, O_CLOEXEC) != 0) {
		rc = -errno;
		goto out;
	}
	pid = fork();
	if (pid < 0) {
		rc = -errno;
		goto out;
	}
	if (pid == 0) {
		close(down[1]);
		hold_userns(up[1], down[0]);
	}
	sys_drop(&up[1]);
	if (read(up[0], &err, sizeof(err)) != sizeof(err))
		err = EPIPE;
	rc = err != 0 ? -err : join_userns(sb, pid);
	sys_drop(&down[1]);
	waitpid(pid, NULL, 0);
out:
	for (size_t i = 0; i < ARRAY_LEN(up); i++) {
		sys_close(up[i]);
		sys_close(down[i]);
	}
	return rc;
}

void ns_enter(struct sandbox *sb)
{
	int rc = enter_userns(sb);

	sb->err[SANDBOX_USERNS] = rc;
	sb->err[SANDBOX_UID] = -EPERM;
	if (rc != 0) { /* the id map is gone with the namespace */
		sb->own_ids = false;
		sb->uid_base = -1;
	} else if (sb->own_ids) {
		sb->err[SANDBOX_UID] = uids_zygote_mapped(sb);
	}
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		if (kinds[i].layer == SANDBOX_NETNS && sb->host_network)
			continue;
		sb->err[kinds[i].layer] =
		    ns_change(unshare_one, 0, kinds[i].flag, kinds[i].link);
	}
	if (sb->err[SANDBOX_UTSNS] != 0)
		return; /* sethostname(2) would rename the host */
	if (sethostname(SANDBOX_UTS_NAME, strlen(SANDBOX_UTS_NAME)) != 0 ||
	    setdomainname("", 0) != 0)
		sb->err[SANDBOX_UTSNS] = -errno;
}

int ns_enter_own(int proc)
{
	/* inside the namespace the uid is nobody's until the map is written */
	uid_t uid = geteuid();
	gid_t gid = getegid();
	int rc;

	/* files in /proc of an undumpable process belong to root */
	if (prctl(PR_SET_DUMPABLE, 1) != 0)
		return -errno;
	rc = unshare(CLONE_NEWUSER) == 0 ? 0 : -errno;
	if (rc == 0)
		rc = map_self(proc, "self", uid, gid);
	if (prctl(PR_SET_DUMPABLE, 0) != 0 && rc == 0)
		rc = -errno;
	return rc;
}

int ns_loopback(void)
{
	struct ifreq up = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int rc = fd < 0 || ioctl(fd, SIOCSIFFLAGS, &up) != 0 ? -errno : 0;

	sys_close(fd);
	return rc;
}

void ns_hold_mounts(int proc, int sock)
{
	int fd = openat(proc, "self/ns/mnt", O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		(void)fdpass_send(sock, "", 1, fd, MSG_DONTWAIT);
	sys_close(fd);
	close(sock);
}
