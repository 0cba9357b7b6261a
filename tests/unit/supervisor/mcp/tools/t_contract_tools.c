/* SPDX-License-Identifier: Apache-2.0 */
/* t_contract_tools.c - the table of the contract's tools, and errors of arguments. */
#include "supervisor/mcp/tools/contract_tools.h"

#include <string.h>

#include "proto/json/json.h"
#include "tests/unit/tap.h"

TEST(table)
{
	const struct contract_tool *all = contract_tools();

	for (size_t i = 0; i < CONTRACT_TOOLS; i++) {
		is_str(json_member_str(all[i].definition, "name"), all[i].name,
		       "%s has the definition of its name", all[i].name);
		ok(all[i].serve != NULL && all[i].input != NULL,
		   "%s has a function and a schema", all[i].name);
		ok(json_member_str(all[i].definition, "description") != NULL,
		   "%s has a description", all[i].name);
	}
	ok(contract_tools() == all, "a second call returns the same table");
	ok(json_object_equal(json_member(all[1].definition, "outputSchema"),
			     json_member(all[7].definition, "outputSchema")),
	   "retry_task_run has the outputSchema of run_task_template");
	contract_tools_fini();
	is_str(json_member_str(contract_tools()[0].definition, "name"),
	       "list_task_templates",
	       "the table is made anew when it is needed");
	contract_tools_fini();
}

TEST(wrong_argument)
{
	struct schema_error err = {.pointer = "/a/0",
				   .keyword = "type",
				   .expected = "a string",
				   .text = "a/0 is a number"};
	struct tool_error r = {0};

	contract_tools_invalid(&r, "/inputs", &err);
	is_str(r.code, "INVALID_PARAMETER", "a wrong argument has its code");
	is_str(r.message, "a/0 is a number",
	       "a wrong argument has the words of the schema");
	is_str(json_member_str(r.details, "pointer"), "/inputs/a/0",
	       "a wrong argument is placed behind the prefix");
	is_str(json_member_str(r.details, "keyword"), "type",
	       "a wrong argument names the keyword of the schema");
	is_str(json_member_str(r.details, "expected"), "a string",
	       "a wrong argument names what would pass");
	tool_error_fini(&r);
}

int main(void)
{
	tap_run();
	return tap_done();
}
