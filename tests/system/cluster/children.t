#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Runs that call runs on several nodes of a database: a child without a place at the node of the
# parent, or with needs that only another node serves, runs at the other node. The end comes back, and
# the end of the parent, or of the parent's node, ends the child.
use lib 'tests/lib';
use Needs;
BEGIN { needs('postgres') }
exec 'tests/tools/with-postgres', $^X, $0 unless $ENV{PADDOCK_TEST_POSTGRES};
require Paddock;
Paddock->import;
require Nodes;
Nodes->import;

my $reads = {readOnlyHint => true(), destructiveHint => false()};
my @may = (annotations => $reads, permissions => {templates => ['*']}, limits => {maxTimeoutMs => 600000});
my %templates = (
	nap    => lua('run.sleep(inputs.ms or 1) return inputs.n', annotations => $reads),
	waits  => lua('run.progress(0, 1, "waits") run.sleep(600000)', annotations => $reads, limits => {maxTimeoutMs => 600000}),
	fails  => lua('run.sleep(300) error({code = "OWN_CODE", message = "it does not work"})', annotations => $reads),
	again  => lua('run.progress(0, 1, "waits") run.sleep(600000)', annotations => {%$reads, idempotentHint => true()},
		retry => {attempts => 2, backoffMs => 1, on => ['interrupted']}, limits => {maxTimeoutMs => 600000}),
	writes => lua('return "written"'),
	web    => lua('return "with a browser"', annotations => $reads, tools => ['navigate']),
	# calls TEMPLATE as often as N says, all at once, and tells the ends
	fan    => lua('local out = run.map(inputs.list, {concurrency = 16}, function(one) local ok, r = pcall(run.template, one.template, one.inputs or {}) return ok and {value = r} or {code = r.code, message = r.message} end)
		local all = {} for i, r in ipairs(out) do if r.value.code then all[i] = r.value else all[i] = r.value.value end end return all', @may),
	parent => lua('return (run.template(inputs.template, inputs.inputs or {}))', @may),
	tree   => lua('if inputs.n == 0 then return 1 end local all = 0 local list = {} for i = 1, inputs.wide or 2 do list[i] = i end
		for _, r in ipairs(run.map(list, {concurrency = 16}, function() return (run.template("tree", {n = inputs.n - 1, wide = inputs.wide})) end)) do all = all + r.value end return all', @may),
	mesh   => lua('local out = run.map({1, 2}, {concurrency = 2}, function() local ok, r = pcall(run.template, "mesh", {n = inputs.n + 1}) return ok and r or {code = r.code, depth = inputs.n} end)
		return out[2].value', @may),
	cells  => lua('if inputs.call then local ok, e = pcall(run.template, inputs.call.template, inputs.call.inputs) return ok and e or e.code end return "cell"', @may, resident => {serial => true()},
		inputsSchema => {type => 'object', properties => {notebook => {type => 'string', format => 'paddock-notebook'}, call => {type => 'object'}}}),
);
my $grants = join '', map { qq([grant "$_"]\ntemplates = *\n) } qw(fan parent tree mesh cells);
my ($n, $schema);

# Two nodes with the LIMITS, and an operator of each; MORE: further sections, of each.
sub pair {
	my ($limits, @more) = @_;
	$schema = 'children' . ++$n;
	return map { one_node($_, $limits, $more[$_ - 1]) } 1, 2;
}
sub one_node {
	my ($i, $limits, $more) = @_;
	my $node = node($schema, templates => \%templates, config => $limits, server => "node_name = n$i\n$grants" . ($more // ''));

	$node->ready;
	return ($node, $node->client->greeted);
}
sub list { my ($template, $count, $inputs) = @_; return {list => [map { {template => $template, inputs => {%{$inputs // {}}, n => $_}} } 1 .. $count]} }
# The views of RUN's children, once N children have begun.
sub children {
	my ($s, $run, $count) = @_;

	my $v = $s->get_until($run, "$count children", sub { $count == grep { $_->{status} eq 'running' } @{$_->{children} // []} });
	return map { $s->get_until($_->{runId}, 'to begin', sub { $_->{status} eq 'running' }) } @{$v->{children}};
}
# The children at each of the nodes, of two.
sub at_both {
	my @children = sort { $a->{node} cmp $b->{node} } @_;

	is(join(' ', map { $_->{node} } @children), 'n1 n2', 'one child runs at each node');
	return map { $_->{runId} } @children;
}
# The name of a new notebook that lives at NODE.
sub notebook_at {
	my ($s, $node) = @_;
	my $name;

	until_true("a notebook at $node", sub { $name = 'book' . ++$n; ($s->get($s->run_sync(cells => {notebook => $name})->{runId})->{node} // '') eq $node });
	return $name;
}
sub none_left {
	is((Postgres::postgres_sql('SELECT (SELECT count(*) FROM queue) + (SELECT count(*) FROM runs WHERE ended = 0)', Postgres::postgres_url($schema)))[0], 0, 'no run is left open, and none in the queue');
}

# ---- places ----

{
	my ($one, $a, $two, $b) = pair({max_concurrent_runs => 2});
	my $v = $a->run_sync(fan => list(nap => 16, {ms => 200}));

	is(join(' ', @{$v->{result}}), join(' ', 1 .. 16), 'the results of children at two nodes come back in order') or diag(json_of($v));
	my %at;
	$at{$a->get($_->{runId})->{node}}++ for @{$v->{children}};
	ok($at{n1} && $at{n2}, 'children of a node that is full run at both nodes') or diag(json_of(\%at));
	is($v->{childrenTotal}, 16, 'the parent counts children at other nodes');
	my $child = $b->get($v->{children}[15]{runId});
	is("$child->{parentRunId} $child->{depth}", "$v->{runId} 1", 'any node shows a child with its parent');

	$v = $a->run_sync(fan => list(fails => 4));
	is(join(' ', map { $_->{code} } @{$v->{result}}), join(' ', ('EXECUTION_ERROR') x 4), 'the failure of a child comes back from any node') or diag(json_of($v));
	like($v->{result}[$_]{message}, qr/it does not work/, 'the message of the failure comes back') for 0 .. 3;

	$v = $a->run_sync(fan => {list => [map { {template => 'writes'} } 1 .. 4]});
	is(join(' ', map { $_->{code} } @{$v->{result}}), join(' ', ('PERMISSION_NOT_ALLOWED') x 4), 'children that may change things are refused without allowWrites');
	my $writes = {list => [map { {template => 'fan', inputs => {list => [{template => 'writes'}]}} } 1 .. 6]};
	$v = $a->run_sync(fan => $writes);
	is(join(' ', map { $_->[0]{code} } @{$v->{result}}), join(' ', ('PERMISSION_NOT_ALLOWED') x 6), 'a child at another node may not do more than its outermost caller allowed');
	$v = $a->run_sync(fan => $writes, allowWrites => true());
	is(join(' ', map { $_->[0] } @{$v->{result}}), join(' ', ('written') x 6), 'the permission of the outermost caller goes to children at other nodes');
	$_->stop('both end') for $one, $two;
	none_left();
}

# ---- depth, and no deadlock ----

{
	my ($one, $a, $two, $b) = pair({max_concurrent_runs => 1});
	my @ids = map { ($a->ask_run(tree => {n => 3}, mode => 'sync'), $b->ask_run(tree => {n => 3}, mode => 'sync')) } 1 .. 3;
	my @said = map { ($a->result($ids[2 * $_])->{view}{result}, $b->result($ids[2 * $_ + 1])->{view}{result}) } 0 .. 2;

	is(join(' ', map { $_ // 'none' } @said), '8 8 8 8 8 8', 'trees of runs over two nodes with a place each all end');
	my $v = $a->run_sync(mesh => {n => 0});
	is("$v->{result}{code} $v->{result}{depth}", 'RESOURCE_LIMIT 4', 'a call deeper than max_call_depth is refused, whichever nodes the callers are at') or diag(json_of($v));
	$_->stop('both end') for $one, $two;
	none_left();
}
{
	my $mine = "[requestor \"me\"]\nuid = $>\nmax_concurrent_runs = 1\nmax_queued_runs = 100\n";
	$schema = 'children' . ++$n;
	my ($two, $b) = one_node(2, {max_concurrent_runs => 4}, $mine);
	my $there = notebook_at($b, 'n2'); # before the other node has the place
	my ($one, $a) = one_node(1, {max_concurrent_runs => 4}, $mine);
	my @ids = map { ($a->ask_run(tree => {n => 2}, mode => 'sync'), $b->ask_run(tree => {n => 2}, mode => 'sync')) } 1 .. 3;
	my @said = map { ($a->result($ids[2 * $_])->{view}{result}, $b->result($ids[2 * $_ + 1])->{view}{result}) } 0 .. 2;

	is(join(' ', map { $_ // 'none' } @said), '4 4 4 4 4 4', 'parents of a requestor with one place at all nodes together all end');
	my $v = $a->run_sync(parent => {template => 'cells', inputs => {notebook => $there}});
	is($v->{result}, 'cell', 'a call for a notebook at another node does not wait for the place of its parent') or diag(json_of($v));
	$_->stop('both end') for $one, $two;
	none_left();
}

# ---- what another node has ----

{
	my ($one, $a, $two, $b) = pair({max_concurrent_runs => 4}, map { "[grant \"web\"]\ntools = navigate\n[browser]\n$_\n" } 'enabled = no', 'chromium = /bin/true');
	my $v;

	until_true('the other node', sub { $v = $a->run_sync(parent => {template => 'web'}); ($v->{status} // '') eq 'succeeded' });
	is($v->{result}, 'with a browser', 'a child that needs a browser runs at the node that has one') or diag(json_of($v));
	is($a->get($v->{children}[0]{runId})->{node}, 'n2', 'the view of the child names that node');
	my ($here, $there) = (notebook_at($a, 'n1'), notebook_at($b, 'n2'));
	$v = $a->run_sync(parent => {template => 'cells', inputs => {notebook => $there}});
	is($v->{result}, 'cell', 'a child in a notebook of another node runs there') or diag(json_of($v));
	is($a->get($v->{children}[0]{runId})->{node}, 'n2', 'the view of that child names the node of the notebook');
	$v = $a->run_sync(parent => {template => 'cells', inputs => {notebook => 'fresh'}});
	is($v->{result}, 'cell', 'a child may begin a notebook');
	$v = $a->run_sync(cells => {notebook => $here, call => {template => 'cells', inputs => {notebook => $there,
		call => {template => 'cells', inputs => {notebook => $here}}}}});
	is($v->{result}, 'CALL_NOT_ALLOWED', 'a run does not wait for a notebook that its caller at another node has') or diag(json_of($v));
	$_->stop('both end') for $one, $two;
	none_left();
}

{
	my ($one, $a, $two, $b) = pair({max_concurrent_runs => 4}, ("[grant \"web\"]\ntools = navigate\n[browser]\nenabled = no\n") x 2);
	my $v = $a->run_sync(parent => {template => 'web'});

	like(json_of($v->{error}), qr/BROWSER_UNAVAILABLE.*needs a browser/, 'where no node has a browser, the caller is told what is missing') or diag(json_of($v));
	is($v->{children} ? $a->get($v->{children}[0]{runId})->{status} : 'failed', 'failed', 'the called run has failed, if it waited for another node');
	$_->stop('both end') for $one, $two;
	none_left();
}

# ---- ends ----

{
	my ($one, $a, $two, $b) = pair({max_concurrent_runs => 1});
	my $two_wait = list(waits => 2);
	my $run = $a->run_async(fan => $two_wait);
	my @ids = at_both(children($a, $run, 2));

	$a->tool(cancel_task_run => {runId => $run});
	is($a->ended($run)->{status}, 'canceled', 'a parent with children at two nodes is cancelled');
	is($b->ended($_)->{status}, 'canceled', 'each child of the cancelled parent is cancelled') for @ids;

	$run = $a->run_async(fan => $two_wait);
	@ids = at_both(children($a, $run, 2));
	kill KILL => $a->worker_pid($run);
	is($a->ended($run)->{error}{errorCode}, 'WORKER_CRASHED', 'a killed parent has crashed');
	is($b->ended($_)->{status}, 'canceled', 'each child of the crashed parent is cancelled') for @ids;

	$run = $a->run_async(fan => list(waits => 4));
	@ids = map { $_->{runId} } @{$a->get_until($run, 'two running children of four', sub {
		join(' ', sort map { $_->{status} } @{$_->{children} // []}) eq 'queued queued running running' })->{children}};
	$a->tool(cancel_task_run => {runId => $run});
	is($b->ended($_)->{status}, 'canceled', 'a child in the queue of all nodes is cancelled with the parent') for @ids;

	$run = $a->run_async(fan => $two_wait);
	@ids = at_both(children($a, $run, 2));
	$a->tool(cancel_task_run => {runId => $ids[1]});
	$b->tool(cancel_task_run => {runId => $ids[0]});
	is(join(' ', map { $_->{code} } @{$a->ended($run)->{result}}), 'CALL_CANCELED CALL_CANCELED', 'a child that is cancelled by way of the other node is an error in the parent');

	$run = $a->run_async(fan => list(again => 2));
	@ids = at_both(children($a, $run, 2));
	$two->kill9;
	strays_gone();
	my $lost = $a->get_until($ids[1], 'to wait for a second attempt', sub { $_->{status} eq 'queued' || @{$_->{attempts} // []} });
	$a->tool(cancel_task_run => {runId => $ids[0]});
	$lost = $a->get_until($ids[1], 'a second attempt', sub { $_->{status} eq 'running' && @{$_->{attempts} // []} });
	is($lost->{node}, 'n1', 'a child whose node died is tried again at another node, in the place of its parent');
	$a->tool(cancel_task_run => {runId => $ids[1]});
	is(join(' ', map { $_->{code} } @{$a->ended($run)->{result}}), 'CALL_CANCELED CALL_CANCELED', 'the end of the second attempt comes back to the parent');
	$one->stop('the survivor ends');
	none_left();
}
{
	my ($one, $a, $two, $b) = pair({max_concurrent_runs => 1});
	my $run = $a->run_async(fan => list(waits => 2));
	my @ids = at_both(children($a, $run, 2));

	$two->kill9;
	strays_gone();
	my $v = $a->get_until($run, 'a lost child', sub { grep { $_->{status} eq 'failed' } @{$_->{children}} });
	is((grep { $_->{status} eq 'failed' } @{$v->{children}})[0]{errorCode}, 'RUN_INTERRUPTED', "the death of a child's node is an error in the parent, which goes on");
	$a->tool(cancel_task_run => {runId => $ids[0]});
	is(join(' ', sort map { $_->{code} } @{$a->ended($run)->{result}}), 'CALL_CANCELED RUN_INTERRUPTED', 'the parent has the ends of both children');
	$one->stop('the survivor ends');
	none_left();
}
{
	my ($one, $a, $two, $b) = pair({max_concurrent_runs => 1});
	my $run = $a->run_async(fan => list(waits => 3));
	my @ids = map { $_->{runId} } @{$a->get_until($run, 'two running children of three', sub {
		join(' ', sort map { $_->{status} } @{$_->{children} // []}) eq 'queued running running' })->{children}};

	$one->kill9;
	strays_gone();
	my %ends;
	$ends{$b->ended($_)->{status}}++ for @ids;
	is(join(' ', map { "$_ $ends{$_}" } sort keys %ends), 'canceled 1 failed 2', "the death of a parent's node ends its children at other nodes and in the queue");
	is($b->ended($run)->{error}{errorCode}, 'RUN_INTERRUPTED', 'the parent is interrupted');
	unlike($two->log_text, qr/run=\Q$_\E pid=.*\n(?:.*\n)*.*run=\Q$_\E pid=/, 'no child begins twice') for @ids;
	$two->stop('the survivor ends');
	none_left();
}

# ---- the end of a server in order ----

{
	my ($one, $a, $two, $b) = pair({max_concurrent_runs => 1});
	my $id = $a->ask_run(fan => list(nap => 16, {ms => 100}), mode => 'sync');

	until_true('a child', sub { $b->tool('list_task_runs')->{view}{total} > 3 });
	$one->signal('TERM');
	my $v = $a->result($id)->{view};
	is(join(' ', @{$v->{result} // []}), join(' ', 1 .. 16), 'a parent goes on to call while its node drains') or diag(json_of($v));
	$a->hang_up;
	$one->stop('the draining node ends');
	$two->stop('the other node ends');
	none_left();
}
done_testing();
