#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A session over HTTP on two servers with one database: ended by one server, the session has
# ended on the other, which has the session in memory; and a client may answer the question
# of one server on the other.
use lib 'tests/lib';
use Paddock;

BEGIN {
	needs('postgres');
	exec 'tests/tools/with-postgres', $^X, $0 unless $ENV{PADDOCK_TEST_POSTGRES};
}
use Cluster;
use Postgres;

my $c = Cluster->new( nodes => 2, templates => { nap => lua('return 1'),
	model => lua('return {name = run.sample{messages = "who?", maxTokens = 9}.content.text}'),
	who => lua('return {name = run.elicit{message = "who?", schema = {type = "object", properties = {name = {type = "string"}}}}.content.name}') }, tokens => { ada => 'a' x 40 } );
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

# ---- a question of the one, answered at the other ----

# CLIENT calls who, or TOOL; (the call's id, the question).
sub asked {
	my ( $client, $tool ) = @_;
	my $id = $client->request( 'tools/call', { name => $tool // 'who', arguments => {} } );

	my $conn = $client->route($id);

	$conn->head;
	while ( my $e = $conn->message ) {
		return ( $id, $e->{json}, $e->{id} ) if $e->{json};
	}
	return $id;
}
sub at { my ( $n, $client ) = @_; my $there = $c->node($n)->client('ada'); $there->{token} = 'a' x 40; $there->{session} = $client->{session} if $client; return $there }
sub respond { my ( $client, $id, $name ) = @_; return $client->post( { jsonrpc => '2.0', id => $id, result => { action => 'accept', content => { name => $name } } } )->response->{status} }
{
	my ( $bea, $cy ) = map { at(0)->greeted( '2025-11-25', { elicitation => {} } ) } 1, 2;
	my ( $id, $q ) = asked($bea);

	is( $q->{method}, 'elicitation/create', 'a run asks its client at the server that it called' );
	is( respond( at( 1, $cy ), $q->{id}, 'Cy' ), 202, 'an answer of another session is taken at the other server' );
	is( respond( at( 1, $bea ), $q->{id}, 'Al' ), 202, '  as is its own' );
	is( $bea->answer($id)->{result}{structuredContent}{name}, 'Al', '  which alone reaches the run' );

	my ( $next, $one ) = asked($bea);
	my $there = at( 1, $bea );
	my ( $other, $two ) = asked($there);

	isnt( $one->{id}, $two->{id}, 'what two servers ask of one client at once has ids of its own' );
	respond( $there, $one->{id}, 'one' );
	respond( $bea, $two->{id}, 'two' );
	is( $bea->answer($next)->{result}{structuredContent}{name},   'one', '  and each answer gets where it belongs,' );
	is( $there->answer($other)->{result}{structuredContent}{name}, 'two', '  wherever it is brought' );
}

# ---- much of it ----

# CLIENT says BODY, which asks for nothing, of the server.
sub say { my ( $client, $body ) = @_; return $client->post($body)->response->{status} }
sub accepts { my ( $id, $name, %o ) = @_; return { jsonrpc => '2.0', id => $id, result => { action => 'accept', content => { name => $name }, %o } } }
{
	my $dan   = at(0)->greeted( '2025-11-25', { elicitation => {} } );
	my $there = at( 1, $dan );
	my $log   = $c->node(1);

	for my $size ( 100_000, 1_000_000 ) {
		my ( $id, $q ) = asked($dan);
		say( $there, accepts( $q->{id}, 'x' x $size ) );
		is( length( $dan->answer($id)->{result}{structuredContent}{name} // '' ), $size, "an answer of $size bytes gets to the server that asked" );
	}
	my ( $id, $q ) = asked($dan);
	say( $there, accepts( $q->{id}, 'x' x ( 1 << 20 ) ) );
	$log->log_has(qr/requestor=ada response=lost err="it has \d+ bytes, and another server than the one that asked is given at most 1048576, which is fixed"/);
	say( $there, accepts( $q->{id}, 'y' ) );
	is( $dan->answer($id)->{result}{structuredContent}{name}, 'y', 'one that is longer is lost, which the log says, and a shorter one may come after it' );

	# of a batch, which 2025-03-26 has
	my $eli = at(0)->greeted( '2025-03-26', { sampling => {} } );
	my ( $call, $asks ) = asked( $eli, 'model' );
	my %says = ( role => 'assistant', model => 'm', content => { type => 'text', text => 'x' x 100_000 } );

	say( at( 1, $eli ), [ { jsonrpc => '2.0', method => 'notifications/x' }, { jsonrpc => '2.0', id => $asks->{id}, result => \%says } ] );
	is( $eli->answer($call)->{result}{content}[0]{text} =~ tr/x//, 100_000, 'one of a batch gets there as well' );

	# a response which the database does not accept
	( $id, $q ) = asked($dan);
	my $lock = postgres_held( $c->url, 'LOCK TABLE mail IN EXCLUSIVE MODE' );
	my $full = qr/requestor=ada response=lost err="\d+ bytes of such are on their way to other servers already, and at most 8388608 may be, which is fixed"/;
	until_true( 'too much to be on its way', sub {
		say( $there, accepts( $q->{id}, 'z' x 900_000, none => 1 ) );
		return $log->log_text =~ $full;
	} );
	$lock->();
	like( $log->log_text, $full, 'more than 8 MiB that the database has not taken are lost' );
	$dan->answer($id);
	( $id, $q ) = asked($dan);
	say( $there, accepts( $q->{id}, 'z' ) );
	is( $dan->answer($id)->{result}{structuredContent}{name}, 'z', '  and with room there is a way again' );
}

# ---- answers that nobody asked for ----
{
	my ( $eve, $fay ) = map { at(0)->greeted( '2025-11-25', { elicitation => {} } ) } 1, 2;
	my ( $id,  $q )   = asked($eve);
	my ( $on,  $one ) = asked($fay);
	my ( $instance ) = $q->{id} =~ /(inst_\w+)/;

	$c->sql( "INSERT INTO mail SELECT 'session', i, '$instance', 9223372036854775807, repeat('x', CASE WHEN i % 50 = 0 THEN 100000 ELSE 100 END), 'ada'"
		    . ' FROM generate_series(100, 1100) AS i' );
	say( at( 1, $fay ), accepts( $one->{id}, 'F' ) );
	is( $fay->answer($on)->{result}{structuredContent}{name}, 'F', 'among many answers to nothing one that is awaited is heard' );
	until_true( 'all to be read', sub { !( $c->sql('SELECT count(*) FROM mail') )[0] } );
	say( at( 1, $eve ), accepts( $q->{id}, 'E' ) );
	is( $eve->answer($id)->{result}{structuredContent}{name}, 'E', '  as it is when these were read' );
}
# The response to CLIENT, resuming after EVENT.
sub resumed { my ( $client, $event ) = @_; return $client->{server}->fetch( 'GET', '/mcp', $client->headers( Accept => 'text/event-stream', 'Content-Type' => undef, 'Last-Event-ID' => $event ) ) }

# ---- a stream of the one, taken up at the other ----
{
	my $gus   = at(0)->greeted( '2025-11-25', { elicitation => {} } );
	my $there = at( 1, $gus );
	my $own   = $gus->listen;
	my $push  = $own->message->{id};
	my ( $id, $q, $last ) = asked($gus);

	like( $last, qr/-inst_\w+\z/, 'an event says at which server its stream is' );
	for ( $push, $last ) {
		my $r = resumed( $there, $_ );
		is( $r->{status}, 503, 'another one refuses to go on with it' );
		is( $r->{headers}{'retry-after'}, 1, '  for a while' );
		like( $r->{body}, qr/is at another server of this service: the proxy between has to bring all requests of a session to the same one, by Mcp-Session-Id/, '  and says who can mend that' );
	}
	$gus->route($id)->hang_up;
	my $again = $gus->listen($last);
	is( $again->{status}, 200, '  while its own goes on with it' );
	$gus->post( { jsonrpc => '2.0', id => $q->{id}, result => { action => 'accept', content => { name => 'Gus' } } } )->response;
	is( $again->message->{json}{result}{structuredContent}{name}, 'Gus', '  to the answer' );
	$again->hang_up;

	my $hal = at(1)->greeted( '2025-11-25', { elicitation => {} } );
	my ( $lost, $asks, $event ) = asked($hal);
	my $heard = $hal->listen->message->{id};
	my $here  = at( 0, $hal );

	is( resumed( $here, $event )->{status}, 503, 'of a server that lives' );
	$c->kill_node(1);
	until_true( 'its end to be seen', sub { resumed( $here, $event )->{status} != 503 } );
	is( resumed( $here, $event )->{status}, 404, '  and then dies the stream of a call is lost, so that its client begins anew' );
	is( $here->listen($heard)->{status}, 200, '  and one of no request is another, at any' );
	$c->again(1);
	is( say( at( 1, $gus ), accepts( 'x', 'y' ) ), 202, '  which goes on at the one that is back' );
}
$_->stop('a server stops') for $c->nodes;

done_testing();
