#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Attempts of a Lua template's code. See tests/lib/Redteam.pm.
#
# 102, 106, 112, 113: Lua itself cannot stop a loop which never calls into run, so the limit
# is a signal, from the CPU timer or the end of the grace period, and no pcall, coroutine or
# hook can intercept the signal.
# 104, 105: Lua does not verify binary chunks, so binary chunks are refused.
# 106, 107: the state is never closed, so finalizers run only while a template works; a
# looping finalizer uses the run's own CPU time.
# 114: stopping the collector costs only the run's own memory.
# 121: an integer key is no name in a JSON object: the template's own error, found by the
# worker, so no offence against the protocol.
# 122: a table within itself is the same kind of error.
use lib 'tests/lib';
use Paddock;
use Redteam;

my %cpu = (limits => {maxCpuMs => 150});
my %small = (limits => {maxMemoryBytes => 16 << 20});
my $caught = 'local ok, e = pcall(function() %s end) return {ok = ok, e = tostring(e):match("[^:]*$")}';

sub caught { return sprintf $caught, $_[0] }

attack_all([
    [100, 'a string of 2^40 bytes', 'returns {"e":" resulting string too large","ok":false}',
     lua => caught('return #string.rep("x", 1 << 40)'), %small],
    [101, 'a string doubled for ever', 'returns {"e":"not enough memory","ok":false}',
     lua => caught('local s = "x" while true do s = s .. s end'), %small],
    [102, 'a pattern that backtracks for ever', 'RESOURCE_LIMIT "limit":"cpu"',
     lua => 'return string.find(string.rep("a", 100000), string.rep("a-", 50) .. "b")',
     %cpu],
    [103, 'gsub that doubles', 'returns {"e":"not enough memory","ok":false}',
     lua => caught('local s = "x" while true do s = s:gsub(".", "%0%0") end'), %small],
    [104, 'a binary chunk',
     'returns ["attempt to load a binary chunk (mode is \'t\')","load takes text only, not mode \'b\'"]',
     lua => 'local _, a = load("\27Lua\x54") local _, b = pcall(load, "x", "x", "b") ' .
	 'return run.array{a, (b:gsub("^.-: ", ""))}'],
    [105, 'string.dump and what else is not there', 'returns {"there":{}}',
     lua => 'local t = {} for _, n in ipairs{"dofile", "loadfile", "require", "debug", "io", ' .
	 '"package"} do if _G[n] ~= nil then t[n] = true end end ' .
	 'for _, n in ipairs{"execute", "exit", "getenv", "remove", "rename", "setlocale", "tmpname"} do ' .
	 'if os[n] ~= nil then t[n] = true end end if string.dump ~= nil then t.dump = true end ' .
	 'return {there = t}'],
    [106, 'a finalizer that loops for ever', 'RESOURCE_LIMIT "limit":"cpu"',
     lua => 'setmetatable({}, {__gc = function() while true do end end}) ' .
	 'for i = 1, 1e9 do local t = {} end', %cpu],
    ['106b', 'the same at the end of the run', 'returns 1',
     lua => 'keep = setmetatable({}, {__gc = function() while true do end end}) return 1', %cpu],
    [107, 'a finalizer that speaks after the end', 'returns 1',
     lua => 'keep = setmetatable({}, {__gc = function() run.progress(9, 9, "late") end}) return 1',
     also => sub { ($_[1]{message} // '') eq 'late' ? 'it was heard' : () }],
    [108, 'an error object that forges text', 'EXECUTION_ERROR forged by __tostring',
     lua => 'error(setmetatable({}, {__name = "SANDBOX_VIOLATION", ' .
	 '__tostring = function() return "forged by __tostring" end}))'],
    ['108b', 'one whose __tostring fails', 'EXECUTION_ERROR',
     lua => 'error(setmetatable({}, {__tostring = function() error("again") end}))'],
    ['108c', 'one whose __tostring loops', 'RESOURCE_LIMIT "limit":"cpu"',
     lua => 'error(setmetatable({}, {__tostring = function() while true do end end}))', %cpu],
    ['108d', 'one with a code of the server', 'EXECUTION_ERROR',
     lua => 'error({errorCode = "SANDBOX_VIOLATION", code = "WORKER_CRASHED", message = "x"})'],
    [109, 'error(nil)', 'EXECUTION_ERROR', lua => 'error(nil)',
     also => sub { length $_[1]{error}{message} ? () : 'nothing is said' }],
    [110, 'coroutines in coroutines', 'returns {"e":"C stack overflow","ok":false}',
     lua => 'local function f() local ok, e = coroutine.resume(coroutine.create(f)) ' .
	 'if not ok then error(e, 0) end return e end ' . caught('f()')],
    [111, '10^5 parentheses', 'returns {"far":true,"ok":false}',
     lua => 'local f, e = load("return " .. string.rep("(", 100000) .. "1" .. string.rep(")", 100000)) ' .
	 'return {ok = f ~= nil, far = e:find("overflow", 1, true) ~= nil}'],
    [112, 'pcall that swallows the cancel', 'canceled', cancel => 'deaf',
     lua => 'run.progress(0, 1, "deaf") while true do pcall(run.sleep, 1000) end',
     limits => {cancelGraceMs => 100}],
    ['112b', 'a loop that never looks', 'canceled', cancel => 'deaf',
     lua => 'run.progress(0, 1, "deaf") while true do end', limits => {cancelGraceMs => 100}],
    [113, 'a loop in coroutines', 'canceled', cancel => 'deaf',
     lua => 'run.progress(0, 1, "deaf") while true do coroutine.wrap(function() ' .
	 'for i = 1, 1e6 do end end)() end', limits => {cancelGraceMs => 100}],
    [114, 'collectgarbage("stop")', 'returns {"e":"collectgarbage(\"stop\") is not available, only \"count\" is","ok":false}',
     lua => 'local ok, e = pcall(collectgarbage, "stop") return {ok = ok, e = e:gsub("^.-(: )", "")}'],
    [115, 'table.unpack of 10^7', 'returns {"e":" too many results to unpack","ok":false}',
     lua => caught('return table.unpack({}, 1, 10000000)')],
    [116, 'a handler of errors that fails', 'returns {"ok":false}',
     lua => 'local function h(e) error(e) end return {ok = (xpcall(error, h, "x"))}'],
    [117, 'formats of great width', 'returns {"bounded":true,"ok":true}',
     lua => 'local ok, s = pcall(string.format, "%99.99f", 1.7e308) ' .
	 'return {ok = ok, bounded = #s < 1000}'],
    ['117b', 'formats of greater width', 'returns false',
     lua => 'return (pcall(string.format, "%999.999f", 1))'],
    [118, 'a poisoned string library', 'returns "poison"',
     lua => 'getmetatable("").__index = function() return function() return "poison" end end ' .
	 '_ENV.tostring = nil return ("x"):anything()',
     also => sub { my $v = $_[0]->run_sync('sibling', {n => 20});
		   $v->{result} eq 210 ? () : 'the next run sees it' }],
    [119, 'a sort that contradicts itself', 'returns {"ended":true}',
     lua => 'local t = {} for i = 1, 1000 do t[i] = (i * 7919) % 1000 end ' .
	 'pcall(table.sort, t, function() return true end) return {ended = true}'],
    [120, 'print of a forged line', 'returns 1',
     lua => 'print("x\n2026-01-01T00:00:00Z level=error part=run forged\r\x1b[2J") return 1',
     also => sub { $_[0]->log_text =~ /^[^ ]+ level=error part=run forged/m
		       ? 'the log has a line of its own' : () }],
    [121, 'a result with keys from 2^53 on', 'EXECUTION_ERROR',
     lua => 'return {[1 << 53] = 1, [(1 << 53) + 1] = 2}'],
    [122, 'a result within itself', 'EXECUTION_ERROR',
     lua => 'local t = {} t.t = t return t'],
    ['122b', 'a result of 100,000 levels', 'EXECUTION_ERROR',
     lua => 'local t = 1 for i = 1, 100000 do t = {t} end return t'],
]);
