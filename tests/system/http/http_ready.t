#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# /readyz: whether a run would be started now, and why not.
use lib 'tests/lib';
use Paddock;
use File::Copy qw(copy);
use Http;

# A worker which starts once a file "go" exists beside the worker.
sub slow_build {
	my ($root) = @_;
	my $dir = "$root/build";

	mkdir $dir;
	copy("$BUILD/paddockd", "$dir/paddockd") or die "copy: $!\n";
	write_file("$dir/paddock-worker", "#!/bin/sh\n" .
		   "until [ -e $dir/go ]; do\n" .
		   "kill -0 \$PPID 2>/dev/null || exit\nsleep 0.05\ndone\n" .
		   "exec $BUILD/paddock-worker \"\$@\"\n");
	chmod 0755, $dir, "$dir/paddockd", "$dir/paddock-worker";
	return $dir;
}

my $s = Http->new(templates => {doze => lua('run.progress(0, 1, "dozing")
		  while not run.cancelled() do run.sleep(20) end')},
		  config => "[limits]\ndrain_timeout_ms = 20000\n", idle => 1);
my $go = slow_build($s->{root});

# The port on which the process PID listens, before the log tells the port.
sub port_of {
	my ($pid) = @_;
	my %own = map { (readlink($_) // '') =~ /^socket:\[(\d+)\]/ ? ($1 => 1) : () }
	    glob "/proc/$pid/fd/*";

	for (split /\n/, read_file('/proc/net/tcp')) {
		my @f = split ' ';

		return hex(substr $f[1], -4) if $f[3] eq '0A' && $own{$f[9]};
	}
	return undef;
}

$s->{build} = $go;
$s->start;
$s->{port} = until_true('a listener', sub { port_of($s->{pid}) });

# {status, reason, retry} of PATH.
sub look {
	my ($path, $method) = @_;
	my $r = $s->fetch($method // 'GET', $path, {});

	return [$r->{status}, $r->{json}{status} // $r->{json}{error}{message},
		$r->{json}{reason}];
}

same_json(look('/readyz'), [503, 'not ready', 'the cage is still being measured'],
	  'a server that cannot tell yet whether it is safe is not ready');
same_json(look('/healthz'), [200, 'ok', undef], 'a server that is not ready is alive');
my $hello = json_of({jsonrpc => '2.0', id => 1, method => 'initialize', params => {
	protocolVersion => '2025-11-25', capabilities => {}, clientInfo => {name => 't', version => '1'}}});

# Send a request, whose answer is to come.
sub asks {
	my ($method, $body, %more) = @_;
	my $conn = $s->connect;

	$conn->request($method, '/mcp', {'Content-Type' => 'application/json',
		Accept => 'application/json, text/event-stream', %more}, $body);
	return $conn;
}

# The answer shows that earlier requests were read.
sub taken { is(look('/healthz')->[0], 200, $_[0]) }

is(asks(POST => $hello, Accept => 'text/html')->response->{status}, 406,
   'who asks badly hears of it at once');
my $gone = asks(POST => $hello);
taken('a request comes early, and others do');
$gone->hang_up;
my @early = (asks(POST => $hello), asks(POST => '[' . join(',', ($hello) x 3) . ']'),
	asks(POST => $hello, 'Content-Length' => length($hello) + 1),
	asks(GET => undef, 'Mcp-Session-Id' => 'x'), asks(DELETE => undef, 'Mcp-Session-Id' => 'x'),
	asks(POST => $hello, Expect => '100-continue'));
$early[2]->put("\n");
my @many = map { asks(POST => $hello) } 1 .. 300;
my @refused;
until_true('300 requests to be too many', sub {
	$_->fill_now for @many;
	@refused = grep { $_->{in} =~ /^HTTP/ } @many;
	@refused >= 300 - 256;
});
{
	my $r = $refused[0]->response;

	is($r->{status}, 503, 'a request above the early limit gets a 503');
	is($r->{headers}{'retry-after'}, 1, 'the early 503 says to retry in a second');
	like($r->{json}{error}{message}, qr/the server starts/, 'the early 503 says that the server starts');
}
ok(!grep({ $_->fill_now; $_->{in} =~ /^HTTP.1.1 [^1]/ } @early), 'the first early requests wait');
write_file("$go/go", '');
$s->ready;
is_deeply([map { $_->response->{status} } @early], [200, 400, 200, 404, 404, 200],
	  'early requests are answered when the server is ready');
like($early[0]{headers}{'mcp-session-id'} // '', qr/./, 'an early initialize gets a session');
my %had;
$had{$_->{status} // $_->response->{status}}++ for @many;
is(join(' ', sort keys %had), '200 503', 'each early request is answered or refused');
cmp_ok($had{503}, '<=', 301 + @early - 224, 'the early 503s are those above the limit');
$_->hang_up for @early, @many;
same_json(look('/readyz'), [200, 'ready', undef], 'the server is ready');

my $c = $s->client->greeted;
my $run = $c->run_async('doze');
my $conn = $s->connect;

$c->saying($run, 'dozing');
$conn->put("GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\n"); # and it stays
is(look('/readyz')->[0], 200, 'the server is ready with a run');
$s->signal('TERM');
$s->log_has(qr/drain=started/);
$conn->put("\r\n");
my $r = $conn->response;
is($r->{status}, 503, 'one that drains is not');
is($r->{json}{reason}, 'the server is draining: it is about to end', 'the 503 of a draining server says so');
$s->stop(undef, 'TERM'); # a second one: now

# an end before the server is ready
unlink "$go/go";
delete $s->{port};
$s->start;
$s->{port} = until_true('a listener', sub { port_of($s->{pid}) });
my $late = asks(POST => $hello);
taken('again a request comes early');
$s->signal('TERM');
$r = $late->response;
is($r->{status}, 503, 'an early request gets a 503 when the server ends');
like($r->{json}{error}{message}, qr/about to end/, 'the early 503 says that the server is about to end');
$s->stop;
done_testing;
