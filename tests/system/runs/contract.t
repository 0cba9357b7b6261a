#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The seven tools of the template-run contract, to the letter.
use utf8;
use lib 'tests/lib';
use Paddock;
use Digest::SHA qw(sha256_hex);
use MIME::Base64 qw(decode_base64);

binmode $_, ':utf8' for map { Test::More->builder->$_ }
    qw(output failure_output todo_output);

my @doze = (limits => {cancelGraceMs => 60000, maxTimeoutMs => 600000});
my %schema = (type => 'object', additionalProperties => false,
	      properties => {text => {type => 'string'},
			     count => {type => 'integer', minimum => 1}});
my @templates = (
    [echo => lua('return inputs', name => '回声',
		 description => 'Gives its inputs back.',
		 outputsSchema => {type => 'object'},
		 trustLevelSupport => ['local', 'remote'],
		 supportsPartialSuccess => true, limits => {maxUrls => 7})],
    [strict => lua('return inputs', inputsSchema => \%schema)],
    [pages => lua('return #inputs.urls',
		  autoAsync => {pointer => '/urls', itemsOver => 3})],
    [doze => lua('run.progress(0, 1, "dozing") while true do run.sleep(60000) end',
		 @doze)],
    [nap => lua('run.sleep(inputs.ms) return "rested"', executionMode => 'sync')],
    [later => lua('return "done"', executionMode => 'async')],
    (map { [versioned => lua("return '$_'", version => $_)] }
     qw(1.0.0 1.4.0 1.4.1-rc.1 2.0.0)),
    [distant => lua('return 1', trustLevelSupport => ['remote'])],
    [deadline => lua('return run.deadline()', limits => {maxTimeoutMs => 50000})],
    [fails => lua('run.error("NO_LUCK", "bad day", {n = 7})')],
    [stepfails => lua('run.step("first", function() end) ' .
		      'run.step("second", function() ' .
		      'run.error("NO_LUCK", "bad day") end)')],
    [liar => lua('return {n = "seven"}', outputsSchema => {type => 'object',
		 properties => {n => {type => 'integer'}}})],
    [half => lua('run.map({1, 0, 1, 1}, {step = "s"}, function(v) ' .
		 'if v == 0 then error("no") end end) return "enough"',
		 supportsPartialSuccess => true)],
    [files => lua(<<'LUA')],
local ids = run.array{}
for i, a in ipairs(inputs.files) do
  ids[i] = run.artifact{name = a.name, mimeType = a.type,
    data = a.base64 and run.base64.decode(a.base64) or string.rep(a.unit, a.times)}
end
return {ids = ids}
LUA
);
my %config = (inline_wait_ms => 60_000, max_ttl_ms => 3_700_000, run_ttl_ms => 7_200_000,
	      default_ttl_ms => 3_600_000, max_queued_runs => 3,
	      max_concurrent_runs => 2);

sub server {
	return Paddock->new(templates => \@templates, config => \%config, @_);
}

my $s = server()->greeted;
my %tool = map { $_->{name} => $_ } @{$s->call('tools/list')->{result}{tools}};
unlike(json_of(\%tool), qr/x-mcp-header/, 'no tool of ours has arguments in headers');

# Check an INVALID_PARAMETER: pointer, keyword, text.
sub invalid {
	my ($r, $pointer, $keyword, $text, $name) = @_;
	my $d = $r->{view}{details} // {};

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	refused($r, 'INVALID_PARAMETER', $name) or return;
	return ok(($d->{pointer} // '') eq $pointer &&
		  ($d->{keyword} // '') =~ /^$keyword$/ &&
		  length($d->{expected} // '') && $r->{view}{error} =~ $text,
		  "$name: pointer, keyword, expected and text")
	    || diag(json_of($r->{view}));
}

# ---- get_runtime_profile ----

{
	my $r = $s->tool('get_runtime_profile');
	my $v = $r->{view};

	answer_ok($r, 'get_runtime_profile answers in both ways');
	same_json($v->{limits}, {
		maxConcurrentRuns => 2, maxRunTimeoutMs => 900000,
		maxArtifactInlineBytes => 262144, inlineImageBytes => 1048576, maxAnswerBytes => 8388608, maxQueuedRuns => 3,
		maxTtlMs => 3700000, runTtlMs => 7200000, keepInputsBytes => 262144, artifactTtlMs => 86400000,
		taskAfterMs => 1000, maxListenStreams => 32, maxResidents => 4, maxResidentsInAll => 32, residentMemory => 2 << 30, residentIdleMs => 900000, residentLifeMs => 28800000, inputWaitMs => 600000, maxParkedRuns => 64, maxCallDepth => 4, maxChildren => 64,
		maxNetworkBytes => 64 << 30, maxNetworkRequests => 1_000_000, maxNetworkConnections => 100_000,
		inlineWaitMs => 60000, maxCpuMs => 900000, serverMemory => 1073741824,
		maxMemoryBytes => 1 << 30, maxProcesses => 256,
		maxOpenFiles => 65536, maxFiles => 1 << 20,
		maxOutputBytes => 64 << 20, maxLoggedBytes => 16 << 20,
		maxArtifacts => 10000, maxArtifactBytes => 1 << 30,
		maxMessagesPerSecond => 10000,
		defaultStoreBytes => 4 << 30}, 'limits are those of the configuration');
	like($v->{runtimeVersion}, qr/^\d+\.\d+\.\d+$/, 'runtimeVersion');
	is($v->{requestor}, "uid:$>", 'requestor is the local user');
	is($v->{trustLevel}, 'local', 'trustLevel');
	same_json([sort keys %{$v->{isolation}}],
		  [qw(cgroup landlockAbi level missing)], 'isolation');
	cmp_ok(delete $v->{usage}{memoryBytes}, '>', 0, 'what is kept for its session');
	same_json($v->{usage}, {memoryRefused => 0, running => 0, queued => 0, parked => 0, artifactBytes => 0,
				storeBytes => 0, cpuMsThisHour => 0}, 'usage');
	same_json($v->{store}, {available => true}, 'runs can be recorded');
	same_json($v->{requestorLimits}, {}, 'without a section, no more limits');
	invalid($s->tool(get_runtime_profile => {verbose => true}), '/verbose',
		'additionalProperties', qr/verbose/, 'an argument too many');
	is($s->tool(get_runtime_profile => {verbose => true})->{view}{recoverHint},
	   'correct or leave out verbose and call again; what would pass: no members', 'the hint for an argument too many says what would pass');
}

# ---- list_task_templates ----

{
	my $r = $s->tool('list_task_templates');
	my @all = @{$r->{view}{templates}};
	my ($echo) = grep { $_->{templateId} eq 'echo' } @all;
	my ($distant) = grep { $_->{templateId} eq 'distant' } @all;

	answer_ok($r, 'list_task_templates answers in both ways');
	is(scalar @all, scalar @templates, 'all are listed, in every version');
	same_json($echo, {
		templateId => 'echo', version => '1.0.0', name => '回声',
		description => 'Gives its inputs back.',
		trustLevelSupport => ['local', 'remote'],
		limits => {maxUrls => 7}, inputsSchema => {type => 'object'},
		outputsSchema => {type => 'object'},
		supportsPartialSuccess => true, executionMode => 'auto',
		available => true}, 'a template, whole');
	ok(!$distant->{available} && $distant->{unavailableReason} =~ /trust/,
	   'one of another trust level: not available, and why');
	same_json([map { $_->{version} }
		   @{$s->tool(list_task_templates =>
			      {templateId => 'versioned'})->{view}{templates}}],
		  [qw(2.0.0 1.4.1-rc.1 1.4.0 1.0.0)],
		  'list_task_templates by templateId: all versions, newest first');
	same_json($s->tool(list_task_templates => {templateId => 'nobody'})
		  ->{view}, {templates => []}, 'an unknown id lists none');
	invalid($s->tool(list_task_templates => {templateid => 'echo'}),
		'/templateid', 'additionalProperties', qr/templateId/,
		'a misspelled argument: the nearest is named');
	invalid($s->tool(list_task_templates => {templateId => 7}),
		'/templateId', 'type', qr/./, 'a number for an id');
	is($s->tool(list_task_templates => {templateId => 7})->{view}{recoverHint},
	   'correct templateId and call again; what would pass: a string', 'the hint for a bad templateId says what would pass');
}

# ---- run_task_template: modes ----

{
	my $r = $s->run(echo => {a => 1, '中' => ["文\x{1F600}"]}, mode => 'sync');
	my $v = $r->{view};
	my $got = $s->get_less_node($v->{runId});

	answer_ok($r, 'sync answers in both ways');
	is($v->{status}, 'succeeded', 'sync: the run has ended');
	same_json($v->{result}, {a => 1, '中' => ["文\x{1F600}"]}, 'sync: the result');
	same_json($got, $v, 'exactly what get_task_run gives');
	same_json([sort keys %$v], [sort qw(runId templateId templateVersion
		  status progress metrics createdAt startedAt updatedAt
		  expiresAt artifacts result isolation)], 'the parts of a run');
	like($v->{runId}, qr/^run_[a-z2-7]{26}$/, 'the shape of a runId');
	same_json($v->{progress}, {totalSteps => 0, doneSteps => 0},
		  'no steps, no progress');
	same_json($v->{artifacts}, [], 'no artifacts');
	ok($v->{createdAt} <= $v->{startedAt} &&
	   $v->{startedAt} <= $v->{updatedAt} &&
	   $v->{expiresAt} == $v->{updatedAt} + 7_200_000,
	   'times are in order, and it expires by run_ttl_ms');
	same_json([sort keys %{$v->{metrics}}],
		  [qw(cpuMs cpuSystemMs cpuUserMs elapsedMs maxRssBytes messages
			queuedMs readBytes writtenBytes)], 'metrics');
}
{
	my $r = $s->run(echo => {}, mode => 'async');
	my $v = $r->{view};

	answer_ok($r, 'async answers in both ways');
	same_json([sort keys %$v], [qw(createdAt mode pollAfterMs runId status
				       templateVersion)], 'the parts of a handle');
	ok($v->{status} =~ /^(queued|running)$/ && $v->{mode} eq 'async' &&
	   $v->{templateVersion} eq '1.0.0' && $v->{pollAfterMs} > 0,
	   'a handle, whole');
	is($s->ended($v->{runId})->{status}, 'succeeded', 'async: the run ends');
}
is($s->run(pages => {urls => [1, 2, 3]})->{view}{result}, 3,
   'auto: as many items as the rule allows are done inline');
is($s->run(pages => {urls => [1 .. 4]})->{view}{mode}, 'async',
   'one more makes it async');
is($s->run(pages => {urls => [1 .. 4]}, mode => 'sync')->{view}{result}, 4,
   'sync with a long list is done inline');
is($s->run(pages => {urls => [1]}, mode => 'async')->{view}{mode}, 'async',
   'async is asked for');
is($s->run(later => {})->{view}{mode}, 'async',
   'a template that is async by itself');
is($s->run(later => {}, mode => 'auto')->{view}{mode}, 'async',
   'auto leaves that to the template');
is($s->run_sync(later => {})->{result}, 'done', 'sync does not');
is($s->run(nap => {ms => 400})->{view}{result}, 'rested',
   'a template that is sync by itself is waited for');
{
	my $s = server(config => {%config, inline_wait_ms => 200})->greeted;
	my $r = $s->run('doze');
	my $v = $r->{view};

	answer_ok($r, 'auto: what takes longer than inline_wait_ms');
	is($v->{mode}, 'async', 'auto: a slow run is answered by a handle');
	is($s->saying($v->{runId}, 'dozing')->{status}, 'running',
	   'of a run that goes on');
	my $own = $s->tool('doze', {});
	is($own->{view}{mode}, 'async', "a template's own tool: a slow run is answered by a handle");
	$s->tool(cancel_task_run => {runId => $_->{view}{runId}}) for $r, $own;
	$s->ended($_->{view}{runId}) for $r, $own;
	$s->stop;
}
{
	my $r = $s->tool(echo => {a => [1]});

	answer_ok($r, "a template's own tool answers in both ways");
	same_json($r->{structuredContent}, {a => [1]}, 'a template\'s own tool gives the plain output');
	is($s->get($r->{_meta}{'paddock/runId'})->{status}, 'succeeded',
	   'the answer of a template\'s tool has the runId');
}

# ---- run_task_template: refusals ----

refused($s->run('ecko'), 'TEMPLATE_NOT_FOUND', 'an unknown template');
like($s->run('ecko')->{view}{error}, qr/"echo"/, 'the nearest is named');
refused($s->run(distant => {}), 'TRUST_LEVEL_NOT_ALLOWED',
	'a template of another trust level');
like($s->run('distant')->{view}{error}, qr/local/, 'the refusal names the trust level');
refused($s->run(echo => {}, sessionId => 'sess_xxx'), 'SESSION_NOT_FOUND',
	'an unknown session');
refused($s->run('no_such', {}, mode => 'async'), 'TEMPLATE_NOT_FOUND',
	'async is refused at once, too');
my @wrong = ( # arguments, pointer, keyword, the text
    [{}, '', 'required', qr/templateId|inputs/],
    [{templateId => 'echo'}, '', 'required', qr/inputs/],
    [{templateId => 'echo', inputs => []}, '/inputs', 'type', qr/object/],
    [{templateId => 'echo', inputs => '{}'}, '/inputs', 'type', qr/object/],
    [{templateId => 'echo', inputs => {}, option => {}}, '/option',
     'additionalProperties', qr/options/],
    [{templateId => 'echo', inputs => {}, options => {modes => 'sync'}},
     '/options/modes', 'additionalProperties', qr/"?mode"?/],
    [{templateId => 'echo', inputs => {}, options => {mode => 'quick'}},
     '/options/mode', 'enum', qr/sync/],
    [{templateId => 'echo', inputs => {}, options => {timeoutMs => 0}},
     '/options/timeoutMs', 'minimum', qr/1/],
    [{templateId => 'echo', inputs => {}, options => {timeoutMs => 1.5}},
     '/options/timeoutMs', 'type', qr/integer/],
    [{templateId => 'echo', inputs => {}, options => {timeoutMs => '1'}},
     '/options/timeoutMs', 'type', qr/integer/],
    [{templateId => 'echo', inputs => {}, options => {ttlMs => -1}},
     '/options/ttlMs', 'minimum', qr/1/],
    [{templateId => 'echo', inputs => {}, options => {idempotencyKey => ''}},
     '/options/idempotencyKey', 'minLength', qr/1/],
    [{templateId => 'echo', inputs => {},
      options => {idempotencyKey => 'x' x 201}},
     '/options/idempotencyKey', 'maxLength', qr/200/],
    [{templateId => "echo\0", inputs => {}}, '/templateId', '.*', qr/NUL|u0000/],
    [{templateId => 'echo', inputs => {}, options => {idempotencyKey => "a\0"}},
     '/options/idempotencyKey', '.*', qr/NUL|u0000/],
    [{templateId => 'strict', inputs => {texts => ''}}, '/inputs/texts',
     'additionalProperties', qr/text/],
    [{templateId => 'strict', inputs => {text => 7}}, '/inputs/text', 'type',
     qr/string/],
    [{templateId => 'strict', inputs => {count => 0}}, '/inputs/count',
     'minimum', qr/1/],
);
for (@wrong) {
	my ($args, $pointer, $keyword, $text) = @$_;
	my $what = json_of($args);

	utf8::decode($what);
	invalid($s->tool(run_task_template => $args), $pointer, $keyword, $text,
		'refused: ' . substr $what, 0, 60);
}
invalid($s->tool(strict => {count => 'x'}), '/count', 'type', qr/integer/,
	"a template's own tool: the pointer is that of the argument");
is($s->run_sync(echo => {a => "x\0y"})->{result}{a}, "x\0y",
   'inputs may hold a NUL');

# ---- versions ----

for (['1.0.0', '1.0.0'], ['1.4.0', '1.4.0'], ['^1.0', '1.4.0'],
     ['^1', '1.4.0'], ['^1.4.0', '1.4.0'], ['2.0.0', '2.0.0'],
     ['^2', '2.0.0'], ['1.4.1-rc.1', '1.4.1-rc.1'],
     ['^1.4.1-rc.0', '1.4.1-rc.1'], [undef, '2.0.0']) {
	my ($asked, $got) = @$_;
	my $v = $s->run_sync(versioned => {}, defined $asked
			     ? (templateVersion => $asked) : ());

	is($v->{result}, $got, ($asked // 'no version') . " runs $got");
	is($v->{templateVersion}, $got, "a run of version $got says so");
}
for ('3.0.0', '^3', '1.0.1', '^0.9', '1', '>=1.0.0', 'latest', '', '*', '^',
     "1.0.0\0") {
	my $r = $s->run(versioned => {}, templateVersion => $_);

	(my $shown = $_) =~ s/\0/\\0/;
	if (/\0/) {
		refused($r, 'INVALID_PARAMETER', "version '$shown' is refused");
		next;
	}
	refused($r, 'TEMPLATE_VERSION_UNSUPPORTED', "no version fits '$_'");
	same_json($r->{view}{details}{available},
		  [qw(2.0.0 1.4.1-rc.1 1.4.0 1.0.0)], "no version fits '$_': the details list the versions");
}
is($s->tool('versioned', {})->{content}[0]{text}, '"2.0.0"',
   'the tool is the newest version');

# ---- failures of a run ----

{
	my $r = $s->run(fails => {});
	my $e = $r->{view}{error};

	ok($r->{isError} && $r->{structuredContent} &&
	   $r->{view}{status} eq 'failed',
	   'a run that failed: isError, with the run view');
	is($e->{errorCode}, 'EXECUTION_ERROR', 'run.error outside of a step');
	is($e->{message}, 'bad day', 'the message of a failed run');
	same_json($e->{details}, {runId => $r->{view}{runId},
		  templateCode => 'NO_LUCK', templateDetails => {n => 7}},
		  'the details of a failed run');
	ok(length $e->{recoverHint}, 'the error of a failed run has a hint');
	same_json($s->get_less_node($r->{view}{runId}), $r->{view},
		  'get_task_run says the same');
	ok(succeeded($s->tool(get_task_run => {runId => $r->{view}{runId}})),
	   'get_task_run of a failed run is no error');
	refused(my $own = $s->tool(fails => {}), 'EXECUTION_ERROR',
		"a template's own tool: an error without structuredContent");
	is($s->get($own->{view}{details}{runId})->{status}, 'failed',
	   'naming the run');
}
{
	my $v = $s->run_sync('stepfails');
	my $e = $v->{error};

	is($e->{errorCode}, 'STEP_EXECUTION_FAILED', 'run.error in a step');
	same_json($e->{details}, {runId => $v->{runId}, failedStep => 'second',
		  stepErrorCode => 'NO_LUCK'}, 'names the step and its error');
	same_json([map { [$_->{name}, $_->{status}] } @{$v->{steps}}],
		  [['first', 'succeeded'], ['second', 'failed']], 'the steps');
	same_json($v->{steps}[1]{error}, {code => 'NO_LUCK', message => 'bad day'},
		  "the step's own error");
	same_json($v->{progress}, {totalSteps => 2, doneSteps => 2}, 'progress');
}
{
	my $v = $s->run_sync('liar');

	is($v->{error}{errorCode}, 'OUTPUT_INVALID',
	   'an output that breaks its outputsSchema');
	is($v->{error}{details}{pointer}, '/n', 'where');
	is($v->{error}{details}{keyword}, 'type', 'OUTPUT_INVALID names the keyword');
}
{
	my $v = $s->run_sync('half');

	is($v->{status}, 'partial_success', 'three of four steps are enough');
	is($v->{result}, 'enough', 'the result of a partial success stands');
	ok(!exists $v->{error}, 'a partial success has no error');
	answer_ok($s->run('half'), 'the answer of a partial success is no error');
}

# ---- timeouts, life ----

{
	my $r = $s->run('doze', {}, mode => 'sync', timeoutMs => 30);
	my $d = $r->{view}{error}{details};

	is($r->{view}{error}{errorCode}, 'RUN_TIMEOUT', 'options.timeoutMs');
	ok($r->{isError}, 'RUN_TIMEOUT is an error');
	is($d->{allowed}, 30, 'RUN_TIMEOUT names the limit');
	ok($d->{unit} eq 'ms' && length $d->{whoCanRaise}, 'RUN_TIMEOUT says who can raise the limit');
	cmp_ok($s->run_sync('deadline')->{result}, '<=', 50000,
	       "without it, the template's own limit holds");
	cmp_ok($s->run_sync('deadline', {}, timeoutMs => 9_999_999)->{result},
	       '<=', 50000, 'the template\'s own limit is the most');
	cmp_ok($s->run_sync('deadline', {}, timeoutMs => 20_000)->{result},
	       '<=', 20000, 'less may be asked for');
}
for ([1_800_000, 1_800_000], [999_999_999_999, 7_200_000]) {
	my $v = $s->run_sync(echo => {}, ttlMs => $_->[0]);

	is($v->{expiresAt} - $v->{updatedAt}, $_->[1], "ttlMs $_->[0]");
}

# ---- the same key again ----

{
	my $first = $s->run(echo => {n => 1}, mode => 'async',
			    idempotencyKey => 'k1')->{view};
	my $v;

	ok(!exists $first->{deduplicated}, 'a key that is new');
	$v = $s->run(echo => {n => 1}, mode => 'async',
		     idempotencyKey => 'k1')->{view};
	ok($v->{deduplicated} && $v->{runId} eq $first->{runId},
	   'the same again gives the same run');
	$s->ended($first->{runId});
	$v = $s->run(echo => {n => 1}, mode => 'async',
		     idempotencyKey => 'k1')->{view};
	ok($v->{deduplicated} && $v->{runId} eq $first->{runId},
	   'an ended run is found by the key');
	my $r = $s->run(echo => {n => 1}, mode => 'sync', idempotencyKey => 'k1');
	answer_ok($r, 'sync as well');
	ok($r->{view}{deduplicated} && $r->{view}{runId} eq $first->{runId} &&
	   $r->{view}{result}{n} == 1, 'a sync call with a used key has the result');
	invalid($s->run(echo => {n => 2}, mode => 'async',
			idempotencyKey => 'k1'), '/options/idempotencyKey',
		'.*', qr/other inputs/, 'other inputs under that key');
	isnt($s->run_sync(later => {n => 1}, idempotencyKey => 'k1')->{runId},
	     $first->{runId}, 'another template has keys of its own');
	is($s->run_sync(echo => {b => {y => 1, x => [2]}, a => 1},
			idempotencyKey => 'k2')->{runId},
	   $s->run_sync(echo => {a => 1, b => {x => [2], y => 1}},
			idempotencyKey => 'k2')->{runId},
	   'the order of members does not matter');

	my @twins = map { $s->ask_run(nap => {ms => 100}, mode => 'sync',
				      idempotencyKey => 'twin') } 1 .. 5;
	my @got = map { $s->result($_)->{view} } @twins;
	is(scalar(keys %{{map { $_->{runId} => 1 } @got}}), 1,
	   'five at once under one key are one run');
	is(scalar(grep { $_->{deduplicated} } @got), 4,
	   'four of them know that they are not the first');
	is(scalar(grep { $_->{result} eq 'rested' } @got), 5, 'all get its result');
	@twins = map { $s->ask_run(echo => {}, mode => 'async',
				   idempotencyKey => 'twin') } 1 .. 5;
	@got = map { $s->result($_)->{view} } @twins;
	is(scalar(keys %{{map { $_->{runId} => 1 } @got}}), 1,
	   'five async calls with one key make one run');
	is(scalar(grep { $_->{deduplicated} } @got), 4, 'of which one is the first');

	my $failed = $s->run(fails => {}, mode => 'sync', idempotencyKey => 'f');
	my $again = $s->run(fails => {}, mode => 'sync', idempotencyKey => 'f');
	ok($again->{isError} && $again->{view}{deduplicated} &&
	   $again->{view}{runId} eq $failed->{view}{runId},
	   'a run that failed is known by its key, and still an error');
}

# ---- list_task_runs ----

{
	my $t = server()->greeted;
	my @runs;

	same_json($t->tool('list_task_runs')->{view}, {runs => [], total => 0},
		  'at first there are none');
	push @runs, $t->run_sync($_ % 5 ? 'echo' : 'fails')->{runId} for 1 .. 25;
	my $r = $t->tool('list_task_runs');
	answer_ok($r, 'list_task_runs answers in both ways');
	same_json([map { $_->{runId} } @{$r->{view}{runs}}],
		  [(reverse @runs)[0 .. 19]], 'the newest 20, newest first');
	is($r->{view}{total}, 25, 'total counts all');
	same_json([sort grep { $_ ne 'node' } keys %{$r->{view}{runs}[0]}],
		  [qw(createdAt runId status templateId updatedAt)],
		  'the parts of a line');
	same_json([map { $_->{runId} } @{$t->tool(list_task_runs =>
		   {limit => 7, offset => 20})->{view}{runs}}],
		  [(reverse @runs)[20 .. 24]], 'offset and limit');
	same_json($t->tool(list_task_runs => {offset => 1000})->{view},
		  {runs => [], total => 25}, 'beyond the end');
	same_json($t->tool(list_task_runs =>
			   {offset => 9_007_199_254_740_991})->{view},
		  {runs => [], total => 25}, 'far beyond');
	my $failed = $t->tool(list_task_runs => {status => 'failed', limit => 3});
	is($failed->{view}{total}, 5, 'the list by status has the right total');
	is(scalar(grep { $_->{templateId} eq 'fails' }
		  @{$failed->{view}{runs}}), 3, 'the list by status has the asked number of failed runs');
	is($t->tool(list_task_runs => {templateId => 'echo'})->{view}{total}, 20,
	   'the list by template has the right total');
	is($t->tool(list_task_runs => {templateId => 'echo',
				       status => 'failed'})->{view}{total}, 0,
	   'the list by template and status has the right total');
	is($t->tool(list_task_runs => {templateId => 'nobody'})->{view}{total},
	   0, 'of an unknown template there are none');
	for ([{limit => 0}, 'limit', 'minimum', qr/1/],
	     [{limit => 101}, 'limit', 'maximum', qr/100/],
	     [{limit => 'x'}, 'limit', 'type', qr/integer/],
	     [{offset => -1}, 'offset', 'minimum', qr/0/],
	     [{status => 'cancelled'}, 'status', 'enum', qr/canceled/],
	     [{state => 'failed'}, 'state', 'additionalProperties', qr/status/]) {
		invalid($t->tool(list_task_runs => $_->[0]), "/$_->[1]",
			$_->[2], $_->[3], 'refused: ' . json_of($_->[0]));
	}
	my $run = $t->run_async('doze');
	$t->saying($run, 'dozing');
	same_json([map { $_->{runId} } @{$t->tool(list_task_runs =>
		   {status => 'running'})->{view}{runs}}], [$run],
		  'a run that goes on is listed as running');
	$t->stop;
}

# ---- get_task_run that waits ----

{
	my $t = Paddock->new(templates => {naps => lua('run.sleep(inputs.ms) return "rested"')})->greeted;
	my $run = $t->run_async(naps => {ms => 300});
	my $v = $t->tool(get_task_run => {runId => $run, waitMs => 45000})->{view};

	is("$v->{status} $v->{result}", 'succeeded rested', 'get_task_run waits for the end');
	$t->stop;
}

# ---- get_artifact ----

{
	my $cjk = '表,数据\n東京,中文\n' x 400;
	utf8::encode(my $cjk_bytes = $cjk);
	my $binary = join '', map { chr } 0 .. 255;
	my $v = $s->run_sync(files => {files => [
		{name => '表.csv', type => 'text/csv', unit => '表,数据\n東京,中文\n',
		 times => 400},
		{name => 'b.bin', type => 'application/octet-stream',
		 base64 => MIME::Base64::encode($binary, '')},
		{name => 'big', type => 'text/plain', unit => '0123456789',
		 times => 60_000},
		{name => 'empty', type => 'application/json', unit => '', times => 0},
		{name => '../../etc/passwd', type => 'image/png', unit => 'x',
		 times => 1},
	]});
	my @a = @{$v->{artifacts}};
	my $get = sub { $s->tool(get_artifact => {artifactId => $_[0],
						  @_[1 .. $#_]}) };

	same_json([map { [@$_{qw(name mimeType size type)}] } @a],
		  [['表.csv', 'text/csv', length $cjk_bytes, 'csv'],
		   ['b.bin', 'application/octet-stream', 256, 'binary'],
		   ['big', 'text/plain', 600_000, 'text'],
		   ['empty', 'application/json', 0, 'json'],
		   ['../../etc/passwd', 'image/png', 1, 'image']],
		  'a run lists its artifacts');
	same_json($v->{result}{ids}, [map { $_->{artifactId} } @a],
		  'the template was told their ids');
	is(scalar(grep { $_->{artifactId} =~ /^art_[a-z2-7]{26}$/ } @a), 5,
	   'the shape of an artifactId');

	my $r = $get->($a[1]{artifactId});
	answer_ok($r, 'get_artifact answers in both ways');
	$r = $get->($a[0]{artifactId});
	is_deeply([map { $_->{type} } @{$r->{content}}], [qw(text text)], 'a text is given as what it is');
	is($r->{content}[1]{text}, $cjk, 'a short text comes whole');
	my %known = %{$r->{view}};
	delete $known{data};
	same_json(Paddock::json_to_text($r->{content}[0]{text}), \%known, 'the first block of get_artifact is the view without the bytes');
	same_json([sort keys %{$r->{view}}], [qw(artifactId bytesReturned complete
		  data mimeType name offset sha256 size)], 'the members of get_artifact\'s view');
	ok(decode_base64($r->{view}{data}) eq $cjk_bytes, 'Chinese comes whole');
	is($r->{view}{sha256}, sha256_hex($cjk_bytes), 'sha256 is that of all');
	is($r->{view}{complete}, true, 'get_artifact of a short text is complete');
	my $got = join '', map {
		decode_base64($get->($a[0]{artifactId}, offset => $_ * 7,
				     limit => 7)->{view}{data})
	} 0 .. 9;
	ok($got eq substr($cjk_bytes, 0, 70),
	   'pieces that cut characters fit together');
	ok(decode_base64($get->($a[1]{artifactId})->{view}{data}) eq $binary,
	   'any byte comes through');

	my ($all, $offset, @pieces) = ('', 0);
	do {
		$r = $get->($a[2]{artifactId}, $offset ? (offset => $offset) : ())
		    ->{view};
		push @pieces, $r->{bytesReturned};
		$all .= decode_base64($r->{data});
		$offset += $r->{bytesReturned};
	} until $r->{complete} || @pieces > 9;
	same_json(\@pieces, [262144, 262144, 75712],
		  'more than maxArtifactInlineBytes comes in pieces');
	ok($all eq '0123456789' x 60_000, 'the pieces together are the whole artifact');

	for ([{offset => 600_000}, 0, true, 'offset at the end'],
	     [{offset => 599_999, limit => 5}, 1, true, 'the last byte'],
	     [{offset => 599_990, limit => 9}, 9, false, 'all but the last byte'],
	     [{limit => 1}, 1, false, 'the first byte']) {
		my $p = $get->($a[2]{artifactId}, %{$_->[0]})->{view};

		ok($p->{bytesReturned} == $_->[1] && $p->{complete} == $_->[2] &&
		   $p->{offset} == ($_->[0]{offset} // 0) &&
		   length decode_base64($p->{data}) == $_->[1], $_->[3])
		    || diag(substr json_of($p), 0, 300);
	}
	my $empty = $get->($a[3]{artifactId})->{view};
	ok($empty->{complete} && $empty->{data} eq '' && $empty->{size} == 0,
	   'an empty artifact is complete at once');
	invalid($get->($a[2]{artifactId}, offset => 600_001), '/offset',
		'maximum', qr/600000/, 'beyond the end');
	invalid($get->($a[2]{artifactId}, offset => -1), '/offset', 'minimum',
		qr/0/, 'before the start');
	invalid($get->($a[2]{artifactId}, limit => 0), '/limit', 'minimum',
		qr/1/, 'limit 0');
	invalid($get->($a[2]{artifactId}, limit => 262_145), '/limit', 'maximum',
		qr/262144/, 'a limit over the most');
	invalid($get->($a[2]{artifactId}, lenght => 1), '/lenght', '.*', qr/./,
		'an unknown argument');
	my $unknown = $a[0]{artifactId} =~ s/.$/a/r;
	$unknown =~ s/.$/b/ if $unknown eq $a[0]{artifactId};
	refused($get->($_), 'ARTIFACT_NOT_FOUND', 'unknown: ' . substr $_, 0, 40)
	    for $unknown, 'art_1', '', '../../paddock.db', 'x' x 5000, $v->{runId},
		"' OR 1=1 --", '%';
	is($s->tool('get_runtime_profile')->{view}{usage}{artifactBytes},
	   600_000 + 256 + 1 + length $cjk_bytes, 'usage counts artifacts');
	# a character across the bound of a piece belongs to the next piece
	my ($hard) = $s->run_sync(files => {files => [{name => 'hard', type => 'text/plain', unit => '中', times => 87_391}]})->{artifacts}[0]{artifactId};
	my $piece = $get->($hard);
	is($piece->{view}{bytesReturned}, 262143, 'a piece of a text ends with a character');
	is(length($piece->{content}[1]{text} // ''), 87_381, 'a piece of a text is given as text');
	is($get->($hard, offset => 262143)->{content}[1]{text}, '中' x 10, 'the next piece of a text begins with a character');
}
{
	my $t = server(config => {artifact_ttl_ms => 1, default_ttl_ms => 60000})->greeted;
	my $v = $t->run_sync(files => {files => [
		{name => 'a', type => 'text/plain', unit => 'x', times => 3}]});
	my $r;
	until_true('the artifact to expire', sub {
		$r = $t->tool(get_artifact =>
			      {artifactId => $v->{artifacts}[0]{artifactId}});
		return $r->{isError};
	});
	refused($r, 'ARTIFACT_EXPIRED', 'past its time it is not unknown: expired');
	is($t->get($v->{runId})->{status}, 'succeeded', 'the run of an expired artifact is still known');
	$t->stop;
}

# ---- cancel_task_run ----

{
	my $cancel = sub { $s->tool(cancel_task_run => {runId => $_[0]}) };
	my @on = map { $s->run_async('doze') } 1 .. 2; # all that may run
	my $queued = $s->run_async('echo');
	my $r;

	$s->saying($_, 'dozing') for @on;
	is($s->get($queued)->{status}, 'queued', 'a run waits for its turn');
	answer_ok($r = $cancel->($queued), 'a queued run is cancelled');
	same_json($r->{view}, {cancelRequested => true, currentStatus => 'canceled'},
		  'a queued run is canceled at once');
	is($s->get($queued)->{error}{errorCode}, 'RUN_CANCELED', 'the error of a cancelled run is RUN_CANCELED');
	answer_ok($r = $cancel->($queued), 'cancelled again');
	ok(!$r->{view}{cancelRequested} && $r->{view}{currentStatus} eq 'canceled' &&
	   length $r->{view}{reason}, 'a second cancel of a run is no error');
	answer_ok($r = $cancel->($on[0]), 'a running one is cancelled');
	is($r->{view}{cancelRequested}, true, 'a running run is asked to stop');
	like($r->{view}{currentStatus}, qr/^(running|canceled)$/, 'where it stands');
	is($s->ended($on[0])->{status}, 'canceled', 'the running run is soon canceled');
	my $v = $s->run_sync('echo');
	same_json([@{$cancel->($v->{runId})->{view}}
		   {qw(cancelRequested currentStatus)}], [false, 'succeeded'],
		  'one that has succeeded stays so');
	$cancel->($on[1]);
	$s->ended($on[1]);
}

# ---- ids that are none ----

for my $name (qw(get_task_run cancel_task_run)) {
	my $real = $s->run_sync('echo')->{runId};

	(my $near = $real) =~ tr/a-z/b-za/;
	refused($s->tool($name => {runId => $_}), 'RUN_NOT_FOUND',
		"$name of '" . substr($_, 0, 30) . "'")
	    for $near, uc $real, "$real ", "run_", 'run_123', '', 'x' x 10_000,
		"'; DROP TABLE runs; --", '中文', '../..', $real =~ s/run_/art_/r;
	invalid($s->tool($name => {runId => "$real\0"}), '/runId', '.*',
		qr/NUL|u0000/, "$name of an id with a NUL");
	invalid($s->tool($name => {runId => 7}), '/runId', 'type', qr/string/,
		"$name of a number");
	invalid($s->tool($name => {}), '', 'required', qr/runId/,
		"$name of nothing");
	invalid($s->tool($name => {runID => $real}), '', 'required',
		qr/"runId".*"runID"/, "$name: runID");
}

# ---- a full queue ----

{
	my @on = map { $s->run_async('doze') } 1 .. 2;
	my @waiting = map { $s->run_async('echo') } 1 .. 3;
	my $r = $s->run('echo');
	my $d = $r->{view}{details};

	refused($r, 'QUEUE_FULL', 'over max_queued_runs');
	ok($d->{used} == 3 && $d->{allowed} == 3 && $d->{unit} eq 'runs' &&
	   $d->{limit} eq 'max_queued_runs' && $d->{whoCanRaise} =~ /operator/ &&
	   $d->{retryAfterMs} > 0, 'what the limit is, and who can raise it');
	same_json($s->tool('get_runtime_profile')->{view}{usage}{queued}, 3,
		  'usage counts them');
	refused($s->run('echo', {}, mode => $_), 'QUEUE_FULL', "$_ likewise")
	    for qw(sync async);
	refused($s->tool('echo', {}), 'QUEUE_FULL', 'a template\'s own tool with a full queue');
	$s->tool(cancel_task_run => {runId => $_}) for @on;
	is($s->ended($_)->{status}, 'succeeded', 'what waited gets its turn')
	    for @waiting;
	$s->ended($_) for @on;
}

unlike($s->log_text, qr/artifact=lost/, 'the log has no artifact as lost that was kept');
$s->stop;

# ---- the declared schemas ----

{
	my @contract = qw(list_task_templates run_task_template get_task_run
			  list_task_runs cancel_task_run get_artifact
			  get_runtime_profile);

	same_json([grep { !$tool{$_}{outputSchema} } @contract, 'retry_task_run'], [], 'each tool says what it answers');
	same_json($tool{retry_task_run}{outputSchema}, $tool{run_task_template}{outputSchema},
		  '  retry_task_run has the outputSchema of run_task_template');
	for my $name (@contract) {
		my $schema = $tool{$name}{outputSchema};
		my @wrong = map { schema_errors($schema, $_) }
		    @{$said{$name} // []};

		ok(!@wrong && @{$said{$name} // []},
		   scalar(@{$said{$name} // []}) . " answers of $name fit its " .
		   'outputSchema') || diag("@wrong[0 .. ($#wrong > 5 ? 5 : $#wrong)]");
	}
}

{
	my $paddock = "$BUILD/paddock";

	my $folder = Paddock::fresh_root();
	my $bad = 0;
	for my $name (sort keys %tool) {
		my $schema = $tool{$name}{outputSchema} or next;
		my @all = @{$said{$name} // []};

		write_file("$folder/schema.json", json_of($schema));
		write_file("$folder/$_.json", json_of($all[$_])) for 0 .. $#all;
		while (my @some = splice @all, 0, 200) {
			my $n = @{$said{$name}} - @all - @some;
			my $out = qx($paddock schema $folder/schema.json @{[
			    map { "$folder/" . ($n + $_) . '.json' } 0 .. $#some]} 2>&1);
			$bad++ if $? != 0;
			diag(substr $out, 0, 500) if $? != 0;
		}
	}
	is($bad, 0, 'paddock schema says so, too');
}

done_testing;
