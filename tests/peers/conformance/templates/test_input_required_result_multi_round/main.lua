-- SPDX-License-Identifier: Apache-2.0
return function(run)
	local function ask(key, message, field)
		local answer = run.elicit{key = key, message = message, schema = {
			type = "object",
			properties = {[field] = {type = "string"}},
			required = {field},
		}}
		return answer.content and answer.content[field] or "nothing"
	end
	local name = ask("step1", "Step 1: What is your name?", "name")
	local color = ask("step2", "Step 2: What is your favorite color?", "color")

	return run.reply{content = {{type = "text", text = name .. " likes " .. color}}}
end
