#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The places and the ends of runs that call runs: parents do not starve children, any end of a parent
# ends the children, and a child's question reaches the client that waits for the outermost run.
use lib 'tests/lib';
use Paddock;
use Cage;
use Daemon;

my $reads = {readOnlyHint => true, destructiveHint => false};
my @may = (annotations => $reads, permissions => {templates => ['*']});
my $form = '{type = "object", properties = {name = {type = "string"}}, required = run.array{"name"}}';
my %templates = (
	twice  => lua('return inputs.n * 2', annotations => $reads),
	waits  => lua('run.progress(0, 1, "waits") run.sleep(600000)', annotations => $reads, limits => {maxTimeoutMs => 600000}),
	asks   => lua("return run.elicit{message = 'Which?', schema = $form}", annotations => $reads),
	parent => lua('return (run.template(inputs.template, inputs.inputs))', @may, limits => {maxTimeoutMs => 600000}),
	short  => lua('return (run.template("waits", {}))', @may, limits => {maxTimeoutMs => 300}),
	step   => lua('local ok, e = pcall(run.step, "s", function() return run.template("waits", {}) end, {timeout = 200}) return {code = e.code, twice = run.template("twice", {n = 4})}', @may),
	pair   => lua('run.map({1, 2}, {concurrency = 2}, function() return run.template("waits", {}) end)', @may, limits => {maxTimeoutMs => 600000}),
	sums   => lua('local all = 0 for _, r in ipairs(run.map(inputs.list, {concurrency = 8}, function(n) return (run.template("twice", {n = n})) end)) do all = all + r.value end return all', @may),
	deep   => lua('if inputs.n == 0 then return 0 end return 1 + run.template("deep", {n = inputs.n - 1})', @may),
	tree   => lua('if inputs.depth == 4 then return 1 end local sum = 1 for _, r in ipairs(run.map({1, 2, 3}, {concurrency = 3}, function() return (run.template("tree", {depth = inputs.depth + 1})) end)) do sum = sum + r.value end return sum', @may, limits => {maxTimeoutMs => 600000}),
	tries  => lua('local codes = {} for i = 1, inputs.n do local ok, e = pcall(run.template, "twice", {n = i}) codes[i] = ok and "ok" or e.code end return codes', @may),
	meets  => lua("if not inputs.other then return 'called' end run.elicit{message = inputs.notebook, schema = {type = 'object', properties = {}}} local ok, e = pcall(run.template, 'meets', {notebook = inputs.other}) return ok and 'ok' or e.code", @may, resident => {serial => true}, limits => {maxTimeoutMs => 600000},
		inputsSchema => {type => 'object', properties => {notebook => {type => 'string', format => 'paddock-notebook'}, other => {type => 'string'}}}),
	cells  => lua('local ok, e, v = pcall(run.template, "cells", {notebook = inputs.other, other = inputs.last}) if ok and inputs.last then return e end return ok and "ok" or e.code', @may, resident => {serial => true},
		inputsSchema => {type => 'object', properties => {notebook => {type => 'string', format => 'paddock-notebook'}, other => {type => 'string'}, last => {type => 'string'}}}),
);
my $grants = join '', map { qq([grant "$_"]\ntemplates = *\n) } qw(parent short step pair sums deep tree tries cells meets);

sub server { my ($limits, @more) = @_; return Paddock->new(templates => \%templates, config => "[limits]\n$limits\n$grants", @more) }
# The ids of RUN's children, once N children have begun.
sub children {
	my ($s, $run, $n) = @_;

	return map { $_->{runId} } @{$s->get_until($run, "$n children", sub { $n == grep { $_->{status} eq 'running' } @{$_->{children} // []} })->{children}};
}
sub all_canceled { my ($s, $name, @runs) = @_; is(join(' ', map { $s->ended($_)->{status} } @runs), join(' ', ('canceled') x @runs), $name) }

# ---- places ----

{
	my $s = server("max_concurrent_runs = 1\nmax_call_depth = 8")->greeted;

	is($s->run_sync(sums => {list => [1 .. 20]})->{result}, 420, 'a parent does not keep its children waiting where one run may run');
	is($s->run_sync(deep => {n => 8})->{result}, 8, 'eight parents, each called by another parent, share a single place');
	my @ids = map { $s->ask_run(sums => {list => [$_, $_]}, mode => 'sync') } 1 .. 6;
	is_deeply([map { $s->result($_)->{view}{result} } @ids], [map { 4 * $_ } 1 .. 6], 'six parents that wait for one place all end');
	my $run = $s->run_async(parent => {template => 'waits', inputs => {}});
	children($s, $run, 1);
	my $later = $s->run_async(twice => {n => 1});
	is($s->get($later)->{status}, 'queued', 'the place that a parent lends is for children alone');
	is($s->tool('get_runtime_profile')->{view}{usage}{running}, 2, 'the profile counts parent and child');
	$s->tool(cancel_task_run => {runId => $run});
	is($s->ended($later)->{result}, 2, 'the place is free after the parent');
	$s->stop;
}
for my $places (2, 8) {
	my $s = server("max_concurrent_runs = $places")->greeted;

	is($s->run_sync(tree => {depth => 0})->{result}, 121, "a tree of 121 runs, each waiting for three others, ends in $places places");
	$s->stop;
}
{
	my $s = server("max_concurrent_runs = 8\n[requestor \"me\"]\nuid = $>\nmax_concurrent_runs = 1\nmax_queued_runs = 100")->greeted;

	is($s->run_sync(deep => {n => 4})->{result}, 4, 'a requestor with one place has parents and children');
	my @ids = map { $s->ask_run(sums => {list => [$_]}, mode => 'sync') } 1 .. 4;
	is_deeply([map { $s->result($_)->{view}{result} } @ids], [2, 4, 6, 8], 'four parents of a requestor with one place all end');
	$s->stop;
}

# ---- quotas met in the middle ----

{
	my $s = server("max_concurrent_runs = 4\n[requestor \"me\"]\nuid = $>\nrate_per_second = 1\nburst = 8")->greeted;
	my $codes = $s->run_sync(tries => {n => 20})->{result};

	is(join(' ', grep { !/^(?:ok|RATE_LIMITED)$/ } @$codes), '', 'a call above the rate is refused, and the parent goes on');
	ok((grep { $_ eq 'RATE_LIMITED' } @$codes) > 5, 'calls of a run count in the rate of the requestor');
	$s->stop;
}

# ---- ends ----

my $s = server("max_concurrent_runs = 4")->greeted;

{
	my $run = $s->run_async('pair');
	my @children = children($s, $run, 2);

	is($s->tool(cancel_task_run => {runId => $run})->{view}{children}, 2, 'a cancel says how many children end with the run');
	is($s->ended($run)->{status}, 'canceled', 'a cancelled parent ends');
	all_canceled($s, 'the children of a cancelled parent are cancelled', @children);
}
{
	my $run = $s->run_async('pair');
	my @children = children($s, $run, 2);

	kill KILL => $s->worker_pid($run);
	is($s->ended($run)->{error}{errorCode}, 'WORKER_CRASHED', 'a killed parent has crashed');
	all_canceled($s, 'the children of a killed parent are cancelled', @children);
}
{
	my $v = $s->run_sync('short');

	# the times of parent and child end together, in either order
	is($v->{status}, 'failed', 'the time of a parent goes on while it waits for a child');
	like($s->ended($v->{children}[0]{runId})->{status}, qr/^(?:canceled|failed)$/, 'the child of a parent whose time is over ends');
}
{
	my $v = $s->run_sync('step');

	is("$v->{result}{code} $v->{result}{twice}", 'STEP_TIMEOUT 8', 'a step that calls times out, and the parent goes on');
	is(join(' ', map { $s->ended($_->{runId})->{status} } @{$v->{children}}), 'canceled succeeded', 'the call of the step is cancelled');
}
{
	my $run = $s->run_async(parent => {template => 'parent', inputs => {template => 'pair', inputs => {}}});
	my ($child) = children($s, $run, 1);
	my ($grandchild) = children($s, $child, 1);
	my @leaves = children($s, $grandchild, 2);

	is($s->tool(cancel_task_run => {runId => $run})->{view}{children}, 4, 'a cancel counts the children of children');
	all_canceled($s, 'all of them are cancelled', $run, $child, $grandchild, @leaves);
}
{
	my $run = $s->run_async(parent => {template => 'waits', inputs => {}});
	my ($child) = children($s, $run, 1);

	$s->tool(cancel_task_run => {runId => $child});
	my $v = $s->ended($run);
	is("$v->{status} $v->{error}{errorCode}", 'failed EXECUTION_ERROR', 'a child that somebody cancels is an error in its parent') or diag(json_of($v));
	is($v->{error}{details}{templateCode}, 'CALL_CANCELED', 'the error of the parent has the code for a cancelled call');
	is($v->{children}[0]{status}, 'canceled', 'the view of the parent says that the child was cancelled');
}
is($s->run_sync(cells => {notebook => 'a', other => 'a'})->{result}, 'CALL_NOT_ALLOWED', 'a run does not wait for a notebook that it has itself');
is($s->run_sync(cells => {notebook => 'a', other => 'b'})->{result}, 'ok', 'a run in a notebook calls for another notebook');
is($s->run_sync(cells => {notebook => 'a', other => 'b', last => 'a'})->{result}, 'CALL_NOT_ALLOWED', 'a called run does not wait for a notebook of the caller');

# ---- notebooks that call each other ----

# Runs in the notebooks NAMES: each run asks, and then calls the notebook that is the next, the last one the first; the
# questions are answered in order, each after the call before waits. The results.
sub ring {
	my ($c, @names) = @_;
	my @ids = map { $c->ask_run(meets => {notebook => $names[$_], other => $names[($_ + 1) % @names]}, mode => 'sync') } 0 .. $#names;
	my %question = map { my $m = $c->told('elicitation/create'); $m->{params}{message} => $m } @names;

	for my $name (@names) {
		$c->reply($question{$name}, {action => 'accept', content => {}});
		my $waiting = sub { grep { $_->{parentRunId} && $_->{status} eq 'queued' } @{$c->tool('list_task_runs')->{view}{runs}} };
		until_true("the call of $name waits", sub { $waiting->() == 1 + grep { $names[$_] lt $name } 0 .. $#names }) if $name ne $names[-1];
	}
	return map { $c->result($_)->{view}{result} } @ids;
}

{
	my $c = server("max_concurrent_runs = 8\n")->greeted(undef, {elicitation => {}});

	is(join(' ', ring($c, 'a', 'b')), 'ok CALL_NOT_ALLOWED', 'of two notebooks that call each other the second is refused at once');
	is(join(' ', ring($c, 'a', 'b', 'c')), 'ok ok CALL_NOT_ALLOWED', 'of three notebooks that call each other in a ring the last is refused at once');
	$c->stop;
}

# ---- questions ----

{
	my $q = server('max_concurrent_runs = 2')->greeted(undef, {elicitation => {}});
	my $id = $q->ask_run(parent => {template => 'parent', inputs => {template => 'asks', inputs => {}}}, mode => 'sync');
	my $m = $q->told('elicitation/create');

	is($m->{params}{message}, 'Which?', 'a question of a child of a child reaches who waits for the outermost run');
	$q->reply($m, {action => 'accept', content => {name => 'this'}});
	is($q->result($id)->{view}{result}{content}{name}, 'this', 'the answer reaches the child');
	$id = $q->ask_run(parent => {template => 'asks', inputs => {}}, mode => 'sync');
	$m = $q->told('elicitation/create');
	$q->notify('notifications/cancelled', {requestId => $id});
	my ($run) = grep { $_->{templateId} eq 'asks' } @{$q->tool('list_task_runs')->{view}{runs}};
	all_canceled($q, 'a child whose outermost call is cancelled while it asks ends', $run->{runId});
	$q->stop;
}

# ---- the server's end ----

{
	my $d = Daemon->new(templates => \%templates, config => "[limits]\nmax_concurrent_runs = 2\n$grants");
	my $c = $d->client->greeted;
	my $id = $c->ask_run(sums => {list => [1 .. 400]}, mode => 'sync');

	$d->log_has(qr/template=twice .*started=yes/);
	$d->signal('TERM');
	my $v = $c->result($id)->{view};
	is($v->{result}, 160400, 'a run that goes on while the server drains goes on to call templates') or diag(json_of($v));
	$c->hang_up;
	$d->stop("the server ends after the run");
}

{
	my $k = server('max_concurrent_runs = 1', shared => 1)->greeted;
	my $run = $k->run_async('pair');
	my ($running, $queued) = map { $_->{runId} } sort { $b->{status} cmp $a->{status} }
	    @{$k->get_until($run, 'a running child and a queued child', sub { join(' ', sort map { $_->{status} } @{$_->{children} // []}) eq 'queued running' })->{children}};

	until_true('the rows of the three runs', sub { @{$k->tool('list_task_runs')->{view}{runs}} == 3 });
	$k->kill9;
	strays_gone();
	$k = Paddock->new(root => $k->{root}, templates => \%templates, config => "[limits]\nmax_concurrent_runs = 1\n$grants")->greeted;
	is(join(' ', map { my $v = $k->ended($_); "$v->{status}/" . ($v->{error}{errorCode} // '') } $run, $running, $queued),
	   join(' ', ('failed/RUN_INTERRUPTED') x 3), 'after kill -9 neither a parent nor a child lives on, queued or running');
	is($k->get($queued)->{parentRunId}, $run, 'the view of an interrupted child names the parent');
	unlike($k->log_text, qr/run=\Q$queued\E event=start/, 'the queued child is not begun by the next server');
	$k->stop;
}
$s->stop;
done_testing();
