/* SPDX-License-Identifier: Apache-2.0 */
/* Steps, their timeouts, and maps of them. */
#include "tests/unit/worker/lua/lua_job_fixture.h"

const struct usual usual = {.memory = 8 * MIB, .grace_ms = 300, .cpu_ms = 1500};

static const struct trial steps[] = {
    {.name = "a step is declared, run, and hands its results on",
     T("local a, b = run.step('parse', function() return 1, 2 end) "
       "return a + b"),
     "+0:parse >0#1 =0 VALUE:3"},
    {.name = "steps nest",
     T("return run.step('a', function() return run.step('b', function() "
       "return 1 end) end)"),
     "+0:a >0#1 +1:b >1#1 =1 =0 VALUE:1"},
    {.name = "a failing step fails the run with its code",
     T("run.step('a', function() run.error('BAD', 'no', {x = 1}) end)"),
     "+0:a >0#1 !0:BAD:no FAIL:STEP_EXECUTION_FAILED:no:{\"failedStep\":\"a\","
     "\"stepErrorCode\":\"BAD\",\"templateDetails\":{\"x\":1}}"},
    {.name = "a plain error in a step has the code ERROR",
     T("run.step('a', function() error('x') end)"),
     "+0:a >0#1 !0:ERROR:main.lua:1: x "
     "FAIL:STEP_EXECUTION_FAILED:main.lua:1: x:{\"failedStep\":\"a\","
     "\"stepErrorCode\":\"ERROR\"}"},
    {.name = "the innermost step is to blame",
     T("run.step('a', function() run.step('b', function() "
       "run.error('BAD', 'no') end) end)"),
     "+0:a >0#1 +1:b >1#1 !1:BAD:no !0:BAD:no "
     "FAIL:STEP_EXECUTION_FAILED:no:{\"failedStep\":\"b\",*"},
    {.name = "a caught step stays failed",
     T(TRAP(
	 "run.step('a', function() run.error('BAD', 'no') end)") "return "
								 "{e.code, "
								 "e.message}"),
     "+0:a >0#1 !0:BAD:no VALUE:[\"BAD\",\"no\"]"},
    {.name = "a step's error that is raised again is still the step's",
     T(TRAP("run.step('a', function() run.error('BAD', 'no') end)") "error(e)"),
     "*FAIL:STEP_EXECUTION_FAILED:no:{\"failedStep\":\"a\",*"},
    {.name = "another error after a caught step is the template's",
     T(TRAP(
	 "run.step('a', function() run.error('BAD', 'no') end)") "run.error('"
								 "MINE', 'm')"),
     "*FAIL:EXECUTION_ERROR:m:{\"templateCode\":\"MINE\"}"},
    {.name = "no field of an error makes it a step's",
     T("error({code = 'C', message = 'm', step = 'a', kind = 'step'})"),
     "FAIL:EXECUTION_ERROR:m:{\"templateCode\":\"C\"}"},
    {.name = "retries are extra attempts",
     T("local n = 0 return run.step('a', function() n = n + 1 "
       "if n < 3 then error('x') end return n end, {retries = 2})"),
     "+0:a >0#1 >0#2 >0#3 =0 VALUE:3"},
    {.name = "and then it has failed for good",
     T("run.step('a', function() error('x', 0) end, {retries = 1, "
       "backoff = 1})"),
     "+0:a >0#1 >0#2 !0:ERROR:x FAIL:STEP_EXECUTION_FAILED:x:*"},
    {.name = "a nil error fails a step too",
     T("run.step('a', function() error(nil) end)"),
     "+0:a >0#1 !0:ERROR:the template raised an error without*"},
    {.name = "an unknown option is refused",
     T("run.step('a', print, {retry = 1})"),
     "FAIL:EXECUTION_ERROR:main.lua:1: run.step takes the options *"},
    {.name = "a negative option is refused",
     T("run.step('a', print, {retries = -1})"),
     "FAIL:EXECUTION_ERROR:main.lua:1: retries must be an integer from 0 *"},
    {.name = "a name with a newline is refused",
     T("run.step('a\\n', print)"),
     "FAIL:EXECUTION_ERROR:*bad argument #1 to 'step'*"},
    {.name = "an empty name is refused",
     T("run.step('', print)"),
     "FAIL:EXECUTION_ERROR:*bad argument #1 to 'step'*"},
    {.name = "a step needs a function",
     T("run.step('a')"),
     "FAIL:EXECUTION_ERROR:*bad argument #2 to 'step'*"},
    {.name = "a run has at most 10000 steps",
     T("local l = {} for i = 1, 10000 do l[i] = i end run.map(l, function() "
       "print(select(2, pcall(run.step, 'a', print))) print('poke') "
       "while true do end end)"),
     "+0x10000:item >0#1 6:*a run has at most 10000 steps FAIL:*",
     .poke = SIGXCPU},
    {.name = "so has a map",
     T("local l = {} for i = 1, 10001 do l[i] = i end run.map(l, print)"),
     "FAIL:EXECUTION_ERROR:*bad argument #1 to 'map'*"},
    {.name = "a step in a coroutine of the template's works",
     T("return coroutine.wrap(function() return run.step('a', function() "
       "run.sleep(1) coroutine.yield(7) end) end)()"),
     "+0:a >0#1 !0:ABANDONED:the run ended before this step did VALUE:7"},
    {.name = "a step across a sort's comparison works",
     T("local t = {2, 1} table.sort(t, function(a, b) run.sleep(1) "
       "return run.step('c', function() return a < b end) end) return t"),
     "*>0#1 =0 *VALUE:[1,2]"},
};

static const struct trial timeouts[] = {
    {.name = "a step that loops is stopped at its timeout",
     T("run.step('a', function() while true do end end, {timeout = 10})"),
     "+0:a >0#1 !0:STEP_TIMEOUT:the step ran longer than its timeout of 10 "
     "ms "
     "FAIL:STEP_EXECUTION_FAILED:*:{\"failedStep\":\"a\","
     "\"stepErrorCode\":\"STEP_TIMEOUT\"}"},
    {.name = "one that sleeps is woken",
     T("run.step('a', function() run.sleep(60000) end, {timeout = 10})"),
     "+0:a >0#1 !0:STEP_TIMEOUT:* FAIL:STEP_EXECUTION_FAILED:*"},
    {.name = "no pcall swallows it",
     T("run.step('a', function() while true do pcall(function() "
       "while true do end end) end end, {timeout = 10})"),
     "+0:a >0#1 !0:STEP_TIMEOUT:* FAIL:STEP_EXECUTION_FAILED:*"},
    {.name = "each attempt has the timeout",
     T("local n = 0 return run.step('a', function() n = n + 1 "
       "if n == 1 then while true do end end return n end, "
       "{timeout = 200, retries = 1})"),
     "+0:a >0#1 >0#2 =0 VALUE:2"},
    {.name = "a step that returns late has timed out all the same",
     T("run.step('a', function() pcall(run.sleep, 60000) return 1 end, "
       "{timeout = 10})"),
     "+0:a >0#1 !0:STEP_TIMEOUT:* FAIL:STEP_EXECUTION_FAILED:*"},
    {.name = "the template goes on after a caught one",
     T(TRAP("run.step('a', function() while true do end end, {timeout = "
	    "5})") "local n = 0 for i = 1, 1000 do n = n + i end return "
		   "{e.code, n}"),
     "+0:a >0#1 !0:STEP_TIMEOUT:* VALUE:[\"STEP_TIMEOUT\",500500]"},
    {.name = "a step inside of the one that timed out fails with it",
     T("run.step('a', function() run.step('b', function() run.sleep(60000) "
       "end, {retries = 5}) end, {timeout = 100})"),
     "+0:a >0#1 +1:b >1#1 !1:STEP_TIMEOUT:* !0:STEP_TIMEOUT:* "
     "FAIL:STEP_EXECUTION_FAILED:*:{\"failedStep\":\"a\",*"},
    {.name = "a step that Lua cannot stop costs the worker its life",
     T("run.step('a \\\"', function() "
       "return (('a'):rep(40)):find(('a?'):rep(40) .. ('a'):rep(40)) end, "
       "{timeout = 10})"),
     "+0:a \" >0#1 FAIL:STEP_EXECUTION_FAILED:*:{\"failedStep\":\"a \\\"\","
     "\"stepErrorCode\":\"STEP_TIMEOUT\"}"},
    {.name = "a step that loops in a coroutine is stopped",
     T("local co = coroutine.wrap(function() while true do end end) "
       "run.step('a', function() co() end, {timeout = 10})"),
     "+0:a >0#1 !0:STEP_TIMEOUT:* FAIL:STEP_EXECUTION_FAILED:*"},
    {.name = "a step that begins coroutines forever is stopped",
     T("run.step('a', function() while true do "
       "coroutine.resume(coroutine.create(function() while true do end end)) "
       "end end, {timeout = 10})"),
     "+0:a >0#1 !0:STEP_TIMEOUT:* FAIL:STEP_EXECUTION_FAILED:*"},
    {.name = "a map's items in a step that timed out end with it",
     T("run.step('a', function() run.map({1, 2, 3}, {concurrency = 2, "
       "step = 'i'}, function() run.sleep(60000) end) end, {timeout = "
       "100})"),
     "+0:a >0#1 +1x3:i >1#1 >2#1 !*:STEP_TIMEOUT:* !*:STEP_TIMEOUT:* ~3 "
     "!0:STEP_TIMEOUT:* FAIL:STEP_EXECUTION_FAILED:*\"failedStep\":\"a\"*"},
    {.name = "a map's items may have a timeout",
     T("local r = run.map({0, 60000}, {step = 'i', timeout = 400}, "
       "function(ms) run.sleep(ms) return ms end) "
       "return {r[1].value, r[2].error.code}"),
     "+0x2:i >0#1 >1#1 =0 !1:STEP_TIMEOUT:* VALUE:[0,\"STEP_TIMEOUT\"]"},
    {.name = "a timer of a step that was dropped does no harm",
     T("local co = coroutine.wrap(function() run.step('a', function() "
       "coroutine.yield() end, {timeout = 100000}) end) co() co = nil "
       "for i = 1, 20000 do local t = {{}, {}, {}} end return 1"),
     "+0:a >0#1 !0:ABANDONED:* VALUE:1"},
};

static const struct trial maps[] = {
    {.name = "a map keeps the order and says how each item went",
     T("return run.map({3, 1, 2}, {concurrency = 3, step = 'x'}, "
       "function(ms, i) run.sleep(ms) if i == 2 then run.error('E', 'no') end "
       "return ms * 10 end)"),
     "+0x3:x >0#1 >1#1 >2#1 *VALUE:[{\"ok\":true,\"value\":30},"
     "{\"error\":{\"code\":\"E\",\"message\":\"no\"},\"ok\":false},"
     "{\"ok\":true,\"value\":20}]"},
    {.name = "one at a time is in order",
     T("run.map({'a', 'b'}, {concurrency = 1, step = 'x'}, function(s) "
       "print(s) run.sleep(1) print(s) end)"),
     "+0x2:x >0#1 6:a 6:a =0 >1#1 6:b 6:b =1 VALUE:null"},
    {.name = "the window slides: a free place is taken at once",
     T("local open, most, done = 0, 0, 0 run.map({1, 2, 3, 4}, "
       "{concurrency = 2, step = 'x'}, function(i) open = open + 1 "
       "most = math.max(most, open) repeat run.sleep(1) "
       "until i > 1 or done == 3 open = open - 1 done = done + 1 end) "
       "return most"),
     "+0x4:x >0#1 >1#1 =1 >2#1 =2 >3#1 =3 =0 VALUE:2"},
    {.name = "one item's step has its number as well",
     T("return run.map({1}, {step = 'x'}, function() end)"),
     "+0:x[1] >0#1 =0 VALUE:[{\"ok\":true}]"},
    {.name = "an empty list gives an empty array, and declares nothing",
     T("return run.map({}, {step = 'x'}, print)"),
     "VALUE:[]"},
    {.name = "options may be left out",
     T("return run.map({1, 2}, function(v, i) "
       "return v + i end)"),
     "+0x2:item >0#1 =0 >1#1 =1 VALUE:[{\"ok\":true,\"value\":2},*"},
    {.name = "steps inside of items work",
     T("return run.map({1, 2}, {step = 'x'}, function(v) return run.step("
       "'in', function() run.sleep(1) return v end) end)"),
     "+0x2:x >0#1 +2:in >2#1 >1#1 +3:in >3#1 =2 =0 =3 =1 VALUE:*"},
    {.name = "maps inside of items work",
     T("return run.map({1, 2}, {step = 'x'}, function(v) "
       "return run.map({1, 2}, {step = 'y'}, function(w) run.sleep(1) "
       "return v * w end)[2].value end)"),
     "*VALUE:[{\"ok\":true,\"value\":2},{\"ok\":true,\"value\":4}]"},
    {.name = "a map from a coroutine of the template's works",
     T("return coroutine.wrap(function() return run.map({1, 2}, "
       "function(v) run.sleep(1) return v end)[2].value end)()"),
     "*VALUE:2"},
    {.name = "a yield across pcall works",
     T("return run.map({1}, function() local ok, v = pcall(function() "
       "run.sleep(1) return 5 end) return v end)[1].value"),
     "*VALUE:5"},
    {.name = "items have retries",
     T("local n = 0 return run.map({1}, {step = 'x', retries = 1}, function() "
       "n = n + 1 if n == 1 then error('x') end return n end)[1].value"),
     "+0:x[1] >0#1 >0#2 =0 VALUE:2"},
    {.name = "an error rethrown from a result is the template's",
     T("local r = run.map({1}, function() run.error('E', 'no') end) "
       "error(r[1].error)"),
     "*FAIL:EXECUTION_ERROR:no:{\"templateCode\":\"E\"}"},
    {.name = "1000 items, 1000 at once",
     T("local l = {} for i = 1, 1000 do l[i] = i end "
       "local n = 0 run.map(l, {concurrency = 1000}, function(v) "
       "run.sleep(1) n = n + v end) return n"),
     "*VALUE:500500"},
    {.name = "more than that are refused",
     T("run.map({1}, {concurrency = 1001}, print)"),
     "FAIL:EXECUTION_ERROR:main.lua:1: concurrency must be an integer from *"},
    {.name = "an unknown option of a map is refused",
     T("run.map({1}, {steps = 'x'}, print)"),
     "FAIL:EXECUTION_ERROR:main.lua:1: run.map takes the options *"},
    {.name = "an item that runs out of memory is an item that failed",
     T("local r = run.map({1, 2}, function(i) if i == 1 then "
       "local s = ('x'):rep(1 << 30) end return i end) "
       "return {r[1].error.code, r[2].value}"),
     "*VALUE:[\"RESOURCE_LIMIT\",2]"},
};

static const struct table tables[] = {
    TABLE(steps), TABLE(timeouts), TABLE(maps), {0}};

int main(void)
{
	check_tables(tables);
	return tap_done();
}
