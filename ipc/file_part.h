/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_part.h - the files in RUN's body: each has a head, a label and its
 * bytes. The label is the file's name in a program's in/, or a JSON Pointer to
 * the place in a Lua template's inputs. Heads are in this machine's layout:
 * only the supervisor makes heads, and a worker exits at a wrong head.
 */
#ifndef IPC_FILE_PART_H
#define IPC_FILE_PART_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "ipc/msg.h"

struct file_part_head {
	uint64_t size;
	uint32_t label_len;
	uint32_t zero;
};

struct file_part {
	struct str label, data; /* borrowed from the body */
};

/* Take the next file of REST, which moves on. False: no more, or cut short. */
static inline bool file_part_next(struct str *rest, struct file_part *out)
{
	struct file_part_head h;

	if (rest->n < sizeof(h))
		return false;
	memcpy(&h, rest->p, sizeof(h));
	if (h.label_len > rest->n - sizeof(h) ||
	    h.size > rest->n - sizeof(h) - h.label_len)
		return false;
	out->label = (struct str){rest->p + sizeof(h), h.label_len};
	out->data = (struct str){out->label.p + h.label_len, (size_t)h.size};
	rest->p = out->data.p + out->data.n;
	rest->n -= sizeof(h) + h.label_len + (size_t)h.size;
	return true;
}

#endif
