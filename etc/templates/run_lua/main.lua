-- SPDX-License-Identifier: Apache-2.0
-- run_lua: runs the code that it is given, and tells what that printed and what
-- it returned. Its globals are its own.

local MOST = 65536 -- bytes of an output that are told: as many of its end as of its beginning
local WHOLE = 8 << 20 -- bytes of a longer one that are kept, as an artifact
local LOGGED = 4096 -- bytes of an output that are logged at a time
local LOG_EVERY = 100 -- milliseconds

-- What was printed: its text, or its beginning and its end, with no character cut in two.
local function told(run, printed, size)
	local whole = table.concat(printed)

	if size <= MOST then
		return whole
	end
	local first = whole:sub(1, MOST // 2):gsub("[\xC0-\xFF][\x80-\xBF]*$", "")
	local last = whole:sub(-(MOST // 2)):gsub("^[\x80-\xBF]+", "")
	local kept = whole
	if size > #whole then -- the end lies behind what is kept
		last = printed.last:sub(-(MOST // 2)):gsub("^[\x80-\xBF]+", "")
	end
	local ok = pcall(run.artifact, {name = "stdout.txt", mimeType = "text/plain", data = kept})
	local where = ""
	if ok then
		where = size > #whole and "; its first 8 MiB are the artifact stdout.txt"
			or "; the whole is the artifact stdout.txt"
	end
	return ("%s\n[%d bytes are left out here%s]\n%s"):format(first, size - #first - #last, where, last)
end

return function(run, inputs)
	local printed, size, kept = {last = ""}, 0, 0
	local fresh, began, logged_ms = {}, run.deadline(), -LOG_EVERY
	local answer = {stdout = "", stderr = "", exitCode = 0}

	-- While it runs: a run that meets a limit has no answer.
	local function log()
		local now = began - run.deadline()

		if #fresh == 0 or now - logged_ms < LOG_EVERY then
			return
		end
		local all = table.concat(fresh)
		local missed = #all - LOGGED
		if missed > 0 then
			all = ("(%d bytes before this are not logged)\n"):format(missed) .. all:sub(-LOGGED)
		end
		run.log("info", "stdout: " .. all:gsub("\n$", ""))
		fresh, logged_ms = {}, now
	end

	local function write(text)
		size = size + #text
		if kept < WHOLE then
			printed[#printed + 1] = text:sub(1, WHOLE - kept)
			kept = kept + #printed[#printed]
		end
		if size > WHOLE then
			printed.last = (printed.last .. text):sub(-MOST)
		end
		fresh[#fresh + 1] = text
		log()
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
			answer.stderr = ("ended after %d ms, which is its timeoutMs\n"):format(inputs.timeoutMs)
			answer.result = nil
			answer.exitCode = 124
		end
	else
		go()
	end
	answer.stdout = told(run, printed, size)
	if size > MOST then
		answer.truncated = {stdout = size}
	end
	return answer
end
