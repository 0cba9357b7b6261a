-- SPDX-License-Identifier: Apache-2.0
return function(run)
	local before = "state-ok" -- it waits with all it has
	local answer = run.elicit{key = "confirm", message = "Please confirm", schema = {
		type = "object",
		properties = {ok = {type = "boolean"}},
		required = {"ok"},
	}}

	return run.reply{content = {{type = "text", text = before .. ": " .. answer.action}}}
end
