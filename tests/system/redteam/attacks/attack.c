/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/redteam/attacks/attack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char inputs[1 << 16];

void tell_end(int n, int most)
{
	printf("{\"errno\":\"%s\",\"bounded\":%s}",
	       errno == 0 ? "0" : strerrorname_np(errno),
	       n > 0 && n <= most ? "true" : "false");
}

void *thread_rest(void *arg)
{
	for (;;)
		pause();
	return arg;
}

void tell_errno(bool failed)
{
	printf("{\"errno\":\"%s\"}", failed ? strerrorname_np(errno) : "0");
}

void tell_progress(const char *message)
{
	dprintf(3,
		"{\"progress\":{\"done\":0,\"total\":1,\"message\":\"%s\"}}\n",
		message);
}

/* The value of "do", cut out of the inputs. */
static char *wanted(void)
{
	static const char key[] = "\"do\":\"";
	static char name[64] = "sibling";
	size_t n = fread(inputs, 1, sizeof(inputs) - 1, stdin);
	char *at;

	inputs[n] = '\0';
	at = strstr(inputs, key);
	if (at != NULL)
		snprintf(name, sizeof(name), "%.*s",
			 (int)strcspn(at + strlen(key), "\""),
			 at + strlen(key));
	return name;
}

int main(void)
{
	static const struct attack *const all[] = {
	    resource_attacks, escape_attacks,  leak_attacks,   signal_attacks,
	    shared_attacks,   counter_attacks, record_attacks, memory_attacks,
	    held_attacks,     option_attacks};
	const char *name = wanted();

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		for (const struct attack *a = all[i]; a->name != NULL; a++)
			if (strcmp(a->name, name) == 0) {
				a->run();
				return 0;
			}
	if (try_call(name))
		return 0;
	fprintf(stderr, "there is no attack %s\n", name);
	return 2;
}
