/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_is.c - predicates of a JSON value, for code that checks JSON by a table.
 * The table has the text for a value that fails.
 */
#include "proto/json/json_is.h"

bool json_is_string(struct json_object *v)
{
	return json_object_is_type(v, json_type_string);
}

bool json_is_number(struct json_object *v)
{
	return json_object_is_type(v, json_type_int) ||
	       json_object_is_type(v, json_type_double);
}

bool json_is_object(struct json_object *v)
{
	return json_object_is_type(v, json_type_object);
}

bool json_is_list(struct json_object *v, json_is_fn *each)
{
	if (!json_object_is_type(v, json_type_array))
		return false;
	for (size_t i = 0; i < json_object_array_length(v); i++)
		if (!each(json_object_array_get_idx(v, i)))
			return false;
	return true;
}
