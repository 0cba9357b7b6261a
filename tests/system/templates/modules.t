#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The modules named paddock of Python and Node.js, and the commands of bash, inside a run: found
# without a setting, in a plain run and in a notebook, by several processes and threads at once;
# and a process that speaks nonsense harms no other process.
use lib 'tests/lib';
use Paddock;

my %NEEDS = (run_python => 'python3', run_node => 'node', run_bash => 'perl');
my %ALL = (
	run_python => <<'END',
import paddock
paddock.progress(1, 2, 'half')
paddock.log('warning', 'from the code')
with paddock.step('fetch'):
    pass
try:
    with paddock.step('fail'):
        raise ValueError('no such luck')
except ValueError:
    pass
print(paddock.keep('a.txt', 'kept', 'text/x-own'))
try:
    paddock.call('../x', a=1)
except paddock.Error as error:
    print(error.code)
try:
    print(paddock.ask('Who?', {'name': {'type': 'string'}}))
except paddock.Error as error:
    print(error.code)
END
	run_node => <<'END',
import paddock, {progress} from 'paddock';
await progress(1, 2, 'half');
await paddock.log('warning', 'from the code');
await paddock.step('fetch', () => {});
await paddock.step('fail', () => { throw new TypeError('no such luck'); }).catch(() => {});
console.log(await paddock.keep('a.txt', 'kept', {mimeType: 'text/x-own'}));
await paddock.call('../x', {a: 1}).catch((error) => console.log(error instanceof paddock.Error && error.code));
await paddock.ask('Who?', {name: {type: 'string'}}).then((answer) => console.log(answer), (error) => console.log(error.code));
END
	run_bash => <<'END',
paddock-progress 1 2 half
paddock-log warning 'from the code'
printf kept | paddock-keep a.txt --type text/x-own
paddock-call ../x -i a=1 2>&1 | sed -n 's/  code: //p'
paddock-ask 'Who?' 2>&1 | sed -n 's/  code: //p'
END
);
# Code that calls a template 12 times, and says the sum of the rows.
my %CALLS = (
	run_python => "import paddock\nprint(sum(p['rows'] for p in paddock.map('csv_profile', [{'csv': 'a\\n' + '1\\n' * i} for i in range(12)], concurrency=7)))",
	run_node => "const paddock = require('paddock'); paddock.map('csv_profile', Array.from({length: 12}, (_, i) => ({csv: 'a\\n' + '1\\n'.repeat(i)})), {concurrency: 7}).then((all) => console.log(all.reduce((n, p) => n + p.rows, 0)))",
	run_bash => "for i in {0..11}; do { echo a; ((i == 0)) || yes 1 | head -n \$i; } >\$i.csv; paddock-call csv_profile -i csv=\@\$i.csv >\$i.json & done; wait; cat *.json | perl -ne '\$n += \$1 while /\"rows\":(\\d+)/g; END { print \"\$n\\n\" }'",
);
# Code that finds a template by words, and runs the template for all of the run.
my %FINDS = (
	run_python => "import paddock\nfound = paddock.search('profile a table', limit=1)[0]['templateId']\nr = paddock.run(found, csv='a\\n')\nprint(found, r['status'], r['runId'][:4], len(r['artifacts']), r['output']['rows'])",
	run_node => "const p = require('paddock'); p.search('profile a table', {limit: 1}).then(async ([{templateId}]) => { const r = await p.run(templateId, {csv: 'a\\n'}); console.log(templateId, r.status, r.runId.slice(0, 4), r.artifacts.length, r.output.rows); })",
	run_bash => "t=\$(paddock-search --limit 1 profile a table | grep -o 'csv_profile' | head -n 1); paddock-call \$t --whole -i csv=\$'a\\n' | perl -MJSON::PP -ne '\$r = decode_json(\$_); print \"\$ENV{t}\" , join(\" \", \"csv_profile\", \@{\$r}{status}, substr(\$r->{runId}, 0, 4), scalar \@{\$r->{artifacts}}, \$r->{output}{rows}), \"\\n\"'",
);
# Code that keeps a large artifact, and reads the artifact.
my %READS = (
	run_python => "import paddock\ndata = bytes(range(256)) * 2000\nprint(paddock.artifact(paddock.keep('big', data)) == data)",
	run_node => "const p = require('paddock'); const data = Buffer.alloc(512000, 'abc\\xff'); p.keep('big', data).then(p.artifact).then((read) => console.log(data.equals(read) ? 'True' : 'False'))",
	run_bash => "head -c 512000 /dev/urandom >big; paddock-artifact \$(paddock-keep big big) | cmp - big && echo True",
);
# Code that keeps 40 artifacts at once.
my %MANY = (
	run_python => "import paddock, threading\nthreads = [threading.Thread(target=paddock.keep, args=(f'{i}', b'x' * i)) for i in range(40)]\n"
	    . "[t.start() for t in threads]\n[t.join() for t in threads]\nimport os\nprint(sorted(n for n in os.listdir('/dev/shm') if n.startswith('.paddock')))",
	run_node => "const paddock = require('paddock');\nPromise.all(Array.from({length: 40}, (_, i) => paddock.keep(`\${i}`, 'x'.repeat(i)))).then(() => console.log(require('fs').readdirSync('/dev/shm').filter((n) => n.startsWith('.paddock'))))",
	run_bash => "for i in {0..39}; do (printf \"%\${i}s\" '' | paddock-keep \$i) & done >/dev/null; wait; ls -A /dev/shm | grep ^.paddock",
);

my $s = Paddock->new(dirs => ["$TOP/etc/templates"])->greeted;

sub view { my ($tool, $code, %more) = @_; my $r = $s->run_sync($tool => {code => $code, %more}); return $r->{view} // $r }
sub names { return sort { $a <=> $b || $a cmp $b } map { $_->{name} } @{$_[0]{artifacts} // []} }

for my $tool (sort keys %NEEDS) {
	SKIP: {
		skip_lacking(21, $NEEDS{$tool});
		for my $more ([], [notebook => 'n']) {
			my $how = "$tool, " . (@$more ? 'a notebook' : 'a plain run');
			my $v = view($tool, $ALL{$tool}, @$more);
			my $r = $v->{result};
			my ($kept) = @{$v->{artifacts} // []};

			is($v->{message}, 'half', "$how: progress is told") or diag explain $v;
			is_deeply([@$kept{qw(name mimeType size)}], ['a.txt', 'text/x-own', 4], "$how: bytes are kept as an artifact");
			is($r->{stdout}, "$kept->{artifactId}\nTEMPLATE_NOT_FOUND\nELICITATION_NOT_SUPPORTED\n",
			   "$how: answers and refusals come to whoever asked") or diag explain $r;
			is_deeply([map { "$_->{name} $_->{status} " . ($_->{error}{message} // '') } @{$v->{steps} // []}],
			    $tool eq 'run_bash' ? [] : ['fetch succeeded ', 'fail failed no such luck'], "$how: steps are told");
			is(view($tool, $CALLS{$tool}, @$more)->{result}{stdout}, "66\n", "$how: many calls at once, each with its own answer");
			$v = view($tool, $MANY{$tool}, @$more);
			is_deeply([names($v)], [0 .. 39], "$how: 40 at once are kept, each once");
			is_deeply([grep { $_->{size} != $_->{name} } @{$v->{artifacts}}], [], "$how: each with its own bytes");
			like($v->{result}{stdout}, qr/\A\W*\.paddock\W*\z/, "$how: no name of a connection stays");
		}
		my $r = view($tool, $FINDS{$tool})->{result};
		is($r->{stdout}, "csv_profile succeeded run_ 2 0\n", "$tool: a template is found, and gives all of its run") or diag explain $r;
		is(view($tool, $READS{$tool})->{result}{stdout}, "True\n", "$tool: an artifact is read in parts");
		my $v = view($tool, $tool eq 'run_python' ? 'import paddock; x = paddock.keep("b", "2"); y = 7' : $tool eq 'run_node' ? 'var y = 7; await (await import("paddock")).default.keep("b", "2")' : 'y=7; paddock-keep b <<<2', notebook => 'n');
		is_deeply([names($v)], ['b'], "$tool: a further cell keeps its own artifact");
		ok(!exists $v->{result}{notebook}{checkpoint}, "$tool: the state after a cell that has called can be kept");
		is($v->{result}{notebook}{state}, 'kept', "$tool: ... and is");
	}
}

# ---- processes that speak nonsense, beside one that speaks well ----

my $DOOR = '/dev/shm/.paddock';
my %ROGUES = (
	'a name without FIFOs' => "echo none >$DOOR",
	'a name that leads out' => "echo ../../tmp/x >$DOOR",
	'a name without an end' => "printf '%05000d' 1 >$DOOR; echo >$DOOR",
	'files in place of FIFOs' => ": >$DOOR.f.lines; : >$DOOR.f.answers; echo f >$DOOR",
	'links in place of FIFOs' => "mkfifo l; ln -s \$PWD/l $DOOR.k.lines; ln -s \$PWD/l $DOOR.k.answers; echo k >$DOOR",
	'the end of the run' => speaking('{"result":{"id":"x","output":1}}', '{"failed":{"id":"x","code":"EXECUTION_ERROR","message":"m"}}',
		'{"state":{"kept":true}}', '{"reply":{"content":[]}}'),
	'no JSON' => speaking('{', 'null', '{"log":1}', '{"log":{"level":"info"},"step":{}}', "\x01"),
	'a line without an end' => speaking('{"log":{"level":"info","message":"' . 'x' x 1200000),
	'a missing reader' => speaking('{"artifact":{"id":1,"data":"x","name":"r"}}'),
	'70 names of processes that have ended' => "for i in {1..70}; do timeout -s KILL 0.01 paddock-ask x; done >/dev/null 2>&1; for i in {1..70}; do mkfifo $DOOR.\$i.lines $DOOR.\$i.answers; (exec 5<>$DOOR.\$i.answers; echo \$i >$DOOR; for ((k = 0; k < 1000; k++)); do :; done); done",
	'nothing, and stays' => "mkfifo $DOOR.s.lines $DOOR.s.answers; (exec 5<>$DOOR.s.lines 6<>$DOOR.s.answers; echo s >$DOOR; sleep 600) & sleep 0",
);

# Text in bash which writes lines, and reads no answer.
sub speaking {
	my (@lines) = @_;
	my $text = join '\n', @lines;

	return "mkfifo $DOOR.w.lines $DOOR.w.answers; exec 5<>$DOOR.w.answers; echo w >$DOOR; cat >$DOOR.w.lines <<'END'\n" . join("\n", @lines) . "\nEND\nexec 5>&-";
}

SKIP: {
	skip_lacking(2 * keys %ROGUES, 'perl');
	for my $name (sort keys %ROGUES) {
		my $v = view(run_bash => "$ROGUES{$name}\necho kept | paddock-keep good.txt >/dev/null && echo well");
		is($v->{status}, 'succeeded', "$name: the run goes on") or diag explain $v;
		is($v->{result}{stdout}, "well\n", "$name: and another process is answered") or diag explain $v->{result};
	}
}

# ---- whoever started the server ----

for (users()) {
	my ($who, $user) = @$_;

	SKIP: {
		skip_lacking(1, 'perl');
		my $of = Paddock->new(user => $user, dirs => ["$TOP/etc/templates"])->greeted;
		my $v = $of->run_sync(run_bash => {code => 'echo x | paddock-keep a.txt >/dev/null && paddock-call word_count -i text=x'});
		like($v->{result}{stdout}, qr/"words":1/, "$who: the commands are there, and answered") or diag explain $v;
		$of->stop;
	}
}

# ---- an answer ----

SKIP: {
	skip_lacking(1, 'python3');
	my $asks = Paddock->new(dirs => ["$TOP/etc/templates"])->greeted('2025-11-25', {elicitation => {}});
	my $id = $asks->ask_run(run_python => {code => "import paddock\nprint(paddock.ask('Who?', {'name': {'type': 'string'}}))"});
	my $m = $asks->told('elicitation/create');
	$asks->reply($m, {action => 'accept', content => {name => 'Ada'}});
	is($asks->result($id)->{view}{result}{stdout}, "{'name': 'Ada'}\n", 'a user\'s answer comes to the code');
	$asks->stop;
}

$s->stop;
done_testing;
