#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Calls of a run after the death of the node, and of a run repeated at another node: the other node finds the calls
# with success.
use lib 'tests/lib';
use Paddock;

BEGIN {
	needs('postgres');
	exec 'tests/tools/with-postgres', $^X, $0 unless $ENV{PADDOCK_TEST_POSTGRES};
}
use Cluster;

my $reads = {readOnlyHint => true, destructiveHint => false, idempotentHint => true};
my @may = (annotations => $reads, permissions => {templates => ['*']}, limits => {maxTimeoutMs => 600000});
my $calls = 'local out = {} for i = 1, 3 do out[i] = run.template("draw", {n = i // 2}) end run.progress(1, 2, table.concat(out, " "))';
my %templates = (
	draw  => lua('return math.random(1 << 40)', annotations => $reads),
	waits => lua('run.sleep(600000)', annotations => $reads, limits => {maxTimeoutMs => 600000}),
	again => lua("$calls run.template('waits', {})", @may, retry => {attempts => 4, backoffMs => 0}),
	fails => lua("$calls run.error('NO', 'no luck')", @may),
);
my $c = Cluster->new(nodes => 2, templates => \%templates, config => join '', map { qq([grant "$_"]\ntemplates = *\n) } qw(again fails));
my ($a, $b) = map { $_->client->greeted } $c->nodes;

sub reused { my ($v) = @_; return join ' ', map { $_->{reused} ? 'reused' : 'new' } @{$v->{children}} }
# The view of RUN while the last child waits, after ATTEMPTS ended attempts.
sub waiting {
	my ($client, $run, $attempts) = @_;

	return $client->get_until($run, 'a waiting child', sub { @{$_->{attempts} // []} == $attempts && grep { "$_->{templateId} $_->{status}" eq 'waits running' } @{$_->{children} // []} });
}

{
	my $first = $a->run_sync('fails');
	my $second = $b->tool(retry_task_run => {runId => $first->{runId}, options => {mode => 'sync'}})->{view};

	is(reused($second), 'reused reused reused', 'a repetition at another node finds the calls');
	is($second->{message}, $first->{message}, 'the calls that are found have their outputs');
}
{
	my $run = $a->run_async('again');
	my $before = waiting($a, $run, 0);

	$c->kill_node(0);
	my $after = waiting($b, $run, 1);
	is(reused($after), 'reused reused reused new', 'an attempt at another node finds the calls of the killed node');
	is($after->{message}, $before->{message}, 'the calls of the killed node have their outputs');
	$b->tool(cancel_task_run => {runId => $run});
	is($b->ended($run)->{status}, 'canceled', 'the run is cancelled where it is now');
	is((grep { $_->{status} eq 'running' } @{$b->tool('list_task_runs', {limit => 100})->{view}{runs}}), 0, 'nothing is left running');
	$c->again(0);
}
$c->stop;
done_testing();
