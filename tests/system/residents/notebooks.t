#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Notebooks of the shipped templates in real cages: variables stay between calls, a bad cell
# costs nothing but the cell, files are artifacts, and the answer tells the state.
use lib 'tests/lib';
use Paddock;

my %CODE = (
	run_python => {set => 'x = 1', add => "x += 1\nx", value => 'x', raises => "x = 10\nraise ValueError('no')",
		       loops => "x = 99\nwhile True: pass", crash => "x = 98\nimport os; os.kill(os.getpid(), 11)",
		       eats => "x = 97\nimport os, time\nfor i in range(4):\n    if os.fork() == 0:\n        y = b'x' * (300 << 20)\n        time.sleep(600)\ntime.sleep(600)",
		       calls => "x = 96\nimport ctypes; ctypes.CDLL(None).ptrace(0, 0, 0, 0)"},
	run_bash => {set => 'x=1', add => "x=\$((x + 1)); echo \$x", value => 'echo $x',
		     loops => 'x=99; while :; do :; done', crash => 'x=98; kill -SEGV $BASHPID'},
	run_node => {set => 'let x = 1', add => "x += 1\nx", value => 'x', raises => "x = 10; throw new Error('no')",
		     loops => 'x = 99; while (true) {}'},
	run_lua => {set => 'x = 1', add => "x = x + 1\nx", value => 'x', raises => "x = 10 error('no')",
		    loops => 'x = 99 while true do end'},
);

my %IN_PLACE = (run_node => 1, run_lua => 1); # cells that are interrupted, and not undone

sub value_of { my ($r) = @_; my $v = $r->{result}{value} // $r->{result}{stdout} // ''; chomp $v; return $v }

my @TEMPLATES = grep { !$ENV{ONLY} || /$ENV{ONLY}/ } sort keys %CODE;

# Memory, calls and files.
sub python_cells {
	my ($s, $who) = @_;
	my $cell = sub { my ($c, %in) = @_; return $s->run_sync(run_python => {notebook => 'n', code => $c, %in}) };
	my $r = $cell->($CODE{run_python}{eats});
	is($r->{error}{errorCode}, 'RESOURCE_LIMIT', "$who: a cell that needs too much memory fails") or diag explain $r;
	is($r->{notebook}{state}, 'restored', "$who: a cell that needs too much memory is undone");
	is(value_of($cell->('x')), 2, "$who: the notebook goes on after a lack of memory");
	$r = $cell->($CODE{run_python}{calls});
	is($r->{error}{errorCode}, 'SANDBOX_VIOLATION', "$who: a cell that makes a forbidden call fails") or diag explain $r;
	is(value_of($cell->('x')), 2, "$who: the notebook goes on after a forbidden call");
	$r = $cell->("open('out/a.txt', 'w').write('made')\nopen('keep.txt', 'w').write('kept')\nopen('data.csv').read()", files => {'data.csv' => "a,b\n"});
	is_deeply([map { $_->{name} } @{$r->{artifacts}}], ['a.txt'], "$who: a file in out/ is an artifact of its cell");
	is(value_of($r), "'a,b\\n'", "$who: a cell reads the files that it is given");
	$r = $cell->("open('keep.txt').read()");
	is(value_of($r), "'kept'", "$who: files of a notebook stay");
	is(scalar @{$r->{artifacts}}, 0, "$who: an artifact is of one cell alone");
	is($s->run_sync(run_python => {code => 'print(1)'})->{result}{stdout}, "1\n", "$who: a call without a notebook starts anew");
}

for (users()) {
	my ($who, $user) = @$_;
	my $s = Paddock->new(user => $user, dirs => ['etc/templates'])->greeted;

	for my $t (@TEMPLATES) {
		my $code = $CODE{$t};
		my $cell = sub { my ($c, %in) = @_; return $s->run_sync($t => {notebook => 'n', code => $c, %in}) };
		my $is = sub { my ($want, $name) = @_; my $r = $cell->($code->{value}); is(value_of($r), $want, "$who: $t: $name") or diag explain $r };

		my $r = $cell->($code->{set});
		is($r->{result}{notebook}{state}, 'new', "$who: $t: the first cell of a notebook is new") or diag explain $r;
		is(value_of($cell->($code->{add})), 2, "$who: $t: a variable stays between calls");
		if ($code->{raises}) {
			$r = $cell->($code->{raises});
			is($r->{status}, 'succeeded', "$who: $t: a cell that raises has an answer") or diag explain $r;
			like($r->{result}{error}{value}, qr/no/, "$who: $t: the error of a cell is told");
			$is->(10, 'what was set before an exception stays');
			$cell->($code->{set} =~ s/^let //r);
			$cell->($code->{add});
		}
		$r = $cell->($code->{loops}, timeoutMs => 500);
		is($r->{result}{exitCode}, 124, "$who: $t: an overdue cell is ended") or diag explain $r;
		$is->($IN_PLACE{$t} ? 99 : 2, 'an overdue cell costs nothing but the cell');
		$cell->('x = 2') if $IN_PLACE{$t};
		my $id = $s->run_async($t => {notebook => 'n', code => $code->{loops}});
		$s->get_until($id, 'to run', sub { $_->{status} eq 'running' });
		$s->tool(cancel_task_run => {runId => $id});
		is($s->ended($id)->{status}, 'canceled', "$who: $t: a cell can be cancelled");
		like(value_of($cell->($code->{value})), qr/\A(?:2|99)\z/, "$who: $t: the notebook goes on after a cancel");
		next if $IN_PLACE{$t};
		$r = $cell->($code->{crash});
		is($r->{result}{notebook}{state}, 'restored', "$who: $t: a crash restores the state") or diag explain $r;
		$is->(2, 'a crash costs nothing but the cell');
		$r = $s->run_sync($t => {notebook => 'n', code => $code->{set}});
		$r = $s->run_sync($t => {notebook => 'n', undo => \1});
		$is->(2, 'undo goes back one cell') if $r->{status} eq 'succeeded' or diag explain $r;
	}

	python_cells($s, $who) if grep { $_ eq 'run_python' } @TEMPLATES;
	$s->stop;
}
done_testing;
