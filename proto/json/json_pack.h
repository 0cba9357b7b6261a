/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_pack.h - objects from a list of their members:
 *
 *	json_pack("runId:s size:i complete?b", id, size, done)
 *
 * SPEC has the name and the kind of each member, in the order of the arguments:
 *
 *	s  const char *, copied without bytes that are not UTF-8; NULL is null
 *	S  as s, and a size_t: the number of bytes, which may have NULs in them
 *	i  any integer
 *	b  any integer: true when it is not 0
 *	o  struct json_object *, taken; NULL is null
 *	O  as o, but lent: the object gets a reference of its own
 *
 * "name?kind" leaves out a NULL, a false, or an integer of 0 or below. SPEC is
 * a literal. An argument is converted by its own type, so it needs no cast. An
 * argument that is missing, too many, or of another kind than SPEC says fails
 * an assertion, and so does a name of 64 bytes.
 */
#ifndef PROTO_JSON_JSON_PACK_H
#define PROTO_JSON_JSON_PACK_H

#include "proto/json/json.h"

#define JSON_PACK_DEPTH_MAX 64

/* Return a new object, which the caller owns. */
#define json_pack(spec, ...) json_pack_args(spec, JSON_PACK_LIST(__VA_ARGS__))
/* Add members to O; a member that O has already is replaced in its place. */
#define json_add(o, spec, ...)                                                 \
	json_add_args(o, spec, JSON_PACK_LIST(__VA_ARGS__))

/*
 * Return LEN bytes of JSON as a tree, or NULL: not JSON, too deep, not an
 * object.
 */
struct json_object *json_unpack(const char *text, size_t len);

/* ---- how json_pack() and json_add() are made ---- */

enum json_pack_type {
	JSON_PACK_END,
	JSON_PACK_INT,
	JSON_PACK_UINT,
	JSON_PACK_TEXT,
	JSON_PACK_TREE,
};

struct json_pack_arg {
	enum json_pack_type is;
	union {
		int64_t i;
		uint64_t u;
		const char *s;
		struct json_object *o;
	};
};

struct json_object *json_pack_args(const char *spec,
				   const struct json_pack_arg *args);
void json_add_args(struct json_object *o, const char *spec,
		   const struct json_pack_arg *args);

static inline struct json_pack_arg json_pack_int(int64_t i)
{
	return (struct json_pack_arg){.is = JSON_PACK_INT, .i = i};
}

static inline struct json_pack_arg json_pack_uint(uint64_t u)
{
	return (struct json_pack_arg){.is = JSON_PACK_UINT, .u = u};
}

static inline struct json_pack_arg json_pack_text(const char *s)
{
	return (struct json_pack_arg){.is = JSON_PACK_TEXT, .s = s};
}

static inline struct json_pack_arg json_pack_tree(struct json_object *o)
{
	return (struct json_pack_arg){.is = JSON_PACK_TREE, .o = o};
}

#define JSON_PACK_ARG(x)                                                       \
	_Generic((x),                                                          \
	    char *: json_pack_text,                                            \
	    const char *: json_pack_text,                                      \
	    struct json_object *: json_pack_tree,                              \
	    unsigned long: json_pack_uint,                                     \
	    unsigned long long: json_pack_uint,                                \
	    default: json_pack_int)(x)

/* An array of up to 27 arguments, and its end. */
#define JSON_PACK_LIST(...)                                                    \
	(const struct json_pack_arg[])                                         \
	{                                                                      \
		JSON_PACK_27(JSON_PACK_EACH(__VA_ARGS__)),                     \
		{                                                              \
			.is = JSON_PACK_END                                    \
		}                                                              \
	}
#define JSON_PACK_EACH(x, ...)                                                 \
	JSON_PACK_ARG(x)                                                       \
	__VA_OPT__(, JSON_PACK_AGAIN JSON_PACK_PAREN(__VA_ARGS__))
#define JSON_PACK_AGAIN() JSON_PACK_EACH
#define JSON_PACK_PAREN ()
#define JSON_PACK_27(...) JSON_PACK_9(JSON_PACK_9(JSON_PACK_9(__VA_ARGS__)))
#define JSON_PACK_9(...) JSON_PACK_3(JSON_PACK_3(JSON_PACK_3(__VA_ARGS__)))
#define JSON_PACK_3(...) JSON_PACK_1(JSON_PACK_1(JSON_PACK_1(__VA_ARGS__)))
#define JSON_PACK_1(...) __VA_ARGS__

#endif
