-- SPDX-License-Identifier: Apache-2.0
-- log_digest: what an access log says, in one pass over one big string.
--
-- No table is made per line: a pattern takes a line apart where it stands,
-- and what it captures is counted at once. Memory follows the distinct paths,
-- clients and latencies, each with a bound, not the lines.

local byte, find, format, match, sub = string.byte, string.find, string.format, string.match, string.sub
local gsub, sort, concat = string.gsub, table.sort, table.concat

local LF, CR = 10, 13
local MAX_TRACKED = 200000	-- distinct paths, and as many clients
local MAX_LATENCIES = 300000	-- distinct ones; more are rounded
local MAX_METHODS = 20
local MAX_BUCKETS = 2000	-- in time; with more, they get wider
local MAX_UNPARSED = 5		-- lines shown
local MAX_SHOWN = 200		-- characters of a path, client or line
local PROGRESS_BYTES = 4 << 20

-- client - user [minute:second zone] "request" status bytes. Patterns never
-- have two neighbours that match the same: a bad line must not cost more.
local LINE = '^(%S+) [^%[\n]*%[(%d%d?/%a%a%a/%d%d%d%d:%d%d:%d%d):(%d%d) ([+-]%d%d%d%d)%] '
	.. '"()[^"\n]*" (%d%d%d) ([%d-]+)()'
local REQUEST = '^([^ "\n]*) ?([^ "\n]*)'
local REFERER_AGENT = '^ "[^"\n]*" "[^"\n]*"()'
local LAST_NUMBER = "[%s=](%d+%.?%d*)%s*$"
local LAST_BYTES = 40		-- a number at the end is no longer

-- Compressed data is seldom valid UTF-8, so it may arrive as Latin-1, with
-- replacement characters, or in base64.
local MAGICS = {
	{"\x1f\x8b", "gzip"}, {"\x1f\u{8b}", "gzip"}, {"\x1f\u{FFFD}", "gzip"}, {"H4sI", "gzip in base64"},
	{"BZh", "bzip2"},
	{"\xfd7zXZ", "xz"}, {"\u{FD}7zXZ", "xz"}, {"\u{FFFD}7zXZ", "xz"},
	{"(\xb5/\xfd", "zstd"}, {"(\u{B5}/\u{FD}", "zstd"}, {"(\u{FFFD}/\u{FFFD}", "zstd"},
}

local function refuse_compressed(run, log)
	for _, magic in ipairs(MAGICS) do
		if sub(log, 1, #magic[1]) == magic[1] then
			run.error("UNSUPPORTED_INPUT", "the log is compressed (" .. magic[2] .. "); decompress it first and send the text")
		end
	end
end

-- Time ----------------------------------------------------------------------

local MONTHS = {Jan = 1, Feb = 2, Mar = 3, Apr = 4, May = 5, Jun = 6, Jul = 7, Aug = 8, Sep = 9, Oct = 10, Nov = 11, Dec = 12}
local SIZES = {minute = 60, hour = 3600, day = 86400}
local WIDER = {minute = "hour", hour = "day"}

-- Days since 1970-01-01 in the Gregorian calendar.
local function day_number(year, month, day)
	if month < 3 then
		year, month = year - 1, month + 12
	end
	return 365 * year + year // 4 - year // 100 + year // 400 + (153 * (month - 3) + 2) // 5 + day - 719469
end

-- Seconds since 1970 in UTC of "10/Oct/2000:13:55" and "-0700"; nil: no such.
local function minute_start(minute, zone)
	local d, name, y, h, m = match(minute, "^(%d%d?)/(%a%a%a)/(%d%d%d%d):(%d%d):(%d%d)$")
	local month = MONTHS[name]
	d, h, m = tonumber(d), tonumber(h), tonumber(m)
	if not month or d < 1 or d > 31 or h > 23 or m > 59 then
		return nil
	end
	local sign, zh, zm = match(zone, "^([+-])(%d%d)(%d%d)$")
	local offset = tonumber(zh) * 3600 + tonumber(zm) * 60
	return day_number(tonumber(y), month, d) * 86400 + h * 3600 + m * 60
		- (sign == "-" and -offset or offset)
end

local function iso(seconds)
	return os.date("!%Y-%m-%dT%H:%M:%SZ", seconds)
end

-- Counters ------------------------------------------------------------------

local function new_counter(bound)
	return {of = {}, distinct = 0, bound = bound, others = 0}
end

-- Values first seen when the counter is full are counted together.
local function count(c, key)
	local n = c.of[key]
	if n then
		c.of[key] = n + 1
	elseif c.distinct < c.bound then
		c.of[key], c.distinct = 1, c.distinct + 1
	else
		c.others = c.others + 1
	end
end

local function new_digest(bucket)
	return {
		lines = 0, parsed = 0, bytes = 0, unparsed = {},
		statuses = {}, methods = new_counter(MAX_METHODS),
		paths = new_counter(MAX_TRACKED), errors = {}, clients = new_counter(MAX_TRACKED),
		latencies = {}, latency_kinds = 0, latency_rounded = false, fractions = false, timed = 0,
		bucket = bucket, size = SIZES[bucket], buckets = {}, bucket_count = 0,
	}
end

local function merge(into, from)
	for i = 1, 3 do
		into[i] = into[i] + from[i]
	end
end

-- Merge the buckets of time into wider ones.
local function widen(d)
	local old, old_size = d.buckets, d.size
	d.bucket = WIDER[d.bucket]
	d.size = SIZES[d.bucket]
	d.buckets, d.bucket_count = {}, 0
	for id, b in pairs(old) do
		local wide = id * old_size // d.size
		if not d.buckets[wide] then
			d.buckets[wide] = {0, 0, 0}
			d.bucket_count = d.bucket_count + 1
		end
		merge(d.buckets[wide], b)
	end
end

local function bucket_at(d, seconds)
	local b = d.buckets[seconds // d.size]
	if b then
		return b
	end
	while d.bucket_count >= MAX_BUCKETS and WIDER[d.bucket] do
		widen(d)
	end
	local id = seconds // d.size
	if not d.buckets[id] then
		d.buckets[id] = {0, 0, 0}
		d.bucket_count = d.bucket_count + 1
	end
	return d.buckets[id]
end

-- Latencies -----------------------------------------------------------------

local function count_latency(d, text)
	local x = tonumber(text)
	if not x or x - x ~= 0 then
		return
	end
	d.fractions = d.fractions or find(text, ".", 1, true) ~= nil
	d.timed = d.timed + 1
	local n = d.latencies[x]
	if not n and d.latency_kinds >= MAX_LATENCIES then
		d.latency_rounded = true
		x = tonumber(format("%.3g", x))
		n = d.latencies[x]
	end
	if not n then
		d.latency_kinds = d.latency_kinds + 1
	end
	d.latencies[x] = (n or 0) + 1
end

-- The number that ends a line, after the fields of its format.
local function read_latency(d, log, at, stop)
	at = match(log, REFERER_AGENT, at) or at
	if at < stop then
		local text = match(sub(log, math.max(at, stop - LAST_BYTES), stop - 1), LAST_NUMBER)
		if text then
			count_latency(d, text)
		end
	end
end

-- Nearest rank: the least value that so many are not above.
local function percentiles(counts, n, wanted)
	local values, out, seen, i = {}, {}, 0, 0
	for x in pairs(counts) do
		values[#values + 1] = x
	end
	sort(values)
	for k, p in ipairs(wanted) do
		while seen < math.ceil(p * n / 100) do
			i = i + 1
			seen = seen + counts[values[i]]
		end
		out[k] = values[i]
	end
	return out
end

-- Fractions mean seconds (nginx). Whole numbers are seconds if they are
-- nearly all 0 or 1 (Apache %T), microseconds if mostly over 1000 (%D).
local function guess_unit(d, median, max)
	if d.fractions or (median <= 1 and max <= 60) then
		return "s"
	end
	return median >= 1000 and "us" or "ms"
end

local TO_MS = {s = 1000, ms = 1, us = 0.001}

local function to_ms(x, unit)
	x = tonumber(format("%.15g", x * TO_MS[unit]))
	return math.tointeger(x) or x
end

local function latency_of(d, unit)
	local p = percentiles(d.latencies, d.timed, {50, 90, 95, 99, 100})
	local guessed = unit == "auto"
	unit = guessed and guess_unit(d, p[1], p[5]) or unit
	return {
		count = d.timed, sourceUnit = unit, unitGuessed = guessed, exact = not d.latency_rounded,
		p50 = to_ms(p[1], unit), p90 = to_ms(p[2], unit), p95 = to_ms(p[3], unit),
		p99 = to_ms(p[4], unit), max = to_ms(p[5], unit),
	}
end

-- Lines ---------------------------------------------------------------------

local function shown(s)
	if not utf8.len(s) then
		s = gsub(s, "[\x80-\xff]", "\u{FFFD}")
	end
	local cut = #s > MAX_SHOWN and utf8.offset(s, MAX_SHOWN + 1)
	return cut and cut <= #s and sub(s, 1, cut - 1) .. "…" or s
end

local function reject(d, line)
	if #d.unparsed < MAX_UNPARSED then
		d.unparsed[#d.unparsed + 1] = {line = d.at_line, text = shown(gsub(line, "\r$", ""))}
	end
end

local function path_of(target)
	local stop = find(target, "[?#]")
	return stop and sub(target, 1, stop - 1) or target
end

local function count_request(d, client, method, target, status, size)
	d.parsed = d.parsed + 1
	d.statuses[status] = (d.statuses[status] or 0) + 1
	d.bytes = d.bytes + (#size <= 15 and tonumber(size) or 0) -- "-" is 0
	count(d.clients, client)
	if target == "" or not find(method, "^%u+$") then
		d.methods.others = d.methods.others + 1 -- not HTTP, or nothing came
		return
	end
	count(d.methods, method)
	local path = path_of(target)
	count(d.paths, path)
	if byte(status) >= 52 and d.paths.of[path] then -- "4"
		d.errors[path] = (d.errors[path] or 0) + 1
	end
end

local function count_time(d, seconds, status)
	local b, class = bucket_at(d, seconds), byte(status) - 48
	b[1] = b[1] + 1
	if class == 4 then
		b[2] = b[2] + 1
	elseif class == 5 then
		b[3] = b[3] + 1
	end
	if not d.from or seconds < d.from then
		d.from = seconds
	end
	if not d.to or seconds > d.to then
		d.to = seconds
	end
end

-- Lines of one minute follow each other: its start is worked out once.
local function new_clock()
	local last_minute, last_zone, start
	return function(minute, zone)
		if minute ~= last_minute or zone ~= last_zone then
			last_minute, last_zone = minute, zone
			start = minute_start(minute, zone)
		end
		return start
	end
end

-- The line from POS to before STOP of LOG. Whether it is a log line.
local function read_line(d, clock, timed, log, pos, stop)
	local client, minute, second, zone, request, status, size, at = match(log, LINE, pos)
	local start = client and clock(minute, zone)
	if not start then
		return false
	end
	local method, target = match(log, REQUEST, request)
	count_request(d, client, method, target, status, size)
	count_time(d, start + tonumber(second), status)
	if timed and at < stop then
		read_latency(d, log, at, stop)
	end
	return true
end

-- A quote inside the request is written \": read the line without them.
local function read_escaped(d, clock, timed, line)
	if not find(line, '\\"', 1, true) then
		return false
	end
	line = gsub(line, '\\"', "%%22")
	return read_line(d, clock, timed, line, 1, #line + 1)
end

local function scan(run, log, d, timed)
	local pos, len, clock, next_tick = 1, #log, new_clock(), PROGRESS_BYTES
	d.at_line = 0
	while pos <= len do
		local stop = find(log, "\n", pos, true) or len + 1
		d.at_line = d.at_line + 1
		if stop > pos and not (stop == pos + 1 and byte(log, pos) == CR) then
			d.lines = d.lines + 1
			if not read_line(d, clock, timed, log, pos, stop) then
				local line = sub(log, pos, stop - 1)
				if not read_escaped(d, clock, timed, line) then
					reject(d, line)
				end
			end
		end
		pos = stop + 1
		if pos > next_tick then
			next_tick = pos + PROGRESS_BYTES
			if run.cancelled() then
				run.error("CANCELED", "cancelled while reading")
			end
			run.progress(pos - 1, len + 1, format("read %d lines", d.at_line))
		end
	end
end

-- The result ----------------------------------------------------------------

local function comes_before(a, b)
	return a.requests > b.requests or (a.requests == b.requests and a.name < b.name)
end

-- The MAX commonest of a counter, kept in order by insertion.
local function top_of(counter, max)
	local top = {}
	for name, n in pairs(max > 0 and counter.of or top) do
		local entry, i = {name = name, requests = n}, #top
		if i < max or comes_before(entry, top[i]) then
			if i == max then
				i = i - 1
			end
			while i > 0 and comes_before(entry, top[i]) do
				top[i + 1] = top[i]
				i = i - 1
			end
			top[i + 1] = entry
		end
	end
	return top
end

local function top_paths(run, d, max)
	local out = run.array({})
	for i, e in ipairs(top_of(d.paths, max)) do
		out[i] = {path = shown(e.name), requests = e.requests, errors = d.errors[e.name] or 0}
	end
	return out
end

local function top_clients(run, d, max)
	local out = run.array({})
	for i, e in ipairs(top_of(d.clients, max)) do
		out[i] = {client = shown(e.name), requests = e.requests}
	end
	return out
end

local function classes_of(statuses)
	local classes = {}
	for status, n in pairs(statuses) do
		local class = sub(status, 1, 1) .. "xx"
		classes[class] = (classes[class] or 0) + n
	end
	return classes
end

local function methods_of(d)
	local methods = {}
	for name, n in pairs(d.methods.of) do
		methods[shown(name)] = n
	end
	if d.methods.others > 0 then
		methods.other = d.methods.others
	end
	return methods
end

local function over_time(run, d)
	local ids, out = {}, run.array({})
	for id in pairs(d.buckets) do
		ids[#ids + 1] = id
	end
	sort(ids)
	for i = 1, math.min(#ids, MAX_BUCKETS) do
		local b = d.buckets[ids[i]]
		out[i] = {from = iso(ids[i] * d.size), requests = b[1], errors4xx = b[2], errors5xx = b[3]}
	end
	return out
end

local function result_of(run, d, top, unit)
	local result = {
		lines = d.lines, parsed = d.parsed,
		unparsed = {count = d.lines - d.parsed, first = run.array(d.unparsed)},
		statuses = d.statuses, classes = classes_of(d.statuses), methods = methods_of(d), bytes = d.bytes,
		topPaths = top_paths(run, d, top), distinctPaths = d.paths.distinct,
		topClients = top_clients(run, d, top), distinctClients = d.clients.distinct,
		distinctExact = d.paths.others + d.clients.others == 0,
		bucket = d.bucket, errorsOverTime = over_time(run, d),
	}
	if d.from then
		result.period = {from = iso(d.from), to = iso(d.to)}
	end
	if d.timed > 0 then
		result.latency = latency_of(d, unit)
	end
	return result
end

-- The digest for people -----------------------------------------------------

local function cell(s)
	return (gsub(gsub(tostring(s), "%c", "?"), "[|`\\<>*_%[%]]", "\\%0"))
end

local function add_table(out, title, head, rows)
	if #rows == 0 then
		return
	end
	out[#out + 1] = "## " .. title .. "\n"
	out[#out + 1] = "| " .. concat(head, " | ") .. " |"
	out[#out + 1] = "|" .. string.rep(" --- |", #head)
	for _, row in ipairs(rows) do
		for i, v in ipairs(row) do
			row[i] = cell(v)
		end
		out[#out + 1] = "| " .. concat(row, " | ") .. " |"
	end
	out[#out + 1] = ""
end

local function sorted_rows(map)
	local rows = {}
	for k, n in pairs(map) do
		rows[#rows + 1] = {k, n}
	end
	sort(rows, function(a, b) return a[1] < b[1] end)
	return rows
end

local function rows_of(list, ...)
	local rows, keys = {}, {...}
	for i, entry in ipairs(list) do
		rows[i] = {}
		for k, key in ipairs(keys) do
			rows[i][k] = entry[key]
		end
	end
	return rows
end

local function latency_rows(l)
	local rows = {}
	for i, key in ipairs(l and {"p50", "p90", "p95", "p99", "max"} or {}) do
		rows[i] = {key, l[key]}
	end
	return rows
end

local function to_markdown(r)
	local out = {"# Access log digest\n"}
	if r.period then
		out[2] = format("%s to %s: %d requests, %d bytes sent.", r.period.from, r.period.to, r.parsed, r.bytes)
	end
	out[#out + 1] = format("%d lines, %d of them not understood.\n", r.lines, r.unparsed.count)
	add_table(out, "Status codes", {"status", "requests"}, sorted_rows(r.statuses))
	add_table(out, "Methods", {"method", "requests"}, sorted_rows(r.methods))
	add_table(out, "Latency in ms", {"percentile", "ms"}, latency_rows(r.latency))
	add_table(out, "Paths", {"path", "requests", "errors"}, rows_of(r.topPaths, "path", "requests", "errors"))
	add_table(out, "Clients", {"client", "requests"}, rows_of(r.topClients, "client", "requests"))
	add_table(out, "Errors by " .. r.bucket, {"from (UTC)", "requests", "4xx", "5xx"},
		rows_of(r.errorsOverTime, "from", "requests", "errors4xx", "errors5xx"))
	add_table(out, "Lines not understood", {"line", "text"}, rows_of(r.unparsed.first, "line", "text"))
	return concat(out, "\n")
end

return function(run, inputs)
	local log, unit = inputs.log, inputs.latencyUnit or "auto"
	refuse_compressed(run, log)
	local d = new_digest(inputs.bucket or "hour")
	run.step("scan", function()
		scan(run, log, d, unit ~= "none")
	end)
	local result
	run.step("summarise", function()
		result = result_of(run, d, inputs.top or 10, unit)
		run.artifact({name = "digest.md", mimeType = "text/markdown", data = to_markdown(result)})
	end)
	run.progress(#log + 1, #log + 1, format("%d of %d lines understood", d.parsed, d.lines))
	return result
end
