#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Attempts of a run to end, stop or outlive other processes. See tests/lib/Redteam.pm.
#
# 93: the shim is PID 1, which receives from within only signals with a handler. 94: a
# stopped process has its deadline all the same.
# 98: a SIGSYS sent by the program is a crash by the signal, and no violation: only the
# kernel's report, with the name of the call, is a violation.
# 99: runs wait while a zygote is restarted.
use lib 'tests/lib';
use Paddock;
use Redteam;

sub kill_zygotes {
	my ($s) = @_;
	my @wrong;

	for my $n (1 .. 3) {
		my @zygotes = $s->zygotes;

		kill KILL => @zygotes;
		my $v = $s->run_sync('sibling', {n => 20});
		push @wrong, "after $n times: " . json_of($v)
		    unless $v->{status} eq 'succeeded';
		until_true('them to be gone', sub { !grep { alive($_) } @zygotes });
	}
	return @wrong;
}

sub not_a_violation {
	my ($s, $v) = @_;

	return ($v->{error}{errorCode} // '') eq 'SANDBOX_VIOLATION' ? 'it is believed' : ();
}

my %brief = (limits => {maxTimeoutMs => 400});

attack_all([
    [92, 'SIGKILL to all', 'returns 1', c => 'kill_all'],
    [93, 'SIGKILL to the shim', 'returns 1', c => 'kill_parent'],
    ['93b', 'SIGQUIT to the shim, which ends its run', 'returns 1 | EXECUTION_ERROR SIGQUIT', sh => 'kill -QUIT 1 2>&- && sleep 99; echo 1'],
    [94, 'SIGSTOP to itself', 'RUN_TIMEOUT', c => 'stop_self', %brief],
    ['94b', 'cancelled when stopped', 'canceled', limits => {cancelGraceMs => 100}, cancel => 'stopped',
     sh => 'echo \'{"progress":{"done":0,"total":1,"message":"stopped"}}\' >&3; kill -STOP $$'],
    [95, 'daemons that hold the output', 'returns 1 | RUN_TIMEOUT', c => 'daemons', limits => {maxTimeoutMs => 1000}],
    ['95b', 'a daemon that holds nothing', 'returns 1', c => 'quiet_daemons'],
    [96, 'SIGIO to the shim', 'returns {"errno":"ENOSYS"} | returns {"errno":"EPERM"}', c => 'set_own'],
    ['96b', 'a signal of its choice', 'returns {"errno":"ENOSYS"} | returns {"errno":"EPERM"}', c => 'set_sig'],
    ['96c', 'a lease', 'returns {"errno":"ENOSYS"} | returns {"errno":"EPERM"}', c => 'lease'],
    ['96d', 'news of a folder', 'returns {"errno":"ENOSYS"} | returns {"errno":"EPERM"}', c => 'notify'],
    [97, 'a flood of timers', 'returns {"errno":"EAGAIN"} | RESOURCE_LIMIT "limit":"cpu"', c => 'timers',
     limits => {maxCpuMs => 1000}],
    ['97b', 'a storm of children', 'RESOURCE_LIMIT "limit":"cpu"', c => 'storm', limits => {maxCpuMs => 300}],
    [98, 'SIGSYS to itself', 'WORKER_CRASHED SIGSYS', c => 'fake', also => \&not_a_violation],
    ['98b', 'the exit status of SIGSYS', 'EXECUTION_ERROR', c => 'fake_exit', also => \&not_a_violation],
    ['98c', 'SIGSYS with the number of a call', 'WORKER_CRASHED SIGSYS', c => 'fake_queue', also => \&not_a_violation],
    [99, 'zygotes that die', 'returns 1', lua => 'return 1', also => \&kill_zygotes],
], c => programs());
