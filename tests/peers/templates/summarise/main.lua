-- SPDX-License-Identifier: Apache-2.0
return function(run, inputs)
	local answer = run.sample{
		messages = {{role = "user", content = {type = "text", text = inputs.text}}},
		maxTokens = 50,
	}
	return {summary = answer.content.text, model = answer.model}
end
