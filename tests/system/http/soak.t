#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# soak.t - many clients over HTTP, many open tasks, and kill -9 in the middle: each
# acknowledged task has one end, and the result can be read. PADDOCK_SOAK="CLIENTS TASKS"
# sets the numbers.
use lib 'tests/lib';
use Paddock;
use Http;
use Time::HiRes qw(time);

my ($CLIENTS, $TASKS) = split ' ', $ENV{PADDOCK_SOAK} // '20 200';
my @OWNERS = qw(ada bo cy di); # each client is one of these
my $ROUNDS = $TASKS / $CLIENTS;
my $KILL = int($ROUNDS / 2); # the round in which the server dies
my @acked; # {id, n, owner}, of each task that was acknowledged
my $ms_acked = 0;

my %TOKENS = map { $_ => "token-of-$_" } @OWNERS;
my $server = Http->new(
	templates => {work => lua('run.sleep(inputs.ms) return {n = inputs.n}')},
	tokens => \%TOKENS,
	config => "[limits]\nmax_concurrent_runs = 32\nmax_queued_runs = 10000\n");

# A further server, with the state of the last.
sub again {
	$server = $server->again;
	$server->{tokens} = \%TOKENS; # as its configuration has them
	return clients();
}

sub owner { return $OWNERS[$_[0] % @OWNERS] }

sub clients {
	return map { $server->client(owner($_))->greeted } 0 .. $CLIENTS - 1;
}

sub create {
	my ($client, $n) = @_;

	return $client->request('tools/call', {
		name => 'work', arguments => {n => $n, ms => $TASKS / 5 + $n % 7 * 20},
		task => {ttl => 3_600_000}});
}

# An answer of the server is a promise.
sub acknowledge {
	my ($client, $id, $n) = @_;
	my $a = $client->answer($id) // return 0;
	my $task = $a->{result}{task} // do {
		diag('no task: ' . json_of($a));
		return 0;
	};

	push @acked, {id => $task->{taskId}, n => $n,
		      owner => owner($n % $CLIENTS)};
	return 1;
}

# The clients make a task at the same time. KILLING: the server is killed once half of the
# clients have the answer; further answers may have been sent.
sub round {
	my ($r, $clients, $killing) = @_;
	my $start = time;
	my @ids = map { create($clients->[$_], $r * $CLIENTS + $_) }
	    0 .. $#$clients;

	for my $i (0 .. $#$clients) {
		$server->kill9 if $killing && $i == int($CLIENTS / 2);
		acknowledge($clients->[$i], $ids[$i], $r * $CLIENTS + $i);
	}
	$ms_acked += 1000 * (time - $start) unless $killing;
}

# {task => [tasks/get, tasks/result]} of all acknowledged tasks.
sub ends {
	my (@clients) = @_;
	my %seen;

	for (my $i = 0; $i < @acked; $i += $CLIENTS) {
		my $last = $i + $CLIENTS > @acked ? $#acked : $i + $CLIENTS - 1;
		my @all = @acked[$i .. $last];
		# a client of the same owner asks
		my @who = map { $clients[$_->{n} % $CLIENTS] } @all;
		my @ids = map { $who[$_]->request('tasks/result',
				    {taskId => $all[$_]{id}}) } 0 .. $#all;

		for my $k (0 .. $#all) {
			my $result = $who[$k]->answer($ids[$k]) // {};
			my $get = $who[$k]->call('tasks/get', {taskId => $all[$k]{id}}) // {};

			$seen{$all[$k]{id}} = [$get->{result}, $result->{result} // $result];
		}
	}
	return \%seen;
}

# The end of TASK in a word; undef: an end which must not occur.
sub verdict {
	my ($task, $get, $result) = @_;
	my $text = eval { json_to($result->{content}[0]{text}) } // {};

	return 'completed' if $get->{status} eq 'completed' &&
	    !$result->{isError} && ($text->{n} // -1) == $task->{n};
	return 'interrupted' if $get->{status} eq 'failed' && $result->{isError} &&
	    ($text->{errorCode} // $text->{error}{errorCode} // '') eq 'RUN_INTERRUPTED';
	diag(substr json_of([$task, $get, $result]), 0, 1500);
	return undef;
}

# The largest number of tasks open at the same time.
sub in_flight {
	my ($seen) = @_;
	my ($now, $most) = (0, 0);

	for (sort map { ("$_->[0]{createdAt} 1", "$_->[0]{lastUpdatedAt} -1") }
	     values %$seen) {
		$now += (split ' ')[1];
		$most = $now if $now > $most;
	}
	return $most;
}

# The end of a task, without advisory parts.
sub ending {
	my ($get, $result) = @{$_[0]};

	return json_of([{%$get, pollInterval => 0}, $result]);
}

# ---- the story ----

my $start = time;
my @clients = clients();

round($_, \@clients, $_ == $KILL) for 0 .. $KILL;
is($server->{status}, 9, 'the server was killed');

my $before = @acked;

@clients = again();
round($_, \@clients, 0) for $KILL + 1 .. $ROUNDS - 1;
cmp_ok(scalar @acked, '>=', $TASKS - $CLIENTS,
       'every task is acknowledged, but what the killed one had not answered');

my $first = ends(@clients);
my %count;

$count{verdict($_, @{$first->{$_->{id}}}) // 'wrong'}++ for @acked;
is($count{wrong} // 0, 0, 'each that was acknowledged has an end, and its result');
cmp_ok($count{interrupted} // 0, '<=', 32, 'what ran when it was killed was interrupted');
my $took = time - $start;

$server->stop('the server ends and leaves nothing behind');

my $second = ends(again());
my @other = grep { ending($first->{$_->{id}}) ne ending($second->{$_->{id}}) } @acked;

is(scalar @other, 0, 'no run has another end after one more restart')
    or diag(substr json_of([map { $_->{$other[0]{id}} } $first, $second]), 0, 2000);
$server->stop('the second server ends and leaves nothing behind');

diag(sprintf '%d clients, %d tasks acknowledged (%d before kill -9), %d completed, '
	. '%d interrupted, %d otherwise; %d in flight at most; %.1f ms a '
	. 'round of acknowledgements, %.1f s until all had ended',
	$CLIENTS, scalar @acked, $before, $count{completed} // 0,
	$count{interrupted} // 0, $count{wrong} // 0, in_flight($first),
	$ms_acked / ($ROUNDS - 1), $took);
done_testing();
