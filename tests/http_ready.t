#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# /readyz: whether a run would be started now, and why not.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use File::Copy qw(copy);
use Http;
use Paddock;
use Test::More;

# A worker that begins once there is a file "go" beside it.
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

# The port that process PID listens on; it tells the log later.
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
same_json(look('/healthz'), [200, 'ok', undef], 'though it is alive');
{
	my $r = $s->fetch('POST', '/mcp', {}, '{}');

	is($r->{status}, 503, 'nor does it serve MCP');
	is($r->{headers}{'retry-after'}, 1, 'but soon');
}
write_file("$go/go", '');
$s->ready;
same_json(look('/readyz'), [200, 'ready', undef], 'then it is ready');

my $c = $s->client->greeted;
my $run = $c->run_async('doze');
my $conn = $s->connect;

$c->saying($run, 'dozing');
$conn->put("GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\n"); # and it stays
is(look('/readyz')->[0], 200, 'it is ready with a run, too');
$s->signal('TERM');
$s->log_has(qr/drain=started/);
$conn->put("\r\n");
my $r = $conn->response;
is($r->{status}, 503, 'one that drains is not');
is($r->{json}{reason}, 'the server is draining: it is about to end', 'and says so');
$s->stop(undef, 'TERM'); # a second one: now
done_testing;
