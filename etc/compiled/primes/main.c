/* SPDX-License-Identifier: Apache-2.0 */
/* The primes up to {"limit":N}: how many, and the greatest. */
#include <stdio.h>
#include <stdlib.h>

static size_t count_primes(size_t limit, size_t *greatest)
{
	unsigned char *composite = calloc(limit + 1, 1);
	size_t count = 0;

	if (composite == NULL)
		exit(EXIT_FAILURE);
	for (size_t i = 2; i <= limit; i++) {
		if (composite[i])
			continue;
		count++;
		*greatest = i;
		for (size_t j = i * i; j <= limit; j += i)
			composite[j] = 1;
	}
	free(composite);
	return count;
}

int main(void)
{
	size_t limit, greatest = 0, count;

	/* paddock has checked it against the schema */
	if (scanf(" { \"limit\" : %zu", &limit) != 1) {
		fputs("the inputs are not {\"limit\":N}\n", stderr);
		return EXIT_FAILURE;
	}
	count = count_primes(limit, &greatest);
	printf("{\"count\":%zu,\"greatest\":%zu}\n", count, greatest);
	return 0;
}
