-- SPDX-License-Identifier: Apache-2.0
return function(run)
	return run.reply{isError = true, content = {
		{type = "text", text = "This tool intentionally returns an error for testing"},
	}}
end
