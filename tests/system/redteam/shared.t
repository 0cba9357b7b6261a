#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Attacks of a program through resources shared by all runs: the kernel, the files of the
# host, and the shim. See tests/lib/Redteam.pm.
#
# 123, 124: a watch on /usr/bin would show the programs started on the machine; a lone
# datagram socket has a name to which other runs could send.
# 125: the machine's reserve of huge pages is in no limit of memory.
# 128: only the server can ask the shim to end.
# 131: a call is refused even if the caller is killed before the shim looks.
# 135: descriptors cannot be sent; the kernel counts descriptors in flight against all
# processes of a user.
use lib 'tests/lib';
use Paddock;
use Digest::SHA;
use Redteam;

sub env_hash { return Digest::SHA->new(256)->addfile('/usr/bin/env')->hexdigest }

my $env = env_hash();

sub fails {
	my ($n, $what, $do, $errno) = @_;

	return [$n, $what, join(' | ', map { "returns {\"errno\":\"$_\"}" } split ' ', $errno),
		c => $do, also => sub { env_hash() eq $env ? () : '/usr/bin/env has changed' }];
}

# The name is one line of text, wherever shown.
sub plain_name {
	my ($s, $v) = @_;
	my $comm = $v->{error}{details}{process}{comm} // '';

	return $comm =~ /[\x00-\x1f]/ && $comm !~ /\x1b/ ? "the name is $comm" :
	    $s->log_text =~ /\x1b/ ? 'the log has an escape' : ();
}

# The host tries the same locks while the attack holds locks.
sub host_locks {
	my ($s) = @_;
	my $run = $s->run_async('attack_160', {hold => 1});
	my @wrong;

	$s->saying($run, 'holds them');
	for ('/usr/bin/env', '/etc/ld.so.cache', '/usr/bin', glob("$s->{root}/templates/attack_160-*"), '/etc/ssl') {
		sysopen my $f, $_, 0 or next;
		flock($f, 2 | 4) or push @wrong, "a run has $_ locked"; # LOCK_EX, LOCK_NB
	}
	$s->tool(cancel_task_run => {runId => $run});
	$s->ended($run);
	return @wrong;
}

my @timed = qw(/dev/null /dev/zero /dev/full /dev/random /dev/urandom /etc/ld.so.cache);
sub times_now { return map { my @st = stat $_; "$_ $st[8] $st[9]" } @timed }
my @times = times_now();

sub same_times {
	return grep { my $t = $_; !grep { $_ eq $t } @times } times_now();
}

attack_all([
    fails(123, 'who starts which program', 'watch_programs', 'ENOSYS'),
    fails(124, 'a socket that gets a name', 'lone_socket', 'ENOSYS'),
    fails('124b', 'another', 'raw_socket', 'ENOSYS'),
    fails(125, 'huge pages', 'huge_pages', 'ENOMEM'),
    fails(126, 'pages merged with those of others', 'merge_pages', 'ENOSYS EINVAL'),
    fails(127, 'a page of a file, by its own memory', 'shared_page', 'EROFS'),
    [128, 'every signal to the shim, in every way', 'returns 1', c => 'signals_to_shim'],
    ['128b', 'a SIGTERM to the shim by a last will', 'returns 1', c => 'last_signal'],
    [129, 'many violations at once', 'SANDBOX_VIOLATION "syscall":"keyctl"', c => 'all_reported'],
    [130, 'a violation by whose name more is said', 'SANDBOX_VIOLATION "syscall":"keyctl"',
     c => 'odd_name', also => \&plain_name],
    [131, 'violations of who is gone', 'returns 1 | SANDBOX_VIOLATION "syscall":"keyctl"',
     c => 'gone_reported'],
    [132, 'pipes of another kind', 'returns [1,2]', c => 'odd_pipes'],
    [133, 'answers that nobody can have', 'returns 1', c => 'no_answers'],
    fails(134, 'its limits raised', 'raise_limits', 'EPERM'),
    fails(135, 'sockets in sockets', 'sockets_in_sockets', 'EPERM'),
    fails(136, 'a program without a name', 'nameless_program', 'EACCES'),
    fails(137, 'to be the last that is killed for memory', 'last_victim', 'EROFS'),
    fails(138, 'the namespaces around its own', 'outer_namespace', 'ENOTTY'),
    ['139b', 'signals for descriptors of a device, which are in one list of the machine', 'returns {"errno":"EPERM"}',
     c => 'device_signals'],
    [139, 'calls that are new', 'returns "none"', c => 'new_calls'],
    [160, 'locks on files of the host', 'returns 1', also => \&host_locks, sh => <<'SH'],
exec 5</usr/bin/env 6</etc/ld.so.cache 7</usr/bin 8</template 9</etc/ssl
for fd in 5 6 7 8 9; do flock -n $fd; done
echo '{"progress":{"done":0,"total":1,"message":"holds them"}}' >&3
read -r inputs; case $inputs in *hold*) sleep 60 ;; esac
echo 1
SH
    [161, 'the times of devices and files', 'returns "none"', also => \&same_times, sh => <<'SH'],
did=
for f in /dev/null /dev/zero /dev/full /dev/random /dev/urandom /usr/bin/env /etc/ld.so.cache / /dev; do
	touch -c $f 2>/dev/null && did+="touch $f "
	touch -c -d @1 $f 2>/dev/null && did+="set $f "
done
: >/dev/null; head -c 9 /dev/zero /dev/urandom >/dev/null; cat /usr/bin/env >/dev/null
echo "\"${did:-none}\""
SH
    [140, 'devices', 'returns "full null random shm urandom zero"',
     sh => 'cd /dev; set -- $(ls | grep -v -e ^fd$ -e ^std); echo "\"$*\""'],
], c => programs());
