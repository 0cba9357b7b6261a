#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Notebooks of run_node: what stays from cell to cell, values and errors, cells that are
# interrupted, and cells that cost the notebook.
use strict;
use warnings;
use Cwd qw(abs_path);
use lib 'tests/lib';
use JSON::PP;
use Needs;
use ResidentHost;
use Test::More;

plan skip_all => lacks('node') if lacks('node');

my $PACKAGE = abs_path('etc/templates/run_node');
my $s = begin();

sub begin { return ResidentHost->new(command => ['node', "$PACKAGE/main.mjs"], template => $PACKAGE, @_) }
sub book { return $_[0]{output}{notebook} }
sub value { return $s->cell(@_)->{output}{value} }
sub printed { return $s->cell(@_)->{output}{stdout} }
sub state_of { return book($_[0])->{state} }
sub why { return book($_[0])->{why} // '' }

# ---- what stays ----

my $r = $s->cell('const x = 5; let y = 1; class A {} function f() { return x; } console.log("said"); x');
is_deeply($r->{output}, {stdout => "said\n", stderr => '', exitCode => 0, value => '5', notebook => {name => 'n', cell => 1, state => 'new'}}, 'the first cell of a notebook is new');
is_deeply([map { $_->{kept} } @{$r->{states}}], [JSON::PP::true], 'a cell that ended is kept, and that is said once');
is(value('[x, y, f(), typeof A]'), "[ 5, 1, 5, 'function' ]", 'const, let, classes and functions stay');
is(value('const x = 6; let y = await Promise.resolve(7); class A { a = 1 } x + y + new A().a'), '14', 'const, let and classes can be declared again, and await works at the top');
is(value('var z = (y++, y); z'), '8', 'a variable of a cell can be changed by the next');
is(value('undefined'), undef, 'undefined is no value');
is(value('if (x) { "a" } else { "b" }'), "'a'", 'the value is that of the last statement');
is(value('({a: 1n, b: [Symbol("s"), -0, null]})'), '{ a: 1n, b: [ Symbol(s), -0, null ] }', 'a value is shown as util.inspect() does');
cmp_ok(length value('Array.from({length: 90}, () => "\u20ac".repeat(9999))'), '<=', 65536, 'a value is at most 64 KiB');
is(value('({[Symbol.for("nodejs.util.inspect.custom")]() { throw new Error("no") }})'), '[a value that cannot be shown: no]', 'a value that cannot be shown is no failure');
is(value('import {basename as b, dirname} from "node:path"; import os, * as all from "os"; import "fs"
[b("/a/b"), dirname("/a/b"), typeof os.EOL, typeof all.EOL, "import(1)", typeof (await import("fs")).readFileSync]'),
   "[ 'b', '/a', 'string', 'string', 'import(1)', 'function' ]", 'import works as statement and as call');
$s->write_file('own.mjs', 'export const own = 9;');
is(value('export const {own} = await import("./own.mjs"); own'), '9', 'a file of the working folder can be imported');
is(printed("const fs = require('fs'); console.log(fs.readFileSync(0, 'utf8'), process.argv.slice(2))", stdin => 'given', args => ['a b']), "given [ 'a b' ]\n", 'a cell has its arguments and its standard input');
is(printed('process.stdin.on("data", (d) => console.log(`${d}`))', stdin => 'again'), "again\n", 'each cell has a standard input of its own, as a stream as well');
is(printed('setTimeout(() => console.log("later"), 20); console.log("now")'), "now\nlater\n", 'a cell ends when its timers have ended');
is($s->cell('setTimeout(() => { throw new Error("late") }, 1)')->{output}{error}{value}, 'late', 'an error of a timer is of its cell');
$r = $s->run({code => 'require("fs").writeFileSync("result.json", "{\"a\": 1}"); require("fs").writeFileSync("out/a.txt", require("fs").readFileSync("d/b.txt"))'}, 'd/b.txt' => 'given');
is_deeply([$r->{output}{result}, $r->{files}{'a.txt'}], [{a => 1}, 'given'], 'a cell has files, a result and artifacts');
is($s->cell('1')->{output}{result}, undef, 'a result of the cell before is gone');
$r = $s->cell('console.log("x".repeat(100000)); console.error("e".repeat(70000))');
like($r->{output}{stdout}, qr/\n\[\d+ bytes are left out here; the whole is the artifact stdout\.txt\]\n/, 'long output keeps its beginning and its end');
is_deeply([length $r->{files}{'stdout.txt'}, length $r->{files}{'stderr.txt'}], [100001, 70001], 'the whole of a long output is an artifact');
$s->freeze;
is(value('x'), '6', 'a notebook goes on after it was stopped');
$s->begin({code => 'console.log("begun"); while (!require("fs").existsSync("go")) {} x'});
$s->await_log(qr/begun/);
$s->freeze(sub { $s->write_file('go', '') });
is($s->await("run_$s->{cell}")->{output}{value}, '6', 'a cell goes on after it was stopped');
$s->freeze(sub {
	my $id = $s->begin({code => 'while (true) {}'});
	$s->send_line({cancel => {id => $id, why => 'cancel', graceMs => 5000}});
});
is(state_of($s->await("run_$s->{cell}")), 'kept', 'a cell is interrupted whose cancel comes with it');
is(value('x'), '6', 'variables stay after a cell whose cancel came with it');

# ---- errors and ends ----

$r = $s->cell("function g() {\n  throw new TypeError('no');\n}\nlet w = 1; g();");
is_deeply($r->{output}{error}, {name => 'TypeError', value => 'no', traceback => ['TypeError: no', map { "    at $_" } "g (cell-$s->{cell}.js:2:9)", "cell-$s->{cell}.js:4:12"]}, 'an error has its name, its message and its lines');
is("$r->{output}{exitCode} " . state_of($r), '1 kept', 'an error ends the cell, and not the notebook');
like($r->{output}{stderr}, qr/^Uncaught TypeError: no\n    at g \(cell-\d+\.js:2:9\)\n/, 'an error is told on standard error');
is(value('w'), '1', 'what was set before an error stays');
like($s->cell("let q = 1\nif q {\n")->{output}{error}{traceback}[0], qr/^cell-\d+\.js:2:4$/, 'an error of syntax has its place');
is_deeply($s->cell('throw 5')->{output}{error}, {name => 'number', value => '5', traceback => ['5']}, 'a value that is thrown is told');
is($s->cell('await Promise.reject(new RangeError("r"))')->{output}{error}{name}, 'RangeError', 'an error that is awaited is told');
is($s->cell('Promise.reject(new Error("gone")); 1')->{output}{error}{value}, 'gone', 'an error that nobody awaits is told');
like($s->cell('require("nosuch")')->{output}{stderr}, qr/^nosuch is not installed where this runs/m, 'a missing module is told');
$r = $s->cell('let v = 2; process.exit(3)');
is("$r->{output}{exitCode} " . state_of($r) . ' ' . value('v'), '3 kept 2', 'process.exit() ends the cell, and not the notebook');
is($s->cell('setInterval(() => process.exit(4), 5)')->{output}{exitCode}, 4, 'process.exit() ends timers');
is($s->cell('process.exitCode = 5')->{output}{exitCode}, 5, 'an exit code can be set');
is($s->cell('1')->{output}{exitCode}, 0, 'an exit code is of its cell');
$r = $s->cell('await new Promise(() => {})');
is_deeply([@{$r->{output}}{qw(stderr exitCode)}], ["the code waits by an await that nothing will end\n", 13], 'an await without an end ends its cell');

# ---- cells that are interrupted ----

my @waits = ('let k = 0; for (;;) k++', 'await new Promise((r) => setTimeout(r, 600000))', 'setInterval(() => {}, 10); k', 'require("child_process").execSync("sleep 600")',
	     'require("child_process").spawn("sleep", ["600"]); k', '"a".repeat(50).match(/(a+)+b/); for (;;) ;');
for my $code (@waits) {
	$r = $s->cell($code, timeoutMs => 300);
	is_deeply([$r->{output}{exitCode}, $r->{output}{stderr} =~ /(ended after 300 ms, which is its timeoutMs\n)\z/, state_of($r)], [124, "ended after 300 ms, which is its timeoutMs\n", 'kept'], "a cell is interrupted: $code");
}
$r = $s->cell('require("child_process").spawn("sleep", ["600"]).on("exit", () => require("child_process").spawn("sleep", ["600"])); k', timeoutMs => 300);
is(state_of($r), 'kept', 'a cell is interrupted that starts a process when the processes of the cell are ended');
is(why($r), 'the code was ended after 300 ms, which is its timeoutMs; what it had set until then stays', 'an interrupted cell says why, and what stays');
is(value('[x, k > 5]'), '[ 6, true ]', 'all variables are there after interrupts');
is_deeply([map { $s->cell('for (;;) ;', timeoutMs => 1)->{output}{exitCode} } 1 .. 3], [124, 124, 124], 'a cell that has no time at all is ended');
$s->begin({code => 'console.log("begun"); for (;;) ;'});
$s->await_log(qr/begun/);
$s->send_line({cancel => {id => 'run_other', why => 'cancel', graceMs => 5000}});
$s->send_line({cancel => {id => "run_$s->{cell}", why => 'cancel', graceMs => 5000}});
$r = $s->await("run_$s->{cell}");
is_deeply([$r->{failed}{code}, $r->{failed}{details}{stdout}, state_of($r)], ['EXECUTION_ERROR', "begun\n", 'kept'], 'a cell that is cancelled is interrupted, and tells what it printed');
$r = $s->cell('const c = require("child_process").spawn("sleep", ["600"], {detached: true, stdio: "ignore"}); c.unref(); x');
is($r->{output}{value}, '6', 'a cell that leaves processes ends');
like(why($r), qr/^1 of the processes that the code started were still running/, 'processes that a cell leaves are ended, and that is said');
is($s->run({})->{failed}{message}, 'give code, which a cell of a notebook needs', 'a cell without code is refused');

$r = $s->cell('process.removeAllListeners("SIGINT"); setTimeout(() => process.kill(process.pid, "SIGINT"), 1); setTimeout(() => {}, 600000)');
is("$r->{output}{exitCode} " . state_of($r), '130 kept', 'a cell that interrupts itself is ended');

# ---- cells that cost the notebook ----

$r = $s->cell('await 1; for (;;) ;', timeoutMs => 300);
is_deeply([$r->{output}{exitCode}, state_of($r), [map { $_->{kept} } @{$r->{states}}]], [124, 'new', [JSON::PP::false]], 'a cell that cannot be interrupted costs the notebook');
like(why($r), qr/^the code was ended after 300 ms, .*: all variables are lost, and the notebook is empty$/, 'a lost notebook says so');
$r = $s->cell('typeof x');
is($r->{output}{value} . state_of($r), "'undefined'new", 'a lost notebook begins anew');
like(why($r), qr/^the code was ended after 300 ms/, 'the cell after a loss says why nothing is set');
is(state_of($s->cell('let x = 1')), 'kept', 'a loss is told once');
for (['process.kill(process.pid, "SIGSEGV")', 139, 'ended by SIGSEGV'], ['process.abort()', 134, 'ended by SIGABRT'], ['process.reallyExit(7)', 7, 'ended with exit code 7']) {
	my ($code, $status, $how) = @$_;

	$r = $s->cell($code);
	is($r->{output}{exitCode}, $status, "a process that ends has its exit code: $code");
	like(why($r), qr/^the process was $how, /, "a process that ends says how: $code");
}

# ---- attacks ----

$s->cell('let x = 2');
$r = $s->cell('require("fs").writeSync(3, `null\n[\n{"done": {"id": 7}}\n{"done": {"id": "run_${process.argv.length}"}}\n${"x".repeat(9000)}\n`); x');
is($r->{output}{value}, '2', 'claims that are none of the cell are ignored');
$r = $s->cell('require("fs").writeSync(3, JSON.stringify({done: {id: "run_' . ($s->{cell} + 1) . '", exitCode: "x", value: {a: 1}, error: {name: 1, traceback: "t"}}}) + "\n")');
is_deeply([@{$r->{output}}{qw(exitCode error)}, exists $r->{output}{value}], [0, {name => 'Error', value => '', traceback => []}, !1], 'a forged claim has no other shape');
is(value('x'), '2', 'a notebook goes on after a forged claim');
$r = $s->cell('const fs2 = require("fs"); for (let i = 0; i < 64; i++) try { fs2.closeSync(i) } catch {}', timeoutMs => 20000);
is($s->cell('1', timeoutMs => 20000)->{output}{value}, '1', 'a process that closes all descriptors costs its notebook at most');
$s->cell('console.log = inspect = JSON.stringify = Promise = globalThis.setTimeout = Error = null; process.stdout.write = null; Object.prototype.toString = null; process.on = null', timeoutMs => 20000);
is($s->cell('2', timeoutMs => 20000)->{output}{value}, '2', 'replaced builtins cost their notebook at most');
$s->cell('process.stdout.write("x".repeat(1 << 25)); 1', timeoutMs => 60000);
$r = $s->cell('process.kill(process.ppid, "SIGKILL"); setTimeout(() => {}, 600000)');
is_deeply($r, {}, 'a cell that kills the host ends the resident');
$s->stop;

$s = begin(lost => 'the notebook was idle for 15 min');
is(why($s->cell('1')), 'the notebook was idle for 15 min', 'what was lost before is told by the first cell');
$s->begin({code => 'console.log("begun"); for (;;) ;'});
$s->await_log(qr/begun/);
is($s->stop, 0, 'a notebook ends well whose cell was under way');
done_testing;
