-- SPDX-License-Identifier: Apache-2.0
-- What "paddock selftest" tries in a notebook of Lua: inputs.try says which. The state stays
-- for all of these runs, unless an attack costs the state.

local here = {} -- what the runs so far have tried
local attack = {}

function attack.loops()
  while true do pcall(function() while true do end end) end
end

function attack.is_kept() return #here > 1 end

function attack.is_new() return #here == 1 end

function attack.keeps()
  while true do here[#here + 1] = string.rep("x", 100000) .. #here end
end

function attack.backtracks() return ("a"):rep(100):find(("a-"):rep(100) .. "b") end

return function(run, inputs)
  here[#here + 1] = inputs.try
  return attack[inputs.try]()
end
