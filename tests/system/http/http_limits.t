#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The bounds for one requestor over HTTP, which protect other requestors.
use lib 'tests/lib';
use Paddock;
use Http;

# A stream takes a descriptor at each end.
descriptors(4096);

my $EACH = 2048;    # sessions of a requestor
my $STREAMS = 1024; # of these, with a stream

my $s = Http->new(templates => {
	echo => lua('return inputs'),
	large => lua('run.artifact{name = "x", mimeType = "text/plain",
				   data = string.rep("x", 200000)}
		      return {}'),
}, tokens => {ada => 't', bob => 'u'});
my $hello = json_of({jsonrpc => '2.0', id => 1, method => 'initialize', params =>
		     {protocolVersion => '2025-06-18', capabilities => {},
		      clientInfo => {name => 't', version => '1'}}});
my $conn = $s->connect;

# A client of NAME, with one connection for all requests.
sub another {
	my ($name) = @_;
	my $c = $s->client($name);

	$conn->request('POST', '/mcp', $c->headers, $hello);
	my $r = $conn->response;

	$c->{session} = $r->{headers}{'mcp-session-id'};
	return $c;
}

sub is_there {
	my ($c) = @_;

	$conn->request('POST', '/mcp', $c->headers,
		       '{"jsonrpc":"2.0","id":2,"method":"ping"}');
	return $conn->response->{status} == 200;
}

# ---- answers that are large ----

{
	my $c = another('ada');
	my $run = $c->run_async('large');
	my ($artifact) = @{$c->ended($run)->{artifacts}};
	my @ids = map { $c->ask(get_artifact => {
		artifactId => $artifact->{artifactId}}) } 1 .. 40;
	my @sizes = map { my $answer = $c->route($_);
			  $answer->head; length $answer->body } @ids;

	is(scalar(grep { $_ >= 200_000 } @sizes), 40,
	   '40 large answers at once: some wait, and all come')
	    or diag("@sizes");
	$c->end;
}

# ---- connections ----

{
	my $ping = '{"jsonrpc":"2.0","id":2,"method":"ping"}';
	my ($ada, $bob) = map { another($_) } qw(ada bob);
	my $upload = $s->connect; # of which only a part has come

	$upload->request('POST', '/mcp', $ada->headers('Content-Length' => length $ping));
	$upload->put(substr $ping, 0, 5);
	my @empty = map { $s->connect } 1 .. 600;
	is($s->fetch('GET', '/healthz')->{status}, 200, 'hundreds come and say nothing');
	is($empty[0]->fill, 0, 'silent connections of one address make room for each other');
	my @up = map { my $c = $s->connect;
		       $c->request('POST', '/mcp', $ada->headers('Content-Length' => 100)); $c } 1 .. 1900;
	my $last = $up[-1]->response;
	is($last->{status}, 429, 'one requestor does not get all connections');
	like($last->{body}, qr/of yours are open, and of the 2048/, 'the refusal of a connection tells of the own ones alone');
	ok(is_there($bob), 'another is served');
	$upload->put(substr $ping, 5);
	is($upload->response->{status}, 200, 'an upload that had begun goes on');
	$_->end for $ada, $bob;
}

# ---- streams, sessions ----

{
	my $bob = another('bob');
	my @all = map { another('ada') } 1 .. $EACH;
	my @streams = map { $all[$_]->listen } 0 .. $STREAMS - 1;

	is(scalar(grep { $_->{status} == 200 } @streams), $STREAMS,
	   'a requestor may have many streams');
	is($all[$STREAMS]->listen->{status}, 429, 'one stream above the limit is refused');
	is($bob->listen->{status}, 200, 'another requestor may have a stream');
	my $r = $s->fetch(POST => '/mcp', $all[0]->headers,
			  '{"jsonrpc":"2.0","id":3,"method":"tools/call",' .
			  '"params":{"name":"echo"}}');
	is($r->{status}, 429, 'a call above the limit of streams is refused');
	ok($r->{headers}{'retry-after'} > 0, 'the refusal of a call has Retry-After');

	ok(is_there($all[$_]), 'each of its sessions is there') for 0, $EACH - 1;
	my $oldest = $STREAMS + 1; # of those that have no stream
	my $more = another('ada');

	ok($more->{session}, 'a requestor may have one more session');
	ok(!is_there($all[$oldest]), 'for which the longest idle one ends');
	ok(is_there($bob), 'of its own: no other requestor\'s');
	$_->hang_up for @streams;
}
$s->stop;

done_testing;
