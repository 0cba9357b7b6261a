-- SPDX-License-Identifier: Apache-2.0
-- check_records: records against rules, a step per record.
--
-- A record that breaks a rule fails its step, so the run's status tells how
-- good the data is: succeeded, partial_success, failed.

local find, format, gsub, sub = string.find, string.format, string.gsub, string.sub

local MAX_FAILURES_SHOWN = 1000
local MAX_SHOWN = 200	-- characters of a value in a message

-- Values --------------------------------------------------------------------

local ARRAY_MARK	-- what run.array marks empty arrays with, set at the start

local function is_array(v)
	if type(v) ~= "table" then
		return false
	end
	return v[1] ~= nil or (next(v) == nil and ARRAY_MARK ~= nil and getmetatable(v) == ARRAY_MARK)
end

local function type_of(v, null)
	if v == null then
		return "null"
	elseif type(v) == "number" then
		return math.tointeger(v) and "integer" or "number"
	elseif type(v) == "table" then
		return is_array(v) and "array" or "object"
	end
	return type(v)
end

-- The same text for the same value, whatever its members' order, and for 1
-- and 1.0.
local function canonical(v, null)
	local kind = type_of(v, null)
	if kind == "string" then
		return format("%q", v)
	elseif kind == "integer" then
		return tostring(math.tointeger(v))
	elseif kind == "number" then
		return format("%.17g", v)
	elseif kind ~= "array" and kind ~= "object" then
		return kind == "null" and "null" or tostring(v)
	end
	local parts = {}
	for k, item in pairs(v) do
		local text = canonical(item, null)
		parts[#parts + 1] = kind == "array" and format("%012d %s", k, text) or format("%q %s", k, text)
	end
	table.sort(parts)
	return kind .. "(" .. table.concat(parts, ",") .. ")"
end

local function number_text(x)
	local text = math.type(x) == "integer" and tostring(x) or format("%.15g", x)
	return tonumber(text) == x and text or format("%.17g", x)
end

local function shown(run, v)
	local text = v
	if type(v) == "number" then
		text = number_text(v)
	elseif type(v) ~= "string" then
		text = run.json.encode(v)
	end
	local cut = #text > MAX_SHOWN and utf8.offset(text, MAX_SHOWN + 1)
	return cut and cut <= #text and sub(text, 1, cut - 1) .. "…" or text
end

-- Fields --------------------------------------------------------------------

-- A JSON Pointer if it begins with "/", else the name of a member.
local function parse_field(field)
	if sub(field, 1, 1) ~= "/" then
		return {field}
	end
	local keys = {}
	for token in string.gmatch(field, "/([^/]*)") do
		keys[#keys + 1] = gsub(gsub(token, "~1", "/"), "~0", "~")
	end
	return keys
end

-- The Lua index that KEY names, or 0, which no array has.
local function array_index(key)
	local digits = #key <= 17 and (key == "0" or find(key, "^[1-9]%d*$"))
	return digits and tonumber(key) + 1 or 0
end

-- nil: there is no such field.
local function lookup(record, keys, null)
	local v = record
	for _, key in ipairs(keys) do
		if type(v) ~= "table" or v == null then
			return nil
		elseif is_array(v) then
			v = v[array_index(key)]
		else
			v = v[key]
		end
		if v == nil then
			return nil
		end
	end
	return v
end

-- Rules: each gets the context, the rule's value and the field's value, and
-- gives what is wrong, or nil --------------------------------------------------

local function allowed_types(wanted)
	return type(wanted) == "table" and wanted or {wanted}
end

local function check_type(c, wanted, v)
	local kind = type_of(v, c.null)
	for _, t in ipairs(allowed_types(wanted)) do
		if t == kind or (t == "number" and kind == "integer") then
			return nil
		end
	end
	return format("is of type %s, not %s", kind, table.concat(allowed_types(wanted), " or "))
end

local function check_min(c, low, v)
	if type(v) ~= "number" then
		return "is not a number"
	end
	return v < low and format("is less than %s", shown(c.run, low)) or nil
end

local function check_max(c, high, v)
	if type(v) ~= "number" then
		return "is not a number"
	end
	return v > high and format("is more than %s", shown(c.run, high)) or nil
end

local function length_of(v)
	if type(v) == "string" then
		return utf8.len(v) or #v, "characters"
	elseif is_array(v) then
		return #v, "items"
	end
end

local function check_min_length(_, low, v)
	local n, unit = length_of(v)
	if not n then
		return "has no length: it is neither a string nor an array"
	end
	return n < low and format("has %d %s, fewer than %d", n, unit, low) or nil
end

local function check_max_length(_, high, v)
	local n, unit = length_of(v)
	if not n then
		return "has no length: it is neither a string nor an array"
	end
	return n > high and format("has %d %s, more than %d", n, unit, high) or nil
end

-- A bad pattern is the caller's mistake, not the record's: it ends the run.
local function check_pattern(c, pattern, v)
	if type(v) ~= "string" then
		return "is not a string"
	end
	local ok, at = pcall(find, v, pattern)
	if not ok then
		c.bad_pattern = format("%q: %s", pattern, tostring(at))
		c.run.error("BAD_PATTERN", c.bad_pattern)
	end
	return not at and format("does not match the Lua pattern %s", pattern) or nil
end

local function check_enum(c, choices, v)
	local text = canonical(v, c.null)
	for _, choice in ipairs(choices) do
		if canonical(choice, c.null) == text then
			return nil
		end
	end
	return "is none of the values allowed"
end

local function check_unique(c, _, v)
	local first = c.seen[c.rule][canonical(v, c.null)]
	return first ~= c.index and format("repeats the value of record %d", first) or nil
end

local function check_equals(c, other, v)
	local w = lookup(c.record, parse_field(other), c.null)
	if w == nil then
		return format("has nothing to equal: there is no %s", other)
	end
	return canonical(v, c.null) ~= canonical(w, c.null) and format("differs from %s", other) or nil
end

-- In the order in which they are checked and reported.
local CHECKS = {
	{key = "type", check = check_type, code = "WRONG_TYPE"},
	{key = "min", check = check_min, code = "TOO_SMALL"},
	{key = "max", check = check_max, code = "TOO_LARGE"},
	{key = "minLength", check = check_min_length, code = "TOO_SHORT"},
	{key = "maxLength", check = check_max_length, code = "TOO_LONG"},
	{key = "pattern", check = check_pattern, code = "PATTERN_MISMATCH"},
	{key = "enum", check = check_enum, code = "NOT_ALLOWED"},
	{key = "unique", check = check_unique, code = "NOT_UNIQUE"},
	{key = "equalsField", check = check_equals, code = "NOT_EQUAL"},
}

local function takes_null(rule)
	for _, t in ipairs(allowed_types(rule.type)) do
		if t == "null" then
			return true
		end
	end
	return false
end

-- Checking ------------------------------------------------------------------

local function break_rule(c, list, rule, key, code, message, v)
	local failure = {index = c.index, field = rule.field, rule = key, message = rule.field .. " " .. message}
	if v ~= nil then
		failure.value = shown(c.run, v)
	end
	list[#list + 1] = {code = code, failure = failure}
end

local function check_rule(c, list, rule)
	local v = lookup(c.record, c.keys[rule], c.null)
	if v == nil or (v == c.null and not takes_null(rule)) then
		if rule.required then
			break_rule(c, list, rule, "required", "MISSING", v == nil and "is missing" or "is null", nil)
		end
		return
	elseif v == c.null then
		return
	end
	c.rule = rule
	for _, check in ipairs(CHECKS) do
		local wanted = rule[check.key]
		if wanted ~= nil and wanted ~= false then
			local message = check.check(c, wanted, v)
			if message then
				break_rule(c, list, rule, check.key, check.code, message, v)
			end
		end
	end
end

local function check_record(c)
	local list = {}
	for _, rule in ipairs(c.rules) do
		check_rule(c, list, rule)
	end
	return list
end

-- Which record had each value of each unique field first.
local function first_holders(records, rules, keys, null)
	local seen = {}
	for _, rule in ipairs(rules) do
		if rule.unique then
			local holders = {}
			for i, record in ipairs(records) do
				local v = lookup(record, keys[rule], null)
				local text = v ~= nil and v ~= null and canonical(v, null)
				if text and not holders[text] then
					holders[text] = i - 1
				end
			end
			seen[rule] = holders
		end
	end
	return seen
end

local function new_context(run, inputs)
	local c = {run = run, null = run.null, rules = inputs.rules, keys = {}}
	for _, rule in ipairs(inputs.rules) do
		c.keys[rule] = parse_field(rule.field)
		local ok, why = pcall(find, "", rule.pattern or "")
		if not ok then
			run.error("BAD_PATTERN", format("%q: %s", rule.pattern, tostring(why)))
		end
	end
	c.seen = first_holders(inputs.records, inputs.rules, c.keys, run.null)
	return c
end

-- The run -------------------------------------------------------------------

local function csv_field(v)
	local s = v == nil and "" or tostring(v)
	if find(s, '[,"\r\n]') or find(s, "^%s") or find(s, "%s$") then
		return '"' .. gsub(s, '"', '""') .. '"'
	end
	return s
end

local function to_csv(failures)
	local lines = {"index,field,rule,message,value"}
	for i, f in ipairs(failures) do
		lines[i + 1] = table.concat({f.index, csv_field(f.field), f.rule, csv_field(f.message), csv_field(f.value)}, ",")
	end
	lines[#lines + 1] = ""
	return table.concat(lines, "\r\n")
end

local function step_message(list)
	local message = list[1].failure.message
	return #list == 1 and message or format("%s (and %d more)", message, #list - 1)
end

local function run_checks(run, inputs, c)
	local failures, total = {}, #inputs.records
	local results = run.map(inputs.records, {concurrency = 8, step = "record"}, function(record, i)
		c.record, c.index = record, i - 1
		local list = check_record(c)
		for _, broken in ipairs(list) do
			failures[#failures + 1] = broken.failure
		end
		if i % 500 == 0 then
			run.progress(i, total, format("checked %d of %d records", i, total))
		end
		if #list > 0 then
			run.error(list[1].code, step_message(list))
		end
		return true
	end)
	if c.bad_pattern then
		run.error("BAD_PATTERN", c.bad_pattern)
	end
	return failures, results
end

return function(run, inputs)
	ARRAY_MARK = getmetatable(run.array({}))
	local failures, results = run_checks(run, inputs, new_context(run, inputs))
	local result = {total = #results, passed = 0, failed = 0, brokenRules = #failures, failures = run.array({})}
	for _, r in ipairs(results) do
		local key = r.ok and "passed" or "failed"
		result[key] = result[key] + 1
	end
	table.move(failures, 1, math.min(#failures, MAX_FAILURES_SHOWN), 1, result.failures)
	run.artifact({name = "failures.csv", mimeType = "text/csv", data = to_csv(failures)})
	run.progress(#results, #results, format("%d of %d records passed", result.passed, result.total))
	return result
end
