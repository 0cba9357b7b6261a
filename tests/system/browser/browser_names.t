#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# browser_names.t - pages which ask for names whose servers never answer, and pages which
# hold connections, do not delay the sessions of other clients. The network has a name
# server of the test.
use IO::Socket::IP;
use POSIX ();
use Socket;

use lib 'tests/lib';
use Paddock;
use Broker;

needs('Chromium', 'root');
if (!$ENV{PADDOCK_OWN_NET}) {
	$ENV{PADDOCK_OWN_NET} = 1;
	exec 'unshare', '--net', '--mount', $^X, $0 or BAIL_OUT("unshare: $!");
}

sub run { system(@_) == 0 or BAIL_OUT("@_ failed") }

my $text = File::Temp->new;
print $text "nameserver 127.0.0.1\n";
close $text;
chmod 0644, "$text";
my $lookups = File::Temp->new;
print $lookups "hosts: dns\n";
close $lookups;
chmod 0644, "$lookups";
run(qw(mount --make-rprivate /));
run('mount', '--bind', "$text", '/etc/resolv.conf');
run('mount', '--bind', "$lookups", '/etc/nsswitch.conf');
run(qw(ip link set lo up));

# Names below quick.example are 127.0.0.1; other questions get no answer.
my @servers;
sub name_server {
	socket my $s, PF_INET, SOCK_DGRAM, 0 or die;
	bind $s, pack_sockaddr_in(53, INADDR_LOOPBACK) or BAIL_OUT("port 53: $!");
	my $pid = fork // die;
	push @servers, $pid;
	return if $pid;
	while (defined(my $from = recv $s, my $ask, 4096, 0)) {
		my $head = 12;
		my ($id) = unpack 'n', $ask;
		my $at = $head;
		my @labels;
		while (my $n = ord substr $ask, $at, 1) {
			push @labels, substr $ask, $at + 1, $n;
			$at += 1 + $n;
		}
		my ($type) = unpack 'n', substr $ask, $at + 1, 2;
		next unless join('.', @labels) =~ /(?:^|\.)quick\.example$/i;
		my $question = substr $ask, $head, $at + 5 - $head;
		my $answer = $type == 1 ? pack('n n n N n C4', 0xc00c, 1, 1, 60, 4, 127, 0, 0, 1) : '';
		send $s, pack('n n n n n n', $id, 0x8180, 1, $answer ? 1 : 0, 0, 0) . $question . $answer, 0, $from;
	}
	POSIX::_exit(0);
}

# A page which requests the addresses in the query; /hold is never answered.
my $port;
sub site {
	my $l = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1024, ReuseAddr => 1) or die;
	$port = $l->sockport;
	my $pid = fork // die;
	push @servers, $pid;
	return if $pid;
	local $SIG{CHLD} = 'IGNORE';
	while (1) {
		accept my $c, $l or next;
		my $child = fork // next;
		next if $child;
		my $head = '';
		1 while $head !~ /\r\n\r\n/ && sysread $c, $head, 4096, length $head;
		if ($head =~ m{^GET /hold}) {
			1 while sysread $c, my $byte, 1;
			POSIX::_exit(0);
		}
		my $body = '<!DOCTYPE html><title>here</title><p>here</p>';
		$body .= "<script>for (let i = 0; i < 100; i++) fetch(`http://n\${i}.\${Math.random()}.slow.example/`)" .
		    ".catch(() => 0)</script>" if $head =~ m{^GET /names};
		$body .= "<script>for (let i = 0; i < 160; i++) new WebSocket(`ws://127.0.0.1:$port/hold\${i}`)</script>"
		    if $head =~ m{^GET /sockets};
		syswrite $c, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n" .
		    'Content-Length: ' . length($body) . "\r\n\r\n$body";
		POSIX::_exit(0);
	}
}
END { kill KILL => @servers if @servers }

name_server();
site();
my $broker = Broker->new;
my ($greedy, $modest) = map { $broker->as(requestor => $_) } qw(greedy modest);

sub names { # the process that resolves
	my ($pid) = grep { (read_file("/proc/$_/comm") // '') =~ /^paddock-names/ } children_of($broker->{pid});
	return $pid;
}
sub visit { my ($it, $host, %more) = @_; return $it->refused('create_tab', {url => "http://$host:$port/", %more}) }

is(visit($modest, 'a.quick.example')->{result}{title}, 'here', 'a name is resolved');

# ---- names that nobody answers for ----

my @tabs = map { $greedy->do('create_tab', {url => "http://127.0.0.1:$port/names"}) } 1 .. 6;
ok(until_true('its lookups', sub { children_of(names()) >= 14 }), 'six pages have all the lookups that they get');
my $theirs = children_of(names());
for my $i (1 .. 5) {
	my $a = visit($modest, "b$i.quick.example");
	is($a->{result}{title}, 'here', "another requestor's name $i is resolved meanwhile");
}
is(visit($greedy, '127.0.0.1')->{result}{title}, 'here', 'an address needs no turn, even of its own');
my $no = visit($modest, 'c.slow.example', timeoutMs => 60_000);
is($no->{code}, 'EXECUTION_ERROR', 'a name without an answer is not reached');
like($no->{details}{reason}, qr/^its name servers do not answer in time$/, 'in the time that a lookup has');
$broker->control('requestor_gone', {requestor => 'greedy'});
ok(until_true('they are gone', sub { children_of(names()) == 0 }), 'what is called off leaves');

# ---- connections ----

my @held = map { $greedy->refused('create_tab', {url => "http://127.0.0.1:$port/sockets"}) } 1 .. 6;
sub held { return scalar grep { /:$_[0] / } split /\n/, `ss -Htn state established '( sport = :$_[0] )'` }
ok(until_true('its connections', sub { held($port) >= 200 }), 'six pages hold connections, '. held($port));
for my $i (1 .. 3) {
	my $a = visit($modest, "d$i.quick.example");
	is($a->{result}{title}, 'here', "another requestor's connection $i is made meanwhile");
}
$broker->stop;
done_testing();
