/* SPDX-License-Identifier: Apache-2.0 */
/* wipe.h - freed memory is overwritten in the keeper: a fork finds nothing of other runs. */
#ifndef EGRESS_WIPE_H
#define EGRESS_WIPE_H

void wipe_begin(void);
void wipe_end(void); /* in a child, after the last text of others was freed */

#endif
