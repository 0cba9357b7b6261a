/* SPDX-License-Identifier: Apache-2.0 */
/* lua_job_fixture.c - see lua_job_fixture.h. */
#include "tests/unit/worker/lua/lua_job_fixture.h"

/* ---- to the worker ---- */

static void send_msg(const struct heard *h, const struct msg *m)
{
	static char frame[CHAN_FRAME_MAX];
	size_t n = msg_put(frame, m);
	struct pollfd p = {.fd = h->fd, .events = POLLOUT};

	/* A worker which ended early receives nothing: the line shows the end. */
	while (chan_send(h->fd, frame, n) == -EAGAIN)
		if (poll(&p, 1, PATIENCE_MS) == 0)
			return;
}

/* Send the rest of a body from AT on, in pieces of at most PIECE bytes. */
static void send_rest(const struct heard *h, const char *body, size_t at,
		      size_t len, size_t piece)
{
	while (at < len) {
		struct msg m = {.type = MSG_CHUNK};

		m.chunk.data.p = body + at;
		m.chunk.data.n = len - at < piece ? len - at : piece;
		send_msg(h, &m);
		at += m.chunk.data.n;
	}
}

void answer_in(const struct heard *h, uint32_t seq, bool ok_, const char *text,
	       size_t len, size_t piece)
{
	size_t at = len < piece ? len : piece;
	struct msg m = {.type = MSG_ANSWER,
			.answer = {seq, ok_, len, {text, at}}};

	send_msg(h, &m);
	send_rest(h, text, at, len, piece);
}

void answer(const struct heard *h, uint32_t seq, bool ok_, const char *text)
{
	answer_in(h, seq, ok_, text, strlen(text), MSG_CHUNK_MAX);
}

static void send_run(const struct heard *h)
{
	const char *inputs = h->t.inputs != NULL ? h->t.inputs : "{}";
	struct msg m = {.type = MSG_RUN};
	struct buf body = {0};
	size_t n, at;

	buf_add_str(&body, h->t.code);
	buf_add_str(&body, inputs);
	n = buf_len(&body);
	at = n < 32 ? n : 32; /* so that every body takes a chunk */
	m.run = (struct msg_run){
	    .run_id = {"run_x", 5},
	    .template_id = {"tpl", 3},
	    .entry = {"main.lua", 8},
	    .timeout_ms = 60000,
	    .cancel_grace_ms = usual.grace_ms,
	    .memory_bytes = h->t.memory > 0 ? h->t.memory : usual.memory,
	    .output_bytes = h->t.output > 0 ? h->t.output : MIB,
	    .artifact_bytes = MIB,
	    .messages_per_second = 10000,
	    .code_bytes = strlen(h->t.code),
	    .inputs_bytes = strlen(inputs) - h->t.more,
	    .head = {buf_data(&body), at},
	};
	send_msg(h, &m);
	send_rest(h, buf_data(&body), at, n, MSG_CHUNK_MAX);
	buf_fini(&body);
}

bool sleeps(pid_t pid)
{
	char path[64], text[256] = "";
	const char *state;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "r");
	if (f == NULL)
		return true; /* the process is gone */
	(void)!fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	state = strrchr(text, ')');
	return state == NULL || strchr("SZX", state[2]) != NULL;
}

void poke(const struct heard *h, int signal, bool asleep)
{
	while (asleep && !sleeps(h->pid))
		sched_yield();
	kill(h->pid, signal);
}

/* ---- messages of the worker ---- */

static void say(struct heard *h, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void say(struct heard *h, const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = xvasprintf(fmt, ap);
	va_end(ap);
	buf_add_str(&h->line, buf_len(&h->line) > 0 ? " " : "");
	buf_add_str(&h->line, s);
	free(s);
}

static void say_step(struct heard *h, const struct msg_step *s)
{
	switch (s->state) {
	case MSG_STEP_PENDING:
		if (s->count == 1)
			say(h, "+%d:%.*s", (int)s->index, STR(s->name));
		else
			say(h, "+%dx%d:%.*s", (int)s->index, (int)s->count,
			    STR(s->name));
		break;
	case MSG_STEP_RUNNING:
		say(h, ">%d#%d", (int)s->index, (int)s->attempts);
		break;
	case MSG_STEP_SUCCEEDED:
		say(h, "=%d", (int)s->index);
		break;
	case MSG_STEP_FAILED:
		say(h, "!%d:%.*s:%.*s", (int)s->index, STR(s->code),
		    STR(s->message));
		break;
	default:
		say(h, "~%d", (int)s->index);
	}
}

void asked(struct heard *h, uint32_t seq)
{
	if (seq <= h->last || h->n_asked == MSG_ASKS_MAX)
		say(h, "OUT-OF-TURN");
	else
		h->asked[h->n_asked++] = seq;
	h->last = seq;
	h->total++;
	if (h->t.on_ask != NULL)
		h->t.on_ask(h, seq);
}

static void kept(struct heard *h)
{
	if (h->t.on_ask != NULL)
		h->t.on_ask(h, 0);
	else
		answer(h, 0, !h->t.refuse,
		       h->t.refuse ? "STORE_UNAVAILABLE the disk is full"
				   : "art_1");
}

static void body_done(struct heard *h)
{
	size_t n = buf_len(&h->body);
	const char *p = n > 0 ? buf_data(&h->body) : "";

	if (h->shown && n <= SHOWN_MAX)
		buf_add(&h->line, p, n);
	else if (h->shown)
		buf_printf(&h->line, "%.3s...%zu...%.3s", p, n, p + n - 3);
	buf_fini(&h->body);
	if (h->about.type == MSG_CALL)
		asked(h, h->about.call.seq);
	else if (h->about.type == MSG_INPUT)
		asked(h, h->about.input.seq);
	else if (h->about.type == MSG_ARTIFACT)
		kept(h);
}

static void body_part(struct heard *h, struct str s)
{
	if (s.n > h->missing) {
		say(h, "TOO-MUCH");
		h->missing = 0;
		return;
	}
	buf_add(&h->body, s.p, s.n);
	h->missing -= s.n;
	if (h->missing == 0)
		body_done(h);
}

static const char *const inputs[MSG_INPUT_KINDS] = {"elicit", "sample",
						    "roots"};

static void body_begins(struct heard *h, const struct msg *m, uint64_t total,
			struct str head)
{
	bool question = m->type == MSG_CALL || m->type == MSG_INPUT;

	h->about = *m;
	h->shown = !(question && h->t.quiet);
	h->missing = total;
	if (!h->shown)
		;
	else if (m->type == MSG_CALL)
		say(h, "call/%.*s:", STR(m->call.tool));
	else if (m->type == MSG_INPUT)
		say(h, "%s:", inputs[m->input.kind]);
	else if (m->type == MSG_ARTIFACT)
		say(h, "@%.*s:%.*s:", STR(m->artifact.name),
		    STR(m->artifact.mime_type));
	else
		say(h,
		    m->result.kind == MSG_RESULT_REPLY ? "REPLY:" : "VALUE:");
	body_part(h, head);
}

static void hear_msg(struct heard *h, const struct msg *m)
{
	switch (m->type) {
	case MSG_PROGRESS:
		say(h, "%%%d/%d:%.*s", (int)m->progress.done,
		    (int)m->progress.total, STR(m->progress.message));
		break;
	case MSG_STEP:
		if (!h->t.quiet)
			say_step(h, &m->step);
		break;
	case MSG_LOG:
		if (m->log.text.n == 4 && memcmp(m->log.text.p, "poke", 4) == 0)
			poke(h, h->t.poke, h->t.asleep);
		else
			say(h, "%u:%.*s", (unsigned)m->log.level,
			    STR(m->log.text));
		break;
	case MSG_CALL:
		body_begins(h, m, m->call.total, m->call.head);
		break;
	case MSG_INPUT:
		body_begins(h, m, m->input.total, m->input.head);
		break;
	case MSG_ARTIFACT:
		body_begins(h, m, m->artifact.total, m->artifact.head);
		break;
	case MSG_RESULT:
		body_begins(h, m, m->result.total, m->result.head);
		break;
	case MSG_CHUNK:
		body_part(h, m->chunk.data);
		break;
	case MSG_DROP:
		say(h, "drop:%u", (unsigned)m->drop.seq);
		if (h->t.on_drop != NULL)
			h->t.on_drop(h, m->drop.seq);
		break;
	case MSG_LOST:
		say(h, "lost:%d:%d:%llu:%llu:%.*s:%.*s", (int)m->lost.kind,
		    (int)m->lost.told, (unsigned long long)m->lost.count,
		    (unsigned long long)m->lost.size, STR(m->lost.name),
		    STR(m->lost.errmsg));
		break;
	case MSG_FAIL:
		say(h, "FAIL:%.*s:%.*s:%.*s", STR(m->fail.error_code),
		    STR(m->fail.message), STR(m->fail.details));
		break;
	default:
		say(h, "UNEXPECTED:%d", m->type);
	}
}

static void hear(struct heard *h)
{
	static char in[CHAN_FRAME_MAX];
	struct pollfd p = {.fd = h->fd, .events = POLLIN};

	send_run(h);
	for (;;) {
		const char *errmsg;
		struct msg m;
		ssize_t n;

		if (poll(&p, 1, PATIENCE_MS) == 0) {
			say(h, "HANGS");
			kill(h->pid, SIGKILL);
			return;
		}
		n = chan_recv(h->fd, in);
		if (n == -EAGAIN)
			continue;
		if (n <= 0)
			return;
		if (msg_get(&m, in, (size_t)n, &errmsg) < 0)
			say(h, "OFFENCE:%s", errmsg);
		else
			hear_msg(h, &m);
	}
}

/* ---- trials ---- */

_Noreturn static void be_worker(const struct trial *t, int fd)
{
	if (fd != ZYGOTE_PROTO_RUN_FD)
		dup2(fd, ZYGOTE_PROTO_RUN_FD);
	close_range(ZYGOTE_PROTO_RUN_FD + 1, ~0u, 0);
	signals_set_cpu_ms(usual.cpu_ms);
	if (t->before != NULL)
		t->before();
	lua_job_serve();
}

char *try_it(const struct trial *t)
{
	struct heard h = {.t = *t};
	int ends[2], status = 0;

	if (chan_pair(ends) < 0)
		abort();
	h.fd = ends[0];
	h.pid = fork();
	if (h.pid < 0)
		abort();
	if (h.pid == 0)
		be_worker(t, ends[1]);
	close(ends[1]);
	hear(&h);
	close(ends[0]);
	waitpid(h.pid, &status, 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		say(&h, "STATUS:%x", (unsigned)status);
	buf_fini(&h.body);
	return buf_take(&h.line, NULL);
}

bool matches(const char *line, const char *want)
{
	for (; *want != '*'; line++, want++) {
		if (*line != *want)
			return false;
		if (*line == '\0')
			return true;
	}
	for (; !matches(line, want + 1); line++)
		if (*line == '\0')
			return false;
	return true;
}

void check(const struct trial *t)
{
	char *line = try_it(t);

	if (!ok(matches(line, t->want), "%s", t->name))
		printf("# got  %s\n# want %s\n", line, t->want);
	free(line);
}

/* ---- tables of trials ---- */

static struct sock_fprog cage;

static void close_cage(void)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    filter_load(&cage) != 0)
		_exit(99);
}

/* Check T again, behind the filter of a real worker. */
static void check_caged(const struct table *t)
{
	for (size_t i = 0; i < t->n; i++) {
		struct trial trial = t->trials[i];
		char *name = xasprintf("caged: %s", trial.name);

		trial.name = name;
		trial.before = close_cage;
		check(&trial);
		free(name);
	}
}

void check_tables(const struct table *tables)
{
	const struct table *t;

	is_int(lua_job_prepare(), 0,
	       "the shared state of workers can be prepared");
	for (t = tables; t->n > 0; t++)
		for (size_t i = 0; i < t->n; i++)
			check(&t->trials[i]);
	/* a sanitizer makes system calls forbidden for a worker */
	if (SANITIZED) {
		skip("under a sanitizer", "all of it, caged");
		return;
	}
	is_int(filter_make(FILTER_WORKER, &cage), 0, "the cage can be made");
	for (t = tables; t->n > 0; t++)
		check_caged(t);
}
