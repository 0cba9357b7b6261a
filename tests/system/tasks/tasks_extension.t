#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The Tasks extension of MCP 2026-07-28, by the numbers in a checklist of the extension's
# rules, and the same tasks in 2025-11-25.
use lib 'tests/lib';
use Paddock;
use Task;

my $TTL = 3_600_000;
my $ISO = qr/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
my %long = (limits => {maxTimeoutMs => 600000, cancelGraceMs => 60000});
my %templates = (
    echo => lua('return inputs'),
    nap => lua('run.sleep(100) run.log("info", "awake") run.progress(1, 1, "done") return inputs', taskSupport => 'forbidden'),
    plain => lua('return 7', taskSupport => 'required'),
    fails => lua('run.error("NO_LUCK", "bad day", {day = 13})', taskSupport => 'required'),
    part => lua('run.map({1, 2}, {step = "s"}, function(n) if n == 2 then ' .
		'run.error("ODD", "no") end return n end) return {some = true}',
		supportsPartialSuccess => true, taskSupport => 'required'),
    reply => lua('return run.reply{content = {{type = "text", text = "hello"}}, ' .
		 'structuredContent = {a = 1}}', taskSupport => 'required'),
    sorry => lua('return run.reply{content = {{type = "text", text = "the page is gone"}}, ' .
		 'isError = true}', taskSupport => 'required'),
    breaks => lua('return run.reply{error = {code = 17, message = "no account", data = {4}}}',
		  taskSupport => 'required'),
    large => lua('return {text = string.rep("x", 200000)}', taskSupport => 'required'),
    behind => lua('run.sleep(600000)', executionMode => 'async', %long),
    many => lua('run.sleep(600000)', executionMode => 'auto', autoAsync => {pointer => '/urls', itemsOver => 2}, %long),
    dozes => lua('run.sleep(600000)', executionMode => 'auto', %long),
    doze => lua('run.progress(0, 1, "dozing") while true do run.sleep(60000) end', %long),
    steps => lua('for i = 1, 9 do run.progress(i, 9, "step " .. i) run.log("error", "said " .. i) run.sleep(5) end return {n = 9}',
		 taskSupport => 'required'),
    asks => lua('local a = run.elicit{message = "who?", schema = {type = "object", properties = {name = {type = "string"}}, required = {"name"}}} ' .
		'return {hello = a.content and a.content.name or a.action}', taskSupport => 'required'),
    asks_two => lua('local all = run.map({"a", "b"}, {concurrency = 2}, function(k) return run.elicit{key = k, message = k, ' .
		    'schema = {type = "object", properties = {n = {type = "integer"}}}}.content.n end) ' .
		    'return {sum = all[1].value + all[2].value}', taskSupport => 'required'),
    tries => lua('local ok, e = pcall(run.elicit, {message = "who?", schema = {type = "object", properties = {n = {type = "integer"}}}}) return {code = e.code}',
		 taskSupport => 'required'),
    stubborn => lua('run.progress(0, 1, "staying") while true do pcall(run.sleep, 10) end',
		    limits => {cancelGraceMs => 2000, maxTimeoutMs => 600000}),
);
my %tasks = (extensions => {$TASKS => {}});
my $s = Paddock->new(templates => \%templates, config => <<"EOT");
[server]
audit_file = /dev/fd/2
[limits]
default_ttl_ms = $TTL
task_after_ms = 0
max_concurrent_runs = 50
EOT
# a server which makes a call a task only when required
my $patient = Paddock->new(templates => \%templates, config => {task_after_ms => 3_600_000});

sub run_args { my ($t, $i, %o) = @_; return {name => 'run_task_template', arguments => {templateId => $t, inputs => $i // {}, %o ? (options => \%o) : ()}} }

sub view { my ($s, $tool, %args) = @_; return $s->call('tools/call', stateless({name => $tool, arguments => \%args}))->{result}{structuredContent} }

sub dozing {
	my ($s, @a) = @_;
	my $id = ext_task($s, 'doze', @a);

	ext_until($s, $id, 'to doze', sub { ($_->{statusMessage} // '') eq 'dozing' });
	return $id;
}

sub cancel { return ext_call($_[0], 'tasks/cancel', {taskId => $_[1]}) }

sub acknowledged {
	my ($a, $name) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return same_json([sort(keys %{$a->{result}}), $a->{result}{resultType} // ''], [qw(_meta resultType complete)], $name);
}

# ---- 13: what is declared ----
{
	my $r = ext_call($s, 'server/discover')->{result}{capabilities};

	same_json($r->{extensions}, {$TASKS => {}}, 'MCP26 13: the extension is declared, exactly empty');
	ok(!exists $r->{tasks}, '  MCP26 13: no tasks of the core are declared');
	ok(!(grep { $_->{execution} } @{ext_call($s, 'tools/list')->{result}{tools}}), '  no tool has an execution');
	for my $task (7, {ttl => 'x'}, {ttl => 5}) {
		my $r = ext_call($patient, 'tools/call', {name => 'echo', arguments => {a => 1}, task => $task})->{result};
		is(json_to($r->{content}[0]{text})->{a}, 1, '  params.task is ignored: ' . json_of($task));
	}
	is(ext_call($s, "tasks/$_", {taskId => 'x'})->{error}{code}, -32601, "  there is no tasks/$_") for qw(list result);
}

# ---- 14: the server decides ----
{
	my $a = ext_call($s, 'tools/call', {name => 'plain', arguments => {}}, {sampling => {}});

	is($a->{error}{code}, -32021, 'MCP26 14: one that is a task alone is refused to who knows none');
	same_json($a->{error}{data}, {requiredCapabilities => \%tasks}, '  MCP26 14: the refusal says which capability lacks');
	like(ext_task($s, 'plain'), qr/^run_[2-7a-z]{26}$/, '  who knows tasks gets one');
	is(ext_call($s, 'tools/call', {name => 'plain', arguments => {}}, {})->{error}{code}, -32021,
	   '  MCP26 14: the capability holds for a single request');
	like(ext_task($patient, 'plain'), qr/^run_/, '  MCP26 14: a patient server gives a task at once');

	my $r = ext_call($s, 'tools/call', {name => 'nap', arguments => {a => 2}})->{result};
	is($r->{resultType}, 'complete', 'MCP26 14: one that must be none is held open');
	is(json_to($r->{content}[0]{text})->{a}, 2, '  to its result');

	my $held = $s->request('tools/call', stateless({name => 'doze', arguments => {}}, {}, {progressToken => 'held'}));
	$s->wait_for('it to doze', sub { grep { ($_->{params}{progressToken} // '') eq 'held' } @{$s->{notes}} });
	$s->notify('notifications/cancelled', {requestId => $held});
	my ($run) = map { $_->{runId} } grep { $_->{templateId} eq 'doze' } @{view($s, 'list_task_runs')->{runs}};
	ok(until_true('it to be cancelled', sub { view($s, 'get_task_run', runId => $run)->{status} eq 'canceled' }),
	   'MCP26 14: without the extension it is held open, with progress; and cancelled with its call');
	ok(!$s->{answers}{json_of($held)}, '  MCP26 14: a cancelled call gets no answer');

	$r = ext_call($s, 'tools/call', run_args('doze', {}, mode => 'async'))->{result};
	is($r->{structuredContent}{mode}, 'async', 'MCP26 14: mode async gives its handle');
	is(ext_call($s, 'tasks/get', {taskId => $r->{structuredContent}{runId}})->{error}{code}, -32602, '  MCP26 14: the run of a handle is no task');
	view($s, 'cancel_task_run', runId => $_->{runId}) for @{view($s, 'list_task_runs', status => 'running')->{runs}};
	$r = ext_call($s, 'tools/call', run_args('doze', {}, mode => 'sync'))->{result};
	is($r->{resultType}, 'task', '  run_task_template becomes one');
	acknowledged(cancel($s, $r->{taskId}), '  MCP26 14: a task of a sync run_task_template can be cancelled');
}

# ---- a template that is answered before it ends ----
{
	my $r = ext_call($s, 'tools/call', {name => 'behind', arguments => {}})->{result};

	is($r->{resultType}, 'task', 'MCP26 14: a call that its template has answered before its end is a task at once');
	acknowledged(cancel($s, $r->{taskId}), '  MCP26 14: a task that was answered early can be cancelled');
	$r = ext_call($s, 'tools/call', run_args('behind', {}))->{result};
	is($r->{resultType}, 'task', '  MCP26 14: run_task_template of an early answer is a task');
	acknowledged(cancel($s, $r->{taskId}), '  MCP26 14: a task of run_task_template can be cancelled');
	my %long_list = (urls => [1, 2, 3]);
	for (['its template, in mode auto', 'behind', {}, mode => 'auto'], ['autoAsync', 'many', \%long_list],
	     ['autoAsync, in mode auto', 'many', \%long_list, mode => 'auto']) {
		my ($by, @call) = @$_;

		$r = ext_call($patient, 'tools/call', run_args(@call))->{result};
		is($r->{resultType}, 'task', "MCP26 14: one that is not to wait by $by is a task at once");
		cancel($patient, $r->{taskId});
	}
	$r = ext_call($patient, 'tools/call', run_args('behind', {}, mode => 'async'))->{result};
	is($r->{resultType}, 'complete', '  one whose client asks for the handle has that');
	$patient->tool(cancel_task_run => {runId => $r->{structuredContent}{runId}});
	my $hasty = Paddock->new(templates => \%templates, config => {task_after_ms => 600000, inline_wait_ms => 200});
	$r = ext_call($hasty, 'tools/call', {name => 'dozes', arguments => {}})->{result};
	is($r->{resultType}, 'task', 'MCP26 14: one that would have a handle by inline_wait_ms is a task by then');
	cancel($hasty, $r->{taskId});
	$hasty->stop;
}

# ---- 15: CreateTaskResult ----
{
	my $a = ext_call($s, 'tools/call', {name => 'doze', arguments => {}});
	my $r = $a->{result};
	my ($ttl, $poll) = $a->{raw} =~ /"ttlMs":(\d+),"pollIntervalMs":(\d+)[,}]/;

	same_json([grep { $_ ne 'statusMessage' } sort keys %$r],
		  [qw(_meta createdAt lastUpdatedAt pollIntervalMs resultType status taskId ttlMs)],
		  'MCP26 15: a CreateTaskResult is flat');
	is($r->{resultType}, 'task', '  says so');
	is($r->{status}, 'working', '  works');
	is($ttl, $TTL, '  MCP26 15: ttlMs is the default, an integer');
	cmp_ok($poll, '>', 0, '  MCP26 15: pollIntervalMs is above 0');
	like($r->{$_}, $ISO, "  $_ is ISO 8601") for qw(createdAt lastUpdatedAt);
	cancel($s, $r->{taskId});
	my %seen = map { ext_task($s, 'plain') => 1 } 1 .. 20;
	is(keys %seen, 20, 'MCP26 15: every task has an id of its own');
}

# ---- 16: tasks/get ----

# The answer without the parts which differ for each run.
sub shape {
	my ($r) = @_;
	my $text = json_of({%$r{qw(content structuredContent isError resultType)}});

	$text =~ s/run_[2-7a-z]{26}/RUN/g;
	return $text;
}

{
	my $id = dozing($s);
	my $t = ext_get($s, $id);

	same_json([sort keys %$t], [qw(_meta createdAt lastUpdatedAt pollIntervalMs resultType status statusMessage taskId ttlMs)],
		  'MCP26 16: tasks/get is complete, with the Task');
	is($t->{resultType}, 'complete', '  MCP26 16: the answer of tasks/get says complete');
	is($t->{status}, 'working', '  MCP26 16: the task of tasks/get works');
	cancel($s, $id);
	$t = ext_over($s, $id);
	is($t->{status}, 'cancelled', 'MCP26 16: one that was cancelled');
	ok(!exists $t->{result} && !exists $t->{error}, '  MCP26 16: a cancelled task has neither result nor error');
}
for my $name (qw(plain fails part reply sorry)) {
	my $t = ext_over($s, ext_task($s, $name, {x => 'ä'}));

	is($t->{status}, 'completed', "MCP26 16: $name is completed");
	is($t->{result}{resultType}, 'complete', "MCP26 16: the result of $name is complete");
	is($t->{result}{isError} // false, $name =~ /fails|sorry/ ? true : false, "MCP26 16: the result of $name says whether the call failed");
	ok(json_of($t) !~ /related-task/, "MCP26 16: the result of $name names no related task");
	same_json(ext_get($s, $t->{taskId})->{result}, $t->{result}, "MCP26 16: the result of $name stays the same");
}
{
	my $t = ext_over($s, ext_task($s, 'breaks'));

	is($t->{status}, 'failed', 'MCP26 16: an error of JSON-RPC alone is failed');
	same_json($t->{error}, {code => 17, message => 'no account', data => [4]}, '  MCP26 16: a failed task has the error of JSON-RPC');
	ok(!exists $t->{result}, '  MCP26 16: a failed task has no result');
	like(ext_over($s, ext_task($s, 'fails'))->{statusMessage}, qr/^bad day \(EXECUTION_ERROR\)/, 'MCP26 16: why it failed is told');
	$t = ext_over($s, ext_task($s, 'large'));
	is(length $t->{result}{structuredContent}{text}, 200000, 'MCP26 16: a large result is whole');
	is($t->{result}{resultType}, 'complete', '  MCP26 16: a large result is complete');
}

{
	my $h = Paddock->new(templates => {huge => lua('return {text = string.rep("x", 3000000)}', taskSupport => 'required')},
			     config => {max_answer_bytes => '2M'});
	my $id = ext_task($h, 'huge');
	my $a;

	until_true('it to end', sub { $a = ext_call($h, 'tasks/get', {taskId => $id}); $a->{result}{status} eq 'completed' });
	cmp_ok(length $a->{raw}, '<=', 2 << 20, 'MCP26 16: a result that is too long gives way');
	is($a->{result}{result}{resultType}, 'complete', '  MCP26 16: a result that is too long is complete');
	is($a->{result}{taskId}, $id, '  MCP26 16: the task of a result that is too long is whole');
	ok((grep { $_->{type} eq 'resource_link' && $_->{uri} =~ m{/\Q$id\E/result} } @{$a->{result}{result}{content}}), '  MCP26 16: a result that is too long has a link to the whole');
	$h->stop;
}

# ---- 17: tasks/update ----
{
	my $id = dozing($s);

	acknowledged(ext_call($s, 'tasks/update', {taskId => $id, inputResponses => $_}),
		     'MCP26 17: keys that nobody asks for are ignored: ' . json_of($_))
	    for {}, {nobody => {action => 'accept', content => {}}};
	is(ext_call($s, 'tasks/update', {taskId => $id, @$_})->{error}{code}, -32602,
	   'MCP26 17: refused: ' . json_of($_))
	    for [], [inputResponses => null], [inputResponses => []], [inputResponses => 'x'],
		[inputResponses => {a => 1}], [inputResponses => {a => {}, b => null}];
	is(ext_get($s, $id)->{status}, 'working', '  the task goes on');
	cancel($s, $id);
	ext_over($s, $id);
	acknowledged(ext_call($s, 'tasks/update', {taskId => $id, inputResponses => {a => {}}}),
		     'MCP26 17: so are those of a task that is over');
}

# ---- 16, 17: questions ----

my %can_ask = (%tasks, elicitation => {form => {}});

sub looked { my ($s, $id, $can) = @_; return ext_call($s, 'tasks/get', {taskId => $id}, $can // \%can_ask)->{result} }
sub asked {
	my ($s, $id, $n) = @_;
	my $t;

	until_true("$id to ask", sub { $t = looked($s, $id); return keys %{$t->{inputRequests} // {}} == $n || $t->{result} });
	return $t;
}
sub answers { my ($s, $id, $all) = @_; return ext_call($s, 'tasks/update', {taskId => $id, inputResponses => $all}, \%can_ask) }

{
	my $id = ext_task($s, 'asks', {}, \%can_ask);
	my $t = asked($s, $id, 1);
	my ($key) = keys %{$t->{inputRequests}};

	is($t->{status}, 'input_required', 'MCP26 16: a task that asks is input_required');
	same_json($t->{inputRequests}{$key}, {method => 'elicitation/create', params => {mode => 'form', message => 'who?',
		requestedSchema => {type => 'object', properties => {name => {type => 'string'}}, required => ['name']}}},
		  '  MCP26 16: a task that asks has the question');
	$t = looked($s, $id, {%tasks});
	is($t->{status}, 'working', '  who does not declare that it can answer is not asked');
	ok(!exists $t->{inputRequests}, '  MCP26 16: a client that cannot answer does not see the question');
	acknowledged(answers($s, $id, {nobody => {action => 'accept', content => {name => 'Eve'}}}), 'MCP26 17: another key is ignored');
	is(looked($s, $id)->{status}, 'input_required', '  MCP26 17: a task still asks after an answer by another key');
	acknowledged(answers($s, $id, {$key => {action => 'accept', content => {name => 'Ada'}}}), 'MCP26 17: an answer is taken');
	$t = ext_over($s, $id);
	is(json_to($t->{result}{content}[0]{text})->{hello}, 'Ada', '  MCP26 17: the template gets the first client\'s answer');
	ok(!exists $t->{inputRequests}, '  MCP26 17: an answered task asks nothing any more');
	acknowledged(answers($s, $id, {$key => {action => 'accept', content => {name => 'Eve'}}}), 'MCP26 17: an answer again is ignored');

	$id = ext_task($s, 'asks_two', {}, \%can_ask);
	$t = asked($s, $id, 2);
	same_json([sort keys %{$t->{inputRequests}}], [qw(a b)], 'MCP26 16: all that a task asks is told at once');
	acknowledged(answers($s, $id, {a => {action => 'accept', content => {n => 3}}}), 'MCP26 17: one of two may be answered');
	$t = asked($s, $id, 1);
	same_json([keys %{$t->{inputRequests}}], ['b'], '  the other is left');
	is($t->{status}, 'input_required', '  for which the task waits');
	answers($s, $id, {b => {action => 'accept', content => {n => 4}}, a => {action => 'accept', content => {n => 40}}});
	is(json_to(ext_over($s, $id)->{result}{content}[0]{text})->{sum}, 7, '  MCP26 17: the task goes on with the first answer to each question');

	is(json_to(ext_over($s, ext_task($s, 'tries'))->{result}{content}[0]{text})->{code}, 'ELICITATION_NOT_SUPPORTED',
	   'MCP26 16: what its client can never answer is refused to the template');
	$id = ext_task($s, 'asks', {}, \%can_ask);
	asked($s, $id, 1);
	acknowledged(cancel($s, $id), 'MCP26 18: a task that asks is cancelled');
	$t = ext_over($s, $id);
	is($t->{status}, 'cancelled', '  MCP26 18: a task that asked is cancelled');
	ok(!exists $t->{inputRequests}, '  MCP26 18: a cancelled task asks nothing');
}

# ---- 18: tasks/cancel ----
{
	my $id = ext_task($s, 'stubborn');

	ext_until($s, $id, 'to stay', sub { ($_->{statusMessage} // '') eq 'staying' });
	acknowledged(cancel($s, $id), 'MCP26 18: to cancel is acknowledged');
	my $t = ext_get($s, $id);
	is($t->{status}, 'working', '  MCP26 18: a task that does not stop works until the end');
	is($t->{statusMessage}, 'The task is being cancelled.', '  MCP26 18: a task that does not stop says that the cancel is under way');
	acknowledged(cancel($s, $id), '  to cancel it again is, too');
	is(ext_over($s, $id)->{status}, 'cancelled', '  MCP26 18: a task that stopped late ends as cancelled');
	acknowledged(cancel($s, $id), 'MCP26 18: and so it is when the task is over');
	is(ext_get($s, $id)->{status}, 'cancelled', '  MCP26 18: a second cancel of a cancelled task changes nothing');
	$id = ext_task($s, 'plain');
	ext_over($s, $id);
	acknowledged(cancel($s, $id), '  of one that is completed');
	is(ext_get($s, $id)->{status}, 'completed', '  MCP26 18: a completed task stays completed');
}

# ---- 19: who may ----
{
	my $id = dozing($s);
	my $no_task = ext_call($s, 'tools/call', run_args('echo', {}, mode => 'async'))->{result}{structuredContent}{runId};
	my %more = (update => {inputResponses => {}});

	for my $method (qw(get update cancel)) {
		my $ask = sub { return $s->call("tasks/$method", stateless({taskId => $_[0], %{$more{$method} // {}}}, $_[1] // \%tasks)) };

		not_found($ask->('run_' . 'x' x 26), "MCP26 19: tasks/$method of no task");
		not_found($ask->(''), '  of an empty id');
		not_found($ask->($no_task), '  of a run that is no task');
		is($ask->($_)->{error}{code}, -32602, '  of what is no id: ' . json_of($_)) for 7, null, {};
		my $e = $ask->($id, {elicitation => {}})->{error};
		is($e->{code}, -32021, "MCP26 19: tasks/$method without the extension");
		same_json($e->{data}, {requiredCapabilities => \%tasks}, "MCP26 19: the refusal of tasks/$method says which capability lacks");
	}
	is(ext_get($s, $id)->{status}, 'working', '  none of which did anything');
	cancel($s, $id);
}

# ---- 20: nothing is told of a task unasked ----
{
	$s->{notes} = [];
	my $a = $s->call('tools/call', stateless({name => 'steps', arguments => {}}, \%tasks,
		{progressToken => 'tok', 'io.modelcontextprotocol/logLevel' => 'debug'}));
	my $t = ext_over($s, $a->{result}{taskId});

	is($t->{result}{structuredContent}{n} // json_to($t->{result}{content}[0]{text})->{n}, 9, 'MCP26 20: a task ends');
	same_json([grep { $_->{order} > $a->{order} } @{$s->{notes}}], [], '  MCP26 20: neither progress nor log of a task is sent unasked');
}
{
	my $i = Paddock->new(templates => \%templates, config => {default_ttl_ms => 1});
	my $id = ext_task($i, 'plain');

	until_true('it to expire', sub { ext_call($i, 'tasks/get', {taskId => $id})->{error} });
	not_found(ext_call($i, $_->[0], {taskId => $id, %{$_->[1]}}), "MCP26 20: it expires: $_->[0]")
	    for ['tasks/get', {}], ['tasks/update', {inputResponses => {}}], ['tasks/cancel', {}];
	$i->stop;
}

# ---- keys ----
{
	my %key = (idempotencyKey => 'k1', mode => 'auto');
	my $r = ext_call($s, 'tools/call', run_args('doze', {k => 1}, %key))->{result};
	my $again = ext_call($s, 'tools/call', run_args('doze', {k => 1}, %key))->{result};

	is($again->{taskId}, $r->{taskId}, 'a key gives the same task again');
	is($again->{_meta}{'paddock/deduplicated'}, true, '  a second call with the same key says deduplicated');
	ok(!exists $r->{_meta}{'paddock/deduplicated'}, '  the first did not');
	is(json_to(ext_call($s, 'tools/call', run_args('doze', {k => 2}, %key))->{result}{content}[0]{text})->{errorCode},
	   'INVALID_PARAMETER', '  a call with the same key and other inputs is refused');
	my $joins = $s->request('tools/call', stateless(run_args('doze', {k => 1}, %key)));
	$s->notify('notifications/cancelled', {requestId => $joins});
	ext_until($s, $r->{taskId}, 'to doze', sub { ($_->{statusMessage} // '') =~ /^dozing$|cancelled/ });
	is(ext_get($s, $r->{taskId})->{statusMessage}, 'dozing', 'MCP26 8: to cancel a call that has joined a task cancels no task');
	cancel($s, $r->{taskId});
	ext_over($s, $r->{taskId});
	$again = ext_call($s, 'tools/call', run_args('doze', {k => 1}, %key))->{result};
	is($again->{resultType}, 'complete', 'one that is over is answered plainly');
	is($again->{structuredContent}{deduplicated}, true, '  a call with the key of an ended task says deduplicated');
	ext_call($s, 'tools/call', run_args('doze', {}, idempotencyKey => 'k2', mode => 'async'));
	$r = ext_call($s, 'tools/call', run_args('doze', {}, idempotencyKey => 'k2', mode => 'sync'))->{result};
	is($r->{resultType}, 'task', 'a run that is none becomes one');
	is(scalar(() = $s->log_text =~ /"task_created".*"\Q$r->{taskId}\E"/g), 1, '  the audit log has the task made of a run');
	cancel($s, $r->{taskId});
}

# ---- what ends just then ----
{
	my @wrong;

	$s->init;
	for my $n (1 .. 40) {
		my $r = ext_call($s, 'tools/call', {name => 'echo', arguments => {n => $n}})->{result};

		if ($r->{resultType} eq 'task') {
			$r = ext_over($s, $r->{taskId})->{result};
		} else {
			my $id = $r->{_meta}{'paddock/runId'};
			push @wrong, "$n is a task" if ext_call($s, 'tasks/get', {taskId => $id})->{result} ||
			    grep { $_->{taskId} eq $id } all_tasks($s);
		}
		push @wrong, "$n: " . json_of($r) unless json_to($r->{content}[0]{text})->{n} == $n;
	}
	same_json(\@wrong, [], 'one that ends as it becomes a task is either, and never half of it');
}

# ---- both eras ----
{
	my $id = start_task($s, 'doze', {}, task => {ttl => 50000});
	my $t = ext_until($s, $id, 'to doze', sub { ($_->{statusMessage} // '') eq 'dozing' });

	is($t->{status}, 'working', 'a task of 2025-11-25 is shown in 2026-07-28');
	is($t->{ttlMs}, 50000, '  a task of 2025-11-25 has the ttl in 2026-07-28');
	acknowledged(cancel($s, $id), '  a task of 2025-11-25 is cancelled in 2026-07-28');
	is(task_over($s, $id)->{status}, 'cancelled', '  a session of 2025-11-25 sees the cancelled task');
	$id = start_task($s, 'fails');
	is(ext_over($s, $id)->{result}{isError}, true, '  a task of 2025-11-25 is read in 2026-07-28');
	is(get_task($s, $id)->{status}, 'failed', '  where it is failed');
	$id = start_task($s, 'breaks');
	is(ext_over($s, $id)->{error}{code}, 17, '  an error is one');

	$id = dozing($s);
	is(get_task($s, $id)->{status}, 'working', 'a task of 2026-07-28 is shown in 2025-11-25');
	is(get_task($s, $id)->{ttl}, $TTL, '  a task of 2026-07-28 has the ttl in 2025-11-25');
	ok((grep { $_->{taskId} eq $id } all_tasks($s)), '  a task of 2026-07-28 is listed in 2025-11-25');
	is($s->get($id)->{status}, 'running', '  the run of a task of 2026-07-28 runs');
	my $wait = $s->request('tasks/result', {taskId => $id});
	is($s->call('tasks/cancel', {taskId => $id})->{result}{status}, 'cancelled', '  a task of 2026-07-28 is cancelled in 2025-11-25');
	is($s->answer($wait)->{error}{message}, 'Task was cancelled', '  a session of 2025-11-25 that waits hears of the cancel');
	is(ext_over($s, $id)->{status}, 'cancelled', '  a task cancelled in 2025-11-25 is cancelled in 2026-07-28');
	$id = ext_task($s, 'reply');
	ext_over($s, $id);
	same_json($s->call('tasks/result', {taskId => $id})->{result}{structuredContent}, {a => 1}, '  the result of a 2026-07-28 task is read in 2025-11-25');
	$id = dozing($s);
	$s->tool(cancel_task_run => {runId => $id});
	is(ext_over($s, $id)->{status}, 'cancelled', '  a task cancelled as a run is cancelled');
	ok($s->log_text =~ /"task_created".*\Q$id\E/, '  the audit log has who made the task');
}

# ---- another server on the same state ----
{
	my $other = Paddock->new(templates => \%templates, root => $s->{root}, shared => 1, config => {task_after_ms => 0, max_concurrent_runs => 50, default_ttl_ms => $TTL});
	my $id = dozing($s);
	my $t = ext_until($other, $id, 'to be shown', sub { ($_->{statusMessage} // '') eq 'dozing' });

	is($t->{status}, 'working', "another server's task is shown");
	my $r = ext_call($other, 'tasks/update', {taskId => $id, inputResponses => {}});
	# with several machines, each passes the answers on
	on_postgres() ? ok($r->{result}, '  another server\'s task takes answers through any server') : is($r->{error}{code}, -32603, '  another server\'s task takes answers by the owner alone');
	acknowledged(cancel($other, $id), '  another server\'s task is cancelled');
	is(ext_over($other, $id)->{status}, 'cancelled', '  the other server tells the cancel');
	is(ext_over($s, $id)->{status}, 'cancelled', '  alike');
	$id = ext_task($s, 'reply');
	same_json(ext_over($other, $id)->{result}{structuredContent}, {a => 1}, "  the result of another server's task is read");
	$other->stop;
}

# ---- a store that fails ----
SKIP: {
	my $box = Paddock::fresh_root();
	my ($lib, $faults) = map { "$box/$_" } qw(faults.so faults);

	skip 'the file that is to fail is not there', 5 if on_postgres();
	skip 'no faults: no compiler, or a sanitized build', 5
	    if $SANITIZED || !compile('lib/faults.c', $lib, '-shared', '-fPIC');
	chmod 0777, $box;
	write_file($faults, '');
	my $f = Paddock->new(templates => \%templates, config => {task_after_ms => 1000},
			     env => {LD_PRELOAD => $lib, PADDOCK_FAULTS => $faults});
	my $call = $f->request('tools/call', stateless({name => 'doze', arguments => {}}, \%tasks, {progressToken => 'p'}));
	$f->wait_for('it to doze', sub { $f->progress_of('p') });
	write_file($faults, "write 28 /paddock.db-wal\n");
	ok($f->log_has(qr/task=no err=/), 'a task that cannot be recorded is none');
	ext_call($f, 'server/discover');
	ok(!$f->{answers}{json_of($call)}, '  a call that cannot be recorded as a task is held open');
	ok(-s "$faults.hit", '  since the disk was full');
	write_file($faults, "none 0 none\n");
	my ($run) = $f->log_text =~ /run=(run_\w+) template=doze/;
	view($f, 'cancel_task_run', runId => $run);
	my $r = $f->answer($call);
	is($r->{result}{isError}, true, '  a call held open ends with the run');
	not_found(ext_call($f, 'tasks/get', {taskId => $run}), '  a run that could not be recorded as a task is no task');
	$f->stop;
}

# ---- a restart ----
{
	my @ids = (dozing($s), start_task($s, 'doze'), ext_task($s, 'doze'), ext_task($s, 'asks', {}, \%can_ask));

	asked($s, $ids[3], 1);
	ext_until($s, $_, 'to doze', sub { ($_->{statusMessage} // '') eq 'dozing' }) for @ids[1, 2];

	$s->kill9;
	strays_gone();
	my $after = Paddock->new(templates => \%templates, root => $s->{root});
	$after->init;
	for my $id (@ids) {
		my $t = ext_over($after, $id);

		is($t->{status}, 'completed', 'after kill -9 a task that was told is there');
		is($t->{result}{isError}, true, '  the result of a task interrupted by kill -9 is an error');
		is(json_to($t->{result}{content}[0]{text})->{errorCode}, 'RUN_INTERRUPTED', '  the result after kill -9 says RUN_INTERRUPTED');
		is(get_task($after, $id)->{status}, 'failed', '  a task interrupted by kill -9 has failed in 2025-11-25');
	}
	$after->stop;
}
{
	my $q = Paddock->new(templates => \%templates, config => {max_concurrent_runs => 1, task_after_ms => 0});
	my $doze = dozing($q);
	my $id = ext_task($q, 'tries');

	like(ext_get($q, $id)->{statusMessage}, qr/^Waiting for a worker/, 'a task may wait in line');
	$q->kill9;
	strays_gone();
	my $after = Paddock->new(templates => \%templates, root => $q->{root});
	is(json_to(ext_over($after, $id)->{result}{content}[0]{text})->{code}, 'ELICITATION_NOT_SUPPORTED',
	   'a queued task goes on after kill -9 with the same capabilities');
	is(ext_over($after, $doze)->{result}{isError}, true, '  the one before it does not');
	$after->stop;
}
$patient->stop;

done_testing;
