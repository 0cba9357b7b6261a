#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# browser_reach.t - a page reaches this machine by no present address of the machine, unless
# the trust is local; addresses denied by the operator are never reached. The test runs in a
# network namespace with addresses which look public.
use IO::Socket::IP;
use POSIX ();
use Socket qw(AF_INET6 SOCK_STREAM IPPROTO_IPV6 IPV6_V6ONLY SOL_SOCKET SO_REUSEADDR
	      pack_sockaddr_in6 IN6ADDR_ANY);

use lib 'tests/lib';
use Paddock;
use Broker;

needs('Chromium', 'root');
if (!$ENV{PADDOCK_OWN_NET}) {
	$ENV{PADDOCK_OWN_NET} = 1;
	exec 'unshare', '--net', '--mount', $^X, $0 or BAIL_OUT("unshare: $!");
}

my ($own4, $own6) = ('93.184.216.10', '2606:2800:220:1::10');
my ($far4, $far6) = ('93.184.216.20', '2606:2800:220:1::20');
my ($later, $any, $denied) = ('93.184.217.1', '93.184.218.77', '93.184.216.21');

sub run { system(@_) == 0 or BAIL_OUT("@_ failed") }

# Serve NAME at port 8080 of each address in the network.
sub serve {
	my ($name) = @_;
	socket(my $l, AF_INET6, SOCK_STREAM, 0) or die "socket: $!\n";
	setsockopt $l, SOL_SOCKET, SO_REUSEADDR, 1;
	setsockopt $l, IPPROTO_IPV6, IPV6_V6ONLY, 0;
	bind $l, pack_sockaddr_in6(8080, IN6ADDR_ANY) or die "bind: $!\n";
	listen $l, 64;
	syswrite STDOUT, "up\n";
	local $SIG{CHLD} = 'IGNORE';
	while (1) {
		accept my $c, $l or next;
		next if fork // 1;
		my $head = '';
		1 while $head !~ /\r\n\r\n/ && sysread $c, $head, 4096, length $head;
		my ($to) = $head =~ m{^GET /to/(\S+)};
		my $body = !$to ? "<!DOCTYPE html><title>$name</title><p>$name</p>"
		    : "<!DOCTYPE html><title>$name</title><p id=p>waiting</p><script>" .
		      "fetch('http://$to:8080/', {mode: 'no-cors'}).then(() => p.textContent = 'reached'," .
		      " () => p.textContent = 'stopped')</script>";
		syswrite $c, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n" .
		    "Content-Length: " . length($body) . "\r\n\r\n$body";
		POSIX::_exit(0);
	}
}

# A server in a network namespace of its own, or in the test's; returns the pid.
my @servers;
sub server {
	my ($name, @by) = @_;
	pipe my $out, my $in or die;
	my $pid = fork // die;
	if ($pid == 0) {
		open STDOUT, '>&', $in;
		if (@by) {
			$ENV{PADDOCK_SERVE} = $name;
			exec @by, $^X, $0 or POSIX::_exit(127);
		}
		serve($name);
	}
	close $in;
	push @servers, $pid;
	sysread $out, my $line, 9;
	return $pid;
}
if ($ENV{PADDOCK_SERVE}) {
	require POSIX;
	serve($ENV{PADDOCK_SERVE});
}
END { kill KILL => @servers if @servers && !$ENV{PADDOCK_SERVE} }

my $hosts = File::Temp->new;
print $hosts "127.0.0.1 localhost\n$own4 own.example\n$own6 own6.example\n$far4 far.example\n" .
    "$far4 mixed.example\n$own4 mixed.example\n$far4 www.denied.example\n";
close $hosts;
chmod 0644, "$hosts";
run(qw(mount --make-rprivate /));
run('mount', '--bind', "$hosts", '/etc/hosts');

my $peer = server('far', 'unshare', '--net');
run(qw(ip link set lo up));
run(qw(ip link add v0 type veth peer name v1 netns), $peer);
run(qw(ip link set v0 up));
run(qw(ip addr add), "$own4/24", qw(dev v0));
run(qw(ip addr add), "$own6/64", qw(dev v0 nodad));
my @there = ('nsenter', '-t', $peer, '-n', 'ip');
run(@there, qw(link set v1 up));
run(@there, qw(addr add), "$_/24", qw(dev v1)) for $far4, $denied;
run(@there, qw(addr add), "$far6/64", qw(dev v1 nodad));
run(@there, qw(route add), '93.184.217.0/24', qw(dev v1));
server('own');

my $broker = Broker->new(args => ['--deny', "denied.example $denied/32"]);
my %as = (remote => $broker->as(trust => 'remote'), local => $broker->as);

sub tried {
	my ($level, $where, $path) = @_;
	my $a = $as{$level}->refused('create_tab', {url => "http://$where:8080" . ($path // '/')});

	return $a->{result}{title} if $a->{code} eq 'none';
	return $a->{details}{reason} // "$a->{code}: $a->{message}";
}
my $ours = 'an address of this machine';
my $no = 'a host that the operator denies';

for (
    [$own4, $ours, 'own', 'its IPv4 address'],
    ["[$own6]", $ours, 'own', 'its IPv6 address'],
    ['own.example', $ours, 'own', 'a name of it'],
    ['own6.example', $ours, 'own', 'a name of its IPv6 address'],
    ['mixed.example', $ours, 'far|own', 'a name that has another address as well'],
    ['93.184.216.255', $ours, undef, 'everybody on its network'],
    [$far4, 'far', 'far', 'another machine'],
    ["[$far6]", 'far', 'far', 'another, over IPv6'],
    ['far.example', 'far', 'far', 'another, by name'],
    [$denied, $no, $no, 'a denied address'],
    ['www.denied.example', $no, $no, 'a name below a denied one'],
    ['DENIED.example.', $no, $no, 'a denied name, written otherwise']) {
	my ($where, $remote, $local, $what) = @$_;

	is(tried(remote => $where), $remote, "at remote: $what");
	like(tried(local => $where), qr/^(?:$local)$/, "at local: $what") if $local;
}

# ---- what a page asks for by itself ----

for (['own.example', 'stopped'], [$own4, 'stopped'], ["[$own6]", 'stopped'], [$denied, 'stopped'],
    ['far.example', 'reached']) {
	my ($to, $came) = @$_;
	my $it = $as{remote};
	my $tab = $it->do('create_tab', {url => "http://$far4:8080/to/$to"});

	ok($it->do('wait', {tabId => $tab->{tabId}, text => $came, timeoutMs => 10_000})->{found},
	   "what a page asks of $to is $came");
	$it->do('close_session', {sessionId => $tab->{sessionId}});
}

# ---- while it runs ----

isnt(tried(remote => $later), $ours, 'an address that is nobody\'s is not ours');
run(qw(ip addr add), "$later/24", qw(dev lo));
is(tried(remote => $later), $ours, 'an added address is refused as an own one');
run(qw(ip addr del), "$later/24", qw(dev lo));
isnt(tried(remote => $later), $ours, 'a removed address is no longer an own address');
run(qw(ip route add local 93.184.218.0/24 dev lo));
is(tried(remote => $any), $ours, 'an address by a local route is refused as an own one');
run(qw(ip link set v0 down));
isnt(tried(remote => $far4), $ours, 'an address without a route is not told as an own one');

$broker->stop;
done_testing();
