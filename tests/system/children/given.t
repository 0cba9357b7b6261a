#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Code that a client gives to the shipped templates calls other templates: in a single call, in cells of a
# notebook, and from a worker that was started ahead; a copy of such a template calls nothing.
use lib 'tests/lib';
use Paddock;
use Cage;

my $reads = {readOnlyHint => true, destructiveHint => false};
my $root = Paddock->new(idle => 1, templates => {
	twice => lua('return {n = inputs.n * 2}', annotations => $reads),
	writes => lua('return 1'),
})->{root};
my $s = Paddock->new(dirs => ["$TOP/etc/templates", "$root/templates"])->greeted;
my %needs = (run_python => 'python3', run_node => 'node', run_bash => 'perl');

sub code { my ($tool, $code, %more) = @_; return $s->tool($tool => {code => $code, %more})->{view} // {} }

# ---- Lua ----

is(code(run_lua => 'return run.template("twice", {n = 4}).n')->{result}, 8, 'code of run_lua calls a template');
is(code(run_lua => 'x = run.template("twice", {n = 5}).n', notebook => 'n')->{notebook}{state}, 'new', 'a cell calls a template');
is(code(run_lua => 'x + run.template("twice", {n = x}).n', notebook => 'n')->{value}, '30', 'a later cell has what the call returned, and calls again');
like(code(run_lua => 'local ok, e = pcall(run.template, "writes", {}) return e.message')->{result}, qr/options\.allowWrites: true with run_task_template$/, 'code that was given by the tool of the template writes nothing');
is($s->run_sync(run_lua => {code => 'return run.template("writes", {})'}, allowWrites => true)->{result}{result}, 1, 'code that was given with allowWrites may write');
{
	my $v = $s->run_sync(run_lua => {code => 'return run.template("run_lua", {code = "return run.template([[twice]], {n = 7}).n"}).result'});

	is($v->{result}{result}, 14, 'given code gives code that calls');
	is($s->get($v->{children}[0]{runId})->{childrenTotal}, 1, 'each run lists the calls of its own');
}
is(code(run_lua => 'local ok, e = pcall(run.template, "run_lua", {code = "x = 1", notebook = "n"}) return e.code', notebook => 'n')->{result}, 'CALL_NOT_ALLOWED', 'a cell does not wait for its own notebook');

# ---- programs, by lines on the descriptors of the template's program ----

my $call = '{"call":{"id":1,"template":"twice","inputs":{"n":21}}}';
# The answer follows the line with the id of the run, which a worker that was started ahead gets.
my %line = (
	run_python => "import os, json\nwith open('/proc/%d/fd/3' % os.getppid(), 'w') as out:\n    print('$call', file=out)\nwith open('/proc/%d/fd/4' % os.getppid()) as back:\n    for line in back:\n        if '\"ok\"' in line:\n            print(json.loads(line)['value']['output']['n'])\n            break",
	run_bash => qq(echo '$call' >/proc/\$PPID/fd/3; grep -m1 '"ok"' </proc/\$PPID/fd/4 | grep -o '"n":[0-9]*' | cut -d: -f2),
);
for my $tool (sort keys %line) {
	SKIP: {
		skip "$needs{$tool} is not installed", 1 if !Needs::program($needs{$tool});
		my $v = code($tool => $line{$tool});

		is($v->{stdout}, "42\n", "code of $tool calls a template") or diag(json_of($v));
	}
}
$s->stop;

# ---- a copy ----

{
	my $c = Paddock->new(idle => 1, templates => {twice => lua('return 1', annotations => $reads)});

	system('cp', '-r', "$TOP/etc/templates/run_lua", "$c->{root}/templates/run_lua");
	$c->start->greeted;
	my $e = json_to($c->call('tools/call', {name => 'run_lua', arguments => {code => 'return run.template("twice", {})'}})->{result}{content}[0]{text});

	is("$e->{errorCode} $e->{details}{key}", 'PERMISSION_NOT_ALLOWED templates', 'a copy of run_lua has no grant');
	$c->stop;
}
done_testing();
