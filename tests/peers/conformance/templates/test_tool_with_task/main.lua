-- SPDX-License-Identifier: Apache-2.0
return function(run)
	local answer = run.elicit{key = "user_name", message = "What is your name?", schema = {
		type = "object",
		properties = {name = {type = "string"}},
		required = {"name"},
	}}

	run.sleep(1500)
	return run.reply{content = {{type = "text",
		text = "Hello, " .. (answer.content and answer.content.name or "nobody") .. "!"}}}
end
