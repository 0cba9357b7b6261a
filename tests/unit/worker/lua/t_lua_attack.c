/* SPDX-License-Identifier: Apache-2.0 */
/* Hostile templates, and the limits against their attacks. */
#include <seccomp.h>

#include "tests/unit/worker/lua/lua_job_fixture.h"

const struct usual usual = {.memory = 8 * MIB, .grace_ms = 300, .cpu_ms = 1500};

#define NO_MEMORY                                                              \
	"FAIL:RESOURCE_LIMIT:the run needed more memory than it may have:"     \
	"{\"limit\":\"memory\",\"used\":*,\"allowed\":8388608,\"unit\":"       \
	"\"bytes\",\"whoCanRaise\":\"template limits.maxMemoryBytes, or the "  \
	"server's [limits]\"}"

static const struct trial attacks[] = {
    {.name = "string.rep of 2^40",
     T("return {pcall(string.rep, 'x', 1 << 40)}"),
     "VALUE:[false,\"resulting string too large\"]"},
    {.name = "string.rep of 2^30", T("return ('x'):rep(1 << 30)"), NO_MEMORY},
    {.name = "doubling a string",
     T("local s = 'x' while true do s = s .. s end"),
     NO_MEMORY},
    {.name = "a table that grows",
     T("local t = {} while true do t[#t + 1] = {} end"),
     NO_MEMORY},
    {.name = "tables in a coroutine",
     T("coroutine.wrap(function() local t = {} while true do t[#t + 1] = "
       "('x'):rep(1000) .. #t end end)()"),
     NO_MEMORY},
    {.name = "gsub that doubles",
     T("local s = ('x'):rep(10) while true do s = s:gsub('.', '%0%0') end"),
     NO_MEMORY},
    {.name = "running out in a step",
     T("run.step('a', function() return ('x'):rep(1 << 30) end)"),
     "+0:a >0#1 !0:RESOURCE_LIMIT:not enough memory " NO_MEMORY},
    {.name = "a caught shortage is survived",
     T(TRAP("local t = {} while true do t[#t + 1] = ('x'):rep(1000) .. #t "
	    "end") "return {ok, e}"),
     "VALUE:[false,\"not enough memory\"]"},
    {.name = "more code and inputs than memory",
     T("return #inputs"),
     "FAIL:RESOURCE_LIMIT:*",
     .memory = 4096},
    {.name = "a result that memory cannot hold",
     T("local s = ('x'):rep(1000000) local t = {} for i = 1, 50 do t[i] = s "
       "end return t"),
     NO_MEMORY,
     .output = 1 << 30},
    {.name = "a binary chunk by load",
     T("return select(2, load('\\27Lua'))"),
     "VALUE:\"*attempt to load a binary chunk*"},
    {.name = "load in binary mode",
     T("return {pcall(load, 'return 1', 'x', 'b')}"),
     "VALUE:[false,\"load takes text only, not mode 'b'\"]"},
    {.name = "load in mode bt is text",
     T("return load('return 1', 'x', 'bt')()"),
     "VALUE:1"},
    {.name = "load with an environment of its own",
     T("return load('x = 1 return _ENV', 'c', 't', {})()"),
     "VALUE:{\"x\":1}"},
    {.name = "load with nil for one",
     T("return {pcall(load('return x', 'c', 't', "
       "nil))}"),
     "VALUE:[false,*"},
    {.name = "what is absent is absent",
     T("local t = {} for _, n in ipairs{'io', 'require', 'package', 'debug', "
       "'dofile', 'loadfile'} do t[#t + 1] = _G[n] end "
       "for _, f in ipairs{string.dump, os.exit, os.getenv, os.execute, "
       "os.remove, os.tmpname} do t[#t + 1] = 1 end return #t"),
     "VALUE:0"},
    {.name = "os has four functions",
     T("local t = {} for k in pairs(os) do t[#t + 1] = k end "
       "table.sort(t) return t"),
     "VALUE:[\"clock\",\"date\",\"difftime\",\"time\"]"},
    {.name = "the time zone is UTC",
     T("return {os.date('%Y-%m-%d %H:%M %Z', 0), os.time{year = 1970, "
       "month = 1, day = 2, hour = 0}}"),
     "VALUE:[\"1970-01-01 00:00 UTC\",86400]"},
    {.name = "collectgarbage counts, and no more",
     T("return {collectgarbage('count') > 1, pcall(collectgarbage, 'stop')}"),
     "VALUE:[true,false,\"collectgarbage(\\\"stop\\\") is not available, *"},
    {.name = "a __gc that never ends is not waited for",
     T("setmetatable({}, {__gc = function() while true do end end}) "
       "return 1"),
     "VALUE:1"},
    {.name = "a __gc after the end says nothing",
     T("setmetatable({}, {__gc = function() run.progress(1, 1) end}) "
       "return 1"),
     "VALUE:1"},
    {.name = "no coroutine nests for ever",
     T("local function f() return coroutine.wrap(f)() end "
       "return pcall(f) or select(2, pcall(f)):sub(-16)"),
     "VALUE:\"C stack overflow\""},
    {.name = "100000 parentheses",
     T("return select(2, load(('('):rep(100000) .. '1')):sub(-30)"),
     "VALUE:\"*overflow*",
     .memory = 32 * MIB},
    {.name = "endless recursion",
     T("local function f() return 1 + f() end return {pcall(f)}"),
     "VALUE:[false,*stack overflow*",
     .memory = 128 * MIB},
    {.name = "table.unpack of 10^7",
     T("return {pcall(table.unpack, {}, 1, 10000000)}"),
     "VALUE:[false,\"too many results to unpack\"]"},
    {.name = "a message handler that raises",
     T("local function h() error('y') end return {xpcall(error, h, 'x')}"),
     "VALUE:[false,*",
     .memory = 64 * MIB},
    {.name = "a format as wide as it gets",
     T("return #string.format('%99.99f', 1e308)"),
     "VALUE:409"},
    {.name = "a format wider than that",
     T("return {pcall(string.format, '%999d', 1)}"),
     "VALUE:[false,*"},
    {.name = "poison in the strings' metatable",
     T("getmetatable('').__index = function() return 1 end "
       "string.format = nil tostring = nil print = nil "
       "return run.step('a', function() return ('x').y end)"),
     "+0:a >0#1 =0 VALUE:1"},
    {.name = "poison in the run table",
     T("run.json = nil run.step = 5 run.map = nil return {}"),
     "VALUE:{}"},
    {.name = "a comparison that makes no sense",
     T("local t = {} for i = 1, 100 do t[i] = i % 7 end "
       "return {pcall(table.sort, t, function() return true end)}"),
     "VALUE:[false,\"invalid order function for sorting\"]"},
    {.name = "an address is nowhere",
     T("local s = table.concat({tostring({}), tostring(print), "
       "tostring(coroutine.create(print)), string.format('%s %p %10p|%%s', {}, "
       "{}, print), tostring(run.null), tostring(run)}, ' ') return s"),
     "VALUE:\"table function thread table (address)  (address)|%s null "
     "table\""},
    {.name = "a format's own metamethods still work",
     T("local o = setmetatable({}, {__tostring = function() return 'o!' end}) "
       "return string.format('%5s|%d|%s', o, 3, nil)"),
     "VALUE:\"   o!|3|nil\""},
    {.name = "a NUL in a format does not hide what follows",
     T("return {pcall(string.format, '\\0%p', {})}"),
     "VALUE:[false,*NUL*"},
    {.name = "randomseed gives nothing away",
     T("return {select('#', math.randomseed()), "
       "select('#', math.randomseed(42)), math.random(100) == "
       "(math.randomseed(42) or math.random(100))}"),
     "VALUE:[0,0,true]"},
    {.name = "no yield leaves a task",
     T("return {pcall(coroutine.yield, 1)}"),
     "VALUE:[false,\"attempt to yield from outside a coroutine\"]"},
    {.name = "nor a map's item",
     T("return run.map({1}, function() coroutine.yield() "
       "end)[1].error.message"),
     "*VALUE:\"*attempt to yield from outside a coroutine\""},
    {.name = "a task's coroutine is not to be had",
     T("local co, main = coroutine.running() return {main, "
       "coroutine.isyieldable(), coroutine.status(co), "
       "(pcall(coroutine.close, co)), (coroutine.resume(co))}"),
     "VALUE:[true,false,\"normal\",false,false]"},
    {.name = "the template's own coroutines are as ever",
     T("local co = coroutine.wrap(function(a) local b = coroutine.yield(a + 1) "
       "return b * 2, select(2, coroutine.running()) end) "
       "return {co(1), co(21)}"),
     "VALUE:[2,42,false]"},
};

static const struct trial signals[] = {
    {.name = "the CPU limit is a report",
     T("print('poke') while true do end"),
     "FAIL:RESOURCE_LIMIT:*:{\"limit\":\"cpu\",\"used\":*,\"allowed\":1500,"
     "\"unit\":\"ms\",\"whoCanRaise\":\"*\"}",
     .poke = SIGXCPU},
    {.name = "in the middle of a pattern as well",
     T("print('poke') return (('a'):rep(40)):find(('a?'):rep(40) .. "
       "('a'):rep(40))"),
     "FAIL:RESOURCE_LIMIT:*\"limit\":\"cpu\"*",
     .poke = SIGXCPU},
    {.name = "and in a __gc",
     T("print('poke') setmetatable({}, {__gc = function() while true do end "
       "end}) while true do local t = {} end"),
     "FAIL:RESOURCE_LIMIT:*\"limit\":\"cpu\"*",
     .poke = SIGXCPU},
};

/* A caged worker must not need setitimer: all other calls are allowed. */
static void trap_setitimer(void)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);

	if (ctx == NULL ||
	    seccomp_rule_add(ctx, SCMP_ACT_TRAP, SCMP_SYS(setitimer), 0) != 0 ||
	    seccomp_load(ctx) != 0)
		_exit(99);
}

static const struct trial violation = {
    .name = "a forbidden system call is named",
    .code = T("run.step('a', print, {timeout = 1000})"),
    .want = "+0:a >0#1 FAIL:SANDBOX_VIOLATION:*:{\"syscall\":\"setitimer\","
	    "\"arch\":\"*\",\"args\":[\"0x0\",\"0x*\",\"0x0\",*]}",
    .before = trap_setitimer};

static const struct table tables[] = {TABLE(attacks), TABLE(signals), {0}};

int main(void)
{
	check_tables(tables);
	check(&violation);
	return tap_done();
}
