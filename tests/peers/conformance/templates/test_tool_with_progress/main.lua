-- SPDX-License-Identifier: Apache-2.0
return function(run)
	for done = 0, 100, 50 do
		run.progress(done, 100)
		run.sleep(150) -- so that a busy server, which leaves out what comes fast, tells each
	end
	return run.reply{content = {{type = "text", text = "Done, all 100 of 100."}}}
end
