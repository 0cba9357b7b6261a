-- SPDX-License-Identifier: Apache-2.0
-- login_keep_session: log in by a form, and keep the session.
--
-- Whether it went well is what the page shows: the marker that was asked for,
-- or else that no password field is left, the page or the session's cookies are
-- others, and the server did not answer with an error.

local LOOK_MS = 250
local STABLE_MS = 5000
local PASSWORD = 'input[type="password"]'

-- Until LOOK gives something true, at most for MS; what it gave.
local function await(run, ms, look)
	local until_left = run.deadline() - ms
	while true do
		local got = look()
		if got or run.deadline() <= until_left then
			return got
		end
		run.sleep(LOOK_MS)
	end
end

-- By CSS selectors, or by words on the page.
local function query_of(inputs, field, kind)
	if inputs.locateMode == "selector" then
		local selector = inputs.selectors[field]
		return selector and {selector = selector}
	end
	local hint = inputs.semanticHints[field]
	return hint and {query = hint, type = kind}
end

local function find(run, tab, query)
	local args = {tabId = tab, maxElements = 1}
	for k, v in pairs(query) do
		args[k] = v
	end
	return run.call("find_element", args).elements[1]
end

local function locate(run, tab, inputs, field, kind)
	local query = query_of(inputs, field, kind)
	if query == nil then
		return nil
	end
	local found = await(run, inputs.waitTimeoutMs, function()
		return find(run, tab, query)
	end)
	if found == nil then
		run.error("TPL_LOGIN_FIELD_NOT_FOUND", "the page has no " .. field .. " field as described",
			{field = field, locateMode = inputs.locateMode})
	end
	return found.id
end

-- What a page that is another one differs in.
local function look_at(run, tab)
	local info = run.call("get_page_info", {tabId = tab, maxElements = 1, cookies = true})
	local content = run.call("get_page_content", {tabId = tab, maxLength = 1000})
	local text = {}
	for i, s in ipairs(content.sections) do
		text[i] = s.text
	end
	return {url = info.page.url, title = info.page.title, text = table.concat(text, "\n"),
		cookies = info.cookieChanges, status = info.statusCode}
end

local function marker_shows(run, tab, inputs)
	local marks = inputs.locateMode == "selector" and inputs.selectors or inputs.semanticHints
	if marks.success == nil then
		return nil
	end
	local key = inputs.locateMode == "selector" and "selector" or "text"
	return run.call("wait", {tabId = tab, [key] = marks.success, timeoutMs = inputs.waitTimeoutMs}).found
end

-- What a page without the form says of the login; nil: nothing yet.
local function judge(now, before)
	if now.status ~= nil and now.status >= 400 then
		return "unknown"
	end
	for _, k in ipairs{"url", "title", "text", "cookies"} do
		if now[k] ~= before[k] then
			return "authenticated"
		end
	end
end

local function has_come(run, tab, inputs, before)
	local shows = marker_shows(run, tab, inputs)
	if shows ~= nil then
		return shows
	end
	return await(run, inputs.waitTimeoutMs, function()
		return find(run, tab, {selector = PASSWORD}) == nil and judge(look_at(run, tab), before)
	end) == "authenticated"
end

-- The password is in no result: pages may repeat it, and forms put it into addresses.

local SHORT = 4 -- what is shorter is in many words

local function repeats(text, secret)
	local plain = text:gsub("+", " "):gsub("%%(%x%x)", function(hex)
		return string.char(tonumber(hex, 16))
	end)
	return text:find(secret, 1, true) or plain:find(secret, 1, true)
end

local function told(page, secret)
	local url, title = page.url, page.title
	if secret ~= "" and repeats(url, secret) then
		url = url:match("^[^?#]*")
		if #secret >= SHORT and repeats(url, secret) then
			url = url:match("^%a+://[^/]*/?") or ""
		end
	end
	if #secret >= SHORT and repeats(title, secret) then
		title = ""
	end
	return {url = url, title = title}
end

-- Steps ----------------------------------------------------------------------

local function navigate(run, inputs)
	local tab = run.call("create_tab").tabId
	local came = run.call("navigate",
		{tabId = tab, url = inputs.startUrl, timeoutMs = inputs.waitTimeoutMs})
	if came.partial then
		run.error("NAVIGATION_TIMEOUT", "the page did not come whole in time")
	elseif not came.success then
		run.error("TPL_HTTP_STATUS", "the server answered with status " .. tostring(came.statusCode))
	end
	run.call("wait_for_stable", {tabId = tab, timeoutMs = STABLE_MS})
	return tab
end

local function type_and_submit(run, tab, fields, credentials)
	run.call("type_text", {tabId = tab, element = fields.username, text = credentials.username})
	run.call("type_text", {tabId = tab, element = fields.password, text = credentials.password})
	if fields.submit ~= nil then
		run.call("click", {tabId = tab, element = fields.submit})
	else
		run.call("press_key", {tabId = tab, key = "Enter"})
	end
	run.call("wait_for_stable", {tabId = tab, timeoutMs = STABLE_MS})
end

-- Once more, when it was too slow.
local function submit(run, ...)
	local ok, err = pcall(type_and_submit, run, ...)
	if not ok and type(err) == "table" and err.code == "NAVIGATION_TIMEOUT" then
		ok, err = pcall(type_and_submit, run, ...)
	end
	if not ok then
		error(err, 0)
	end
end

local function keep_picture(run, tab)
	local shot = run.call("screenshot", {tabId = tab})
	run.artifact{name = "login.png", mimeType = shot.mimeType, data = run.base64.decode(shot.data)}
end

return function(run, inputs)
	local tab, fields, before, authenticated, session, page
	inputs.waitTimeoutMs = inputs.waitTimeoutMs or 15000
	run.step("validate", function()
		if not inputs.startUrl:find("^[Hh][Tt][Tt][Pp][Ss]?://") then
			run.error("TPL_LOGIN_URL", "startUrl must be an http or https address")
		end
	end)
	run.step("navigate", function()
		tab = navigate(run, inputs)
	end)
	run.step("locate", function()
		fields = {username = locate(run, tab, inputs, "username", "textbox"),
			password = locate(run, tab, inputs, "password", "password"),
			submit = locate(run, tab, inputs, "submit", "button")}
		before = look_at(run, tab)
	end)
	run.step("submit", function()
		submit(run, tab, fields, inputs.credentials)
	end)
	run.step("verify", function()
		authenticated = has_come(run, tab, inputs, before)
		page = look_at(run, tab)
		if not authenticated then
			keep_picture(run, tab)
		end
		session = run.call("keep_session").sessionId
	end)
	run.call("close_tab", {tabId = tab})
	return {success = authenticated, sessionId = session, page = told(page, inputs.credentials.password),
		loginState = authenticated and "authenticated" or "unknown"}
end
