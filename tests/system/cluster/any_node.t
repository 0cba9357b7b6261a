#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Three servers on one database, behind a proxy which gives each connection to the next
# server: the answer is the same from each server.
use lib 'tests/lib';
use Paddock;

BEGIN {
	needs('postgres');
	exec 'tests/tools/with-postgres', $^X, $0 unless $ENV{PADDOCK_TEST_POSTGRES};
}
use Cluster;
use Task;

my %templates = (
	nap  => lua('run.sleep(inputs.ms or 1) return inputs.n'),
	doze => lua('run.progress(1, 4, "dozing") run.log("info", "I lie down") while true do run.sleep(60000) end',
		limits => { maxTimeoutMs => 600000 } ),
);
my $c = Cluster->new( templates => \%templates, tokens => { ada => 'a' x 40, bob => 'b' x 40 } );
my @by = map { $_->modern('ada') } $c->nodes; # each by its own
$_->{token} = 'a' x 40 for @by;
my $any = $c->modern('ada');

# The answers of all nodes.
sub said { my ( $name, $arguments ) = @_; return map { json_of( $_->tool( $name => $arguments )->{view} ) } @by }

sub agree {
	my ( $name, @said ) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is( $said[$_], $said[0], "$name: node $_ says what the first says" ) for 1 .. $#said;
	return json_to( $said[0] );
}

# ---- runs that have ended ----
{
	my @runs = map { $any->run_sync( nap => { n => $_, ms => 20 } )->{runId} } 1 .. 6;
	my %by = map { my $node = $_; map { $_ => $node->{pid} } $node->log_text =~ /part=run run=(run_\w+) .*status=/g } $c->nodes;
	my %nodes = reverse %by;

	is( scalar keys %nodes, 3, 'the proxy has given some to each node' );
	my $v = agree( 'a run', said( get_task_run => { runId => $runs[0] } ) );
	is( $v->{result}, 1, '  with its result' );
	$v = agree( 'the list', said( list_task_runs => { limit => 4 } ) );
	is( "$v->{total} " . @{ $v->{runs} }, '6 4', '  of all of them' );
	# by the database's clock, which nodes know to some 20 ms
	my @all = sort { $b->{createdAt} <=> $a->{createdAt} } @{ $any->tool( list_task_runs => {} )->{view}{runs} };
	is_deeply( [ map { $_->{runId} } @{ $v->{runs} } ], [ map { $_->{runId} } @all[ 0 .. 3 ] ], '  the newest first' );
	my $bob = $c->modern('bob');
	refused( $bob->tool( get_task_run => { runId => $runs[$_] } ), 'RUN_NOT_FOUND', "another's is none, by whichever node" ) for 0 .. 2;
}

# ---- runs that go on ----
{
	my $run = $any->run_async('doze');

	is( $_->saying( $run, 'dozing' )->{message}, 'dozing', 'each node shows how far a run is' ) for @by;
	is( $_->get($run)->{progress}{doneSteps}, 1, '  in steps' ) for @by;
	like( $_->run_log($run), qr/I lie down/, '  and its log' ) for @by;
	my ($owner) = grep { $c->node($_)->log_text =~ /run=\Q$run\E pid=/ } 0 .. 2;
	my $other = $by[ ( $owner + 1 ) % 3 ];
	ok( $other->tool( cancel_task_run => { runId => $run } )->{view}{cancelRequested}, 'another node than its own is asked to end it' );
	is( $_->ended($run)->{status}, 'canceled', '  and each sees that it has' ) for @by;
}

# ---- logs ----
{
	# more runs than the places of one node, so that other nodes start some
	my @asked = map { $by[0]->run_async( nap => { n => $_, ms => 200 } ) } 1 .. 12;

	$by[0]->ended($_) for @asked;
	my %started;
	for my $node ( $c->nodes ) {
		$started{$_}{ $node->{pid} }++ for $node->log_text =~ /run=(run_\w+) .*started=yes/g;
	}
	my %by_node;
	$by_node{ join ' ', keys %{ $started{$_} } }++ for @asked;
	is( scalar( grep { keys %{ $started{$_} // {} } != 1 } @asked ), 0, 'the start of a run is in the log of one node' );
	cmp_ok( scalar keys %by_node, '>', 1, 'several nodes have started a part of the runs that one node was asked for' );
}

# ---- the same key, by whichever node ----
{
	my %ids;

	for ( 1 .. 9 ) {
		my $v = $any->run( nap => { n => 5 }, mode => 'async', idempotencyKey => 'once' )->{view};
		$ids{ $v->{runId} // json_of($v) }++;
	}
	is( scalar keys %ids, 1, 'one key is one run, by whichever node it is asked for' );
}

# ---- sessions ----
{
	my $ada = $c->client('ada')->greeted;
	my @r = map { $ada->call('ping') } 1 .. 6;

	is( scalar( grep { $_->{result} } @r ), 6, 'a session goes on with each node' );
	my $task = $ada->call( 'tools/call', { name => 'nap', arguments => { n => 8 }, task => {} } )->{result}{task}{taskId};
	my $r = $ada->call( 'tasks/result', { taskId => $task } );
	is( $r->{result}{content}[0]{text}, 8, 'a task is waited for by another node' ) or diag( json_of($r) );
	is( $ada->end, 204, 'DELETE' );
}
$c->stop;
done_testing();
