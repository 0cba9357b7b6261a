-- SPDX-License-Identifier: Apache-2.0
-- text_diff: the shortest edit script between two texts, as a unified diff.
--
-- E. W. Myers, "An O(ND) difference algorithm and its variations" (1986), the
-- linear-space variant, over lines. Where the texts have so little in common
-- that this would take long, it settles for a good split instead of the best.

local find, gsub, sub, format = string.find, string.gsub, string.sub, string.format
local max, min = math.max, math.min

local MAX_LINES = 1000000	-- in either text
local MAX_SHOWN_BYTES = 65536	-- of the diff in the result
local MAX_SHOWN_HUNKS = 1000
local EXACT_STEPS = 40000000	-- of the search, a few seconds: then...
local HASTY_DEPTH = 64		-- ...no search goes on for more edits than this
local NEVER = -(1 << 60)	-- no path ends on this diagonal
local NO_NEWLINE = "\\ No newline at end of file\n"

-- Lines ---------------------------------------------------------------------

-- Each with its line end, which only the last one may lack.
local function split(text)
	local lines, n, pos, len = {}, 0, 1, #text
	while pos <= len do
		local stop = find(text, "\n", pos, true) or len
		n = n + 1
		lines[n] = sub(text, pos, stop)
		pos = stop + 1
	end
	return lines
end

-- A missing last line end counts even where white space does not: a patch
-- that took such lines for equal could not be applied.
local function key_of(line, ignore_space)
	if not ignore_space then
		return line
	end
	local bare = gsub(line, "%s+", "")
	return find(line, "\n", -1, true) and bare .. "\n" or bare
end

-- Equal lines get equal numbers.
local function number_lines(lines, numbers, ignore_space)
	local ids = {}
	for i = 1, #lines do
		local key = key_of(lines[i], ignore_space)
		local id = numbers.of[key]
		if not id then
			id = numbers.last + 1
			numbers.last, numbers.of[key] = id, id
		end
		ids[i] = id
	end
	return ids
end

local function present(ids, from, to)
	local set = {}
	for i = from, to do
		set[ids[i]] = true
	end
	return set
end

-- Lines FROM to TO that the other side has too, and where they are. The
-- others are edits in any script, so they need no search.
local function keep_common(ids, from, to, others, changed)
	local kept, where, n = {}, {}, 0
	for i = from, to do
		if others[ids[i]] then
			n = n + 1
			kept[n], where[n] = ids[i], i
		else
			changed[i] = true
		end
	end
	return kept, where
end

-- The search ----------------------------------------------------------------

-- One more edit in every direction: the furthest point of each diagonal K
-- (x - y) in V. EQUAL(x, y): are the next lines equal. MEETS(k, x): has the
-- search met the one from the other end. Gives the point where it has.
local function advance(s, v, d, equal, meets)
	local n, m, steps = s.n, s.m, 0
	v[-d - 1], v[d + 1] = NEVER, NEVER
	if d == 0 then
		v[1] = 0
	end
	for k = -d + 2 * max(0, d - m), d - 2 * max(0, d - n), 2 do
		local down, right = v[k + 1], v[k - 1] + 1
		if down - k > m then
			down = NEVER
		end
		if right > n then
			right = NEVER
		end
		local x = max(down, right)
		if x < 0 then
			v[k] = NEVER
		else
			local from, y = x, x - k
			while x < n and y < m and equal(x, y) do
				x, y = x + 1, y + 1
			end
			steps = steps + x - from
			v[k] = x
			if meets and meets(k, x) then
				return x, y
			end
		end
	end
	s.budget.left = s.budget.left - steps - d - 1
end

-- The point of V that is furthest from the start.
local function furthest(v, d)
	local best, at_x, at_y = -1, 0, 0
	for k = -d, d, 2 do
		local x = v[k]
		if x and x >= 0 and 2 * x - k > best then
			best, at_x, at_y = 2 * x - k, x, x - k
		end
	end
	return at_x, at_y, best
end

local function hasty_split(n, m, forward, backward, d)
	local fx, fy, fbest = furthest(forward, d)
	local bx, by, bbest = furthest(backward, d)
	if fbest >= bbest then
		return fx, fy
	end
	return n - bx, m - by
end

-- A point on a shortest path through the box (x0, y0) to (x1, y1), relative
-- to its corner. Needs a box without common lines at either end.
local function middle(a, b, x0, x1, y0, y1, budget)
	local n, m = x1 - x0, y1 - y0
	local delta = n - m
	local forward, backward = {}, {}
	local s = {n = n, m = m, budget = budget}
	local odd = delta % 2 ~= 0
	local function equal(x, y)
		return a[x0 + x + 1] == b[y0 + y + 1]
	end
	local function equal_back(x, y)
		return a[x1 - x] == b[y1 - y]
	end
	local function meets_back(k, x)
		local other = backward[delta - k]
		return other and other >= 0 and x + other >= n
	end
	local function meets_forward(k, x)
		local other = forward[delta - k]
		return other and other >= 0 and x + other >= n
	end
	local d = 0
	while true do
		local x, y = advance(s, forward, d, equal, odd and meets_back)
		if x then
			return x, y
		end
		x, y = advance(s, backward, d, equal_back, not odd and meets_forward)
		if x then
			return n - x, m - y
		end
		if budget.left < 0 and d >= HASTY_DEPTH then
			budget.exceeded = true
			return hasty_split(n, m, forward, backward, d)
		end
		d = d + 1
	end
end

local function mark(changed, where, from, to)
	for i = from + 1, to do
		changed[where[i]] = true
	end
end

-- Mark what differs. A stack of boxes, since hasty splits can nest deeply.
local function compare(left, right, budget, pause)
	local a, b = left.kept, right.kept
	local stack = {{0, #a, 0, #b}}
	while #stack > 0 do
		local x0, x1, y0, y1 = table.unpack(table.remove(stack))
		while x0 < x1 and y0 < y1 and a[x0 + 1] == b[y0 + 1] do
			x0, y0 = x0 + 1, y0 + 1
		end
		while x0 < x1 and y0 < y1 and a[x1] == b[y1] do
			x1, y1 = x1 - 1, y1 - 1
		end
		if x0 == x1 then
			mark(right.changed, right.where, y0, y1)
		elseif y0 == y1 then
			mark(left.changed, left.where, x0, x1)
		else
			pause()
			local x, y = middle(a, b, x0, x1, y0, y1, budget)
			stack[#stack + 1] = {x0, x0 + x, y0, y0 + y}
			stack[#stack + 1] = {x0 + x, x1, y0 + y, y1}
		end
	end
end

-- Hunks ---------------------------------------------------------------------

-- Runs of changes: lines a1..a2 become b1..b2, either of them may be empty.
local function changes_of(left, right)
	local list, i, j = {}, 1, 1
	local na, nb = #left.lines, #right.lines
	while i <= na or j <= nb do
		local a1, b1 = i, j
		while left.changed[i] do
			i = i + 1
		end
		while right.changed[j] do
			j = j + 1
		end
		if i > a1 or j > b1 then
			list[#list + 1] = {a1 = a1, a2 = i - 1, b1 = b1, b2 = j - 1}
		else
			i, j = i + 1, j + 1
		end
	end
	return list
end

-- Changes whose contexts touch share a hunk.
local function hunks_of(changes, context)
	local hunks, last = {}, nil
	for _, c in ipairs(changes) do
		if last and c.a1 - last[#last].a2 - 1 <= 2 * context then
			last[#last + 1] = c
		else
			last = {c}
			hunks[#hunks + 1] = last
		end
	end
	return hunks
end

-- Where a hunk without lines is: after the line before it.
local function range(from, to)
	local n = to - from + 1
	return n == 0 and from - 1 or from, n
end

local function range_text(from, n)
	return n == 1 and tostring(from) or from .. "," .. n
end

local function new_writer()
	return {parts = {}, n = 0}
end

local function put(w, text)
	w.n = w.n + 1
	w.parts[w.n] = text
end

local function put_lines(w, sign, lines, from, to)
	for i = from, to do
		local line = lines[i]
		put(w, sign)
		put(w, line)
		if not find(line, "\n", -1, true) then
			put(w, "\n" .. NO_NEWLINE)
		end
	end
end

local function put_hunk(w, hunk, a, b, context)
	local first, last = hunk[1], hunk[#hunk]
	local before = min(context, first.a1 - 1)
	local after = min(context, #a - last.a2)
	local h = {}
	h.aStart, h.aLines = range(first.a1 - before, last.a2 + after)
	h.bStart, h.bLines = range(first.b1 - before, last.b2 + after)
	put(w, format("@@ -%s +%s @@\n", range_text(h.aStart, h.aLines), range_text(h.bStart, h.bLines)))
	local at = first.a1 - before
	for _, c in ipairs(hunk) do
		put_lines(w, " ", a, at, c.a1 - 1)
		put_lines(w, "-", a, c.a1, c.a2)
		put_lines(w, "+", b, c.b1, c.b2)
		at = c.a2 + 1
	end
	put_lines(w, " ", a, at, last.a2 + after)
	return h
end

-- A tab after a name with spaces tells patch(1) where it ends.
local function file_line(sign, name)
	return sign .. " " .. name .. (find(name, " ", 1, true) and "\t" or "") .. "\n"
end

-- As much as may be shown, whole lines where that is possible.
local function cut(text)
	if #text <= MAX_SHOWN_BYTES then
		return text, false
	end
	local head = sub(text, 1, MAX_SHOWN_BYTES)
	local whole = find(head, "\n[^\n]*$")
	if whole then
		return sub(head, 1, whole), true
	end
	return sub(text, 1, utf8.offset(text, 0, MAX_SHOWN_BYTES + 1) - 1), true
end

-- The run -------------------------------------------------------------------

local function new_side(run, text, name)
	local lines = split(text)
	if #lines > MAX_LINES then
		run.error("TOO_MANY_LINES", format("%s has %d lines; at most %d are compared", name, #lines, MAX_LINES))
	end
	return {lines = lines, changed = {}}
end

local function find_changes(run, left, right, ignore_space, budget)
	local numbers = {of = {}, last = 0}
	local a = number_lines(left.lines, numbers, ignore_space)
	local b = number_lines(right.lines, numbers, ignore_space)
	local from, to_a, to_b = 1, #a, #b
	while from <= to_a and from <= to_b and a[from] == b[from] do
		from = from + 1
	end
	while to_a >= from and to_b >= from and a[to_a] == b[to_b] do
		to_a, to_b = to_a - 1, to_b - 1
	end
	local in_a, in_b = present(a, from, to_a), present(b, from, to_b)
	left.kept, left.where = keep_common(a, from, to_a, in_b, left.changed)
	right.kept, right.where = keep_common(b, from, to_b, in_a, right.changed)
	compare(left, right, budget, function()
		if run.cancelled() then
			run.error("CANCELED", "cancelled while comparing")
		end
	end)
end

local function totals(changes)
	local added, removed = 0, 0
	for _, c in ipairs(changes) do
		removed = removed + c.a2 - c.a1 + 1
		added = added + c.b2 - c.b1 + 1
	end
	return added, removed
end

local function write_diff(run, inputs, left, right, changes)
	local w, ranges, context = new_writer(), run.array({}), inputs.context or 3
	local hunks = hunks_of(changes, context)
	if #hunks > 0 then
		put(w, file_line("---", inputs.aName or "a"))
		put(w, file_line("+++", inputs.bName or "b"))
	end
	for i, hunk in ipairs(hunks) do
		local h = put_hunk(w, hunk, left.lines, right.lines, context)
		if i <= MAX_SHOWN_HUNKS then
			ranges[i] = h
		end
	end
	return table.concat(w.parts), ranges, #hunks
end

return function(run, inputs)
	local budget = {left = EXACT_STEPS, exceeded = false}
	local left = new_side(run, inputs.a, "a")
	local right = new_side(run, inputs.b, "b")
	run.progress(1, 4, format("comparing %d with %d lines", #left.lines, #right.lines))
	run.step("compare", function()
		find_changes(run, left, right, inputs.ignoreWhitespace, budget)
	end)
	run.progress(3, 4, "writing the diff")
	local result = {}
	run.step("write", function()
		local changes = changes_of(left, right)
		local text
		text, result.hunks, result.hunkCount = write_diff(run, inputs, left, right, changes)
		result.added, result.removed = totals(changes)
		result.identical = #changes == 0
		result.minimal = not budget.exceeded
		result.diff, result.diffTruncated = cut(text)
		if #changes > 0 then
			run.artifact({name = "diff.patch", mimeType = "text/x-diff", data = text})
		end
	end)
	run.progress(4, 4, result.identical and "no difference" or format("%d lines added, %d removed", result.added, result.removed))
	return result
end
