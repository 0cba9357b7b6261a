#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Attacks by and on parents: quotas met in the middle, a child that makes 100 MB, answers after the parent's end,
# ids of calls used twice, and parents with the same idempotencyKey at the same time.
use lib 'tests/lib';
use Paddock;
use Cage;

my $reads = {readOnlyHint => true, destructiveHint => false};
my @may = (annotations => $reads, permissions => {templates => ['*']});
my $form = '{type = "object", properties = {name = {type = "string"}}}';
# The program writes two calls with one id, and after the answers a third call.
my $ids = <<'PL';
#!/usr/bin/perl
open my $out, '>&=', 3 or die; open my $answers, '<&=', 4 or die;
my $call = '{"call":{"id":7,"template":"twice","inputs":{"n":%d}}}' . "\n";
syswrite $out, sprintf($call, 1) . sprintf($call, 2);
my @all = map { scalar <$answers> } 1, 2;
syswrite $out, sprintf($call, 3);
print '[', join(',', map { s/\n//r } @all, scalar <$answers>), ']';
PL
my $large = <<'PL';
#!/usr/bin/perl
open my $f, '>', 'out/large.bin' or die;
print {$f} 'x' x (1 << 20) for 1 .. 100;
print '"made"';
PL
my $reader = <<'LUA';
local made = select(2, run.template("large", {}))
local id, size = made.artifacts[1].artifactId, made.artifacts[1].size
local last = run.call("get_artifact", {artifactId = id, offset = size - 3, limit = 3})
return {size = size, last = last.data}
LUA
my %templates = (
	twice  => lua('return inputs.n * 2', annotations => $reads),
	burn   => lua('local t = os.clock() while os.clock() - t < 0.2 do end return 1', annotations => $reads),
	waits  => lua('run.sleep(600000)', annotations => $reads, limits => {maxTimeoutMs => 600000}),
	asks   => lua("return run.elicit{message = 'Which?', schema = $form}", annotations => $reads),
	large  => {program => $large, annotations => $reads, limits => {maxArtifactBytes => 200 << 20, maxMemoryBytes => 512 << 20, maxTimeoutMs => 60000}},
	parent => lua('return (run.template(inputs.template, inputs.inputs or {}))', @may, limits => {maxTimeoutMs => 600000}),
	codes  => lua('local codes = {} for i = 1, inputs.n do local ok, e = pcall(run.template, inputs.template, {n = i}) codes[i] = ok and "ok" or e.code end return codes', @may, limits => {maxTimeoutMs => 60000}),
	at_once => lua('local codes = {} for i, r in ipairs(run.map({1, 2, 3, 4, 5, 6, 7, 8}, {concurrency = 8}, function(n) local ok, e = pcall(run.template, "twice", {n = n}) return ok and "ok" or e.code end)) do codes[i] = r.value or r.error.code end return codes', @may),
	reads  => lua($reader, @may, limits => {maxTimeoutMs => 60000}),
	ids    => {program => $ids, @may},
);
my $grants = join '', map { qq([grant "$_"]\ntemplates = *\n) } qw(parent codes at_once reads ids);

sub server { my ($limits) = @_; return Paddock->new(templates => \%templates, config => "[limits]\nmax_concurrent_runs = 4\n$grants\[requestor \"me\"]\nuid = $>\n$limits\n") }

# ---- quotas met in the middle ----

{
	my $s = server('cpu_seconds_per_hour = 1')->greeted;
	my $v = $s->run_sync(codes => {n => 10, template => 'burn'});

	is($v->{status}, 'succeeded', 'a parent goes on when the CPU time of its requestor is used up') or diag(json_of($v));
	like(join(' ', @{$v->{result}}), qr/\A(?:ok ){3,5}(?:QUOTA_EXCEEDED ?)+\z/, 'the calls after that are refused, and the parent learns why');
	$s->stop;
}
{
	my $s = server("max_concurrent_runs = 1\nmax_queued_runs = 2")->greeted;
	my $codes = $s->run_sync('at_once')->{result};

	is(join(' ', grep { !/^(?:ok|QUEUE_FULL)$/ } @$codes), '', 'calls that find the queue full are refused, and the parent goes on');
	ok((grep { $_ eq 'ok' } @$codes) >= 1 && (grep { $_ eq 'QUEUE_FULL' } @$codes) >= 1, 'calls that fit into the queue are made') or diag(json_of($codes));
	$s->stop;
}

# ---- a large child ----

my $s = server('')->greeted(undef, {elicitation => {}});

{
	$s->run_sync('parent', {template => 'twice', inputs => {n => 1}});
	my $before = peak_kb($s->{pid});
	my $v = $s->run_sync('reads');

	is_deeply($v->{result}, {size => 100 << 20, last => 'eHh4'}, 'a parent reads the end of the 100 MB that a child made') or diag(json_of($v));
	cmp_ok(peak_kb($s->{pid}) - $before, '<', 32 << 10, 'the 100 MB are not in the memory of the server');
}

# ---- ids ----

{
	my $v = $s->run_sync('ids');

	is_deeply([map { $_->{value}{output} } @{$v->{result}}], [2, 4, 6], 'calls with one id are three calls, each with an answer') or diag(json_of($v));
}

# ---- after the end ----

{
	my $id = $s->ask_run(parent => {template => 'asks'}, mode => 'sync');
	my $m = $s->told('elicitation/create');
	my ($parent) = grep { $_->{templateId} eq 'parent' } @{$s->tool('list_task_runs')->{view}{runs}};

	kill KILL => $s->worker_pid($parent->{runId});
	is($s->result($id)->{view}{error}{errorCode}, 'WORKER_CRASHED', 'a parent is killed while its child asks');
	my ($child) = @{$s->get($parent->{runId})->{children}};
	$s->reply($m, {action => 'accept', content => {name => 'late'}});
	is($s->ended($child->{runId})->{status}, 'canceled', 'an answer after the end of the parent changes no child');
	is($s->run_sync(twice => {n => 4})->{result}, 8, 'the server goes on');
}

# ---- one key ----

{
	my %key = (idempotencyKey => 'one key', mode => 'sync');
	my @ids = map { $s->ask_run(codes => {n => 3, template => 'twice'}, %key) } 1 .. 2;
	my @v = map { $s->result($_)->{view} } @ids;

	is($v[1]{runId}, $v[0]{runId}, 'two parents with one idempotencyKey at the same time are one run');
	is($v[0]{childrenTotal}, 3, 'such a run makes its children once');
	is(scalar(grep { ($_->{parentRunId} // '') eq $v[0]{runId} } @{$s->tool('list_task_runs', {limit => 100})->{view}{runs}}), 3, 'no other children exist');
}
$s->stop;
done_testing();
