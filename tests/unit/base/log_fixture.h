/* SPDX-License-Identifier: Apache-2.0 */
/* log_fixture.h - the lines of the log, for a test to read. */
#ifndef TESTS_UNIT_BASE_LOG_FIXTURE_H
#define TESTS_UNIT_BASE_LOG_FIXTURE_H

/* Log to a file of the test from now on; log_end() removes the file. */
void log_begin(void);
void log_end(void);
/* Return the lines since the last call, *lent* until the next call. */
const char *log_lines(void);
/* Return how many lines with TEXT there are since the last call of either. */
int log_count(const char *text);

#endif
