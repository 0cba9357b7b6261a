-- SPDX-License-Identifier: Apache-2.0
return function(run)
	run.sleep(100)
	return run.reply{content = {{type = "text",
		text = "Reconnection test completed."}}}
end
