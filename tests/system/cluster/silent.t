#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A server whose database does not answer, and does not end its connections either: what
# readyz says, before anything else has failed.
use lib 'tests/lib';
use Paddock;

BEGIN {
	needs('postgres');
	exec 'tests/tools/with-postgres', $^X, $0 unless $ENV{PADDOCK_TEST_POSTGRES};
}
use Cluster;
use Postgres;

my %templates = ( nap => lua('run.sleep(inputs.ms) return inputs.n') );

sub readyz { return $_[0]->fetch( 'GET', '/readyz', {} ) }

# Its processes: that which takes connections, and those of the connections of C.
sub processes {
	my ($c) = @_;
	my @pids = postgres_sql( "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'c$c->{schema}-%'" );
	my ($first) = do { open my $in, '<', "/proc/$pids[0]/stat"; ( split ' ', <$in> )[3] };

	return ( $first, @pids );
}

for my $case ( [ 60_000, qr/answered no heartbeat for 3 s/ ], [ 2000, qr/for longer than its lease/ ] ) {
	my ( $lease_ms, $why ) = @$case;
	my $c = Cluster->new( nodes => 1, templates => \%templates, lease_ms => $lease_ms );
	my $node = $c->node(0);

	is( readyz($node)->{status}, 200, "a lease of $lease_ms ms: a server is ready" );
	my @pids = processes($c);
	cmp_ok( scalar @pids, '>=', 3, '  its heartbeat has a connection of its own' );
	kill STOP => @pids;
	my $r = until_true( 'readyz to say 503', sub { my $r = readyz($node); $r->{status} == 503 ? $r : undef } );
	like( $r->{json}{reason}, $why, '  while its database says nothing it is not, and says why' );
	kill CONT => @pids;
	is( until_true( 'it to be ready again', sub { my $r = readyz($node); $r->{status} == 200 ? $r : undef } )->{status}, 200, '  and then it is again' );
	$c->stop;
}
done_testing();
