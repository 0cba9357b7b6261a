#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# One idempotency key, given to two servers on one database at once: whichever makes the
# run, the other answers with it, and it is done once.
use lib 'tests/lib';
use Paddock;

BEGIN {
	needs('postgres');
	exec 'tests/tools/with-postgres', $^X, $0 unless $ENV{PADDOCK_TEST_POSTGRES};
}
use Nodes;

my %templates = ( nap => lua('run.sleep(inputs.ms or 1) return inputs.n') );
my @nodes = map { node( 'keys', templates => \%templates ) } 1, 2;
$_->ready for @nodes;
my @by = map { $_->client->greeted('2025-11-25') } @nodes;

# What each says of N keys that both are given before either is read.
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
$_->stop('a server stops') for @nodes;

done_testing();
