/* SPDX-License-Identifier: Apache-2.0 */
/*
 * errname.c - names and texts of errno, for messages on the kernel's refusals.
 * An unknown number has a name, too.
 */
#include "base/os/errname.h"

#include <stddef.h>
#include <string.h>

const char *errname(int err)
{
	const char *name = strerrorname_np(err);

	if (name != NULL)
		return name;
	return err == ERRNAME_ENOTSUPP ? "ENOTSUPP" : "an unknown error";
}

const char *errname_text(int err)
{
	const char *text = strerrordesc_np(err);

	if (text != NULL)
		return text;
	return err == ERRNAME_ENOTSUPP
		   ? "a budget of the kernel is used up"
		   : "the kernel gives an error that has no name";
}
