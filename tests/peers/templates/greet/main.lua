return function(run, inputs)
	return {greeting = "Hello, " .. inputs.name .. "!"}
end
