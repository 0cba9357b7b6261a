-- SPDX-License-Identifier: Apache-2.0
-- What "paddock selftest" tries of CPU time in Lua, of which there is little here:
-- inputs.try says which.
local attack = {}

function attack.spin() while true do end end

function attack.pattern()
  return string.find(string.rep("a", 100000), string.rep("a-", 50) .. "b")
end

function attack.pcall_spin()
  while true do pcall(function() while true do end end) end
end

function attack.finalizer()
  setmetatable({}, {__gc = function() while true do end end})
  for _ = 1, 1e9 do local _ = {} end
end

function attack.last_finalizer()
  kept = setmetatable({}, {__gc = function() while true do end end})
  return "returned"
end

return function(_, inputs) return attack[inputs.try]() end
