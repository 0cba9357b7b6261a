#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Calls of a run with a second attempt, or repeated by retry_task_run: calls that had succeeded are not made
# again; failed calls, calls with a deleted run, and calls with a secret or a notebook are made again.
use lib 'tests/lib';
use Paddock;
use Cage;

my $reads = {readOnlyHint => true, destructiveHint => false, idempotentHint => true};
my @may = (annotations => $reads, permissions => {templates => ['*']});
my $number = {type => 'object', properties => {n => {type => 'integer'}}};
# A call is {template, inputs}, or {artifact: the number of the call that kept the artifact}.
my $caller = <<'LUA';
local all = {}
for i, call in ipairs(inputs.calls) do
	if call.artifact then
		all[i] = {out = run.call("get_artifact", {artifactId = all[call.artifact].out}).data}
	else
		local ok, out, of = pcall(run.template, call.template, call.inputs)
		all[i] = ok and {out = out, run = of.runId} or {code = out.code, run = out.details and out.details.runId}
	end
end
if inputs.fails then run.error("NOT_YET", "it fails", {all = all}) end
return all
LUA
my $wide = <<'LUA';
local out = {}
for i, n in ipairs{1, 2, 2} do out[i] = run.template("draw", {n = n}) end
run.progress(1, 2, table.concat(out, " "))
run.map({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, {concurrency = 16}, function() return run.template("waits", {}) end)
LUA
my %templates = (
	draw   => lua('return math.random(1 << 40)', annotations => $reads, inputsSchema => $number),
	fails  => lua('run.error("NO_LUCK", "no luck")', annotations => $reads),
	secret => lua('return math.random(1 << 40)', annotations => $reads, inputsSchema => {type => 'object', properties => {password => {type => 'string', writeOnly => true}}}),
	cells  => lua('return math.random(1 << 40)', annotations => $reads, resident => {serial => true}, inputsSchema => {type => 'object', properties => {notebook => {type => 'string', format => 'paddock-notebook'}}}),
	writes => lua('return math.random(1 << 40)'),
	kept   => lua('return run.artifact{name = "a", data = "kept"}', annotations => $reads),
	waits  => lua('run.sleep(600000)', annotations => $reads, limits => {maxTimeoutMs => 600000}),
	calls  => lua($caller, @may),
	again  => lua($wide, @may, limits => {maxTimeoutMs => 600000, maxChildren => 16}, retry => {attempts => 4, backoffMs => 0}),
);
my $config = "[limits]\nmax_concurrent_runs = 24\n" . join '', map { qq([grant "$_"]\ntemplates = *\n) } qw(calls again);

sub draw { return {template => 'draw', inputs => {n => $_[0]}} }
# The answers to the calls of the run V.
sub all_of { my ($v) = @_; return @{$v->{result} // $v->{error}{details}{templateDetails}{all} // (diag(json_of($v)), [])->[1]} }
sub again { my ($s, $run, %inputs) = @_; return $s->tool(retry_task_run => {runId => $run, (%inputs ? (inputs => \%inputs) : ()), options => {mode => 'sync'}})->{view} }
sub reused { my ($v) = @_; return join ' ', map { $_->{reused} ? 'reused' : 'new' } @{$v->{children}} }

# ---- retry_task_run ----

my $audit = Paddock::fresh_root() . '/audit';
my $s = Paddock->new(templates => \%templates, config => "$config\[server]\naudit_file = $audit\n")->greeted;

{
	my @calls = (draw(1), draw(1), draw(2), {template => 'fails', inputs => {}}, {template => 'kept', inputs => {}}, {artifact => 5});
	my $first = $s->run_sync(calls => {fails => true, calls => \@calls});
	my $second = again($s, $first->{runId}, calls => [draw(2), @calls[1, 0, 3 .. 5], draw(2)]);
	my $third = again($s, $second->{runId}, fails => false);
	my (@a, @b, @c) = ();

	@a = all_of($first); @b = all_of($second); @c = all_of($third);
	is(reused($first), 'new new new new new', 'a first run finds no calls') or diag(json_of($first));
	is(reused($second), 'reused reused reused new reused new', 'a run that is run again finds the calls that had succeeded, in any order') or diag(json_of($second));
	is_deeply([@b[0 .. 2, 4]], [@a[2, 0, 1, 4]], 'a call that is found has its output and its run');
	isnt($b[3]{run}, $a[3]{run}, 'a call that had failed is made again');
	is($b[5]{out}, 'a2VwdA==', 'the artifact of a call that is found is read');
	isnt($b[6]{out}, $a[2]{out}, 'one call more than before, though equal, is made');
	is($third->{status}, 'succeeded', 'the run succeeds when it is run again');
	is_deeply([@c[0 .. 2, 4, 6]], [@b[0 .. 2, 4, 6]], 'a run that is run again for the second time finds the calls of both runs');
	is($third->{childrenTotal}, 6, 'calls that are found count among the children');
	my ($reused) = grep { $_->{reused} } @{$third->{children}};
	ok($reused->{createdAt} <= $reused->{endedAt}, 'the view has the times of a call that is found');
	is($s->get($b[0]{run})->{parentRunId}, $first->{runId}, 'a child that is found again keeps the run that called first');
	my @entries = grep { $_->{event} eq 'run_reused' } map { json_to($_) } split /\n/, read_file($audit);
	is_deeply([map { $_->{runId} } grep { $_->{parentRunId} eq $second->{runId} } @entries], [map { $_->{runId} } grep { $_->{reused} } @{$second->{children}}], 'the audit log names each call that was found');
	is(reused(again($s, $third->{runId})), 'new new new new new new', 'a run that had succeeded calls everything again');
}
{
	my $first = $s->run_sync(calls => {fails => true, calls => [draw(1)]});
	my $other = $s->run_sync(calls => {fails => true, calls => [draw(1)]});

	isnt((all_of($other))[0]{out}, (all_of($first))[0]{out}, 'two runs with equal calls share no children');
	is_deeply([all_of(again($s, $other->{runId}))], [all_of($other)], 'each of them finds its own');
}
{
	my @calls = ({template => 'secret', inputs => {password => 'hidden-word'}}, {template => 'cells', inputs => {notebook => 'n'}}, {template => 'cells', inputs => {}});
	my $first = $s->run_sync(calls => {fails => true, calls => \@calls});

	is(reused(again($s, $first->{runId})), 'new new reused', 'a call with a secret, or in a notebook, is made again');
}
{
	my $first = $s->run_sync(calls => {fails => true, calls => [draw(1), draw(2)]});

	$s->call('paddock/deleteRuns', {runIds => [(all_of($first))[0]{run}]});
	is(reused(again($s, $first->{runId})), 'new reused', 'a call whose run was deleted is made again');
}
{
	my $first = $s->run_sync(calls => {fails => true, calls => [{template => 'writes', inputs => {}}]}, allowWrites => true);
	my %o = (runId => $first->{runId}, options => {mode => 'sync'});

	is((all_of($s->tool(retry_task_run => \%o)->{view}))[0]{code}, 'PERMISSION_NOT_ALLOWED', 'a call that changes things is found only when the client allows such calls again');
	$o{options}{allowWrites} = true;
	is_deeply([all_of($s->tool(retry_task_run => \%o)->{view})], [all_of($first)], 'a call that has changed things is not made again');
}
{
	my $inner = {template => 'calls', inputs => {fails => true, calls => [draw(1)]}};
	my $first = $s->run_sync(calls => {fails => true, calls => [$inner]});
	my $second = again($s, $first->{runId});

	is(reused($second), 'new', 'a called run that had failed is run again');
	is(reused($s->get((all_of($second))[0]{run})), 'reused', 'such a run finds its own calls') or diag(json_of($second));
}
{
	my %key = (idempotencyKey => 'one key');
	my $first = $s->run_sync(calls => {fails => true, calls => [draw(1)]}, %key);
	my $second = $s->run_sync(calls => {fails => true, calls => [draw(1)]}, %key);

	is($second->{runId}, $first->{runId}, 'two calls with an idempotencyKey are one run, with one child');
	is($s->tool('list_task_runs', {templateId => 'draw', limit => 1})->{view}{runs}[0]{runId}, (all_of($first))[0]{run}, 'the second call has made no child');
	my $key = $s->run_sync(draw => {n => 1}, idempotencyKey => 'a' x 32);
	is($s->run_sync(draw => {n => 1}, idempotencyKey => 'a' x 32)->{runId}, $key->{runId}, 'a key of a client finds the run of a client');
}

# ---- attempts ----

# The view of RUN once N of its children wait.
sub waiting { my ($s, $run, $n, $attempts) = @_;
	return $s->get_until($run, "$n waiting children", sub { @{$_->{attempts} // []} == $attempts && $n == grep { "$_->{templateId} $_->{status}" eq 'waits running' } @{$_->{children} // []} }) }

{
	my $run = $s->run_async('again');
	my $before = waiting($s, $run, 16, 0);

	kill KILL => $s->worker_pid($run);
	my $after = waiting($s, $run, 16, 1);
	is($after->{message}, $before->{message}, 'an attempt after a crash finds the calls that had succeeded');
	is(reused($after), join(' ', ('reused') x 3, ('new') x 16), 'such an attempt calls again what had not ended');
	is($after->{childrenTotal}, 19, 'an attempt counts its own calls');
	is($s->ended($_->{runId})->{status}, 'canceled', 'a child that the crash left is cancelled') for (grep { $_->{templateId} eq 'waits' } @{$before->{children}})[0, 15];
	$s->tool(cancel_task_run => {runId => $run});
	$s->ended($run);
	$s->stop;
}
{
	my $k = Paddock->new(templates => \%templates, config => $config, shared => 1)->greeted;
	my $run = $k->run_async('again');
	my $before = waiting($k, $run, 16, 0);

	until_true('the rows of all runs', sub { @{$k->tool('list_task_runs', {limit => 100})->{view}{runs}} == 20 });
	$k->kill9;
	strays_gone();
	$k = Paddock->new(root => $k->{root}, templates => \%templates, config => $config, shared => 1)->greeted;
	$k->tool('list_task_runs');
	my $after = waiting($k, $run, 16, 1);
	is($after->{message}, $before->{message}, 'an attempt after kill -9 of the server finds the calls that had succeeded');
	is(reused($after), join(' ', ('reused') x 3, ('new') x 16), 'sixteen children that ran at kill -9 are called again');
	is($k->get($_->{runId})->{error}{errorCode}, 'RUN_INTERRUPTED', 'a child that ran at kill -9 was interrupted') for (grep { $_->{templateId} eq 'waits' } @{$before->{children}})[0, 15];
	$k->tool(cancel_task_run => {runId => $run});
	$k->ended($run);
	is((grep { $_->{status} eq 'running' } @{$k->tool('list_task_runs', {limit => 100})->{view}{runs}}), 0, 'nothing is left running');
	$k->stop;
}
done_testing();
