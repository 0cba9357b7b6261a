-- SPDX-License-Identifier: Apache-2.0
return function(run)
	run.sleep(100)
	return run.reply{error = {code = -32603, message = "The job cannot go on."}}
end
