#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# max_residents on several nodes: the notebooks of a requestor at all nodes count together. A
# further notebook takes the room of the idle notebook that was used longest ago, at any node.
# When every notebook is in use the run of a further notebook fails.
use lib 'tests/lib';
use Paddock;

BEGIN {
	needs('postgres');
	exec 'tests/tools/with-postgres', $^X, $0 unless $ENV{PADDOCK_TEST_POSTGRES};
}
use Cluster;
use Residents;

my $c = Cluster->new(templates => {cells => cells()}, nodes => 3, limits => {max_residents => 2},
	tokens => {ada => 'a' x 40, bob => 'b' x 40});
my @ada = map { $_->modern('ada') } $c->nodes; # the same requestor at each node

sub homes { my ($owner) = @_; return ($c->sql("SELECT coalesce(string_agg(resident, ' ' ORDER BY resident), '') FROM residents WHERE requestor = '$owner' AND node <> ''"))[0] }
sub add_to { my ($client, $name) = @_; return cell($client, "'$name'", {notebook => $name}) }
sub shown { my ($name, $state) = @_; until_true("$name shown as $state", sub { ($c->sql("SELECT view LIKE '%\"state\":\"$state\"%' FROM residents WHERE resident = 'cells/$name'"))[0] eq 't' }) }

# ---- a notebook beyond the number ----

add_to($ada[0], 'a');
add_to($ada[1], 'b');
shown($_, 'idle') for 'a', 'b';
{
	my $r = add_to($ada[2], 'c');
	is($r->{result}{state}, 'c', 'one more notebook, at a third node, gets room') or diag explain $r;
	is(homes('ada'), 'cells/b cells/c', 'the notebook that was used longest ago has ended at its node');
	$r = add_to($ada[1], 'a');
	is($r->{result}{state}, 'a', 'the ended notebook begins anew');
	is($r->{notebook}{why}, 'another notebook of the same requestor needed its place (max_residents)', 'the next run of the ended notebook is told the reason');
}
{
	my $bob = $c->node(0)->modern('bob');
	add_to($bob, $_) for 'a', 'b';
	is(homes('bob'), 'cells/a cells/b', 'another requestor has as many notebooks');
	like(homes('ada'), qr/^\S+ \S+$/, 'the notebooks of one requestor cost another none');
}

# ---- every notebook is in use ----

my @busy = split ' ', homes('ada');
s/^cells\/// for @busy;
my @run = map { my $at = $_; $ada[$at]->run_async(cells => {notebook => $busy[$at], do => 'sleep 600'}) } 0, 1;
$ada[$_]->get_until($run[$_], 'to run', sub { $_->{status} eq 'running' }) for 0, 1;
for my $at (0 .. 2) {
	my $e = add_to($ada[$at], "more$at")->{error};

	is($e->{errorCode}, 'QUOTA_EXCEEDED', "node $at: a notebook more than may be in use is refused");
	is_deeply([@{$e->{details}}{qw(limit allowed whoCanRaise)}], ['max_residents', 2, 'the operator'], 'the refusal names the limit');
}
is(homes('ada'), join(' ', map { "cells/$_" } @busy), 'a notebook with a run is never ended for another');
$ada[0]->tool(cancel_task_run => {runId => $run[0]});
$ada[0]->ended($run[0]);
shown($busy[0], 'idle');
is(add_to($ada[2], 'later')->{result}{state}, 'later', 'after the end of a run there is room again');
is(homes('ada'), join(' ', sort "cells/$busy[1]", 'cells/later'), 'the idle notebook has ended for that');
$ada[1]->tool(cancel_task_run => {runId => $run[1]});
$ada[1]->ended($run[1]);

# ---- many notebooks at once ----

{
	my @id = map { my $client = $_; map { $client->run_async(cells => {notebook => "m$_", do => '"x"'}) } 1 .. 4 } @ada;
	my %how = map { ($ada[0]->ended($_)->{error}{errorCode} // 'ok') => 1 } @id;

	ok(delete $how{ok}, 'of many notebooks that are asked for at all nodes at once some run');
	is_deeply([keys %how], ['QUOTA_EXCEEDED'], 'of many notebooks at once those that find all others in use are refused');
	is((scalar split ' ', homes('ada')), 2, 'no more notebooks live than may');
}
$c->stop;
done_testing;
