-- SPDX-License-Identifier: Apache-2.0
return function(run)
	local names = {}

	for i, root in ipairs(run.roots{key = "client_roots"}) do
		names[i] = root.name or root.uri
	end
	return run.reply{content = {{type = "text",
		text = "Roots: " .. table.concat(names, ", ")}}}
end
