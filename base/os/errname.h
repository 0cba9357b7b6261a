/* SPDX-License-Identifier: Apache-2.0 */
/*
 * errname.h - the names of the kernel's errors. For some errors the C library
 * has no name, and strerrorname_np(3) is NULL.
 */
#ifndef BASE_OS_ERRNAME_H
#define BASE_OS_ERRNAME_H

/* An error of seccomp(2): the memory for compiled filters is used up. */
#define ERRNAME_ENOTSUPP 524

/* Return a name such as "EPERM"; never NULL. Static. */
const char *errname(int err);

/* Return a text such as "Operation not permitted"; never NULL. Static. */
const char *errname_text(int err);

#endif
