/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a paddock.conf: a valid file, once printed, must be read as the same
 * configuration.
 */
#include "tests/fuzz/fuzz.h"
#include "supervisor/config/config.h"

/* bytes: printing makes no line of such a file too long to be read */
#define SHORT 150

static char *printed(const struct config *c)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	config_print(c, f);
	fclose(f);
	return text;
}

static void again(const struct config *c)
{
	struct config *d = config_new(0);
	char errmsg[200], *first = printed(c), *second;
	int rc = config_read_text(d, "f", first, strlen(first), errmsg,
				  sizeof(errmsg));

	assert(rc == 0);
	second = printed(d);
	assert(strcmp(first, second) == 0);
	free(second);
	free(first);
	config_free(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct config *c = config_new(0);
	char errmsg[200] = "";
	int rc = config_read_text(c, "f", (const char *)data, size, errmsg,
				  sizeof(errmsg));
	bool whole =
	    /* tokens are not printed: a file with tokens is not compared */
	    true;

	assert((rc == 0) == (*errmsg == '\0'));
	for (size_t i = 0; rc == 0 && i < c->n_requestors; i++)
		whole = whole && c->requestors[i].token_sha256 == NULL;
	if (rc == 0 && whole && size < SHORT && memchr(data, ';', size) == NULL)
		again(c);
	config_free(c);
	return 0;
}
