/* SPDX-License-Identifier: Apache-2.0 */
/* A run of the Lua runtime: what it says, how it fails and is cancelled. */
#include "tests/unit/worker/lua/lua_job_fixture.h"

const struct usual usual = {.memory = 8 * MIB, .grace_ms = 300, .cpu_ms = 1500};

static const struct trial errors[] = {
    {.name = "a plain error has its place and a traceback",
     "local function f() error('x') end\nreturn function() f() end",
     "FAIL:EXECUTION_ERROR:main.lua:1: x\nstack traceback:\n*main.lua:2*:"},
    {.name = "run.error carries a code and details",
     T("run.error('NO_ROWS', 'no rows', {n = 0})"),
     "FAIL:EXECUTION_ERROR:no rows:{\"templateCode\":\"NO_ROWS\","
     "\"templateDetails\":{\"n\":0}}"},
    {.name = "without a message the code is it",
     T("run.error('NO_ROWS')"),
     "FAIL:EXECUTION_ERROR:NO_ROWS:{\"templateCode\":\"NO_ROWS\"}"},
    {.name = "details that are no JSON are left out, and that is said",
     T("run.error('C', 'm', {print})"),
     "FAIL:EXECUTION_ERROR:m:{\"templateCode\":\"C\","
     "\"templateDetailsOmitted\":\"a function cannot be JSON, at /0\"}"},
    {.name = "so are details that are too big",
     T("run.error('C', 'm', ('x'):rep(20000))"),
     "FAIL:EXECUTION_ERROR:m:{\"templateCode\":\"C\","
     "\"templateDetailsOmitted\":\"they are 20002 bytes, of *"},
    {.name = "a code of a template's is no errorCode",
     T("run.error('WORKER_CRASHED', 'm')"),
     "FAIL:EXECUTION_ERROR:m:{\"templateCode\":\"WORKER_CRASHED\"}"},
    {.name = "a bad code is refused",
     T("run.error('a\\nb', 'm')"),
     "FAIL:EXECUTION_ERROR:*bad argument #1 to 'error'*"},
    {.name = "a table with code and message is as good",
     T("error({code = 'C', message = 'm'})"),
     "FAIL:EXECUTION_ERROR:m:{\"templateCode\":\"C\"}"},
    {.name = "error(nil) has a text",
     T("error(nil)"),
     "FAIL:EXECUTION_ERROR:the template raised an error without *"},
    {.name = "an error object may forge its text, not more",
     T("error(setmetatable({}, {__tostring = function() return 'ha' end}))"),
     "FAIL:EXECUTION_ERROR:ha\n*"},
    {.name = "a __tostring that raises is survived",
     T("error(setmetatable({}, {__tostring = function() error('ho') end}))"),
     "FAIL:EXECUTION_ERROR:the template raised a table whose text *"},
    {.name = "so is one that returns no string",
     T("error(setmetatable({}, {__tostring = function() return {} end}))"),
     "FAIL:EXECUTION_ERROR:the template raised a table whose text *"},
    {.name = "and one that calls the API",
     T("error(setmetatable({}, {__tostring = function() "
       "run.step('s', print) end}))"),
     "FAIL:EXECUTION_ERROR:the template raised a table whose text *"},
    {.name = "__name shows, an address does not",
     T("error(setmetatable({}, {__name = 'my type'}))"),
     "FAIL:EXECUTION_ERROR:my type\n*"},
    {.name = "an error's text is cut",
     T("error(('x'):rep(20000), 0)"),
     "FAIL:EXECUTION_ERROR:xxx*xxx:"},
    {.name = "and made UTF-8",
     T("error('a\\xff', 0)"),
     "FAIL:EXECUTION_ERROR:a\xEF\xBF\xBD\nstack*"},
    {.name = "a typed error reads well",
     T("local ok, e = pcall(run.error, 'C', 'm') "
       "return {tostring(e), 'got ' .. e, e.code, e.message}"),
     "VALUE:[\"C: m\",\"got C: m\",\"C\",\"m\"]"},
    {.name = "its metatable is not to be had",
     T("local ok, e = pcall(run.error, 'C', 'm') "
       "return {getmetatable(e), pcall(setmetatable, e, nil)}"),
     "VALUE:[false,false,\"cannot change a protected metatable\"]"},
    {.name = "a file that returns no function is named",
     "return 42",
     "FAIL:EXECUTION_ERROR:main.lua must return a function(run, inputs), but "
     "it returned a number*"},
    {.name = "so is one that returns nothing",
     "local x = 1",
     "FAIL:EXECUTION_ERROR:main.lua must return *it returned a nil*"},
    {.name = "a syntax error has its place",
     "return function(\n\nrun",
     "FAIL:EXECUTION_ERROR:main.lua:3: ')' expected near <eof>:"},
    {.name = "an error while loading too",
     "local x = nil + 1",
     "FAIL:EXECUTION_ERROR:main.lua:1: attempt to perform arithmetic*"},
    {.name = "a binary chunk is refused",
     "\x1bLua",
     "FAIL:EXECUTION_ERROR:*attempt to load a binary chunk*"},
};

static const struct trial cancels[] = {
    {.name = "cancelling wakes a sleep between steps, and ends the run",
     T("print('poke') run.sleep(60000)"),
     "FAIL:RUN_CANCELED:the run was cancelled:",
     .poke = SIGTERM,
     .asleep = true},
    {.name = "a sleep in a step is shorter, and the step ends by itself",
     T("return run.step('a', function() print('poke') "
       "return run.sleep(60000) end)"),
     "+0:a >0#1 =0 VALUE:false",
     .poke = SIGTERM,
     .asleep = true},
    {.name = "no step starts once cancelling was asked for",
     T("run.step('a', function() print('poke') "
       "while not run.cancelled() do end end) run.step('b', print)"),
     "+0:a >0#1 =0 FAIL:RUN_CANCELED:*",
     .poke = SIGTERM},
    {.name = "a caught cancelling does not start it either",
     T("print('poke') while not run.cancelled() do end "
       "local ok, e = pcall(run.step, 'b', print) return {ok, e.code}"),
     "VALUE:[false,\"RUN_CANCELED\"]",
     .poke = SIGTERM},
    {.name = "a nested step that may not start takes the outer one along",
     T("run.step('a', function() print('poke') "
       "while not run.cancelled() do end run.step('b', print) end, "
       "{retries = 3})"),
     "+0:a >0#1 !0:RUN_CANCELED:* FAIL:RUN_CANCELED:*",
     .poke = SIGTERM},
    {.name = "an optional step that fails is skipped, and raises",
     T("local ok, e = pcall(run.step, 'b', function() error('x', 0) end, "
       "{optional = true, retries = 1}) return {ok, e.code}"),
     "+0:b >0#1 >0#2 ~0 VALUE:[false,\"ERROR\"]"},
    {.name = "one that takes too long, too",
     T("local ok, e = pcall(run.step, 'b', function() while true do end end, "
       "{optional = true, timeout = 20}) return {ok, e.code}"),
     "+0:b >0#1 ~0 VALUE:[false,\"STEP_TIMEOUT\"]"},
    {.name = "a map's pending items are skipped, what was done stays",
     T("local r = run.map({1, 2, 3, 4}, {concurrency = 2, step = 'x'}, "
       "function(i) if i == 2 then print('poke') end run.sleep(60000) "
       "return i end) run.artifact{name = 'a', data = run.json.encode(r)} "
       "return 0"),
     "+0x4:x >0#1 >1#1 =0 =1 ~2 ~3 @a:application/octet-stream:"
     "[{\"ok\":true,\"value\":1},{\"ok\":true,\"value\":2},"
     "{\"error\":{\"code\":\"RUN_CANCELED\",*}] VALUE:0",
     .poke = SIGTERM,
     .asleep = true},
    {.name = "no retry comes after cancelling",
     T("run.step('a', function() print('poke') "
       "while not run.cancelled() do end error('x', 0) end, {retries = 3})"),
     "+0:a >0#1 !0:ERROR:x FAIL:STEP_EXECUTION_FAILED:*",
     .poke = SIGTERM},
    {.name = "a backoff is cut short",
     T("local n = 0 run.step('a', function() n = n + 1 "
       "if n == 1 then print('poke') end error('x', 0) end, "
       "{retries = 1, backoff = 3600000})"),
     "+0:a >0#1 !0:ERROR:x FAIL:STEP_EXECUTION_FAILED:*",
     .poke = SIGTERM,
     .asleep = true},
    {.name = "a map does not start after it",
     T("print('poke') while not run.cancelled() do end run.map({1}, print)"),
     "FAIL:RUN_CANCELED:*",
     .poke = SIGTERM},
    {.name = "cancelling is not swallowed by a map's item",
     T("return run.map({1}, {step = 'x'}, function() print('poke') "
       "while not run.cancelled() do end run.step('y', print) end)"),
     "+0:x[1] >0#1 !0:RUN_CANCELED:* VALUE:[{\"error\":{\"code\":"
     "\"RUN_CANCELED\",*",
     .poke = SIGTERM},
};

static const struct trial talk[] = {
    {.name = "print is a log line of level info",
     T("print('a', 1, nil, {}, run.null)"),
     "6:a\t1\tnil\ttable\tnull VALUE:null"},
    {.name = "run.log has MCP's eight levels",
     T("for _, l in ipairs{'debug', 'info', 'notice', 'warning', 'error', "
       "'critical', 'alert', 'emergency'} do run.log(l, l) end"),
     "7:debug 6:info 5:notice 4:warning 3:error 2:critical 1:alert "
     "0:emergency VALUE:null"},
    {.name = "another level is refused",
     T("run.log('loud', 'x')"),
     "FAIL:EXECUTION_ERROR:*bad argument #1 to 'log' (invalid option 'loud')*"},
    {.name = "warn is a warning", T("warn('a', 'b')"), "4:ab VALUE:null"},
    {.name = "a log line is made UTF-8 without NUL",
     T("print('a\\xC3(\\0')"),
     "6:a\xEF\xBF\xBD(\xEF\xBF\xBD VALUE:null"},
    {.name = "and cut at a whole character",
     T("print(('ä'):rep(5000)) return 1"),
     "6:ää*ää VALUE:1"},
    {.name = "progress is sent, the last before the end",
     T("for i = 1, 1000 do run.progress(i, 1000, 'at ' .. i) end"),
     "%1/1000:at 1 *%1000/1000:at 1000 VALUE:null"},
    {.name = "it comes before the step that follows it ends",
     T("run.step('a', function() run.progress(1, 3) run.progress(2, 3) end)"),
     "+0:a >0#1 %1/3: %2/3: =0 VALUE:null"},
    {.name = "and while the run sleeps",
     T("run.progress(1, 3) run.progress(2, 3) run.sleep(80) print('x')"),
     "%1/3: %2/3: 6:x VALUE:null"},
    {.name = "done never falls, and never passes the total",
     T("run.progress(2, 3) run.progress(1, 3, 'back') run.sleep(60) "
       "run.progress(9, 4)"),
     "%2/3: %4/4: VALUE:null"},
    {.name = "a total of 0 is unknown, and bounds nothing",
     T("run.progress(5, 0)"),
     "%5/0: VALUE:null"},
    {.name = "an integral float will do",
     T("run.progress(1.0, 2.0)"),
     "%1/2: VALUE:null"},
    {.name = "a fraction will not",
     T("run.progress(1.5, 2)"),
     "FAIL:EXECUTION_ERROR:*bad argument #1 to 'progress'*"},
    {.name = "nor a negative number",
     T("run.progress(-1, 2)"),
     "FAIL:EXECUTION_ERROR:*bad argument #1 to 'progress'*"},
    {.name = "nor 2^63",
     T("run.progress(math.maxinteger, math.maxinteger)"),
     "FAIL:EXECUTION_ERROR:*bad argument #1 to 'progress'*"},
    {.name = "the run knows its names",
     T("return {run.id, run.template, run.cancelled(), "
       "run.deadline() > 50000 and run.deadline() <= 60000}"),
     "VALUE:[\"run_x\",\"tpl\",false,true]"},
    {.name = "sleep yields and says that it slept",
     T("return run.sleep(1)"),
     "VALUE:true"},
    {.name = "a bad time is refused",
     T("run.sleep(0/0)"),
     "FAIL:EXECUTION_ERROR:*bad argument #1 to 'sleep'*"},
    {.name = "a flood is slowed, not lost",
     T("for i = 1, 36000 do run.log('debug', 'x') end return 1"),
     "7:x *7:x VALUE:1"},
};

static const struct trial artifacts[] = {
    {.name = "an artifact has an id",
     T("return run.artifact{name = 'a.csv', mimeType = 'text/csv', "
       "data = '1,2'}"),
     "@a.csv:text/csv:1,2 *VALUE:\"art_1\""},
    {.name = "its type has a default",
     T("return run.artifact{name = 'a', data = ''}"),
     "@a:application/octet-stream: VALUE:\"art_1\""},
    {.name = "a big one takes several chunks",
     T("return run.artifact{name = 'a', data = ('y'):rep(300000)}"),
     "@a:*:yyy...300000...yyy VALUE:\"art_1\""},
    {.name = "what the supervisor refuses is an error with its text",
     T("local ok, e = pcall(run.artifact, {name = 'a', data = 'x'}) "
       "return {e.code, e.message}"),
     "*VALUE:[\"STORE_UNAVAILABLE\",\"the disk is full\"]",
     .refuse = true},
    {.name = "uncaught, it fails the run",
     T("run.artifact{name = 'a', data = 'x'}"),
     "*FAIL:STORE_UNAVAILABLE:the disk is full:",
     .refuse = true},
    {.name = "a template cannot give it another code",
     T("local ok, e = pcall(run.artifact, {name = 'a', data = 'x'}) "
       "e.code = 'RUN_TIMEOUT' error(e)"),
     "*FAIL:STORE_UNAVAILABLE:the disk is full:",
     .refuse = true},
    {.name = "what was refused is not counted",
     T("for i = 1, 9 do pcall(run.artifact, {name = 'a', "
       "data = ('x'):rep(1048576)}) end return 1"),
     "@a:*@a:*@a:*@a:*@a:*@a:*@a:*@a:*@a:* VALUE:1",
     .refuse = true},
    {.name = "over the run's own limit nothing is sent",
     T("run.artifact{name = 'a', data = ('x'):rep(1048576)} "
       "run.artifact{name = 'b', data = 'x'}"),
     "@a:* lost:1:1:1:1:b: FAIL:RESOURCE_LIMIT:*:{\"allowed\":1048576,\"limit\":"
     "\"artifact_bytes\",\"unit\":\"bytes\",\"used\":1048577,"
     "\"whoCanRaise\":\"template limits.maxArtifactBytes, or the server's "
     "[limits]\"}"},
    {.name = "in a step too, it is the limit that failed",
     T("run.step('s', function() run.artifact{name = 'b', "
       "data = ('x'):rep(1048577)} end)"),
     "+0:s >0#1 lost:1:1:1:1048577:b: !0:RESOURCE_LIMIT:* FAIL:RESOURCE_LIMIT:*artifact_bytes*"},
    {.name = "a name is needed",
     T("run.artifact{data = 'x'}"),
     "FAIL:EXECUTION_ERROR:main.lua:1: run.artifact: name must be *"},
    {.name = "and data",
     T("run.artifact{name = 'x'}"),
     "FAIL:EXECUTION_ERROR:main.lua:1: run.artifact: data must be a string*"},
    {.name = "a name has no control characters",
     T("run.artifact{name = 'a\\27[1m', data = ''}"),
     "FAIL:EXECUTION_ERROR:main.lua:1: run.artifact: name must be *"},
};

static void check_random(void)
{
	struct trial t = {.code = T("return math.random(0)")};
	char *a = try_it(&t), *b = try_it(&t);

	ok(strncmp(a, "VALUE:", 6) == 0 && strcmp(a, b) != 0,
	   "two workers of one zygote roll different numbers");
	free(a);
	free(b);
}

static const struct trial broken[] = {
    {.name = "more inputs than were promised end the worker",
     .code = T("return 1"),
     .want = "STATUS:100",
     .inputs = "{} ",
     .more = 1},
};

static const struct table tables[] = {TABLE(errors), TABLE(cancels),
				      TABLE(talk),   TABLE(artifacts),
				      TABLE(broken), {0}};

int main(void)
{
	check_tables(tables);
	check_random();
	return tap_done();
}
