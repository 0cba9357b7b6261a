-- SPDX-License-Identifier: Apache-2.0
return function(run)
	local said = {}
	local function ask(key)
		return run.elicit{key = key, message = "Your " .. key .. " name?", schema = {
			type = "object",
			properties = {name = {type = "string"}, confirm = {type = "boolean"}},
			required = {"name"},
		}}
	end

	for i, item in ipairs(run.map({"first", "second"}, {concurrency = 2}, ask)) do
		said[i] = item.ok and item.value.action or item.error.message
	end
	return run.reply{content = {{type = "text", text = table.concat(said, ", ")}}}
end
