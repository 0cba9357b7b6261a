-- SPDX-License-Identifier: Apache-2.0
-- json_query: JSONPath (RFC 9535, without functions) or a JSON Pointer
-- (RFC 6901) over a document.
--
-- A path is parsed into segments, each a list of selectors; evaluating maps a
-- list of nodes through one segment after the other. Members of objects are
-- visited by name, so that the same query always gives the same order.

local byte, find, format, gsub = string.byte, string.find, string.format, string.gsub
local match, sub = string.match, string.sub

local MAX_NODES = 1000000	-- that any step of a query may give
local MAX_INLINE_BYTES = 1 << 20
local MAX_ARTIFACT_BYTES = 32 << 20
local MAX_NESTING = 100		-- of a path's filters and parentheses
local INT_LIMIT = (1 << 53) - 1	-- of indices and slices

local NULL, ARRAY_MARK	-- the runtime's, set at the start

-- Values --------------------------------------------------------------------

local function is_array(v)
	if type(v) ~= "table" or v == NULL then
		return false
	end
	return v[1] ~= nil or (next(v) == nil and ARRAY_MARK ~= nil and getmetatable(v) == ARRAY_MARK)
end

local function is_object(v)
	return type(v) == "table" and v ~= NULL and not is_array(v)
end

local function sorted_keys(object)
	local keys = {}
	for k in pairs(object) do
		keys[#keys + 1] = k
	end
	table.sort(keys)
	return keys
end

local function equal(a, b)
	if a == b then
		return true
	elseif type(a) ~= "table" or type(b) ~= "table" or a == NULL or b == NULL or is_array(a) ~= is_array(b) then
		return false
	end
	for k, v in pairs(a) do
		if b[k] == nil or not equal(v, b[k]) then
			return false
		end
	end
	for k in pairs(b) do
		if a[k] == nil then
			return false
		end
	end
	return true
end

local function less(a, b)
	local kind = type(a)
	return kind == type(b) and (kind == "number" or kind == "string") and a < b
end

-- Nothing (nil: a query without result) equals nothing alone.
local COMPARE = {
	["=="] = function(a, b) return equal(a, b) end,
	["!="] = function(a, b) return not equal(a, b) end,
	["<"] = function(a, b) return less(a, b) end,
	[">"] = function(a, b) return less(b, a) end,
	["<="] = function(a, b) return less(a, b) or equal(a, b) end,
	[">="] = function(a, b) return less(b, a) or equal(a, b) end,
}

-- Parsing: P has the text, where we are, and how to complain -----------------

local function fail(p, expected)
	local found = p.pos > #p.text and "the end" or format("%q", match(p.text, utf8.charpattern, p.pos) or "?")
	p.run.error("INVALID_PATH", format("%s: at character %d: expected %s, found %s", p.text,
		(utf8.len(p.text, 1, p.pos - 1) or p.pos - 1) + 1, expected, found))
end

local function skip_space(p)
	p.pos = find(p.text, "[^ \t\r\n]", p.pos) or #p.text + 1
end

local function peek(p, token)
	return sub(p.text, p.pos, p.pos + #token - 1) == token
end

local function accept(p, token)
	if peek(p, token) then
		p.pos = p.pos + #token
		return true
	end
	return false
end

local function expect(p, token)
	if not accept(p, token) then
		fail(p, token)
	end
end

local function take(p, pattern)
	local text = match(p.text, pattern, p.pos)
	if text then
		p.pos = p.pos + #text
	end
	return text
end

local ESCAPES = {b = "\b", f = "\f", n = "\n", r = "\r", t = "\t", ["/"] = "/", ["\\"] = "\\"}

local function parse_unicode(p)
	local code = tonumber(take(p, "^%x%x%x%x") or fail(p, "four hexadecimal digits"), 16)
	if code >= 0xD800 and code <= 0xDBFF then
		local low = accept(p, "\\u") and tonumber(take(p, "^[dD][c-fC-F]%x%x") or fail(p, "a low surrogate"), 16)
		if not low then
			fail(p, "a low surrogate")
		end
		code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
	elseif code >= 0xDC00 and code <= 0xDFFF then
		fail(p, "a high surrogate before a low one")
	end
	return utf8.char(code)
end

local function parse_escape(p, quote)
	local c = take(p, "^.") or fail(p, "an escape")
	if c == "u" then
		return parse_unicode(p)
	elseif c == quote then
		return quote
	elseif not ESCAPES[c] then
		p.pos = p.pos - 1
		fail(p, "an escape")
	end
	return ESCAPES[c]
end

local function parse_string(p)
	local quote = take(p, "^['\"]")
	local plain = "^[^%c\\" .. quote .. "]+"
	local parts = {}
	while not accept(p, quote) do
		local piece = take(p, plain) or take(p, "^\127")
		if not piece then
			expect(p, "\\")
			piece = parse_escape(p, quote)
		end
		parts[#parts + 1] = piece
	end
	return table.concat(parts)
end

local function parse_int(p)
	local text = take(p, "^-?[1-9]%d*") or take(p, "^0")
	if not text then
		return nil
	end
	local n = #text <= 17 and tonumber(text)
	if not n or math.abs(n) > INT_LIMIT then
		fail(p, "an integer within 2^53")
	end
	return n
end

local function parse_slice(p, from)
	local s = {kind = "slice", from = from, step = 1}
	skip_space(p)
	s.to = parse_int(p)
	skip_space(p)
	if accept(p, ":") then
		skip_space(p)
		s.step = parse_int(p) or 1
	end
	return s
end

local function parse_index_or_slice(p)
	local n, after = parse_int(p), nil
	after = p.pos
	skip_space(p)
	if accept(p, ":") then
		return parse_slice(p, n)
	end
	p.pos = after
	if not n then
		fail(p, "a name in quotes, *, an index, a slice or a filter")
	end
	return {kind = "index", index = n}
end

local parse_filter -- it holds paths, which hold filters

local function parse_selector(p)
	if accept(p, "*") then
		return {kind = "all"}
	elseif accept(p, "?") then
		skip_space(p)
		return {kind = "filter", test = parse_filter(p)}
	elseif peek(p, "'") or peek(p, '"') then
		return {kind = "name", name = parse_string(p)}
	end
	return parse_index_or_slice(p)
end

local function parse_bracket(p)
	local selectors = {}
	repeat
		skip_space(p)
		selectors[#selectors + 1] = parse_selector(p)
		skip_space(p)
	until not accept(p, ",")
	expect(p, "]")
	return selectors
end

local function parse_dotted(p)
	if accept(p, "*") then
		return {{kind = "all"}}
	end
	local name = take(p, "^[%a_\x80-\xff][%w_\x80-\xff]*")
	return {{kind = "name", name = name or fail(p, "a name or *")}}
end

local function parse_segment(p)
	if accept(p, "[") then
		return {selectors = parse_bracket(p)}
	elseif accept(p, "..") then
		return {deep = true, selectors = accept(p, "[") and parse_bracket(p) or parse_dotted(p)}
	elseif accept(p, ".") then
		return {selectors = parse_dotted(p)}
	end
end

-- What follows $ or @. Space may come before a segment, but not after all.
local function parse_segments(p)
	local segments = {}
	while true do
		local before = p.pos
		skip_space(p)
		local segment = parse_segment(p)
		if not segment then
			p.pos = before
			return segments
		end
		segments[#segments + 1] = segment
	end
end

local function is_singular(segments)
	for _, s in ipairs(segments) do
		local kind = s.selectors[1].kind
		if s.deep or #s.selectors > 1 or (kind ~= "name" and kind ~= "index") then
			return false
		end
	end
	return true
end

local function parse_number(p)
	local start = p.pos
	local whole = take(p, "^-?[1-9]%d*") or take(p, "^-?0")
	if not whole then
		return nil
	end
	take(p, "^%.%d+")
	take(p, "^[eE][+-]?%d+")
	return tonumber(sub(p.text, start, p.pos - 1))
end

local WORDS = {["true"] = true, ["false"] = false}

local function parse_literal(p)
	if peek(p, "'") or peek(p, '"') then
		return {kind = "literal", value = parse_string(p)}
	end
	local number = parse_number(p)
	if number then
		return {kind = "literal", value = number}
	end
	local start = p.pos
	local word = take(p, "^%l[%l_%d]*")
	if word and peek(p, "(") then
		p.pos = start
		fail(p, "something else than a function (they are not supported)")
	elseif word == "null" then
		return {kind = "literal", value = NULL}
	elseif word and WORDS[word] ~= nil then
		return {kind = "literal", value = WORDS[word]}
	end
	p.pos = start
	fail(p, "@, $, a literal, ! or (")
end

local function parse_operand(p)
	if accept(p, "@") then
		return {kind = "query", segments = parse_segments(p)}
	elseif accept(p, "$") then
		return {kind = "query", absolute = true, segments = parse_segments(p)}
	end
	return parse_literal(p)
end

local function need_value(p, operand, at)
	if operand.kind == "query" and not is_singular(operand.segments) then
		p.pos = at
		fail(p, "a query that gives at most one value, in a comparison")
	end
end

local function parse_comparison(p)
	local at = p.pos
	local left = parse_operand(p)
	local after = p.pos
	skip_space(p)
	local operator = take(p, "^[=!]=") or take(p, "^[<>]=?")
	if not operator then
		p.pos = after
		if left.kind == "literal" then
			fail(p, "a comparison")
		end
		return {kind = "exists", query = left}
	end
	need_value(p, left, at)
	skip_space(p)
	at = p.pos
	local right = parse_operand(p)
	need_value(p, right, at)
	return {kind = "compare", with = COMPARE[operator], left = left, right = right}
end

local function parse_basic(p)
	local negated = accept(p, "!")
	if negated then
		skip_space(p)
	end
	local test
	if accept(p, "(") then
		skip_space(p)
		test = parse_filter(p)
		skip_space(p)
		expect(p, ")")
	else
		local at = p.pos
		test = parse_comparison(p)
		if negated and test.kind == "compare" then
			p.pos = at
			fail(p, "parentheses around what ! negates")
		end
	end
	return negated and {kind = "not", test = test} or test
end

-- A chain of what PART parses, joined by OPERATOR.
local function parse_chain(p, operator, kind, part)
	local list = {part(p)}
	while true do
		local before = p.pos
		skip_space(p)
		if not accept(p, operator) then
			p.pos = before
			return #list == 1 and list[1] or {kind = kind, list = list}
		end
		skip_space(p)
		list[#list + 1] = part(p)
	end
end

local function parse_and(p)
	return parse_chain(p, "&&", "and", parse_basic)
end

function parse_filter(p)
	p.nesting = p.nesting + 1
	if p.nesting > MAX_NESTING then
		fail(p, format("at most %d levels of filters and parentheses", MAX_NESTING))
	end
	local test = parse_chain(p, "||", "or", parse_and)
	p.nesting = p.nesting - 1
	return test
end

local function parse_path(run, text, roots)
	local p = {run = run, text = text, pos = 1, nesting = 0}
	if not take(p, roots) then
		fail(p, roots == "^%$" and "$" or "$ or @")
	end
	local segments = parse_segments(p)
	if p.pos <= #text then
		fail(p, "a segment: .name, [...] or ..")
	end
	return segments
end

-- Evaluating: a node list is values V and, where wanted, pointers P ----------

local function new_nodes(value, pointer)
	return {v = {value}, p = pointer and {pointer} or nil, n = value ~= nil and 1 or 0}
end

local function add(q, out, value, base, key)
	local n = out.n + 1
	if n > MAX_NODES then
		q.run.error("TOO_MANY_MATCHES", format("the query gives more than %d nodes; narrow it", MAX_NODES))
	end
	out.n, out.v[n] = n, value
	if base then
		if type(key) == "string" then
			key = gsub(gsub(key, "~", "~0"), "/", "~1")
		end
		out.p[n] = base .. "/" .. key
	end
end

-- Call F with each child of V, in order, and its key (from 0 in an array).
local function each_child(v, f)
	if is_array(v) then
		for i = 1, #v do
			f(v[i], i - 1)
		end
	elseif is_object(v) then
		for _, k in ipairs(sorted_keys(v)) do
			f(v[k], k)
		end
	end
end

local function clamp(x, low, high)
	return math.max(low, math.min(high, x))
end

-- Where a slice of LEN items begins and (exclusive) ends.
local function slice_bounds(s, len)
	local from, to = s.from, s.to
	if s.step > 0 then
		from, to = from or 0, to or len
	else
		from, to = from or len - 1, to or -len - 1
	end
	from = from >= 0 and from or len + from
	to = to >= 0 and to or len + to
	if s.step > 0 then
		return clamp(from, 0, len), clamp(to, 0, len)
	end
	return clamp(from, -1, len - 1), clamp(to, -1, len - 1)
end

local test_holds -- filters evaluate queries, which evaluate filters

local SELECT = {}

function SELECT.name(q, s, v, base, out)
	if is_object(v) and v[s.name] ~= nil then
		add(q, out, v[s.name], base, s.name)
	end
end

function SELECT.index(q, s, v, base, out)
	if is_array(v) then
		local i = s.index >= 0 and s.index or #v + s.index
		if i >= 0 and i < #v then
			add(q, out, v[i + 1], base, i)
		end
	end
end

function SELECT.all(q, _, v, base, out)
	each_child(v, function(child, key)
		add(q, out, child, base, key)
	end)
end

function SELECT.slice(q, s, v, base, out)
	if not is_array(v) or s.step == 0 then
		return
	end
	local from, to = slice_bounds(s, #v)
	for i = from, s.step > 0 and to - 1 or to + 1, s.step do
		add(q, out, v[i + 1], base, i)
	end
end

function SELECT.filter(q, s, v, base, out)
	each_child(v, function(child, key)
		if test_holds(q, s.test, child) then
			add(q, out, child, base, key)
		end
	end)
end

local function apply(q, selectors, v, base, out)
	for _, s in ipairs(selectors) do
		SELECT[s.kind](q, s, v, base, out)
	end
end

-- V itself, then all that is below it, parents first.
local function descend(q, v, base, out)
	if type(v) ~= "table" then
		return
	end
	local n = out.n + 1
	if n > MAX_NODES then
		q.run.error("TOO_MANY_MATCHES", format("the query visits more than %d nodes; narrow it", MAX_NODES))
	end
	out.n, out.v[n] = n, v
	if base then
		out.p[n] = base
	end
	each_child(v, function(child, key)
		if type(key) == "string" then
			key = gsub(gsub(key, "~", "~0"), "/", "~1")
		end
		descend(q, child, base and base .. "/" .. key, out)
	end)
end

local function empty_like(nodes)
	return {v = {}, p = nodes.p and {} or nil, n = 0}
end

local function evaluate(q, segments, nodes)
	for _, segment in ipairs(segments) do
		if segment.deep then
			local all = empty_like(nodes)
			for i = 1, nodes.n do
				descend(q, nodes.v[i], nodes.p and nodes.p[i], all)
			end
			nodes = all
		end
		local out = empty_like(nodes)
		for i = 1, nodes.n do
			apply(q, segment.selectors, nodes.v[i], nodes.p and nodes.p[i], out)
		end
		nodes = out
	end
	return nodes
end

local function run_query(q, query, current)
	return evaluate(q, query.segments, new_nodes(query.absolute and q.document or current))
end

local function value_of(q, operand, current)
	if operand.kind == "literal" then
		return operand.value
	end
	return run_query(q, operand, current).v[1]
end

local TEST = {
	["exists"] = function(q, t, current)
		return run_query(q, t.query, current).n > 0
	end,
	["compare"] = function(q, t, current)
		return t.with(value_of(q, t.left, current), value_of(q, t.right, current))
	end,
	["not"] = function(q, t, current)
		return not test_holds(q, t.test, current)
	end,
	["and"] = function(q, t, current)
		for _, part in ipairs(t.list) do
			if not test_holds(q, part, current) then
				return false
			end
		end
		return true
	end,
	["or"] = function(q, t, current)
		for _, part in ipairs(t.list) do
			if test_holds(q, part, current) then
				return true
			end
		end
		return false
	end,
}

function test_holds(q, t, current)
	return TEST[t.kind](q, t, current)
end

-- Pointers ------------------------------------------------------------------

local function check_pointer(run, pointer)
	if pointer ~= "" and byte(pointer) ~= 47 then
		run.error("INVALID_POINTER", format("%s: a JSON Pointer is empty or begins with /", pointer))
	elseif find(pointer, "~[^01]") or find(pointer, "~$") then
		run.error("INVALID_POINTER", format("%s: after ~ comes 0 (for ~) or 1 (for /)", pointer))
	end
end

-- The Lua index that KEY names, or 0, which no array has.
local function array_index(key)
	local digits = #key <= 17 and (match(key, "^[1-9]%d*$") or match(key, "^0$"))
	return digits and tonumber(digits) + 1 or 0
end

local function follow_pointer(run, pointer, document)
	check_pointer(run, pointer)
	local v = document
	for token in string.gmatch(pointer, "/([^/]*)") do
		local key = gsub(gsub(token, "~1", "/"), "~0", "~")
		if is_array(v) then
			v = v[array_index(key)]
		elseif is_object(v) then
			v = v[key]
		else
			v = nil
		end
		if v == nil then
			return new_nodes(nil, "")
		end
	end
	return new_nodes(v, pointer)
end

-- Results -------------------------------------------------------------------

-- The first matches, within both bounds. What was left out is in an artifact.
local function inline_matches(run, nodes, max)
	local matches, pointers, bytes = run.array({}), run.array({}), 0
	for i = 1, math.min(nodes.n, max) do
		bytes = bytes + #run.json.encode(nodes.v[i]) + #nodes.p[i]
		if bytes > MAX_INLINE_BYTES then
			break
		end
		matches[i], pointers[i] = nodes.v[i], nodes.p[i]
	end
	return matches, pointers
end

local function too_large(run)
	run.error("RESULT_TOO_LARGE", format("the matches take more than %d bytes as text; narrow the query", MAX_ARTIFACT_BYTES))
end

local function write_matches(run, nodes)
	local parts, bytes = {}, 0
	for i = 1, nodes.n do
		parts[i] = run.json.encode(nodes.v[i])
		bytes = bytes + #parts[i]
		if bytes > MAX_ARTIFACT_BYTES then
			too_large(run)
		end
	end
	run.artifact({name = "matches.json", mimeType = "application/json",
		data = "[" .. table.concat(parts, ",\n") .. "]\n"})
end

local function csv_field(s)
	if find(s, '[,"\r\n]') or find(s, "^%s") or find(s, "%s$") then
		return '"' .. gsub(s, '"', '""') .. '"'
	end
	return s
end

local function number_text(x)
	local text = math.type(x) == "integer" and tostring(x) or format("%.15g", x)
	return tonumber(text) == x and text or format("%.17g", x)
end

local function cell_text(run, v)
	if v == nil or v == NULL then
		return ""
	elseif type(v) == "number" then
		return number_text(v)
	end
	return type(v) == "string" and v or run.json.encode(v)
end

-- Nothing is an empty cell, several values are a JSON array.
local function project_cell(run, q, segments, v)
	local found = evaluate(q, segments, new_nodes(v))
	if found.n <= 1 then
		return csv_field(cell_text(run, found.v[1]))
	end
	return csv_field(run.json.encode(run.array(found.v)))
end

local function write_csv(run, q, columns, nodes)
	local row, lines, bytes = {}, {}, 0
	for i, c in ipairs(columns) do
		row[i] = csv_field(c.name)
	end
	lines[1] = table.concat(row, ",")
	for i = 1, nodes.n do
		for k, c in ipairs(columns) do
			row[k] = project_cell(run, q, c.segments, nodes.v[i])
		end
		lines[i + 1] = table.concat(row, ",")
		bytes = bytes + #lines[i + 1]
		if bytes > MAX_ARTIFACT_BYTES then
			too_large(run)
		end
	end
	lines[#lines + 1] = ""
	run.artifact({name = "matches.csv", mimeType = "text/csv", data = table.concat(lines, "\r\n")})
end

local function parse_columns(run, project)
	local columns = {}
	for i, c in ipairs(project and project.columns or {}) do
		columns[i] = {name = c.name, segments = parse_path(run, c.path, "^[$@]")}
	end
	return columns
end

return function(run, inputs)
	NULL, ARRAY_MARK = run.null, getmetatable(run.array({}))
	local q = {run = run, document = inputs.document}
	local segments = inputs.path and parse_path(run, inputs.path, "^%$")
	local columns = parse_columns(run, inputs.project)
	local nodes
	if segments then
		nodes = evaluate(q, segments, new_nodes(inputs.document, ""))
	else
		nodes = follow_pointer(run, inputs.pointer, inputs.document)
	end
	local result = {count = nodes.n}
	result.matches, result.pointers = inline_matches(run, nodes, inputs.maxMatches or 1000)
	result.truncated = #result.matches < nodes.n
	if result.truncated then
		write_matches(run, nodes)
	end
	if #columns > 0 then
		write_csv(run, q, columns, nodes)
	end
	run.progress(1, 1, format("%d match%s", nodes.n, nodes.n == 1 and "" or "es"))
	return result
end
