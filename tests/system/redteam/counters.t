#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Kernel counters for a user, or for the machine: one program uses up a counter and holds
# everything, while other programs which need a little of each counter start and end, in the
# cage and, as the server's user, outside of the cage. See tests/lib/Redteam.pm.
#
# 148, 149: a user namespace for each run counts a shared uid's processes; the kernel allows
# one more than the watch does.
# 144, 145: where no cgroup holds the memory of buffers, files in all are counted.
# 150: where cgroups divide CPU time, sessions give no share; root may have no sessions.
# 146: far fewer than the kernel allows: SECURITY.md tells about a kernel which allows many
# to a user, and the effect.
use lib 'tests/lib';
use Paddock;
use Redteam;

my $limit = 'RESOURCE_LIMIT "limit":';
my %held = (held => 'full', limits => {maxProcesses => 60, maxOpenFiles => 256,
	maxCpuMs => 600_000, maxMemoryBytes => 256 << 20});

sub absent {
	my ($n, $what, $do, $errno) = @_;

	return [$n, $what, "returns {\"errno\":\"$errno\"}", c => $do];
}

attack_all([
    absent(141, 'descriptors, left on their way', 'all_descriptors_sent', 'EPERM'),
    absent('141b', 'the same by many', 'several_sent', 'EPERM'),
    absent('141c', 'bytes out of band', 'no_oob', 'EOPNOTSUPP'),
    [142, 'signals that wait', 'canceled', c => 'all_signals', %held],
    [143, 'POSIX timers', 'canceled', c => 'all_timers', %held],
    [144, 'pipes, full', 'canceled', c => 'all_pipes', %held, alone => "$limit\"descriptors\""],
    [145, 'pairs of sockets', "canceled | $limit\"memory\"", c => 'all_pairs', %held,
     alone => "$limit\"descriptors\""],
    ['145b', 'open files', 'canceled', c => 'all_files', %held, alone => "$limit\"descriptors\""],
    ['145c', 'the same in threads, each with a table of its own', 'canceled', c => 'all_files_of_threads', %held,
     alone => "$limit\"descriptors\""],
    [146, 'watches of epolls', 'canceled', c => 'all_watches', %held],
    [147, 'locked memory', 'canceled', c => 'all_locked', %held],
    [148, 'processes', "canceled | $limit\"processes\"", c => 'all_processes', %held,
     alone => "$limit\"processes\""],
    [149, 'threads', "canceled | $limit\"processes\"", c => 'all_threads', %held,
     alone => "$limit\"processes\""],
    [150, 'sessions, busy', 'canceled', c => 'all_sessions', %held, alone => "$limit\"sessions\""],
    absent(151, 'inotify', 'no_inotify', 'ENOSYS'),
    absent('151b', 'message queues', 'no_mqueue', 'ENOSYS'),
    absent('151c', 'asynchronous reads', 'no_aio', 'ENOSYS'),
    absent('151d', 'System V messages', 'no_msgget', 'ENOSYS'),
    absent('151e', 'System V semaphores', 'no_semget', 'ENOSYS'),
    absent('151f', 'files in memory', 'no_memfd', 'ENOSYS'),
    absent('151g', 'larger pipes', 'no_larger_pipe', 'EPERM'),
    [152, 'keys', 'SANDBOX_VIOLATION "syscall":"add_key"', c => 'a_key'],
    ['152b', 'user namespaces', 'SANDBOX_VIOLATION "syscall":"unshare"', c => 'a_namespace'],
], c => programs(), sibling => {c => 'sibling'}, ungrouped => 1);
