#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Programs that stay between runs: the runs of a name come one after the other to the same
# process, with limits, cancels and files for each run; a run that meets a limit costs the
# state only when the program does not end the run in time.
use lib 'tests/lib';
use Paddock;
use Residents;

sub state_is {
	my ($r, $state, $name) = @_;

	is($r->{result}{state}, $state, $name) or diag explain $r;
}

# DO fails with CODE, for the limit or the other reason WHY, and the state is as before.
sub undone {
	my ($s, $name, $code, $do, $inputs, %o) = @_;
	my $first = cell($s, '""');
	my $before = $first->{result} or diag explain $first;
	my $r = cell($s, $do, $inputs, %o);

	is($r->{error}{errorCode}, $code, "$name: the run fails with $code") or diag explain $r;
	is($r->{notebook}{state}, 'restored', "$name: the run tells that the state is restored") or diag explain $r;
	same_json(cell($s, '""')->{result}{pid}, $before->{pid}, "$name: the process is the same in the next run");
	is(cell($s, '""')->{result}{state}, $before->{state}, "$name: the state is as before");
	return $r;
}

for (users()) {
	my ($who, $user) = @$_;
	my $s = Paddock->new(user => $user, templates => {cells => cells(limits => {maxCpuMs => 1500}), other => cells()},
		config => "[limits]\nmax_residents = 3\n")->greeted;

	# ---- runs of one name, and of others ----
	my $r = cell($s, '"a"');
	state_is($r, 'a', "$who: the first run of a name succeeds");
	same_json($r->{notebook}, {name => 'n', cell => 1, state => 'new'}, "$who: the state of the first run is new");
	$r = cell($s, '"b"');
	state_is($r, 'ab', "$who: the second run has the state of the first");
	same_json($r->{notebook}, {name => 'n', cell => 2, state => 'kept'}, "$who: the second run tells that the state is kept");
	ok($r->{metrics}{maxRssBytes} > 0, "$who: a run of a resident has metrics");
	state_is(cell($s, '"c"', {notebook => 'm'}), 'c', "$who: another name has a state of its own");
	state_is($s->run_sync(other => {notebook => 'n', do => '"d"'}), 'd', "$who: another template has a state of its own");
	same_json($s->run_sync(cells => {do => '1'})->{result}, {alone => \1}, "$who: a run without a name is an ordinary run");

	# ---- a run that is undone ----
	my $late = undone($s, "$who: the run's time", 'RUN_TIMEOUT', 'sleep 600', {}, timeoutMs => 300);
	is($late->{notebook}{why}, 'asked to end: timeout', "$who: the program is told that the time is over");
	undone($s, "$who: memory", 'RESOURCE_LIMIT', 'my $x = "x" x (200 << 20); sleep 600');
	undone($s, "$who: memory of a child that is waited for", 'RESOURCE_LIMIT', 'my $pid = fork // die; if (!$pid) { my $x = "x" x (200 << 20); sleep 600 } sleep 600');
	undone($s, "$who: CPU time", 'RESOURCE_LIMIT', '1 while 1');
	undone($s, "$who: a forbidden call", 'SANDBOX_VIOLATION', 'syscall 101, 0, 0, 0, 0; "e"');
	undone($s, "$who: a crash", 'EXECUTION_ERROR', 'kill SEGV => $$; sleep 600');
	my $sleeps = 'say_line({progress => {done => 1, total => 2, message => "sleeps"}}); sleep 600';
	my $id = $s->run_async(cells => {notebook => 'n', do => $sleeps});
	$s->saying($id, 'sleeps');
	$s->tool(cancel_task_run => {runId => $id});
	$r = $s->ended($id);
	is($r->{status}, 'canceled', "$who: a run of a resident can be cancelled");
	is($r->{notebook}{state}, 'restored', "$who: a cancelled run is undone") or diag explain $r;
	state_is(cell($s, '"f"'), 'abf', "$who: the state after a cancel is as before");

	# ---- as soon as the program is stopped ----
	my @quick = map { cell($s, '""', {notebook => 'm'})->{result}{state} } 1 .. 40;
	same_json(\@quick, [('c') x 40], "$who: a run that comes while the program is being stopped has its state");

	# ---- one after the other ----
	my $first = $s->run_async(cells => {notebook => 'n', do => $sleeps});
	$s->saying($first, 'sleeps');
	my @next = map { $s->run_async(cells => {notebook => 'n', do => "'$_'"}) } 'g', 'h', 'i';
	state_is(cell($s, '"j"', {notebook => 'm'}), 'cj', "$who: a run of another name does not wait");
	is($s->get($next[0])->{status}, 'queued', "$who: the next run of the name waits");
	$s->tool(cancel_task_run => {runId => $next[1]});
	is($s->ended($next[1])->{status}, 'canceled', "$who: a run that waits can be cancelled");
	$s->tool(cancel_task_run => {runId => $first});
	state_is($s->ended($next[2]), 'abfgi', "$who: the waiting runs come one after the other");

	# ---- files ----
	$r = cell($s, 'open my $f, ">", "out/x.txt"; print $f "made"; close $f; open $f, "<", $i->{file}; my $t = <$f>; "k$t"', {file => 'given'});
	$r = cell($s, 'join ",", "k", map { my @f = glob "$_/*"; scalar @f } "in", "out"') if !$r->{artifacts};
	is(scalar @{$r->{artifacts}}, 1, "$who: a file in out/ is an artifact of its run");
	$r = cell($s, 'join ",", "l", map { my @f = glob "$_/*"; scalar @f } "in", "out"');
	is($r->{result}{said}, 'l,0,0', "$who: the next run has neither the files given before nor those in out/");
	is(scalar @{$r->{artifacts}}, 0, "$who: the next run has no artifact of the run before");
	$r = cell($s, 'opendir my $d, "in"; join ",", grep { !/^\./ } readdir $d', {file => 'again'});
	isnt($r->{result}{said}, '', "$who: each run has the files that it is given");

	# ---- the end of a process ----
	$r = cell($s, 'sleep 600', {deaf => \1}, timeoutMs => 200);
	is($r->{error}{errorCode}, 'RUN_TIMEOUT', "$who: a program that does not end a run is ended");
	is($r->{notebook}{state}, 'lost', "$who: a run that was not ended in time tells that the state is lost");
	$r = cell($s, '"m"');
	is($r->{notebook}{state}, 'new', "$who: the state after a lost one is new");
	like($r->{notebook}{why}, qr/did not end a run in time/, "$who: a new state tells why the state before was lost");
	same_json($r->{result}{notebook}, {name => 'n', cell => 1, lost => $r->{notebook}{why}}, "$who: the program is told the same");
	$r = cell($s, 'kill KILL => getppid; sleep 600');
	is($r->{error}{errorCode}, 'WORKER_CRASHED', "$who: a program that ends fails its run");
	is(cell($s, '"n"')->{notebook}{state}, 'new', "$who: the next run has a new process");
	$r = cell($s, '"o"', {id => 'run_other'});
	is($r->{error}{errorCode}, 'EXECUTION_ERROR', "$who: a result of another run fails the run");
	for my $name ('', 'a b', 'a/b', 'x' x 65, "a\n") {
		is(($s->run(cells => {notebook => $name, do => '1'})->{view} // {})->{errorCode}, 'INVALID_PARAMETER', "$who: a name of " . length($name) . ' bytes that is no name is refused');
	}
	$s->stop;
}
done_testing;
