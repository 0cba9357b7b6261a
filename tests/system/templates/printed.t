#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A failed run tells what the code printed, whatever ended the run: the time, the CPU time, the
# death of the process which reads the output. Of long output the beginning and the end are told.
use lib 'tests/lib';
use Paddock;

my @TEMPLATES = grep { !lacks({run_python => 'python3', run_node => 'node', run_bash => 'perl'}->{$_}) } qw(run_bash run_node run_python);
my %PRINTS = (
	run_python => "import os, sys, time\nprint('said')\nprint('wrong', file=sys.stderr, flush=True)\n",
	run_node => "console.log('said'); console.error('wrong');\n",
	run_bash => "echo said; echo wrong >&2\n",
);
# The template has read both outputs, and has kept both for the shim: the size, which stands first
# in each file, is written last.
my %IS_READ = (
	run_python => "while any(open(f'/dev/shm/.printed.{name}', 'rb').read(1) in (b'', b'\\0') for name in ('stdout', 'stderr')): pass\n",
	run_node => "while (['stdout', 'stderr'].some((name) => !require('fs').readFileSync(`/dev/shm/.printed.\${name}`)[0]));\n",
	run_bash => "for name in stdout stderr; do until [ -n \"\$(head -c 1 /dev/shm/.printed.\$name | tr -d '\\0')\" ]; do :; done; done\n",
);
my %LOOPS = (run_python => 'while True: pass', run_node => 'for (;;);', run_bash => 'while :; do :; done');
my %WAITS = (run_python => 'time.sleep(600)', run_node => 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)', run_bash => 'sleep 600');
my %KILLS = (run_python => 'os.kill(-1, 9)', run_node => "process.kill(-1, 'SIGKILL')", run_bash => 'kill -9 -1');
my %MUCH = (
	run_python => "for i in range(200000): print(f'line {i}')\n",
	run_node => "const {writeSync} = require('fs'); for (let i = 0; i < 200000; i += 100) { let t = ''; for (let j = i; j < i + 100; j++) t += `line \${j}\\n`; for (let at = 0; at < t.length;) try { at += writeSync(1, t.slice(at)) } catch {} }\n",
	run_bash => "seq -f 'line %.0f' 0 199999\n",
);

sub details { my ($view) = @_; return $view->{error}{details} // {} }

sub tells {
	my ($view, $code, $name) = @_;
	my $told = details($view);

	is($view->{error}{errorCode}, $code, "$name has its code") or diag explain $view;
	is($told->{stdout}, "said\n", "$name tells what the code printed");
	# of a cell in Python an interrupt may be told, too
	like($told->{stderr}, qr/\Awrong\n(?:Traceback|\z)/, "$name tells the code's errors");
	is(($told->{runId} // ''), $view->{runId}, "$name names the run");
}

# ---- time ----

for (users()) {
	my ($who, $user) = @$_;
	my $s = Paddock->new(user => $user, dirs => ['etc/templates'])->greeted;
	my %id;

	for my $t (@TEMPLATES) {
		my $code = "$PRINTS{$t}$WAITS{$t}";
		$id{"$t, once"} = $s->run_async($t => {code => $code}, timeoutMs => 6000);
		$id{"$t, in a notebook"} = $s->run_async($t => {code => $code, notebook => 'n'}, timeoutMs => 6000);
	}
	my $much = $s->run_async('run_bash' => {code => "$MUCH{run_bash}$WAITS{run_bash}"}, timeoutMs => 6000);
	tells($s->ended($id{$_}), 'RUN_TIMEOUT', "$who: $_: a run that took too long") for sort keys %id;
	my $told = details($s->ended($much))->{stdout};
	like($told, qr/\Aline 0\nline 1\n/, "$who: the beginning of long output is told");
	like($told, qr/\nline 199999\n\z/, "$who: the end of long output is told");
	my $all = length join '', map { "line $_\n" } 0 .. 199999;
	my ($left) = $told =~ /\n\[(\d+) bytes are left out here\]\n/;
	is(length($told) - length("\n[$left bytes are left out here]\n"), 65536, "$who: 64 KiB of long output are told");
	is($left, $all - 65536, "$who: what is missing of long output is counted");
	for my $t (@TEMPLATES) {
		my $r = $s->run_sync($t => {code => $LOOPS{$t}, notebook => 'n'}, timeoutMs => 2500);
		is(details($r)->{stdout}, '', "$who: $t: a cell tells nothing of the cell before") or diag explain $r;
		unlike(json_of($r->{notebook}), qr/shim/, "$who: $t: a notebook outlives a cell that failed");
	}
	$s->stop;
}

# ---- the death of the template's own process, and of all others ----
{
	my $s = Paddock->new(dirs => ['etc/templates'])->greeted;

	for my $t (@TEMPLATES) {
		tells($s->run_sync($t => {code => "$PRINTS{$t}$IS_READ{$t}$KILLS{$t}"}), 'WORKER_CRASHED', "$t: a run whose template was killed");
		my $r = $s->run_sync($t => {code => "$PRINTS{$t}$IS_READ{$t}$KILLS{$t}", notebook => 'n'});
		tells($r, 'WORKER_CRASHED', "$t: a cell whose template was killed");
		my $answer = $s->tool($t => {code => "$PRINTS{$t}$IS_READ{$t}$KILLS{$t}"});
		is($answer->{view}{details}{stdout}, "said\n", "$t: the tool's own answer tells what was printed") or diag explain $answer;
	}
	$s->stop;
}

# ---- files that the code has spoilt ----
{
	my %spoils = (
		run_python => "import os\nfor name in ('stdout', 'stderr'):\n    os.unlink(f'/dev/shm/.printed.{name}')\n    os.mkdir(f'/dev/shm/.printed.{name}')\n",
		run_node => "for (const name of ['stdout', 'stderr']) { require('fs').unlinkSync(`/dev/shm/.printed.\${name}`); require('fs').mkdirSync(`/dev/shm/.printed.\${name}`) }\n",
		run_bash => "for name in stdout stderr; do rm /dev/shm/.printed.\$name; mkdir /dev/shm/.printed.\$name; done\n",
	);
	my $s = Paddock->new(dirs => ['etc/templates'])->greeted;

	for my $t (@TEMPLATES) {
		my $cell = sub { $s->run_sync($t => {code => $_[0], notebook => 'n'})->{result} // {} };

		is($cell->("$spoils{$t}$PRINTS{$t}")->{stdout}, "said\n", "$t: a cell that spoils the files is answered");
		my $next = $cell->($PRINTS{$t});
		is($next->{stdout}, "said\n", "$t: the next cell is answered");
		is($next->{notebook}{state}, 'kept', "$t: the notebook goes on");
	}
	$s->stop;
}

# ---- CPU time ----
{
	my $s = Paddock->new(dirs => ['etc/templates'], config => {max_cpu_ms => 2500})->greeted;

	for my $t (@TEMPLATES) {
		tells($s->run_sync($t => {code => "$PRINTS{$t}$LOOPS{$t}"}), 'RESOURCE_LIMIT', "$t: a run that used its CPU time");
		tells($s->run_sync($t => {code => "$PRINTS{$t}$LOOPS{$t}", notebook => 'n'}), 'RESOURCE_LIMIT', "$t: a cell that used its CPU time");
	}
	$s->stop;
}

# ---- templates which write to the files themselves ----
{
	my $head = "#!/usr/bin/perl\nmy \$p = '/dev/shm/.printed';\n" .
	    "sub put { my (\$name, \@parts) = \@_; open my \$f, '>', \"\$p.\$name\" or die; print \$f \@parts; close \$f }\n";
	my $program = sub {
		my ($do) = @_;
		return {program => "$head$do\nprint STDERR \"own\\n\";\nexit 3;\n"};
	};
	my %odd = (
		links => $program->('symlink "/etc/passwd", "$p.stdout"; put("stderr", pack("Q", 2), "ok");'),
		pipes => $program->('system "mkfifo", "$p.stdout"; mkdir "$p.stderr";'),
		lies => $program->('put("stdout", pack("Q", 1 << 62), "abc"); put("stderr", "ab");'),
		cuts => $program->('put("stdout", pack("Q", 9000), "abc"); put("stderr", pack("Q", 2), "abc");'),
		bytes => $program->('put("stdout", pack("Q", 6), "a\0b\xff\xc3\xa4"); put("stderr", pack("Q", 0));'),
		huge => $program->('put("stdout", pack("Q", 1 << 40), "a" x 40000, "b" x 90000);'),
		says => $program->(''),
	);
	my $s = Paddock->new(templates => \%odd)->greeted;
	my %told = map { $_ => details($s->run_sync($_)) } keys %odd;

	is_deeply([@{$told{links}}{qw(stdout stderr)}], ['', 'ok'], 'a link is not followed');
	is_deeply([@{$told{pipes}}{qw(stdout stderr)}], [undef, "own\n"], 'a FIFO and a folder are left out');
	is_deeply([@{$told{lies}}{qw(stdout stderr)}], ['', ''], 'a size beyond all is left out');
	is_deeply([@{$told{cuts}}{qw(stdout stderr)}], ['abc', 'ab'], 'a file has no more than its size, and no more than its bytes');
	is_deeply([@{$told{bytes}}{qw(stdout stderr)}], ["a\0b\x{e4}", ''], 'what is no UTF-8 is left out of what was printed');
	is(length $told{huge}{stdout}, 65536 + length("\n[1099511562240 bytes are left out here]\n"), 'a large file is told in part');
	is_deeply([@{$told{says}}{qw(stdout stderr)}], [undef, "own\n"], 'a program without files tells its own errors');
	$s->stop;
}
done_testing;
