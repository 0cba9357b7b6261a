-- SPDX-License-Identifier: Apache-2.0
return function(run)
	return run.reply{content = {
		{type = "text", text = "This is a simple text response for testing."},
	}}
end
