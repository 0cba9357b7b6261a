/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as what a build sends, in pieces of the first byte's size: no file is
 * kept here, and what is counted stays within its bounds.
 */
#include "tests/fuzz/fuzz.h"
#include "base/os/dir_walk.h"
#include "base/os/file_stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t piece = size > 0 ? 1 + (size_t)data[0] : 1;
	struct file_stream s;
	int rc = 0;

	file_stream_init(&s, -1);
	for (size_t at = 1; at < size && rc == 0; at += piece)
		rc = file_stream_take(&s, (const char *)data + at,
				      size - at < piece ? size - at : piece);
	assert(rc == 0 || s.errmsg[0] != '\0');
	assert(s.bytes <= DIR_WALK_BYTES_MAX);
	assert(s.file == -1);
	file_stream_fini(&s);
	return 0;
}
