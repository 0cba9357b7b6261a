-- SPDX-License-Identifier: Apache-2.0
-- Profiles each file, three at once, and returns the number of columns by name.
local names = {}
for name in pairs(files) do
	names[#names + 1] = name
end
table.sort(names)
local found = run.map(names, {concurrency = 3, step = "profile"}, function(name)
	return #run.template("csv_profile", {csv = files[name]}).columns
end)
local columns = {}
for i, one in ipairs(found) do
	columns[names[i]] = one.ok and one.value or one.error.code
end
return columns
