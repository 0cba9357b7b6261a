#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# paddock repl: cells on a pipe and cells typed at a terminal, their outputs, values and
# figures, cancels, and the way back to a notebook.
use lib 'tests/lib';
use Paddock;
use Cli;
use Daemon;
use ReplHost;

my %templates = map { ("run_$_" => repl_host()) } qw(python bash lua);
my $cli = Cli->new(templates => \%templates);
my $d = Daemon->new(templates => \%templates);
my @there = ('--socket', $d->{socket});
my $n = 0;

$d->ready;

# Run the cells of IN from a pipe, in a new notebook; ARGS are further words.
sub piped {
	my ($in, @args) = @_;

	return $cli->run(['repl', '-q', '--notebook', 'p' . ++$n, @args, @there], in => $in);
}

# The cells of IN: the host gives unknown code as the value.
sub cells_of {
	my ($in, @args) = @_;

	return [map { json_to($_) } split /\n/, piped($in, @args)->{out}];
}

# ---- cells on a pipe ----

{
	my $r = piped("x = five\n\nx\n");

	is("$r->{status} $r->{out}$r->{err}", "0 five\n", 'a cell has the variables of the cell before');
	$r = piped("print out\ttab\nwarn err\nx = 1\nx\n");
	is($r->{out}, "out\ttab\n1\n", 'stdout has what the code printed as it is, and then the value');
	is($r->{err}, "err\n", 'stderr has what the code printed there');
	is(piped("tell a\nprint b\ntell c\n")->{out}, "a\nc\na\nb\nc\n", 'output whose log has gaps is shown again as a whole');
	is(piped("tell a\ntell b\nprint c\n")->{out}, "a\nb\nc\n", 'what was shown while the cell ran is not shown again');
	$r = $cli->run(['repl', '--notebook', 'p' . ++$n, @there], in => "log by the template\n");
	like($r->{err}, qr/^  \| by the template$/m, 'other lines of the log are marked');
	like($r->{err}, qr/^paddock: the notebook p$n stays for a while: paddock repl python --notebook p$n --socket \S+$/m, 'the way back is told at the end of the pipe');
}

same_json(cells_of("a1 +\n\nb2 +\n\n\n\nc3 +"), ["a1 +\n", "b2 +\n", "c3 +\n"], 'empty lines part cells, and the last line needs no end');
same_json(cells_of("# %% one\na1 +\n\nb2 +\n#%%\nc3 +\n"), ["a1 +\n\nb2 +\n", "c3 +\n"], 'after a mark empty lines part nothing');
same_json(cells_of("a1 +\n\nb2 +\n# %%\nc3 +\n\nd4 +\n"), ["a1 +\n", "b2 +\n", "c3 +\n\nd4 +\n"], 'a mark parts cells wherever it comes');
same_json(cells_of("def f():\n    a +\n\n    b +\n\nelse:\n    c +\n\nd4 +\n"), ["def f():\n    a +\n\n    b +\n\nelse:\n    c +\n\n", "d4 +\n"], 'an empty line within a block of Python parts nothing');
same_json(cells_of("f(1,\n\n2)\n\nb2 +\n"), ["f(1,\n\n2)\n", "b2 +\n"], 'an empty line within brackets parts nothing');
same_json(cells_of("cat <<EOF\n\nEOF\n\nfor x in a; do\n\ndone\n\n  b2 +\n", 'bash'), ["cat <<EOF\n\nEOF\n", "for x in a; do\n\ndone\n", "  b2 +\n"], 'bash has blocks and documents of its own');
same_json(cells_of("-- %%\nfunction f()\n\nend\n", 'lua'), ["function f()\n\nend\n"], 'a mark may be a comment of the language');
is(piped("\n\n# %%\n\n")->{status}, 0, 'a pipe without code has no cell');

# ---- cells that do not end well ----

{
	my $r = piped("raise Bad\n\nprint on\n");

	is("$r->{status} $r->{out}", "1 on\n", 'the next cell is run after an error, and the status tells of the error');
	is($r->{err}, "Traceback:\n  line 1\nBad: no\n", 'the traceback of an error is shown');
	is(piped("warn Bad: no\nraise Bad\n")->{err}, "Bad: no\n", 'an error that stderr tells is not told twice');
	is(piped("exit 3\n")->{status}, 1, 'an exit code that is not 0 makes the status 1');
	$r = piped("x = kept\n\nx = lost\nprint before\ndie\n\nx\n");
	is("$r->{status} $r->{out}", "1 before\nkept\n", 'a cell that died is undone, and what it printed is shown');
	like($r->{err}, qr/^paddock: run_\w+ failed: the code died\n(?:  [^\n]*\n)*paddock: the cell is undone, and the notebook is as it was before it: it was ended$/m, 'a cell that died is told with the reason');
	$r = piped("x = kept\n\nwait\n\nx\n", '-t', '300ms');
	is("$r->{status} $r->{out}", "1 kept\n", 'a cell that takes longer than --timeout is undone');
	$r = piped("a\0b\n\nprint on\n");
	is("$r->{status} $r->{out}", "1 on\n", 'a cell with a zero byte is not run, and the next one is');
	like($r->{err}, qr/^paddock: the cell was not run: code has to be UTF-8 without zero bytes$/m, 'a cell with a zero byte is told');
	said(piped("\xff\n"), 1, qr/has to be UTF-8/, 'a cell of other bytes than UTF-8 is told');
}

# ---- refusals ----

said(piped("x\n", 'perl'), 2, qr/^paddock: "perl" is no language of paddock repl; it has python, node, bash and lua$/m, 'an unknown language is refused with those there are');
said($cli->run(['repl', '--notebook', 'a b', @there]), 2, qr/^paddock: --notebook is "a b"; it has to have 1 to 64 letters, digits, '\.', '_' and '-'$/m, 'a wrong name is refused before the first cell');
said($cli->run(['repl', '--notebook', 'x' x 65, @there]), 2, qr/it has to have 1 to 64 letters/, 'a name of 65 letters is refused');
said(piped("x\n", '-t', 'soon'), 2, qr/--timeout is "soon"/, 'a wrong time is refused');
said(piped("x\n\ny\n", 'node'), 4, qr/\A[^\n]*run_node[^\n]*\n(?:  [^\n]*\n)*\z/, 'a template that is not there ends the first cell and the others');
said($cli->run(['repl', '--notebook', 'n', $cli->private], in => "x = 1\n"), 0, qr/^paddock: the notebook n has ended with the private server; it would stay in a daemon, paddockd$/m, 'a private server keeps no notebook, which is told');

# ---- figures and other artifacts ----

{
	write_file("$cli->{here}/plot.png", 'mine');
	my $r = $cli->run(['repl', '--notebook', 'f', @there], in => "figure plot.png\nfigure rows.csv\n\nfigure plot.png\n");

	is($r->{status}, 0, 'cells with figures end well');
	is(read_file("$cli->{here}/plot.png"), 'mine', 'a file that is there is not overwritten by a figure');
	like($r->{err}, qr/^wrote \.\/plot-2\.png\nwrote \.\/plot-3\.png$/m, 'the files of figures are named');
	is(read_file("$cli->{here}/plot-3.png"), "\x89PNG\r\n\x1a\nplot.png", 'the file has the figure');
	like($r->{err}, qr/^  artifact rows\.csv, 1[0-9] bytes: paddock artifact get art_\w+ --socket \S+$/m, 'another artifact is named with the command that gets it');
	ok(!-e "$cli->{here}/rows.csv", 'another artifact is not written');
	$r = piped("figure Makefile.png\n", '-o', 'figures');
	ok(-e "$cli->{here}/figures/Makefile.png", '--out is the folder for figures');
}

{
	my @views = map { json_to($_) } split /\n/, piped("x = 1\n\nprint a\n\ndie\n", '--json')->{out};

	is(join(' ', map { $_->{status} } @views), 'succeeded succeeded failed', '--json has a line for each run');
	is($views[1]{result}{stdout}, "a\n", 'the line of --json has the result');
	is($views[1]{notebook}{cell}, 2, 'the line of --json tells the cell');
}

# ---- typed cells ----

sub typing {
	my (@args) = @_;

	return $cli->start(['repl', @args, @there], tty => 1, columns => 100, env => {TERM => 'xterm'});
}

# Type TEXT, and wait until the terminal shows a match of RE afterwards.
sub types {
	my ($p, $text, $re, $name) = @_;
	my $at = length $p->shown;

	$p->type($text);
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	ok(until_true($name, sub { substr($p->shown, $at) =~ $re }), $name) or diag(substr $p->shown, $at);
}

sub printed {
	my ($p, $re, $name) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	ok(until_true($name, sub { (read_file($p->{out_path}) // '') =~ $re }), $name) or diag(read_file($p->{out_path}) . $p->shown);
}

my $made;
{
	my $p = typing();

	$p->wait_shown(qr/>>> /);
	($made) = $p->shown =~ /^python in the notebook (repl-[a-z2-7]{6}); ctrl-C ends a cell, ctrl-D leaves\r?$/m;
	ok($made, 'a name is made and told');
	types($p, "x = 57\n", qr/\n.*>>> $/s, 'a prompt comes after a cell');
	types($p, "prnt x\e[D\e[D\e[D\e[Di\n", qr/>>> $/, 'a line is edited at the cursor');
	printed($p, qr/^x$/m, 'the edited line is run');
	types($p, "f(1,\n", qr/\.\.\. $/, 'an open bracket has a prompt of its own');
	types($p, "2)\n", qr/\n.*>>> $/s, 'a closed bracket ends the cell');
	printed($p, qr/^"f\(1,\\n2\)\\n"$/m, 'a cell has all its lines');
	types($p, "if a:\n", qr/\.\.\. $/, 'a block has a prompt of its own');
	types($p, "\tb\n", qr/\.\.\. $/, 'an indented line goes on');
	types($p, "\n", qr/\n.*>>> $/s, 'an empty line ends a block');
	printed($p, qr/^"if a:\\n    b\\n\\n"$/m, 'a tab indents by four blanks');
	types($p, "(\n", qr/\.\.\. $/, 'a bracket that nothing closes goes on');
	types($p, "\n", qr/\.\.\. $/, 'an empty line does not close a bracket');
	types($p, "\n", qr/\n.*>>> $/s, 'two empty lines end any cell');
	types($p, "y = lost\cC", qr/\^C\r\n>>> $/, 'ctrl-C drops the line');
	types($p, "(\n", qr/\.\.\. $/, 'a cell begins again');
	types($p, "\cC", qr/\^C\r\n>>> $/, 'ctrl-C drops all lines of a cell');
	types($p, "print first\n", qr/\n.*>>> $/s, 'a line is typed before another');
	types($p, "x = 58\n", qr/\n.*>>> $/s, 'a line is typed after another');
	types($p, "\e[A\e[A\n", qr/\n.*>>> $/s, 'an earlier line comes back');
	printed($p, qr/^first\nfirst$/m, 'the earlier line is run again');
	types($p, "(\ntell going\nwait\n)\n", qr/\.\.\. \)\r\n$/, 'a cell is typed at once');
	printed($p, qr/^going$/m, 'output comes while the cell runs');
	types($p, "\cC", qr/cancelling run_\w+; again to leave at once.*run_\w+ was cancelled.*the cell is undone.*>>> $/s, 'ctrl-C cancels the cell alone');
	types($p, "x\n", qr/\n.*>>> $/s, 'a cell can be run after a cancelled one');
	printed($p, qr/^58$/m, 'the notebook stays after a cancelled cell');
	my $r = $p->type("\cD")->finish;
	is($r->{status}, 0, 'ctrl-D leaves');
	like($r->{err}, qr/^paddock: the notebook $made stays for a while: paddock repl python --notebook $made --socket \S+\r?$/m, 'the way back is told');
}

{
	my $p = typing('--notebook', $made);

	$p->wait_shown(qr/>>> /);
	types($p, "x\n", qr/\n.*>>> $/s, 'a notebook is gone back to');
	printed($p, qr/\A58\n\z/, 'the variables are there in the next session');
	types($p, "\e[A\e[A\n", qr/\n.*>>> $/s, 'two lines up are looked for in the history');
	printed($p, qr/^"\)\\n"$/m, 'the lines of the session before come back');
	types($p, "(\ntell again\nwait\n)\n", qr/\.\.\. \)\r\n$/, 'a cell that waits is typed');
	printed($p, qr/^again$/m, 'the cell that waits has begun');
	is($p->signal('TERM')->finish->{status}, 143, 'TERM ends a cell and the session');
	is((stat "$cli->{root}/.local/state/paddock-repl/python")[2] & 0777, 0600, 'the history is readable by the user alone');
}

{
	my $p = typing();

	$p->wait_shown(qr/>>> /);
	is($p->signal('TERM')->finish->{status}, 143, 'TERM ends a session at the prompt');
	$p = $cli->start(['repl', 'bash', @there], tty => 1, env => {TERM => 'dumb'});
	$p->wait_shown(qr/bash> /);
	types($p, "print simple\n", qr/bash> $/, 'a terminal that cannot move its cursor has a prompt');
	types($p, "\cC", qr/bash> $/, 'ctrl-C drops the line without editing');
	is($p->type("\cD")->finish->{out}, "simple\n", 'a terminal that cannot move its cursor has cells');
}

$d->stop;

# ---- the shipped template of Lua ----

{
	my $real = Daemon->new(dirs => ['etc/templates']);
	my $lua = sub { my ($in, @args) = @_; return $cli->run(['repl', 'lua', '--notebook', 'n', @args, '--socket', $real->{socket}], in => $in) };

	$real->ready;
	my $r = $lua->("x = 1\n\nfunction f(a)\n\n  return a * 2\nend\n\nprint('said')\nf(21) + x\n");
	is("$r->{status} $r->{out}", "0 said\n43\n", 'lua has cells, output and values');
	$r = $lua->("error('no')\n\nx\n");
	is("$r->{status} $r->{out}", "1 1\n", 'lua goes on after an error');
	is(scalar(() = $r->{err} =~ /^error: cell-4\.lua:1: no$/mg), 1, 'an error of lua is shown once');
	$r = $lua->("x = 9 while true do end\n\nx\n", '-t', '300ms');
	is("$r->{status} $r->{out}", "1 9\n", 'lua keeps what an interrupted cell had set');
	like($r->{err}, qr/^paddock: the code was ended, and what it had set until then stays$/m, 'what stays of an interrupted cell is told');
	$real->stop;
}
done_testing;
