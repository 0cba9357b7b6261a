-- SPDX-License-Identifier: Apache-2.0
-- run_lua: runs the code that it is given, and tells what that printed and what
-- it returned. Its globals are its own.

local MOST = 65536 -- bytes of an output that are told

return function(run, inputs)
	local printed, size, kept = {}, 0, 0
	local answer = {stdout = "", stderr = "", exitCode = 0}

	local function write(text)
		size = size + #text
		if kept < MOST then
			text = text:sub(1, MOST - kept)
			kept = kept + #text
			printed[#printed + 1] = text
		end
	end

	local env = setmetatable({
		run = run,
		stdin = inputs.stdin or "",
		files = inputs.files or {},
		print = function(...)
			local words = table.pack(...)
			for i = 1, words.n do
				words[i] = tostring(words[i])
			end
			write(table.concat(words, "\t") .. "\n")
		end,
	}, {__index = _G})
	env._G = env

	local function fail(message)
		answer.stderr = tostring(message) .. "\n"
		answer.exitCode = 1
	end

	local function go()
		local code, message = load(inputs.code, "=main.lua", "t", env)

		if not code then
			return fail(message)
		end
		local ok, result = pcall(code, table.unpack(inputs.args or {}))
		if not ok then
			return fail(type(result) == "table" and result.message or result)
		end
		if result == nil then
			return
		end
		if not pcall(run.json.encode, result) then
			return fail("the value that it returned is a " .. type(result) ..
				", which is no JSON")
		end
		answer.result = result
	end

	if inputs.timeoutMs then
		local ended, why = pcall(run.step, "code", go, {timeout = inputs.timeoutMs, optional = true})

		if not ended then
			if why.code ~= "STEP_TIMEOUT" then
				error(why)
			end
			answer.stderr, answer.result = "", nil
			answer.exitCode = 124
		end
	else
		go()
	end
	answer.stdout = table.concat(printed)
	if size > MOST then
		answer.truncated = {stdout = size}
	end
	return answer
end
