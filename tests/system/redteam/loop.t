#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Clients, and the owner of a package, which attack the server's loop, while other clients
# are served; the tables are tests/system/redteam/tables/loop*.pl. Rows which take long, or
# all CPU time, are left to bench/latency. t_fair_queue, t_stream_conn and t_http_conn test
# the order of messages, bench/latency measures the time.
use lib 'tests/lib';
use Paddock;
use Loop;

my $PINGS = $ENV{PADDOCK_ROUNDS} // 3; # with it, the table's long ones, too
my $PEAK_KB = 1 << 20;

for my $attack (loop_table()) {
	next if defined $ENV{PADDOCK_ATTACK} && $ENV{PADDOCK_ATTACK} ne $attack->{n};
	next if $attack->{bench};
	next if $attack->{long} && !$ENV{PADDOCK_ROUNDS} && !defined $ENV{PADDOCK_ATTACK};
	my $s = loop_server($attack);
	my ($http, $lines) = ($s->client('alice')->greeted, Daemon::client($s)->greeted);
	my $begun = Loop->attack($attack, $s);
	my @wrong;

	for (1 .. $PINGS) {
		for ($http, $lines) {
			my $a = $_->call('ping') // {};

			push @wrong, json_of($a) unless json_of($a->{result}) eq '{}';
		}
	}
	my $run = $http->run_sync(sibling => {text => 'x'});

	push @wrong, 'a run: ' . json_of($run) unless ($run->{result}{text} // '') eq 'x';
	$begun->stop;
	push @wrong, 'the server has grown to ' . peak_kb($s->{pid}) . ' kB' if peak_kb($s->{pid}) > $PEAK_KB;
	push @wrong, 'afterwards a ping has no answer' unless ($lines->call('ping') // {})->{result};
	is("@wrong", '', "$attack->{n}: $attack->{what}");
	$s->stop;
}
done_testing;
