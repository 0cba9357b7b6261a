/* SPDX-License-Identifier: Apache-2.0 */
/*
 * browser.c - pages by batch_extract_pages, and paddock's part of the time and CPU
 * time beside Chromium's: the same steps by a bare DevTools client (bare.h), in the
 * same run.
 *
 *   browser PADDOCKD TEMPLATES STATE CONFIG HOME
 */
#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/listener.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "bench/bare.h"
#include "bench/client.h"
#include "bench/measure.h"

#define ROUNDS 3
#define WARM_PAGES 3
#define PATIENCE_S 180 /* until the end of the program */

enum { PADDOCKD = 1, TEMPLATES, STATE, CONFIG, HOME, ARGS };

static const struct {
	int window, pages;
} plans[] = {{1, 6}, {3, 15}, {5, 20}};

/* Figures of a window, or of the bare client. */
struct figures {
	double
	    ms; /* for a page, in the best round: other programs share the machine */
	int64_t own_us, chromium_us;
	int pages;
};

static void note_time(struct figures *f, int64_t began, int pages)
{
	double ms = (double)(now_ns() - began) / 1e6 / pages;

	if (f->pages == 0 || ms < f->ms)
		f->ms = ms;
	f->pages += pages;
}

/* ---- the site: a small page for every request ---- */

static char *page_text(void)
{
	struct buf b = {0};
	char *text, *all;

	buf_printf(&b, "<!DOCTYPE html><title>A page</title><article><h1>A "
		       "page</h1>");
	for (int i = 0; i < 12; i++)
		buf_printf(&b,
			   "<h2>Part %d</h2><p>Some words that say what this "
			   "part is about, <a href=\"/%d\">and where it goes on"
			   "</a>.</p>",
			   i, i);
	buf_printf(&b, "</article>");
	buf_add(&b, "", 1);
	text = buf_take(&b, NULL);
	all = xasprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
			"Content-Length: %zu\r\n\r\n%s",
			strlen(text), text);
	free(text);
	return all;
}

static void on_request(struct bufferevent *bev, void *page)
{
	struct evbuffer *in = bufferevent_get_input(bev);
	struct evbuffer_ptr end;

	while (end = evbuffer_search(in, "\r\n\r\n", 4, NULL), end.pos >= 0) {
		evbuffer_drain(in, (size_t)end.pos + 4);
		bufferevent_write(bev, page, strlen(page));
	}
}

static void on_gone(struct bufferevent *bev, short what, void *arg)
{
	(void)what, (void)arg;
	bufferevent_free(bev);
}

static void on_visitor(struct evconnlistener *l, evutil_socket_t fd,
		       struct sockaddr *sa, int len, void *page)
{
	struct bufferevent *bev = bufferevent_socket_new(
	    evconnlistener_get_base(l), fd, BEV_OPT_CLOSE_ON_FREE);

	(void)sa, (void)len;
	bufferevent_setcb(bev, on_request, NULL, on_gone, page);
	bufferevent_enable(bev, EV_READ | EV_WRITE);
}

static _Noreturn void serve(int fd)
{
	struct event_base *base = event_base_new();

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (evconnlistener_new(base, on_visitor, page_text(),
			       LEV_OPT_CLOSE_ON_FREE, 128, fd) == NULL)
		die("listen");
	event_base_dispatch(base);
	exit(1);
}

/* Start the site: return the process, and the address as "127.0.0.1:PORT". */
static pid_t start_site(char *host, size_t size)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	pid_t pid;

	if (fd < 0 || bind(fd, (struct sockaddr *)&at, len) != 0 ||
	    getsockname(fd, (struct sockaddr *)&at, &len) != 0)
		die("a site");
	snprintf(host, size, "127.0.0.1:%u", (unsigned)ntohs(at.sin_port));
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0)
		serve(fd);
	close(fd);
	return pid;
}

/* ---- by paddock ---- */

static void ask(struct client *c, const char *host, int window, int pages)
{
	static int id;
	char said[32], *line;
	struct buf b = {0};

	buf_printf(&b,
		   "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\","
		   "\"params\":{\"name\":\"run_task_template\",\"arguments\":{"
		   "\"templateId\":\"batch_extract_pages\",\"options\":{"
		   "\"mode\":\"sync\"},\"inputs\":{\"concurrency\":%d,\"urls\":"
		   "[",
		   ++id, window);
	for (int i = 0; i < pages; i++)
		buf_printf(&b, "%s\"http://%s/%d\"", i > 0 ? "," : "", host, i);
	buf_printf(&b, "]}}}}\n");
	client_send(c, buf_data(&b), buf_len(&b));
	buf_fini(&b);
	snprintf(said, sizeof(said), "\"id\":%d,", id);
	do
		line = client_line(c);
	while (strstr(line, said) == NULL);
	if (strstr(line, "\"status\":\"succeeded\"") == NULL) {
		fprintf(stderr, "a run failed: %.400s\n", line);
		exit(1);
	}
}

static int64_t chromium_us(pid_t process)
{
	return server_cpu_us(process) - clock_of(process);
}

static void by_paddock(struct figures *f, struct client *c, pid_t process,
		       const char *host, size_t plan)
{
	int64_t theirs = chromium_us(process);
	int64_t all = server_cpu_us(c->pid), began = now_ns();

	ask(c, host, plans[plan].window, plans[plan].pages);
	note_time(f, began, plans[plan].pages);
	theirs = chromium_us(process) - theirs;
	f->chromium_us += theirs;
	f->own_us += server_cpu_us(c->pid) - all - theirs;
}

/* ---- by a bare client ---- */

static void by_client(struct figures *f, struct bare *b, const char *host,
		      int pages)
{
	int64_t theirs = server_cpu_us(bare_pid(b));
	int64_t own = cpu_us(RUSAGE_SELF), began = now_ns();
	char url[64];

	for (int i = 0; i < pages; i++) {
		snprintf(url, sizeof(url), "http://%s/%d", host, i);
		bare_page(b, url);
	}
	note_time(f, began, pages);
	f->own_us += cpu_us(RUSAGE_SELF) - own;
	f->chromium_us += server_cpu_us(bare_pid(b)) - theirs;
}

/* ---- the table ---- */

static double own_ms(const struct figures *f)
{
	return (double)f->own_us / 1e3 / f->pages;
}

static void row(const char *who, int window, const struct figures *f)
{
	printf("%-9d %-20s %8.2f %10.1f %10.1f %12.1f\n", window, who,
	       1e3 / f->ms, window * f->ms, own_ms(f),
	       (double)f->chromium_us / 1e3 / f->pages);
}

static void report(const struct figures *by, const struct figures *bare)
{
	printf("\n%-9s %-20s %8s %10s %10s %12s\n", "window", "a small page",
	       "pages/s", "ms a page", "own CPU ms", "Chromium's");
	row("a DevTools client", 1, bare);
	for (size_t i = 0; i < ARRAY_LEN(plans); i++)
		row("paddock", plans[i].window, &by[i]);
	printf(
	    "at a window of 1 paddock adds %.1f ms to a page, and %.1f ms of "
	    "its own CPU\n",
	    by[0].ms - bare->ms, own_ms(&by[0]));
	puts("(batch_extract_pages over a site on loopback, the best of three "
	     "rounds; 500 ms of a\npage are the quiet that it waits for. The "
	     "client takes the same steps "
	     "in a\nChromium with the same flags, but without a proxy, policy, "
	     "namespaces or worker.\nOwn CPU: the client; paddockd, "
	     "paddock-browser and workers)");
}

int main(int argc, char **argv)
{
	struct figures by[ARRAY_LEN(plans)] = {0}, bare = {0}, warm = {0};
	struct client c;
	struct bare *b;
	char host[32];
	pid_t site, process;

	if (argc != ARGS) {
		fputs("usage: browser PADDOCKD TEMPLATES STATE CONFIG HOME\n",
		      stderr);
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	alarm(PATIENCE_S);
	site = start_site(host, sizeof(host));
	client_start(&c,
		     (char *[]){argv[PADDOCKD], (char *)"--stdio",
				(char *)"--templates", argv[TEMPLATES],
				(char *)"--state-dir", argv[STATE],
				(char *)"--config", argv[CONFIG],
				(char *)"--grant", (char *)"hosts=127.0.0.1",
				(char *)"--log-level", (char *)"error", NULL});
	client_hello(&c);
	ask(&c, host, WARM_PAGES, WARM_PAGES);
	process = broker_of(c.pid);
	b = bare_start(process, argv[HOME]);
	by_client(&warm, b, host, WARM_PAGES);
	for (int i = 0; i < ROUNDS; i++) {
		by_client(&bare, b, host, plans[0].pages);
		for (size_t k = 0; k < ARRAY_LEN(plans); k++)
			by_paddock(&by[k], &c, process, host, k);
	}
	report(by, &bare);
	bare_stop(b);
	client_stop(&c);
	kill(site, SIGKILL);
	waitpid(site, NULL, 0);
	return 0;
}
