#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A notebook of run_python: variables stay, a bad cell costs only that cell, values and
# figures are told, and hostile cells harm nothing but the notebook.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use lib 'tests/lib';
use JSON::PP ();
use Needs;
use ResidentHost;
use Test::More;

$SIG{__DIE__} = sub { diag(@_) if !$^S };
needs('python3');
my $TOP = abs_path(dirname(__FILE__) . '/../../..');
my @COMMAND = ('/usr/bin/python3', "$TOP/etc/templates/run_python/main.py");
my $TRUE = JSON::PP::true;
my $h;

sub notebook { $h = ResidentHost->new(command => \@COMMAND, @_); return $h }
sub cell { my ($code, %inputs) = @_; return $h->cell($code, %inputs)->{output} // {} }
sub value { return cell(@_)->{value} }
sub undo { return $h->run({undo => $TRUE}) }
sub has_module { return system("/usr/bin/python3 -c 'import $_[0]' 2>/dev/null") == 0 }
sub has { my ($r, %want) = @_; return is_deeply({map { $_ => $r->{$_} } keys %want}, \%want, $want{name}) }

# CODE is undone, for a reason like WHY, and x has the value of before.
sub is_undone {
	my ($name, $code, $why, %inputs) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;

	cell("x = 'before'");
	my $r = $h->cell($code, %inputs);
	is($r->{output}{notebook}{state}, 'restored', "$name: the cell is undone");
	like($r->{output}{notebook}{why}, $why, "$name: the reason is told");
	is(value('x'), "'before'", "$name: the notebook is as it was before");
	return $r;
}

sub command_of { open my $in, '<', "/proc/$_[0]/cmdline" or return ''; local $/; return scalar(<$in>) // '' }

# ---- a cell ----

notebook();
my $r = $h->cell("x = 5\nx + 1");
is_deeply($r->{output}, {stdout => '', stderr => '', exitCode => 0, value => '6', notebook => {name => 'n', cell => 1, state => 'new'}},
	  'a first cell: the value of the last expression, and a new notebook');
is_deeply($r->{states}, [{kept => $TRUE}], 'a cell that ends well is said to be kept');
$r = cell("print(x)\nx = 6");
is($r->{stdout}, "5\n", 'a variable of one cell is there in the next');
ok(!exists $r->{value}, 'an assignment has no value');
is($r->{notebook}{state}, 'kept', 'a second cell goes on with what is there');
$r = cell("y = 1\ndef f():\n    return y / 0\nf()");
is_deeply([@{$r->{error}}{qw(name value)}], ['ZeroDivisionError', 'division by zero'], 'an exception is told by name and text');
like(join("\n", @{$r->{error}{traceback}}), qr/\ATraceback.*\n  File "<cell 3>", line 4, in <module>\n    f\(\)\n  File "<cell 3>", line 3, in f\n    return y \/ 0\n/s,
     'a traceback has the cell, the line and the code');
is($r->{notebook}{state}, 'kept', 'a cell that raises is kept');
is(value('y'), '1', 'a variable that was set before an exception stays');
like(cell('f()')->{stderr}, qr/"<cell 3>", line 3, in f\n    return y/, 'a function of an earlier cell is shown in a traceback');
like(cell("if x\n")->{stderr}, qr/"<cell 6>", line 1\n.*SyntaxError/s, 'an error of syntax has its line');
is_deeply([map { cell($_)->{exitCode} } "import sys\nsys.exit()", 'sys.exit(3)', "sys.exit('no')", 'x'], [0, 3, 1, 0], 'sys.exit() ends a cell, not the notebook');
like(cell('import nosuch')->{stderr}, qr/nosuch is not installed .*python3-nosuch/, 'a module that is missing is told with the package');
my $long = value("'a' * 200000");
ok(length $long < 66000 && $long =~ /\A'a+\n\[\d+ characters are left out here\]\na+'\z/, 'a long value keeps its beginning and its end');
$r = $h->run({code => "import sys\n[sys.argv[1:], input(), open('d/a.txt').read()]", args => ['-q'], stdin => "given\n"}, 'd/a.txt' => 'text');
is($r->{output}{value}, "[['-q'], 'given', 'text']", 'a cell has arguments, input and files');
is(value("sys.stdin.read()"), "''", 'the input of one cell is not that of the next');
is_deeply(cell("open('result.json', 'w').write('{\"a\": [1]}')")->{result}, {a => [1]}, 'result.json is the result');
ok(!exists cell('1')->{result}, 'a result is told once');
like(cell("open('result.json', 'w').write('NaN')")->{stderr}, qr/result\.json is no JSON: NaN is no number of JSON\n/, 'a result.json that is no JSON is no result');
like(cell("open('result.json', 'w').write('[1e999]')")->{stderr}, qr/result\.json is no JSON/, 'a number beyond those of JSON is no result');
is(cell("raise ValueError('\\ud800')")->{error}{value}, '?', 'an exception may have what is no character');
$r = $h->cell("open('out/a.txt', 'w').write('kept')");
is($r->{files}{'a.txt'}, 'kept', 'a file in out/ is there after the cell');
$r = $h->cell("print('x' * 200000)");
is($r->{output}{truncated}{stdout}, 200001, 'of much output the size is told');
is(length $r->{files}{'stdout.txt'}, 200001, 'of much output the whole is an artifact');
like($r->{output}{stdout}, qr/the whole is the artifact stdout\.txt/, 'of much output the artifact is named');
is(cell("import subprocess\nprint(subprocess.run(['sh', '-c', 'echo child'], capture_output=True, text=True).stdout)")->{stdout}, "child\n\n", 'a cell starts a program');

is($h->run({code => "len(open('big.txt').read())"}, 'big.txt' => 'b' x (2 << 20))->{output}{value}, 2 << 20, 'a cell has a large file');
is(value("len(open('big.txt').read())"), 2 << 20, 'a large file stays for the next cell');
cell("import os\nos.mkdir('taken')");
$r = $h->run({code => 'z = 1'}, taken => 'b')->{output};
like($r->{stderr}, qr/the cell was not run, since its input could not be placed: .*taken/, 'a file that cannot be placed is told');
is($r->{notebook}{state}, 'kept', 'a cell whose file cannot be placed changes nothing');
$h->stop_all;
$h->continue_all;
is(value('y'), '1', 'a notebook goes on after all of its processes were stopped');
$h->stop_all;
my $next = $h->begin({code => 'y'});
$h->continue_all;
is($h->await($next)->{output}{value}, '1', 'a run that came while the processes were stopped is served');
$next = $h->begin({code => "import time\ny = 2\nprint('slept', flush=True)\ntime.sleep(0.05)\ny = 1\ny"});
$h->await_log(qr/slept/);
$h->stop_all;
$h->continue_all;
is($h->await($next)->{output}{value}, '1', 'a cell goes on after a stop');

is(value("os.environ['OMP_NUM_THREADS'], os.environ['OPENBLAS_NUM_THREADS']"), "('1', '1')", 'libraries have a single thread unless the code says otherwise');

# ---- undone cells ----

# on a busy machine a short time is over before the code has begun
for my $ms (50, 1000, 10_000) {
	$r = is_undone("a time-out of $ms ms", "x = 1\ndef f(): return True\ntry:\n    while f(): pass\nfinally:\n    print('cleaned')", qr/longer than $ms ms, which is its timeoutMs; the notebook is as it was/, timeoutMs => $ms);
	last if $r->{output}{stdout} =~ /cleaned/;
}
like($r->{output}{stdout}, qr/cleaned/, 'a time-out: the code can clean up');
$r = is_undone('a deaf cell', "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nx = 1\nwhile True: pass", qr/its timeoutMs/, timeoutMs => 50);
is($r->{output}{exitCode}, 124, 'a deaf cell: it is told as a time-out');
is(is_undone('an exit', "x = 1\nprint('o', flush=True)\nimport os\nos._exit(7)", qr/its interpreter ended with 7/)->{output}{exitCode}, 7, 'an exit: the code is told');
$r = is_undone('a crash', "x = 1\nprint('o')\nimport os\nos.kill(os.getpid(), 11)", qr/ended by SIGSEGV/);
is_deeply([@{$r->{output}}{qw(stdout stderr exitCode)}], ["o\n", "ended by SIGSEGV\n", 139], 'a crash: what was printed before is told, and the signal');
is(is_undone('another program', "x = 1\nimport os\nos.execv('/bin/sh', ['sh', '-c', 'echo sh; exit 4'])", qr/ended with 4/)->{output}{stdout}, "sh\n", 'another program: what it printed is told');

sub while_it_waits {
	my ($code, $do) = @_;
	my $id = $h->begin({code => "x = 1\nimport os, time\nprint('pid', os.getpid(), flush=True)\n$code"});
	my $pid = $h->await_log(qr/pid (\d+)/);

	$do->($id, $pid);
	return $h->await($id);
}
cell("x = 'before'");
$r = while_it_waits('time.sleep(600)', sub { $h->kill_in_cage($_[1], 'KILL') });
like($r->{output}{stderr}, qr/ended by SIGKILL: .*more memory/, 'a head that the kernel kills: the likely reason is told');
is(value('x'), "'before'", 'a head that the kernel kills: the notebook is as it was before');
for my $why (qw(cancel timeout memory cpu processes sandbox limit)) {
	$r = while_it_waits('time.sleep(600)', sub { $h->cancel($_[0], $why) });
	is($r->{failed}{code}, 'EXECUTION_ERROR', "an end by $why is a failure");
	is_deeply([map { $_->{kept} } @{$r->{states}}], [JSON::PP::false], "after an end by $why the state is said to be that before");
	like($r->{output}{stdout}, qr/pid \d+\n/, "an end by $why tells what was printed");
	is(value('x'), "'before'", "after an end by $why the notebook is as it was before");
}
$r = while_it_waits("import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())\nwhile True: pass", sub { $h->cancel($_[0], 'cancel', 100) });
is($r->{output}{notebook}{state}, 'restored', 'a cancelled cell that blocks all signals is undone');
$h->freeze(sub {
	$h->cancel($h->begin({code => "x = 1\nimport time\ntime.sleep(600)"}), 'cancel');
});
is($h->await("run_$h->{cell}")->{failed}{code}, 'EXECUTION_ERROR', 'a cell is ended whose cancel comes with it');
is(value('x'), "'before'", 'the notebook is as it was before a cell whose cancel came with it');

# ---- state that fork breaks ----

cell("import random\nrandom.seed(7)\nfirst = random.random()\nf = open('n.txt', 'w+')\nf.write('0123456789')\nf.seek(0)\nf.read(0)\nimport os\nos.lseek(f.fileno(), 3, 0)");
$r = value("(random.random(), os.read(f.fileno(), 2))");
undo();
is(value("(random.random(), os.read(f.fileno(), 2))"), $r, 'random numbers and places in files are put back');
SKIP: {
	skip 'numpy is not installed', 1 if !has_module('numpy');
	cell("import numpy\nnumpy.random.seed(3)");
	my $drawn = value('numpy.random.rand()');
	undo();
	is(value('numpy.random.rand()'), $drawn, 'random numbers of numpy are put back');
}
cell("import os, resource, signal, sys\nos.mkdir('folder')\nbefore = (os.getcwd(), signal.getsignal(15), resource.getrlimit(7), len(sys.path))");
cell("os.chdir('folder')\nos.umask(0o777)\nsignal.signal(15, signal.SIG_IGN)\nos.environ['Q'] = '1'\nresource.setrlimit(7, (100, 100))\nsys.path.clear()\nos._exit(1)");
is(value("before == (os.getcwd(), signal.getsignal(15), resource.getrlimit(7), len(sys.path)), os.umask(18), 'Q' in os.environ"), '(True, 18, False)',
   'folder, mask, signals, environment, limits and paths are those before an undone cell');
cell("os.chdir('folder')");
is($h->run({code => "os.path.basename(os.getcwd()), open('../b.txt').read()"}, 'b.txt' => 'b')->{output}{value}, "('folder', 'b')", 'a folder that a cell went to stays, and files are placed as ever');
cell("os.chdir('..')");

cell("closed = open('n.txt')\nos.register_at_fork(after_in_child=closed.close)\nx = 'before'");
cell("x = 1\nos._exit(1)");
is(value('x, closed.closed'), "('before', True)", 'a file that is closed at a fork, as a font of matplotlib, is closed after an undone cell');

# ---- undo ----

notebook();
like(undo()->{failed}{message}, qr/no cell to undo: the notebook is empty/, 'an undo in an empty notebook is refused');
cell('x = 1');
cell('x = 2');
$r = undo();
is_deeply($r->{output}{notebook}, {name => 'n', cell => 4, state => 'restored', why => 'cell 3 was undone, as asked'}, 'an undo says which cell is undone');
is(value('x'), '1', 'after an undo a variable is what it was');
undo();
is(value('x'), '1', 'an undo of a cell that changed nothing changes nothing');
cell("x = $_", keep => 3) for 5 .. 9;
undo() for 1 .. 3;
is(value('x'), '6', 'three cells can be undone where keep is 3');
notebook();
cell('x = 1');
undo();
is(cell('x')->{error}{name}, 'NameError', 'after an undo of the first cell the notebook is empty');
is(cell('1')->{notebook}{state}, 'kept', 'a notebook that was empty again goes on');
cell("x = $_") for 1 .. 3;
undo();
$r = undo();
like($r->{failed}{message}, qr/cannot be undone: 1 at most can be, one after the other, as keep says \(1 to 8, beside code\)/, 'an undo beyond keep is refused, with what would pass');
is(value('x'), '2', 'a refused undo changes nothing');
cell("import os\nos.mkdir('d')\nopen('d/old.txt', 'w').write('1')");
$r = cell("open('d/new.txt', 'w').write('1')\nos._exit(1)");
like($r->{notebook}{why}, qr{; files stay as the cell left them: d/new\.txt\z}, 'files that an undone cell has changed are named');

# ---- no checkpoint ----

sub has_no_checkpoint {
	my ($name, $code, $why, $end) = @_;

	notebook();
	cell("x = 'two before'");
	my $told = cell("x = 'before'\n$code");
	ok(defined $told->{notebook}{checkpoint} && !$told->{notebook}{checkpoint}, "$name: there is no checkpoint");
	like($told->{notebook}{checkpointWhy}, $why, "$name: the reason is told");
	like(cell("import os\nos._exit(1)")->{notebook}{why}, qr/the notebook is as it was after cell 1, since cell 2 left no checkpoint: /, "$name: the notebook goes back further, and says so");
	is(value('x'), "'two before'", "$name: the notebook is what it is said to be");
	return;
}
has_no_checkpoint('a thread', "import threading, time\nthreading.Thread(target=time.sleep, args=(600,), daemon=True).start()", qr/1 of the code's threads still run/);
has_no_checkpoint('a child', "import subprocess\np = subprocess.Popen(['sleep', '600'])", qr/1 of the processes that the code started still run/);
has_no_checkpoint('a pipe', "import os\np = os.pipe()", qr/pipe open/);
has_no_checkpoint('a socket', "import socket\np = socket.socketpair()", qr/socket open/);
SKIP: {
	skip 'without namespaces an orphan cannot be found', 5 if !ResidentHost::is_caged();
	has_no_checkpoint('an orphan', "import os\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        os.execv('/bin/sleep', ['sleep', '600'])\n    os._exit(0)\nos.wait()", qr/1 of the processes/);
	is_deeply([grep { /^sleep\b/ } map { command_of($_) } $h->descendants], [], 'an orphan: no process of an undone cell is left');
}

# ---- values and figures ----

notebook();
cell(<<'END');
class A:
    def __init__(self, **shown): self.shown = shown
    def __repr__(self): return 'A'
class Bundle(A):
    def _repr_mimebundle_(self, include=None, exclude=None): return self.shown
class Page(A):
    def _repr_html_(self): return '<b>x</b>'
class Marked(A):
    def _repr_markdown_(self): return '**x**'
class Json(A):
    def _repr_json_(self): return {'a': 1}
class Bad(A):
    def _repr_png_(self): raise ValueError('no')
END
$r = $h->cell("Bundle(**{'text/plain': 'p', 'image/png': 'iVBORw0K', 'text/html': 'h'})");
is_deeply([$r->{output}{value}, $r->{files}{'figure-1.png'}], ['A', "\x89PNG\r\n"], 'the picture of a bundle is a file');
is($h->cell('Page()')->{files}{'figure-2.html'}, '<b>x</b>', 'a page is a file, and numbers go on');
is(cell('Marked()')->{markdown}, '**x**', 'Markdown is told');
is_deeply(cell('Json()')->{json}, {a => 1}, 'JSON of a value is told');
$r = cell('Bad()');
is_deeply([@$r{qw(value exitCode stderr)}], ['A', 0, "the value could not be shown: ValueError: no\n"], 'a value that cannot be shown has its text');
SKIP: {
	skip 'pandas is not installed', 5 if !has_module('pandas');
	$r = cell("import pandas\npandas.DataFrame({'n': [1, None], 't': ['a|b', pandas.Timestamp('2026-01-02')]}, index=['p', 'q'])");
	is_deeply($r->{table}, {columns => ['n', 't'], index => ['p', 'q'], shape => [2, 2], rows => [[1, 'a|b'], [undef, '2026-01-02 00:00:00']]}, 'a frame is a table');
	is($r->{markdown}, "|  | n | t |\n| --- | --- | --- |\n| p | 1.0 | a\\|b |\n| q |  | 2026-01-02 00:00:00 |", 'a frame is Markdown');
	$r = cell("pandas.Series(range(100), name='s')");
	is(scalar @{$r->{table}{rows}}, 50, 'a long table has 50 rows');
	like($r->{markdown}, qr/\n\n100 rows, 1 columns in all\z/, 'a long table says how long it is');
	is(cell("x = pandas.DataFrame()")->{notebook}{checkpoint}, undef, 'a notebook with pandas has checkpoints');
}
SKIP: {
	skip 'matplotlib is not installed', 7 if !has_module('matplotlib');
	notebook();
	$r = $h->cell("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()\nplt.plot([2, 1])\nplt.figure()\nopen('out/figure-2.png', 'w').write('mine')");
	is_deeply([map { "$_ " . ($r->{files}{$_} =~ /\A\x89PNG/ ? 'picture' : $r->{files}{$_}) } sort keys %{$r->{files}}],
		  ['figure-1.png picture', 'figure-2.png mine', 'figure-3.png picture', 'figure-4.png picture'],
		  'figures that are shown or left open are files, in the place of none of the code');
	is_deeply([sort keys %{$h->cell("fig = plt.figure()\nfig")->{files}}], ['figure-5.png'], 'a figure that is open and the value is shown once');
	is_deeply([sort keys %{$h->cell('fig')->{files}}], ['figure-6.png'], 'a figure that was shown can be shown again');
	is($h->cell('1')->{files}, undef, 'a cell without figures has no files');
	is_deeply([sort keys %{$h->cell("plt.plot([1])\n1/0")->{files}}], ['figure-7.png'], 'a figure of a cell that raises is shown');
	is_deeply([sort keys %{$h->cell("import subprocess\nsubprocess.run(['/usr/bin/python3', '-c', 'import matplotlib.pyplot as p; p.plot([1]); p.show()'])")->{files}}], ['figure-1.png'],
		  'a figure of another interpreter is shown');
	is(cell('1')->{notebook}{checkpoint}, undef, 'a notebook with matplotlib has checkpoints');
}
SKIP: {
	skip 'PIL is not installed', 1 if !has_module('PIL');
	notebook();
	like($h->cell("from PIL import Image\nImage.new('RGB', (2, 2))")->{files}{'figure-1.png'} // '', qr/\A\x89PNG/, 'a picture of PIL is a file');
}

# ---- without a notebook ----

sub alone {
	my ($code) = @_;
	my $folder = tempdir(CLEANUP => 1);

	mkdir "$folder/out";
	open my $in, '>', "$folder/inputs" or die "inputs: $!";
	print {$in} JSON::PP->new->encode({code => $code});
	close $in;
	my $said = `cd $folder && PYTHONDONTWRITEBYTECODE=1 $COMMAND[0] $COMMAND[1] <inputs 3>/dev/null 4</dev/null`;
	return {%{JSON::PP->new->decode($said)}, figures => [map { s{.*/}{}r } sort glob "$folder/out/*"]};
}
$r = alone("def f():\n    return 1 / 0\nf()");
is_deeply([@{$r->{error}}{qw(name value)}], ['ZeroDivisionError', 'division by zero'], 'without a notebook an exception is told as well');
is(join('', map { "$_\n" } @{$r->{error}{traceback}}), $r->{stderr}, 'without a notebook the traceback is that of stderr');
ok(!exists alone("import os\nf = open('a', 'w')\nos.dup2(f.fileno(), 3)\n1 / 0")->{error}, 'without a notebook no error is written to a file of the code');
ok(!exists alone("import os\nos.write(3, b'[1')")->{error}, 'without a notebook an error that the code forges badly is none');
SKIP: {
	skip 'matplotlib is not installed', 1 if !has_module('matplotlib');
	is_deeply(alone("import matplotlib.pyplot as plt\nplt.plot([1])\nplt.show()\nplt.plot([2])\nplt.savefig('out/own.png')")->{figures}, ['figure-1.png', 'own.png'],
		  'without a notebook figures are files when they are shown');
}

# ---- hostile cells ----

notebook();
is(value("import os\n[fd for fd in range(3, 64) if os.path.exists(f'/proc/self/fd/{fd}')]"), '[]', 'a cell has no descriptor of the resident below its own');
my $into = q{[int(fd) for fd in os.listdir('/proc/self/fd') if int(fd) > 63 and not os.set_blocking(int(fd), True)]};
is_undone('a forged length', "import os\nfor fd in $into:\n    try: os.write(fd, b'\\xff' * 8)\n    except OSError: pass\nwhile True: pass", qr/its interpreter was ended by SIGKILL/);
is_undone('a forged message', "import os\nfor fd in $into:\n    try: os.write(fd, b'\\0\\0\\0\\3[1]')\n    except OSError: pass\nwhile True: pass", qr/its interpreter was ended by SIGKILL/);
is_undone('forged pids', "import os\nfor key in 'sleeper', 'head', 'ended', 'done':\n    for pid in '0', '-1', '1', str(1 << 70), str(os.getppid()), '\"a\"', '[]', '{}', '1e99':\n        text = ('{\"%s\": %s}' % (key, pid)).encode()\n        os.write(65, len(text).to_bytes(4, 'big') + text) if key + pid != 'done{}' else 0\nos._exit(1)", qr/ended with 1/);
is_undone('closed descriptors', "import os\nos.closerange(0, 1000)", qr/it broke what the notebook needs/);
$r = cell("import os, sys\nos.close(1)\nos.close(2)\nsys.stdout.close()");
is(cell("print('seen')")->{stdout}, "seen\n", 'after a cell that closed its outputs the next prints');
cell("import builtins\nfor name in ('len', 'open', 'print', 'isinstance', 'int'):\n    setattr(builtins, name, None)");
is(value('[1].__len__()'), '1', 'after a cell that replaced builtins the next has its value');
is(undo()->{output}{notebook}{state}, 'restored', 'builtins that were replaced can be undone');
undo();
is_undone('os replaced', "import os\nos.read = os.write = os.fork = None", qr/it broke what the notebook needs of Python/);
is_undone('json replaced', "import json\njson.dumps = None", qr/it broke what the notebook needs of Python/);
is(cell("import os\nif os.fork() > 0:\n    os.wait()")->{notebook}{state}, 'kept', 'a child that comes to the end of a cell does not go on as the notebook');
is(value('40 + 2'), '42', 'after a child that came to the end the next cell runs once');
SKIP: {
	skip 'without namespaces an orphan cannot be found', 4 if !ResidentHost::is_caged();
	is_undone('a fork bomb', "import os, signal\nsignal.signal(2, signal.SIG_IGN)\nfor i in range(5):\n    os.fork()\nos.setsid() if os.getpgrp() != os.getpid() else 0\nwhile True: pass", qr/its timeoutMs/, timeoutMs => 200);
	my @left = $h->descendants;
	cmp_ok(scalar @left, '<', 9, 'a fork bomb: nothing of it is left') or diag("@left");
}
notebook(sockets => 1);
like(value("import os\nseen = []\nfor fd in 3, 4:\n    try: seen.append(open(f'/proc/{os.getppid()}/fd/{fd}', 'wb'))\n    except OSError as error: seen.append(error.errno)\nseen"), qr/\A\[6, 6\]\z/,
     'a cell cannot open the lines of the resident where these are sockets');
is(value('1'), '1', 'a resident can have sockets in place of pipes');
$r = $h->cell("for i in range(512):\n    print('x' * 65535)");
is($r->{output}{truncated}{stdout}, 512 * 65536, 'a cell that prints 32 MiB is told with the size');
is(length $r->{files}{'stdout.txt'}, 8 << 20, 'of 32 MiB the artifact has 8');
is(cell("import os\nos.mkfifo('result.json')")->{notebook}{state}, 'kept', 'a pipe in the place of the result stops nothing');
is($h->run({code => "open('f').read()"}, f => 'given')->{output}{value}, "'given'", 'a file is placed');
cell("import os\nos.unlink('f')\nos.mkfifo('f')");
is($h->run({code => "open('f').read()"}, f => 'given')->{output}{value}, "'given'", 'a file is placed where a cell has left a pipe');
is_undone('a value that hangs', "class Slow:\n    def __repr__(self):\n        while True: pass\nSlow()", qr/its timeoutMs/, timeoutMs => 50);
cell("import signal\nsignal.setitimer(signal.ITIMER_REAL, 0.001)\nsignal.signal(signal.SIGALRM, lambda *_: 1 / 0)");
cell('1');
is(value('42'), '42', 'a handler of the code that raises between cells stops nothing');
notebook();
cell("x = 1");
cell("x = 2");
cell("import os, signal\nfor pid in os.listdir('/proc'):\n    if pid.isdigit() and int(pid) not in (os.getpid(), os.getppid()) and 'main.py' in open(f'/proc/{pid}/cmdline').read():\n        os.kill(int(pid), 9)") if ResidentHost::is_caged();
SKIP: {
	skip 'without namespaces a cell would find other processes', 2 if !ResidentHost::is_caged();
	is(value('x'), '2', 'a cell that kills the copies goes on');
	cell('os._exit(1)');
	is(value('x'), '2', 'after a cell that killed the copies there are copies again');
}
notebook();
$r = $h->cell("import os, signal\nos.kill(os.getppid(), 9)");
is_deeply($r, {}, 'a cell that kills the keeper ends the resident');
for my $end ('a notebook', 'a notebook with a loop') {
	notebook();
	cell('x = 1');
	cell('while True: pass', timeoutMs => 10) if $end =~ /loop/;
	is($h->stop, 0, "$end ends when no run can come");
	is_deeply([$h->descendants], [], "$end leaves no process");
}
done_testing;
