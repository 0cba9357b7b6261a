-- SPDX-License-Identifier: Apache-2.0
-- csv_profile: what is in a CSV text, column by column.
--
-- The text is read once and turned into one string per block of cells and
-- column ("a\0b\0c\0"): a tenth of the memory that a table of cells takes.
-- Each column is then counted by itself, value by value, so that the cost of
-- classifying and sorting follows the distinct values, not the rows.

local byte, find, gmatch, gsub = string.byte, string.find, string.gmatch, string.gsub
local format, match, sub = string.format, string.match, string.sub
local concat, sort = table.concat, table.sort

local QUOTE, CR, LF = 34, 13, 10
local MAX_COLUMNS = 1000	-- a step each
local MAX_TRACKED = 100000	-- distinct values of a column kept apart
local MAX_SHOWN = 200		-- characters of a value in the output
local MAX_LINES = 10		-- line numbers in a warning
local BUFFERED_CELLS = 100000	-- before they are packed into blocks
local SAMPLE_BYTES, SAMPLE_RECORDS = 65536, 100
local SCALAR_BYTES = 40		-- no number or date is longer

local DEFAULT_NULLS = {"", "NA", "N/A", "null", "NULL"}
local DEFAULT_QUANTILES = {0.05, 0.25, 0.5, 0.75, 0.95}

-- Values --------------------------------------------------------------------

-- By hand: a pattern like "%s*$" is quadratic on long runs of spaces.
local function trim(s)
	local from = find(s, "%S")
	if not from then
		return ""
	end
	local to = #s
	while find(s, "^%s", to) do
		to = to - 1
	end
	return sub(s, from, to)
end

-- Noise of the last bits removed; 3.0 becomes 3. nil when it is not finite.
local function tidy(x)
	x = tonumber(format("%.15g", x))
	if not x or x ~= x or x == math.huge or x == -math.huge then
		return nil
	end
	return math.tointeger(x) or x
end

local function valid_utf8(s)
	if utf8.len(s) then
		return s
	end
	return (gsub(s, "[\x80-\xff]", "\u{FFFD}"))
end

local function shown(s)
	s = valid_utf8(s)
	if #s <= MAX_SHOWN then
		return s
	end
	local cut = utf8.offset(s, MAX_SHOWN + 1)
	return cut and cut <= #s and sub(s, 1, cut - 1) .. "…" or s
end

local function days_in_month(year, month)
	if month == 2 then
		local leap = year % 4 == 0 and (year % 100 ~= 0 or year % 400 == 0)
		return leap and 29 or 28
	end
	return (month == 4 or month == 6 or month == 9 or month == 11) and 30 or 31
end

-- Days since 0000-03-01, in the proleptic Gregorian calendar; nil: no such day.
local function day_number(year, month, day)
	year, month, day = tonumber(year), tonumber(month), tonumber(day)
	if month < 1 or month > 12 or day < 1 or day > days_in_month(year, month) then
		return nil
	end
	if month < 3 then
		year, month = year - 1, month + 12
	end
	return 365 * year + year // 4 - year // 100 + year // 400 + (153 * (month - 3) + 2) // 5 + day
end

local function zone_seconds(zone)
	if zone == "" or zone == "Z" or zone == "z" then
		return 0
	end
	local sign, hours, minutes = match(zone, "^([+-])(%d%d):?(%d%d)$")
	if not sign or tonumber(hours) > 23 or tonumber(minutes) > 59 then
		return nil
	end
	local seconds = tonumber(hours) * 3600 + tonumber(minutes) * 60
	return sign == "-" and -seconds or seconds
end

local function clock_seconds(text)
	local h, m, rest = match(text, "^(%d%d):(%d%d)(.*)$")
	if not h or tonumber(h) > 23 or tonumber(m) > 59 then
		return nil
	end
	local s, zone = match(rest, "^:(%d%d%.?%d*)(.*)$")
	if not s then
		s, zone = "0", rest
	end
	local offset = zone_seconds(zone)
	if not offset or tonumber(s) >= 61 then
		return nil
	end
	return tonumber(h) * 3600 + tonumber(m) * 60 + tonumber(s) - offset
end

-- ISO 8601's extended forms, and / for -. Kind and a number to order by.
local function classify_date(s)
	local y, dash, m, d, rest = match(s, "^(%d%d%d%d)([-/])(%d%d?)%2(%d%d?)(.*)$")
	if not y then
		return nil
	end
	local day = day_number(y, m, d)
	if not day then
		return nil
	elseif rest == "" then
		return "date", day * 86400
	end
	local seconds = match(rest, "^[Tt ]") and clock_seconds(sub(rest, 2))
	if seconds then
		return "datetime", day * 86400 + seconds
	end
end

local function classify_number(s)
	local sign, whole = match(s, "^([+-]?)(%d*)")
	if #whole > 1 and byte(whole) == 48 and sign == "" then
		-- 007 and 01234 are identifiers: as numbers they would lose digits.
		return match(s, "^%d+$") and "code" or nil
	end
	if #sign + #whole == #s and whole ~= "" then
		if #whole > 18 then
			return "code"
		end
		return "integer", tonumber(s)
	end
	local fraction, exponent = match(s, "^%.?(%d*)(.*)$", #sign + #whole + 1)
	if whole .. fraction == "" or (exponent ~= "" and not find(exponent, "^[eE][+-]?%d+$")) then
		return nil
	end
	local x = tonumber(s)
	if x and x - x == 0 then
		return "number", x + 0.0
	end
end

local BOOLEANS = {["true"] = true, ["false"] = true, yes = true, no = true}

-- The kind of a trimmed, non-missing value, and what orders it.
local function classify(s)
	if #s > SCALAR_BYTES then
		return "string"
	end
	local first = byte(s)
	if first >= 48 and first <= 57 or first == 43 or first == 45 or first == 46 then
		local kind, key = classify_date(s)
		if not kind then
			kind, key = classify_number(s)
		end
		return kind or "string", key
	end
	return BOOLEANS[s:lower()] and "boolean" or "string"
end

-- Warnings ------------------------------------------------------------------

local MESSAGES = {
	EMPTY_INPUT = "the text is empty: there is no header and no row",
	NO_ROWS = "there is a header but no row of data",
	BOM_DROPPED = "the text began with a byte order mark, which is not part of the first name",
	INVALID_UTF8 = "lines that are not valid UTF-8; shown with replacement characters",
	REPLACEMENT_CHARACTER = "lines with U+FFFD: an earlier conversion has already lost characters",
	BLANK_LINES = "blank lines, skipped",
	TOO_FEW_FIELDS = "rows with fewer fields than there are columns; what they lack counts as missing",
	TOO_MANY_FIELDS = "rows with more fields than there are columns; the surplus is ignored. Is a delimiter unquoted?",
	STRAY_QUOTE = "quotes inside a field that does not begin with one, or text after a closing quote; kept as they stand. Is there a space before a quote?",
	UNTERMINATED_QUOTE = "a quoted field is never closed: all that follows became part of it",
	EMPTY_NAME = "columns without a name in the header, named by their position",
	DUPLICATE_NAME = "columns whose name was taken, told apart by a suffix",
}

local function new_notes()
	return {order = {}}
end

local function note(notes, code, line)
	local n = notes[code]
	if not n then
		n = {code = code, count = 0, lines = {}}
		notes[code] = n
		notes.order[#notes.order + 1] = n
	end
	n.count = n.count + 1
	if line and n.lines[#n.lines] ~= line and #n.lines < MAX_LINES then
		n.lines[#n.lines + 1] = line
	end
end

local function warnings_of(notes)
	local list = {}
	for i, n in ipairs(notes.order) do
		list[i] = {code = n.code, message = MESSAGES[n.code], count = n.count}
		if #n.lines > 0 then
			list[i].lines = n.lines
		end
	end
	return list
end

-- Records -------------------------------------------------------------------

local function escape_class(c)
	return (gsub(c, "%W", "%%%0"))
end

local function new_reader(text, delimiter, notes)
	local d = escape_class(delimiter)
	return {
		text = text, pos = 1, line = 1, notes = notes,
		delimiter = byte(delimiter),
		plain = "^([^" .. d .. '"\r\n]*)()',
		rest = "^([^" .. d .. "\r\n]*)()",
	}
end

local function count_lines(cell)
	local _, n = gsub(gsub(cell, "\r\n", "\n"), "[\r\n]", "")
	return n
end

-- The field whose opening quote is at POS, and where it stops.
local function read_quoted(r, pos)
	local text, from = r.text, pos + 1
	local close, doubled = find(text, '"', from, true), false
	while close and byte(text, close + 1) == QUOTE do
		doubled = true
		close = find(text, '"', close + 2, true)
	end
	if not close then
		note(r.notes, "UNTERMINATED_QUOTE", r.line)
		close = #text + 1
	end
	local cell = sub(text, from, close - 1)
	if find(cell, "[\r\n]") then
		r.line_add = r.line_add + count_lines(cell)
	end
	if doubled then
		cell = gsub(cell, '""', '"')
	end
	local rest, stop = match(text, r.rest, close + 1)
	if rest and rest ~= "" then
		note(r.notes, "STRAY_QUOTE", r.line)
		cell = cell .. rest
	end
	return cell, stop or close
end

local function read_stray(r, pos)
	note(r.notes, "STRAY_QUOTE", r.line)
	return match(r.text, r.rest, pos)
end

-- Fill ROW with the record at r.pos; how many fields, and its first line.
local function read_record(r, row)
	local text, pos, plain, delimiter = r.text, r.pos, r.plain, r.delimiter
	local n, c = 0, nil
	r.line_add = 1
	repeat
		local cell, stop = match(text, plain, pos)
		c = byte(text, stop)
		if c == QUOTE then
			if stop == pos then
				cell, stop = read_quoted(r, pos)
			else
				cell, stop = read_stray(r, pos)
			end
			c = byte(text, stop)
		end
		n = n + 1
		row[n] = cell
		pos = stop + 1
	until c ~= delimiter
	if c == CR and byte(text, pos) == LF then
		pos = pos + 1
	end
	local line = r.line
	r.pos, r.line = pos, line + r.line_add
	return n, line
end

-- A line with nothing on it, not even quotes, is no record.
local function is_blank(r, n, row, began)
	return n == 1 and row[1] == "" and byte(r.text, began) ~= QUOTE
end

-- The next record that is not a blank line; nil at the end.
local function next_record(r, row)
	local len = #r.text
	while r.pos <= len do
		local began = r.pos
		local n, line = read_record(r, row)
		if not is_blank(r, n, row, began) then
			return n, line
		end
		note(r.notes, "BLANK_LINES", line)
	end
end

-- Guessing ------------------------------------------------------------------

-- How steadily the sample splits at DELIMITER: share of the records that have
-- the commonest width, that width, and how many records there were.
local function steadiness(sample, whole, delimiter)
	local r, row, widths, seen = new_reader(sample, delimiter, new_notes()), {}, {}, {}
	local first
	while #seen < SAMPLE_RECORDS do
		local n = next_record(r, row)
		if not n or (not whole and r.pos > #sample) then
			break -- the last record of a cut sample is cut too
		end
		first = first or n
		seen[#seen + 1] = n
		widths[n] = (widths[n] or 0) + 1
	end
	local mode = 1
	for width, times in pairs(widths) do
		local best = widths[mode] or 0
		if times > best or (times == best and width > mode) then
			mode = width
		end
	end
	if mode == 1 then
		return 0, 1, #seen
	end
	local share = widths[mode] / #seen
	return first == mode and share or share / 2, mode, #seen
end

-- Commas come last among equals of several rows: they are also decimal marks.
local function detect_delimiter(text)
	local sample = sub(text, 1, SAMPLE_BYTES)
	local best, best_share, best_width = ",", 0, 1
	for _, d in ipairs({"\t", ";", "|", ","}) do
		local share, width, records = steadiness(sample, #sample == #text, d)
		local tie = share == best_share and share > 0 and records == 1 and width >= best_width
		if share > best_share or tie then
			best, best_share, best_width = d, share, width
		end
	end
	return best
end

local DATA_KINDS = {integer = true, number = true, boolean = true, date = true, datetime = true}

local function is_year(s)
	return #s == 4 and tonumber(s) and tonumber(s) >= 1900 and tonumber(s) <= 2100
end

-- A header has no numbers, dates or booleans, save years beside other names.
local function looks_like_header(row, n, nulls)
	local names = 0
	for i = 1, n do
		local s = trim(row[i])
		if not nulls[s] then
			local data = s ~= "" and DATA_KINDS[classify(s)]
			if data and not is_year(s) then
				return false
			end
			names = names + (data and 0 or 1)
		end
	end
	return names > 0
end

local function column_names(row, n, header, notes)
	local names, taken = {}, {}
	for i = 1, n do
		local name = header and shown(trim(row[i])) or ""
		if name == "" then
			name = "column_" .. i
			if header then
				note(notes, "EMPTY_NAME")
			end
		end
		local unique, suffix = name, 1
		while taken[unique] do
			suffix = suffix + 1
			unique = name .. "_" .. suffix
		end
		if suffix > 1 then
			note(notes, "DUPLICATE_NAME")
		end
		taken[unique] = true
		names[i] = unique
	end
	return names
end

-- Columns -------------------------------------------------------------------

-- NUL ends a packed cell, so a NUL in the text (and the escape) is escaped:
-- such a column is called dirty.
local PACK = {["\0"] = "\1a", ["\1"] = "\1b"}
local UNPACK = {["\1a"] = "\0", ["\1b"] = "\1"}

local function flush(columns, buffers, k, dirty)
	for c = 1, #columns do
		local buffer, blocks = buffers[c], columns[c].blocks
		if dirty then
			for i = 1, k do
				buffer[i] = gsub(buffer[i], "[\0\1]", PACK)
			end
		end
		buffer[k + 1] = ""
		blocks[#blocks + 1] = concat(buffer, "\0", 1, k + 1)
	end
end

-- Every record that is left, into COLUMNS. How many there were.
local function read_rows(r, columns, pending, tick)
	local width, row, buffers = #columns, {}, {}
	for c = 1, width do
		buffers[c] = {}
	end
	local block = math.max(16, math.min(4096, BUFFERED_CELLS // width))
	local dirty = columns[1].dirty
	local rows, k = 0, 0
	local function store(n, line)
		k, rows = k + 1, rows + 1
		for c = 1, width do
			buffers[c][k] = c <= n and row[c] or ""
		end
		if n ~= width then
			note(r.notes, n < width and "TOO_FEW_FIELDS" or "TOO_MANY_FIELDS", line)
		end
		if k == block then
			flush(columns, buffers, k, dirty)
			k = 0
			tick(r.pos, rows)
		end
	end
	if pending then -- the first record, which turned out to be data
		row = pending.row
		store(pending.n, pending.line)
	end
	local n, line = next_record(r, row)
	while n do
		store(n, line)
		n, line = next_record(r, row)
	end
	if k > 0 then
		flush(columns, buffers, k, dirty)
	end
	return rows
end

local function each_line_with(text, notes, code, bad)
	local n = 0
	for line in gmatch(text, "([^\n]*)\n?") do
		n = n + 1
		if bad(line) then
			note(notes, code, n)
		end
	end
end

local function check_encoding(text, notes)
	if not utf8.len(text) then
		each_line_with(text, notes, "INVALID_UTF8", function(line)
			return not utf8.len(line)
		end)
	end
	if find(text, "\u{FFFD}", 1, true) then
		each_line_with(text, notes, "REPLACEMENT_CHARACTER", function(line)
			return find(line, "\u{FFFD}", 1, true)
		end)
	end
end

local function parse(run, inputs, nulls, tick)
	local notes, text = new_notes(), inputs.csv
	if sub(text, 1, 3) == "\xEF\xBB\xBF" then
		note(notes, "BOM_DROPPED")
		text = sub(text, 4)
	end
	check_encoding(text, notes)
	local delimiter = inputs.delimiter or detect_delimiter(text)
	local r, row = new_reader(text, delimiter, notes), {}
	local parsed = {delimiter = delimiter, columns = {}, rows = 0, notes = notes}
	local n, line = next_record(r, row)
	if not n then
		parsed.header = inputs.header == true
		note(notes, "EMPTY_INPUT")
		return parsed
	end
	if n > MAX_COLUMNS then
		run.error("TOO_MANY_COLUMNS", format("the first record has %d fields; at most %d columns are profiled", n, MAX_COLUMNS))
	end
	parsed.header = inputs.header
	if parsed.header == nil then
		parsed.header = looks_like_header(row, n, nulls)
	end
	local dirty = find(text, "[\0\1]") ~= nil
	for i, name in ipairs(column_names(row, n, parsed.header, notes)) do
		parsed.columns[i] = {name = name, blocks = {}, dirty = dirty}
	end
	local pending = not parsed.header and {row = row, n = n, line = line} or nil
	parsed.rows = read_rows(r, parsed.columns, pending, tick)
	if parsed.rows == 0 then
		note(notes, "NO_ROWS")
	end
	return parsed
end

-- Counting ------------------------------------------------------------------

local function new_tally(nulls)
	return {nulls = nulls, missing = 0, distinct = 0, exact = true, kinds = {}, examples = {}, weight = {}, values = {}, extra = {}}
end

local function widen(t, low, high, value, key)
	local from, to = t[low], t[high]
	if not from or key < from.key or (key == from.key and value < from.value) then
		t[low] = {key = key, value = value}
	end
	if not to or key > to.key or (key == to.key and value < to.value) then
		t[high] = {key = key, value = value}
	end
end

local function tally_number(t, x, times, tracked)
	local w = t.weight[x]
	if not tracked then
		t.extra[#t.extra + 1] = x
	elseif w then
		t.weight[x] = w + times
	else
		t.weight[x] = times
		t.values[#t.values + 1] = x
	end
end

-- CELL came TIMES times. Whether it is a value, not missing.
local function tally(t, cell, times, tracked)
	local s = trim(cell)
	if t.nulls[s] then
		t.missing = t.missing + times
		return false
	end
	local kind, key = "string", nil
	if s ~= "" then
		kind, key = classify(s)
	end
	t.kinds[kind] = (t.kinds[kind] or 0) + times
	local example = t.examples[kind]
	if not example or cell < example then
		t.examples[kind] = cell
	end
	local len = utf8.len(cell) or #cell
	t.shortest = math.min(t.shortest or len, len)
	t.longest = math.max(t.longest or len, len)
	if not t.low or cell < t.low then
		t.low = cell
	end
	if not t.high or cell > t.high then
		t.high = cell
	end
	if kind == "integer" or kind == "number" then
		tally_number(t, key, times, tracked)
	elseif key then
		widen(t, "earliest", "latest", s, key)
	end
	return true
end

local function comes_before(a, b)
	return a.count > b.count or (a.count == b.count and a.value < b.value)
end

-- Keep the MAX first of all that are offered, by insertion.
local function offer(top, max, value, count)
	local n = #top
	local entry = {value = value, count = count}
	if n == max then
		if n == 0 or not comes_before(entry, top[n]) then
			return
		end
		n = n - 1
	end
	while n > 0 and comes_before(entry, top[n]) do
		top[n + 1] = top[n]
		n = n - 1
	end
	top[n + 1] = entry
end

-- How often each text occurs. Those past MAX_TRACKED are tallied at once.
local function count_cells(column, t)
	local counts, tracked = {}, 0
	for i, block in ipairs(column.blocks) do
		for cell in gmatch(block, "([^\0]*)\0") do
			local n = counts[cell]
			if n then
				counts[cell] = n + 1
			elseif tracked < MAX_TRACKED then
				counts[cell], tracked = 1, tracked + 1
			else
				if column.dirty then
					cell = gsub(cell, "\1[ab]", UNPACK)
				end
				if tally(t, cell, 1, false) then
					t.exact = false
				end
			end
		end
		column.blocks[i] = "" -- counted: let it go
	end
	return counts
end

local function tally_column(column, nulls, max_top)
	local t, top = new_tally(nulls), {}
	for cell, n in pairs(count_cells(column, t)) do
		if column.dirty then
			cell = gsub(cell, "\1[ab]", UNPACK)
		end
		if tally(t, cell, n, true) then
			t.distinct = t.distinct + 1
			offer(top, max_top, cell, n)
		end
	end
	t.top = top
	return t
end

local function type_of(kinds)
	local function only(...)
		local allowed = {}
		for _, kind in ipairs({...}) do
			allowed[kind] = true
		end
		for kind in pairs(kinds) do
			if not allowed[kind] then
				return false
			end
		end
		return true
	end
	if not next(kinds) then
		return "empty"
	elseif only("integer") then
		return "integer"
	elseif only("integer", "number") then
		return "number"
	elseif only("boolean") then
		return "boolean"
	elseif only("date") then
		return "date"
	elseif only("date", "datetime") then
		return "datetime"
	elseif kinds.string and only("string", "boolean") then
		return "string" -- the NO among countries is Norway
	elseif kinds.code and only("string", "boolean", "code", "integer") then
		return "string"
	end
	return "mixed"
end

-- Statistics ----------------------------------------------------------------

-- The values in order, and how often each occurs (nil: once).
local function ordered_numbers(t)
	local values, weight = t.values, t.weight
	for _, x in ipairs(t.extra) do
		local w = weight[x]
		if w then
			weight[x] = w + 1
		else
			values[#values + 1] = x
		end
	end
	t.extra = nil
	sort(values)
	return values, weight
end

-- Neumaier's sum: as good as exact for what is rounded to 15 digits.
local function weighted_sum(values, weight, f)
	local total, lost = 0.0, 0.0
	for i = 1, #values do
		local x = values[i]
		local term = f(x + 0.0) * (weight[x] or 1)
		local next_total = total + term
		if math.abs(total) >= math.abs(term) then
			lost = lost + ((total - next_total) + term)
		else
			lost = lost + ((term - next_total) + total)
		end
		total = next_total
	end
	return total + lost
end

local function mean_and_deviation(values, weight, n)
	local mean = weighted_sum(values, weight, function(x) return x end) / n
	if n < 2 then
		return tidy(mean), nil
	end
	local squares = weighted_sum(values, weight, function(x) return (x - mean) * (x - mean) end)
	return tidy(mean), tidy(math.sqrt(squares / (n - 1)))
end

-- The values at RANKS (counted from 0), in one walk.
local function at_ranks(values, weight, ranks)
	local found, seen, i = {}, 0, 0
	sort(ranks)
	for _, rank in ipairs(ranks) do
		while seen <= rank do
			i = i + 1
			seen = seen + (weight[values[i]] or 1)
		end
		found[rank] = values[i] + 0.0
	end
	return found
end

-- Between two neighbours. What is left when they cancel out is noise: zero.
local function interpolate(from, to, share)
	local x = from * (1 - share) + to * share
	if math.abs(x) < 1e-15 * (math.abs(from) + math.abs(to)) then
		return 0
	end
	return tidy(x)
end

-- How far a position lies behind its floor, less the last bit's noise.
local function fraction(position, low)
	return tonumber(format("%." .. 15 - #tostring(low) .. "f", position - low))
end

local function quantiles_of(values, weight, n, wanted)
	local ranks, out = {}, {}
	for _, q in ipairs(wanted) do
		local low = math.floor((n - 1) * q)
		ranks[#ranks + 1] = low
		ranks[#ranks + 1] = math.min(low + 1, n - 1)
	end
	local found = at_ranks(values, weight, ranks)
	for _, q in ipairs(wanted) do
		local low = math.floor((n - 1) * q)
		local from, to = found[low], found[math.min(low + 1, n - 1)]
		out[format("%.14g", q)] = interpolate(from, to, fraction((n - 1) * q, low))
	end
	return out
end

local function add_numbers(out, t, wanted)
	local values, weight = ordered_numbers(t)
	out.min, out.max = tidy(values[1]), tidy(values[#values])
	if math.type(values[1]) == "integer" then
		out.min = values[1]
	end
	if math.type(values[#values]) == "integer" then
		out.max = values[#values]
	end
	out.mean, out.stddev = mean_and_deviation(values, weight, out.count)
	if #wanted > 0 then
		out.quantiles = quantiles_of(values, weight, out.count, wanted)
	end
end

local function add_kinds(out, t)
	out.kinds, out.examples = {}, {}
	for kind, n in pairs(t.kinds) do
		kind = kind == "code" and "string" or kind
		out.kinds[kind] = (out.kinds[kind] or 0) + n
	end
	for kind in pairs(out.kinds) do
		out.examples[kind] = shown(t.examples[kind] or t.examples.code)
	end
end

local function profile(run, column, rows, settings)
	local t = tally_column(column, settings.nulls, settings.max_top)
	local out = {
		name = column.name, type = type_of(t.kinds),
		count = rows - t.missing, missing = t.missing,
		missingShare = rows > 0 and tidy(format("%.6f", t.missing / rows)) or 0,
		distinct = t.distinct, distinctExact = t.exact,
		minLength = t.shortest, maxLength = t.longest,
	}
	if out.type == "integer" or out.type == "number" then
		add_numbers(out, t, settings.quantiles)
	elseif out.type == "date" or out.type == "datetime" then
		out.min, out.max = t.earliest.value, t.latest.value
	elseif out.type == "string" then
		out.min, out.max = shown(t.low), shown(t.high)
	elseif out.type == "mixed" then
		add_kinds(out, t)
	end
	for _, entry in ipairs(t.top) do
		entry.value = shown(entry.value)
	end
	out.top = run.array(t.top)
	return out
end

-- Artifacts -----------------------------------------------------------------

local function csv_field(v)
	local s = v == nil and "" or tostring(v)
	if math.type(v) == "float" then
		s = format("%.15g", v)
	end
	if find(s, '[,"\r\n]') or find(s, "^%s") or find(s, "%s$") then
		return '"' .. gsub(s, '"', '""') .. '"'
	end
	return s
end

local PLAIN = {"name", "type", "count", "missing", "missingShare", "distinct", "distinctExact",
	"min", "max", "mean", "stddev", "minLength", "maxLength"}

local function to_csv(columns, quantiles)
	local head, lines = {}, {}
	for i, key in ipairs(PLAIN) do
		head[i] = key
	end
	for _, q in ipairs(quantiles) do
		head[#head + 1] = "q" .. format("%.14g", q)
	end
	head[#head + 1], head[#head + 2] = "topValue", "topCount"
	lines[1] = concat(head, ",")
	for _, c in ipairs(columns) do
		local row = {}
		for i, key in ipairs(PLAIN) do
			row[i] = csv_field(c[key])
		end
		for _, q in ipairs(quantiles) do
			row[#row + 1] = csv_field(c.quantiles and c.quantiles[format("%.14g", q)])
		end
		local top = c.top[1] or {}
		row[#row + 1], row[#row + 2] = csv_field(top.value), csv_field(top.count)
		lines[#lines + 1] = concat(row, ",")
	end
	lines[#lines + 1] = ""
	return concat(lines, "\r\n")
end

-- The run -------------------------------------------------------------------

local function check_delimiter(run, d)
	if d and (#d ~= 1 or find(d, '["\r\n%w]') or d == "\0") then
		run.error("BAD_DELIMITER", "the delimiter must be one ASCII character that is no letter, digit, quote or line end")
	end
end

local function settings_of(inputs)
	local nulls = {}
	for _, v in ipairs(inputs.nullValues or DEFAULT_NULLS) do
		nulls[trim(v)] = true
	end
	return {nulls = nulls, quantiles = inputs.quantiles or DEFAULT_QUANTILES, max_top = inputs.maxDistinct or 20}
end

local function count_of(n, one)
	return format("%d %s%s", n, one, n == 1 and "" or "s")
end

-- Reading is the first half of the progress, the columns most of the rest.
local function new_tick(run, len)
	local shown_at = 0
	return function(pos, rows)
		if run.cancelled() then
			run.error("CANCELED", "cancelled while reading")
		end
		local percent = 50 * pos // (len + 1)
		if percent >= shown_at + 5 then
			shown_at = percent
			run.progress(percent, 100, "read " .. count_of(rows, "row"))
		end
	end
end

local function profile_columns(run, parsed, settings)
	local columns, done = run.array({}), 0
	local results = run.map(parsed.columns, {concurrency = 4, step = "column"}, function(column)
		local out = profile(run, column, parsed.rows, settings)
		done = done + 1
		run.progress(50 + 45 * done // #parsed.columns, 100, "profiled " .. shown(column.name))
		return out
	end)
	for i, r in ipairs(results) do
		if not r.ok then
			run.error(r.error.code, r.error.message)
		end
		columns[i] = r.value
	end
	return columns
end

local function mixed_warnings(columns, warnings)
	for _, c in ipairs(columns) do
		if c.type == "mixed" then
			warnings[#warnings + 1] = {code = "MIXED_COLUMN", count = 1, column = c.name,
				message = "values of several types; see its kinds and examples"}
		end
	end
end

return function(run, inputs)
	check_delimiter(run, inputs.delimiter)
	local settings = settings_of(inputs)
	local parsed = run.step("parse", function()
		return parse(run, inputs, settings.nulls, new_tick(run, #inputs.csv))
	end)
	inputs.csv = nil -- the packed columns have it all
	local columns = profile_columns(run, parsed, settings)
	local warnings = run.array(warnings_of(parsed.notes))
	mixed_warnings(columns, warnings)
	local result = {rows = parsed.rows, columns = columns, warnings = warnings,
		delimiter = parsed.delimiter, header = parsed.header}
	run.step("write", function()
		run.artifact({name = "profile.csv", mimeType = "text/csv", data = to_csv(columns, settings.quantiles)})
		run.artifact({name = "profile.json", mimeType = "application/json", data = run.json.encode(result)})
	end)
	run.progress(100, 100, format("profiled %s of %s", count_of(#columns, "column"), count_of(parsed.rows, "row")))
	return result
end
