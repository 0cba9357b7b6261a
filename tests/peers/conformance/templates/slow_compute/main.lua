-- SPDX-License-Identifier: Apache-2.0
return function(run, inputs)
	run.sleep(math.floor(inputs.seconds * 1000))
	return run.reply{content = {{type = "text",
		text = (inputs.label or "It") .. " is done."}}}
end
