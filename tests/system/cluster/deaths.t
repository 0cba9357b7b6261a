#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Three servers on one database under a load of runs, while nodes are killed, stopped for
# longer than the lease, or disconnected, and the database dies: every acknowledged run ends
# once, none is lost and none is executed twice. Each worker start is a line in the node's
# log, which the test counts. PADDOCK_RUNS: the number for each kind of death.
use lib 'tests/lib';
use Paddock;

BEGIN {
	needs('postgres');
	exec 'tests/tools/with-postgres', $^X, $0 unless $ENV{PADDOCK_TEST_POSTGRES};
}
use Cluster;

my $RUNS = $ENV{PADDOCK_RUNS} // 120;
my %templates = (
	nap  => lua('run.sleep(inputs.ms) return inputs.n'),
	file => lua('run.artifact{name = "a", mimeType = "text/plain", data = string.rep("a", 3000)} run.sleep(inputs.ms) return inputs.n'),
);

# A cluster under load, to which WORLD does something once AT runs are acknowledged.
sub under_load {
	my ( $name, $world, %o ) = @_;
	my $c = Cluster->new( templates => \%templates, limits => { max_concurrent_runs => 6 }, %o );
	my $load = $c->load( runs => $RUNS, at_once => 24,
		template => sub { my ($n) = @_; return ( $n % 3 ? 'nap' : 'file', { n => $n, ms => 40 + $n % 5 * 30 } ) } );
	my @at = ( int( $RUNS / 4 ), int( $RUNS / 2 ) );

	$load->go( sub {
		my ($acked) = @_;
		$world->( $c, shift @at ) if @at && $acked >= $at[0];
	} );
	$world->($c);
	$load->check;
	is_deeply( [ $load->wrong ], [], "$name: each run has ended once, and none is lost" );
	note( $load->words );
	return ( $c, $load );
}

# ---- nothing: the test finds what it counts ----
{
	my ( $c, $load ) = under_load( 'in peace', sub { } );

	cmp_ok( $load->{how}{succeeded} // 0, '>', $RUNS / 2, '  most have succeeded' );
	is( scalar( grep { $_ != 1 } values %{ $load->executions } ), 0, '  each by one execution' );
	my @by = map { scalar( () = $_->log_text =~ /part=worker run=\w+ pid=/g ) } $c->nodes;
	is( scalar( grep { $_ > 0 } @by ), 3, "  on all nodes: @by" );
	$c->stop;
}

# ---- kill -9 of a node; another takes its place later ----
{
	my $killed = 0;
	my ( $c, $load ) = under_load( 'kill -9 of a node', sub {
		my ($c) = @_;
		$c->kill_node(0) if !$killed;
		$c->again(0) if $killed++ == 1;
	} );
	cmp_ok( $load->{how}{succeeded} // 0, '>', $RUNS / 2, '  most have succeeded' );
	$c->stop;
}

# ---- the connections of one, then of all ----
{
	my ( $c, $load ) = under_load( 'connections that are ended', sub {
		my ( $c, $at ) = @_;
		$c->end_backends( $at && $at < $RUNS / 3 ? 1 : undef ) if $at;
	} );
	cmp_ok( $load->{how}{succeeded} // 0, '>', $RUNS / 2, '  most have succeeded' );
	$c->stop;
}

# ---- the database ----
{
	my ( $c, $load ) = under_load( 'a database that dies and is there again', sub {
		my ( $c, $at ) = @_;
		$c->restart_database(0.2) if $at;
	} );
	cmp_ok( $load->{how}{succeeded} // 0, '>', $RUNS / 2, '  most have succeeded' );
	$c->stop;
}

# ---- a node that is stopped for longer than its lease ----
{
	my ( $stopped, $left );
	my ( $c, $load ) = under_load( 'a node that is stopped for longer than its lease', sub {
		my ( $c, $at ) = @_;
		if ( $at && !$stopped ) {
			$stopped = $c->node(2)->{pid};
			kill STOP => $stopped;
		} elsif ( !$at ) {
			until_true( 'another to take over', sub {
				grep { $_->log_text =~ /recovered queued=\d+ interrupted=\d+/ } map { $c->node($_) } 0, 1 } );
			kill CONT => $stopped;
		}
	} );
	$c->stop;
}
done_testing();
