/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stdio.h - one MCP client on stdin and stdout, a message a line.
 *
 * stdout carries MCP and nothing else. The end of stdin ends the server.
 */
#ifndef SUPERVISOR_STDIO_STDIO_H
#define SUPERVISOR_STDIO_STDIO_H

#include "supervisor/server.h"

/*
 * Serve from the moment that the cage has been measured. Takes descriptors 0
 * and 1. The server owns it.
 */
void stdio_open(struct server *srv);
void stdio_close(struct server *srv); /* what is written is flushed */

#endif
