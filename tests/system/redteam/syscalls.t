#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Every system call denied by a program's filter, tried in the real cage: the result of a
# call must be as in the table in tests/unit/sandbox/golden.
use lib 'tests/lib';
use Paddock;
use Cage;
use Redteam;

my $LAST = 600; # system calls there may be
# uretprobe, uprobe: newer x86 kernels exempt the two calls from filters.
my %unfiltered = (335 => 1, 336 => 1);
my $machine = (POSIX::uname())[4];
my $golden = read_file("$TOP/tests/unit/sandbox/golden/filter_program.txt");
my %number = system_calls();
my %action = $golden =~ /^\Q$machine\E\s+(\w+)\s+(\S.*)$/mg;
my ($others) = $golden =~ /^\Q$machine\E\s+\(others\)\s+ERRNO\((\w+)\)$/m;

plan skip_all => "the table is not of $machine" unless defined $others;

my $s = Paddock->new(templates => {
	probe => {program => read_file(Redteam::programs())}});
$s->init;
my $programs;
until_true('programs to be tried', sub {
	$programs = $s->tool('get_runtime_profile')->{view}{programs} });
if (!$programs->{available}) {
	$s->stop;
	plan skip_all => uncaged($programs->{reason});
}

# The expected errno of calls which fail with any arguments.
my %want = map { $_ => $others } grep { !$unfiltered{$_} } 0 .. $LAST;
for (sort keys %action) {
	my $n = $number{$_} // next;
	my ($errno) = $action{$_} =~ /^ERRNO\((\w+)\)$/;

	delete $want{$n};
	$want{$n} = $errno if defined $errno;
}
my @list = sort { $a <=> $b } keys %want;
my $v = $s->run_sync(probe => {do => 'numbers', list => \@list});
my $got = $v->{result} // [];
my @wrong = map { $got->[$_] ne $want{$list[$_]}
		      ? "$list[$_] is $got->[$_], not $want{$list[$_]}" : () } 0 .. $#$got;

is(scalar @$got, scalar @list, @list . ' calls are answered') or diag(json_of($v));
same_json(\@wrong, [], 'each as the table says');
cmp_ok(scalar @list, '>', 200, 'more than 200 calls are tried');

# Calls which the shim counts, and lets pass: the kernel fails on null pointers, and a
# leader of a group gets no session. A second process of the probe would write a result of
# its own, so records.t tries calls that succeed.
my %counted = (execve => 'EFAULT', execveat => 'EFAULT', setsid => 'EPERM');
my %succeeds = (fork => 1, vfork => 1);

# Calls of the table with a notification to the shim, each alone: all others end the run.
for (sort grep { $action{$_} eq 'NOTIFY' && !$succeeds{$_} } keys %action) {
	my $view = $s->run_sync(probe => {do => 'numbers', list => [$number{$_} + 0]});

	if ($counted{$_}) {
		same_json($view->{result}, [$counted{$_}], "$_ is counted, and goes on");
		next;
	}
	ok(is_outcome($view, "SANDBOX_VIOLATION \"syscall\":\"$_\""),
	   "$_ is a violation") or diag(outcome_of($view));
}

# The same numbers by other ways of calling.
for (qw(getpid ptrace execve)) {
	my $view = $s->run_sync(probe => {do => 'numbers', list => [$number{$_} | 0x40000000]});

	ok(is_outcome($view, 'WORKER_CRASHED SIGSYS'), "$_ of x32 is the end")
	    or diag(outcome_of($view));
}
$s->stop;

done_testing;
