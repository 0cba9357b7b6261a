-- SPDX-License-Identifier: Apache-2.0
-- batch_extract_pages: many pages, each in a tab of its own.
--
-- A page is a step; one that does not come in time is tried once more. What a
-- page fails with is its item's error, and its step's.

local STABLE_MS = 5000

-- Of what is there now, by navigate or, as scripts lead elsewhere, get_page_info.
local function note(run, item, at)
	item.url, item.title = at.page.url, at.page.title
	item.statusCode = at.statusCode or run.null
	if at.partial then
		run.error("NAVIGATION_TIMEOUT", "the page did not come whole in time")
	elseif at.statusCode ~= nil and at.statusCode >= 400 then
		run.error("TPL_HTTP_STATUS", "the server answered with status " .. at.statusCode)
	end
end

-- In a tab that is there.
local function read_page(run, tab, url, extract, item)
	note(run, item, run.call("navigate", {tabId = tab, url = url}))
	run.call("wait_for_stable", {tabId = tab, timeoutMs = STABLE_MS})
	local info = run.call("get_page_info", {tabId = tab, maxElements = extract.maxElements})
	note(run, item, info)
	item.pageType, item.elementCount = info.page.type, info.totalElements
	if extract.pageInfo then
		item.pageInfo = info
	end
	local content = run.call("get_page_content", {tabId = tab, maxLength = extract.maxContentLength})
	item.contentSections = #content.sections
	if extract.content then
		item.content = content
	end
end

local function blank(run, url)
	return {url = url, title = "", pageType = "", elementCount = 0, contentSections = 0,
		success = false, statusCode = run.null}
end

-- The item, and what went wrong.
local function try_page(run, url, extract)
	local item = blank(run, url)
	local tab
	local ok, err = pcall(function()
		tab = run.call("create_tab").tabId
		read_page(run, tab, url, extract, item)
	end)
	if tab ~= nil then
		pcall(run.call, "close_tab", {tabId = tab})
	end
	return item, not ok and err or nil
end

local function extract_page(run, url, extract, items, i)
	local item, err = try_page(run, url, extract)
	if type(err) == "table" and err.code == "NAVIGATION_TIMEOUT" then
		item, err = try_page(run, url, extract)
	end
	items[i] = item
	if err ~= nil then
		error(err, 0)
	end
	item.success = true
end

-- Artifacts ------------------------------------------------------------------

local function csv_field(v)
	local text = v == nil and "" or tostring(v)
	if text:find("^[=+@\t\r-]") then
		text = "'" .. text -- no formula in a spreadsheet
	end
	if text:find('[",\r\n]') then
		text = '"' .. text:gsub('"', '""') .. '"'
	end
	return text
end

local COLUMNS = {"url", "title", "pageType", "elementCount", "contentSections", "success", "statusCode"}

local function csv_of(run, items)
	local lines = {table.concat(COLUMNS, ",") .. ",errorCode,errorMessage"}
	for _, item in ipairs(items) do
		local row = {}
		for i, column in ipairs(COLUMNS) do
			local v = item[column]
			row[i] = csv_field(v ~= run.null and v or nil)
		end
		if item[COLUMNS[6]] == false then
			row[6] = "false"
		end
		row[#COLUMNS + 1] = csv_field(item.error and item.error.code)
		row[#COLUMNS + 2] = csv_field(item.error and item.error.message)
		lines[#lines + 1] = table.concat(row, ",")
	end
	return table.concat(lines, "\r\n") .. "\r\n"
end

local function export(run, output, formats)
	run.artifact{name = "pages.json", mimeType = "application/json", data = run.json.encode(output)}
	for _, format in ipairs(formats or {}) do
		if format == "csv" then
			run.artifact{name = "pages.csv", mimeType = "text/csv", data = csv_of(run, output.items)}
		end
	end
end

-- The run --------------------------------------------------------------------

local function settle(given)
	local e = given or {}
	return {pageInfo = e.pageInfo ~= false, content = e.content ~= false,
		maxElements = e.maxElements or 50, maxContentLength = e.maxContentLength or 4000}
end

return function(run, inputs)
	local extract, items, failed = settle(inputs.extract), run.array{}, 0
	local results = run.map(inputs.urls, {concurrency = inputs.concurrency or 3, step = "page"},
		function(url, i)
			extract_page(run, url, extract, items, i)
		end)
	for i, r in ipairs(results) do
		if not r.ok then
			items[i] = items[i] or blank(run, inputs.urls[i])
			items[i].error = {code = r.error.code, message = r.error.message}
			failed = failed + 1
		end
	end
	local output = {success = failed == 0, items = items,
		summary = {total = #results, succeeded = #results - failed, failed = failed}}
	export(run, output, inputs.export)
	return output
end
