/* SPDX-License-Identifier: Apache-2.0 */
/* t_package_look.c - a program's package is looked at on a thread, by who may ask. */
#include "supervisor/run/threads/package_look.h"

#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "supervisor/packages/templates/template_load.h"
#include "tests/unit/supervisor/run/threads/full_pool_fixture.h"
#include "tests/unit/tap.h"

static char dir[] = "/tmp/t_package_look.XXXXXX";
static struct event_base *base;
static struct thread_pool *thread_pool;
static struct template *t;
static int told, last;

static void put(const char *name, const char *text)
{
	char *path = xasprintf("%s/%s", dir, name);
	FILE *f = fopen(path, "we");

	if (f == NULL || fputs(text, f) < 0 || fclose(f) != 0 ||
	    chmod(path, 0755) != 0)
		abort();
	free(path);
}

static void on_seen(void *arg, int rc, const char *errmsg)
{
	(void)arg, (void)errmsg;
	told++;
	last = rc;
}

static struct package_look *ask(void)
{
	told = 0;
	return package_look_ask(base, thread_pool, NULL, t, on_seen, NULL);
}

/* Whatever is under way has ended. */
static void settle(void)
{
	while (thread_pool_jobs(thread_pool) > 0)
		event_base_loop(base, EVLOOP_ONCE);
}

static int answer(void)
{
	(void)ask();
	if (told > 0)
		return 1; /* from within */
	while (told == 0)
		event_base_loop(base, EVLOOP_ONCE);
	return last;
}

TEST(seen)
{
	struct package_look *p;
	unsigned users = t->users;

	is_int(answer(), 0, "a package that is as it was");
	put("main", "#!/bin/ls\n");
	is_int(answer(), -ESTALE, "one that was changed");
	put("main", "#!/bin/sh\n");
	is_int(answer(), 0,
	       "a small package that was changed back is unchanged");
	p = ask();
	package_look_forget(p);
	settle();
	is_int(told, 0, "who forgets a look is told nothing of it");
	t->looked.changed = true;
	is_int(answer(), -ESTALE, "what is known is told later, too");
	p = ask();
	package_look_forget(p);
	event_base_loop(base, EVLOOP_NONBLOCK);
	is_int(told, 0, "a forgotten look is told to nobody");
	t->looked.changed = false;
	is_int((int)t->users, (int)users,
	       "no look at a package keeps a reference to the template");
}

TEST(full)
{
	struct package_look *p;

	full_pool_begin(thread_pool, NULL);
	(void)ask();
	event_base_loop(base, EVLOOP_NONBLOCK);
	is_int(told, 0, "who has too much before the threads waits");
	p = package_look_ask(base, thread_pool, NULL, t, on_seen, NULL);
	package_look_forget(p);
	full_pool_end();
	while (told == 0)
		event_base_loop(base, EVLOOP_ONCE);
	settle();
	is_int(told, 1, "a look that outlives a full pool is told");
	is_int(last, 0, "what is seen");
}

int main(void)
{
	char errmsg[512] = "";

	if (mkdtemp(dir) == NULL)
		abort();
	chmod(dir, 0755);
	put("main", "#!/bin/sh\n");
	put("template.json",
	    "{\"templateId\":\"t\",\"version\":\"1.2.3\",\"name\":\"T\","
	    "\"description\":\"Does.\",\"runtime\":{\"type\":\"program\","
	    "\"entry\":\"main\"},\"inputsSchema\":{\"type\":\"object\"}}");
	t = template_load(dir, false, errmsg, sizeof(errmsg));
	if (t == NULL)
		printf("Bail out! %s\n", errmsg);
	base = event_base_new();
	thread_pool = thread_pool_new(base, 1);
	tap_run();
	thread_pool_free(thread_pool);
	event_base_free(base);
	template_unref(t);
	for (const char *const *n =
		 (const char *const[]){"main", "template.json", NULL};
	     *n != NULL; n++) {
		char *path = xasprintf("%s/%s", dir, *n);

		unlink(path);
		free(path);
	}
	rmdir(dir);
	return tap_done();
}
