#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Notebooks of run_lua: variables from cell to cell, values and errors, interrupted cells, and
# the end of a notebook.
use lib 'tests/lib';
use Paddock;

my $s = Paddock->new(dirs => ['etc/templates'], templates => {counter => counter()})->greeted;

# A template for any code: the input do is called with run and the number of calls.
sub counter {
	return lua('calls = (calls or 0) + 1
		return {calls = calls, book = run.notebook, said = load(inputs["do"])(run, calls)}', resident => {serial => true}, limits => {maxCpuMs => 400, cancelGraceMs => 400, maxMemoryBytes => 16 << 20},
		inputsSchema => {type => 'object', properties => {notebook => {type => 'string', format => 'paddock-notebook'}, do => {type => 'string'}}});
}

sub counted { my ($do, %o) = @_; return $s->run_sync(counter => {notebook => 'c', do => $do}, %o) }
sub cell { my ($code, %in) = @_; return $s->run_sync(run_lua => {notebook => 'n', code => $code, %in}) }
sub answer { return cell(@_)->{result} }
sub value { my $a = answer(@_); return $a->{value} // $a->{error}{value} }
sub state_of { return $_[0]{notebook}{state} }

# ---- from cell to cell ----

my $r = cell("print('said')\nx = 5\nx");
same_json($r->{result}, {stdout => "said\n", stderr => '', exitCode => 0, value => '5', notebook => {name => 'n', cell => 1, state => 'new'}}, 'the first cell of a notebook is new') or diag explain $r;
same_json($r->{notebook}, {name => 'n', cell => 1, state => 'new'}, 'the run has the state, too');
is(value('x = x + 1; x'), '6', 'a global stays');
is(value('local y = 7; function f() return x, y end'), undef, 'a statement has no value');
is(value('f()'), '6, 7', 'a function stays, with what it closes over');
is(value('tostring(y)'), '"nil"', 'a local is of its cell');
is(value('... , stdin, files.a', args => ['p'], stdin => 'i', files => {a => 'z'}), '"p", "i", "z"', 'a cell has its arguments, input and files');
is(value('stdin, files.a, #files.b', files => {b => 'bb'}), '"i", "z", 2', 'files and the input stay');
is(answer('math.randomseed(7) a = math.random(1 << 30)')->{exitCode} . value('b = math.random(1 << 30); math.randomseed(7); math.random(1 << 30) == a and math.random(1 << 30) == b'), '0true', 'the random numbers go on');
$r = cell("run.artifact{name = 'a.txt', data = 'made'}\nreturn {run.notebook.name, run.id}");
is_deeply([map { $_->{name} } @{$r->{artifacts}}], ['a.txt'], 'an artifact is of its cell');
same_json($r->{result}{result}, ['n', $r->{runId}], 'what a cell returns is the result, and run is of this run');
is_deeply(cell('1')->{artifacts}, [], 'a cell has no artifact of the cell before');
$r = answer("for i = 1, 30000 do print('abcdefghi') end");
like($r->{stdout}, qr/\n\[\d+ bytes are left out here; the whole is the artifact stdout\.txt\]\n/, 'long output keeps its beginning and its end');
is(cell('run.progress(1, 2); run.step("s", function() return 3 end)')->{result}{value}, '3', 'a cell has steps');
is_deeply([map { $_->{name} } @{cell('run.step("t", print)')->{steps} // []}], ['t'], 'steps are of their cell');
is($s->run_sync(run_lua => {code => 'return x == nil'})->{result}{result}, true, 'a call without a notebook starts anew');
is($s->run_sync(run_lua => {notebook => 'o', code => 'x == nil'})->{result}{value}, 'true', 'another notebook has variables of its own');

# ---- values ----

my @values = (['nil'], ['false', 'false'], ['"a\nb\"\\\\"' => '"a\nb\"\\\\"'], ['"\u{e9}\xff\0"' => '"\xC3\xA9\xFF\x00"'], ['1, nil, 2.0', '1, nil, 2.0'],
	      ['{1, {2}, a = "b", [3.5] = true, ["c d"] = {}}', '{1, {2}, [3.5] = true, a = "b", ["c d"] = {}}'],
	      ['t = {}; t.t = t; t', '{t = {...}}'], ['print', 'function'], ['setmetatable({}, {__tostring = function() return "own" end})', 'own'],
	      ['setmetatable({}, {__tostring = function() error("no", 0) end})', '[a value that cannot be shown: no]'],
	      ["f(1,\n  2)\n", '6, 7'], ["x -- of; old\n-- end\n", '6'], ["s = [[\n1\n2]]"], ["s\n", '"1\n2"'], ["x = x\n-- a; b"], ["if x then\n x = x\nend"], ["y = {1}\n2", '2'],
	      ["y = x\n- 2"], ['y', '4'], ["y = f\n(2)"], ['y', '6'], ['#"abc"', '3'], ['function(a) end', 'function'], ['return 1, 2', '1, 2']);
is(value($_->[0]) // 'none', $_->[1] // 'none', 'the value of: ' . $_->[0] =~ s/\n/ | /gr) for @values;
cmp_ok(length value('string.rep("\u{20ac}", 99999)'), '<=', 65536, 'a value is at most 64 KiB');
cmp_ok(length value('b = {}; for i = 1, 20000 do b[i] = {i} end; b'), '<=', 65536, 'a table is at most 64 KiB');

# ---- errors ----

$r = cell("function g()\n  error('no')\nend\nw = 1\ng()");
my $n = $r->{notebook}{cell};
like(json_of($r->{result}{error}), qr/^\{"name":"error","traceback":\["error: cell-$n\.lua:2: no","\[C\]: in function 'error'","cell-$n\.lua:2: in [a-z]+ 'g'","cell-$n\.lua:5: in [^"]*"\],"value":"cell-$n\.lua:2: no"\}$/, 'an error has its message and its lines');
is("$r->{status} $r->{result}{exitCode} " . state_of($r), 'succeeded 1 kept', 'an error ends the cell, and not the notebook');
like($r->{result}{stderr}, qr/^error: cell-$n\.lua:2: no\n\t\[C\]/, 'an error is told on standard error');
is(value('w'), '1', 'what was set before an error stays');
like(value("x = 1\nif x\n"), qr/^cell-\d+\.lua:\d: 'then' expected/, 'an error of syntax has its line');
$r = answer('run.error("OWN", "why")');
is("$r->{error}{name} $r->{error}{value}", 'OWN why', 'an error with a code has the code for a name');
is(value('error()'), 'nil', 'an error of nil is told');
is(value('error(setmetatable({}, {__tostring = function() error("x") end}))'), 'a table whose text cannot be had', 'an error without a text is told');

# ---- interrupted cells ----

my @loops = ('k = 0; while true do k = k + 1 end', 'while true do pcall(function() while true do end end) end', 'coroutine.wrap(function() while true do end end)()',
	     'while true do local co = coroutine.create(function() while true do end end) coroutine.resume(co) end', 'repeat xpcall(error, function() end) until nil',
	     'local c <close> = setmetatable({}, {__close = function() while true do end end}) while true do end',
	     'c = coroutine.create(function() local c <close> = setmetatable({}, {__close = function() while true do end end}) coroutine.yield() end) coroutine.resume(c) coroutine.close(c)',
	     'run.sleep(100000)', 'while true do run.sleep(1) end', 'run.map({1, 2}, function() while true do end end)', 'run.step("a", function() while true do end end)',
	     'coroutine.wrap(function() run.map({1}, function() run.sleep(100000) end) end)()', 'setmetatable({}, {__index = function() while true do end end}).nosuch()', 'table.sort({3, 2, 1}, function() while true do end end)');
for my $code (@loops) {
	$r = cell("x = 3 $code", timeoutMs => 200);
	is("$r->{result}{exitCode} " . state_of($r), '124 kept', "a cell is interrupted: $code") or diag explain $r;
	is($s->run_sync(run_lua => {notebook => 'n', code => 'return x'})->{result}{result}, 3, "what it had set stays: $code");
}
like(cell('while true do end', timeoutMs => 200)->{result}{notebook}{why}, qr/^the code was ended after 200 ms, which is its timeoutMs; what it had set until then stays$/, 'an interrupted cell says why, and what stays');

# ---- interrupted runs ----

my $STAYS = 'the code was ended, and what it had set until then stays';
sub run_state { my ($r) = @_; return join ' ', $r->{error}{errorCode} // $r->{status}, state_of($r), $r->{notebook}{why} // '' }

$r = $s->run_sync(run_lua => {notebook => 'n', code => 'x = 7 while true do end'}, timeoutMs => 300);
is(run_state($r), "RUN_TIMEOUT kept $STAYS", 'a run without time costs nothing but the cell') or diag explain $r;
is(value('x'), '7', 'what a run had set before its time was over stays');
for my $code ('x = x + 1 print("begun") while true do end', 'x = x + 1 print("begun") run.sleep(100000)', 'x = x + 1 print("begun") coroutine.wrap(function() while true do pcall(error) end end)()') {
	my $id = $s->run_async(run_lua => {notebook => 'n', code => $code});
	until_true('the cell begins', sub { ($s->run_log($id) // '') =~ /begun/ });
	$s->tool(cancel_task_run => {runId => $id});
	is(run_state($s->ended($id)), "RUN_CANCELED kept $STAYS", "a cell can be cancelled: $code");
}
is(value('x'), '10', 'what cancelled cells had set stays');
is(counted('return 1')->{result}{calls}, 1, 'a template of Lua may have notebooks');
same_json(counted('return 1')->{result}, {calls => 2, said => 1, book => {name => 'c', cell => 2}}, 'a template has its globals, and is told the notebook');
$r = counted('while true do end');
is(run_state($r), "RESOURCE_LIMIT kept $STAYS", 'a run that used its CPU time costs nothing but the cell') or diag explain $r;
is($r->{error}{details}{limit}, 'cpu', 'the limit is that of the run') or diag explain $r;
is(run_state(counted('while true do end')), "RESOURCE_LIMIT kept $STAYS", 'each run has its own CPU time');
$r = counted('return 1');
cmp_ok($r->{metrics}{cpuMs}, '<', 300, 'a run is charged for its own CPU time alone');
is($r->{result}{calls}, 5, 'the template has its state after interrupted runs');

# ---- the end of a notebook ----

sub lost { my ($r, $why, $name) = @_; is(state_of($r), 'new', "$name: the next cell is new") or diag explain $r; like($r->{notebook}{why}, $why, "$name: the reason is told") }

$r = cell('x = {} while true do x[#x + 1] = {#x} end');
is(run_state($r), 'RESOURCE_LIMIT lost ', 'a lack of memory fails the run') or diag explain $r;
$r = cell('x');
lost($r, qr/^a run needed more memory or CPU time than it may have/, 'a lack of memory');
same_json($r->{result}{notebook}, {name => 'n', cell => 1, state => 'new', why => $r->{notebook}{why}}, 'the answer has the reason as well');
is(value('x = 1; pcall(function() local t = {} while true do t[#t + 1] = {#t} end end)'), 'false, "not enough memory"', 'a lack of memory that the cell catches costs nothing');
is(value('x'), '1', 'a notebook goes on after a lack of memory that was caught');
$r = counted('xpcall(error, function() while true do end end)', timeoutMs => 300);
is(run_state($r), 'RUN_TIMEOUT lost ', 'a run that cannot be interrupted costs the notebook') or diag explain $r;
lost(counted('return 1'), qr/crashed or could not be interrupted in time$/, 'a run that cannot be interrupted');
{
	my $id = $s->run_async(run_lua => {notebook => 'n', code => 'print("begun") run.sleep(100000)'});
	kill KILL => $s->worker_pid($id);
	is(run_state($s->ended($id)), 'WORKER_CRASHED lost ', 'a worker that is killed costs the notebook');
	lost(cell('x'), qr/crashed or could not be interrupted in time$/, 'a worker that is killed');
}
{
	my $id = cell('x = 1')->{runId};
	my $pid = $s->worker_pid($id);
	until_true('the idle worker is stopped', sub { (Paddock::stat_of($pid)->{state} // 'T') eq 'T' });
	is(value('x'), '1', 'a notebook goes on after it was stopped');
	$pid = $s->worker_pid(cell('x')->{runId});
	until_true('the idle worker is stopped again', sub { (Paddock::stat_of($pid)->{state} // 'T') eq 'T' });
	kill KILL => $pid;
	until_true('the idle worker is gone', sub { !alive($pid) });
	is(state_of(cell('x')), 'new', 'an idle worker that is killed costs the notebook');
}

# ---- attacks ----

cell('x = 2');
for my $code ('for k in next, string do string[k] = nil end', 'for k in next, table do table[k] = nil end', 'for k in next, run do if k ~= "notebook" then run[k] = nil end end', 'for k in next, math do math[k] = error end',
	      'getmetatable("").__index = function() while true do end end', 'getmetatable("").__lt = error', 'setmetatable(run, {__newindex = function() while true do end end, __index = error})',
	      'for k, v in next, getmetatable(_G).__index do if k ~= "next" then getmetatable(_G).__index[k] = print end end', 'print = nil load = nil pcall = error error = nil',
	      'setmetatable(_G, {__newindex = error, __index = error})', 'stdin = nil files = 7') {
	cell($code);
	is(answer('return 3', files => {a => 'b'}, stdin => 'c', timeoutMs => 5000)->{result}, 3, "a cell that replaces functions costs itself at most: $code");
}
$s->stop;

# ---- what is left of a run ----

$s = Paddock->new(dirs => ['etc/templates'], templates => {counter => counter()})->greeted('2025-11-25', {elicitation => {}});
my $ASK = 'run.elicit{message = "m", schema = {type = "object", properties = {a = {type = "string"}}}}';
sub asks { my ($code, %o) = @_; return $s->request('tools/call', {name => 'run_task_template', arguments => {templateId => 'run_lua', inputs => {notebook => 'n', code => $code}, options => {mode => 'sync', %o}}}) }
sub view_of { return $s->answer($_[0])->{result}{structuredContent} }
{
	my $id = asks("x = 2; r = $ASK; r.content.a");
	$s->reply($s->told('elicitation/create'), {action => 'accept', content => {a => 'yes'}});
	is(view_of($id)->{result}{value}, '"yes"', 'a cell asks the user');
	$id = asks("x = 3; r = $ASK", timeoutMs => 500);
	my $question = $s->told('elicitation/create');
	# the question may end just before the run: then the error of the question ends the cell
	like(run_state(view_of($id)), qr/\ARUN_TIMEOUT kept (?:\Q$STAYS\E)?\z/, 'a cell whose question nobody answers ends');
	$s->reply($question, {action => 'accept', content => {a => 'late'}});
	is(value('x, r.content.a'), '3, "yes"', 'a late answer is of no later cell');
	$id = asks("r = $ASK; r.content.a");
	$s->reply($s->told('elicitation/create'), {action => 'accept', content => {a => 'again'}});
	is(view_of($id)->{result}{value}, '"again"', 'a later cell asks again');
}
is(counted('local run = ... gone = coroutine.wrap(function() run.step("late", function() coroutine.yield() end, {timeout = 1000}) end) gone()')->{error}{details}{stepErrorCode} // '', 'ABANDONED', 'a step is left in a coroutine');
like(counted('local ok, e = pcall(gone) return tostring(e)')->{result}{said}, qr/the run of this step is over$/, 'a step of an earlier run does not go on');
counted('local run = ... old = coroutine.wrap(function() run.step("late", function() coroutine.yield() end, {timeout = 1000}) end) old()');
$r = counted('local run = ... run.step("code", function() old = nil for i = 1, 100000 do local t = {i} end while true do end end, {timeout = 50})', timeoutMs => 60000);
is($r->{error}{details}{stepErrorCode} // '', 'STEP_TIMEOUT', 'a step of an earlier run that is collected stops no timer') or diag explain $r;
is(counted('setmetatable({}, {__gc = function() while true do end end}) for i = 1, 1000000 do local t = {i} end', timeoutMs => 300)->{error}{errorCode}, 'RUN_TIMEOUT', 'a finalizer without an end meets the time of its run');
is(counted('return 1')->{status}, 'succeeded', 'a notebook begins anew after a finalizer without an end');
is(counted('local run = ... setmetatable({}, {__gc = function() run.log("info", "late") end})')->{status}, 'succeeded', 'a finalizer is left behind');
is(counted('for i = 1, 1000000 do local t = {i} end return 4')->{result}{said}, 4, 'a finalizer of an earlier run may log');
is(counted('local run = ... e = select(2, pcall(run.artifact, {name = "a", data = string.rep("x", 1 << 20)})) return 5')->{status}, 'succeeded', 'an artifact is made in a notebook');
is(counted('error(e, 0)')->{status}, 'failed', 'an error of an earlier run can be raised again');
is($s->run_sync(counter => {do => 'return 6'})->{result}{said}, 6, 'a run without a notebook is served beside');
$s->stop;
done_testing;
