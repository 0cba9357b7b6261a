#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A crash in a cage on a machine whose core_pattern is a program: the kernel must start no
# program for the crash, which would run as root, outside of the cage and with the run's
# memory on stdin. Machines with systemd-coredump are set so.
use lib 'tests/lib';
use Paddock;
use Cores;

needs('root');

my $cores = Cores->new(Paddock::fresh_root()) // plan(skip_all => 'no program is started for crashes here');
my $crash = 'perl -e \'$0 = "NAME"; kill SEGV => $$; sleep 9\'';

sub sh { my ($code) = @_; return {program => "#!/bin/sh\n$code\n"} }
sub crash { my ($name) = @_; return $crash =~ s/NAME/$name/r }

my %templates = (
    plain => sh(crash('pdkplain')),
    lowers => sh('ulimit -S -c 0; ulimit -c 0; ' . crash('pdklowers')),
    calls => {program => "#!/usr/bin/perl\n" . 'for my $r (4, 4 | 1 << 33) {
	syscall(302, 0, $r, pack("QQ", 0, 0), 0); syscall(302, 0, $r, pack("QQ", 0, 1), 0) }
	syscall(160, 4, pack("QQ", 0, 0)); $0 = "pdkcalls"; kill SEGV => $$; sleep 9' . "\n"},
    many => sh("for i in 1 2 3 4 5 6 7 8; do " . crash('pdkmany') . " & done; wait; exit 1"),
    others => sh('ulimit -n 20 && ulimit -t 3 && ulimit -s 4096 && echo true'),
    spins => lua('while true do end'),
);

sub told { my ($what) = @_; return $cores->is_told ? $cores->text =~ /^\d+ $what/m : 'nothing is told' }

for my $user (users()) {
	my ($who, $uid) = @$user;
	my $s = Paddock->new(templates => \%templates, user => $uid);

	$s->init;
	for my $name (sort grep { !/spins|others/ } keys %templates) {
		my $v = $s->run_sync($name);

		is($v->{status}, 'failed', "$who: $name crashes") or diag(json_of($v));
	}
	ok(!told('pdk'), "$who: nobody is started for a program that crashes") or diag($cores->text);
	is($s->run_sync('others')->{result}, true, "$who: a program may lower its other limits");

	my $run = $s->run_async('spins', {}, timeoutMs => 60_000);
	$s->get_until($run, 'runs', sub { $_->{status} eq 'running' });
	my %limits = map { $_ => 1 } core_limits_below($s->{pid});
	delete $limits{'0 unlimited'} if !defined $uid; # privsep's own, which runs nothing of a run's
	same_json([sort keys %limits], ['1 1'], "$who: every process has the one limit by which nobody is started");
	$s->tool(cancel_task_run => {runId => $run});
	$s->stop("$who: the server");
}
$cores->end;
unlike(read_file('/proc/sys/kernel/core_pattern'), qr/paddock-cores/, 'the pattern is as it was');

# The setting is restored when the test is killed, too.
my $before = read_file('/proc/sys/kernel/core_pattern');
my $dir = Paddock::fresh_root();
my $pid = fork // die "fork: $!\n";
if ($pid == 0) {
	my $c = Cores->new($dir);
	kill KILL => $$;
}
waitpid $pid, 0;
ok(until_true('the pattern', sub { read_file('/proc/sys/kernel/core_pattern') eq $before }), 'a killed test leaves the core_pattern as it was');
done_testing;
