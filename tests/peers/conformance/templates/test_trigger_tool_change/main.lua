-- SPDX-License-Identifier: Apache-2.0
-- The test's runner reads in the server's log that this ran, changes the folder
-- of templates and has the server read it again: a template cannot do that.
return function(run)
	return run.reply{content = {{type = "text", text = "A change was asked for."}}}
end
