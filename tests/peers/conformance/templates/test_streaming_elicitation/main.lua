-- SPDX-License-Identifier: Apache-2.0
return function(run)
	run.progress(1, 2, "about to ask")
	local answer = run.elicit{key = "go_on", message = "Shall it go on?", schema = {
		type = "object",
		properties = {ok = {type = "boolean"}},
		required = {"ok"},
	}}
	return run.reply{content = {{type = "text", text = "The user chose " .. answer.action}}}
end
