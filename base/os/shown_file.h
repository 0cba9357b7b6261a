/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shown_file.h - a file that a program is shown, as its zygote is told of it.
 * Fixed in size, so that it goes into a record.
 */
#ifndef BASE_OS_SHOWN_FILE_H
#define BASE_OS_SHOWN_FILE_H

#include "base/os/nofollow.h"

#define SHOWN_FILES_MAX 64u

struct shown_file {
	struct file_id id; /* it is this one, or it is not shown */
	char path[72];	   /* FOLDER/FILE, in the folder of all of them */
	char name[256];	   /* in the program's in/: no slash, not empty */
};

#endif
