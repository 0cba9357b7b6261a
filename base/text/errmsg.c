/* SPDX-License-Identifier: Apache-2.0 */
/*
 * errmsg.c - the sentence of a failed check, for readers of configuration,
 * flags, manifests and folders. The result is -EINVAL, unless the failure was a
 * passing state of the machine. A sentence that is too long is cut between two
 * characters.
 */
#include "base/text/errmsg.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/errno_passes.h"
#include "base/text/utf8.h"

static void format_errmsg(char *errmsg, size_t size, const char *fmt,
			  va_list ap)
{
	size_t len, good = 0;

	if (size == 0)
		return;
	(void)vsnprintf(errmsg, size, fmt, ap);
	len = strlen(errmsg);
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)errmsg[i] < ' ' || errmsg[i] == 0x7F)
			errmsg[i] = '?';
	while ((good += utf8_valid_len(errmsg + good, len - good)) < len) {
		if (len == size - 1 && len - good < 4) {
			/* the cut went through a character */
			errmsg[good] = '\0';
			break;
		}
		errmsg[good] = '?';
	}
}

int errmsg_set(char *errmsg, size_t size, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	format_errmsg(errmsg, size, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

int errmsg_of(int err, char *errmsg, size_t size, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	format_errmsg(errmsg, size, fmt, ap);
	va_end(ap);
	return errno_passes(err) ? -err : -EINVAL;
}
