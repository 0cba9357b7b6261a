/* SPDX-License-Identifier: Apache-2.0 */
/*
 * errmsg.c - the sentence with which a check says what is wrong, for what reads
 * configuration, flags, manifests and folders. It always returns -EINVAL; a
 * sentence that is too long is cut between two characters.
 */
#include "base/text/errmsg.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text/utf8.h"

int errmsg_set(char *errmsg, size_t size, const char *fmt, ...)
{
	size_t len, good = 0;
	va_list ap;

	if (size == 0)
		return -EINVAL;
	va_start(ap, fmt);
	(void)vsnprintf(errmsg, size, fmt, ap);
	va_end(ap);
	len = strlen(errmsg);
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)errmsg[i] < ' ' || errmsg[i] == 0x7F)
			errmsg[i] = '?';
	while ((good += utf8_valid_len(errmsg + good, len - good)) < len) {
		if (len == size - 1 && len - good < 4) {
			errmsg[good] = '\0'; /* the cut went through it */
			break;
		}
		errmsg[good] = '?';
	}
	return -EINVAL;
}
