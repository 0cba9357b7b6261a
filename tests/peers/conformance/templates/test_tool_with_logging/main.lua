-- SPDX-License-Identifier: Apache-2.0
return function(run)
	for _, line in ipairs{"Tool execution started", "Tool processing data",
			      "Tool execution completed"} do
		run.log("info", line)
		run.sleep(50)
	end
	return run.reply{content = {{type = "text", text = "Three lines were logged."}}}
end
