#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A server whose database neither answers nor ends connections: the answer of readyz before
# any other failure.
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

# The database's processes: the listener, and the processes of the connections of C.
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

# ---- a server that is stopped while its database does not answer ----
{
	my $c = Cluster->new( nodes => 2, templates => \%templates, limits => { drain_timeout_ms => 1000, max_concurrent_runs => 2 } );
	my $node = $c->node(0);
	my $by = $node->modern;
	my @ids = map { $by->ask( run_task_template => { templateId => 'nap', inputs => { ms => $_, n => $_ }, options => { mode => 'sync' } } ) } 500, 60_000;

	$node->log_has(qr/ slot=\d.* slot=\d/s); # both have a worker
	my @pids = processes($c);
	kill STOP => @pids;
	kill TERM => $node->{pid};
	for my $id (@ids) {
		my $answer = $by->answer($id);
		my $said = json_of( $answer // {} );

		like( $said, qr/STORE_UNAVAILABLE/, 'a call whose end is not recorded is answered before the server ends' );
		like( $said, qr/run_\w{26}/, '  with the id of the run' );
	}
	is( $node->wait_exit, 0, '  and the server ends in order' );
	kill CONT => @pids;
	until_true( 'the other server to end the runs', sub { my ($open) = $c->sql('SELECT count(*) FROM runs WHERE ended = 0'); $open == 0 } );
	$c->node(1)->stop('the other server ends');
	$c->end_proxy;
}
done_testing();
