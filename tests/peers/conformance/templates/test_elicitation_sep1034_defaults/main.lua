-- SPDX-License-Identifier: Apache-2.0
return function(run)
	local answer = run.elicit{message = "Please look at the values, and change what is wrong", schema = {
		type = "object",
		properties = {
			name = {type = "string", description = "Your name", default = "John Doe"},
			age = {type = "integer", description = "Your age", default = 30},
			score = {type = "number", description = "Your score", default = 95.5},
			status = {type = "string", description = "How it stands",
				enum = {"active", "inactive", "pending"}, default = "active"},
			verified = {type = "boolean", description = "Whether it was checked",
				default = true},
		},
	}}
	return run.reply{content = {{type = "text", text = "Elicitation completed: action=" ..
		answer.action .. ", content=" .. run.json.encode(answer.content or {})}}}
end
