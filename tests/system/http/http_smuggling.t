#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Ambiguous HTTP: requests which two readers could read differently, foreign hosts and
# pages, and callers without a token. A refusal has the reason, and closes the connection
# when the next request's beginning is unknown.
use lib 'tests/lib';
use Paddock;
use Http;

my $s = Http->new(templates => {echo => lua('return inputs')},
		  config => "[limits]\nmax_message_bytes = 64K\n[server]\n" .
		      "allowed_hosts = mcp.example.com\n" .
		      "allowed_origins = app://one https://two.example\n");
my $host = 'Host: 127.0.0.1:' . $s->port . "\r\n";
my $smuggled = "GET /smuggled HTTP/1.1\r\n$host\r\n";

# The statuses of all responses to BYTES, until the server closes.
sub statuses {
	my ($bytes) = @_;
	my $conn = $s->connect;

	$conn->put($bytes);
	shutdown $conn->{fh}, 1;
	return join ' ', $conn->rest =~ m{HTTP/1\.1 (\d{3}) }g;
}

# ---- one reader's view ----

my @refused = (
	['Content-Length and Transfer-Encoding' => 400,
	 "POST /mcp HTTP/1.1\r\n${host}Content-Length: 4\r\n" .
	 "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n$smuggled"],
	['the same in the other order' => 400,
	 "POST /mcp HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n" .
	 "Content-Length: 4\r\n\r\n0\r\n\r\n$smuggled"],
	['two different Content-Lengths' => 400,
	 "POST /mcp HTTP/1.1\r\n${host}Content-Length: 0\r\n" .
	 "Content-Length: 5\r\n\r\n$smuggled"],
	['Content-Length: +2' => 400,
	 "POST /mcp HTTP/1.1\r\n${host}Content-Length: +2\r\n\r\n{}$smuggled"],
	['a space before the colon' => 400,
	 "GET /healthz HTTP/1.1\r\n${host}Accept : */*\r\n\r\n$smuggled"],
	['bare newlines' => 400, "GET /healthz HTTP/1.1\nHost: a\n\n$smuggled"],
	['NUL in a value' => 400,
	 "GET /healthz HTTP/1.1\r\n${host}X: a\0b\r\n\r\n$smuggled"],
	['an unknown Transfer-Encoding' => 501,
	 "POST /mcp HTTP/1.1\r\n${host}Transfer-Encoding: tea\r\n\r\n$smuggled"],
	['a chunk size with 0x' => 400,
	 "POST /mcp HTTP/1.1\r\n${host}Content-Type: application/json\r\n" .
	 "Accept: */*\r\nTransfer-Encoding: chunked\r\n\r\n" .
	 "0x2\r\n{}\r\n0\r\n\r\n$smuggled"],
	['a folded line' => 400,
	 "GET /healthz HTTP/1.1\r\n${host}X: a\r\n b\r\n\r\n$smuggled"],
	['no Host' => 400, "GET /healthz HTTP/1.1\r\n\r\n$smuggled"],
	['two Hosts' => 400,
	 "GET /healthz HTTP/1.1\r\n$host$host\r\n$smuggled"],
	['HTTP/0.9' => 400, "GET /healthz\r\n$smuggled"],
	['HTTP/2' => 505, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
	['TLS' => 400, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"],
	['garbage after a request' => '200 400',
	 "GET /healthz HTTP/1.1\r\n$host\r\n\x01\x02\x03\r\n$smuggled"],
	['a head of more than 16 KiB' => 431,
	 "GET /healthz HTTP/1.1\r\n${host}X: " . 'x' x 16384 . "\r\n\r\n"],
	['more than 100 fields' => 431,
	 "GET /healthz HTTP/1.1\r\n$host" . "X: y\r\n" x 100 . "\r\n"],
	['a target of more than 4 KiB' => 414,
	 'GET /' . 'x' x 4096 . " HTTP/1.1\r\n$host\r\n"],
	['a body over max_message_bytes' => 413,
	 "POST /mcp HTTP/1.1\r\n${host}Content-Length: 65537\r\n\r\n"],
	['one in chunks' => 413,
	 "POST /mcp HTTP/1.1\r\n${host}Content-Type: application/json\r\n" .
	 "Accept: */*\r\nTransfer-Encoding: chunked\r\n\r\n" .
	 "10001\r\n" . 'x' x 65537 . "\r\n0\r\n\r\n"],
);
for (@refused) {
	my ($name, $want, $bytes) = @$_;

	is(statuses($bytes), $want, "$name: $want, and nothing after it");
}

is(statuses("GET /healthz HTTP/1.1\r\n$host\r\n" x 3), '200 200 200',
   'several requests at once are answered in their order');
is(statuses("GET /healthz HTTP/1.0\r\n$host\r\n$smuggled"), 200,
   'HTTP/1.0 gets one answer');
is(statuses("GET /healthz HTTP/1.1\r\n${host}Connection: close\r\n\r\n$smuggled"),
   200, 'a request after Connection: close gets no answer');
{
	my $conn = $s->connect;

	for my $i (1, 2) {
		$conn->request('GET', '/healthz');
		is($conn->response->{status}, 200, "request $i of one connection");
	}
}
{ # a refusal reaches who is still sending
	my $conn = $s->connect;

	$conn->put("POST /mcp HTTP/1.1\r\n${host}Content-Length: 99999999\r\n\r\n");
	$conn->put('x' x 1_000_000);
	is($conn->head, 413, 'a refusal can be read while the body is sent');
}

# ---- the body, when it is wanted ----

my %post = ('Content-Type' => 'application/json',
	    Accept => 'application/json, text/event-stream');
my $hello = json_of({jsonrpc => '2.0', id => 1, method => 'initialize', params =>
		     {protocolVersion => '2025-11-25', capabilities => {},
		      clientInfo => {name => 't', version => '1'}}});
{
	my $conn = $s->connect;

	$conn->request('POST', '/mcp', {%post, Expect => '100-continue',
					'Content-Length' => length $hello});
	$conn->up_to(qr/\r\n\r\n/) =~ m{^HTTP/1\.1 100 } or diag('no 100');
	$conn->put($hello);
	is($conn->response->{status}, 200, 'Expect: 100-continue gets one');

	$conn = $s->connect;
	$conn->request('POST', '/mcp', {%post, Expect => '100-continue',
					Accept => 'text/html',
					'Content-Length' => length $hello});
	my $r = $conn->response;
	is("$r->{status} $r->{continued}", '406 0',
	   'no 100 Continue where the body is not wanted');
}
{
	my $conn = $s->connect;

	$conn->request('POST', '/mcp', {%post, 'Transfer-Encoding' => 'chunked'});
	$conn->put(sprintf("%x\r\n%s\r\n", length, $_))
	    for $hello =~ /(.{1,40})/sg;
	$conn->put("0\r\n\r\n");
	is($conn->response->{status}, 200, 'a body in chunks');
}

# ---- who is meant, and whose page asks ----

sub status_with {
	my ($method, $path, $headers, $body) = @_;

	return $s->fetch($method, $path, $headers, $body)->{status};
}

for (['127.0.0.1', 200], ['localhost:1', 200], ['[::1]', 200],
     ['mcp.example.com', 200], ['evil.example.com', 403], ['127.0.0.1.evil.example', 403]) {
	is(status_with(POST => '/mcp', {%post, Host => $_->[0]}, $hello), $_->[1],
	   "Host $_->[0]: $_->[1]");
}
for (['http://localhost:6274', 200], ['http://127.0.0.1', 200],
     ['app://one', 200], ['https://two.example', 200], ['null', 403],
     ['https://three.example', 403], ['http://evil.example.com', 403]) {
	is(status_with(POST => '/mcp', {%post, Origin => $_->[0]}, $hello),
	   $_->[1], "MCP 30: Origin $_->[0]: $_->[1]");
}
is(status_with(POST => '/mcp', {%post, Host => 'evil.example.com',
				Origin => 'http://evil.example.com'}, $hello),
   403, 'a name that was bent to loopback is refused, its own page or not');
{
	my $r = $s->fetch(OPTIONS => '/mcp', {
		Origin => 'http://localhost:6274',
		'Access-Control-Request-Method' => 'POST'});

	is($r->{status}, 204, 'a page that may call is told so beforehand');
	is($r->{headers}{'access-control-allow-origin'}, 'http://localhost:6274',
	   'the allowed origin is the page\'s own');
	like($r->{headers}{'access-control-allow-headers'}, qr/Mcp-Session-Id/,
	     'a page is told the allowed headers');
	is_deeply([map { $r->{headers}{'access-control-allow-headers'} =~ /\b$_\b/ ? () : $_ } qw(Mcp-Method Mcp-Name)],
		  [], 'MCP26 12: of both eras');
	$r = $s->fetch(OPTIONS => '/mcp', {Origin => 'http://localhost:6274', 'Access-Control-Request-Method' => 'POST',
		'Access-Control-Request-Headers' => 'content-type, mcp-param-region,x-other ,Mcp-Param-Tier,mcp-param-'});
	like($r->{headers}{'access-control-allow-headers'}, qr/, Mcp-Session-Id, mcp-param-region, Mcp-Param-Tier\z/,
	     'MCP26 12: and with those of tools that it asks for');
	$r = $s->fetch(POST => '/mcp', {%post, Origin => 'http://localhost:6274'},
		       $hello);
	like($r->{headers}{'access-control-expose-headers'}, qr/Mcp-Session-Id/,
	     'a page may read the session id');
	$r = $s->fetch(POST => '/mcp', \%post, $hello);
	ok(!exists $r->{headers}{'access-control-allow-origin'},
	   'nobody else hears of that');
	is(status_with(OPTIONS => '/mcp', {
		Origin => 'http://evil.example.com',
		'Access-Control-Request-Method' => 'POST'}), 403,
	   'another page is refused');
}

# ---- the endpoint ----

is(status_with(GET => '/'), 404, 'elsewhere is nothing');
is(status_with(GET => '/mcp/'), 404, 'not even nearly');
for (['PUT', '/mcp'], ['PATCH', '/mcp'], ['OPTIONS', '/mcp'], ['POST', '/healthz']) {
	my $r = $s->fetch($_->[0], $_->[1], {}, '');

	is($r->{status}, 405, "$_->[0] $_->[1]: 405");
	like($r->{headers}{allow}, qr/GET/, "$_->[0] $_->[1]: Allow says which methods pass");
}
{
	my $conn = $s->connect;

	$conn->request('HEAD', '/mcp');
	$conn->head;
	is($conn->{status}, 405, 'HEAD: 405');
	$conn->request('GET', '/healthz');
	is($conn->response->{status}, 200, 'without a body, as HEAD has none');
}
for my $path ('/healthz', '/readyz') { # as who watches asks
	my $conn = $s->connect;

	$conn->request('HEAD', $path);
	$conn->head;
	is("$conn->{status} $conn->{headers}{'content-type'}", '200 application/json', "HEAD $path: 200");
	$conn->request('GET', '/healthz');
	is($conn->response->{json}{status}, 'ok', 'a HEAD has no body');
}
for (['*/*', 200], ['application/json', 406], ['text/event-stream', 406],
     [undef, 406], ['application/*, text/*;q=0.5', 200]) {
	is(status_with(POST => '/mcp', {%post, Accept => $_->[0]}, $hello),
	   $_->[1], 'Accept ' . ($_->[0] // '(none)') . ": $_->[1]");
}
for (['application/json; charset=utf-8', 200], ['text/plain', 415],
     ['application/jsonp', 415], [undef, 415]) {
	is(status_with(POST => '/mcp', {%post, 'Content-Type' => $_->[0]}, $hello),
	   $_->[1], 'Content-Type ' . ($_->[0] // '(none)') . ": $_->[1]");
}
{
	my $c = $s->client->greeted;
	my %in = %{$c->headers};
	my $ping = '{"jsonrpc":"2.0","id":5,"method":"ping"}';

	delete $in{'MCP-Protocol-Version'};
	for ([undef, 200], ['2025-11-25', 200], ['2025-03-26', 200],
	     ['2099-01-01', 400], ['', 400], ['x', 400]) {
		is(status_with(POST => '/mcp', {%in, 'MCP-Protocol-Version' =>
						$_->[0]}, $ping), $_->[1],
		   'MCP 38: MCP-Protocol-Version ' . ($_->[0] // '(none)') .
		   ": $_->[1]");
	}
	my $why = $s->fetch(POST => '/mcp', {%in, 'MCP-Protocol-Version' => '2099-01-01'}, $ping)->{json}{error}{message};
	like($why, qr/2099-01-01.*2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25/, 'the refusal of a version says which would pass');
	delete $in{'Mcp-Session-Id'};
	is(status_with(POST => '/mcp', \%in, $ping), 400,
	   'MCP 37: without a session: 400');
	like($s->fetch(POST => '/mcp', {%in}, $ping)->{json}{error}{message},
	     qr/initialize gives one.*2026-07-28 needs none.*params\._meta/, 'MCP 37: the refusal of a request without a session tells both ways');
	is(status_with(GET => '/mcp', \%in), 400, 'a GET, too');
	is(status_with(DELETE => '/mcp', \%in), 400, 'a DELETE without a session');
	for my $id ('x', 'f' x 40, '') {
		is(status_with(POST => '/mcp', {%in, 'Mcp-Session-Id' => $id},
			       $ping), 404, "MCP 37: session \"$id\": 404");
	}
	for (['{', 400, -32700], ['', 400, -32700], ['{"id":1}', 400, -32600],
	     ['[]', 400, -32600], ["[$ping]", 400, -32600]) {
		my $r = $s->fetch(POST => '/mcp', $c->headers, $_->[0]);

		is("$r->{status} $r->{json}{error}{code}", "$_->[1] $_->[2]",
		   "MCP 31: the body '$_->[0]': $_->[1], $_->[2]");
	}
	is($s->fetch(POST => '/mcp', $c->headers,
		     '{"jsonrpc":"2.0","id":6,"method":"no/such"}')
	   ->{json}{error}{code}, -32601, 'a method that is unknown');
	my $old = $s->client->greeted('2025-03-26');
	my $r = $s->fetch(POST => '/mcp', $old->headers, "[$ping,$ping]");
	is(scalar @{$r->{json}}, 2, 'MCP 31: 2025-03-26 has batches');
	$r = $s->fetch(POST => '/mcp', $old->headers, '[' . join(',', ($ping) x 129) . ']');
	is("$r->{status} $r->{json}{error}{code}", '400 -32600', 'MCP 31: but not of any size');
	$r = $s->fetch(POST => '/mcp', $old->headers, "[7,$ping]");
	is("$r->{status} " . @{$r->{json}}, '200 2', 'MCP 31: in which each message is refused by itself');
	is($s->fetch(POST => '/mcp', $old->headers,
		     '[{"jsonrpc":"2.0","method":"notifications/initialized"}]')
	   ->{status}, 202, 'one without a request gets 202');
	$r = $s->fetch(POST => '/mcp', \%post,
		       '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}');
	ok($r->{json}{error} && !exists $r->{headers}{'mcp-session-id'},
	   'initialize that fails makes no session');
}
$s->stop;

# ---- tokens ----

{
	my $t = Http->new(templates => {echo => lua('return inputs')},
			  tokens => {ada => 'token-of-ada', bob => 'token-of-bob'});
	my $r = $t->fetch(POST => '/mcp', \%post, $hello);

	is($r->{status}, 401, 'MCP 41: without a token: 401');
	is($r->{headers}{'www-authenticate'}, 'Bearer realm="paddock"',
	   'MCP 41: the 401 asks for a token');
	for my $wrong ('Bearer wrong', 'bearer token-of-adax') {
		$r = $t->fetch(POST => '/mcp', {%post, Authorization => $wrong},
			       $hello);
		is($r->{status}, 401, "Authorization: $wrong: 401");
		like($r->{headers}{'www-authenticate'}, qr/error="invalid_token"/,
		     "Authorization: $wrong: the 401 says invalid_token");
	}
	is($t->fetch(POST => '/mcp', {%post, Authorization => 'Basic dG9rZW4='},
		     $hello)->{status}, 401, 'another scheme: 401');
	$r = $t->fetch(POST => '/mcp?access_token=token-of-ada', \%post, $hello);
	is($r->{status}, 400, 'MCP 41: a token in the address is refused');
	is($t->fetch(GET => $_)->{status}, 200, "$_ wants none")
	    for '/healthz', '/readyz';

	my ($ada, $bob) = map { $t->client($_)->greeted } qw(ada bob);
	is_deeply($ada->tool(echo => {a => 1})->{view}, {a => 1},
		  'a request with a token is served');
	my $run = $ada->run_async('echo', {});
	$ada->ended($run);
	ok($bob->tool(get_task_run => {runId => $run})->{isError},
	   'another requestor does not see the run');
	$bob->{session} = $ada->{session};
	is($bob->post({jsonrpc => '2.0', id => 1, method => 'ping'})->response
	   ->{status}, 404, "MCP 37: nor is another's session anybody's");
	is($bob->end, 404, 'to end, either');
	is($bob->listen->{status}, 404, 'another\'s session cannot be listened to');
	is_deeply($ada->call('ping')->{result}, {}, 'the session tried by another is still there');
	unlike($t->log_text, qr/token-of|dG9rZW4/, 'no token is in the log');
	$t->stop;
}

done_testing;
