#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The isolation of runs on this machine: measured, reported, and never silently weaker.
# deny.c simulates a machine with denied system calls.
use lib 'tests/lib';
use Paddock;
use Cage;

my @levels = qw(none restricted container userns full);
my %rank = map { $levels[$_] => $_ } 0 .. $#levels;
my %templates = (
    echo => lua('return inputs', trustLevelSupport => ['local']),
    doze => lua('run.progress(0, 1, "dozing") while true do run.sleep(60000) end'),
);
my $deny = Paddock::fresh_root() . '/deny';
my $have_deny = compile('lib/deny.c', $deny, '-lseccomp');

ok($have_deny, 'tests/lib/deny.c is built');

sub server {
	my ($what, %o) = @_;

	return Paddock->new(templates => \%templates, %o,
			    $what ? (wrap => [$deny, split(' ', $what), '--']) : ());
}

# The isolation in the start line of the log: {level, missing, why}.
sub measured {
	my ($s) = @_;

	my ($level, $missing, $why) = $s->log_has(
	    qr/part=server isolation=(\w+) .*missing="([^"]*)" why="(.*)"$/m)
	    or return {};
	return {level => $level, missing => [split ' ', $missing], why => $why};
}

# The server must exit with 69 before serving; the log.
sub refuses {
	my ($s, $text, $name) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	$s->request('ping');
	my $status = $s->wait_exit;
	is(defined $status ? $status >> 8 : undef, 69, "$name: exit 69");
	is($s->{lines} // 0, 0, "$name: nothing was served");
	like($s->log_text, $text, "$name: the log says why");
	$s->close_stdin;
	ok(strays_gone(), "$name: nothing is left");
}

# ---- each way to start: what is missing, and what that leaves ----

my @ns = qw(userns netns ipcns utsns mntns);
my @ways = ( # what is forbidden, what must be missing, the best level left,
	     # an ordinary user needs a user namespace
    ['', [], 'full', 'userns'],
    ['userns', ['userns'], 'container', 'restricted'],
    ['namespaces', [@ns], 'container', 'restricted'],
    ['landlock', ['landlock'], 'userns', 'userns'],
    ['userns landlock', [qw(userns landlock)], 'restricted', 'restricted'],
    ['namespaces landlock', [@ns, 'landlock'], 'restricted', 'restricted'],
);
my @by_userns = (@ns, qw(capabilities root uid));
my @users = as_root() ? (['root', undef], ['nobody', $NOBODY]) : (['this user', undef]);
my %base; # by user: what this machine can

for (@users) {
	my ($who, $user) = @$_;

	for (@ways) {
		my ($what, $missing, $best, $worse) = @$_;
		my $name = $what ? "$who without $what" : $who;
		my $s = server($what, user => $user);
		my $ordinary = !as_root() || defined $user;
		my @may = (@$missing, $ordinary && $what =~ /userns|namespaces/ ? @by_userns : ());

		ok($s->init, "$name: serves") or next;
		$best = $worse if $ordinary;
		my $m = measured($s);
		my %lacks = map { $_ => 1 } @{$m->{missing}};
		my $view = $s->tool('get_runtime_profile')->{view}{isolation};
		my $run = $s->run_sync(echo => {a => 1});

		$base{$who} //= $m;
		is(scalar(grep { !$lacks{$_} } @$missing), 0,
		   "$name: what is forbidden is missing") || diag("@{$m->{missing}}");
		is(scalar(grep { my $l = $_; !grep { $_ eq $l } @may,
				 @{$base{$who}{missing}} } keys %lacks), 0,
		   "$name: and nothing else is") || diag("@{$m->{missing}}");
		cmp_ok($rank{$m->{level}}, '<=', $rank{$best},
		       "$name: $m->{level}, $best at the best");
		cmp_ok($rank{$m->{level}}, '>=', $rank{restricted},
		       "$name: less is not served");
		ok(!$what || $m->{why} =~ /\(.+\)/,
		   "$name: the log says what would help") || diag($m->{why});
		is($view->{level}, $m->{level}, "$name: get_runtime_profile says so");
		same_json([sort @{$view->{missing}}], [sort @{$m->{missing}}],
			  "$name: with all that is missing");
		ok($lacks{landlock} ? $view->{landlockAbi} == 0
				    : $view->{landlockAbi} > 0, "$name: landlockAbi");
		same_json($run->{isolation}, $view, "$name: each run says so, too");
		is($run->{status}, 'succeeded', "$name: and runs");
		$s->stop("$name: ends cleanly");
	}
}

# ---- no filter, no service ----

refuses(server('seccomp'), qr/^paddockd: .*seccomp.*/m, 'a kernel without seccomp');
refuses(server('filters'), qr/^paddockd: .*seccomp.*/m, 'one without filters');
refuses(server('seccomp', user => $ORDINARY), qr/^paddockd: .*seccomp.*/m,
	'nobody, without seccomp') if as_root();
refuses(server('seccomp', args => ['--require-isolation', 'restricted']),
	qr/^paddockd: this kernel has no seccomp, so nothing can be run/m, 'no seccomp, though little isolation is required');

# ---- what is required ----

my ($first) = map { $base{$_->[0]} } @users;

for my $level (@levels[1 .. 4]) {
	my @args = (args => ['--require-isolation', $level]);

	if ($rank{$first->{level}} >= $rank{$level}) {
		my $s = server('', @args);

		ok($s->init, "--require-isolation $level is met by $first->{level}");
		$s->stop;
	} else {
		my ($lack) = @{$first->{missing}};

		refuses(server('', @args), qr/but $level is required, which lacks [^(]*\b\Q$lack\E\b/,
			"--require-isolation $level is not met by $first->{level}");
	}
}
refuses(server('userns', args => ['--require-isolation', 'userns']),
	qr/but userns is required, which lacks [^(]*\buserns\b[^(]* \(.+\)/,
	'a required user namespace');
refuses(server('landlock', args => ['--require-isolation', 'container']),
	qr/but container is required, which lacks landlock /, 'a required Landlock')
    if $rank{measured_level('landlock')} < $rank{container};
refuses(server('namespaces landlock', args => ['--require-isolation', 'userns']),
	qr/but userns is required, which lacks [^(]*userns[^(]*netns/, 'all of that');
refuses(server('userns', config => "[sandbox]\nrequire_isolation = userns\n"),
	qr/but userns is required, which lacks [^(]*\buserns\b/, 'required by the configuration');
{
	my $s = server('userns', config => "[sandbox]\nrequire_isolation = userns\n",
		       args => ['--require-isolation', 'restricted']);

	ok($s->init, 'where a flag goes before');
	$s->stop;
	$s = server('', args => ['--require-isolation', 'utter']);
	is($s->wait_exit >> 8, 2, 'an unknown level is a wrong flag');
	like($s->log_text, qr/full, userns, container or restricted/, 'the refusal of an unknown level names the levels');
	$s->close_stdin;
}

sub measured_level {
	my ($what) = @_;
	my $s = server($what);
	my $level = measured($s)->{level};

	$s->stop("measured without $what");
	return $level;
}

# ---- what the doctor says to an ordinary user who gets no namespace ----

{
	my $root = Paddock::fresh_root($ORDINARY);
	my @low = defined $ORDINARY ? ('setpriv', "--reuid=$ORDINARY", "--regid=$ORDINARY",
				     '--clear-groups', '--') : ();
	open my $out, '-|', 'env', '-i', "PATH=$ENV{PATH}", "HOME=$root", @low, $deny,
	    'namespaces', '--', "$BUILD/paddock", 'doctor' or die "doctor: $!\n";
	my $told = join '', <$out>;

	close $out;
	like($told, qr/^isolation +restricted$/m, 'the doctor tells the level');
	like($told, qr/^programs +refused$/m, 'doctor tells that programs are refused');
	like($told, qr/^missing +$_: \S/m, "doctor tells what would help $_") for @by_userns;
	unlike($told, qr/please report/, 'all of which is known');
}

# ---- a worker, seen from outside ----

SKIP: {
	skip_lacking(1, 'root');
	my $s = server('', env => {PADDOCK_TEST_SECRET => 'in the environment'})->greeted;
	my $run;

	$run = $s->run_async('doze');
	$s->saying($run, 'dozing');
	my $other = $s->run_async('doze');
	$s->saying($other, 'dozing');
	my ($pid, $pid2) = map { $s->worker_pid($_) } $run, $other;
	my ($zygote) = $s->zygotes;
	my $become = 1 << 6 | 1 << 7; # CAP_SETGID, CAP_SETUID
	for (['a worker', $pid], ['the zygote', $zygote]) {
		my ($name, $p) = @$_;
		my $status = read_file("/proc/$p/status");

		like($status, qr/^Seccomp:\s+2$/m, "$name has a filter");
		like($status, qr/^NoNewPrivs:\s+1$/m, "$name gains no privileges");
		unlike($status, qr/^Uid:\s+0\s/m, "$name is not root");
		is(hex(($status =~ /^CapPrm:\s+(\w+)/m)[0]) & ~$become, 0,
		   "$name may at most become another user");
		is(read_file("/proc/$p/environ"), '', "$name has no environment");
		isnt(readlink "/proc/$p/ns/$_", readlink "/proc/self/ns/$_",
		     "$name is in another $_ namespace") for qw(user net ipc uts mnt);
	}
	my $status = read_file("/proc/$pid/status");
	like($status, qr/^Cap$_:\s+0+$/m, "a worker has no Cap$_")
	    for qw(Inh Prm Eff Bnd Amb);
	same_json([map { s{.*/}{}r } glob "/proc/$pid/fd/*"], [qw(0 1 2 3)],
		  'a worker has four descriptors');
	is(scalar(grep { readlink("/proc/$pid/fd/$_") eq '/dev/null' } 0 .. 2), 3,
	   'three of which are nothing');
	like(readlink "/proc/$pid/fd/3", qr/^socket:/, 'a descriptor of a worker is the run\'s socket');
	same_json([glob "/proc/$pid/root/*"], [], 'a worker\'s root is empty');
	is($s->{pid}, Paddock::stat_of($pid)->{ppid}, 'a worker\'s parent is the supervisor');
	my ($uid) = $status =~ /^Uid:\s+(\d+)/m;
	my ($uid2) = read_file("/proc/$pid2/status") =~ /^Uid:\s+(\d+)/m;
	isnt($uid, $uid2, 'another worker is another user')
	    unless grep { $_ eq 'uid' } @{$first->{missing}};
	unlike(read_file("/proc/$pid/maps"), qr{paddockd}, 'nothing of the supervisor ' .
	       'is mapped');
	$s->stop;

	$s = Paddock->new(templates => {waits => {program =>
	    "#!/bin/bash\necho '{\"progress\":{\"done\":0,\"total\":1,\"message\":\"here\"}}' >&3\nsleep 60\n"}});
	$s->init;
	$run = $s->run_async('waits');
	skip uncaged('programs are not caged here'), 1 unless $run;
	$s->saying($run, 'here');
	my $shim = $s->worker_pid($run);
	my ($program) = Paddock::children_of($shim);
	for (['its shim', $shim], ['a program', $program]) {
		my ($name, $p) = @$_;

		$status = read_file("/proc/$p/status");
		like($status, qr/^Seccomp:\s+2$/m, "$name has a filter");
		like($status, qr/^NoNewPrivs:\s+1$/m, "$name gains no privileges");
		like($status, qr/^Cap$_:\s+0+$/m, "$name has no Cap$_")
		    for qw(Inh Prm Eff Bnd Amb);
	}
	isnt(readlink "/proc/$shim/ns/$_", readlink "/proc/self/ns/$_",
	     "a program's processes are in another $_ namespace") for qw(user net ipc uts mnt);
	is((stat "/proc/$shim/environ")[4], 0, 'the shim cannot be dumped');
	$s->stop;
}

done_testing;
