-- SPDX-License-Identifier: Apache-2.0
return function(run, inputs)
	local said = run.sample{maxTokens = 100, messages = {
		{role = "user", content = {type = "text", text = inputs.prompt}},
	}}
	return run.reply{content = {{type = "text",
		text = "LLM response: " .. tostring(said.content.text)}}}
end
