-- SPDX-License-Identifier: Apache-2.0
return function(run)
	local said = run.sample{key = "needed", messages = "Say yes.", maxTokens = 10}
	return run.reply{content = {{type = "text", text = tostring(said.content.text)}}}
end
