#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A program's signals to the shim do not block the server's signals: a pending signal takes
# the place of the next. Where Landlock has no signals, as on the machine simulated by
# deny.c, a program may send signals.
use lib 'tests/lib';
use Paddock;
use Cage;

my $deny = Paddock::fresh_root() . '/deny';

compile('lib/deny.c', $deny, '-lseccomp') or BAIL_OUT('deny.c cannot be built');

sub perl { return "#!/usr/bin/perl\n\$| = 1;\n$_[0]\n" }

my %limits = (maxCpuMs => 60000, maxTimeoutMs => 60000, cancelGraceMs => 8000);
my %templates = (
    quits => {program => perl('my @t; do { @t = times } while $t[0] + $t[1] < 0.4; kill QUIT => 1; sleep 99'),
	      limits => \%limits},
    terms => {program => perl('my $on = 1; $SIG{TERM} = sub { $on = 0 }; print STDERR qq(begun\n);' .
			      ' while ($on) { kill TERM => 1; select undef, undef, undef, 0.02 } print STDERR qq(heard\n)'),
	      limits => \%limits},
);

sub status_of {
	open my $f, '<', "/proc/$_[0]/status" or return '';
	local $/;
	return <$f> // '';
}

sub waits { # a SIGTERM, for PID
	return hex((status_of($_[0]) =~ /^ShdPnd:\s*(\w+)/m)[0] // 0) & 1 << POSIX::SIGTERM() - 1;
}

for my $user (as_root() ? (undef, 65534) : (undef)) {
	my $who = defined $user ? 'a user' : as_root() ? 'root' : 'this user';
	my $s = Paddock->new(templates => \%templates, user => $user, wrap => [$deny, 'landlock', '--']);

	$s->init;
	my $v = $s->run_sync('quits');
	like($v->{error}{message}, qr/SIGQUIT to process 1/, "$who: a program that ends its shim ends its run");
	my $ms = $s->log_has(qr/run=\Q$v->{runId}\E .* cpu_ms=(\d+)/);
	cmp_ok($ms, '>=', 350, "$who: a program that ends its shim is charged");

	my $id = $s->run_async('terms', {});
	$s->log_has(qr/run=\Q$id\E .*msg="begun"/);
	my $shim = $s->worker_pid($id);
	kill STOP => $shim;
	until_true('its own SIGTERM to wait', sub { waits($shim) });
	$s->tool(cancel_task_run => {runId => $id});
	kill CONT => $shim;
	ok($s->log_has(qr/run=\Q$id\E .*msg="heard"/), 'a waiting SIGTERM of the program keeps no cancel away');
	ok(until_true('the end', sub { $s->get($id)->{status} eq 'canceled' }), 'the cancel ends the program');
	$s->stop;
}
done_testing;
