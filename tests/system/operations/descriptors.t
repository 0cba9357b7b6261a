#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Clients which take all descriptors, under the LimitNOFILE of the shipped unit, and under a
# limit so small that no descriptor is left: another client is served over HTTP, over the
# socket and by a run, meanwhile and afterwards.
use lib 'tests/lib';
use Paddock;
use Http;

needs('prlimit');
descriptors(8192);

my ($unit) = read_file("$TOP/etc/paddockd.service") =~ /^LimitNOFILE=(\d+)$/m or BAIL_OUT('the unit has no LimitNOFILE');
my $idle = lua("run.progress(0, 1, 'naps') run.sleep(600000) return 1", limits => {maxTimeoutMs => 600_000});

sub used { my @all = glob "/proc/$_[0]{pid}/fd/*"; return scalar @all }

for my $most ($unit, 300) {
	my $s = Http->new(templates => {naps => $idle, echo => lua('return inputs')}, tokens => {eve => 'e', mal => 'm', bob => 'b'},
		config => "[limits]\nmax_concurrent_runs = 3\n", wrap => ['prlimit', "--nofile=$most:$most"]);
	my $before = used($s);
	my ($bob, $eve) = map { $s->client($_)->greeted } qw(bob eve);
	my @naps = map { $eve->run_async('naps') } 1 .. 2;
	my @held = map { $s->connect } 1 .. 700; # who say nothing

	for my $name (qw(eve mal)) { # a request each, of which the body does not come
		for (1 .. ($most > 1000 ? 1500 : 400)) {
			my $c = $s->connect;

			$c->request('POST', '/mcp', $s->client($name)->headers('Content-Length' => 100));
			push @held, $c;
		}
	}
	push @held, grep { defined } map { Client->new($s) } 1 .. 300;
	my $run = $bob->run_sync(echo => {n => 1});
	is($run->{status}, 'succeeded', "$most descriptors: somebody else has a run") or diag(json_of($run));
	my $taken = used($s);
	cmp_ok($taken, '>', $before + ($most > 1000 ? 1500 : 150), "  while others have taken what they may ($before before, $taken now)");
	cmp_ok($taken, '<=', $most, '  of those that the server may have');
	my $other = $s->client('bob');
	$other->init;
	is_deeply($other->call('ping')->{result}, {}, '  a session over HTTP');
	SKIP: {
		skip_lacking(1, 'root');
		chmod 0666, $s->{socket};
		is_deeply(Daemon::client($s, $ORDINARY)->greeted->call('ping')->{result}, {}, '  a connection to the socket is served while sessions wait');
	}
	$_->can('hang_up') && $_->hang_up for @held;
	@held = ();
	$eve->tool(cancel_task_run => {runId => $_}) for @naps;
	is($bob->run_sync(echo => {n => 2})->{status}, 'succeeded', '  runs succeed when the idle clients have gone');
	$s->stop;
}
done_testing;
