-- SPDX-License-Identifier: Apache-2.0
return function(run)
	local answer = run.elicit{key = "user_name", message = "What is your name?", schema = {
		type = "object",
		properties = {name = {type = "string"}},
		required = {"name"},
	}}

	if answer.action ~= "accept" then
		return run.reply{content = {{type = "text", text = "Hello, whoever you are!"}}}
	end
	return run.reply{content = {{type = "text",
		text = "Hello, " .. answer.content.name .. "!"}}}
end
