#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Calls beyond the bound on calls at once wait for their turn: of a program, of Lua, of all modules, and of
# several processes of a run; and the calls of a process that has ended end as well.
use lib 'tests/lib';
use Paddock;
use Cage;

my $reads = {readOnlyHint => true, destructiveHint => false};
my @may = (annotations => $reads, permissions => {templates => ['*']});
# As many calls as the input says, and the end after the answers to all.
my $raw = <<'PL';
#!/usr/bin/perl
use JSON::PP;
my $n = decode_json(do { local $/; <STDIN> })->{n};
open my $out, '>&=', 3 or die; open my $answers, '<&=', 4 or die;
syswrite $out, encode_json({call => {id => $_, template => 'twice', inputs => {n => $_}}}) . "\n" for 1 .. $n;
my $sum = 0;
$sum += decode_json(scalar <$answers>)->{value}{output} for 1 .. $n;
print $sum;
PL
my %templates = (
	twice => lua('return inputs.n * 2', annotations => $reads),
	big   => lua('return ("x"):rep(1000000)', annotations => $reads),
	waits => lua('run.sleep(600000)', annotations => $reads, limits => {maxTimeoutMs => 600000}),
	raw   => {program => $raw, @may, limits => {maxChildren => 3}},
	forty => lua('local all = 0 for _, r in ipairs(run.map(inputs.list, {concurrency = 40}, function(n) return (run.template("twice", {n = n})) end)) do all = all + r.value end return all', @may, limits => {maxChildren => 3}),
	pair  => lua('local all = {} for i, r in ipairs(run.map({1, 2, 3, 4}, {concurrency = 4}, function(n) return run.template(n < 4 and "waits" or "twice", {n = n}) end)) do all[i] = r.value or r.error.code end return all', @may, limits => {maxChildren => 2, maxTimeoutMs => 600000}),
	steps => lua('for i = 1, 3 do pcall(run.step, "s" .. i, function() run.map({1, 2}, {concurrency = 2}, function() return run.template("waits", {}) end) end, {timeout = 100}) end return (run.template("twice", {n = 4}))', @may, limits => {maxChildren => 2}),
);
my $grants = join '', map { qq([grant "$_"]\ntemplates = *\n) } qw(raw forty pair steps);
my $s = Paddock->new(dirs => ["$TOP/etc/templates"], templates => \%templates, config => "[limits]\nmax_concurrent_runs = 6\ndefault_children = 5\n$grants")
    ->greeted(undef, {elicitation => {}});

sub statuses { my ($view) = @_; return join ' ', map { $_->{status} } @{$view->{children} // []} }
sub await_children { my ($run, $wanted) = @_; return $s->get_until($run, "children: $wanted", sub { statuses($_) eq $wanted }) }

# ---- a program's lines, and Lua ----

is($s->run_sync(raw => {n => 60})->{result}, 3660, 'of sixty calls of a program three are made at once, and all are answered');
is($s->run_sync(forty => {list => [1 .. 200]})->{result}, 40200, 'of forty coroutines that call three are made at once');
{
	my $run = $s->run_async('pair');
	my @children = @{await_children($run, 'running running')->{children}};

	$s->tool(cancel_task_run => {runId => $children[0]{runId}});
	@children = @{await_children($run, 'canceled running running')->{children}};
	is($s->get($run)->{childrenTotal}, 3, 'a call that waits is made when another has ended, and no call before');
	$s->tool(cancel_task_run => {runId => $_->{runId}}) for @children[1, 2];
	is_deeply($s->ended($run)->{result}, [('CALL_CANCELED') x 3, 8], 'each call has its answer');
}
{
	my $run = $s->run_async('pair');

	await_children($run, 'running running');
	$s->tool(cancel_task_run => {runId => $run});
	is($s->ended($run)->{childrenTotal}, 2, 'calls that wait for their turn are not made when the run is cancelled');
}
is($s->run_sync('steps')->{result}, 8, 'the children of steps that took too long give their places to later calls');

# ---- the modules ----

my %MANY = (
	'map of Python' => ['python3', run_python => "import paddock\nprint(sum(paddock.map('twice', ({'n': i} for i in range(200)), concurrency=64)))", 39800],
	'map of Python over large answers' => ['python3', run_python => "import paddock\nprint(sum(len(p) for p in paddock.map('big', [{}] * 80, concurrency=80)))", 80000000],
	'threads of Python' => ['python3', run_python => "import paddock, threading\nall = []\nthreads = [threading.Thread(target=lambda i=i: all.append(paddock.call('twice', n=i))) for i in range(40)]\n"
	    . "[t.start() for t in threads]\n[t.join() for t in threads]\nprint(sum(all))", 1560],
	'asyncio of Python' => ['python3', run_python => "import asyncio, paddock\nasync def main():\n    return sum(await asyncio.gather(*(paddock.acall('twice', n=i) for i in range(200))))\nprint(asyncio.run(main()))", 39800],
	'processes of Python' => ['python3', run_python => "import paddock, subprocess, sys\ncode = \"import paddock; print(sum(paddock.map('twice', [{'n': i} for i in range(40)], concurrency=40)))\"\n"
	    . "all = [subprocess.Popen([sys.executable, '-c', code], stdout=subprocess.PIPE) for _ in range(4)]\nprint(sum(int(p.communicate()[0]) for p in all))", 6240],
	'promises of Node.js' => ['node', run_node => "const paddock = require('paddock'); Promise.all(Array.from({length: 200}, (_, n) => paddock.call('twice', {n}))).then((all) => console.log(all.reduce((a, b) => a + b)))", 39800],
	'jobs of bash' => ['perl', run_bash => 'for i in {1..40}; do paddock-call twice -i n=$i >$i & done; wait; cat {1..40} | perl -ne \'$n += $_; END { print "$n\n" }\'', 1640],
);
for my $name (sort keys %MANY) {
	my ($needed, $tool, $code, $sum) = @{$MANY{$name}};

	SKIP: {
		skip_lacking(1, $needed);
		my $v = $s->run_sync($tool => {code => $code});
		is($v->{result}{stdout}, "$sum\n", "$name: more calls than the bound are all made") or diag explain $v;
	}
}

# ---- a process that has ended ----

SKIP: {
	skip_lacking(3, 'perl');
	my $id = $s->ask_run(run_bash => {code => 'for i in 1 2 3 4 5 6; do paddock-call waits >/dev/null & done; paddock-ask begun >/dev/null; kill -9 $(jobs -p); wait 2>/dev/null; paddock-call twice -i n=4; paddock-ask over >/dev/null'}, mode => 'sync');
	my $m = $s->told('elicitation/create');
	my ($run) = grep { $_->{templateId} eq 'run_bash' && $_->{status} eq 'running' } @{$s->tool('list_task_runs')->{view}{runs}};

	await_children($run->{runId}, join ' ', ('running') x 5);
	$s->reply($m, {action => 'accept', content => {answer => 'x'}});
	$m = $s->told('elicitation/create');
	like(statuses($s->get($run->{runId})), qr/^(?:canceled ){5,6}succeeded$/, 'the calls of killed processes end, and their places are free');
	$s->reply($m, {action => 'accept', content => {answer => 'x'}});
	my $v = $s->result($id)->{view};
	is($v->{status}, 'succeeded', 'the run itself goes on');
	is($v->{result}{stdout}, "8\n", 'a call after the end of other processes is answered');
}
$s->stop;
done_testing();
