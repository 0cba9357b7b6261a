#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A session over HTTP that two servers on one database have: ended by one, it is over at
# the other, which has it in its memory.
use lib 'tests/lib';
use Paddock;

BEGIN {
	needs('postgres');
	exec 'tests/tools/with-postgres', $^X, $0 unless $ENV{PADDOCK_TEST_POSTGRES};
}
use Cluster;

my $c = Cluster->new( nodes => 2, templates => { nap => lua('return 1') }, tokens => { ada => 'a' x 40 } );
my ( $ada, $same, $other ) = map { $c->node($_)->client('ada') } 0, 1, 0;
$_->{token} = 'a' x 40 for $ada, $same, $other;
$_->greeted for $ada, $other;
$same->{session} = $ada->{session};

sub status {
	my ($client) = @_;

	return $client->{server}->fetch( 'POST', '/mcp', $client->headers, json_of( { jsonrpc => '2.0', id => $client->{next_id}++, method => 'ping' } ) )->{status};
}

is( status($ada),  200, 'a session is where it began' );
is( status($same), 200, '  and at another server' );
is( $ada->end,     204, 'it is ended by the first' );
is( status($ada),  404, '  where it is over' );
my $said;
until_true( 'the other to know', sub { ( $said = status($same) ) != 200 } );
is( $said,           404, '  as it is at the other, which had it in memory' );
is( status($other),  200, 'one that nobody ended goes on' );
is( status($same),   404, '  and what is over stays so' );
$_->stop('a server stops') for $c->nodes;

done_testing();
