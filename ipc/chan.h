/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chan.h - whole frames over an end of a SOCK_SEQPACKET pair; unix(7).
 *
 * A packet is a frame. The worker's end blocks; the supervisor's does not.
 */
#ifndef IPC_CHAN_H
#define IPC_CHAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CHAN_FRAME_MAX 65536u /* most bytes in a frame */

/*
 * Make a pair of ends, both close-on-exec: ends[0] non-blocking for the
 * supervisor, ends[1] blocking for the worker. The caller owns both. The
 * supervisor's end refuses SCM_RIGHTS where the kernel can (SO_PASSRIGHTS). 0
 * or -errno.
 */
int chan_pair(int ends[2]);

/*
 * Read a frame into BUF (CHAN_FRAME_MAX bytes), by recv(2) alone: no descriptor
 * can arrive. The length, or 0: the peer closed; -EAGAIN: nothing yet;
 * -EMSGSIZE: a frame over CHAN_FRAME_MAX, or an empty frame; -errno. Frames
 * sent before the peer closed are read first, whatever the peer left unread.
 */
ssize_t chan_recv(int fd, void *buf);
ssize_t chan_recv_now(int fd, void *buf); /* as chan_recv(), with -EAGAIN on
					     either end */

/*
 * Has the peer closed without reading all our frames? To be asked before
 * chan_recv(), which forgets the fact; true only once.
 */
bool chan_left_unread(int fd);

/*
 * Send a frame (1 to CHAN_FRAME_MAX bytes); never SIGPIPE. 0, or -EAGAIN: the
 * send would block; -ENOBUFS: the kernel has no memory for the frame now
 * (base/send_again.h); -EPIPE: the peer is gone; -errno.
 */
int chan_send(int fd, const void *frame, size_t len);

#endif
