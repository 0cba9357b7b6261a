#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Residents that attack: descriptors of the program opened by another process of the cage, ends
# of other runs, too long results, and lines that are no JSON; and notebooks of Lua that reach
# for another requestor's notebook, memory or place.
use lib 'tests/lib';
use Paddock;
use Http;
use Residents;

for (users()) {
	my ($who, $user) = @$_;
	my $s = Paddock->new(user => $user, templates => {cells => cells(limits => {maxOutputBytes => 65536})})->greeted;
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
	$s->stop;
}

# ---- notebooks of Lua ----

for (users()) {
	my ($who, $user) = @$_;
	my $s = Http->new(user => $user, tokens => {ann => 'a', bob => 'b'}, dirs => ['etc/templates'],
		config => "[limits]\nmax_residents = 2\nresident_memory = 64M\n");
	my ($ann, $bob) = map { $s->client($_)->greeted } 'ann', 'bob';
	my $lua = sub { my ($c, $name, $code, %in) = @_; return $c->run_sync(run_lua => {notebook => $name, code => $code, %in}) };

	$lua->($ann, 'n', 'secret = 7');
	is($lua->($bob, 'n', 'secret')->{result}{value}, undef, "$who: another requestor's notebook of the same name is not reached");
	is($lua->($bob, 'n', 'string.rep = nil; secret = 8')->{notebook}{state}, 'kept', "$who: a requestor replaces functions");
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
