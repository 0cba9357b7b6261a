#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The same idempotency key, given to two servers with a common database at once: the first
# server makes the run, the second answers with the same run, and the run is executed once.
use lib 'tests/lib';
use Paddock;

BEGIN {
	needs('postgres');
	exec 'tests/tools/with-postgres', $^X, $0 unless $ENV{PADDOCK_TEST_POSTGRES};
}
use Nodes;
use Postgres;

my %templates = (
	nap => lua('run.sleep(inputs.ms or 1) return inputs.n'),
	vault => lua( 'return #inputs.word', inputsSchema => { type => 'object', additionalProperties => JSON::PP::false,
		properties => { word => { type => 'string', writeOnly => JSON::PP::true } } } ),
);
my @nodes = map { node( 'keys', templates => \%templates ) } 1, 2;
$_->ready for @nodes;
my @by = map { $_->client->greeted('2025-11-25') } @nodes;

# The answers to N keys, each sent to both servers before an answer is read.
sub at_once {
	my ( $n, $mode, $inputs ) = @_;
	my @asked = map { my $i = $_; [ map { $_->ask_run( nap => { n => $i, %$inputs }, mode => $mode, idempotencyKey => "$mode-$i" ) } @by ] } 1 .. $n;

	return map { my $of = $_; [ map { $by[$_]->result( $of->[$_] ) } 0 .. 1 ] } @asked;
}

for my $mode (qw(async sync)) {
	my @said = at_once( 30, $mode, { ms => 5 } );
	my @runs = map { [ map { $_->{view}{runId} // json_of($_) } @$_ ] } @said;
	my %run  = map { $_ => 1 } map { @$_ } @runs;

	is_deeply( [ map { $_->[1] } @runs ], [ map { $_->[0] } @runs ], "$mode: both give the same run of each key" );
	is( keys %run, 30, '  and another for another key' );
	is( scalar( grep { $_->{view}{deduplicated} } map { @$_ } @said ), 30, '  which one of them says it did not make' );
	is_deeply( [ map { $_->[1]{view}{result} } @said ], [ map { $_->[0]{view}{result} } @said ], '  with the same result' );
	is( $said[6][$_]{view}{result}, 7, '  which is there' ) for $mode eq 'sync' ? ( 0, 1 ) : ();
}
is( $by[0]->tool( list_task_runs => { limit => 1 } )->{view}{total}, 60, 'the record has each once' );

# ---- inputs of which no record has anything ----

{
	my @said = map { $_->result( $_->ask_run( vault => { word => 'secret' }, mode => 'sync', idempotencyKey => 'v' ) ) } @by;

	is( $said[0]{view}{result}, 6, 'a run with a secret input has a key' );
	is( $said[1]{view}{runId}, $said[0]{view}{runId}, '  which is the same run at another server' ) or diag( json_of( $said[1] ) );
	my $other = $by[1]->result( $by[1]->ask_run( vault => { word => 'others' }, mode => 'sync', idempotencyKey => 'v' ) );
	is( ( $other->{view} // {} )->{errorCode} // json_of($other), 'INVALID_PARAMETER', '  and refused with another secret' );
}

# ---- a call that is refused ----

{
	my $free = postgres_held( $nodes[0]{url} // postgres_url('keys') );
	my @ask = ( nap => { n => 5 }, idempotencyKey => 'held' );

	for ( [ 0, 'sync' ], [ 1, 'async' ] ) { # each by a server that knows of nothing yet
		my ( $i, $mode ) = @$_;
		my $v = $by[$i]->result( $by[$i]->ask_run( @ask[ 0, 1 ], mode => $mode, idempotencyKey => "held-$mode" ) );
		my $e = $v->{view} // {};
		$e = ref $e->{error} ? $e->{error} : $e;

		is( $e->{errorCode}, 'STORE_UNAVAILABLE', "$mode: while nothing can be written a call is refused" ) or diag( json_of($v) );
		cmp_ok( $e->{details}{retryAfterMs} // 0, '>', 0, '  with a time to come again' ) or diag( json_of($v) );
	}
	$free->();
	until_true( 'no run to be left of what was refused', sub { ( postgres_sql( 'SELECT count(*) FROM runs WHERE ended = 0', postgres_url('keys') ) )[0] == 0 } );
	is( ( postgres_sql( 'SELECT count(*) FROM runs', postgres_url('keys') ) )[0], 61, 'and is no run' );
	for my $mode (qw(sync async)) {
		my $v = until_true( 'a run', sub {
			my $v = $by[0]->result( $by[0]->ask_run( @ask[ 0, 1 ], mode => $mode, idempotencyKey => "held-$mode" ) )->{view};
			return $v->{runId} && ( $v->{error}{errorCode} // '' ) ne 'STORE_UNAVAILABLE' ? $v : undef;
		} );
		is( $by[0]->ended( $v->{runId} )->{status}, 'succeeded', "$mode: its key is not used up by that" );
	}
}
$_->stop('a server stops') for @nodes;

done_testing();
