/* SPDX-License-Identifier: Apache-2.0 */
/* quantity.h - how much of something, as people write it. */
#ifndef BASE_TEXT_QUANTITY_H
#define BASE_TEXT_QUANTITY_H

#include <stdint.h>

#define QUANTITY_SIZE 64

/*
 * N of UNIT: "128 MiB" and "8.5 MiB" of "bytes", "90 s", "5 min" and "1.5 s"
 * of "ms", "12 files" of any other. Nothing is rounded to what is more: of
 * bytes and seconds a tenth of the larger unit is shown and the rest cut.
 */
const char *quantity(char out[QUANTITY_SIZE], int64_t n, const char *unit);

#endif
