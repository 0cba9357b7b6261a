#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Small records of the kernel for a program, which no cgroup and no limit of a process
# counts: locks, watches, timers, filters. Each attack is bounded, whatever the result. See
# tests/lib/Redteam.pm, and the table of budgets in SECURITY.md.
use lib 'tests/lib';
use Paddock;
use Redteam;

my $ROOM = {maxMemoryBytes => 256 << 20, maxCpuMs => 60_000, maxOpenFiles => 512, maxProcesses => 32};

my $MEMORY = 'RESOURCE_LIMIT "limit":"memory"';
my $LITTLE = {maxMemoryBytes => 64 << 20, maxFiles => 200_000, maxProcesses => 32};
my $SMALL = {maxMemoryBytes => 128 << 20, maxProcesses => 32, maxOpenFiles => 1024, maxTimeoutMs => 20_000};

sub ends {
	my ($n, $what, $do, $errno, $bounded) = @_;

	return [$n, $what, qq(returns {"bounded":@{[$bounded ? 'true' : 'false']},"errno":"$errno"}),
		c => $do, limits => $ROOM];
}

attack_all([
    ends(813, 'locks on ranges of a file', 'ranges', 'ENOLCK', 1),
    ends('813b', 'the same, which wait for each other', 'ranges_waited_for', 'ENOLCK', 1),
    ends('813c', 'the same by several processes', 'ranges_of_many', 'ENOLCK', 1),
    ends('813d', 'the same by processes that end before them', 'ranges_of_the_dead', 'ENOLCK', 1),
    ends('813e', 'locks of an open file, which a mapping keeps', 'ranges_of_a_file', 'ENOLCK', 1),
    ends('813f', 'locks taken and given back, which are no attack', 'ranges_in_turn', '0', 1),
    ['813g', 'the same, beside more than can be looked at', 'returns {"bounded":true,"errno":"ENOLCK"}',
     c => 'ranges_in_a_crowd', limits => {%$ROOM, maxOpenFiles => 4096}],
    ['813i', 'locks on inodes of others, by which each of their closes takes longer', 'returns {"locked":0,"own":1}',
     c => 'shared_locks', limits => $ROOM],
    ['813j', 'the same by a descriptor that is moved past the check',
     'SANDBOX_VIOLATION "syscall":"fcntl" | returns {"bounded":true}', c => 'shared_locks_moved', limits => $ROOM],
    ends(814, 'watches of epolls on one file', 'epoll_watches', 'ENOSPC', 1),
    ends('814b', 'the same by several processes', 'watches_of_many', 'ENOSPC', 1),
    ['813h', 'the same beside a process that was stopped, which stays so', 'returns {"state":"T","status":7}',
     c => 'ranges_beside_stopped', limits => $ROOM],
    ends('814d', 'the same, whose descriptors are moved past who looks', 'watches_moved', 'ENOSPC', 1),
    ends('814e', 'the same by one that has itself go on, whoever stops it', 'watches_continued', 'ENOSPC', 1),
    ends('814c', 'files that are mapped and closed, and shared memory', 'mapped_files', 'ENOMEM', 1),
    ends('814g', 'files of no format, for which a kernel may start modprobe as root', 'executions', 'EAGAIN', 1),
    ['814h', 'threads, processes and sessions that end at once, all of which the kernel frees later',
     'returns {"failed":0,"paced":true}', c => 'births', limits => $ROOM],
    [815, 'timers as files, which fire in nobody\'s account', 'returns {"errno":"ENOSYS"}', c => 'no_timerfd'],
    ['815b', 'signals as files', 'returns {"errno":"ENOSYS"}', c => 'no_signalfd'],
    [816, 'options of sockets, filters among them',
     'returns ["1:2","1:7","1:8","1:9","1:13","1:16","1:18","1:20","1:21"]', c => 'socket_options'],
    [817, 'buffers of sockets', 'returns {"grown":false}', c => 'socket_buffers'],
    ['817b', 'sockets, full', $MEMORY, c => 'sockets_filled', limits => $LITTLE],
    [818, 'what lies in the page cache', 'returns {"errno":"EOPNOTSUPP"}', c => 'cached_pages'],
    ['818c', 'the same by a mapping of one\'s own file, and sending it away', 'returns {"cold":"ENOSYS","out":"ENOSYS","told":"ENOSYS"}',
     c => 'mapped_pages'],
    ['818b', 'many descriptors to wait for', 'returns {"few":0,"refused":true}', c => 'many_polled', limits => {maxOpenFiles => 4096}],
    ['814f', 'processes that end with many threads and files, which are no attack', 'returns {"bad":0}',
     c => 'threads_that_end', limits => {%$ROOM, maxOpenFiles => 64, maxProcesses => 128}],
    [819, 'tables of pages that are read alone', $MEMORY, c => 'page_tables', limits => $LITTLE],
    ['819l', 'tables of pages of small processes', $MEMORY, c => 'tables_of_small', limits => $SMALL],
    ['819m', 'buffers of open files of /proc', $MEMORY, c => 'proc_buffers', limits => $SMALL],
    ['819n', 'memory, where each look waits for locks of processes without a turn', $MEMORY, c => 'looks_held_up',
     limits => {%$SMALL, maxProcesses => 250, maxTimeoutMs => 40_000}],
    ['819o', 'a name that is looked for in a folder which others lock', 'EXECUTION_ERROR there is no such file',
     c => 'names_held_up', limits => {%$SMALL, maxProcesses => 250}],
    ['819b', 'mappings, split', $MEMORY, c => 'split_mappings', limits => $LITTLE],
    ['819k', 'mappings of processes that forked each other', $MEMORY, c => 'forked_mappings',
     limits => {maxMemoryBytes => 48 << 20, maxProcesses => 64}],
    ['819c', 'empty files', $MEMORY, c => 'many_files', limits => $LITTLE],
    ['819e', 'memory of a process whose first thread has ended', $MEMORY, c => 'memory_without_leader', limits => $LITTLE],
    ['819f', 'shared memory that nothing maps any more', 'returns {"bounded":true,"errno":"ENOMEM"}', c => 'shared_dropped', limits => $LITTLE],
    ['819g', 'the same given back, which is no attack', 'returns {"bounded":true,"errno":"0"}', c => 'shared_in_turn', limits => $LITTLE],
    ['819h', 'the same of a device', 'returns {"errno":"ENODEV"}', c => 'shared_zero', limits => $LITTLE],
    ['819i', 'memory that grows down, which no limit of data counts', 'returns {"errno":"ENOMEM"}', c => 'grows_down', limits => $LITTLE],
    ['819j', 'a page of the stack, made larger elsewhere', 'returns {"errno":"ENOMEM"}', c => 'stack_moved', limits => $LITTLE],
    ['819d', 'names of mappings', 'returns {"errno":"EPERM"}', c => 'named_mappings'],
], c => programs(), sibling => {c => 'sibling'});
