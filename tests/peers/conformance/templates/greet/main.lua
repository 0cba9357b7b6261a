-- SPDX-License-Identifier: Apache-2.0
return function(run, inputs)
	return run.reply{content = {{type = "text", text = "Hello, " .. inputs.name .. "!"}}}
end
