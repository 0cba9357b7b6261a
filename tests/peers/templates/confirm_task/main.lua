-- SPDX-License-Identifier: Apache-2.0
return function(run, inputs)
	local answer = run.elicit{message = "Delete " .. inputs.file .. "?", schema = {
		type = "object",
		properties = {confirm = {type = "boolean", title = "Sure?"}},
		required = {"confirm"},
	}}
	return {action = answer.action, confirmed = (answer.content or {}).confirm == true}
end
