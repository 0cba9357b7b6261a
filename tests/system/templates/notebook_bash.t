#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Notebooks of run_bash: what stays from cell to cell, what a cell that is undone leaves, and
# cells that attack the notebook.
use strict;
use warnings;
use Cwd qw(abs_path);
use lib 'tests/lib';
use JSON::PP;
use Needs;
use ResidentHost;
use Test::More;

plan skip_all => 'needs bash' if system('bash -c true 2>/dev/null') != 0;

my $PACKAGE = abs_path('etc/templates/run_bash');
my $s = begin();

sub begin { return ResidentHost->new(command => ['perl', "$PACKAGE/main.pl"], template => $PACKAGE, @_) }
sub book { return $_[0]{output}{notebook} }
sub printed { return $s->cell(@_)->{output}{stdout} }
sub state_of { return book($_[0])->{state} }
sub why { return book($_[0])->{why} // '' }

# ---- what stays ----

my $r = $s->cell(<<'END');
x=5; declare -i n=1+2; declare -A map=([k]=v)
f() { echo "f $x $1"; }
trap 'echo trapped' USR1
shopt -s nullglob
cd /usr
exec 5<<<$'one\ntwo'
umask 027
echo said
END
is_deeply($r->{output}, {stdout => "said\n", stderr => '', exitCode => 0, notebook => {name => 'n', cell => 1, state => 'new'}}, 'the first cell of a notebook is new');
is_deeply([map { $_->{kept} } @{$r->{states}}], [JSON::PP::true], 'a cell that ended is kept, and that is said once');
is(printed('f a; echo "$n ${map[k]}"; pwd; shopt nullglob; umask; read -ru5 line; echo "$line"; kill -USR1 $BASHPID'),
   "f 5 a\n3 v\n/usr\nnullglob       \ton\n0027\none\ntrapped\n", 'variables, functions, the folder, options, the mask, descriptors and traps stay');
is(printed('read -ru5 line; echo "$line $BASH_SUBSHELL"'), "two 0\n", 'an open descriptor goes on where the cell before left it');
is(printed('echo $1 $#; cat', args => ['a b', 'c'], stdin => "given\n"), "a b 2\ngiven\n", 'a cell has its arguments and its standard input');
is(printed('echo $#; cat'), "0\n", 'arguments and standard input do not stay');
is(printed('[[ ${BASH_SOURCE[0]} == "$0" ]] && echo main'), "main\n", 'a cell is the main script');
$r = $s->cell("echo a\nnosuch\n(exit 3)");
is($r->{output}{exitCode}, 3, 'the status of the last command is the exit code');
like($r->{output}{stderr}, qr{main\.sh: line 2: nosuch: command not found}, 'an error has its line');
like($s->cell("x=6\nif then\n")->{output}{stderr}, qr{main\.sh: line 2: syntax error}, 'an error of syntax has its line');
is(printed('echo $x'), "6\n", 'what was set before an error stays');
$r = $s->cell('x=7; exit 4');
is("$r->{output}{exitCode} " . state_of($r), '4 kept', 'exit ends the cell, and not the notebook');
is(printed('f b; exec 6>&1; exit'), "f 7 b\n", 'what was set before exit stays');
is(printed('g() { local y=1; x=8; exit 2; }; g; echo no'), '', 'exit within a function ends the cell');
$s->cell('sleep 600 &');
is(printed('jobs; wait; echo $x'), "8\n", 'a shell that left a function by exit does not write where the cell wrote');
is(printed('set -e; x=9; false; echo no'), '', 'a command that fails ends a cell under set -e');
is(printed('echo "$x ${-//[!e]/}"; set +e; break; echo no'), "9 e\n", 'set -e stays, and break at the top ends the cell');
is(printed('IFS=,; set -uf; set -x; alias read=false; shopt -s expand_aliases; set -o posix; trap ": x" DEBUG; read() { :; }; printf() { :; }'), '', 'a cell may set all kinds of options');
$r = $s->cell('unset -f read printf; trap - DEBUG; set +o posix; set +ufx; unset IFS; unalias -a; echo $x');
is($r->{output}{stdout}, "9\n", 'no option of a cell keeps the next one from being run');
unlike($r->{output}{stderr}, qr/__paddock/, 'shells do not trace what is not of the cell');
is(printed('exec >/dev/null; echo no'), '', 'a cell may redirect its output');
is(printed('echo again'), "again\n", 'a redirection of the standard output ends with its cell');
is(printed('ls /proc/self/fd | wc -l'), printed('ls /proc/self/fd | wc -l'), 'a command has no more descriptors in each cell');
unlike(printed('ls -l /proc/self/fd'), qr{/dev/null}, 'a command has no descriptor of the notebook');
$r = $s->cell('echo \'{"a": 1}\' >result.json; cd -; pwd');
$s->cell('cd ' . $s->{folder} . '; echo \'{"a": 1}\' >result.json; echo kept >out/a.txt');
is($s->cell('ls result.json')->{output}{result}, undef, 'a result of the cell before is gone');
$r = $s->run({code => 'echo \'{"a": 2}\' >result.json; echo kept >out/a.txt; cat d/b.txt'}, 'd/b.txt' => 'given');
is_deeply([@{$r->{output}}{qw(result stdout)}, $r->{files}{'a.txt'}], [{a => 2}, 'given', "kept\n"], 'a cell has files, a result and artifacts');
$r = $s->cell('printf "%0100000d" 1');
like($r->{output}{stdout}, qr/\n\[\d+ bytes are left out here; the whole is the artifact stdout\.txt\]\n/, 'long output keeps its beginning and its end');
is(length $r->{files}{'stdout.txt'}, 100000, 'the whole of a long output is an artifact');
$s->freeze;
is(printed('echo $x'), "9\n", 'a notebook goes on after it was stopped');
$s->begin({code => 'echo begun; until [[ -e go ]]; do sleep 0.01; done; rm go; (exit 3); echo $x $?; set -m; (exit 4) & wait $!; echo $?; set +m'});
$s->await_log(qr/begun/);
$s->freeze(sub { $s->write_file('go', '') });
is($s->await("run_$s->{cell}")->{output}{stdout}, "begun\n9 3\n4\n", 'a cell goes on after it was stopped');
$r = $s->cell('sleep 600 & setsid sleep 600 & echo started');
is($r->{output}{stdout}, "started\n", 'a cell that leaves processes ends');
like(why($r), qr/^2 processes that the code left running were ended$/, 'processes that a cell leaves are ended, and that is said');
is(printed('jobs; wait; echo done'), "done\n", 'a cell has no processes of the cell before');

# ---- cells that are undone ----

$r = $s->cell('x=10; touch changed.txt; cd /; echo begun; sleep 600', timeoutMs => 300);
is_deeply([@{$r->{output}}{qw(stdout stderr exitCode)}], ["begun\n", "ended after 300 ms, which is its timeoutMs\n", 124], 'a cell that takes too long is ended, and its output is told');
is(state_of($r), 'restored', 'a cell that takes too long is undone');
is(why($r), 'the code was ended after 300 ms, which is its timeoutMs; variables are as before this cell; files are not put back, and these have changed: changed.txt', 'an undone cell says why, and which files have changed');
is_deeply([map { $_->{kept} } @{$r->{states}}], [JSON::PP::false], 'an undone cell is not kept, and that is said once');
is(printed('echo $x; pwd; rm changed.txt'), "9\n$s->{folder}\n", 'all is as before the undone cell');
$r = $s->cell('x=11; kill -9 $BASHPID');
is_deeply([$r->{output}{exitCode}, state_of($r)], [137, 'restored'], 'a cell whose shell is killed is undone');
$r = $s->cell('x=12; kill -9 $$');
is_deeply([$r->{output}{exitCode}, state_of($r)], [137, 'restored'], 'a cell that kills the first shell is undone');
$r = $s->cell('x=13; kill -SEGV $BASHPID');
is_deeply([$r->{output}{exitCode}, $r->{output}{stderr}], [139, "ended by SIGSEGV\n"], 'a signal that ended a cell has its name');
$r = $s->cell('x=14; exec true');
is(state_of($r), 'restored', 'a cell that replaces its shell is undone');
is(printed('echo $x; kill -USR1 $BASHPID'), "9\ntrapped\n", 'all is as before several undone cells, traps as well');
$s->begin({code => 'x=15; echo begun; sleep 600 & wait'});
$s->await_log(qr/begun/);
$s->send_line({cancel => {id => 'run_other', why => 'cancel', graceMs => 5000}});
$s->send_line({cancel => {id => "run_$s->{cell}", why => 'cancel', graceMs => 5000}});
$r = $s->await("run_$s->{cell}");
is_deeply([$r->{failed}{code}, $r->{failed}{details}{stdout}, state_of($r)], ['EXECUTION_ERROR', "begun\n", 'restored'], 'a cell that is cancelled is undone, and tells what it printed');
is(printed('echo $x'), "9\n", 'all is as before the cancelled cell');
$s->send_line({cancel => {id => "run_$s->{cell}", why => 'cancel', graceMs => 5000}});
is(printed('x=16; echo $x'), "16\n", 'a cancel that comes too late does nothing');
is(state_of($s->cell('trap "echo bye" EXIT; exit 3')), 'restored', 'exit with a trap of the cell\'s own is undone');

$s->cell('printf "%s\n" one two three >lines; exec 7<lines; read -ru7 line');
$s->cell('read -ru7 line; x=0; sleep 600', timeoutMs => 300);
is(printed('read -ru7 line; echo "$line $x"'), "two 16\n", 'an undone cell has not read from open files');
$s->run({undo => JSON::PP::true});
is(printed('read -ru7 line; echo "$line"; exec 7<&-'), "two\n", 'an undone cell that ended has not read from open files');

# ---- undo ----

$r = $s->cell('x=17; touch later.txt');
$r = $s->run({undo => JSON::PP::true});
is_deeply([$r->{output}{exitCode}, state_of($r)], [0, 'restored'], 'the last cell can be undone');
is(printed('echo $x; ls later.txt'), "16\nlater.txt\n", 'undo goes back one cell, and leaves files');
$r = $s->run({undo => JSON::PP::true});
is($s->run({undo => JSON::PP::true})->{failed}{message}, 'there is nothing to undo: only the last cell can be undone, once', 'a second undo is refused');
is($s->run({})->{failed}{message}, 'give either code or undo', 'a cell without code is refused');
is(printed('echo $x'), "16\n", 'a refused cell changes nothing');

# ---- attacks ----

is(printed('exec 0<&- 1>&- 2>&-; for ((i = 3; i < 100; i++)); do eval "exec $i>&-"; done'), '', 'a cell may close all descriptors');
is(printed('echo $x'), "16\n", 'a cell after closed descriptors is run');
$r = $s->cell('x=17; printf "idle %s\n" "1 1 0" "99999999 1 0" x >"$__paddock_reports"; printf "asleep 1 1\nended 9 9\nrun\n\n%09999d\n" 1 >"$__paddock_reports"; echo end');
is_deeply([$r->{output}{stdout}, state_of($r)], ["end\n", 'kept'], 'reports that are none of the cell are ignored');
$r = $s->cell('printf "idle %s 1 3\n" "$__paddock_serial" >"$__paddock_reports"; x=18; sleep 600', timeoutMs => 60000);
is($r->{output}{exitCode}, 3, 'a cell may forge its own end');
$s->cell('x=17', timeoutMs => 2000); # of the cell before, sleep may have begun behind the forged end
is(printed('x=17; echo $x'), "17\n", 'a notebook goes on after a forged end');
$s->stop;
$s = begin();
$s->cell('x=1');
$s->cell('trap "" INT TERM HUP QUIT; kill -HUP 0; kill -TERM 0; x=2');
is(printed('echo $x'), "2\n", 'signals to the group of a cell spare the notebook');
$s->cell('kill -9 0');
is(printed('echo $x'), "2\n", 'a cell that kills its group is undone');
is(state_of($s->cell('spawn() { (spawn) & }; spawn; x=3', timeoutMs => 60000)), 'kept', 'processes that always fork anew are ended with their cell');
is($s->cell('builtin() { :; }; echo $x', timeoutMs => 1000)->{output}{exitCode}, 124, 'a cell that replaces builtin is ended at its time');
is(printed('echo $x; rm -rf main.sh result.json; mkdir main.sh result.json'), "3\n", 'a cell that replaced builtin is undone');
is(printed('echo $x; ulimit -n 8; ulimit -v 50000', timeoutMs => 20000), "3\n", 'a folder in place of the script is removed');
$r = $s->cell('head -c 30000000 /dev/zero | tr "\0" x; head -c 30000000 /dev/zero >&2', timeoutMs => 80000);
$s->stop;

$s = begin();
$s->cell('x=1');
$r = $s->cell('x=2; cd /proc; all=(); for p in [0-9]*; do read -r _ _ _ _ _ session _ <$p/stat && [[ $session == $$ && $p != $BASHPID && $p != $$ ]] && all+=($p); done 2>/dev/null; kill -9 "${all[@]}" $$; sleep 600');
is(state_of($r), 'new', 'a cell that kills all states loses the notebook');
like(why($r), qr/^the code was ended by SIGKILL; .*all variables are lost, and the notebook is empty/, 'a lost notebook says so');
$r = $s->cell('echo "<$x>"');
is($r->{output}{stdout} . state_of($r), "<>\nnew", 'a lost notebook begins anew');
like(why($r), qr/^the shell that kept the state before cell 2 has ended$/, 'the cell after a loss says why nothing is set');
is(state_of($s->cell(':')), 'kept', 'a loss is told once');
$r = $s->cell('kill -9 $PPID; sleep 600');
is_deeply($r, {}, 'a cell that kills the host ends the resident');
$s->stop;

# ---- stopped while the first shell waits for the head ----

$s = begin();
for my $n (1 .. 3) {
	$s->cell("x=$n");
	$s->freeze;
	is(printed('echo $x'), "$n\n", "a young notebook goes on after stop $n");
	$s->freeze;
}
$s->freeze(sub {
	my $id = $s->begin({code => 'x=9; sleep 600'});
	$s->send_line({cancel => {id => $id, why => 'cancel', graceMs => 5000}});
});
is(state_of($s->await("run_$s->{cell}")), 'restored', 'a cell is ended whose cancel comes with it');
$s->freeze;
is(printed('echo $x'), "3\n", 'all is as before a cell whose cancel came with it');
$s->freeze;
is($s->cell('x=10; kill -STOP $$')->{output}{exitCode}, 0, 'a cell may stop the first shell');
is(printed('echo $x; kill -CONT $$'), "10\n", 'a notebook whose first shell is stopped goes on');
is($s->cell('x=11; kill -9 $$')->{output}{exitCode}, 137, 'a cell that kills the first shell is told of the kill after stops');
$s->freeze;
is(printed('echo $x'), "10\n", 'a notebook without its first shell goes on after it was stopped');
$s->stop;

$s = begin();
is(why($s->cell('x=1', notebook => 'n')), '', 'a notebook of no history says nothing of it');
$s->stop;
$s = begin(lost => 'the notebook was idle for 15 min');
is(why($s->cell(':')), 'the notebook was idle for 15 min', 'what was lost before is told by the first cell');
$s->cell('sleep 600 & setsid sleep 600 & sleep 1', timeoutMs => 1);
is($s->stop, 0, 'a notebook ends well');
done_testing;
