/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pq_password.h - reads the password of the database from a file for each
 * connection, so that the password may change, and keeps the password nowhere.
 */
#ifndef SUPERVISOR_STORE_POSTGRES_PQ_PASSWORD_H
#define SUPERVISOR_STORE_POSTGRES_PQ_PASSWORD_H

#include <stddef.h>

#define PQ_PASSWORD_SIZE 1024

/*
 * Set the PATH of the file (copied; NULL: no file). Call once, while the
 * process may read the file.
 */
void pq_password_file(const char *path);

/*
 * Copy the first line of the file to TO, or "" without a file; the caller wipes
 * TO. 0, or -ENOKEY with a sentence in WHY.
 */
int pq_password_read(char to[PQ_PASSWORD_SIZE], char *why, size_t size);

#endif
