-- SPDX-License-Identifier: Apache-2.0
return function(run)
	for done = 0, 100, 50 do
		run.progress(done, 100)
		run.sleep(50)
	end
	return run.reply{content = {{type = "text", text = "Done, all 100 of 100."}}}
end
