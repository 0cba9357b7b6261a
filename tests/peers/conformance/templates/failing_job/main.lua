-- SPDX-License-Identifier: Apache-2.0
return function(run)
	run.sleep(1000)
	return run.reply{isError = true, content = {{type = "text", text = "The job failed."}}}
end
