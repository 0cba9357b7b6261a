-- SPDX-License-Identifier: Apache-2.0
-- multi_tab_compare: pages side by side: the first with each other one.

local STABLE_MS = 5000

-- Text as it is compared -------------------------------------------------------

-- Upper case of Latin-1, Greek and Cyrillic: first, last, how far to the lower.
local CASES = {{0xC0, 0xD6, 32}, {0xD8, 0xDE, 32}, {0x391, 0x3A9, 32}, {0x400, 0x40F, 80}, {0x410, 0x42F, 32}}

local function lower(text)
	if not text:find("[\xC3\xCE\xCF\xD0]") then
		return text:lower()
	end
	return (text:lower():gsub(utf8.charpattern, function(c)
		local p = #c == 2 and utf8.codepoint(c)
		for _, case in ipairs(p and CASES or {}) do
			if p >= case[1] and p <= case[2] then
				return utf8.char(p + case[3])
			end
		end
	end))
end

local function folded(text)
	return lower((text:gsub("%s+", " "):gsub("^ ", ""):gsub(" $", "")))
end

-- Comparing ------------------------------------------------------------------

local compare = {}

function compare.title(a, b)
	return {same = lower(a.title:match("^%s*(.-)%s*$")) == lower(b.title:match("^%s*(.-)%s*$")),
		left = a.title, right = b.title}
end

function compare.elementCount(a, b, how)
	local delta = b.elementCount - a.elementCount
	return {same = math.abs(delta) <= how.numericTolerance, left = a.elementCount,
		right = b.elementCount, delta = delta}
end

function compare.topSections(a, b, how, run)
	local changed = run.array{}
	for i = 1, how.topSections do
		local x, y = a.sections[i], b.sections[i]
		if x == nil and y == nil then
			break
		elseif x == nil or y == nil or folded(x.text) ~= folded(y.text) then
			changed[#changed + 1] = i
		end
	end
	return {same = #changed == 0, changedPositions = changed}
end

local function diff_of(run, a, b, how)
	local diff = {left = a.tabId, right = b.tabId}
	for _, field in ipairs(how.fields) do
		diff[field] = compare[field](a, b, how, run)
	end
	return diff
end

-- Pages ----------------------------------------------------------------------

-- Of what is there now, by navigate or, as scripts lead elsewhere, get_page_info.
local function note(run, shot, at)
	shot.url, shot.title = at.page.url, at.page.title
	if at.statusCode ~= nil and at.statusCode >= 400 then
		run.error("TPL_HTTP_STATUS", "the server answered with status " .. at.statusCode)
	end
end

local function read_page(run, shot, extract)
	local came = run.call("navigate", {tabId = shot.tabId, url = shot.url})
	shot.partial = came.partial
	note(run, shot, came)
	run.call("wait_for_stable", {tabId = shot.tabId, timeoutMs = STABLE_MS})
	local info = run.call("get_page_info", {tabId = shot.tabId, maxElements = extract.maxElements or 50})
	local content = run.call("get_page_content",
		{tabId = shot.tabId, maxLength = extract.maxContentLength or 4000})
	note(run, shot, info)
	shot.elementCount, shot.sections = info.totalElements, content.sections
end

-- The tab is closed again: in a session that was given it would stay.
local function take(run, shot, extract)
	shot.tabId = run.call("create_tab").tabId
	local ok, err = pcall(read_page, run, shot, extract)
	pcall(run.call, "close_tab", {tabId = shot.tabId})
	if not ok then
		error(err, 0)
	end
	shot.came = true
end

-- The run --------------------------------------------------------------------

local function settle(given)
	local how = given or {}
	return {fields = how.fields or {"title", "elementCount", "topSections"},
		topSections = how.topSections or 3, numericTolerance = how.numericTolerance or 0}
end

local function tab_of(shot)
	return {tabId = shot.tabId, url = shot.url, title = shot.title, partial = shot.partial or nil}
end

return function(run, inputs)
	local how, shots = settle(inputs.compare), {}
	local tabs, diffs, warnings, there = run.array{}, run.array{}, run.array{}, {}
	for i, url in ipairs(inputs.urls) do
		shots[i] = {tabId = "", url = url, title = ""}
	end
	local results = run.map(shots, {concurrency = inputs.concurrency or 3, step = "tab"}, function(shot)
		take(run, shot, inputs.extract or {})
	end)
	for i, shot in ipairs(shots) do
		tabs[i] = tab_of(shot)
		if shot.came then
			there[#there + 1] = shot
		else
			tabs[i].partial = true
			warnings[#warnings + 1] = string.format("%s: %s: %s", inputs.urls[i],
				results[i].error.code, results[i].error.message)
		end
		if shot.came and shot.partial then
			warnings[#warnings + 1] = inputs.urls[i] .. ": it did not come whole in time"
		end
	end
	run.step("compare", function()
		if #there < 2 then
			run.error("TPL_TOO_FEW_PAGES", "fewer than two pages came", {warnings = warnings})
		end
		for i = 2, #there do
			diffs[i - 1] = diff_of(run, there[1], there[i], how)
		end
	end)
	if not shots[1].came then
		warnings[#warnings + 1] = there[1].url .. " stands for the first page, which did not come"
	end
	local output = {success = #there == #shots, tabs = tabs, diff = diffs[1], diffs = diffs, warnings = warnings}
	run.artifact{name = "compare.json", mimeType = "application/json", data = run.json.encode(output)}
	return output
end
