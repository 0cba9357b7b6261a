#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A server that cannot run programs says so by itself: the server starts a program when
# it is ready, and tries again until a program runs. The test makes the groups of runs
# read-only, in mounts of the server's own.
use lib 'tests/lib';
use Paddock;
use Http;
use Test::More;
use File::Copy qw(copy);

plan skip_all => 'only root has mounts and groups of its own' if !as_root();
my $version = first_line('/sys/fs/cgroup/cgroup.controllers') ? 2 : 1;
my $tree = $version == 2 ? '/sys/fs/cgroup' : '/sys/fs/cgroup/pids';

sub first_line { open my $in, '<', $_[0] or return undef; return scalar <$in> }

# Make a worker program that begins once a file "go" is there, and leaves a file "waits".
sub slow_build {
	my ($root) = @_;
	my $dir = "$root/build";

	mkdir $dir;
	copy("$BUILD/paddockd", "$dir/paddockd") or die "copy: $!\n";
	write_file("$dir/paddock-worker", "#!/bin/sh\n: >$dir/waits\n" .
		   "until [ -e $dir/go ]; do\n" .
		   "kill -0 \$PPID 2>/dev/null || exit\nsleep 0.05\ndone\n" .
		   "exec $BUILD/paddock-worker \"\$@\"\n");
	chmod 0755, $dir, "$dir/paddockd", "$dir/paddock-worker";
	return $dir;
}

# Cover the groups by a mount that is read-only, or take the mount away.
sub groups {
	my ($s, $how) = @_;
	my @do = $how eq 'ro' ? ("mount --bind $tree $tree && mount -o remount,bind,ro $tree") : ("umount $tree");

	return system('nsenter', '-t', $s->{pid}, '-m', 'sh', '-c', @do) == 0;
}

sub ready_of { return $_[0]->fetch(GET => '/readyz') }
sub sh { return {program => "#!/bin/sh\n$_[0]"} }

my @mounts = (wrap => [qw(unshare --mount --propagation private)]);
my $s = Http->new(templates => {calc => lua('return 1'), prog => sh('echo 1')}, @mounts, idle => 1);
my $go = slow_build($s->{root});
my $all = qr/no program can be run: no cgroup can be made for a run: Read-only file system; start paddockd as root, or in a systemd unit with Delegate=yes/;

# No program can be run from the start on, and nobody asks for one.
$s->{build} = $go;
$s->start;
ok(until_true('its worker', sub { -e "$go/waits" }), 'a server, which has made its groups');
ok(groups($s, 'ro'), 'the groups become read-only before the server is ready');
write_file("$go/go", '');
$s->ready;
$s->port;
ok($s->log_has(qr/part=programs run=no why="no cgroup can be made/), 'the server finds that no program can be run');
my $r = ready_of($s);
is($r->{status}, 200, 'a server with a template for Lua is ready');
like($r->{json}{warning}, $all, 'readyz says which templates do not run, with the reason');
my $c = $s->client->greeted;
my ($row) = grep { $_->{name} eq 'programs that can be run' } $c->tool('get_runtime_profile')->{view}{health}{checks}->@*;
is($row->{verdict}, 'warning', 'the profile has it');
my $refused = $c->tool('run_task_template', {templateId => 'prog', inputs => {}, options => {mode => 'sync'}});
is($refused->{view}{errorCode}, 'ISOLATION_TOO_WEAK', 'a run of a program is refused');
like($refused->{view}{error}, qr/no cgroup can be made/, 'in the words of the cause');
is($c->run_sync('calc')->{status}, 'succeeded', 'another runs');

ok(groups($s, 'rw'), 'the groups are writable again');
ok(until_true('it to look again', sub { !defined ready_of($s)->{json}{warning} }), 'the server sees the writable groups without a reload');
is($c->run_sync('prog')->{status}, 'succeeded', 'programs run in the writable groups');

# The groups break while the server serves: the first run to fail causes a trial.
ok(groups($s, 'ro'), 'the groups are read-only once more');
is($c->run_sync('prog')->{error}{errorCode}, 'WORKER_CRASHED', 'a run meets that');
ok(until_true('it to be told', sub { (ready_of($s)->{json}{warning} // '') =~ $all }), 'readyz tells of the groups after a failed run');
$s->stop;

# A server of programs alone is not ready then.
my $only = Http->new(templates => {prog => sh('echo 1')}, @mounts);
ok(groups($only, 'ro'), 'a server of programs alone');
$only->client->greeted->run_sync('prog');
# Groups may break during the first trial; the next trial of a program has the cause.
ok(until_true('it not to be ready', sub { my $r = ready_of($only); $r->{status} == 503 && $r->{json}{reason} =~ $all }),
   'a server of programs alone is not ready, with the reason');
ok(groups($only, 'rw'), 'mended');
ok(until_true('it to be ready', sub { ready_of($only)->{status} == 200 }), 'a server of programs is ready in writable groups');
$only->stop;
done_testing;
