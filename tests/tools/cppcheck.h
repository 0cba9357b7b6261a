/* SPDX-License-Identifier: Apache-2.0 */
/* cppcheck.h - macros of system headers, as cppcheck should read them. */
#define HASH_ITER(hh, head, el, tmp)                                           \
	for ((el) = (head), (tmp) = (head); (el); (el) = (tmp))
#define json_object_object_foreach(obj, key, val)                              \
	const char *key = 0;                                                   \
	struct json_object *val = 0;                                           \
	for (; key;)
