#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Attempts of a program to use more resources. See tests/lib/Redteam.pm.
#
# 4, 5, 9 - 11: the watch measures the whole process tree ten times a second, so the first
# limit reached is not known; one limit must be reached.
# 8: a signal, or an errno if the program ignores the signal.
# 10: threads count as processes. An ordinary user's runs share a uid, so the kernel cannot
# count threads by uid, and the watch does.
# 13, 14: bounded by the number of descriptors. 15: see 123.
# 17: too fast lines are slowed down, and cut off; the lines cost the run its own CPU time.
# 21: a run without listeners; the deadline needs none.
use lib 'tests/lib';
use Paddock;
use Redteam;

my %brief = (limits => {maxTimeoutMs => 400});
my %small = (limits => {maxMemoryBytes => 32 << 20, maxTimeoutMs => 20_000});
my %few = (limits => {maxProcesses => 16, maxCpuMs => 2000, maxTimeoutMs => 1000,
		      maxMemoryBytes => 64 << 20});
my $limit = 'RESOURCE_LIMIT "limit":';
my $any = join ' | ', map { "$limit\"$_\"" } qw(memory processes cpu);

# Where a core could be.
sub cores {
	my ($s) = @_;
	my @found = grep { -f } map { glob "$_/core*" } '.', '/', '/tmp', $s->{root}, $ENV{TMPDIR};

	return map { "a core: $_" } @found;
}

sub small_log {
	my ($s) = @_;
	my $size = -s $s->{log};

	return $size > 32 << 20 ? "the log has $size bytes" : ();
}

attack_all([
    [1, 'a busy loop', "$limit\"cpu\"", c => 'spin', limits => {maxCpuMs => 200}],
    [2, 'sleep for ever', 'RUN_TIMEOUT', c => 'sleep', %brief],
    [3, 'a loop that ignores SIGTERM', 'canceled', c => 'deaf', cancel => 'deaf',
     limits => {cancelGraceMs => 100}],
    [4, 'all memory, by several processes', "$limit\"memory\"", c => 'memory', %small],
    [5, 'all memory, shared', "$limit\"memory\"", c => 'shared', %small],
    [6, 'file systems filled', 'returns ["ENOSPC","ENOSPC","ENOSPC"]', c => 'fill', %small],
    [7, 'as many files as there may be', 'returns {"errno":"ENOSPC"}', c => 'files', %small],
    [8, 'a file of 1 TB', 'returns {"errno":"EFBIG"}', c => 'sparse'],
    ['8b', 'a file of 1 TB, and its signal', 'WORKER_CRASHED SIGXFSZ', c => 'sparse_signal'],
    [9, 'a fork bomb', "$any | RUN_TIMEOUT", c => 'forks', %few],
    [10, 'a thread bomb', "returns {\"errno\":\"EAGAIN\"} | $any", c => 'threads', %few],
    [11, 'a chain of vforks', "$any | RUN_TIMEOUT | WORKER_CRASHED", c => 'vforks', %few],
    [12, 'all descriptors', 'returns {"errno":"EMFILE"}', c => 'descriptors'],
    [13, 'buffers of pipes and sockets', "returns {\"errno\":\"EMFILE\"} | $any", c => 'hoard'],
    [14, 'epolls in epolls', 'returns {"errno":"ELOOP"} | returns {"errno":"EINVAL"}', c => 'epolls'],
    [15, 'watches on all there is', 'returns {"errno":"ENOSYS"}', c => 'watches', %small],
    [16, 'output without end', "$limit\"output_bytes\"", c => 'shout'],
    [17, 'errors a byte at a time', "$limit\"cpu\" | RUN_TIMEOUT", c => 'mutter',
     limits => {maxCpuMs => 300, maxTimeoutMs => 700}, also => \&small_log],
    [18, 'recursion without end', 'WORKER_CRASHED SIGSEGV', c => 'recurse'],
    [19, 'a core dump', 'WORKER_CRASHED SIGABRT', c => 'core', also => \&cores],
    [20, 'memory, then sleep', 'RUN_TIMEOUT', c => 'pin', %brief],
    [21, 'all descriptors closed, then sleep', 'RUN_TIMEOUT', c => 'close_all', %brief],
], c => programs());
