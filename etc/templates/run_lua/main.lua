-- SPDX-License-Identifier: Apache-2.0
-- run_lua: runs the code that it is given, and tells what that printed and what
-- it returned. In a notebook this function is called for each cell, and the table of
-- globals stays. A cell may replace any function of Lua's, so those used here are locals.

local concat, pack, sort, unpack = table.concat, table.pack, table.sort, table.unpack
local byte, find, format, gmatch, gsub, sub = string.byte, string.find, string.format, string.gmatch, string.gsub, string.sub
local error, getmetatable, load, next, pcall, rawget, rawlen, rawset, setmetatable, tostring, type, xpcall =
	error, getmetatable, load, next, pcall, rawget, rawlen, rawset, setmetatable, tostring, type, xpcall
local math_type, utf8_len = math.type, utf8.len

local MOST = 65536 -- bytes of an output that are told: as many of its end as of its beginning
local WHOLE = 8 << 20 -- bytes of a longer one that are kept, as an artifact
local LOGGED = 4096 -- bytes of an output that are logged at a time
local LOG_EVERY = 100 -- milliseconds
local NO_MEMORY = "not enough memory" -- Lua's own error
local DEEP = 8 -- tables within tables that are shown
local SORTED = 10000 -- keys of a table that are shown in order
local ASK = "return nil, "
local TRIES = 200 -- places where the last expression of a cell is looked for

local api -- functions of run, as they were before the first cell
local globals -- of a notebook
local output -- of the run

-- ---- what was printed ----

-- Its text, or its beginning and its end, with no character cut in two.
local function told(printed)
	local whole = concat(printed)

	if printed.size <= MOST then
		return whole
	end
	local first = gsub(sub(whole, 1, MOST // 2), "[\xC0-\xFF][\x80-\xBF]*$", "")
	local last = whole
	if printed.size > #whole then -- the end lies behind what is kept
		last = printed.last
	end
	last = gsub(sub(last, -(MOST // 2)), "^[\x80-\xBF]+", "")
	local where = ""
	if pcall(api.artifact, {name = "stdout.txt", mimeType = "text/plain", data = whole}) then
		where = printed.size > #whole and "; its first 8 MiB are the artifact stdout.txt"
			or "; the whole is the artifact stdout.txt"
	end
	return format("%s\n[%d bytes are left out here%s]\n%s", first, printed.size - #first - #last, where, last)
end

-- While it runs: a run that meets a limit has no answer.
local function log(printed)
	local now = printed.began - api.deadline()

	if #printed.fresh == 0 or now - printed.logged_ms < LOG_EVERY then
		return
	end
	local all = concat(printed.fresh)
	local missed = #all - LOGGED
	if missed > 0 then
		all = format("(%d bytes before this are not logged)\n", missed) .. sub(all, -LOGGED)
	end
	api.log("info", "stdout: " .. gsub(all, "\n$", ""))
	printed.fresh, printed.logged_ms = {}, now
end

local function write(text)
	local printed = output

	printed.size = printed.size + #text
	if printed.kept < WHOLE then
		printed[#printed + 1] = sub(text, 1, WHOLE - printed.kept)
		printed.kept = printed.kept + #printed[#printed]
	end
	if printed.size > WHOLE then
		printed.last = sub(printed.last .. text, -MOST)
	end
	printed.fresh[#printed.fresh + 1] = text
	log(printed)
end

-- ---- values ----

local ESCAPES = {["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t", ['"'] = '\\"', ["\\"] = "\\\\"}

local function escaped(char)
	return ESCAPES[char] or format("\\x%02X", byte(char))
end

local function quoted(text)
	local odd = utf8_len(text) and '[%c"\\]' or '[%c"\\\x80-\xFF]'

	return '"' .. gsub(text, odd, escaped) .. '"'
end

local function has_text(value)
	local meta = getmetatable(value)

	return type(meta) == "table" and (rawget(meta, "__tostring") or rawget(meta, "__name")) ~= nil
end

local function is_before(a, b)
	if type(a) ~= type(b) then
		return type(a) < type(b)
	end
	return (type(a) == "number" or type(a) == "string") and a < b
end

-- The keys of TABLE that are not 1 to N.
local function further_keys(table, n)
	local keys = {}

	for key in next, table do
		if math_type(key) ~= "integer" or key < 1 or key > n then
			keys[#keys + 1] = key
		end
	end
	if #keys <= SORTED then
		sort(keys, is_before)
	end
	return keys
end

-- What is beyond the bound is not looked at.
local function show(value, add, above, depth)
	if type(value) == "string" then
		return add(quoted(sub(value, 1, MOST)))
	elseif type(value) ~= "table" or has_text(value) then
		return add(tostring(value))
	elseif above[value] or depth == DEEP then
		return add("{...}")
	end
	local comma, n = "", rawlen(value)
	above[value] = true
	add("{")
	for i = 1, n do
		add(comma)
		show(rawget(value, i), add, above, depth + 1)
		comma = ", "
	end
	local keys = further_keys(value, n)
	for i = 1, #keys do
		local key = keys[i]
		add(comma)
		if type(key) == "string" and find(key, "^[%a_][%w_]*$") then
			add(key)
		else
			add("[")
			show(key, add, above, depth + 1)
			add("]")
		end
		add(" = ")
		show(rawget(value, key), add, above, depth + 1)
		comma = ", "
	end
	above[value] = nil
	add("}")
end

-- The values from FIRST to the last of VALUES as a text; nil: there are none but nil.
local function shown(values, first)
	local parts, size, full = {}, 0, {}
	local function add(text)
		parts[#parts + 1] = text
		size = size + #text
		if size > MOST then
			error(full)
		end
	end

	if values.n < first or values.n == first and values[first] == nil then
		return nil
	end
	local ok, why = pcall(function()
		for i = first, values.n do
			add(i > first and ", " or "")
			show(values[i], add, {}, 0)
		end
	end)
	if ok then
		return concat(parts)
	elseif why ~= full then
		local good, text = pcall(tostring, why)
		return "[a value that cannot be shown: " .. (good and sub(text, 1, 1000) or type(why)) .. "]"
	end
	return (gsub(sub(concat(parts), 1, MOST - 3), "[\xC0-\xFF][\x80-\xBF]*$", "")) .. "..."
end

-- ---- code ----

-- Where the last lines and statements of CODE begin, the last one first.
local function places(code)
	local all, last = {1}, {}

	for at in gmatch(code, "[\n;]()") do
		all[#all + 1] = at
	end
	for i = #all, #all > TRIES and #all - TRIES or 1, -1 do
		last[#last + 1] = all[i]
	end
	return last
end

-- A function of CODE that returns nil and the values of the last expression; or nil. There
-- is a "return" before what is an expression, after what is complete without the expression;
-- with nil, since a call alone would take the place of the code in a traceback. Where the
-- whole is code as it is, the expression begins by a name: others can go on the line before.
local function asking(code, name, env, plain)
	local function try(text)
		return load(text, name, "t", env)
	end

	local all = places(code)
	for i = 1, #all do
		local head, tail = sub(code, 1, all[i] - 1), sub(code, all[i])
		if try(ASK .. tail) and try(head) and (not plain or find(tail, "^%s*[%a_]")) then
			local asked = try(head .. ASK .. tail)
			if asked and not try(head .. "return " .. ASK .. tail) then -- no comment
				return asked
			end
		end
	end
	return nil
end

-- ---- errors ----

local caught -- the error that ended the code, and where

local function on_error(value)
	caught = {value = value, trace = api.traceback("", 2)}
	return value
end

local function text_of(value)
	local message = value

	if type(value) == "table" and rawget(value, "message") ~= nil then
		message = rawget(value, "message")
	end
	local ok, text = pcall(tostring, message)
	return ok and text or "a " .. type(value) .. " whose text cannot be had"
end

-- The error VALUE as the answer has it: of its lines those of cells, and what is between them.
local function error_of(value, trace)
	local code = type(value) == "table" and rawget(value, "code")
	local name, text = type(code) == "string" and sub(code, 1, 128) or "error", text_of(value)
	local lines, cells = {name .. ": " .. text}, 1

	for line in gmatch(trace, "\n\t([^\n]+)") do
		lines[#lines + 1] = line
		cells = find(line, "^cell%-%d+%.lua:") and #lines or cells
	end
	for i = #lines, cells + 1, -1 do
		lines[i] = nil
	end
	return {name = name, value = text, traceback = lines}
end

-- ---- a run ----

-- The code's globals: Lua's own, and what the run has.
local function new_globals(run)
	local env = setmetatable({
		run = run,
		stdin = "",
		files = {},
		print = function(...)
			local words = pack(...)
			for i = 1, words.n do
				words[i] = tostring(words[i])
			end
			write(concat(words, "\t") .. "\n")
		end,
	}, {__index = _G})
	rawset(env, "_G", env)
	return env
end

local function give(env, inputs)
	if inputs.stdin then
		rawset(env, "stdin", inputs.stdin)
	end
	if inputs.files and type(rawget(env, "files")) ~= "table" then
		rawset(env, "files", {})
	end
	for name, bytes in next, inputs.files or {} do
		rawset(rawget(env, "files"), name, bytes)
	end
end

local function fail(answer, message)
	answer.stderr = message .. "\n"
	answer.exitCode = 1
end

-- In a notebook a lack of memory ends the run, and the notebook.
local function fail_by(answer, value, book)
	if not book then
		return fail(answer, text_of(value))
	elseif value == NO_MEMORY then
		error(value, 0)
	end
	answer.error = error_of(value, caught and caught.trace or "")
	fail(answer, concat(answer.error.traceback, "\n\t"))
end

local function go(answer, inputs, env, book)
	local name = book and format("=cell-%d.lua", book.cell) or "=main.lua"
	local plain, message = load(inputs.code, name, "t", env)
	local asked = book and asking(inputs.code, name, env, plain)

	caught = nil
	if not plain and not asked then
		return fail_by(answer, message, book)
	end
	local got = pack(xpcall(asked or plain, on_error, unpack(inputs.args or {})))
	if not got[1] then
		return fail_by(answer, got[2], book)
	end
	if book then
		answer.value = shown(got, asked and 3 or 2)
	end
	if asked or got[2] == nil then
		return
	elseif pcall(api.encode, got[2]) then
		answer.result = got[2]
	elseif not book then
		fail(answer, "the value that it returned is a " .. type(got[2]) .. ", which is no JSON")
	end
end

-- Run the code for at most MS milliseconds.
local function go_until(ms, answer, inputs, env, book)
	local ended, why = pcall(api.step, "code", function() go(answer, inputs, env, book) end, {timeout = ms, optional = true})

	if ended then
		return
	elseif why.code ~= "STEP_TIMEOUT" then
		error(why)
	end
	answer.result, answer.value, answer.error = nil, nil, nil
	answer.stderr = format("ended after %d ms, which is its timeoutMs\n", ms)
	answer.exitCode = 124
	if book then
		answer.notebook.why = (book.lost and book.lost .. "; " or "") ..
			format("the code was ended after %d ms, which is its timeoutMs; what it had set until then stays", ms)
	end
end

return function(run, inputs)
	api = api or {artifact = run.artifact, deadline = run.deadline, encode = run.json.encode, log = run.log, step = run.step, traceback = run.traceback}
	local book = rawget(run, "notebook")
	local env = book and globals or new_globals(run)
	local answer = {stdout = "", stderr = "", exitCode = 0}

	output = {last = "", size = 0, kept = 0, fresh = {}, began = api.deadline(), logged_ms = -LOG_EVERY}
	globals = book and env
	give(env, inputs)
	if book then
		answer.notebook = {name = book.name, cell = book.cell, state = book.cell == 1 and "new" or "kept", why = book.lost}
	end
	if inputs.timeoutMs then
		go_until(inputs.timeoutMs, answer, inputs, env, book)
	else
		go(answer, inputs, env, book)
	end
	answer.stdout = told(output)
	if output.size > MOST then
		answer.truncated = {stdout = output.size}
	end
	return answer
end
