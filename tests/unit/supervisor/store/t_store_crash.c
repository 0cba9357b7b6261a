/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows which survive the death of a supervisor, and the one instance which takes the
 * rows over.
 */
#include "supervisor/store/store.h"

#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "supervisor/store/state/artifact_file.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#define KILLS 12
#define IN_FLIGHT 24

static size_t in_flight; /* deferred writes of this child in progress */

struct receipt { /* a write reported as durable to the child */
	char id[ID_SIZE];
	enum store_status status;
};

struct victim {
	int out;
	struct receipt r;
};

static void on_receipt(void *arg, const struct store_result *res)
{
	struct victim *v = arg;

	in_flight--;
	if (res->rc == 0)
		(void)!write(v->out, &v->r, sizeof(v->r));
	free(v);
}

static void promise(struct store *s, const struct store_run *run, int out)
{
	struct victim *v = xcalloc(1, sizeof(*v));

	in_flight++;
	v->out = out;
	memcpy(v->r.id, run->id, ID_SIZE);
	v->r.status = run->status;
	store_put_run(s, run, STORE_RETRY, on_receipt, v);
}

/* Begin and end runs, with artifacts, until killed. */
static void write_for_ever(const char *dir, const char *instance, int out)
{
	struct store *s = store_start(dir, instance);

	for (size_t n = 0;; n++) {
		struct pollfd p = {.fd = store_fd(s), .events = POLLIN};
		struct store_run run = help_run("alice", STORE_RUNNING);
		struct store_artifact art = help_artifact(&run, 4);

		store_put_run(s, &run, STORE_DEFERRED, NULL, NULL);
		if (n % 3 == 0) {
			struct artifact_file *b =
			    artifact_file_new(dir, instance);
			char hex[65], *tmp;

			artifact_file_write(b, "data", 4);
			tmp = artifact_file_finish(b, hex);
			store_put_artifact(s, &art, tmp, STORE_DEFERRED, NULL,
					   NULL);
			free(tmp);
		}
		run.status = STORE_SUCCEEDED;
		run.expires_ms = INT64_MAX;
		run.view = "{}";
		if (n % 5 != 0)
			promise(s, &run, out);
		while (in_flight >= IN_FLIGHT) {
			poll(&p, 1, -1);
			store_dispatch(s);
		}
	}
}

/*
 * Write ends alone, few at a time, so the ends are staged; now and then read one.
 */
static void end_for_ever(const char *dir, const char *instance, int out)
{
	struct store *s = store_start(dir, instance);
	struct answer a = {0};

	for (size_t n = 0;; n++) {
		struct pollfd p = {.fd = store_fd(s), .events = POLLIN};
		struct store_run run = help_run("alice", STORE_SUCCEEDED);

		run.expires_ms = INT64_MAX;
		run.view = "{}";
		promise(s, &run, out);
		while (in_flight >= 1 + n % 4) {
			poll(&p, 1, -1);
			store_dispatch(s);
		}
		if (n % 7 == 0)
			help_get(s, &a, "alice", run.id);
	}
}

/*
 * Read N receipts, kill the writer, and read the receipts written before the kill.
 */
static size_t kill_after(pid_t pid, int in, size_t n, struct receipt *got,
			 size_t max)
{
	size_t have = 0;

	while (have < max && read(in, &got[have], sizeof(*got)) > 0) {
		have++;
		if (have == n)
			kill(pid, SIGKILL);
	}
	if (have < n)
		kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return have;
}

/* Every file below artifacts/ but the folders. */
static long count_files(const char *dir)
{
	char *cmd = xasprintf("find '%s/artifacts' -type f | wc -l", dir);
	FILE *p = popen(cmd, "re");
	long n = -1;
	char line[32];

	if (p != NULL && fgets(line, sizeof(line), p) != NULL)
		n = strtol(line, NULL, 10);
	if (p != NULL)
		pclose(p);
	free(cmd);
	return n;
}

/*
 * Make all files look old: with several writers, the row of a fresh file may be on its
 * way.
 */
static void age_all(const char *dir)
{
	char *cmd = xasprintf("find '%s/artifacts' -type f"
			      " -exec touch -d '2 hours ago' {} +",
			      dir);

	if (system(cmd) != 0)
		exit(1);
	free(cmd);
}

static size_t lost_of(struct store *s, const struct receipt *got, size_t n)
{
	struct answer a = {0};
	size_t lost = 0;

	for (size_t i = 0; i < n; i++)
		if (help_get(s, &a, "alice", got[i].id) != 0 ||
		    a.status[0] != got[i].status)
			lost++;
	help_clear(&a);
	return lost;
}

static int64_t count(struct store *s, int status)
{
	struct answer a = {0};

	help_list(s, &a,
		  &(struct store_filter){
		      .requestor = "alice", .status = status, .limit = 1});
	return a.total;
}

static void test_kill(const char *dir)
{
	enum { MAX = 100000 };
	struct receipt *got = xcalloc(MAX, sizeof(*got));
	size_t n = 0, lost = 0, interrupted = 0;
	struct answer a = {0};
	struct store *s;

	for (int i = 0; i < KILLS; i++) {
		char *instance = xasprintf("inst_%d", i);
		int fds[2];
		pid_t pid;

		if (pipe2(fds, O_CLOEXEC) != 0 || (pid = fork()) < 0)
			exit(1);
		if (pid == 0)
			(i % 2 == 0 ? write_for_ever
				    : end_for_ever)(dir, instance, fds[1]);
		close(fds[1]);
		/* at a receipt, and some way on: the writer does not wait */
		n += kill_after(pid, fds[0], 1 + (size_t)i * 17, got + n,
				MAX - n);
		close(fds[0]);
		free(instance);
	}
	age_all(dir);
	s = store_start(dir, "inst_survivor");
	lost = lost_of(s, got, n);
	is_int(lost, 0, "%d writers killed: not one receipt is broken", KILLS);
	ok(n >= KILLS, "of enough receipts to mean something");
	store_recover(s, help_done, &a);
	help_wait(s, &a);
	is_int(a.rc, 0, "a survivor recovers");
	interrupted = a.interrupted;
	is_int(count(s, STORE_RUNNING), 0,
	       "no run is running after the recovery");
	is_int(count(s, STORE_FAILED), interrupted,
	       "the running runs have failed");
	is_int(lost_of(s, got, n), 0, "the ended runs are unchanged");
	help_clear(&a);
	store_usage(s, "alice", help_done, &a);
	help_wait(s, &a);
	is_int(a.artifact_bytes / 4, count_files(dir),
	       "each artifact's file has its row, and there are no others");
	help_clear(&a);
	store_recover(s, help_done, &a);
	help_wait(s, &a);
	is_int(a.interrupted + a.n, 0, "a second recovery finds nothing");
	store_stop(s, 10000);
	help_clear(&a);
	free(got);
}

/* The rows and files of a dead supervisor, made by a killed child. */
struct dead {
	struct store_run queued[3];
	struct store_run running;
	struct store_run ended;
	struct store_artifact art;
};

static void leave_behind(const char *dir, const struct dead *d, int out)
{
	struct store *s = store_start(dir, "inst_dead");
	struct answer a = {0};
	char *tmp;

	for (size_t i = 3; i-- > 0;)
		store_put_run(s, &d->queued[i], STORE_DEFERRED, NULL, NULL);
	store_put_run(s, &d->ended, STORE_DEFERRED, NULL, NULL);
	free(help_file(dir, "blob", "data"));
	tmp = xasprintf("%s/blob", dir);
	store_put_artifact(s, &d->art, tmp, STORE_DEFERRED, NULL, NULL);
	artifact_file_new(dir, "inst_dead");
	store_put_run(s, &d->running, STORE_SYNC, help_done, &a);
	help_wait(s, &a);
	(void)!write(out, "x", 1);
	for (;;)
		pause();
}

static struct dead make_dead(void)
{
	struct dead d = {.running = help_run("alice", STORE_RUNNING),
			 .ended = help_run("alice", STORE_SUCCEEDED)};

	for (size_t i = 0; i < 3; i++) {
		d.queued[i] = help_run("alice", STORE_QUEUED);
		snprintf(d.queued[i].id, ID_SIZE, "run_%026zu", i);
	}
	d.running.view = NULL;
	d.ended.view = "{}";
	d.art = help_artifact(&d.running, 4);
	return d;
}

/* Start the child, which lives until the caller kills the child. */
static pid_t start_dead(const char *dir, const struct dead *d)
{
	int fds[2];
	char c;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) != 0 || (pid = fork()) < 0)
		exit(1);
	if (pid == 0)
		leave_behind(dir, d, fds[1]);
	close(fds[1]);
	(void)!read(fds[0], &c, 1);
	close(fds[0]);
	return pid;
}

static void check_claim(const struct answer *a, const struct dead *d)
{
	is_int(a->rc, 0, "the recovery after a death succeeds");
	is_int(a->interrupted, 1, "one run was interrupted");
	is_int(a->n, 3, "queued runs are claimed");
	ok(strcmp(a->ids[0], d->queued[0].id) == 0 &&
	       strcmp(a->ids[2], d->queued[2].id) == 0,
	   "queued runs are claimed oldest first");
	is_str(a->inputs, d->queued[2].inputs, "a claimed run has the inputs");
}

static void check_interrupted(struct store *s, const struct dead *d,
			      int64_t before)
{
	const int64_t day = 24LL * 3600 * 1000;
	int64_t now = clock_wall_ms();
	struct answer a = {0};

	help_get(s, &a, "alice", d->running.id);
	is_int(a.status[0], STORE_FAILED, "the interrupted run has failed");
	ok(a.view == NULL && a.inputs == NULL,
	   "an interrupted run has neither view nor inputs");
	ok(a.updated_ms >= before && a.updated_ms <= now &&
	       a.finished_ms == a.updated_ms,
	   "an interrupted run ended at the recovery");
	is_int(a.expires_ms, a.finished_ms + day,
	       "an interrupted run is kept for a day");
	help_read(s, &a, "alice", d->art.id, 0, 9);
	is_int(a.rc, 0, "the artifact of an interrupted run can be read");
	ok(a.artifact_expires_ms >= before + day,
	   "the artifact of an interrupted run is kept for a day");
	help_get(s, &a, "alice", d->ended.id);
	is_int(a.status[0], STORE_SUCCEEDED, "an ended run is unchanged");
	help_clear(&a);
}

/*
 * Make PATH look old, and free PATH: with several writers, a fresh file's row may be on
 * its way.
 */
static void age(char *path)
{
	const struct timespec then = {.tv_sec = time(NULL) - 2 * 3600};
	const struct timespec both[2] = {then, then};

	if (utimensat(AT_FDCWD, path, both, 0) != 0)
		exit(1);
	free(path);
}

static void test_recover(const char *dir)
{
	struct dead d = make_dead();
	pid_t pid = start_dead(dir, &d);
	struct store *s = store_start(dir, "inst_b");
	int64_t before = clock_wall_ms();
	struct answer a = {0};
	char *path;

	store_recover(s, help_done, &a);
	help_wait(s, &a);
	is_int(a.interrupted + a.n, 0,
	       "the runs of a living instance are not taken over");
	ok(help_exists(dir, "instances/inst_dead"),
	   "the file of a living instance stays");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	/* a named file without a row; an empty folder */
	path = xasprintf("%s/artifacts/%s", dir, d.running.id);
	age(help_file(path, "art_stray", "x"));
	free(path);
	path = xasprintf("%s/artifacts/run_empty", dir);
	mkdir(path, 0700);

	help_clear(&a);
	store_recover(s, help_done, &a);
	help_wait(s, &a);
	help_claim(s, &a);
	check_claim(&a, &d);
	check_interrupted(s, &d, before);
	ok(!help_exists(dir, "instances/inst_dead"),
	   "the file of a dead instance is removed");
	ok(!help_exists(dir, "artifacts/run_empty"),
	   "an empty folder is removed");
	is_int(count_files(dir), 1,
	       "files without rows and temporary files are removed");
	store_stop(s, 10000);

	/* inst_b has stopped in order, with three queued runs */
	s = store_start(dir, "inst_c");
	help_clear(&a);
	store_recover(s, help_done, &a);
	help_wait(s, &a);
	help_claim(s, &a);
	is_int(a.n, 3,
	       "queued runs of a stopped instance go to the next instance");
	store_stop(s, 10000);
	help_clear(&a);
	free(path);
}

/* Two survivors of one death recover at once: each run goes to one survivor. */
static void test_race(const char *dir)
{
	int twice = 0, none = 0;

	for (int i = 0; i < KILLS; i++) {
		struct dead d = make_dead();
		struct answer a[2] = {{0}, {0}};
		struct store *s[2];
		pid_t pid;

		for (size_t k = 0; k < 3; k++)
			id_new(d.queued[k].id, "run");
		pid = start_dead(dir, &d);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		s[0] = store_start(dir, "inst_x");
		s[1] = store_start(dir, "inst_y");
		store_recover(s[i % 2], help_done, &a[i % 2]);
		store_recover(s[1 - i % 2], help_done, &a[1 - i % 2]);
		help_wait(s[0], &a[0]);
		help_wait(s[1], &a[1]);
		help_claim(s[0], &a[0]);
		help_claim(s[1], &a[1]);
		twice += a[0].interrupted + a[1].interrupted > 1;
		none += a[0].interrupted + a[1].interrupted < 1;
		/* end the queued runs, since the next round would claim the runs */
		for (size_t k = 0; k < 3; k++) {
			d.queued[k].status = STORE_CANCELED;
			help_put(s[0], &d.queued[k], STORE_DEFERRED);
		}
		twice += a[0].n + a[1].n > 3;
		none += a[0].n + a[1].n < 3;
		store_stop(s[0], 10000);
		store_stop(s[1], 10000);
		help_clear(&a[0]);
		help_clear(&a[1]);
	}
	is_int(twice, 0, "of two survivors, never both claim a run");
	is_int(none, 0, "one of two survivors claims the run");
}

static void test_same_instance(const char *dir)
{
	char *path = xasprintf("%s/instances", dir), *file;
	struct store *s = store_start(dir, "inst_twin");
	struct answer a = {0};
	int fd;

	mkdir(path, 0700);
	file = help_file(path, "inst_twin", "");
	fd = open(file, O_RDWR | O_CLOEXEC);
	flock(fd, LOCK_EX);
	store_get_run(s, "alice", "run_x", help_done, &a);
	store_stop(s, 0);
	ok(a.rc == -EBUSY || a.rc == -ECANCELED,
	   "an instance that another holds is refused, and does not hang");
	close(fd);
	unlink(file);
	free(file);
	free(path);
}

/* Running runs which are to be tried again are left with the options. */
static void test_resumed(const char *dir)
{
	struct store *s = store_start(dir, "inst_old");
	struct store_run again[3];
	struct answer a = {0};

	for (size_t i = 0; i < ARRAY_LEN(again); i++) {
		again[i] = help_run("alice", STORE_RUNNING);
		again[i].options = "{\"again\":1}";
		again[i].cancelling = i == 1;
		help_put(s, &again[i], STORE_SYNC);
	}
	store_stop(s, 10000);
	s = store_start(dir, "inst_other");
	store_send_mail(s, "alice", again[2].id, STORE_MAIL_CANCEL, INT64_MAX,
			NULL, NULL);
	store_recover_begun(s, help_done, &a);
	help_wait(s, &a);
	is_int(a.n, 0,
	       "a recovery of begun runs claims no run to be tried again");
	is_int(a.interrupted, 2,
	       "a recovery of begun runs cancels the cancelled runs");
	help_clear(&a);
	store_recover(s, help_done, &a);
	help_wait(s, &a);
	help_claim(s, &a);
	is_int(a.n, 1, "a run that is to be tried again comes back");
	is_str(a.ids[0], again[0].id, "a claimed run has the id");
	is_int(a.status[0], STORE_QUEUED, "a claimed run is queued");
	is_str(a.inputs, again[0].inputs,
	       "a run claimed for another try has the inputs");
	for (size_t i = 1; i < ARRAY_LEN(again); i++) {
		help_get(s, &a, "alice", again[i].id);
		is_int(a.status[0], STORE_CANCELED,
		       "a cancelled run is canceled after the recovery");
	}
	store_stop(s, 10000);
	help_clear(&a);
}

int main(void)
{
	char *dir = help_dir(), *sub;
	static void (*const tests[])(const char *) = {test_kill, test_recover,
						      test_race, test_resumed,
						      test_same_instance};

	for (size_t i = 0; i < ARRAY_LEN(tests); i++) {
		sub = xasprintf("%s/%zu", dir, i);
		mkdir(sub, 0700);
		tests[i](sub);
		free(sub);
	}
	help_remove(dir);
	return tap_done();
}
