-- SPDX-License-Identifier: Apache-2.0
-- A long log in parts, each a call of its own; the counts are added up.
local lines, parts = {}, {}
for line in stdin:gmatch("[^\n]+") do
	lines[#lines + 1] = line
end
for i = 1, #lines, 50 do
	parts[#parts + 1] = table.concat(lines, "\n", i, math.min(i + 49, #lines)) .. "\n"
end
local parsed = 0
for _, one in ipairs(run.map(parts, {concurrency = 4}, function(part)
	return run.template("log_digest", {log = part}).parsed
end)) do
	parsed = parsed + (one.ok and one.value or 0)
end
print(#parts .. " parts, " .. parsed .. " lines")
