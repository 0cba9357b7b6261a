-- SPDX-License-Identifier: Apache-2.0
return function(run)
	return run.reply{content = {
		{type = "audio", mimeType = "audio/wav",
			data = "UklGRiwAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQgAAACAgICAgICAgA=="},
	}}
end
