#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Addresses which a child of paddock-egress reaches and refuses: private addresses and their
# translated forms, the machine's own, changing names, aliases, large and wrong answers.
use lib 'tests/lib';
use Paddock;
use Egress;
use EgressSite;

my $port = EgressSite::http_host('127.0.0.2', {});
my ($own) = `ip -4 -o addr show scope global 2>/dev/null` =~ /inet ([\d.]+)/;
my %zone = (
	'fine' => [ [ A => '127.0.0.2' ] ],
	'private' => [ [ A => '10.1.2.3' ] ], 'other-private' => [ [ A => '192.168.1.1' ] ], 'shared' => [ [ A => '100.64.0.1' ] ],
	'loopback' => [ [ A => '127.0.0.1' ] ], 'loopback6' => [ [ AAAA => '::1' ] ], 'zero' => [ [ A => '0.0.0.0' ] ], 'zero6' => [ [ AAAA => '::' ] ],
	'link' => [ [ A => '169.254.1.1' ] ], 'metadata' => [ [ A => '169.254.169.254' ] ], 'metadata6' => [ [ AAAA => 'fd00:ec2::254' ] ],
	'link6' => [ [ AAAA => 'fe80::1' ] ], 'site6' => [ [ AAAA => 'fec0::1' ] ], 'local6' => [ [ AAAA => 'fd12::1' ] ],
	'multicast' => [ [ A => '224.0.0.1' ] ], 'multicast6' => [ [ AAAA => 'ff02::1' ] ], 'broadcast' => [ [ A => '255.255.255.255' ] ],
	'mapped' => [ [ AAAA => '::ffff:127.0.0.2' ] ], 'compatible' => [ [ AAAA => '::127.0.0.2' ] ], 'nat64' => [ [ AAAA => '64:ff9b::7f00:2' ] ],
	'local-nat64' => [ [ AAAA => '64:ff9b:1::7f00:2' ] ], 'sixtofour' => [ [ AAAA => '2002:7f00:2::1' ] ], 'teredo' => [ [ AAAA => '2001:0:7f00:2::1' ] ],
	'isatap' => [ [ AAAA => '2600::5efe:7f00:2' ] ], 'translated' => [ [ AAAA => '::ffff:0:7f00:2' ] ],
	($own ? (own => [ [ A => $own ] ]) : ()),
	'alias-to-private' => [ [ CNAME => 'alias-2' ] ], 'alias-2' => [ [ CNAME => 'private' ] ],
	'alias' => [ [ CNAME => 'alias-3' ] ], 'alias-3' => [ [ CNAME => 'fine' ] ],
	'loop' => [ [ CNAME => 'loop-2' ] ], 'loop-2' => [ [ CNAME => 'loop' ] ],
	'several' => [ map { [ A => $_ ] } '10.1.2.3', '127.0.0.2', '192.168.1.1' ],
	'unreachable-first' => [ map { [ A => $_ ] } '127.0.0.9', '127.0.0.2' ],
	'many' => [ map { [ A => "10.9." . int($_ / 256) . '.' . $_ % 256 ] } 1 .. 2300 ],
	'empty' => [ [ AAAA => '::1' ] ], 'localhost' => [ [ A => '127.0.0.2' ] ],
	'rebinds' => [ [ [ A => '127.0.0.2' ] ], [ [ A => '10.1.2.3' ] ] ],
);
my $resolver = EgressSite::names({ map { ("$_.x.test" => [ map { ref $_->[0] ? [ map { [ $_->[0], $_->[1] ] } @$_ ] : $_->[0] eq 'CNAME' ? [ CNAME => "$_->[1].x.test" ] : $_ } @{ $zone{$_} } ]) } keys %zone });
my $egress = Egress->new({ resolver => $resolver, private => [ { range => '127.0.0.2/32' }, { range => '127.0.0.9/32' }, { range => '169.254.0.0/16' },
	{ range => '10.7.0.0/16', requestor => 'somebody' } ], deny => [ 'denied.x.test', '127.0.0.4' ] });
my @network = ("*.x.test:$port", "127.0.0.2:$port", "10.1.2.3:$port", "[::1]:$port", "169.254.169.254:$port", "denied.x.test:$port");
my $run = $egress->open_run(network => \@network)->listen_for;

sub ask {
	my ($host) = @_;
	my $at = $host =~ /:/ ? "[$host]:$port" : "$host:$port";

	return $run->ask("GET http://$at/ HTTP/1.1\r\nHost: $at\r\nConnection: close\r\n\r\n");
}

# ---- refused ----
my @private = (qw(private other-private shared loopback loopback6 zero zero6 link metadata metadata6 link6 site6 local6 multicast multicast6 broadcast
	mapped compatible nat64 local-nat64 sixtofour teredo isatap translated alias-to-private many), $own ? 'own' : ());
for my $name (@private) {
	my $answer = ask("$name.x.test");

	like($answer, qr{\AHTTP/1\.1 403 .*"NETWORK_ADDRESS"}s, "$name is refused");
	is($run->report_of('refused')->{reason}, 'ADDRESS', "$name is reported");
}
for my $literal (qw(10.1.2.3 ::1 169.254.169.254)) {
	like(ask($literal), qr{\AHTTP/1\.1 403 .*"NETWORK_ADDRESS"}s, "the private address $literal is refused, though a host of the run");
}
like(ask('127.0.0.3'), qr{\AHTTP/1\.1 403 .*"NETWORK_NOT_GRANTED"}s, 'an address which is no host of the run is refused');
like(ask($_), qr{\AHTTP/1\.1 403 .*"NETWORK_DENIED"}s, "$_ is denied") for qw(denied.x.test x.denied.x.test);
like(ask("$_.x.test"), qr{\AHTTP/1\.1 502 .*"NETWORK_NO_SUCH_NAME"}s, "$_: no address") for qw(loop nowhere);

# ---- reached ----
for my $name (qw(fine alias several unreachable-first)) {
	like(ask("$name.x.test"), qr{\AHTTP/1\.1 200 }, "$name is reached");
	is($run->report_of('opened')->{address}, '127.0.0.2', "$name: the address that was connected to is reported");
}
like(ask('127.0.0.2'), qr{\AHTTP/1\.1 200 }, 'an address is reached that is a host and in a private range');

# A name with another address in the second answer: every connection is checked anew.
{
	my @answers = map { ask('rebinds.x.test') =~ m{\AHTTP/1\.1 (\d+)} ? $1 : '' } 1 .. 4;

	is_deeply([ grep { $_ ne '200' && $_ ne '403' } @answers ], [], 'a name that changes is reached or refused');
	ok((grep { $_ eq '403' } @answers), 'a name that changes to a private address is refused then');
}

# ---- ranges of a requestor ----
{
	my $zone = EgressSite::names({ 'mine.test' => [ [ A => '127.0.0.2' ] ] });
	my $mine = Egress->new({ resolver => $zone, private => [ { range => '127.0.0.0/8', requestor => 'tester' } ] });
	my %answer;

	for my $who (qw(tester other)) {
		my $one = $mine->open_run(network => ["mine.test:$port"], requestor => $who)->listen_for;
		$answer{$who} = $one->ask("GET http://mine.test:$port/ HTTP/1.1\r\nHost: mine.test:$port\r\nConnection: close\r\n\r\n") =~ m{\AHTTP/1\.1 (\d+)} ? $1 : '';
		$one->end;
	}
	is_deeply(\%answer, { tester => 200, other => 403 }, 'a private range may be of one requestor alone');
	is($mine->stop, 0, 'the other keeper ends well');
}

# ---- a silent name server ----
{
	my $silent = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Proto => 'udp');
	my $mute = Egress->new({ resolver => '127.0.0.1:' . $silent->sockport });
	my $one = $mute->open_run(network => ["a.test:$port"])->listen_for;

	like($one->ask("GET http://a.test:$port/ HTTP/1.1\r\nHost: a.test:$port\r\n\r\n"), qr{\AHTTP/1\.1 502 .*"NETWORK_NO_SUCH_NAME"}s, 'a silent name server is given up');
	$one->end;
	is($mute->stop, 0, 'the keeper of the silent name server ends well');
}
$run->end;
is($run->{status}, 0, 'the child ends well');
is($egress->stop, 0, 'the keeper ends well');
is($egress->{logged}, '', 'nothing is logged');
done_testing;
