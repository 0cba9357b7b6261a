-- SPDX-License-Identifier: Apache-2.0
return function(run)
	run.log("info", "A line that has to be asked for")
	run.log("error", "One more of them")
	return run.reply{content = {{type = "text", text = "Two lines were logged."}}}
end
