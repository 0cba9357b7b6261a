#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Bounds of a child of paddock-egress: bytes, requests and connections of a run, memory while
# much goes each way, slow sides, answers which never end or end early, and the cage of the child.
use lib 'tests/lib';
use Paddock;
use Egress;
use EgressSite;
use Socket;

my $MIB = 1 << 20;
my $BYTES = ($ENV{PADDOCK_MIB} // 256) * $MIB; # each way
my $part = 'x' x 65536;

sub pour { my ($to, $n) = @_; while ($n > 0) { my $done = syswrite($to, $part, $n < 65536 ? $n : 65536) // return; $n -= $done } return 1 }
sub drain { my ($from, $n) = @_; my $got = 0; while ($got < $n) { my $k = read $from, my $piece, $n - $got < 65536 ? $n - $got : 65536; last unless $k; $got += $k } return $got }

my $port = EgressSite::http_host('127.0.0.2', {
	'GET /much' => sub { print { $_[0] } "HTTP/1.1 200 OK\r\nContent-Length: $BYTES\r\n\r\n"; $_[0]->flush; return pour($_[0], $BYTES) },
	'PUT /much' => sub { my $n = drain($_[0], $BYTES); return print { $_[0] } EgressSite::plain($n) },
	'GET /endless' => sub { print { $_[0] } "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"; 1 while print { $_[0] } "10000\r\n$part\r\n"; return 0 },
	'GET /endless-head' => sub { print { $_[0] } "HTTP/1.1 200 OK\r\n"; 1 while print { $_[0] } "X: $part\r\n"; return 0 },
	'GET /short' => sub { print { $_[0] } "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345"; return 0 },
	'GET /cut' => sub { print { $_[0] } "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12"; return 0 },
	'GET /nothing' => sub { return 0 },
	'GET /long' => sub { print { $_[0] } "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nevil!"; return 1 },
	'GET /bare' => "HTTP/1.1 200 OK\nContent-Length: 2\n\nok", 'GET /two' => "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok",
	'GET /both' => "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 'GET /junk' => "SSH-2.0-x\r\n\r\n",
	'GET /fold' => "HTTP/1.1 200 OK\r\nX: y\r\n z\r\nContent-Length: 2\r\n\r\nok", 'GET /101' => "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n",
	'GET /split' => "HTTP/1.1 200 OK\r\nX: a\rSet-Cookie: b\r\nContent-Length: 2\r\n\r\nok", 'GET /http2' => "HTTP/2.0 200 OK\r\n\r\n",
});
my $tunnel = EgressSite::host('127.0.0.2', sub { my ($c) = @_; read $c, my $hello, 5; read $c, $hello, unpack 'x3n', $hello; pour($c, $BYTES) if drain($c, $BYTES) == $BYTES });
my $resolver = EgressSite::names({ 'a.test' => [ [ A => '127.0.0.2' ] ] });
my $egress = Egress->new({ resolver => $resolver, private => [ { range => '127.0.0.0/8' } ] });
my $run;

sub start { my (%o) = @_; return $run = $egress->open_run(network => [ "a.test:$port", "a.test:$tunnel" ], %o)->listen_for }
sub head { my ($method, $path, @fields) = @_; return "$method http://a.test:$port$path HTTP/1.1\r\n" . join('', map { "$_\r\n" } "Host: a.test:$port", @fields) . "\r\n" }
sub get { return $run->ask(head('GET', $_[0], 'Connection: close')) }
sub child_pid { return (sort { $b <=> $a } children_of($egress->{pid}))[0] }
# KiB of memory that no other process shares.
sub private_kib { my ($pid) = @_; my $sum = 0; $sum += $_ for read_file("/proc/$pid/smaps_rollup") =~ /^Private_\w+:\s+(\d+)/mg; return $sum }

# ---- the cage ----
start(memoryBytes => 64 * $MIB, cpuMs => 600_000);
my $pid = child_pid();
my $status = read_file("/proc/$pid/status");
like($status, qr{^Seccomp:\s+2$}m, 'the child has a filter of system calls');
like($status, qr{^NoNewPrivs:\s+1$}m, 'the child gains no rights by programs');
like($status, qr{^CapEff:\s+0+$}m, 'the child has no capability');
like($status, qr{^CapPrm:\s+0+$}m, 'the child can take no capability');
{
	my $keeper = read_file("/proc/$egress->{pid}/status");
	my $few = $> == 0 ? 'e0' : '00'; # CAP_KILL, CAP_SETGID, CAP_SETUID

	like($keeper, qr{^Cap$_:\s+0{14}$few$}m, "the keeper has three capabilities of root at most ($_)") for qw(Eff Prm);
	like($keeper, qr{^NoNewPrivs:\s+1$}m, 'the keeper gains no rights by programs');
}
SKIP: {
	skip 'the user changes as root alone', 1 if $> != 0;
	like($status, qr{^Uid:\s+65534\s+65534\s+65534\s+65534$}m, 'the child is another user');
}
{
	my $limits = read_file("/proc/$pid/limits");

	like($limits, qr{^Max core file size\s+1\s+1\s}m, 'the child leaves no core');
	like($limits, qr{^Max processes\s+0\s+0\s}m, 'the child starts no process');
	like($limits, qr{^Max cpu time\s+600\s+600\s}m, 'the CPU time is bounded');
	like($limits, qr{^Max address space\s+\d+\s}m, 'the address space is bounded');
	like($limits, qr{^Max file size\s+0\s+0\s}m, 'the child writes no file');
}
SKIP: {
	skip 'descriptors of another user are seen by root alone', 2 if $> != 0;
	my @fds = sort map { readlink($_) =~ s/:\[\d+\]//r } glob "/proc/$pid/fd/*";
	is_deeply([ grep { !/^(?:socket|pipe|anon_inode|\/dev\/null|\/tmp\/|\/dev\/pts)/ } @fds ], [], 'the child has channels alone');
	cmp_ok(private_kib($pid), '<=', 1536, 'an idle child has at most 1.5 MiB of its own');
	diag('an idle child: ' . private_kib($pid) . ' KiB') if $ENV{PADDOCK_SHOW};
}

# ---- much each way at flat memory ----
{
	my $client = $run->client;

	print {$client} head('GET', '/much');
	$client->flush;
	is(<$client>, "HTTP/1.1 200 OK\r\n", 'a large answer begins');
	1 while <$client> ne "\r\n";
	my $first = read $client, my $some, 65536;
	is($first + drain($client, $BYTES - 65536), $BYTES, 'a large answer comes whole');
	my $after_down = $> == 0 ? private_kib($pid) : 0;
	print {$client} head('PUT', '/much', "Content-Length: $BYTES");
	$client->flush;
	ok(pour($client, $BYTES), 'a large body is sent');
	1 while (<$client> // last) ne "\r\n";
	read $client, my $told, length $BYTES;
	is($told, $BYTES, 'a large body comes whole');
	cmp_ok($after_down, '<=', 4096, 'memory is flat while much comes down');
	cmp_ok($> == 0 ? private_kib($pid) : 0, '<=', 4096, 'memory is flat while much goes up');
}
{
	my $client = $run->client;
	my $name = pack 'Cn/a*', 0, 'a.test';
	my $body = pack('n', 0x303) . 'r' x 32 . "\0" . pack('n/a*', "\x13\1") . "\1\0" . pack('n/a*', pack 'nn/a*', 0, pack 'n/a*', $name);

	print {$client} "CONNECT a.test:$tunnel HTTP/1.1\r\n\r\n";
	$client->flush;
	1 while <$client> ne "\r\n";
	print {$client} pack 'Cnn/a*', 22, 0x301, "\1" . substr(pack('N', length $body), 1) . $body;
	$client->flush;
	ok(pour($client, $BYTES), 'a tunnel takes much');
	is(drain($client, $BYTES), $BYTES, 'a tunnel gives much');
}

# ---- answers that are wrong ----
for my $path (qw(/bare /two /both /junk /fold /101 /split /http2 /nothing /endless-head)) {
	like(get($path), qr{\AHTTP/1\.1 502 .*"NETWORK_BAD_ANSWER"}s, "$path is no answer");
}
unlike(get('/long'), qr{evil}, 'bytes behind an answer go nowhere');
is(length((split /\r\n\r\n/, get('/short'), 2)[1]), 5, 'an answer that is too short ends short');
unlike(get('/cut'), qr{0\r\n\r\n\z}, 'an answer whose chunks end early has no last chunk');
{
	my $client = $run->client;

	print {$client} head('GET', '/endless');
	$client->flush;
	is(drain($client, 4 * $MIB), 4 * $MIB, 'an answer without an end comes as long as the client reads');
	close $client;
	like(get('/short'), qr{12345}, 'the child goes on when the client is gone');
}

# ---- many at once ----
{
	my @clients = map { $run->client } 1 .. 180;

	print {$_} head('GET', '/x', 'Connection: close') for @clients;
	$_->flush for @clients;
	my $whole = grep { $run->rest_of($_) =~ m{\AHTTP/1\.1 200 } } @clients;
	is($whole, 180, 'more connections than are served at once are all answered');
}

# ---- bounds of a run ----
sub codes { my ($n) = @_; return [ map { get('/x') =~ /"NETWORK_(\w+)"/ ? $1 : 'ok' } 1 .. $n ] }
$run->end;
is($run->{status}, 0, 'the child ends well after all of these');
start(maxRequests => 2);
is_deeply(codes(3), [qw(ok ok LIMIT_REQUESTS)], 'requests are bounded');
$run->end;
start(maxConnections => 2);
is_deeply(codes(3), [qw(ok ok LIMIT_CONNECTIONS)], 'connections are bounded');
$run->end;
start(maxBytes => 600);
is_deeply([ grep { $_ ne 'ok' } @{ codes(8) } ]->[-1], 'LIMIT_BYTES', 'bytes are bounded over connections');
$run->end;
start(maxBytes => $MIB);
{
	my $client = $run->client;

	print {$client} head('GET', '/endless');
	$client->flush;
	cmp_ok(drain($client, 16 * $MIB), '<', 2 * $MIB, 'bytes are bounded within an answer');
	is($run->report_of('refused')->{reason}, 'BYTES', 'an answer that is cut by the bound is reported');
}
my @last = $run->end;
cmp_ok($last[-1]{up} + $last[-1]{down}, '<', 2 * $MIB, 'the sums say how much passed');

# ---- a worker that lies ----
for my $case (['no socket', Egress::LISTEN], ['a version of tomorrow', pack('LL', 2, 0), 1], ['a short packet', 'x', 1], ['a long packet', Egress::LISTEN . 'x', 1],
	['a socket that does not listen', Egress::LISTEN, 2]) {
	my ($name, $packet, $kind) = @$case;
	my $liar = $egress->open_run(network => ["a.test:$port"]);
	my $listening = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1);
	my $datagrams = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Proto => 'udp');

	Egress::send_packet($liar->{cage}, $packet, $kind ? fileno($kind == 1 ? $listening : $datagrams) : ());
	1 while $liar->next_report;
	isnt($egress->answer('ended')->{status}, 0, "$name ends the child");
}

# ---- orders that cannot be served ----
like($egress->open_run(network => ['a.test'])->{message}, qr{"a\.test" is no host: a port is missing}, 'a host without a port is refused');
like($egress->open_run(network => [ { host => 'a.test:1', allow => ['GET'] } ])->{message}, qr{"GET" is no rule}, 'a rule without a path is refused');
like($egress->open_run(network => [ map { "a$_.test:1" } 1 .. 300 ])->{message}, qr{at most 256 hosts}, 'too many hosts are refused');
SKIP: {
	skip 'a user is needed for root alone', 1 if $> != 0;
	like($egress->open_run(network => [], uid => 0)->{message}, qr{other than root}, 'root without another user is refused');
}
is($egress->stop, 0, 'the keeper ends well');
is($egress->{logged}, '', 'nothing is logged');
done_testing;
