/* SPDX-License-Identifier: Apache-2.0 */
/* message.h - words for people: on stderr, cleaned of what could act there. */
#ifndef CLI_MESSAGE_H
#define CLI_MESSAGE_H

#include <stdbool.h>

/* One line, "paddock: " first. The line is cleaned as a whole. */
void message_print(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same without "paddock: ". */
void message_more(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* May FD be drawn on: a terminal that is not dumb? */
bool message_is_terminal(int fd);
/* And coloured: NO_COLOR is not set either. */
bool message_has_colours(int fd);

#endif
