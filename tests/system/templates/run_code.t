#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Templates which run a client's code: the output, the end, the place of an error, the
# files; and no data of another run.
use utf8;
use lib 'tests/lib';
use Paddock;

my $s = Paddock->new(dirs => ["$TOP/etc/templates"]);
my %needs = (run_python => 'python3', run_node => 'node', run_bash => 'perl');

# Debian's names of modules are in two places.
{
	my ($in_c) = read_file("$TOP/base/text/missing_module.c") =~ /\} packages\[\] = \{(.*?)\n\};/s;
	my ($in_python) = read_file("$TOP/etc/templates/run_python/main.py") =~ /^PACKAGES = \{(.*?)\n\}/ms;
	my @pairs = map { [sort map { s/", "|": "/=/r } /"([^"]+", "[^"]+|[^"]+": "[^"]+)"/g] } $in_c, $in_python;

	cmp_ok(scalar @{$pairs[0]}, '>', 9, 'some modules have another name in Debian');
	is_deeply($pairs[1], $pairs[0], 'the shim and run_python have the same names of modules');
}

$s->init;

sub code { my ($tool, $code, %more) = @_; return $s->tool($tool => {code => $code, %more})->{view} // {} }

# the same test code in each language
my %say = (
    run_python => {odd => "import sys\nprint(open('.d/-a b[ü] \"c\" \\'d\\'').read(), open('.stdin').read(), sys.stdin.read())",
		   segfaults => "import os\nprint('o')\nos.kill(os.getpid(), 11)", much => "for i in range(20000):\n    print(f'ä{i + 1}')",
		   fails => "def f():\n    return 1 / 0\nf()\n", at => qr/"main\.py", line 2, in f\b.*ZeroDivisionError/s,
		   syntax => "x = 1\nif x\n", line => qr/"main\.py", line 2\b.*SyntaxError/s,
		   own => "open('out/stdout.txt', 'w').write('mine')\nprint('x' * 100000)",
		   keeps => "open('out/a.txt', 'w').write('kept')",
		   reads => "print(open('d/b.txt').read()[:9] + open('a.txt').read())",
		   looks => "import os\nprint(sorted(os.listdir('.')))",
		   spawns => "import subprocess\nsubprocess.Popen(['sleep', '600'])\nprint('done')",
		   both => "import sys\nprint('o')\nprint('e', file=sys.stderr)",
		   nan => "open('result.json', 'w').write('NaN')",
		   grows => "x = [bytearray(1 << 24) for i in range(1000)]",
		   waits => "import time\ntime.sleep(600)"},
    run_node => {odd => "const fs = require('fs'); console.log(fs.readFileSync('.d/-a b[ü] \"c\" \\'d\\'', 'utf8'), fs.readFileSync('.stdin', 'utf8'), fs.readFileSync(0, 'utf8'))",
		 segfaults => "console.log('o'); process.kill(process.pid, 'SIGSEGV'); setTimeout(() => {}, 60000)", much => 'for (let i = 1; i <= 20000; i++) console.log("ä" + i)',
		 fails => "function f() {\n  throw new Error('no');\n}\nf();\n", at => qr/main\.cjs:2\b.*Error: no/s,
		 syntax => "let x = 1\nif x {\n", line => qr/main\.cjs:2\b.*SyntaxError/s,
		 own => "require('fs').writeFileSync('out/stdout.txt', 'mine'); console.log('x'.repeat(100000))",
		 keeps => "require('fs').writeFileSync('out/a.txt', 'kept')",
		 reads => "const fs = require('fs'); console.log(fs.readFileSync('d/b.txt', 'utf8').slice(0, 9) + fs.readFileSync('a.txt', 'utf8'))",
		 looks => "console.log(JSON.stringify(require('fs').readdirSync('.').sort()))",
		 spawns => "require('child_process').spawn('sleep', ['600'], {stdio: 'inherit'}).unref(); console.log('done')",
		 both => "console.log('o'); console.error('e')",
		 grows => 'const x = []; for (;;) x.push(Buffer.alloc(1 << 24, 1))',
		 nan => "require('fs').writeFileSync('result.json', 'NaN')", waits => 'setTimeout(() => {}, 600000)'},
    run_bash => {odd => q{echo "$(cat '.d/-a b[ü] "c" '"'d'") $(cat .stdin) $(cat)"},
		 segfaults => 'echo o; kill -SEGV $$', much => 'for ((i = 1; i <= 20000; i++)); do echo "ä$i"; done',
		 fails => "f() {\n  nosuchcommand\n}\nf\n", at => qr/main\.sh: line 2: nosuchcommand/,
		 syntax => "x=1\nif then\n", line => qr/main\.sh: line 2: syntax error/,
		 own => 'printf mine >out/stdout.txt; printf "%0100000d" 1',
		 keeps => "printf kept >out/a.txt", looks => "ls -A", reads => 'b=$(head -c 9 d/b.txt); echo "$b$(cat a.txt)"',
		 spawns => "sleep 600 & echo done", both => "echo o; echo e >&2",
		 grows => 'tail </dev/zero',
		 nan => "echo NaN >result.json", waits => 'sleep 600'},
);

for my $tool (sort keys %say) {
	SKIP: {
		skip_lacking(25, $needs{$tool});
		my $say = $say{$tool};
		my $r = code($tool, $say->{fails});

		like($r->{stderr}, $say->{at}, "$tool: an error says where it is");
		isnt($r->{exitCode}, 0, "$tool: ... and is no success");
		like(code($tool, $say->{syntax})->{stderr}, $say->{line},
		    "$tool: an error of syntax has its line");
		if ($tool ne 'run_python') { # which starts nothing
			my $big = code($tool, '1', args => ["\x{1F600}" x 65536]);
			ok($big->{exitCode} == 127 && $big->{stderr} =~ /cannot be started: .*; pass large texts in files or stdin/,
			    "$tool: an argument that is larger than the kernel takes is told") or diag(json_of($big));
		}
		my $kept = $s->tool($tool => {code => $say->{keeps}});
		is_deeply([map { $_->{name} } grep { $_->{type} eq 'resource_link' } @{$kept->{content}}],
		    ['a.txt'], "$tool: what it leaves in out/ is an artifact");
		my ($id) = map { $_->{uri} =~ m{(art_\w+)} } grep { $_->{type} eq 'resource_link' } @{$kept->{content}};
		is(code($tool, $say->{reads}, files => {'d/b.txt' => {'$artifact' => $id}, 'a.txt' => {base64 => 'Yg=='}})->{stdout}, "keptb\n",
		   "$tool: an artifact is a file of the next one's");
		is(code($tool, $say->{reads}, files => {'d/b.txt' => 'y' x (2 << 20), 'a.txt' => ''})->{stdout} =~ s/y+/y/r, "y\n",
		   "$tool: ... and so is a large one");
		my $seen = code($tool, $say->{looks}, files => {'a.csv' => 'x'})->{stdout};
		like($seen, qr/a\.csv/, "$tool: files are there");
		unlike($seen, qr/a\.txt|result/, "$tool: ... and nothing of another run");
		like($seen, qr/\bout\b/, "$tool: ... and out/, to leave some in");
		refused($s->tool($tool => {code => $say->{both}, files => {out => 'x'}}), 'INVALID_PARAMETER', "$tool: ... which no file may be called");
		my $odd = '.d/-a b[ü] "c" \'d\'';
		is(code($tool, $say->{odd}, files => {$odd => 'odd', '.stdin' => 'x', 'in.txt' => 'y'}, stdin => 'given')->{stdout}, "odd x given\n",
		   "$tool: a file may have any name");
		is(code($tool, $say->{spawns})->{stdout}, "done\n", "$tool: what it leaves running ends with it");
		is_deeply([@{code($tool, $say->{both})}{qw(stdout stderr)}], ["o\n", "e\n"],
		    "$tool: both outputs, each by itself");
		my $nan = code($tool, $say->{nan});
		ok(!exists $nan->{result}, "$tool: a result.json that is no JSON is no result");
		like($nan->{stderr}, qr/result\.json is no JSON/, "$tool: ... and that is told");
		unlike($nan->{stderr}, qr{/template|main\.pl}, "$tool: ... without our own places");
		# the kernel is as quick as the server, or the server as the kernel
		like(json_of($s->tool($tool => {code => $say->{grows}})), qr/took more memory than it may have\\n|"RESOURCE_LIMIT"/,
		     "$tool: code that takes all memory is told of that");
		my @late = map { code($tool, $say->{waits}, timeoutMs => 1)->{exitCode} // 'none' } 1 .. 6;
		is("@late", '124 124 124 124 124 124', "$tool: code that has no time at all is ended, too");
		is(code($tool, $say->{waits}, timeoutMs => 1)->{stderr}, "ended after 1 ms, which is its timeoutMs\n", "$tool: ... and that is said");
		is_deeply([@{code($tool, $say->{segfaults})}{qw(stdout stderr exitCode)}], ["o\n", "ended by SIGSEGV\n", 139], "$tool: a signal that ended it has its name");
		# the beginning and the end of a long output, with no character cut, and the
		# whole as an artifact
		my $much = $s->tool($tool => {code => $say->{much}});
		my ($uri) = map { $_->{uri} } grep { ($_->{name} // '') eq 'stdout.txt' } @{$much->{content}};
		my $whole = join '', map { "ä$_\n" } 1 .. 20000;
		my ($first, $left, $last) = $much->{view}{stdout} =~ /\A(.*)\n\[(\d+) bytes are left out here; the whole is the artifact stdout\.txt\]\n(.*)\z/s;

		ok(index($whole, $first) == 0 && rindex($whole, $last) == length($whole) - length $last, "$tool: of much that is printed the beginning and the end are told");
		utf8::encode($_) for $whole, $first, $last;
		is($left, length($whole) - length($first) - length $last, "$tool: ... and how much is left out");
		is($much->{view}{truncated}{stdout}, length $whole, "$tool: ... of how much");
		my $all = $uri && $s->call('resources/read', {uri => $uri})->{result}{contents}[0]{text};
		utf8::encode($all) if defined $all;
		ok(($all // '') eq $whole, "$tool: ... which is there as an artifact");
		my $own = $s->tool($tool => {code => $say->{own}});
		is_deeply([sort map { $_->{name} } grep { $_->{type} eq 'resource_link' } @{$own->{content}}], ['stdout-2.txt', 'stdout.txt'],
		    "$tool: ... by another name than a file that the code leaves");
		like($own->{view}{stdout}, qr/; the whole is the artifact stdout-2\.txt\]/, "$tool: ... which is told");
	}
}

SKIP: {
	skip_lacking(3, 'python3');
	my $r = code('run_python', <<'END');
import subprocess
files = [open(f'f{i}', 'wb') for i in range(12)]
subprocess.run(['true'])
for f in files:
    f.close()
print([i for i in range(12) if open(f'f{i}', 'rb').read()])
END

	like(code('run_python', "import nosuch.part\n")->{stderr},
	     qr/No module named 'nosuch'\nnosuch is not installed .* the server's operator can .*python3-nosuch\n\z/,
	     'run_python: who can add a module that is missing is told');
	like(code('run_python', "import os.nosuch\n")->{stderr}, qr/'os\.nosuch'; 'os' is not a package\n\z/,
	     'run_python: a missing part of a module has no hint');
	is($r->{stdout}, "[]\n", 'run_python: nothing of ours is written to files of the code');
}

SKIP: {
	skip_lacking(7, 'node');
	is(code('run_node', "const os = require('os'); console.log(os.cpus().length === os.availableParallelism(), os.cpus()[0].times.user)")->{stdout},
	   "true 0\n", 'run_node: there are as many processors as the code may use');
	is(code('run_node', "import {cpus} from 'os'; console.log(cpus().length > 0)")->{stdout}, "true\n", 'run_node: a module has processors');
	is(code('run_node', "console.log(await Promise.resolve(3))")->{stdout}, "3\n", 'run_node: code that awaits without a function is a module');
	is(code('run_node', "#!/usr/bin/env node\nconst f = async () => await 3; f().then(console.log, typeof require)")->{stdout}, "3\n", 'run_node: await within a function makes no module');
	like(code('run_node', "const f = async () => {\n await 3\n")->{stderr}, qr/main\.mjs:3\b.*SyntaxError/s, 'run_node: a syntax error has the line');
	like(code('run_node', "require('nosuch/part')")->{stderr}, qr/\nnosuch is not installed where this runs; .*node_modules\n\z/,
	     'run_node: who can add a package that is missing is told');
	unlike(code('run_node', "require('./nosuch')")->{stderr}, qr/is not installed/, 'run_node: a missing file has no hint');
}

SKIP: {
	skip_lacking(2, 'perl');
	my $r = code('run_bash', 'kill -STOP $$', timeoutMs => 400);
	my ($id) = map { $_->{runId} } @{$s->tool('list_task_runs', {limit => 1})->{view}{runs}};

	is($r->{exitCode}, 124, 'a script that stops itself is ended when its time is up');
	cmp_ok($s->get($id)->{metrics}{cpuMs} // 0, '<', 300, 'a script that stops itself uses no CPU time');
}

# ---- what was printed when a limit ended it ----

my %ends = (
    run_python => ['python3', "import time\nprint('begin', flush=True)\ntime.sleep(600)", "import sys\nprint('begin', flush=True)\nx = []\nwhile True:\n    x.append(bytearray(1 << 20))"],
    run_node => ['node', "console.log('begin'); setTimeout(() => {}, 600000)"],
    run_bash => ['perl', "echo begin; sleep 600"],
    run_lua => ['perl', "print('begin') while true do end"],
);
for my $tool (sort keys %ends) {
	my ($needs, $waits, $grows) = @{$ends{$tool}};

	SKIP: {
		skip_lacking(defined $grows ? 3 : 2, $needs);
		my $e = $s->run($tool, {code => $waits}, timeoutMs => 1500, mode => 'sync')->{view}{error};

		is($e->{errorCode}, 'RUN_TIMEOUT', "$tool: code that its run's time ended");
		like($e->{details}{log}, qr/info stdout: begin\n/, "$tool: ... has what it had printed in the details");
		# the kernel ends the code alone, or the whole run
		$e = $s->run($tool, {code => $grows}, mode => 'sync')->{view} if defined $grows;
		like(json_of($e->{error} ? $e->{error}{details}{log} : $e->{result}{stdout}), qr/begin/, "$tool: ... as has code that its memory ended") if defined $grows;
	}
}
SKIP: {
	skip_lacking(2, 'python3');
	my $run = $s->run_async('run_python', {code => "import time\nprint('seen', flush=True)\nprint('err', file=__import__('sys').stderr)\ntime.sleep(600)"});

	until_true('what is printed to be seen', sub { $s->run_log($run) =~ /stdout: seen\n.*stderr: err\n/s });
	like($s->run_log($run), qr/info stdout: seen\n.*info stderr: err\n/s, 'what code prints can be seen while it runs');
	$s->tool(cancel_task_run => {runId => $run});
	is($s->ended($run)->{status}, 'canceled', 'code that still runs can be cancelled');
}

# ---- what is asked for wrongly ----

for my $name ('../a', '/etc/a', 'a/../b', '.', 'in/a', 'out', 'a//b', 'a/', '') {
	my $r = $s->tool(run_bash => {code => 'true', files => {$name => 'x'}});

	refused($r, 'INVALID_PARAMETER', "a file is not called \"$name\"");
	like($r->{view}{error}, qr/^\/files has a member that is called "\Q$name\E"; what it is called has to be any characters but NUL, with \/ between folders; no part is empty/, "the refusal of a file called \"$name\" says what would pass");
}

# ---- Lua ----

{
	my $r = code('run_lua', "x = 5\nreturn x");

	is($r->{result}, 5, 'run_lua: what it returns is the result');
	is(code('run_lua', 'return x == nil')->{result}, true, 'run_lua: globals are its own');
	my $cut = code('run_lua', "for i = 1, 30000 do print('abcdefghi') end");
	like($cut->{stdout}, qr/\A(abcdefghi\n){3276}abcdefgh\n\[234464 bytes are left out here; the whole is the artifact stdout\.txt\]\ncdefghi\n(abcdefghi\n){3276}\z/,
	    'run_lua: what is too much to tell has its beginning and its end');
	is_deeply($cut->{truncated}, {stdout => 300000}, 'run_lua: the bytes left out are counted');
	like(code('run_lua', "error({code = 1, message = 'why'})")->{stderr}, qr/why/,
	    'run_lua: an error that is a table has its message');
	my $late = code('run_lua', 'print(1) while true do end', timeoutMs => 200);
	is_deeply([@$late{qw(stdout stderr exitCode)}], ["1\n", "ended after 200 ms, which is its timeoutMs\n", 124], 'run_lua: code that does not end is ended, and what it printed told');
	my $view = $s->run('run_lua', {code => 'while true do end', timeoutMs => 200}, mode => 'sync')->{view};
	is("$view->{status} $view->{result}{exitCode}", 'succeeded 124', 'run_lua: ... which is a run that has succeeded, as of the others');
}
$s->stop;
done_testing();
