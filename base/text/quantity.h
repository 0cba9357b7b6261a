/* SPDX-License-Identifier: Apache-2.0 */
/* quantity.h - figures with a unit, as people write them. */
#ifndef BASE_TEXT_QUANTITY_H
#define BASE_TEXT_QUANTITY_H

#include <stdint.h>

#define QUANTITY_SIZE 64

/*
 * Write N of UNIT: "128 MiB" and "8.5 MiB" of "bytes", "90 s", "5 min" and "1.5
 * s" of "ms", "12 files" of any other unit. Figures are cut, never rounded up:
 * bytes and seconds show a tenth of the larger unit.
 */
const char *quantity(char out[QUANTITY_SIZE], int64_t n, const char *unit);

#endif
