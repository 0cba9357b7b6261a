#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Tunnels through a child of paddock-egress: CONNECT, the hello of TLS, which names the
# host, bytes both ways, the ends of either side.
use lib 'tests/lib';
use Paddock;
use Egress;
use EgressSite;
use Socket;

# A host answers with the same bytes in capitals.
my $port = EgressSite::host('127.0.0.2', sub {
	my ($client) = @_;

	while (sysread $client, my $part, 65536) { syswrite $client, uc $part }
	syswrite $client, 'THE END';
});
my $resolver = EgressSite::names({ map { $_ => [ [ A => '127.0.0.2' ] ] } 'a.test', 'x.w.test', 'w.test' });
my $egress = Egress->new({ resolver => $resolver, private => [ { range => '127.0.0.0/8' } ] });
my $run = $egress->open_run(network => [ "a.test:$port", "*.w.test:$port", "127.0.0.2:$port" ])->listen_for;

is_deeply($run->{hello}, [ 1, 0, 0, 0 ], 'the child greets the worker, without certificates where TLS ends elsewhere');

# ---- hellos ----
sub extension { return pack 'nn/a*', @_ }
sub server_name { return extension(0, pack 'n/a*', pack 'Cn/a*', 0, $_[0]) }
sub record { return pack 'Cnn/a*', 22, 0x301, $_[0] }
sub hello_body {
	my (@extensions) = @_;

	return pack('n', 0x303) . 'r' x 32 . pack('C/a* n/a* C/a*', 's' x 32, pack('n2', 0x1301, 0x1302), "\0")
	    . (@extensions ? pack('n/a*', join '', @extensions) : '');
}
sub hello { my $body = hello_body(@_); return record("\1" . substr(pack('N', length $body), 1) . $body) }

sub connect_to {
	my ($where, $fields) = @_;
	my $client = $run->client;

	$client->autoflush(1);
	print {$client} "CONNECT $where HTTP/1.1\r\n" . ($fields // "Host: $where\r\n") . "\r\n";
	my $head = do { local $/ = "\r\n\r\n"; <$client> };
	return ($client, $head // '');
}
sub rest_of { my ($client) = @_; local $/; return scalar(<$client>) // '' }

# ---- a tunnel ----
my $fine = hello(server_name('a.test'), extension(43, "\2\3\4"));
{
	my ($client, $head) = connect_to("a.test:$port");
	like($head, qr{\AHTTP/1\.1 200 }, 'CONNECT to a granted host is answered 200');
	is($run->report_of('opened')->{method}, 'CONNECT', 'the connection is reported as a tunnel');
	print {$client} $fine;
	read $client, my $echo, length $fine;
	is($echo, uc $fine, 'the host gets the hello as the hello came');
	print {$client} 'more';
	read $client, $echo, 4;
	is($echo, 'MORE', 'bytes go both ways');
	shutdown $client, 1;
	is(rest_of($client), 'THE END', 'the host may send on after the end of the client');
	my $r = $run->report_of('closed');
	is_deeply([ @$r{qw(host up down)} ], [ 'a.test', length($fine) + 4, length($fine) + 4 + 7 ], 'bytes each way are reported');
}
for my $cut (1, 3, 5, 9, 60, length($fine) - 1) {
	my ($client) = connect_to("a.test:$port");

	print {$client} substr $fine, 0, $cut;
	$run->client; # the child has had a turn once another connection is accepted
	print {$client} substr $fine, $cut;
	read $client, my $echo, length $fine;
	is($echo, uc $fine, "a hello may come in two parts ($cut)");
}
{
	my $body = hello_body(server_name('a.test'));
	my $message = "\1" . substr(pack('N', length $body), 1) . $body;
	my $parts = join '', map { record($_) } $message =~ /(.{1,20})/sg;
	my ($client) = connect_to("a.test:$port");

	print {$client} $parts;
	read $client, my $echo, length $parts;
	is($echo, uc $parts, 'a hello may come in several records');
}
like((connect_to("x.w.test:$port"))[1], qr{ 200 }, 'a name below a wildcard is reached');
{
	my ($client, $head) = connect_to("127.0.0.2:$port");
	my $nameless = hello(extension(43, "\2\3\4"));

	like($head, qr{ 200 }, 'an address is reached where the address is granted');
	print {$client} $nameless;
	read $client, my $echo, length $nameless;
	is($echo, uc $nameless, 'the hello for an address has no name');
}
like((connect_to("a.test:$port", ''))[1], qr{ 200 }, 'CONNECT without Host passes');
like((connect_to("A.Test:$port"))[1], qr{ 200 }, 'the case of a name does not matter');

# ---- refusals ----
sub is_refused {
	my ($head, $client, $status, $code, $name) = @_;

	like($head, qr{\AHTTP/1\.1 $status }, "$name: $status");
	is((json_to(rest_of($client) || '{}'))->{error}, "NETWORK_$code", "$name: $code");
	is($run->report_of('refused')->{reason}, $code, "$name: reported");
}
my %refused = (
	"a.test:22" => [ 403, 'NOT_GRANTED' ], 'a.test:' . ($port + 1) => [ 403, 'NOT_GRANTED' ], "b.test:$port" => [ 403, 'NOT_GRANTED' ],
	"w.test:$port" => [ 403, 'NOT_GRANTED' ], "127.0.0.3:$port" => [ 403, 'NOT_GRANTED' ], "[::1]:$port" => [ 403, 'NOT_GRANTED' ],
	"no.w.test:$port" => [ 502, 'NO_SUCH_NAME' ], 'a.test' => [ 400, 'BAD_REQUEST' ], "a.test.:$port" => [ 400, 'BAD_REQUEST' ],
	"http://a.test:$port" => [ 400, 'BAD_REQUEST' ], "a.test:$port/" => [ 400, 'BAD_REQUEST' ], "u\@a.test:$port" => [ 400, 'BAD_REQUEST' ],
	"127.2:$port" => [ 400, 'BAD_REQUEST' ],
);
for my $where (sort keys %refused) {
	my ($client, $head) = connect_to($where);
	my ($status, $code) = @{ $refused{$where} };

	is_refused($head, $client, $status, $code eq 'NO_SUCH_NAME' ? $code : $code, "CONNECT $where") if $code ne 'NO_SUCH_NAME';
	next if $code ne 'NO_SUCH_NAME';
	like($head, qr{\AHTTP/1\.1 502 }, 'a name below a wildcard without an address: 502');
	is($run->report_of('refused')->{reason}, 'NAME', 'a name without an address is reported');
}
is_refused(reverse((connect_to("a.test:$port", "Host: b.test:$port\r\n"))), 400, 'HOST_DIFFERS', 'CONNECT with another Host');
{
	my $client = $run->client;

	$client->autoflush(1);
	print {$client} "CONNECT a.test:$port HTTP/1.1\r\n\r\n$fine";
	my $head = do { local $/ = "\r\n\r\n"; <$client> };
	is_refused($head, $client, 400, 'BAD_REQUEST', 'bytes behind CONNECT before the answer');
}

# Bytes in place of a fine hello; after 200 an alert or the end comes.
my %hello = (
	NO_SERVER_NAME => { 'no extensions' => hello(), 'no name' => hello(extension(43, "\2\3\4")) },
	SERVER_NAME_DIFFERS => { 'another name' => hello(server_name('b.test')), 'a name below' => hello(server_name('x.a.test')),
		'a name with a dot behind' => hello(server_name('a.test.')) },
	ENCRYPTED_HELLO => { 'an encrypted hello' => hello(server_name('a.test'), extension(0xfe0d, "\0" . 'x' x 40)),
		'an old encrypted name' => hello(extension(0xffce, 'x' x 40), server_name('a.test')) },
	NOT_TLS => {
		'plain HTTP' => "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n", 'SSH' => "SSH-2.0-OpenSSH_9.2\r\n",
		'HTTP/2' => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 'an old hello of SSL 2' => "\x80\x2e\x01\x03\x01" . 'x' x 43,
		'an alert' => pack('Cnn/a*', 21, 0x303, "\2\50"), 'another message' => record("\2\0\0\4abcd"),
		'two names' => hello(extension(0, pack 'n/a*', join '', map { pack 'Cn/a*', 0, $_ } 'a.test', 'b.test')),
		'the name twice' => hello(server_name('a.test'), server_name('a.test')),
		'a name with NUL' => hello(server_name("a.test\0.b.test")), 'an empty name' => hello(server_name('')),
		'a name of another type' => hello(extension(0, pack 'n/a*', pack 'Cn/a*', 1, 'a.test')),
		'a length beyond the end' => record("\1\0\0\60" . pack('n', 0x303) . 'r' x 32 . "\xff" . 'x' x 13),
		'bytes left over' => do { my $b = hello_body(server_name('a.test')) . 'x'; record("\1" . substr(pack('N', length $b), 1) . $b) },
		'an empty record' => pack('Cnn', 22, 0x301, 0), 'a hello without an end' => record("\1\xff\xff\xff" . 'x' x 16000) x 3,
	},
);
for my $reason (sort keys %hello) {
	for my $name (sort keys %{ $hello{$reason} }) {
		my ($client) = connect_to("a.test:$port");

		print {$client} $hello{$reason}{$name};
		my $rest = rest_of($client);
		is($run->report_of('refused')->{reason}, $reason, "$name is refused");
		is($rest, $reason eq 'NOT_TLS' ? '' : "\x15\3\3\0\2\2\x31", "$name: the client gets " . ($reason eq 'NOT_TLS' ? 'nothing' : 'an alert'));
	}
}
{
	my ($client) = connect_to("a.test:$port");

	print {$client} substr $fine, 0, 20;
	shutdown $client, 1;
	is(rest_of($client), '', 'half a hello and the end of the client end the connection');
}

# ---- the end of the run with a tunnel open ----
{
	my ($client) = connect_to("a.test:$port");

	print {$client} $fine;
	read $client, my $echo, length $fine;
	my @last = $run->end;
	is_deeply([ map { $_->{kind} } @last[ -2, -1 ] ], [qw(closed totals)], 'open connections are reported at the end');
	cmp_ok($last[-1]{up}, '>', 1000, 'the sums have the bytes of all connections');
	is($run->{status}, 0, 'the child ends well');
	is(rest_of($client), '', 'the tunnel ends with the run');
}
is($egress->stop, 0, 'the keeper ends well');
is($egress->{logged}, '', 'nothing is logged');
done_testing;
