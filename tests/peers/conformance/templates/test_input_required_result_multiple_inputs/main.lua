-- SPDX-License-Identifier: Apache-2.0
local questions = {
	function(run)
		local answer = run.elicit{key = "user_name", message = "What is your name?", schema = {
			type = "object",
			properties = {name = {type = "string"}},
			required = {"name"},
		}}
		return answer.content and answer.content.name or "nobody"
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

	for i, item in ipairs(run.map(questions, {}, function(ask) return ask(run) end)) do
		said[i] = item.ok and tostring(item.value) or item.error.message
	end
	return run.reply{content = {{type = "text", text = table.concat(said, "; ")}}}
end
