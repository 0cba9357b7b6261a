#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Requests by absolute addresses through a child of paddock-egress: the request at the
# host, the answer, keep-alive, chunks, and the words of a refusal.
use lib 'tests/lib';
use Paddock;
use Egress;
use EgressSite;

my $port = EgressSite::http_host('127.0.0.2', {
	'GET /chunked' => "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nT: v\r\n\r\n",
	'GET /until-end' => sub { print { $_[0] } "HTTP/1.1 200 OK\r\nX: y\r\n\r\nuntil the end"; return 0 },
	'GET /none' => "HTTP/1.1 204 No Content\r\n\r\n",
	'HEAD /head' => "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n",
	'GET /early' => "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" . EgressSite::plain('late'),
});
my $resolver = EgressSite::names({ 'a.test' => [ [ A => '127.0.0.2' ] ], 'b.test' => [ [ A => '127.0.0.2' ] ] });
my $egress = Egress->new({ resolver => $resolver, private => [ { range => '127.0.0.0/8' } ] });
my $run = $egress->open_run(network => [ "a.test:$port", { host => "b.test:$port", allow => ['GET /in/*'] } ])->listen_for;

is_deeply($run->{hello}, [ 1, 0, length $run->{certificates}, 0 ], 'the child greets the worker, with certificates where a host has rules');

sub at { my ($path, $host) = @_; return 'http://' . ($host // 'a.test') . ":$port$path" }
sub get { my ($path, %f) = @_;
	my $host = $f{host} // 'a.test';
	return $run->ask(($f{method} // 'GET') . ' ' . at($path, $host) . ' HTTP/1.1' . "\r\nHost: $host:$port\r\nConnection: close\r\n"
	    . ($f{fields} // '') . "\r\n" . ($f{body} // ''));
}
sub body { return $_[0] =~ /\r\n\r\n(.*)\z/s ? $1 : undef }

# ---- requests ----
{
	my $seen = body(get('/x?y=z', fields => "X-Mine: 1\r\nProxy-Authorization: Basic eA==\r\nConnection: X-Gone\r\nX-Gone: 1\r\nTE: trailers\r\nUpgrade: h2c\r\n"));

	is($seen, "GET /x?y=z HTTP/1.1\r\nHost: a.test:$port\r\nX-Mine: 1\r\n\r\n",
		'the host gets the path, the name and the fields that are not of one connection');
	my $r = $run->report_of('opened');
	is_deeply([ @$r{qw(host port address connection connections)} ], [ 'a.test', $port, '127.0.0.2', 1, 1 ], 'a connection is reported');
	$r = $run->report_of('request');
	is_deeply([ @$r{qw(host method path requests)} ], [ 'a.test', 'GET', '/x', 1 ], 'a request is reported, without its query');
	$r = $run->report_of('closed');
	cmp_ok($r->{up}, '>', 50, 'bytes of the request are counted');
	cmp_ok($r->{down}, '>', 100, 'bytes of the answer are counted');
}
like(get('', method => 'OPTIONS'), qr{\r\n\r\nOPTIONS / HTTP/1\.1\r\n}, 'an address without a path is /');
like(get('?q', method => 'GET'), qr{\r\n\r\nGET /\?q HTTP/1\.1\r\n}, 'an address with a query alone has the path /');
like(get('/p', method => 'POST', fields => "Content-Length: 4\r\n", body => 'four'), qr{Content-Length: 4\r\n\r\nfour\z}, 'a body of a known length goes to the host');
like(get('/p', method => 'PUT', fields => "Transfer-Encoding: chunked\r\n", body => "4;a=b\r\nfour\r\n1\r\n!\r\n0\r\nX: y\r\n\r\n"),
	qr{Transfer-Encoding: chunked\r\n\r\nfour!\z}, 'a body in chunks goes to the host in chunks');

# ---- answers ----
like(get('/chunked'), qr{\AHTTP/1\.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n\z}, 'an answer in chunks stays in chunks, without extensions and trailers');
like(get('/until-end'), qr{X: y\r\nTransfer-Encoding: chunked\r\n.*until the end\r\n0\r\n\r\n\z}s, 'an answer that ends with the connection goes on in chunks');
like(get('/none'), qr{\AHTTP/1\.1 204 No Content\r\nConnection: close\r\n\r\n\z}, 'an answer without a body');
like(get('/head', method => 'HEAD'), qr{Content-Length: 5000\r\nConnection: close\r\n\r\n\z}, 'an answer to HEAD has no body');
like(get('/early'), qr{\AHTTP/1\.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1\.1 200 OK\r\n.*late\z}s, 'an interim answer goes on');
like($run->ask('GET ' . at('/chunked') . " HTTP/1.0\r\n\r\n"), qr{\AHTTP/1\.0 200 OK\r\nConnection: close\r\n\r\nabcde\z}, 'a client of HTTP/1.0 gets no chunks');

# ---- keep-alive ----
{
	my $client = $run->client;
	my $one = 'GET ' . at('/1') . " HTTP/1.1\r\nHost: a.test:$port\r\n\r\n";
	my $two = 'GET ' . at('/in/2', 'b.test') . " HTTP/1.1\r\nHost: b.test:$port\r\nConnection: close\r\n\r\n";
	my $connections = 0;

	$client->autoflush(1);
	print {$client} $one x 3, $two;
	my $all = do { local $/; <$client> };
	is_deeply([ $all =~ m{\r\n\r\nGET (\S+) }g ], [qw(/1 /1 /1 /in/2)], 'requests on one connection are answered in their order');
	my @r = map { $run->report_of('opened')->{host} } 1 .. 2;
	1 while $run->report_of('request')->{path} ne '/in/2';
	my @opened = grep { $_->{kind} eq 'opened' } @{ $run->{told} };
	is_deeply([ map { $_->{host} } @opened[ -2, -1 ] ], [ 'a.test', 'b.test' ], 'a connection to a host is used again for the same host alone');
}

# ---- refusals ----
sub is_refused {
	my ($answer, $status, $code, $name) = @_;
	my $said = json_to(body($answer) || '{}');

	like($answer, qr{\AHTTP/1\.1 $status }, "$name: $status");
	is($said->{error}, "NETWORK_$code", "$name: $code");
	my $r = $run->report_of('refused');
	is($r->{reason}, $code, "$name: reported");
	return $said;
}
{
	my $said = is_refused($run->ask("GET http://other.test/x HTTP/1.1\r\nHost: other.test\r\n\r\n"), 403, 'NOT_GRANTED', 'a host that is not granted');
	is_deeply([ @$said{qw(host port grant)} ], [ 'other.test', 80, 'network = other.test:80' ], 'the refusal has the line that grants the host');
}
is_refused(get('/out', host => 'b.test'), 403, 'RULE', 'a path out of the rules');
is_refused(get('/in/../out', host => 'b.test'), 403, 'RULE', 'a path that leads out of the rules');
is_refused(get('/in/x', host => 'b.test', method => 'POST', fields => "Content-Length: 0\r\n"), 403, 'RULE', 'a method out of the rules');
like(get('/in/x?y', host => 'b.test'), qr{\AHTTP/1\.1 200 }, 'a path within the rules passes');
is_refused($run->ask('GET ' . at('/') . " HTTP/1.1\r\nHost: b.test:$port\r\n\r\n"), 400, 'HOST_DIFFERS', 'another host in Host');
is_refused($run->ask('GET ' . at('/') . " HTTP/1.1\r\nHost: a.test\r\n\r\n"), 400, 'HOST_DIFFERS', 'another port in Host');
is_refused($run->ask('GET ' . at('/') . " HTTP/1.1\r\n\r\n"), 400, 'HOST_DIFFERS', 'no Host');
is_refused($run->ask('GET ' . at('/') . " HTTP/1.1\r\nHost: a.test:$port\r\nHost: a.test:$port\r\n\r\n"), 400, 'HOST_DIFFERS', 'Host twice');

my $long = 'a' x 300;
my %bad = (
	'a path alone' => "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n",
	'https by an absolute address' => "GET https://a.test:$port/ HTTP/1.1\r\nHost: a.test:$port\r\n\r\n",
	'ftp' => "GET ftp://a.test:$port/ HTTP/1.1\r\nHost: a.test:$port\r\n\r\n",
	'a user in the address' => "GET http://u:p\@a.test:$port/ HTTP/1.1\r\nHost: a.test:$port\r\n\r\n",
	'a fragment' => 'GET ' . at('/#x') . " HTTP/1.1\r\nHost: a.test:$port\r\n\r\n",
	'an address as a number' => "GET http://2130706434:$port/ HTTP/1.1\r\nHost: 2130706434:$port\r\n\r\n",
	'an address in octal' => "GET http://0177.0.0.2:$port/ HTTP/1.1\r\nHost: 0177.0.0.2:$port\r\n\r\n",
	'a zone' => "GET http://[fe80::1%25lo]:$port/ HTTP/1.1\r\nHost: x\r\n\r\n",
	'a host that is too long' => "GET http://$long.test/ HTTP/1.1\r\nHost: $long.test\r\n\r\n",
	'port 0' => "GET http://a.test:0/ HTTP/1.1\r\nHost: a.test:0\r\n\r\n",
	'port 65536' => "GET http://a.test:65536/ HTTP/1.1\r\nHost: a.test:65536\r\n\r\n",
	'HTTP/2' => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
	'HTTP/0.9' => "GET /\r\n\r\n",
	'HTTP/1.2' => 'GET ' . at('/') . " HTTP/1.2\r\nHost: a.test:$port\r\n\r\n",
	'a method that is none' => 'GOT ' . at('/') . " HTTP/1.1\r\nHost: a.test:$port\r\n\r\n",
	'a bare newline' => 'GET ' . at('/') . " HTTP/1.1\nHost: a.test:$port\r\n\r\n",
	'a bare carriage return' => 'GET ' . at('/') . " HTTP/1.1\r\nHost: a.test:$port\rX: y\r\n\r\n",
	'two spaces' => 'GET  ' . at('/') . " HTTP/1.1\r\nHost: a.test:$port\r\n\r\n",
	'a tab' => "GET\t" . at('/') . " HTTP/1.1\r\nHost: a.test:$port\r\n\r\n",
	'a blank line first' => "\r\nGET " . at('/') . " HTTP/1.1\r\nHost: a.test:$port\r\n\r\n",
	'a folded field' => 'GET ' . at('/') . " HTTP/1.1\r\nHost: a.test:$port\r\nX: y\r\n z\r\n\r\n",
	'a space before a colon' => 'GET ' . at('/') . " HTTP/1.1\r\nHost : a.test:$port\r\n\r\n",
	'a field without a name' => 'GET ' . at('/') . " HTTP/1.1\r\nHost: a.test:$port\r\n: x\r\n\r\n",
	'a NUL in a field' => 'GET ' . at('/') . " HTTP/1.1\r\nHost: a.test:$port\r\nX: a\0b\r\n\r\n",
	'two lengths' => 'POST ' . at('/') . " HTTP/1.1\r\nHost: a.test:$port\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxy",
	'the same length twice' => 'POST ' . at('/') . " HTTP/1.1\r\nHost: a.test:$port\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx",
	'a list of lengths' => 'POST ' . at('/') . " HTTP/1.1\r\nHost: a.test:$port\r\nContent-Length: 1, 1\r\n\r\nx",
	'a length with a sign' => 'POST ' . at('/') . " HTTP/1.1\r\nHost: a.test:$port\r\nContent-Length: +1\r\n\r\nx",
	'a length and chunks' => 'POST ' . at('/') . " HTTP/1.1\r\nHost: a.test:$port\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	'a coding that is not chunked' => 'POST ' . at('/') . " HTTP/1.1\r\nHost: a.test:$port\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
	'chunked as one of two codings' => 'POST ' . at('/') . " HTTP/1.1\r\nHost: a.test:$port\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
	'chunked twice' => 'POST ' . at('/') . " HTTP/1.1\r\nHost: a.test:$port\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	'chunks by HTTP/1.0' => 'POST ' . at('/') . " HTTP/1.0\r\nHost: a.test:$port\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	'a head that is too long' => 'GET ' . at('/') . " HTTP/1.1\r\nHost: a.test:$port\r\nX: " . 'x' x 66000 . "\r\n\r\n",
	'too many fields' => 'GET ' . at('/') . " HTTP/1.1\r\nHost: a.test:$port\r\n" . "X: y\r\n" x 200 . "\r\n",
);
is_refused($run->ask($bad{$_}), 400, 'BAD_REQUEST', $_) for sort keys %bad;
{
	my $answer = $run->ask('POST ' . at('/') . " HTTP/1.1\r\nHost: a.test:$port\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n");
	is_refused($answer, 400, 'BAD_REQUEST', 'a chunk whose size is none');
}

# ---- the end ----
my @last = $run->end;
is($last[-1]{kind}, 'totals', 'sums are reported at the end');
is($run->{status}, 0, 'the child ends with its report channel');
is($egress->stop, 0, 'the keeper ends with its channel');
is($egress->{logged}, '', 'nothing is logged');
done_testing;
