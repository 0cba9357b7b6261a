-- SPDX-License-Identifier: Apache-2.0
return function(run, inputs)
	return {greeting = "Hello, " .. inputs.name .. "!"}
end
