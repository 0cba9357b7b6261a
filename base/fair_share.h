/* SPDX-License-Identifier: Apache-2.0 */
/* fair_share.h - what one may have of something that is there for all. Pure. */
#ifndef BASE_FAIR_SHARE_H
#define BASE_FAIR_SHARE_H

#include <stdint.h>

/*
 * What one may have of MOST, of which others have THEIRS: nine tenths of what
 * they leave, so that some is left for the next one; rounded down to eighths of
 * MOST, so that it shows little of the others.
 */
int64_t fair_share(int64_t most, int64_t theirs);

#endif
