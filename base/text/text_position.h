/* SPDX-License-Identifier: Apache-2.0 */
/* text_position.h - where a byte of a text lies, as editors count. */
#ifndef BASE_TEXT_TEXT_POSITION_H
#define BASE_TEXT_TEXT_POSITION_H

#include <stddef.h>

/*
 * The line and the column, both from 1, of the byte AT of TEXT, which has at
 * least that many bytes. A column is a character; a byte that is no UTF-8 is
 * one, too. The time is linear in AT.
 */
void text_position(const char *text, size_t at, size_t *line, size_t *column);

#endif
