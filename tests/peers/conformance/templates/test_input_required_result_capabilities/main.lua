-- SPDX-License-Identifier: Apache-2.0
local questions = {
	function(run)
		return run.elicit{key = "user_name", message = "What is your name?", schema = {
			type = "object",
			properties = {name = {type = "string"}},
			required = {"name"},
		}}.action
	end,
	function(run)
		return run.sample{key = "greeting", maxTokens = 50,
			messages = "Generate a greeting"}.content.text
	end,
	function(run)
		return #run.roots{key = "client_roots"} .. " roots"
	end,
}

return function(run)
	local said = {}

	-- what this client cannot be asked raises, and is an answer as well
	for i, ask in ipairs(run.map(questions, {}, function(ask) return ask(run) end)) do
		said[i] = ask.ok and tostring(ask.value) or ask.error.code
	end
	return run.reply{content = {{type = "text", text = table.concat(said, "; ")}}}
end
