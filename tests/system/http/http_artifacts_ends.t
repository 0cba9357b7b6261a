#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Files over HTTP while the server ends or reloads: a PUT in progress at TERM is answered, and a
# PUT or GET of a requestor who loses the token or the section at HUP is refused in the middle.
use lib 'tests/lib';
use Paddock;
use Http;
use Digest::SHA qw(sha256_hex);

my %ADA = (Authorization => 'Bearer a');
my %BOB = (Authorization => 'Bearer b');
my $half = 'x' x 300_000;

sub section { my ($name, $token, $more) = @_; return "[requestor \"$name\"]\ntoken_sha256 = " . sha256_hex($token) . "\n" . ($more // '') }
sub server { return Http->new(templates => {echo => lua('return inputs')}, config => section('ada', 'a') . section('bob', 'b') . ($_[0] // '')) }
sub tmp { my ($s) = @_; return scalar(() = glob "$s->{state}/artifacts/tmp/*") }
# A connection that has put half of a file.
sub halves {
	my ($s, $headers) = @_;
	my $conn = $s->connect;

	$conn->request('PUT', '/artifacts?name=half', {%{$headers // \%ADA}, 'Content-Length' => 2 * length $half});
	$conn->put($half);
	return $conn;
}
sub until_put { my ($s, $n) = @_; return until_true('files in progress', sub { tmp($s) >= ($n // 1) }) }

# ---- TERM ----

{
	my $s = server();
	my $id = $s->fetch('PUT', '/artifacts', \%ADA, 'y' x 20_000_000)->{json}{artifactId};
	my $reads = $s->connect;
	$reads->request('GET', "/artifacts/$id", \%ADA);
	$reads->head;
	my $conn = halves($s);

	until_put($s);
	$s->signal('TERM');
	$s->log_has(qr/drain=started/);
	my $r = $reads->body;
	is(length $r, 20_000_000, 'a GET in progress at TERM comes whole');
	$conn->put($half);
	$r = $conn->response;
	is($r->{status}, 201, 'a PUT in progress at TERM is answered');
	$s->stop('the server ends after a PUT');
	is(tmp($s), 0, 'no part of a file is left');
	my $next = $s->again(listen => '127.0.0.1:0');
	is(sha256_hex($next->fetch('GET', "/artifacts/$r->{json}{artifactId}", \%ADA)->{body}), sha256_hex($half x 2), 'the next server has the file');
	$next->stop('the next server ends');
}
{
	my $s = server("[limits]\ndrain_timeout_ms = 500\n");
	my $conn = halves($s);

	until_put($s);
	$s->signal('TERM');
	is(($conn->response->{status} // 'closed'), 'closed', 'a PUT that goes on for longer than the drain ends with the connection');
	$s->stop('the server ends beside a PUT that stopped');
	is(tmp($s), 0, 'no part of an unfinished file is left');
}

# ---- HUP ----

for (['the token of a requestor is replaced', section('ada', 'new') . section('bob', 'b')], ['the section of a requestor is removed', section('bob', 'b')]) {
	my ($what, $config) = @$_;
	my $s = server();
	my $id = $s->fetch('PUT', '/artifacts', \%ADA, 'y' x 20_000_000)->{json}{artifactId};
	my $reads = $s->connect;
	$reads->request('GET', "/artifacts/$id", \%ADA);
	$reads->head;
	my ($conn, $other) = (halves($s), halves($s, \%BOB));
	my $session = $s->client;
	$session->{token} = 'a';

	until_put($s, 2);
	$s->write_config($config);
	is($s->reload, 'done', $what);
	$conn->put($half);
	my $r = eval { $conn->response } // {};
	isnt($r->{status} // 'closed', 201, "$what: a PUT in progress is not kept");
	is($r->{status} // 401, 401, "$what: the PUT is refused, or the connection closed") or diag explain $r;
	my $body = eval { $reads->body } // '';
	cmp_ok(length $body, '<', 20_000_000, "$what: a GET in progress ends before the end of the file");
	$other->put($half);
	is($other->response->{status}, 201, "$what: the PUT of another requestor is kept");
	until_true("$what: no file in progress", sub { tmp($s) == 0 });
	is(tmp($s), 0, "$what: no part of a file is left");
	$s->stop("$what: the server ends");
}

done_testing();
