#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Residents that attack: descriptors of the program opened by another process of the cage, ends
# of other runs, too long results, lines that are no JSON, processes that work between runs,
# too many processes, files in out/ at a wrong time, and metrics; clients that attack, by long
# names and a reload in the middle of a run; and notebooks of Lua against the notebook, the
# memory or the place of a second requestor.
use lib 'tests/lib';
use Paddock;
use Http;
use List::Util qw(sum0);
use Residents;

# Code for a run: leaves a process with twelve timers, each continuing the process five times a
# second, and then the process does DO. Linux drops a waiting SIGCONT at a stop, and a timer
# with a dropped signal never fires again, so the first times are up to seven seconds away.
sub waking {
	my ($do) = @_;
	my ($create, $set) = (POSIX::uname())[4] eq 'x86_64' ? (222, 223) : (107, 110);

	return <<"END";
pipe my \$from, my \$to or die;
my \$p = fork // die;
if (!\$p) {
	\$SIG{CONT} = sub { $do };
	for my \$n (1 .. 12) {
		my (\$event, \$id, \$times) = (pack('q i i x48', 0, POSIX::SIGCONT(), 0), pack('i', 0), pack('q4', 0, 200_000_000, int(\$n * \$n / 20), \$n * \$n % 20 * 50_000_000));
		syscall($create, 1, \$event, \$id) == 0 && syscall($set, unpack('i', \$id), 0, \$times, 0) == 0 or POSIX::_exit(1);
	}
	syswrite \$to, 'armed';
	POSIX::close(\$_) for 0 .. 20;
	while (1) { select undef, undef, undef, 1000 }
}
close \$to;
sysread \$from, my \$armed, 5;
\$armed
END
}

for (users()) {
	my ($who, $user) = @$_;
	my $s = Paddock->new(user => $user, dirs => ['etc/templates'], config => "[limits]\nmax_residents = 8\n",
		templates => {cells => cells(limits => {maxOutputBytes => 65536, maxArtifactBytes => 65536, maxProcesses => 16})})->greeted;
	my $lost = sub {
		my ($r, $code, $why, $name) = @_;

		is($r->{error}{errorCode}, $code, "$who: $name fails the run") or diag explain $r;
		my $next = cell($s, '"n"');
		is($next->{notebook}{state}, 'new', "$who: $name costs the state");
		like($next->{notebook}{why}, $why, "$who: $name is told");
	};

	is(cell($s, '"a"')->{status}, 'succeeded', "$who: a resident begins");
	for my $fd (3, 4) {
		my $r = cell($s, "my \$n = '/proc/' . getppid() . '/fd/$fd'; open(my \$f, '+<', \$n) ? 'opened' : 'refused'");
		is($r->{result}{said}, 'refused', "$who: descriptor $fd of the program is not to be opened by /proc");
	}
	$lost->(cell($s, '"b"', {id => 'run_2al4dtnkng4i25fysipeb34cku'}), 'EXECUTION_ERROR', qr/ended with a run/, 'the end of another run');
	$lost->(cell($s, '"x" x 100_000'), 'EXECUTION_ERROR', qr/ended with a run/, 'a result that is too long');
	$lost->(cell($s, 'say_line({reply => {content => []}}); sleep 600'), 'EXECUTION_ERROR', qr/ended with a run/, 'a reply');
	$lost->(cell($s, 'syswrite $out, "no JSON\n"; sleep 600'), 'EXECUTION_ERROR', qr/ended with a run/, 'a line that is no JSON');

	for (['works', '$n++'], ['works and stops itself again', 'kill STOP => $$']) {
		my ($how, $do) = @$_;
		my $name = $how =~ tr/ /_/r;
		is(cell($s, waking($do), {notebook => $name})->{result}{said}, 'armed', "$who: a run leaves a process that timers continue, and that $how");
		ok($s->log_has(qr/name=$name .*ended="one of its processes went on while it was stopped/), "$who: a stopped process that $how is found, and the resident ended");
		is(cell($s, '"n"', {notebook => $name})->{notebook}{state}, 'new', "$who: a stopped process that $how costs the state");
	}

	# ---- what a run leaves for the next ----
	my $fills = 'my $p = fork // die; if (!$p) { POSIX::close($_) for 0 .. 20; while (1) { for my $n (1 .. 9) { if (open my $f, ">", "out/late$n") { print $f "x" x 30_000 } } } } "fills"';
	is(cell($s, $fills, {notebook => 'out'})->{result}{said}, 'fills', "$who: a run leaves a process that fills out/");
	my $r = cell($s, '"next"', {notebook => 'out'});
	ok(!grep({ $_->{name} !~ /^late\d$/ } @{$r->{artifacts}}) && sum0(map { $_->{size} } @{$r->{artifacts}}) <= 65536, "$who: files of a process that stays are artifacts of the next run alone, within that run's limit") or diag explain $r;
	$r = cell($s, 'my $n = 0; while (defined(my $p = fork)) { if (!$p) { POSIX::close($_) for 0 .. 20; sleep 600 } last if ++$n > 64 } $n > 64 ? "no end" : "refused"', {notebook => 'forks'});
	ok(($r->{result}{said} // '') eq 'refused' || ($r->{error}{details}{limit} // '') eq 'processes', "$who: a run of a resident has no more processes than others") or diag explain $r;
	is(cell($s, '"m"')->{status}, 'succeeded', "$who: a resident with too many processes is no burden to another");
	my $cell = sub { return $s->run_sync(run_python => {notebook => 'forged', code => $_[0]}) };
	$cell->("import json, os, resource, time\ntime.monotonic = time.process_time = time.time = time.perf_counter = lambda: 0\nos.times = resource.getrusage = lambda *a: None");
	$r = $cell->("n = 0\nwhile n < 6_000_000: n += 1\nopen('out/a.txt', 'w').write('a')");
	is(join(' ', map { $_->{name} } @{$r->{artifacts}}), 'a.txt', "$who: a cell after a cell that replaced clocks has its artifacts") or diag explain $r;
	ok($r->{metrics}{cpuMs} >= 50 && $r->{metrics}{maxRssBytes} > 1 << 20, "$who: a cell that replaced clocks has no say in the metrics of the next cell") or diag explain $r->{metrics};

	# ---- clients ----
	for my $name ('n' x 10_000, '../n', "n\0") {
		my $refused = $s->run(cells => {notebook => $name, do => '1'})->{view} // {};
		is($refused->{errorCode}, 'INVALID_PARAMETER', "$who: a name of " . length($name) . ' bytes is refused');
		cmp_ok(length($refused->{error} // ''), '<', 1000, "$who: the refusal of a name of " . length($name) . ' bytes is short');
	}
	my $waits = 'say_line({progress => {done => 1, total => 2, message => "waits"}}); sleep 600';
	for my $changed (0, 1) {
		my $state = cell($s, '""', {notebook => 'hup'})->{result}{state};
		my $id = $s->run_async(cells => {notebook => 'hup', do => $waits});
		$s->saying($id, 'waits');
		Paddock::write_file("$s->{root}/templates/cells-1.0.0/more", 'x') if $changed;
		my $reloads = () = $s->log_text =~ /reload=done/g;
		kill HUP => $s->{pid};
		until_true('the reload', sub { (() = $s->log_text =~ /reload=done/g) > $reloads });
		is($s->get($id)->{status}, 'running', "$who: a reload ends no run of a resident" . ($changed ? ' of a changed template' : ''));
		$s->tool(cancel_task_run => {runId => $id});
		$s->ended($id);
		my $next = cell($s, '""', {notebook => 'hup'});
		$changed ? like($next->{notebook}{why} // '', qr/its template or its requestor has changed/, "$who: a change of the template in a run ends the resident after the run")
			 : is($next->{result}{state}, $state, "$who: a reload in a run costs no state");
	}
	$s->stop;
}

# ---- notebooks of Lua ----

for (users()) {
	my ($who, $user) = @$_;
	my $s = Http->new(user => $user, tokens => {ann => 'a', bob => 'b'}, dirs => ['etc/templates'],
		config => "[limits]\nmax_residents = 2\nresident_memory = 64M\n");
	my ($ann, $bob) = map { $s->client($_)->greeted } 'ann', 'bob';
	my $r;
	my $lua = sub { my ($c, $name, $code, %in) = @_; return $c->run_sync(run_lua => {notebook => $name, code => $code, %in}) };

	$lua->($ann, 'n', 'secret = 7');
	is($lua->($bob, 'n', 'secret')->{result}{value}, undef, "$who: another requestor's notebook of the same name is not reached");
	is($lua->($bob, 'n', 'string.rep = nil; secret = 8')->{notebook}{state}, 'kept', "$who: a requestor replaces functions");
	$r = $bob->run_sync(run_lua => {code => 'return (run.template("run_lua", {notebook = "n", code = "return secret"}))'});
	is(join(' ', $r->{status}, $r->{result}{result}{result} // 'none'), 'succeeded 8', "$who: a called run has the notebook of its own requestor") or diag explain $r;
	is($lua->($ann, 'n', 'secret, string.rep("x", 2)')->{result}{value}, '7, "xx"', "$who: another requestor has the functions of before");
	$lua->($ann, 'm', 'hoard = {} for i = 1, 60 do hoard[i] = (("x"):rep(1 << 20 | i)) end');
	ok($s->log_has(qr/requestor=ann .*name=\w runs=\d+ ended="idle notebooks had more memory/), "$who: a requestor with too much memory loses a notebook");
	is($lua->($bob, 'n', 'secret')->{result}{value}, '8', "$who: another requestor's notebook stays");
	$lua->($ann, $_, 'x = 1') for 'a' .. 'c';
	is($lua->($bob, 'n', 'secret')->{notebook}{state}, 'kept', "$who: many notebooks of one requestor cost none of another");
	like($lua->($ann, 'a', 'x')->{notebook}{why}, qr/another notebook of the same requestor/, "$who: who has too many loses the oldest");

	my @runs = map { $ann->run_async(run_lua => {notebook => 'c', code => "x = (x or 0) + 1 run.sleep(50) return {x, run.id}"}) } 1 .. 4;
	my @ends = map { $ann->ended($_)->{result}{result} } @runs;
	is_deeply([map { $_->[1] } @ends], \@runs, "$who: runs at once of one notebook have their own ids");
	is_deeply([map { $_->[0] } @ends], [2 .. 5], "$who: runs at once of one notebook come one after the other");
	my $first = $ann->run_async(run_lua => {notebook => 'c', code => 'x = 10 while true do end'});
	my $waits = $ann->run_async(run_lua => {notebook => 'c', code => 'x = 11'});
	$ann->get_until($first, 'to run', sub { $_->{status} eq 'running' });
	$ann->tool(cancel_task_run => {runId => $waits});
	is($ann->ended($waits)->{status}, 'canceled', "$who: a cell that waits can be cancelled");
	$ann->tool(cancel_task_run => {runId => $first});
	$ann->ended($first);
	is($lua->($ann, 'c', 'x')->{result}{value}, '10', "$who: only the cell that ran has set a variable");
	$s->stop;
}
done_testing;
