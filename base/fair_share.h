/* SPDX-License-Identifier: Apache-2.0 */
/* fair_share.h - a requestor's share of a common resource. Pure. */
#ifndef BASE_FAIR_SHARE_H
#define BASE_FAIR_SHARE_H

#include <stdint.h>

/*
 * Return the share of a requestor in MOST when other requestors use THEIRS:
 * nine tenths of the rest, so the next requestor finds some left, rounded down
 * to eighths of MOST, so the share tells little of other requestors.
 */
int64_t fair_share(int64_t most, int64_t theirs);

#endif
