#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The CPU time of a program's processes is counted and limited, with and without a waiting
# parent, for every end of the run; with cgroups, which count, and without.
use lib 'tests/lib';
use Paddock;

sub perl { return "#!/usr/bin/perl\n$_[0]\n" }

my $burn = 'sub burn { my @t = times; my $end = $t[0] + $t[1] + $_[0]; do { @t = times } while ($t[0] + $t[1] < $end) }';
my %templates = (
    # children which end by themselves, unreaped, so no parent gets their CPU time
    unwaited => {program => perl("$burn \$SIG{CHLD} = 'IGNORE'; <STDIN>;" .
				 ' for (1 .. 60) { my $pid = fork; if (!$pid) { burn(0.45); exit } select undef, undef, undef, 0.5; } print 1'),
		 limits => {maxCpuMs => 2000, maxTimeoutMs => 60000}},
    # several at a time, each started while others run, so the sum hardly falls
    staggered => {program => perl("$burn \$SIG{CHLD} = 'IGNORE'; <STDIN>;" .
				  ' for (1 .. 25) { my $pid = fork; if (!$pid) { burn(0.3); exit } select undef, undef, undef, 0.1; }' .
				  ' 1 while wait > 0; print 1'),
		  limits => {maxCpuMs => 60_000, maxTimeoutMs => 60_000}},
    # the same, of which no look sees more than a part: on a busy machine a tenth is charged
    (map { my ($how, $ignore) = @$_; ("brief_$how" => {program => perl("$burn $ignore; <STDIN>;" .
	    ' for (1 .. 600) { my $pid = fork; if (!$pid) { burn(0.01 + 0.04 * rand); exit } wait } print 1'),
						       limits => {maxCpuMs => 300, maxTimeoutMs => 120_000}}) }
	 [ignored => q($SIG{CHLD} = 'IGNORE')],
	 [flagged => 'use POSIX; sigaction(SIGCHLD, POSIX::SigAction->new(sub {}, POSIX::SigSet->new, SA_NOCLDWAIT))']),
    # equally brief, with a waiting parent
    brief_waited => {program => perl("$burn <STDIN>; for (1 .. 40) { my \$pid = fork; if (!\$pid) { burn(0.02); exit } waitpid \$pid, 0 } print 1"),
		     limits => {maxCpuMs => 30_000, maxTimeoutMs => 120_000}},
    waited => {program => perl("$burn <STDIN>; for (1 .. 12) { my \$pid = fork; if (!\$pid) { burn(0.02); exit } waitpid \$pid, 0 } print 1"),
	       limits => {maxCpuMs => 30000, maxTimeoutMs => 60000}},
    busy => {program => perl("$burn my \$pid = fork; if (!\$pid) { burn(0.4); print STDERR qq(burnt\\n); sleep 99 } sleep 99"),
	     limits => {maxCpuMs => 60000, maxTimeoutMs => 60000}},
);

# The CPU time of RUN in the server's log.
sub charged { my ($s, $run) = @_; return $s->log_has(qr/run=\Q$run\E .* cpu_ms=(\d+)/) }

for my $user ($> == 0 ? (0, 65534) : ($>)) {
	my $who = $user == 0 ? 'root' : 'a user';
	my $s = Paddock->new(templates => \%templates, $user != $> ? (user => $user) : ());

	$s->init;
	my $unwaited = $s->run_sync('unwaited');
	my $e = $unwaited->{error};
	is("$e->{errorCode} $e->{details}{limit}", 'RESOURCE_LIMIT cpu', "$who: children that nobody waits for are held to it");
	cmp_ok($e->{details}{used}, '<', 4000, "$who: children without a wait are ended soon");
	cmp_ok(charged($s, $unwaited->{runId}), '>=', 1500, "$who: the CPU time of children without a wait is charged");
	my $staggered = $s->run_sync('staggered');
	is($staggered->{result}, 1, "$who: children of which some always run use 7,500 ms,");
	cmp_ok(charged($s, $staggered->{runId}), '>=', 5000, "$who: the CPU time of staggered children is charged");
	for my $how (qw(ignored flagged)) {
		my $v = $s->run_sync("brief_$how");

		is("$v->{error}{errorCode} $v->{error}{details}{limit}", 'RESOURCE_LIMIT cpu', "brief ones, too: $how") or diag(json_of($v));
		cmp_ok(charged($s, $v->{runId}), '>=', 100, "$who: the CPU time of brief children is charged: $how");
	}
	my $waited = $s->run_sync('brief_waited');
	is($waited->{result}, 1, 'where somebody waits for them, they count,');
	cmp_ok(charged($s, $waited->{runId}), '<', 1900, 'brief awaited children are charged once');
	is($s->run_sync('waited')->{result}, 1, 'awaited children are charged once');

	my $id = $s->run_async('busy', {});
	$s->log_has(qr/run=\Q$id\E .*msg="burnt"/);
	$s->tool(cancel_task_run => {runId => $id});
	until_true('the end', sub { $s->get($id)->{status} eq 'canceled' });
	cmp_ok(charged($s, $id), '>=', 350, 'what children used is charged when a run is cancelled');
	my $v = $s->run_sync('busy', {}, timeoutMs => 4000);
	is($v->{error}{errorCode}, 'RUN_TIMEOUT', 'when it is out of time');
	cmp_ok(charged($s, $v->{runId}), '>', 0, 'CPU time of a run out of time is charged');
	$s->stop;
}
done_testing;
