#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# TLS which ends in a child of paddock-egress, for hosts with rules and secrets: the run's own
# authority, methods and paths, secrets in requests, secrets masked in answers, certificates of
# hosts, and the key of the run in no other run.
use lib 'tests/lib';
use Paddock;
use Egress;
use EgressSite;
use File::Temp qw(tempdir);
use MIME::Base64 qw(encode_base64);
use POSIX ();

my $folder = tempdir(CLEANUP => 1);
my $ca = EgressSite::authority($folder);
my $port = EgressSite::tls_host('127.0.0.2', EgressSite::certificate($folder, 'DNS:a.test,DNS:b.test,DNS:*.w.test,IP:127.0.0.2'));
my %bad = (
	'wrong.test' => EgressSite::tls_host('127.0.0.3', EgressSite::certificate($folder, 'DNS:other.test')),
	'self.test' => EgressSite::tls_host('127.0.0.3', EgressSite::certificate($folder, 'DNS:self.test', self => 1)),
	'expired.test' => EgressSite::tls_host('127.0.0.3', EgressSite::certificate($folder, 'DNS:expired.test', days => -1)),
	'old.test' => EgressSite::tls_host('127.0.0.3', EgressSite::certificate($folder, 'DNS:old.test'), '--old'),
	'plain.test' => EgressSite::host('127.0.0.3', sub { print { $_[0] } "HTTP/1.1 400 Bad Request\r\n\r\n" }),
	'nul.test' => EgressSite::tls_host('127.0.0.3', EgressSite::certificate($folder, 'DNS:nul.testx')),
);
my $resolver = EgressSite::names({
	(map { $_ => [ [ A => '127.0.0.2' ] ] } qw(a.test b.test x.w.test)), map { $_ => [ [ A => '127.0.0.3' ] ] } keys %bad });
my %key = (one => 'sk-ONE-0123456789/+=abc', two => 'sk-TWO-9876543210', three => 'sk-THREE-abcdefgh');
write_file("$folder/$_", "$key{$_}\n") for keys %key;
chmod 0600, map { "$folder/$_" } keys %key;
my @secrets = (
	{ name => 'one', file => "$folder/one", hosts => ['a.test'], header => 'Authorization: Bearer {}', placeholder => 'paddock-placeholder-one' },
	{ name => 'two', file => "$folder/two", hosts => ["b.test:$port"], basic => 'x-user', rules => ['GET /in/*'] },
	{ name => 'three', file => "$folder/three", hosts => ['*.w.test'], query => 'key' },
);
my %settings = (resolver => $resolver, private => [ { range => '127.0.0.0/8' }, { range => '10.0.0.0/8', requestor => 'a-requestor-of-others' } ], ca => $ca, secrets => \@secrets);
my $egress = Egress->new(undef, map { ('--secret-file', "$folder/$_") } sort keys %key);
is_deeply($egress->config(\%settings), { config => 'ok' }, 'settings with secrets are taken');

# ---- a program with the run's authority ----
sub program {
	my ($run) = @_;

	write_file("$folder/run.pem", $run->{certificates});
	return $run;
}
# METHOD and URL by curl, the way of most programs.
sub fetch {
	my ($run, $url, @options) = @_;
	my @command = ('curl', '-sS', '-i', '--noproxy', '', '-x', "http://127.0.0.1:$run->{port}", '--cacert', "$folder/run.pem",
		'--max-time', $ENV{PADDOCK_PATIENCE} // 90, '--suppress-connect-headers', @options, $url);
	open my $out, '-|', @command or die "curl: $!";
	local $/;
	my $text = <$out> // '';
	close $out;
	return $text;
}
my $has_curl = `curl --version 2>/dev/null` =~ /^curl /;
plan skip_all => 'curl is not installed' unless $has_curl;

my $run = program($egress->open_run(network => [ { host => "a.test:$port", allow => [ 'GET /*', 'PUT /in/*' ] }, "b.test:$port",
	"x.w.test:$port", { host => "127.0.0.2:$port", allow => ['GET /*'] }, map { { host => "$_:$bad{$_}", allow => ['* /*'] } } sort keys %bad ], secrets => [qw(one two three)])->listen_for);
my $cas = () = $run->{certificates} =~ /BEGIN CERT/g;
is($cas, 2, 'the cage gets the authorities of the machine, here one, and the authority of the run');

# ---- secrets in requests ----
my $answer = fetch($run, "https://a.test:$port/echo?x=y", '-H', 'Authorization: Bearer mine', '-H', 'X-Key: a-paddock-placeholder-one-b', '-H', 'Accept-Encoding: gzip', '-H', 'Range: bytes=0-1');
like($answer, qr{\AHTTP/1\.1 200 OK\r\n}, 'a request within TLS is answered');
like($answer, qr{^GET /echo\?x=y$}m, 'the path and the query go to the host');
is_deeply([ $answer =~ /^Authorization: (.*?)\r?$/mg ], [ 'Bearer ' . '*' x length $key{one} ], 'the secret goes in place of the field of the run, and is masked in the answer');
like($answer, qr{^X-Key: a-\*{23}-b}m, 'a placeholder is replaced');
like($answer, qr{^Accept-Encoding: identity}m, 'no compressed answer is asked for');
unlike($answer, qr{^Range:}m, 'no part of an answer is asked for');
my $r = $run->report_of('request');
is_deeply([ @$r{qw(host method path secret)} ], [ 'a.test', 'GET', '/echo', 'one' ], 'the request is reported with the name of the secret');
like(fetch($run, "https://a.test:$port/echo", '-u', 'user:paddock-placeholder-one', '-H', 'X-Basic: Basic ' . encode_base64('u:paddock-placeholder-one', '')), qr{^X-Basic: Basic dTp?\*+|^X-Basic: Basic \S*\*{20,}}m, 'a placeholder within base64 is replaced');
unlike($answer, qr{\Q$key{one}\E|ONE-0123}, 'the answer has no secret');
like(fetch($run, "https://b.test:$port/in/x", '-H', 'Authorization: mine'), qr{^Authorization: Basic \S*\*{16,}}m, 'a secret goes as a password');
like(fetch($run, "https://b.test:$port/out", '-H', 'Authorization: mine'), qr{^Authorization: mine}m, 'a secret goes within its rules alone');
like(fetch($run, "https://x.w.test:$port/q?key=mine&a=b&key=c"), qr{^GET /q\?a=b&key=\*{17}$}m, 'a secret goes into the query, in place of the key of the run');
like(fetch($run, "https://x.w.test:$port/q"), qr{^GET /q\?key=\*{17}$}m, 'a secret may be all of a query');

# ---- masked answers ----
for my $path (qw(/pieces /forms /head)) {
	my $text = fetch($run, "https://a.test:$port$path");
	my %forms = (plain => $key{one}, hex => unpack('H*', $key{one}), escaped => ($key{one} =~ s/([^\w.~-])/sprintf '%%%02X', ord $1/ger),
		map { ("base64 $_" => substr(encode_base64('x' x $_ . $key{one}, ''), $_ + 1, 24)) } 0 .. 2);

	like($text, qr{\*{23}}, "$path: something is masked");
	is_deeply([ grep { index(lc $text, lc $forms{$_}) >= 0 } sort keys %forms ], [], "$path has the secret in no form");
	unlike($text, qr{^Set-Cookie}mi, "$path sets no cookie");
}
like(fetch($run, "https://a.test:$port/gzip"), qr{\AHTTP/1\.1 502 .*NETWORK_BAD_ANSWER}s, 'an answer that is compressed all the same is refused');

# ---- rules ----
sub is_refused {
	my ($text, $status, $code, $name) = @_;

	like($text, qr{\AHTTP/1\.1 $status .*"NETWORK_$code"}s, "$name: $status $code");
	is($run->report_of('refused')->{reason}, $code, "$name is reported");
}
is($run->report_of('refused')->{reason}, 'BAD_ANSWER', 'a refused answer is reported');
is_refused(fetch($run, "https://a.test:$port/echo", '-X', 'DELETE'), 403, 'RULE', 'a method out of the rules');
is_refused(fetch($run, "https://a.test:$port/x", '-X', 'PUT', '-d', 'x'), 403, 'RULE', 'a path out of the rules');
is_refused(fetch($run, "https://a.test:$port/in/../x", '--path-as-is', '-X', 'PUT', '-d', 'x'), 403, 'RULE', 'a path that leads out of the rules');
is_refused(fetch($run, "https://a.test:$port/x", '-H', 'Host: b.test'), 400, 'HOST_DIFFERS', 'another host within TLS');
like(fetch($run, "https://a.test:$port/in/x", '-X', 'PUT', '-d', 'the body'), qr{the body\z}, 'a body within the rules');
like(fetch($run, "https://127.0.0.2:$port/x"), qr{\AHTTP/1\.1 200 }, 'a host by address, without a name in the hello');
{
	my $text = fetch($run, "https://a.test:$port/3", "https://a.test:$port/1", "https://a.test:$port/close");
	is_deeply([ $text =~ m{^GET (\S+)$}mg ], [qw(/1 /close /3)], 'a connection of a program outlives the connection to the host');
}

# ---- certificates of hosts ----
for my $host (sort keys %bad) {
	my $code = $host =~ /^(?:old|plain)/ ? 'TLS' : 'CERTIFICATE';
	my $client = $run->client;

	$client->autoflush(1);
	print {$client} "CONNECT $host:$bad{$host} HTTP/1.1\r\n\r\n";
	local $/;
	is_refused(scalar <$client>, 502, $code, $host);
}
{
	my $text = `echo | openssl s_client -proxy 127.0.0.1:$run->{port} -connect a.test:$port -servername a.test -CAfile $folder/run.pem -verify_return_error -tls1_1 2>&1`;
	like($text, qr{alert protocol version}, 'a client of TLS 1.1 is not served');
	$text = `echo | openssl s_client -proxy 127.0.0.1:$run->{port} -connect a.test:$port -servername a.test -CAfile $folder/run.pem -verify_return_error -alpn h2,http/1.1 2>&1`;
	like($text, qr{Verify return code: 0}, 'the certificate of the child is verified by the authority of the run');
	like($text, qr{ALPN protocol: http/1\.1}, 'HTTP/1.1 is chosen');
	like($text, qr{No client certificate CA names sent|Verification: OK}, 'the handshake is complete');
}

# ---- another run ----
my $before = $egress->open_run(requestor => 'a-requestor-who-was-here-before', network => [ "a-host-of-the-run-before.test:$port" ]);
my $other = $egress->open_run(network => ["a.test:$port"])->listen_for;
is($other->{certificates}, undef, 'a run without rules and secrets gets no certificates');
isnt($egress->open_run(network => [ { host => "a.test:$port", allow => [] } ])->{certificates}, $run->{certificates}, 'each run has an authority of its own');
like($egress->open_run(network => [], secrets => ['four'])->{message}, qr{no secret "four"}, 'an unknown secret is refused');

# The whole memory of a process, read as root by /proc.
sub memory_of {
	no warnings 'portable'; # addresses have 48 bits
	my ($pid) = @_;
	my $all = '';

	open my $maps, '<', "/proc/$pid/maps" or return;
	open my $mem, '<', "/proc/$pid/mem" or return;
	binmode $mem;
	while (<$maps>) {
		my ($from, $to, $rights) = /^([0-9a-f]+)-([0-9a-f]+) (\S+)/ or next;
		next unless $rights =~ /^r/ && !/\[v(?:var|syscall)/;
		sysseek $mem, hex $from, 0 or next;
		my ($left, $at) = (hex($to) - hex $from, 0);
		while ($left > 0) {
			my $n = sysread $mem, my $part, $left < 1 << 20 ? $left : 1 << 20;
			last unless $n;
			$all .= $part;
			$left -= $n;
		}
	}
	return $all;
}
SKIP: {
	skip 'the memory of another user is read by root alone', 10 if $> != 0;
	my @children = sort { $a <=> $b } children_of($egress->{pid});
	my ($first, $second) = map { memory_of($_) } @children[ 0, 2 ];
	my $keeper = memory_of($egress->{pid});

	cmp_ok(length $second, '>', 1 << 20, 'the memory of a child is read');
	ok(index($first, $key{$_}) >= 0, "a child has the secret $_ of its run") for sort keys %key;
	is_deeply([ grep { index($second, $key{$_}) >= 0 } sort keys %key ], [], 'a child of another run has none of the secrets');
	is_deeply([ grep { index($second, $_) >= 0 } 'paddock-placeholder-one', 'a-requestor-of-others' ], [], "a child knows no secret's placeholder of other runs, and no range of others");
	is_deeply([ grep { index($second, $_) >= 0 } 'requestor-who-was-here', 'host-of-the-run-before' ], [], 'a child finds nothing of the order before');
	is(() = $keeper =~ /\Q$key{one}\E/g, 1, 'the keeper has a secret once');
	my ($own) = $run->{certificates} =~ /(-----BEGIN[^-]+-----[^-]+-----END CERTIFICATE-----\n)\z/;
	write_file("$folder/own.pem", $own);
	my $serial = pack 'H*', `openssl x509 -in $folder/own.pem -noout -serial` =~ s/serial=|\n//gr;
	cmp_ok(index($first, $serial), '>=', 0, 'a child has the authority of its run');
	is(index($second, $serial), -1, 'a child of another run has no authority of the run');
}

# ---- rotation ----
$key{one} = 'sk-NEW-0123456789-rotated';
write_file("$folder/one", $key{one});
is_deeply($egress->config(\%settings), { config => 'ok' }, 'settings are taken again');
like(fetch($run, "https://a.test:$port/in/x"), qr{^Authorization: Bearer \*{25}\r?$}m, 'a run goes on with the new value');
splice @secrets, 0, 1;
is_deeply($egress->config(\%settings), { config => 'ok' }, 'settings without a secret are taken');
unlike(fetch($run, "https://a.test:$port/in/x"), qr{^Authorization}m, 'a secret that is gone goes with no request');

# ---- faults of settings ----
my %fault = (
	'a file that was not named at the start' => [ { secrets => [ { name => 'x', file => '/etc/passwd', hosts => ['a.test'], query => 'k' } ] }, qr{not started with} ],
	'a place that is missing' => [ { secrets => [ { name => 'x', file => "$folder/two", hosts => ['a.test'] } ] }, qr{one of header, basic and query} ],
	'a header with a line break' => [ { secrets => [ { name => 'x', file => "$folder/two", hosts => ['a.test'], header => "A: {}\r\nB: c" } ] }, qr{header} ],
	'any host' => [ { secrets => [ { name => 'x', file => "$folder/two", hosts => ['*'], query => 'k' } ] }, qr{no host} ],
	'no authorities' => [ { ca => "$folder/two" }, qr{none in PEM} ],
	'a range that is none' => [ { private => [ { range => 'a.test' } ] }, qr{no network} ],
	'an upstream proxy' => [ { upstreamProxy => 'http://proxy.test:3128' }, qr{a configuration without one passes} ],
	'a bad word of deny' => [ { deny => ['1.2.3'] }, qr{denied hosts} ],
);
for my $name (sort keys %fault) {
	my ($settings, $says) = @{ $fault{$name} };
	my $said = $egress->config({ %settings, secrets => [], %$settings });

	is($said->{config}, 'error', "$name is refused");
	like($said->{message}, $says, "$name: a sentence says so");
}
write_file("$folder/three", 'short');
like($egress->config(\%settings)->{message}, qr{has 5 bytes; 8 to 8192 would pass}, 'a secret that is too short is refused');
write_file("$folder/three", "sk-line\nbreak-in-it");
like($egress->config(\%settings)->{message}, qr{printable ASCII}, 'a secret with a line break is refused');
like(fetch($run, "https://b.test:$port/in/x"), qr{^Authorization: Basic \S*\*{16,}}m, 'the settings before a fault stay in force');

is_deeply([ map { $_->{kind} } ($run->end)[-1] ], ['totals'], 'the run ends with its sums');
is($run->{status}, 0, 'the child ends well');
is($egress->stop, 0, 'the keeper ends well');
is($egress->{logged}, '', 'nothing is logged');
unlike(join('', map { join ' ', grep { defined } values %$_ } @{ $run->{told} }), qr{sk-}, 'no report has a secret');
done_testing;
