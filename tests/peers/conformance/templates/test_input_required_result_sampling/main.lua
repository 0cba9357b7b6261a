-- SPDX-License-Identifier: Apache-2.0
return function(run)
	local said = run.sample{key = "capital_question", maxTokens = 100,
		messages = "What is the capital of France?"}

	return run.reply{content = {{type = "text", text = tostring(said.content.text)}}}
end
