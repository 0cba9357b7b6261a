-- SPDX-License-Identifier: Apache-2.0
return function(run, inputs)
	local answer = run.elicit{message = inputs.message, schema = {
		type = "object",
		properties = {
			username = {type = "string", description = "Your name"},
			email = {type = "string", description = "Your e-mail address"},
		},
		required = {"username", "email"},
	}}
	return run.reply{content = {{type = "text", text = "User response: action=" ..
		answer.action .. ", content=" .. run.json.encode(answer.content or {})}}}
end
