#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Servers on one database wake each other: without polls, requests to another server arrive
# all the same; without wake-ups, the polls find the requests.
use lib 'tests/lib';
use Paddock;

BEGIN {
	needs('postgres');
	exec 'tests/tools/with-postgres', $^X, $0 unless $ENV{PADDOCK_TEST_POSTGRES};
}
use Cluster;
use Task;

my $NEVER_MS  = 3_600_000;
my %templates = (
	nap  => lua('run.sleep(inputs.ms or 1) return inputs.n'),
	doze => lua( 'run.progress(1, 4, "dozing") while true do run.sleep(60000) end', limits => { maxTimeoutMs => 600000 } ),
);

# Two nodes with one place each, and a client of each node.
sub cluster {
	my $c = Cluster->new( nodes => 2, templates => \%templates, tokens => { ada => 'a' x 40 },
		limits => { max_concurrent_runs => 1 }, lease_ms => 0, @_ ); # as servers have it

	return ( $c, map { $_->modern('ada') } $c->nodes );
}

# The node with RUN keeps the run until asked to end.
sub dozing {
	my ($by) = @_;
	my $run = $by->run_async('doze');

	$by->saying( $run, 'dozing' );
	return $run;
}

# Wait until all nodes have told their free places by heartbeats, and have counted each
# other: ROOM nodes have a free place.
sub told {
	my ( $c, $room ) = @_;

	until_true( 'the heartbeats to tell what room there is', sub { ( $c->sql('SELECT count(*) FROM node WHERE room > 0') )[0] == $room } );
	for ( 1 .. 3 ) {
		my $at = ( $c->sql('SELECT min(heartbeat_ms) FROM node') )[0];
		until_true( 'another heartbeat', sub { ( $c->sql('SELECT min(heartbeat_ms) FROM node') )[0] > $at } );
	}
}

# ---- nobody looks by itself ----
{
	my ( $c, $a, $b ) = cluster( poll_ms => $NEVER_MS );
	my $run = dozing($a);

	$b->tool( cancel_task_run => { runId => $run } );
	is( $a->ended($run)->{status}, 'canceled', 'a cancel that another server was asked for is heard' );

	# waiting runs
	my $on = dozing($a);
	told( $c, 1 );
	is( $a->run_sync( nap => { n => 3 } )->{result}, 3, 'what waits at a full server begins at an idle one, and who waits hears of it' );
	like( $c->node(1)->log_text, qr/template=nap .*started=yes/, '  there' );

	# an ended connection
	$c->end_backends(0);
	is( $a->get($on)->{status}, 'running', 'a run goes on without a connection to the database' );
	$b->tool( cancel_task_run => { runId => $on } );
	is( $a->ended($on)->{status}, 'canceled', '  and the next one is woken by, too' );
	$c->end_backends(1);
	$on = dozing($a);
	told( $c, 1 );
	is( $a->run_sync( nap => { n => 4 } )->{result}, 4, 'as is who had nothing to do' );
	$a->tool( cancel_task_run => { runId => $on } );
	$c->stop;
}

# ---- wakes are lost ----
{
	my ( $c, $a, $b ) = cluster();
	my $on = dozing($a);

	told( $c, 1 );
	$c->sql( 'CREATE TABLE lost(node text, what text); CREATE OR REPLACE FUNCTION paddock_wake(node text, what text) RETURNS void'
		    . ' LANGUAGE plpgsql AS $$BEGIN INSERT INTO lost VALUES(node, what); END$$' );
	is( $a->run_sync( nap => { n => 5 } )->{result}, 5, 'with wakes that are lost what waits begins by a poll' );
	$b->tool( cancel_task_run => { runId => $on } );
	is( $a->ended($on)->{status}, 'canceled', '  and a cancel is heard by one' );

	# the receivers of the lost wake-ups
	my ( $first, $second ) = $c->sql('SELECT id FROM node');
	my @lost = $c->sql(q{SELECT node, what FROM lost ORDER BY ctid});
	my %is   = map { $_ => 1 } @lost;
	my ($other) = grep { $is{"$_|queue"} } $first, $second;
	$other //= $first;
	my ($owner) = grep { $_ ne $other } $first, $second;
	is_deeply( [ grep { /queue/ } @lost ], ["$other|queue"], '  who had room was to be woken for what waited, once' );
	cmp_ok( scalar( grep { $_ eq "$owner|" } @lost ), '>=', 3, '  and the owner for its claim, its end, and the cancel' ) or diag("@lost");
	$c->stop;
}
done_testing();
