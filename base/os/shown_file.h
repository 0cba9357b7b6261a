/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shown_file.h - a file shown to a program, as described to the program's
 * zygote. Of fixed size, to fit into a record.
 */
#ifndef BASE_OS_SHOWN_FILE_H
#define BASE_OS_SHOWN_FILE_H

#include "base/os/nofollow.h"

#define SHOWN_FILES_MAX 64u

struct shown_file {
	struct file_id id; /* a file of another identity is not shown */
	char path[72];	   /* FOLDER/FILE, below the folder of all shown
			      files */
	char name[256];	   /* the name in the program's in/: no slash, not
			      empty */
};

#endif
