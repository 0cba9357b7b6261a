-- SPDX-License-Identifier: Apache-2.0
return function(run, inputs)
	local answer = run.elicit{message = "Delete " .. inputs.filename .. "?", schema = {
		type = "object",
		properties = {confirm = {type = "boolean"}},
		required = {"confirm"},
	}}
	local yes = answer.action == "accept" and answer.content.confirm

	return run.reply{content = {{type = "text",
		text = inputs.filename .. (yes and " would be deleted." or " stays.")}}}
end
