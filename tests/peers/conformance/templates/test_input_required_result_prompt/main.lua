-- SPDX-License-Identifier: Apache-2.0
return function(run)
	return run.reply{content = {{type = "text", text = "See my prompt."}}}
end
