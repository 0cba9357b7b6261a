/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stdio.h - an MCP client on stdin and stdout, a message a line.
 *
 * stdout carries MCP and nothing else. The end of stdin ends the server.
 */
#ifndef SUPERVISOR_STDIO_STDIO_H
#define SUPERVISOR_STDIO_STDIO_H

struct context;
struct stdio;

/*
 * Open the client, *taking* descriptors 0 and 1. Only initialize, which does
 * not need the cage, is answered before stdio_ready(); other messages wait.
 */
struct stdio *stdio_open(struct context *ctx);
void stdio_ready(void *stdio); /* serve: the cage was measured */
/* Flush the output and close. NULL is fine. */
void stdio_close(struct stdio *io);

#endif
