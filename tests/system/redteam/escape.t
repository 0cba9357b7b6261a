#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Attempts of a program to reach outside of the cage. See tests/lib/Redteam.pm.
#
# Three answers are right: a violation, which ends the run and names the call; an errno
# known to C libraries, for calls which programs try innocently (ENOSYS for practically
# missing calls); or the file is invisible.
# 53, 78: the shim is not in /proc: hidepid.
# 55 - 57: only plain files become artifacts; FIFOs and links are not opened.
# 63, 64: calls of other architectures are SIGSYS without a name, so the crash cannot be
# told from a signal sent by the program: see 98.
# 88 is in leaks_attacks.t.
# 80: a planted file is in the program's own file systems, and goes with the file systems.
use lib 'tests/lib';
use Paddock;
use Digest::SHA;
use Redteam;

my $hash = sub { Digest::SHA->new(256)->addfile('/usr/bin/env')->hexdigest };
my $env = $hash->();

sub env_same { return $hash->() eq $env ? () : '/usr/bin/env has changed' }

sub violation {
	my ($n, $what, $call, $syscall) = @_;

	return [$n, $what, 'SANDBOX_VIOLATION "syscall":"' . ($syscall // $call) . '"',
		c => $call];
}

sub refused_as {
	my ($n, $what, $call, $errno) = @_;

	return [$n, $what, join(' | ', map { "returns {\"errno\":\"$_\"}" } split ' ', $errno),
		c => $call, also => \&env_same];
}

sub no_artifacts {
	my ($s, $v) = @_;
	my @names = map { $_->{name} } @{$v->{artifacts} // []};

	return @names ? "artifacts: @names" : ();
}

attack_all([
    violation(51, 'ptrace of the shim', 'ptrace'),
    violation('51b', 'ptrace of itself', 'ptrace_traceme', 'ptrace'),
    violation(52, 'process_vm_readv', 'process_vm_readv'),
    violation('52b', 'process_vm_writev', 'process_vm_writev'),
    violation('52c', 'pidfd_getfd', 'pidfd_getfd'),
    violation('52d', 'kcmp', 'kcmp'),
    refused_as(53, 'the memory of the shim', 'shim_mem', 'ENOENT'),
    refused_as('53b', 'the root of the shim', 'shim_root', 'ENOENT'),
    refused_as('53c', 'the socket of the shim', 'shim_fd', 'ENOENT'),
    refused_as(54, '../../../etc/shadow', 'shadow', 'ENOENT'),
    [55, 'links as artifacts', 'returns 1', also => \&no_artifacts,
     sh => 'ln -s /etc/passwd out/a; ln -s /proc/self/environ out/b; ln -s .. out/c; echo 1'],
    ['55b', 'a link named as an artifact', 'EXECUTION_ERROR symbolic link', also => \&no_artifacts,
     sh => 'ln -s /etc/ld.so.cache x; echo \'{"artifact":{"id":1,"path":"x"}}\' >&3; read -r a <&4; echo 1'],
    ['55c', 'a path out of /work as an artifact', 'EXECUTION_ERROR out of /work', also => \&no_artifacts,
     sh => 'echo \'{"artifact":{"id":1,"path":"../usr/bin/env"}}\' >&3; read -r a <&4; echo 1'],
    [56, 'a FIFO as an artifact', 'returns 1', also => \&no_artifacts,
     sh => 'mkfifo out/f; echo 1'],
    ['56b', 'a FIFO named as an artifact', 'EXECUTION_ERROR not a plain file', also => \&no_artifacts,
     sh => 'mkfifo f; echo \'{"artifact":{"id":1,"path":"f"}}\' >&3; read -r a <&4; echo 1'],
    [57, 'set-id artifacts', 'EXECUTION_ERROR', also => \&no_artifacts,
     sh => 'cp /bin/true out/t; chmod 6755 out/t; echo 1'],
    refused_as(58, 'a device', 'mknod', 'EPERM ENOSYS'),
    violation(59, 'a user namespace', 'unshare'),
    violation('59b', 'another namespace', 'setns'),
    violation(60, 'mount', 'mount'),
    violation('60b', 'umount', 'umount', 'umount2'),
    violation('60c', 'pivot_root', 'pivot_root'),
    violation('60d', 'fsopen', 'fsopen'),
    violation('60e', 'open_tree', 'open_tree'),
    violation('60f', 'move_mount', 'move_mount'),
    violation('60g', 'mount_setattr', 'mount_setattr'),
    [61, 'set-id programs', 'returns {"noNewPrivs":1,"nosuid":[1,1]}', c => 'setid'],
    refused_as(62, 'memfd_create, to execute it', 'memfd_create', 'ENOSYS'),
    violation('62b', 'memfd_secret', 'memfd_secret'),
    [63, 'a call of x32', 'WORKER_CRASHED SIGSYS', c => 'x32'],
    [64, 'int 0x80', 'WORKER_CRASHED SIGSYS', c => 'int80'],
    refused_as(65, 'clone3 of a user namespace', 'clone3_user', 'ENOSYS'),
    refused_as(66, 'clone of a sibling', 'clone_parent', 'EPERM'),
    refused_as('66b', 'clone of a user namespace', 'clone_user', 'EPERM'),
    refused_as('66c', 'clone of another, with high bits', 'clone_net', 'EPERM'),
    refused_as(67, 'TIOCSTI', 'tiocsti', 'EPERM ENOTTY ENOSYS'),
    refused_as('67b', 'TIOCSTI with high bits', 'tiocsti_high', 'EPERM ENOTTY ENOSYS'),
    refused_as(68, 'TIOCLINUX', 'tioclinux', 'EPERM ENOTTY ENOSYS'),
    refused_as(69, 'io_uring', 'io_uring', 'ENOSYS'),
    violation(70, 'bpf', 'bpf'),
    violation('70b', 'userfaultfd', 'userfaultfd'),
    violation('70c', 'perf_event_open', 'perf', 'perf_event_open'),
    violation(71, 'the persistent keyring', 'keyctl'),
    violation('71b', 'a key', 'add_key'),
    violation('71c', 'another key', 'request_key'),
    (map { refused_as("72$_->[0]", "a socket: $_->[1]", "socket_$_->[1]", 'EAFNOSUPPORT') }
     ['', 'inet'], ['b', 'inet6'], ['c', 'netlink'], ['d', 'vsock'], ['e', 'alg'], ['f', 'packet']),
    refused_as(73, 'a socket that others could meet', 'socket_unix', 'EAFNOSUPPORT'),
    refused_as('73b', 'bind', 'bind', 'ENOSYS'),
    refused_as('73c', 'connect', 'connect', 'ENOSYS'),
    refused_as('73d', 'a pair that is not of AF_UNIX', 'pair_inet', 'ENOSYS EAFNOSUPPORT'),
    refused_as('73e', 'shared memory of System V', 'shmget', 'ENOSYS'),
    refused_as('73f', 'a queue of System V', 'msgget', 'ENOSYS'),
    refused_as('73g', 'a queue of POSIX', 'mq_open', 'ENOSYS'),
    violation(74, 'open_by_handle_at', 'open_by_handle', 'open_by_handle_at'),
    violation('74b', 'name_to_handle_at', 'name_to_handle', 'name_to_handle_at'),
    refused_as(75, 'READ_IMPLIES_EXEC', 'personality', 'ENOSYS EPERM'),
    violation(76, 'a filter with a listener', 'seccomp'),
    refused_as('76b', 'a filter by prctl', 'set_seccomp', 'ENOSYS EPERM'),
    refused_as(77, 'splice into the page cache', 'splice', 'ENOSYS'),
    refused_as('77b', 'tee', 'tee', 'ENOSYS'),
    refused_as('77c', 'vmsplice', 'vmsplice', 'ENOSYS'),
    refused_as('77d', 'sendfile', 'sendfile', 'ENOSYS'),
    refused_as('77e', 'a file in /usr', 'usr', 'EROFS'),
    refused_as('77f', 'the mode of a file in /usr', 'usr_chmod', 'EROFS EPERM'),
    refused_as(78, 'its own program written', 'own_exe', 'EROFS ETXTBSY EACCES'),
    refused_as('78b', 'the program of the shim written', 'shim_exe', 'ENOENT'),
    refused_as('78c', 'sysrq', 'sysrq', 'ENOENT EROFS EACCES'),
    refused_as('78d', 'core_pattern', 'core_pattern', 'ENOENT EROFS EACCES'),
    refused_as('78e', 'the memory of the kernel', 'kcore', 'ENOENT EACCES EPERM'),
    refused_as('78f', 'control groups', 'cgroup', 'ENOENT'),
    [79, 'descriptors that leaked', 'returns {"fds":[0,1,2,3,4],"folders":0}', c => 'leaked'],
    [80, 'PATH and LD_PRELOAD planted', 'returns 1',
     sh => 'printf "#!/bin/sh\necho evil\n" >env; chmod 755 env; ' .
	 'export PATH=/work:$PATH LD_PRELOAD=$PWD/evil.so; echo 1 2>/dev/null',
     also => sub { my $v = $_[0]->run_sync('attack_79', {do => 'leaked'});
		   $v->{status} eq 'succeeded' ? () : 'the next run: ' . json_of($v) }],
    refused_as(81, 'PR_SET_DUMPABLE', 'set_dumpable', 'ENOSYS EPERM EINVAL'),
    refused_as('81b', 'PR_SET_PTRACER', 'set_ptracer', 'ENOSYS EPERM EINVAL'),
    refused_as('81c', 'PR_SET_MM', 'set_mm', 'ENOSYS EPERM EINVAL'),
    refused_as('81d', 'PR_SET_CHILD_SUBREAPER', 'set_subreaper', 'ENOSYS EPERM EINVAL'),
    refused_as('81e', 'setuid', 'setuid', 'EPERM'),
    refused_as('81f', 'setgroups', 'setgroups', 'EPERM'),
    refused_as('81g', 'chroot', 'chroot', 'EPERM'),
    refused_as('81h', 'the limits of the shim', 'prlimit_other', 'ENOSYS EPERM'),
    refused_as('81i', 'a better priority', 'priority', 'EPERM'),
    violation('81j', 'capset', 'capset'),
    violation('81k', 'sethostname', 'sethostname'),
    violation('81l', 'init_module', 'init_module'),
    violation('81m', 'kexec_load', 'kexec', 'kexec_load'),
    violation('81n', 'reboot', 'reboot'),
    violation('81o', 'clock_settime', 'settime', 'clock_settime'),
    violation('81p', 'syslog', 'syslog'),
    violation('81q', 'fanotify_init', 'fanotify', 'fanotify_init'),
    violation('81r', 'modify_ldt', 'modify_ldt'),
    violation('81s', 'iopl', 'iopl'),
], c => programs());
