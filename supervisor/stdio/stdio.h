/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stdio.h - one MCP client on stdin and stdout, a message a line.
 *
 * stdout carries MCP and nothing else. The end of stdin ends the server.
 */
#ifndef SUPERVISOR_STDIO_STDIO_H
#define SUPERVISOR_STDIO_STDIO_H

struct context;
struct stdio;

/*
 * Takes descriptors 0 and 1. Its client is answered initialize while the cage is
 * measured, which that has no need of; all else waits for stdio_ready().
 */
struct stdio *stdio_open(struct context *ctx);
void stdio_ready(void *stdio); /* the cage has been measured: serve */
/* what is written is flushed; NULL is fine */
void stdio_close(struct stdio *io);

#endif
