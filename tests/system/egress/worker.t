#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A Lua worker at a child of paddock-egress: one stream for all requests, http and https, and
# refusals and cut answers after which the stream goes on.
use lib 'tests/lib';
use Paddock;
use Egress;
use EgressSite;
use File::Temp qw(tempdir);

my $folder = tempdir(CLEANUP => 1);
my $ca = EgressSite::authority($folder);
my $tls = EgressSite::tls_host('127.0.0.2', EgressSite::certificate($folder, 'DNS:a.test'));
my $wrong = EgressSite::tls_host('127.0.0.2', EgressSite::certificate($folder, 'DNS:other.test'));
my $port = EgressSite::http_host('127.0.0.2', {
	'GET /until-end' => sub { print { $_[0] } "HTTP/1.1 200 OK\r\nPaddock-Error: FORGED\r\n\r\nuntil the end"; return 0 },
	'GET /cut' => sub { print { $_[0] } "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345"; return 0 },
	'GET /slow' => sub { 1 while sysread $_[0], my $rest, 4096; return 0 }, 'GET /none' => "HTTP/1.1 204 No Content\r\n\r\n", 'GET /empty' => "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
	'GET /slow-body' => sub { print { $_[0] } "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345"; $_[0]->flush; 1 while sysread $_[0], my $rest, 4096; return 0 },
	'PUT /early' => sub { print { $_[0] } EgressSite::plain('early'); return 0 },
});
my $resolver = EgressSite::names({ 'a.test' => [ [ A => '127.0.0.2' ] ] });
write_file("$folder/key", 'sk-0123456789');
my $egress = Egress->new({ resolver => $resolver, private => [ { range => '127.0.0.0/8' } ], ca => $ca,
	secrets => [ { name => 'key', file => "$folder/key", hosts => ['a.test'], header => 'Authorization: Bearer {}' } ] }, '--secret-file', "$folder/key");
my $run = $egress->open_run(network => [ "a.test:$port", { host => "a.test:$tls", allow => ['GET /in/*'] }, "a.test:$wrong" ], secrets => ['key'], stream => 1);
my $worker = $run->{cage};
$worker->autoflush(1);

# Ask, and return the status, the fields, the body and the trailers.
sub exchange {
	my ($method, $url, @more) = @_;
	my ($host) = $url =~ m{//([^/]+)};
	my $body = pop(@more) // '' if @more % 2;

	print {$worker} "$method $url HTTP/1.1\r\nHost: $host\r\n", (map { "$_\r\n" } pairs(@more)), "\r\n", $body // '';
	return answer();
}
sub pairs { my @out; push @out, shift(@_) . ': ' . shift @_ while @_; return @out }
sub answer {
	my $head = EgressSite::read_head($worker) // return {};
	my %a = (status => $head =~ m{\AHTTP/1\.1 (\d+)}, error => $head =~ /^Paddock-Error: (\S+)/m ? $1 : '', body => '', cut => '', chunked => 0 + $head =~ /chunked/, head => $head);

	if ($a{chunked}) {
		while ((my $n = hex(<$worker> =~ s/\r\n//r)) > 0) {
			read $worker, my $part, $n + 2;
			$a{body} .= substr $part, 0, $n;
		}
		while ((my $line = <$worker>) ne "\r\n") { $a{cut} = $1 if $line =~ /^Paddock-Error: (\S+)/ }
	} elsif ($head =~ /^Content-Length: (\d+)/m && $1) {
		read $worker, $a{body}, $1;
	}
	return \%a;
}
sub is_answer { my ($a, $want, $name) = @_; return is_deeply({ map { $_ => $a->{$_} } keys %$want }, $want, $name) }

is_answer(exchange(GET => "http://a.test:$port/x"), { status => 200, chunked => 1, error => '', cut => '', body => "GET /x HTTP/1.1\r\nHost: a.test:$port\r\n\r\n" }, 'a plain request');
my $a = exchange(GET => "https://a.test:$tls/in/x", 'Authorization' => 'mine');
is_answer($a, { status => 200, chunked => 1, cut => '' }, 'a request by TLS');
like($a->{body}, qr{^Authorization: Bearer \*{13}\r?$}m, 'the secret goes along by TLS, and is masked');
unlike(exchange(GET => "http://a.test:$port/x")->{body}, qr{Authorization}, 'the secret does not go without TLS');
is_answer(exchange(GET => "https://a.test:$tls/out"), { status => 403, error => 'NETWORK_RULE', chunked => 0 }, 'a path out of the rules');
is_answer(exchange(GET => "https://b.test:$tls/"), { status => 403, error => 'NETWORK_NOT_GRANTED' }, 'a host that is not granted');
is_answer(exchange(GET => "https://a.test:$wrong/"), { status => 502, error => 'NETWORK_CERTIFICATE' }, 'a host with a wrong certificate');
is_answer(exchange(PUT => "http://b.test/x", 'Content-Length' => 5, 'bytes'), { status => 403, error => 'NETWORK_NOT_GRANTED' }, 'the body of a refused request is read away');
is_answer(exchange(GET => "http://a.test:$port/until-end"), { status => 200, error => '', body => 'until the end', cut => '' }, 'an answer until the end; a host forges no refusal');
is_answer(exchange(GET => "http://a.test:$port/cut"), { status => 200, body => '12345', cut => 'NETWORK_BAD_ANSWER' }, 'a cut answer says so at its end');
is_answer(exchange(GET => "http://a.test:$port/none"), { status => 204, chunked => 0, body => '' }, 'an answer without a body');
is_answer(exchange(GET => "http://a.test:$port/empty"), { status => 200, chunked => 0, body => '' }, 'an empty body');
is_answer(exchange(GET => "http://a.test:$port/slow", 'Paddock-Timeout-Ms' => 100), { status => 504, error => 'NETWORK_TIMEOUT' }, 'an answer that does not come in time');
is_answer(exchange(GET => "http://a.test:$port/slow-body", 'Paddock-Timeout-Ms' => 100), { status => 200, body => '12345', cut => 'NETWORK_TIMEOUT' }, 'a body that does not come in time');
is_answer(exchange(PUT => "http://a.test:$port/early", 'Content-Length' => 200_000, 'x' x 200_000), { status => 200, body => 'early' }, 'an answer before the end of the body');
is_answer(exchange(PUT => "http://a.test:$port/p", 'Transfer-Encoding' => 'chunked', "3\r\nabc\r\n0\r\n\r\n"), { status => 200 }, 'a body in chunks');
like(exchange(GET => "http://a.test:$port/t", 'Paddock-Timeout-Ms' => 90000)->{body}, qr{\AGET /t HTTP/1\.1\r\nHost: \S+\r\n\r\n\z}, 'the field with the time stays here');
is_answer(exchange(CONNECT => "//a.test:$port"), { status => 400, error => 'NETWORK_BAD_REQUEST' }, 'no tunnels for a worker');
my @last = $run->end;
is($run->{status}, 0, 'the child ends well');
is($egress->stop, 0, 'the keeper ends well');
is($egress->{logged}, '', 'nothing is logged');
done_testing;
