-- SPDX-License-Identifier: Apache-2.0
-- What "paddock selftest" tries in Lua: inputs.try says which.

-- The error that FN ends with, without where it was.
local function error_of(fn)
  local ok, e = pcall(fn)
  if ok then return "none" end
  return (tostring(e):gsub("^main%.lua:%d+: ", ""))
end

local attack = {}

function attack.sleep() while true do run_.sleep(60000) end end

function attack.memory()
  return error_of(function() local t = {} while true do t[#t + 1] = string.rep("x", 100000) .. #t end end)
end

function attack.doubling()
  return error_of(function() local s = "x" while true do s = s .. s end end)
end

function attack.recursion()
  local function f() return 1 + f() end
  local e = error_of(f)
  return e:find("stack overflow", 1, true) ~= nil or e:find("not enough memory", 1, true) ~= nil
end

function attack.coroutines()
  local function f()
    local ok, e = coroutine.resume(coroutine.create(f))
    if not ok then error(e, 0) end
    return e
  end
  f()
  return "ended"
end

function attack.parentheses()
  return load("return " .. string.rep("(", 100000) .. "1" .. string.rep(")", 100000)) == nil
end

function attack.binary() return load("\27Lua\x54\0\x19\x93") == nil and not pcall(load, "x", "x", "b") end

function attack.absent()
  local there = run_.array{}
  for _, name in ipairs{"io", "debug", "package", "require", "dofile", "loadfile"} do
    if _G[name] ~= nil then there[#there + 1] = name end
  end
  for _, name in ipairs{"execute", "exit", "getenv", "remove", "rename", "tmpname"} do
    if os[name] ~= nil then there[#there + 1] = "os." .. name end
  end
  if string.dump ~= nil then there[#there + 1] = "string.dump" end
  return there
end

function attack.addresses()
  local s = tostring({}) .. tostring(print) .. string.format("%s %p", {}, {})
  return s:find("0x", 1, true) == nil
end

function attack.output() return string.rep("x", 100000) end

function attack.endless()
  local t = {}
  t.t = t
  return t
end

function attack.forged_code()
  error(setmetatable({}, {__tostring = function() return "SANDBOX_VIOLATION" end}))
end

function attack.tool() return run_.call("navigate", {url = "http://localhost/"}) end

function attack.calls() return run_.template("selftest_sh", {try = "environment"}) end

function attack.named_calls()
  return run_.template('x","inputs":{}}}\n{"call":{"id":1,"template":"selftest_sh', {try = "environment"})
end

function attack.views() return run_.call("get_task_run", {runId = run_.id}) end

function attack.artifacts()
  return run_.call("get_artifact", {artifactId = "art_2al4fzu5c3l5jwea7zvw6ee2fv"})
end

function attack.searches() return run_.search("attacks") end

function attack.flood()
  for i = 1, 1000000 do run_.progress(i, 1000000, "flood") end
  return "told"
end

return function(run, inputs)
  run_ = run
  return attack[inputs.try]()
end
