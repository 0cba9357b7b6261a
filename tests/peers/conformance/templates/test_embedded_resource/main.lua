-- SPDX-License-Identifier: Apache-2.0
return function(run)
	return run.reply{content = {
		{type = "resource", resource = {uri = "test://embedded-resource",
			mimeType = "text/plain", text = "This is an embedded resource content."}},
	}}
end
