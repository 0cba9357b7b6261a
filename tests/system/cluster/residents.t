#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Notebooks on several nodes of a database: a notebook lives on a single node, and runs go there
# whichever node was asked; every node lists and ends the notebook. After a loss of the state
# the next run at any node is told the reason.
use lib 'tests/lib';
use Paddock;

BEGIN {
	needs('postgres');
	exec 'tests/tools/with-postgres', $^X, $0 unless $ENV{PADDOCK_TEST_POSTGRES};
}
use Cli;
use Cluster;
use Residents;

my $c = Cluster->new(templates => {cells => cells()}, nodes => 3, limits => {max_residents => 8},
	tokens => {ada => 'a' x 40, bob => 'b' x 40});
my @ada = map { $_->modern('ada') } $c->nodes; # the same requestor at each node
my @root = map { Client->new($_)->greeted } $c->nodes;
my $cli = Cli->new;

sub row { my ($name) = @_; return ($c->sql("SELECT coalesce((SELECT node FROM residents WHERE requestor = 'ada' AND resident = 'cells/$name'), 'none')"))[0] }
my @instance; # of each node
sub see_instance { my ($at) = @_; ($instance[$at]) = map { $_->{instance} } grep { $_->{self} } @{$root[$at]->call('paddock/nodes')->{result}{nodes}} }
see_instance($_) for 0 .. 2;
# The number of the node that has the notebook NAME of ada.
sub home { my ($name) = @_; my $id = row($name); return (grep { $instance[$_] eq $id } 0 .. 2)[0] }
sub back { my ($at) = @_; $c->again($at)->ready; $ada[$at] = $c->node($at)->modern('ada'); $root[$at] = Client->new($c->node($at))->greeted; see_instance($at) }
sub other { my ($name) = @_; my $home = home($name); return (grep { $_ != $home } 0 .. 2)[0] }
sub names { my ($client) = @_; return join ' ', sort map { $_->{name} } @{$client->call('paddock/residents')->{result}{residents}} }
sub until_names { my ($client, $want, $name) = @_; until_true($name, sub { names($client) eq $want }); is(names($client), $want, $name) }
sub says_state { my ($r, $state, $name) = @_; is($r->{result}{state}, $state, $name) or diag explain $r }

# ---- one state for all nodes ----

{
	my @said = map { cell($_, '"a"') } @ada, @ada;

	says_state($said[$_], 'a' x ($_ + 1), "run $_ of the notebook has the state of the runs before, at whichever node") for 0 .. 5;
	is_deeply([map { $_->{notebook}{state} } @said], ['new', ('kept') x 5], 'the state is new once, and kept in each later run');
	is(scalar(grep { $_ ne $said[0]{result}{pid} } map { $_->{result}{pid} } @said), 0, 'all runs were in one process');
	my $bob = $c->node(other('n'))->modern('bob');
	my $r = cell($bob, '"b"');
	says_state($r, 'b', 'the notebook of the same name of another requestor has a state of its own');
	is($r->{notebook}{state}, 'new', 'the other requestor is told that the state is new');
}
{
	my $first = $ada[0]->run_async(cells => {notebook => 'n', do => 'sleep 600'});
	$ada[0]->get_until($first, 'to run', sub { $_->{status} eq 'running' });
	my @next = map { $ada[$_ % 3]->run_async(cells => {notebook => 'n', do => "'$_'"}) } 1 .. 6;
	is($ada[1]->get($_)->{status}, 'queued', 'a run of a busy notebook waits, whichever node was asked') for @next;
	$ada[2]->tool(cancel_task_run => {runId => $next[0]});
	is($ada[1]->ended($next[0])->{status}, 'canceled', 'a run which waits for the notebook at another node can be cancelled');
	$ada[1]->tool(cancel_task_run => {runId => $first});
	my @said = map { $ada[0]->ended($next[$_])->{result}{said} } 1 .. 5;
	is_deeply([sort @said], [2 .. 6], 'the runs which waited come to the notebook');
	is(length cell($ada[1], '""')->{result}{state}, 11, 'each of them once');
}

{
	my $asked = $c->node(other('n'))->client('ada')->greeted(capabilities => {elicitation => {}, roots => {}});

	is(length cell($asked, '""')->{result}{state}, 11, 'a client that can be asked has its call answered by way of another node as well');
}

# ---- the first run of a name at several nodes at once ----

for my $name (map { "race$_" } 1 .. 5) {
	my @id = map { my $client = $_; map { $client->run_async(cells => {notebook => $name, do => '"x"'}) } 1 .. 2 } @ada;
	my @runs = map { $ada[0]->ended($_) } @id;

	is(join(' ', sort map { length $_->{result}{state} } @runs), '1 2 3 4 5 6', "$name: runs that came to all nodes at once have one state");
	is(scalar(keys %{{map { $_->{result}{pid} => 1 } @runs}}), 1, "$name: one node has the process");
}

# ---- the list ----

{
	my $all = 'n race1 race2 race3 race4 race5';

	until_names($_, $all, 'each node lists the notebooks of all nodes') for @ada;
	my @rows = map { @{$_->call('paddock/residents')->{result}{residents}} } @ada;
	is(scalar(grep { exists $_->{node} } @rows), 0, 'a client is not told of nodes');
	my $at = other('n');
	until_true('the runs of the notebook at another node', sub { grep { $_->{name} eq 'n' && $_->{requestor} eq 'ada' && $_->{runs} > 10 } @{$root[$at]->call('paddock/residents')->{result}{residents}} });
	like($cli->run(['ps', '--residents', '--socket', $c->node($at)->{socket}])->{out}, qr/\AREQUESTOR .* NODE\n.*^ada +cells +n +idle .* \S+\n/ms, 'ps --residents tells an operator of the nodes');
}

# ---- the end at request of any node ----

{
	my $at = other('race1');

	ok($ada[$at]->call('paddock/endResident', {templateId => 'cells', name => 'race1'})->{result}{ended}, 'a notebook is ended by way of another node');
	is(row('race1'), '', 'no node has the ended notebook');
	my $r = cell($ada[$at], '"y"', {notebook => 'race1'});
	says_state($r, 'y', 'the state after the end is new');
	like($r->{notebook}{why}, qr/^it was ended on request/, 'the reason is told, at whichever node');
	is($ada[$at]->call('paddock/endResident', {templateId => 'cells', name => 'nothing'})->{error}{data}{errorCode}, 'NOTEBOOK_NOT_FOUND', 'a notebook that no node has is not found');
	is($c->node($at)->modern('bob')->call('paddock/endResident', {templateId => 'cells', name => 'race1'})->{error}{data}{errorCode}, 'NOTEBOOK_NOT_FOUND', 'the notebook of another requestor is not found');
	my $busy = $ada[0]->run_async(cells => {notebook => 'race2', do => 'sleep 600'});
	$ada[0]->get_until($busy, 'to run', sub { $_->{status} eq 'running' });
	is($ada[other('race2')]->call('paddock/endResident', {templateId => 'cells', name => 'race2'})->{error}{data}{errorCode}, 'NOTEBOOK_BUSY', 'a notebook with a run is not ended by another node');
	$ada[0]->tool(cancel_task_run => {runId => $busy});
	$ada[0]->ended($busy);
	like($cli->run(['notebook', 'rm', 'race2', '--template', 'cells', '--requestor', 'ada', '--socket', $c->node(other('race2'))->{socket}])->{err} // '', qr/is ended/, 'notebook rm reaches another node');
}

# ---- a database that is away while a run waits for its notebook's node ----

{
	my $release = postgres_held($c->url, 'LOCK TABLE residents IN EXCLUSIVE MODE');
	my $run = $ada[0]->run_async(cells => {notebook => 'waits', do => '"w"'});

	until_true('the question for the node', sub { ($c->sql("SELECT count(*) FROM pg_locks JOIN pg_class ON pg_class.oid = relation WHERE relname = 'residents' AND NOT granted"))[0] > 0 });
	$c->end_backends($_) for 0 .. 2;
	$release->();
	says_state($ada[1]->ended($run), 'w', 'a run whose question for a node was lost with the connections of all nodes begins');
	is(cell($ada[2], '"v"', {notebook => 'waits'})->{result}{state}, 'wv', 'the notebook has one node after that');
}

# ---- a node that ends in order ----

{
	cell($ada[0], '"e"', {notebook => 'ends'});
	my $at = home('ends');
	my $there = (grep { $_ != $at } 0 .. 2)[0];
	my $run = $ada[$at]->run_async(cells => {notebook => 'ends', do => 'say_line({progress => {done => 1, total => 2, message => "sleeps"}}); sleep 2; "f"'});

	$ada[$at]->saying($run, 'sleeps');
	my $waits = $ada[$there]->run_async(cells => {notebook => 'ends', do => '"g"'});
	is($ada[$there]->get($waits)->{status}, 'queued', 'a run at another node waits for the notebook');
	kill TERM => $c->node($at)->{pid};
	says_state($ada[$there]->ended($run), 'ef', 'the run under way ends at the node that is stopped');
	my $r = $ada[$there]->ended($waits);
	says_state($r, 'g', 'the run which waited goes to another node, with a new state');
	like($r->{notebook}{why}, qr/^the server was stopped/, 'the run is told why the state was lost');
	until_true('the end of the node', sub { !alive($c->node($at)->{pid}) });
	back($at);
}

# ---- a node that dies ----

{
	cell($ada[0], '"d"', {notebook => 'dies'});
	my $at = home('dies');
	my $there = (grep { $_ != $at } 0 .. 2)[0];
	my $run = $ada[$there]->run_async(cells => {notebook => 'dies', do => 'sleep 600'});

	$ada[$there]->get_until($run, 'to run', sub { $_->{status} eq 'running' });
	my $waits = $ada[$there]->run_async(cells => {notebook => 'dies', do => '"e"'});
	$c->kill_node($at);
	is($ada[$there]->ended($run)->{error}{errorCode}, 'RUN_INTERRUPTED', 'the run in the notebook of a dead node fails as others do');
	my $r = $ada[$there]->ended($waits);
	says_state($r, 'e', 'the run which waited for the dead node goes to another');
	is($r->{notebook}{why}, 'its node died', 'the first run after the death is told that the state was lost, and why');
	is(cell($ada[$there], '"f"', {notebook => 'dies'})->{notebook}{why}, undef, 'the next run is told nothing of that');
	is(($c->sql("SELECT count(*) FROM residents WHERE node NOT IN (SELECT id FROM node) AND node <> ''"))[0], 0, 'no row names the dead node');
	back($at);
}

# ---- rows ----

{
	my $client = $ada[0];

	for my $name (map { "many$_" } 1 .. 70) {
		cell($client, '"m"', {notebook => $name});
		$client->call('paddock/endResident', {templateId => 'cells', name => $name});
	}
	until_true('the trim', sub { ($c->sql("SELECT count(*) FROM residents WHERE requestor = 'ada' AND node = ''"))[0] <= 64 });
	is(row('many1'), 'none', 'the rows of names whose state was lost long ago are gone');
	is(row('many70'), '', 'the row of a name whose state was lost lately is there');
}
$c->stop;
done_testing;
