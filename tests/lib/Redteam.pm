# SPDX-License-Identifier: Apache-2.0
# Redteam.pm - tries a table of attacks on a real paddockd.
#
# A table is a list of
#   [number, description, outcome, how => ..., options...]
# How: lua => code of a Lua template, or sh, perl, c => a program (c: the name of an attack
# in tests/system/redteam/attacks/*.c), or rogue => the script of a compromised worker
# (tests/system/redteam/attacks/rogue.c). Options: limits and other keys of the manifest,
# inputs, cancel => the message of the run at which the test cancels the run, held => a
# message at which other runs are tried before the cancel, alone => the outcome where runs
# share a uid or have no cgroup, so the attack ends by itself, also => code for further checks, which returns
# the faults.
#
# The outcome is the end of the run: 'returns JSON', 'canceled', or an errorCode and a piece
# of the message; 'refused', errorCode and piece for a call without a run. A bar ' | '
# separates several right outcomes.
#
# An attack passes if the outcome is right, the server lives and has not grown, other runs
# were served meanwhile, a long run beside the attack was not disturbed, and no process or
# temporary file is left.
package Redteam;

use strict;
use warnings;
use Exporter qw(import);
use File::Copy qw(copy);
use Cage;
use Paddock;
use POSIX ();
use Test::More;

our @EXPORT = qw(attack_all programs outcome_of is_outcome);

$Paddock::PATIENCE *= 4; # an attack takes whatever CPU time there is
my $GROWTH_KB = 24 << 10; # that a server may have grown by all of a table
my %interpreters = (sh => '/bin/bash', perl => '/usr/bin/perl');

# The C attacks, built; where.
sub programs {
	my $to = Paddock::fresh_root() . '/attack';

	compile('system/redteam/attacks/attack.c', $to, '-pthread', glob "$TOP/tests/system/redteam/attacks/attack_*.c")
	    or BAIL_OUT('the attacks cannot be built');
	return $to;
}

sub attacks { # of the rows of a table
	return map {
		my ($n, $what, $want, %o) = @$_;
		$o{inputs} = {do => $o{c}, %{$o{inputs} // {}}} if $o{c};
		{n => $n, what => $what, want => $want, id => "attack_$n", %o};
	} @_;
}

# The template of an attack; a letter after the number is a variant: 25, '25b'.
sub template_of {
	my ($attack, $c) = @_;
	my %m = (limits => $attack->{limits} // {}, %{$attack->{manifest} // {}});
	my ($interpreter) = grep { exists $attack->{$_} } keys %interpreters;

	return {code => $attack->{lua}, %m} if exists $attack->{lua};
	return {code => "return function() end\n--rogue\n" .
		    join('', map { "$_\n" } @{$attack->{rogue}}), %m}
	    if exists $attack->{rogue};
	return {program => $c, %m} if exists $attack->{c};
	return {program => "#!$interpreters{$interpreter}\n$attack->{$interpreter}\n",
		%m};
}

# The end of a run in one line.
sub outcome_of {
	my ($view) = @_;
	my $status = $view->{status} // 'no view: ' . json_of($view);

	return "refused $view->{errorCode} " . json_of($view->{details}) . " $view->{error}"
	    if $view->{errorCode} && !$view->{runId};
	return 'returns ' . json_of($view->{result}) if $status eq 'succeeded';
	return $status unless $status eq 'failed';
	return "$view->{error}{errorCode} " . json_of($view->{error}{details}) .
	    ' ' . ($view->{error}{message} // '');
}

sub is_outcome {
	my ($view, $want) = @_;
	my $got = outcome_of($view);

	for my $one (split / \| /, $want) {
		return 1 if $got eq $one;
		next if $one =~ /^returns /;
		my ($code, $text) = $one =~ /^((?:refused )?\S+)(?: (.*))?/;
		return 1 if $got =~ /^\Q$code\E / &&
		    index($got, $text // '') >= 0;
	}
	return 0;
}

# ---- what must be as it was ----

# pid => ppid of all descendants of PID, including zombies.
sub below {
	my ($pid) = @_;
	my (%children, %all);
	my @todo = $pid;

	opendir my $d, '/proc' or die "/proc: $!\n";
	for (grep { /^\d+$/ } readdir $d) {
		my $parent = Paddock::stat_of($_)->{ppid};

		push @{$children{$parent}}, $_ if defined $parent;
	}
	while (@todo) {
		my $p = shift @todo;

		$all{$_} = $p for @{$children{$p} // []};
		push @todo, @{$children{$p} // []};
	}
	return \%all;
}

# Descendants of the server except the zygotes, the process with root's rights, workers
# without a run, and the worker SPARED.
sub strangers {
	my ($s, $spared) = @_;
	my $all = below($s->{pid});
	my %ours = map { $_ => 1 } $s->zygotes, $s->waiting, $spared;

	return grep {
		my $up = $all->{$_};

		!$ours{$_} && $up != $spared && !grep({ $_ == $up } $s->waiting) &&
		    (Paddock::stat_of($_)->{comm} // '') ne 'paddock-keeper';
	} keys %$all;
}

sub mounts_now {
	return join "\n", grep { /paddock/ }
	    split /\n/, read_file('/proc/self/mountinfo') // '';
}

# Control groups of the server and of the server's runs.
sub cgroups_now {
	my ($s) = @_;

	return join "\n", sort map { glob("$_ $_/*/ $_/*/*/") }
	    grep { /\Q$s->{instance}\E$/ } glob('/sys/fs/cgroup/* /sys/fs/cgroup/*/*');
}


# ---- an attack ----

# The output of the sibling's program, run as the server's user without a cage.
sub outside {
	my ($s) = @_;
	my $pid = open(my $from, '-|') // die "fork: $!\n";

	if ($pid == 0) {
		my $user = $s->{user};

		chdir "$s->{root}/tmp" or die "$s->{root}/tmp: $!\n";
		open STDIN, '<', '/dev/null';
		if (defined $user) {
			$( = $user;
			$) = "$user $user";
			POSIX::setuid($user);
		}
		exec $s->{outside} or POSIX::_exit(127);
	}
	local $/;
	return <$from> // '';
}

# Start the attack, run another template meanwhile, and wait for the end of the attack.
sub one {
	my ($s, $attack) = @_;
	my @wrong;
	my $refused = $attack->{want} =~ /^refused /;
	my $begun = $s->run($attack->{id}, $attack->{inputs} // {}, mode => 'async')->{view};
	my $run = $begun->{runId};

	return ({}, 'it was not started: ' . json_of($begun)) unless $run || $refused;
	if (defined $attack->{cancel}) {
		$s->saying($run, $attack->{cancel});
		$s->tool(cancel_task_run => {runId => $run});
	}
	$s->saying($run, $attack->{held}) if defined $attack->{held};
	for (1 .. (defined $attack->{held} ? 3 : 1)) {
		my $v = $s->run_sync('sibling', {n => 20});

		push @wrong, 'another run: ' . outcome_of($v)
		    unless ($v->{status} // '') eq 'succeeded' &&
		    json_of($v->{result}) eq json_of($s->{sibling_gives});
	}
	if (defined $attack->{held}) {
		my $gives = outside($s);

		push @wrong, "a program of the same user: $gives"
		    if $gives ne json_of($s->{sibling_gives});
		$s->tool(cancel_task_run => {runId => $run})
		    unless $attack->{alone} && $s->{bare};
	}
	return ($run ? $s->ended($run) : $begun, @wrong);
}

sub looked_at {
	my ($s, $attack, $before) = @_;
	my ($v, @wrong) = one($s, $attack);

	my $want = $s->{bare} && $attack->{alone} || $attack->{want};
	push @wrong, 'the outcome is ' . substr(outcome_of($v), 0, 1000)
	    unless is_outcome($v, $want);
	push @wrong, $attack->{also}->($s, $v) if $attack->{also};
	push @wrong, 'the server has ended' unless alive($s->{pid});
	my $now = rss_kb($s->{pid});
	push @wrong, "the server has grown from $before->{rss} to $now KiB"
	    if $now > $before->{rss} + $ROOM * $GROWTH_KB;
	my $ticks = $s->get($before->{ticker})->{progress}{doneSteps} // 0;
	my $goes_on = $s->get_until($before->{ticker}, 'to go on', sub {
		$_->{status} ne 'running' || ($_->{progress}{doneSteps} // 0) > $ticks });
	push @wrong, 'the one that goes on: ' . outcome_of($goes_on)
	    unless $goes_on->{status} eq 'running';
	until_true('its processes to be gone', sub {
		!strangers($s, $before->{worker}) })
	    or push @wrong, "a process: $_ " . json_of(Paddock::stat_of($_))
	    for strangers($s, $before->{worker});
	push @wrong, 'a mount: ' . mounts_now() if mounts_now() ne $before->{mounts};
	until_true('its cgroup to be gone', sub { cgroups_now($s) eq $before->{cgroups} })
	    or push @wrong, 'a cgroup: ' . cgroups_now($s);
	push @wrong, "a file: $_" for glob "$s->{root}/tmp/* $s->{state}/artifacts/tmp/*";
	return @wrong;
}

# ---- a table ----

sub runnable { # why not, or undef
	my ($attack, $programs, $user) = @_;

	for (grep { exists $attack->{$_} } keys %interpreters) {
		return "there is no $interpreters{$_}" unless -x $interpreters{$_};
	}
	return undef if exists $attack->{lua} || exists $attack->{rogue};
	return $programs ? undef : uncaged('programs cannot be run here', $user);
}

sub as_user {
	my ($who, $user, $o, $wrap, @attacks) = @_;
	my $root = Paddock::fresh_root($user);
	my $c = $o->{c} ? read_file($o->{c}) : undef;
	my %templates = map { $_->{id} => template_of($_, $c) }
	    @attacks, {id => 'sibling', %{$o->{sibling}}},
	    {id => 'ticker', %{$o->{ticker}}};

	%templates = (%templates, %{$o->{templates} // {}});
	mkdir "$root/tmp" or die "$root/tmp: $!\n";
	chown $user, $user, "$root/tmp" if defined $user;
	my $s = Paddock->new(templates => \%templates, user => $user, root => $root,
			     $o->{build} ? (build => $o->{build}) : (),
			     wrap => $wrap,
			     config => $o->{config} // {max_concurrent_runs => 8},
			     env => {TMPDIR => "$root/tmp",
				     PADDOCK_TEST_SECRET => 'canary-of-the-server'});
	my %before;

	$s->{sibling_gives} = $o->{sibling_gives};
	$s->{outside} = $o->{c};
	$s->init;
	my $programs = can_run_programs($s, @attacks);
	$s->{bare} = grep { /^(?:uid|cgroup)$/ }
	    @{$s->tool('get_runtime_profile')->{view}{isolation}{missing} // []};
	$s->run_sync('sibling', {n => 20}) for 1 .. 3; # what grows once has grown
	($s->{instance}) = map { s{.*/}{}r } glob "$s->{state}/instances/inst_*";
	$before{ticker} = $s->run_async('ticker');
	$before{worker} = $s->worker_pid($before{ticker});
	@before{qw(mounts cgroups rss)} =
	    (mounts_now(), cgroups_now($s), rss_kb($s->{pid}));
	for my $attack (@attacks) {
		my $name = "$attack->{n} $attack->{what}: $attack->{want} ($who)";
		my $not = runnable($attack, $programs, $user);

	      SKIP: {
			skip "$name: $not", 1 if $not;
			my @wrong = looked_at($s, $attack, \%before);

			ok(!@wrong, $name);
			diag("  $_") for @wrong;
		}
	}
	$s->tool(cancel_task_run => {runId => $before{ticker}});
	is($s->ended($before{ticker})->{status}, 'canceled',
	   "the run that lasts through all attacks ends as told ($who)");
	$s->stop("nothing is left of the server ($who)");
	is(cgroups_now($s), '', "no cgroup of the server is left ($who)");
}

# Can this machine run programs in a cage? The zygote's self-test has the answer.
sub can_run_programs {
	my ($s, @attacks) = @_;
	my $programs;

	return 1 unless grep { !exists $_->{lua} && !exists $_->{rogue} } @attacks;
	until_true('programs to be tried', sub {
		$programs = $s->tool('get_runtime_profile')->{view}{programs} });
	return $programs->{available};
}

my $TICKS = 'local n = 0 while true do n = n + 1 run.progress(n, 0, "tick") ' .
    'run.sleep(5) end';

# A machine on which root has no cgroups, as in some containers.
my @UNGROUPED = ('unshare', '-m', 'sh', '-c', 'umount -R -l /sys/fs/cgroup 2>/dev/null; exec "$@"', 'sh');

# Try the table ROWS. Options: c => the compiled C attacks, build => a folder with another
# paddockd and worker, sibling, ticker => how to do the runs beside the attack, config,
# templates => templates that the attacks use, ungrouped => once more by root without cgroups.
sub attack_all {
	my ($rows, %o) = @_;
	my @attacks = grep { !$ENV{PADDOCK_ATTACK} || $_->{n} eq $ENV{PADDOCK_ATTACK} }
	    attacks(@$rows);

	$o{sibling} //= {lua => 'local s = 0 for i = 1, inputs.n do s = s + i end ' .
			     'return s'};
	$o{sibling_gives} = 210 unless exists $o{sibling_gives};
	$o{ticker} //= {lua => $TICKS};
	$_->{limits}{maxTimeoutMs} //= 600_000 for @o{qw(sibling ticker)}, @attacks;
	as_user(@$_, \%o, [], @attacks) for users();
	as_user('root without cgroups', undef, \%o, \@UNGROUPED, @attacks) if $o{ungrouped} && $> == 0;
	done_testing();
}

1;
