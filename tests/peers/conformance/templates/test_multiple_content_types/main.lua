-- SPDX-License-Identifier: Apache-2.0
return function(run)
	return run.reply{content = {
		{type = "text", text = "Multiple content types test:"},
		{type = "image", mimeType = "image/png",
			data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC"},
		{type = "resource", resource = {uri = "test://mixed-content-resource",
			mimeType = "application/json", text = '{"test":"data","value":123}'}},
	}}
end
