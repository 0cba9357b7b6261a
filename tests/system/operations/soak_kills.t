#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Many runs, and SIGKILL at random to processes of the server: workers, children of
# programs, zygotes, and the supervisor at the end of each round. Every promised run has one
# end, and no run leaves anything behind. PADDOCK_ROUNDS and PADDOCK_RUNS set the numbers;
# PADDOCK_SEED repeats the kills.
use lib 'tests/lib';
use Paddock;
use Redteam;

my $ROUNDS = $ENV{PADDOCK_ROUNDS} // 3;
my $RUNS = $ENV{PADDOCK_RUNS} // 60; # a round
my $SEED = $ENV{PADDOCK_SEED} // time;
my $AT_ONCE = 16;
my %templates = (
    quick => lua('return inputs.n'),
    nap => lua('run.sleep(30) return inputs.n'),
    file => lua('run.artifact{name = "a", mimeType = "text/plain", data = "a"} ' .
		'run.sleep(10) return inputs.n'),
    spin => lua('while true do end', limits => {maxCpuMs => 50}),
    tree => {program => "#!/bin/sh\n(setsid sleep 600 &)\nsleep 0.05 & wait\nexec echo 1\n"},
    doze => {program => "#!/bin/sh\nsleep 600\n", limits => {maxTimeoutMs => 200}},
);
my %ends = map { $_ => 1 } qw(succeeded WORKER_CRASHED RUN_INTERRUPTED RUN_TIMEOUT
    RESOURCE_LIMIT EXECUTION_ERROR);
my $root = Paddock::fresh_root();
my (@wrong, %how, %instances, %killed);

srand $SEED;
note("PADDOCK_SEED=$SEED PADDOCK_ROUNDS=$ROUNDS PADDOCK_RUNS=$RUNS");

sub server {
	return Paddock->new(root => $root, templates => \%templates,
			     config => {max_concurrent_runs => 8, max_queued_runs => 1000})->greeted;
}

sub any { return $_[int rand @_] }

# Kill a random process which works for the server.
sub kill_one {
	my ($s) = @_;
	my %zygote = map { $_ => 1 } $s->zygotes;
	my @others = grep {
		!$zygote{$_} && (Paddock::stat_of($_)->{comm} // '') ne 'paddock-keeper'
	} keys %{Redteam::below($s->{pid})};
	my ($what, $pid) = rand() < 0.15 ? ('zygote', any(keys %zygote))
	    : ('worker', any(@others));

	$killed{$what}++ if defined $pid && kill KILL => $pid;
}

sub look {
	my ($s, $run) = @_;
	my $v = $s->ended($run);
	my $status = $v->{status} // 'gone';
	my $how = $status eq 'failed' ? $v->{error}{errorCode} : $status;

	$how{$how}++;
	push @wrong, "$run: " . json_of($v) unless $ends{$how};
	return $v;
}

for my $round (1 .. $ROUNDS) {
	my $s = server();
	my (@on, @all);

	for my $n (1 .. $RUNS) {
		my $run = $s->run_async(any(sort keys %templates), {n => $n});

		push @wrong, "round $round: a run was not begun" and next unless $run;
		push @on, $run;
		push @all, $run;
		kill_one($s) if rand() < 0.2;
		look($s, shift @on) if @on >= $AT_ONCE;
	}
	$instances{s{.*/}{}r} = 1 for glob "$s->{state}/instances/inst_*";
	my @below = keys %{Redteam::below($s->{pid})};
	$s->kill9;
	push @wrong, "round $round: an orphan" unless strays_gone();
	until_true('all to be gone', sub { !grep { alive($_) } @below })
	    or push @wrong, map { "round $round: $_ lives" } grep { alive($_) } @below;
	push @wrong, "round $round: a mount: $_" for Paddock::mounts($root);

	$s = server();
	my %first = map { $_ => json_of(look($s, $_)) } @on;
	push @wrong, map { "$_ changed after its end" }
	    grep { json_of($s->get($_)) ne $first{$_} } sort keys %first;
	push @wrong, map { "$_ has not ended" }
	    grep { ($s->get($_)->{status} // '') !~ /^(?:succeeded|failed)$/ } @all;
	$instances{s{.*/}{}r} = 1 for glob "$s->{state}/instances/inst_*";
	my $zombies = grep { (Paddock::stat_of($_)->{state} // '') eq 'Z' }
	    keys %{Redteam::below($s->{pid})};
	until_true('its dead to be reaped', sub {
		!grep { (Paddock::stat_of($_)->{state} // '') eq 'Z' }
		    keys %{Redteam::below($s->{pid})} })
	    or push @wrong, "round $round: zombies: $zombies";
	$s->stop("round $round: the next server ends, and leaves nothing");
}
my %litter = map { $_ => 1 } grep { my $dir = $_; grep { $dir =~ /\Q$_\E/ } keys %instances }
    glob('/sys/fs/cgroup/* /sys/fs/cgroup/*/*');
same_json([sort keys %litter], [], 'no cgroup is left of ' . keys(%instances) . ' servers');
same_json([@wrong[0 .. ($#wrong < 9 ? $#wrong : 9)]], [],
	  'each run has ended once, and nothing is left: ' . json_of(\%how));
cmp_ok($killed{worker} // 0, '>', 0, 'some were killed: ' . json_of(\%killed));
cmp_ok($how{succeeded} // 0, '>', 0, 'some runs were not killed');

done_testing;
