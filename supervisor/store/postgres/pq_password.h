/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pq_password.h - reads the password of the database from a file for each
 * connection, so that the password may change, and keeps the password nowhere.
 */
#ifndef SUPERVISOR_STORE_POSTGRES_PQ_PASSWORD_H
#define SUPERVISOR_STORE_POSTGRES_PQ_PASSWORD_H

#include <stddef.h>

#define PQ_PASSWORD_SIZE 1024

/* It is in PATH (copied; NULL: nowhere of ours). Once, while we are who may read it. */
void pq_password_file(const char *path);

/*
 * The first line of that into TO, or "" when there is none to be read: the caller wipes
 * it. 0, or -ENOKEY with a sentence in WHY.
 */
int pq_password_read(char to[PQ_PASSWORD_SIZE], char *why, size_t size);

#endif
