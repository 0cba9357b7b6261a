-- SPDX-License-Identifier: Apache-2.0
return function(run)
	local answer = run.elicit{message = "Please choose", schema = {
		type = "object",
		properties = {
			untitledSingle = {type = "string", description = "One",
				enum = {"option1", "option2", "option3"}},
			titledSingle = {type = "string", description = "One, with titles", oneOf = {
				{const = "value1", title = "First Option"},
				{const = "value2", title = "Second Option"},
				{const = "value3", title = "Third Option"},
			}},
			legacyEnum = {type = "string", description = "One, as it once was",
				enum = {"opt1", "opt2", "opt3"},
				enumNames = {"Option One", "Option Two", "Option Three"}},
			untitledMulti = {type = "array", description = "Several",
				items = {type = "string", enum = {"option1", "option2", "option3"}}},
			titledMulti = {type = "array", description = "Several, with titles",
				items = {anyOf = {
					{const = "value1", title = "First Choice"},
					{const = "value2", title = "Second Choice"},
					{const = "value3", title = "Third Choice"},
				}}},
		},
	}}
	return run.reply{content = {{type = "text", text = "Elicitation completed: action=" ..
		answer.action .. ", content=" .. run.json.encode(answer.content or {})}}}
end
