#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Two servers on a PostgreSQL with a standby, under a load of runs: the primary dies, the
# standby takes over, and every acknowledged run ends once. No server is restarted. Then the
# old primary returns and still acts as the primary: no server may use the old primary.
# PADDOCK_RUNS: the number of runs.
use lib 'tests/lib';
use Paddock;

BEGIN { needs('postgres') }
use Cluster;
use Replicas;

my $RUNS = $ENV{PADDOCK_RUNS} // 90;
my %templates = ( nap => lua( 'run.sleep(inputs.ms) return inputs.n', limits => { maxTimeoutMs => 600_000 } ) );
my $pair = Replicas->new;
my $c    = Cluster->new( templates => \%templates, nodes => 2, limits => { max_concurrent_runs => 6 } );
my @pids = map { $_->{pid} } $c->nodes;

sub readyz { return $_[0]->fetch( 'GET', '/readyz', {} ) }
sub until_says {
	my ( $node, $status ) = @_;

	return until_true( "readyz to say $status", sub { my $r = readyz($node); $r->{status} == $status ? $r : undef } );
}

# ---- the primary dies, and the standby takes its place ----

{
	my $load = $c->load( runs => $RUNS, at_once => 16,
		template => sub { my ($n) = @_; return ( 'nap', { n => $n, ms => 20 + $n % 5 * 30 } ) } );
	my $died;

	$load->go( sub {
		my ($acked) = @_;

		return if $died || $acked < $RUNS / 3;
		$died = 1;
		$pair->kill_primary;
		for my $node ( $c->nodes ) {
			my $r = until_says( $node, 503 );
			ok( !$r->{json}{database}{reachable}, 'while there is no primary readyz says 503, and why' );
		}
		$pair->promote;
	} );
	is( until_says( $_, 200 )->{status}, 200, 'once the standby is promoted it says 200' ) for $c->nodes;
	$load->check;
	is_deeply( [ $load->wrong ], [], 'each acknowledged run has ended once, and none is lost' );
	cmp_ok( $load->{how}{succeeded} // 0, '>', $RUNS / 2, '  most have succeeded' );
	note( $load->words );
	is_deeply( [ map { $_->{pid} } grep { alive( $_->{pid} ) } $c->nodes ], \@pids, '  and no server was restarted' );
}

# ---- the old primary is back ----

{
	my ( $stays, $strays ) = $c->nodes;
	my $client = $strays->modern;
	my $run    = $client->tool( run_task_template => { templateId => 'nap', inputs => { n => 1, ms => 600_000 }, options => { mode => 'async' } } )->{view}{runId};
	my $worker = until_true( 'its worker', sub { ( $strays->log_text =~ /part=worker run=\Q$run\E pid=(\d+)/ )[0] } );

	$pair->primary_again;
	$pair->end_connections( $c->backends(1) );
	is( until_says( $strays, 503 )->{status}, 503, 'who finds the old primary is not ready' );
	my $v = until_true( 'its run to be interrupted', sub {
		my $v = $stays->modern->tool( get_task_run => { runId => $run } )->{view};
		return $v->{status} eq 'failed' ? $v : undef;
	} );
	is( $v->{error}{errorCode}, 'RUN_INTERRUPTED', '  and is taken for dead by the others' );
	ok( !alive($worker), '  but not before it has ended what it ran' );
	like( $strays->log_text, qr/an older primary/, '  and says why' );
	is( $stays->modern->tool( run_task_template => { templateId => 'nap', inputs => { n => 1, ms => 1 }, options => { mode => 'sync' } } )->{view}{result},
		1, 'who is still on the new one goes on' ) or diag( join "\n", map { ( split /\n/, $_->log_text )[ -30 .. -1 ] } $stays, $strays );
	$pair->kill_primary;
	is( until_says( $strays, 200 )->{status}, 200, 'and once that is gone so does the other' );
}
$c->stop;
done_testing();
