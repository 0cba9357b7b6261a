-- SPDX-License-Identifier: Apache-2.0
return function(run)
	return run.reply{content = {
		{type = "image", mimeType = "image/png",
			data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC"},
	}}
end
