#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Tasks of MCP 2025-11-25, by the numbers in a checklist of the specification's rules.
use lib 'tests/lib';
use Paddock;
use Task;

my $TTL = 3_600_000;
my $MAX_TTL = 3_456_000_000; # 40 days, more than 31 bits hold
my $ISO = qr/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
my $IMMEDIATE = 'io.modelcontextprotocol/model-immediate-response';
my %templates = (
    echo => lua('return inputs'),
    plain => lua('return 7'),
    steps => lua('for i = 1, 9 do run.progress(i, 9, "step " .. i) run.sleep(5) end return {n = 9}'),
    fails => lua('run.error("NO_LUCK", "bad day", {day = 13})'),
    part => lua('run.map({1, 2}, {step = "s"}, function(n) if n == 2 then ' .
		'run.error("ODD", "no") end return n end) return {some = true}',
		supportsPartialSuccess => true),
    reply => lua('return run.reply{content = {{type = "text", text = "hello"}}, ' .
		 'structuredContent = {a = 1}}'),
    sorry => lua('return run.reply{content = {{type = "text", text = "the page is gone"}}, ' .
		 'isError = true}'),
    breaks => lua('return run.reply{error = {code = 17, message = "no account", data = {4}}}'),
    doze => lua('run.progress(0, 1, "dozing") while true do run.sleep(60000) end',
		limits => {maxTimeoutMs => 600000, cancelGraceMs => 60000}),
    logs => lua('run.sleep(100) run.log("info", "here") run.sleep(20) return {n = 5}'),
    must => lua('return {}', taskSupport => 'required'),
    never => lua('return {}', taskSupport => 'forbidden'),
);
my $s = Paddock->new(templates => \%templates, config => <<"EOT");
[server]
audit_file = /dev/fd/2
[limits]
default_ttl_ms = $TTL
max_ttl_ms = $MAX_TTL
EOT
my $hello = $s->init;

sub dozing {
	my $id = start_task($s, 'doze', {}, @_);

	task_until($s, $id, 'to doze', sub { ($_->{statusMessage} // '') eq 'dozing' });
	return $id;
}

sub cancel { return $s->call('tasks/cancel', {taskId => $_[0]}) }

# ---- 9: a wait is cancelled alone ----
{
	my $id = dozing();
	my $gone = $s->request('tasks/result', {taskId => $id});
	my $stays = $s->request('tasks/result', {taskId => $id});

	$s->notify('notifications/cancelled', {requestId => $gone});
	is(get_task($s, $id)->{status}, 'working',
	   'MCP 9: to cancel a wait for a result ends that wait alone');
	cancel($id);
	is($s->answer($stays)->{error}{code}, -32603, '  another one gets its answer');
	ok(!$s->{answers}{json_of($gone)}, '  MCP 9: the cancelled wait gets no answer');
}

# ---- 10, 11: progress ----
{
	my $id = start_task($s, 'steps', {}, meta => {progressToken => 'tok'});
	my ($last, @wrong) = -1;

	$s->call('tasks/result', {taskId => $id});
	$s->call('ping');
	my @notes = notes_of($s, $id);
	my @progress = grep { $_->{method} eq 'notifications/progress' } @notes;
	for (@progress) {
		push @wrong, json_of($_) unless $_->{params}{progress} > $last &&
		    $_->{params}{progressToken} eq 'tok';
		$last = $_->{params}{progress};
	}
	same_json(\@wrong, [], 'MCP 10: progress rises');
	is($last, 9, 'MCP 11: by the token of the call, until the task is over');
	is($notes[-1]{method}, 'notifications/tasks/status', '  MCP 11: no progress comes after the end of the task');
	is($progress[0]{params}{message}, "step $progress[0]{params}{progress}", '  MCP 11: a progress has the message of the step');
}
{
	my $id = start_task($s, 'steps');

	$s->call('tasks/result', {taskId => $id, _meta => {progressToken => 'other'}});
	ok(!(grep { $_->{method} eq 'notifications/progress' } notes_of($s, $id)),
	   'MCP 11: a call without a token hears of no progress');
}

for my $token (1.5, {}, [], true, null, undef) {
	$s->{notes} = [];
	$s->result($s->request('tools/call', {name => 'steps', arguments => {}, _meta => {progressToken => $token}}));
	is((grep { $_->{method} eq 'notifications/progress' } @{$s->{notes}}), 0,
	   'MCP 10: what is no token gets no progress: ' . json_of($token));
}
for my $token (-3, '', 'x', 9007199254740993) {
	$s->{notes} = [];
	$s->result($s->request('tools/call', {name => 'steps', arguments => {}, _meta => {progressToken => $token}}));
	same_json($s->{notes}[-1]{params}{progressToken}, $token, 'MCP 10: a token comes back as it was: ' . json_of($token));
}

# ---- 12: what is declared, and to whom ----

same_json($hello->{capabilities}{tasks},
	  {list => {}, cancel => {}, requests => {tools => {call => {}}}},
	  'MCP 12: tasks are declared');
for my $old (qw(2024-11-05 2025-03-26 2025-06-18)) {
	my $o = Paddock->new(templates => \%templates);
	my $r;

	ok(!$o->init($old)->{capabilities}{tasks}, "MCP 12: not to $old");
	$r = $o->call('tools/call', {name => 'echo', arguments => {a => 1},
				     task => {ttl => 'x'}});
	is(json_to($r->{result}{content}[0]{text})->{a}, 1, '  where task is ignored');
	ok(!(grep { $_->{execution} } @{$o->call('tools/list')->{result}{tools}}),
	   '  no tool has an execution');
	is($o->call("tasks/$_", {taskId => 'x'})->{error}{code}, -32601, "MCP 12: no tasks/$_ for $old")
	    for qw(get result list cancel);
	$o->stop;
}

# ---- 13: which tools ----
{
	my %support = map { $_->{name} => $_->{execution}{taskSupport} }
	    @{$s->call('tools/list')->{result}{tools}};

	is($support{echo}, 'optional', 'MCP 13: a template is optional by default');
	is($support{must}, 'required', '  MCP 13: a template that says so is required');
	is($support{never}, 'forbidden', '  MCP 13: a template that says so is forbidden');
	is($support{run_task_template}, 'optional', '  run_task_template is optional');
	ok(!defined $support{get_task_run}, '  other tools of ours have no say: forbidden');
	is(task_call($s, $_)->{error}{code}, -32601, "MCP 13: $_ is refused as a task")
	    for qw(never get_task_run list_task_templates);
	is($s->call('tools/call', {name => 'must'})->{error}{code}, -32601,
	   'MCP 13: and a required one without');
	like(start_task($s, 'must'), qr/^run_/, '  MCP 13: a required template is called as a task');
	is(task_call($s, 'nosuch')->{error}{code}, -32602, '  an unknown tool is unknown');
	refused($s->result($s->request('tools/call', {name => 'run_task_template', task => {},
		arguments => {templateId => 'echo', inputs => {}, options => {mode => 'async'}}})),
		'INVALID_PARAMETER', 'MCP 13: a task and mode async at once are refused');
}

# ---- 14: CreateTaskResult ----
{
	my $r = task_call($s, 'doze', {}, task => {ttl => 60000},
			  meta => {progressToken => 'first'});
	my $task = $r->{result}{task};
	my $id = $task->{taskId};

	same_json([sort keys %$task], [qw(createdAt lastUpdatedAt pollInterval status taskId ttl)],
		  'MCP 14: a CreateTaskResult has a Task');
	like($r->{result}{_meta}{$IMMEDIATE}, qr/\Q$id\E/, '  MCP 14: a CreateTaskResult has a word for the model');
	ok(!exists $r->{result}{content}, '  MCP 14: a CreateTaskResult has no result');
	task_until($s, $id, 'to doze', sub { $_->{statusMessage} });
	cancel($id);
	ok(!(grep { $_->{order} < $r->{order} } notes_of($s, $id)),
	   'MCP 14: nothing is told of a task before it');
	cmp_ok(scalar(notes_of($s, $id)), '>', 0, '  MCP 14: notifications come after the CreateTaskResult');
}
{
	my @wrong;

	for my $n (1 .. 40) { # the fastest ones, too
		my $r = task_call($s, 'echo', {n => $n}, meta => {progressToken => $n});
		my $id = $r->{result}{task}{taskId};

		$s->call('tasks/result', {taskId => $id});
		push @wrong, $n if $r->{result}{task}{status} ne 'working' ||
		    grep { $_->{order} < $r->{order} } notes_of($s, $id);
	}
	same_json(\@wrong, [], 'MCP 14: however soon it ends');
}
is(task_call($s, 'echo', {}, task => $_)->{error}{code}, -32602,
   'MCP 14: refused: task ' . json_of($_))
    for 7, 'x', [], {ttl => 'x'}, {ttl => -1}, {ttl => 0}, {ttl => {}};

# ---- 15: ids ----
{
	my %seen;

	$seen{start_task($s, 'echo')}++ for 1 .. 30;
	is(keys %seen, 30, 'MCP 15: every task has an id of its own');
	ok(!(grep { !/^run_[2-7a-z]{26}$/ } keys %seen), '  MCP 15: the id of a task cannot be guessed');
	my ($id) = keys %seen;
	is(task_over($s, $id)->{taskId}, $s->get($id)->{runId}, '  MCP 15: the id of a task is the run\'s');
}

# ---- 17: times ----
{
	my $id = dozing(task => {ttl => 50000});
	my $t = get_task($s, $id);

	like($t->{createdAt}, $ISO, 'MCP 17: createdAt is ISO 8601');
	like($t->{lastUpdatedAt}, $ISO, '  MCP 17: lastUpdatedAt is ISO 8601');
	ok($t->{lastUpdatedAt} ge $t->{createdAt}, '  MCP 17: lastUpdatedAt is not before createdAt');
	is($t->{ttl}, 50000, 'MCP 17: the ttl is what was asked for');
	cancel($id);
	is(get_task($s, start_task($s, 'echo'))->{ttl}, $TTL, '  MCP 17: a task without a ttl has the default');
	is(get_task($s, start_task($s, 'echo', {}, task => {ttl => $_}))->{ttl}, $MAX_TTL,
	   "  MCP 17: the ttl is the server's most, for $_") for $MAX_TTL + 1, '1e300' + 0;
	is(get_task($s, start_task($s, 'echo', {}, task => {ttl => $_}))->{ttl}, $_, "  $_ is kept")
	    for 1000, 2_592_000_000, $MAX_TTL;
	is(get_task($s, start_task($s, 'echo', {}, task => {ttl => 90000.5}))->{ttl}, 90000,
	   '  in whole milliseconds');
}
{
	my $id = start_task($s, 'echo', {a => 1}, task => {ttl => 1});

	until_true('it to expire', sub {
		$s->call('tasks/get', {taskId => $id})->{error} });
	not_found($s->call("tasks/$_", {taskId => $id}), "MCP 17: an expired task: tasks/$_")
	    for qw(get result cancel);
	ok(!(grep { $_->{taskId} eq $id } all_tasks($s)), '  tasks/list');
	same_json($s->ended($id)->{result}, {a => 1}, '  MCP 17: the run of an expired task stays');
}

# ---- 18: the result is what the call would have been answered ----

# The answer without the parts which differ for each run.
sub shape {
	my ($r) = @_;
	my $text = json_of({%$r{qw(content structuredContent isError)}});

	$text =~ s/run_[2-7a-z]{26}/RUN/g;
	$text =~ s/(\\*"(?:\w+Ms|\w+At|maxRssBytes|messages|readBytes|writtenBytes)\\*"):\d+/$1:0/g;
	return $text;
}

for my $name (qw(echo plain fails part reply sorry)) {
	my $want = $s->call('tools/call', {name => $name, arguments => {x => 'ä'}})->{result};
	my $id = start_task($s, $name, {x => 'ä'});
	my $got = $s->call('tasks/result', {taskId => $id})->{result};
	my $again = $s->call('tasks/result', {taskId => $id})->{result};

	is(shape($got), shape($want), "MCP 18: the result of $name is that of a plain call");
	same_json($again, $got, "MCP 18: the result of $name stays the same");
	is($got->{_meta}{+RELATED}{taskId}, $id, "MCP 18: the result of $name names the task");
	my %run = (templateId => $name, inputs => {x => 'ä'});
	$want = $s->call('tools/call', {name => 'run_task_template',
		arguments => {%run, options => {mode => 'sync'}}})->{result};
	$id = start_task($s, 'run_task_template', \%run);
	$got = $s->call('tasks/result', {taskId => $id})->{result};
	is(shape($got), shape($want), '  MCP 18: the result of a run_task_template task is that of a plain call');
	same_json($s->call('tasks/result', {taskId => $id})->{result}, $got, '  MCP 18: the result of a run_task_template task stays the same');
}
{
	my $want = $s->call('tools/call', {name => 'breaks', arguments => {}})->{error};
	my $id = start_task($s, 'breaks', {});

	same_json($want, {code => 17, message => 'no account', data => [4]},
		  "MCP 18: a template's error of JSON-RPC is that of a plain call");
	same_json($s->call('tasks/result', {taskId => $id})->{error}, $want,
		  '  MCP 18: tasks/result gives the template\'s error of JSON-RPC');
	is($s->call('tasks/get', {taskId => $id})->{result}{status}, 'failed', '  of a failed task');
}
{
	my $n = 50;
	my $id = dozing();
	my @waits = map { $s->request('tasks/result', {taskId => $id}) } 1 .. $n;

	$s->call('ping');
	ok(!(grep { $s->{answers}{json_of($_)} } @waits), 'MCP 18: it is waited for');
	cancel($id);
	my %got = map { json_of($s->answer($_)->{error}) => 1 } @waits;
	same_json([map { json_to($_) } keys %got], [{code => -32603, message => 'Task was cancelled',
		data => {errorCode => 'RUN_CANCELED', runId => $id}}],
		"MCP 18: to cancel it wakes all $n who wait");
	same_json($s->call('tasks/result', {taskId => $id})->{error}, json_to(keys %got),
		  '  who comes later hears the same');
}
{
	my $id = start_task($s, 'steps');
	my @waits = map { $s->request('tasks/result', {taskId => $id}) } 1 .. 50;
	my %got = map { json_of($s->answer($_)->{result}) => 1 } @waits;

	is(keys %got, 1, 'MCP 18: 50 who wait get one result');
	like((keys %got)[0], qr{"n":9}, "  the right one");
}

{
	my $id = start_task($s, 'logs');
	my @waits = map { $s->request('tasks/result', {taskId => $id}) } 1 .. 3;

	is($s->answer($_)->{result}{structuredContent}{n}, 5,
	   'MCP 18: what the template logs meanwhile is no result') for @waits;
}

# ---- 19: who names its task ----
{
	my $other = start_task($s, 'plain');
	my $id = start_task($s, 'echo', {}, meta => {progressToken => 19});
	my %meta = (_meta => {+RELATED => {taskId => $other}});

	$s->call('tasks/result', {taskId => $id});
	my $got = $s->call('tasks/get', {taskId => $id, %meta, task => {ttl => 5},
					 _meta => {%{$meta{_meta}}, progressToken => 4}});
	is($got->{result}{taskId}, $id, 'MCP 19: taskId counts, not a related task in _meta');
	ok(!$got->{result}{_meta}, '  tasks/get names it once');
	ok(!(grep { $_->{_meta} } all_tasks($s)), '  MCP 19: tasks/list has no _meta');
	ok(!(grep { $_->{params}{_meta} } grep { $_->{method} eq 'notifications/tasks/status' }
	     @{$s->{notes}}), '  MCP 19: a change of status has no _meta');
	$id = dozing();
	ok(!cancel($id)->{result}{_meta}, '  MCP 19: the answer of tasks/cancel has no _meta');
}

# ---- 21: changes of status ----
{
	my $id = start_task($s, 'fails');

	$s->wait_for('a status', sub { notes_of($s, $id) });
	my @notes = notes_of($s, $id);
	my @tasks = ({%{$notes[-1]{params}}}, get_task($s, $id));

	# the end of a run changes the pollInterval of the template
	ok($_->{pollInterval}, 'MCP 21: a task has its interval') and delete $_->{pollInterval} for @tasks;
	same_json(@tasks, 'MCP 21: the end is told, as a whole Task');
	is(@notes, 1, '  MCP 21: the end is told once');
	$id = dozing();
	cancel($id);
	task_over($s, $id);
	$s->ended($id);
	is(scalar(grep { $_->{params}{status} } notes_of($s, $id)), 1,
	   'MCP 21: to be cancelled is told once, not again when the worker is gone');
}

# ---- 23: cancelling ----
{
	my $id = dozing();
	my $r = cancel($id);

	is($r->{result}{status}, 'cancelled', 'MCP 23: the answer is the cancelled Task');
	is(get_task($s, $id)->{status}, 'cancelled', '  MCP 23: a cancelled task is cancelled at once');
	is(cancel($id)->{error}{code}, -32602, '  MCP 23: a cancelled task cannot be cancelled again');
	is($s->ended($id)->{status}, 'canceled', '  MCP 23: the run of a cancelled task is canceled');
	is(get_task($s, $id)->{status}, 'cancelled', '  MCP 23: a cancelled task stays cancelled');
	$id = start_task($s, 'echo');
	task_over($s, $id);
	is(cancel($id)->{error}{code}, -32602, 'MCP 23: nor can one that is completed');
	is(get_task($s, $id)->{status}, 'completed', '  MCP 23: a completed task stays completed');
}

# ---- 24: errors ----

not_found($s->call("tasks/$_", {taskId => 'run_' . 'x' x 26}), "MCP 24: tasks/$_ of no task")
    for qw(get result cancel);
not_found($s->call('tasks/get', {taskId => ''}), '  of an empty id');
not_found($s->call('tasks/get', {taskId => $s->run_async('echo')}),
	  '  of a run that is no task');
is($s->call("tasks/$_", {})->{error}{code}, -32602, "MCP 24: tasks/$_ without an id")
    for qw(get result cancel);
is($s->call('tasks/get', {taskId => 7})->{error}{code}, -32602, '  MCP 24: tasks/get with a number for an id');
for ([fails => qr/^bad day \(EXECUTION_ERROR\)\. What to do: /],
     [sorry => qr/the page is gone/]) {
	my ($name, $message) = @$_;
	my $t = task_over($s, start_task($s, $name));

	is($t->{status}, 'failed', "MCP 24: $name fails");
	like($t->{statusMessage}, $message, "MCP 24: $name says why");
}
is(task_over($s, start_task($s, 'part'))->{status}, 'completed', 'MCP 24: a part is completed');

# ---- 26: limits, records ----
{
	my $id = start_task($s, 'echo');
	my %said;

	$s->call('tasks/result', {taskId => $id});
	for ($s->log_text =~ /^(\{.*\Q$id\E.*\})$/gm) {
		my $e = json_to($_);

		$said{$e->{event}} = $e->{requestor} if $e->{taskId};
	}
	same_json([sort keys %said], [qw(task_created task_ended task_result_retrieved)],
		  'MCP 26: it is recorded who made a task and read its result');
	like($said{task_created}, qr/^uid:\d+$/, '  MCP 26: the audit log names the requestor');
	$id = dozing();
	get_task($s, $id) for 1 .. 20;
	ok($s->log_has(qr/level=warn .*part=requestor requestor=uid:\d+ overpolls=1$/m),
	   '  MCP 26: the log has a requestor that polls too often');
	cancel($id);
	ok($s->log_text =~ /"task_cancel_asked".*\Q$id\E/, '  MCP 26: the audit log has who cancelled a task');
	ok($s->log_text =~ /TASK_NOT_FOUND/, '  MCP 26: the audit log has who asked for another\'s task');
}

# ---- what belongs to no number ----
{
	my %run = (templateId => 'echo', inputs => {k => 1}, options => {idempotencyKey => 'k1'});
	my $first = task_call($s, 'run_task_template', \%run)->{result};
	my $id = $first->{task}{taskId};

	$s->call('tasks/result', {taskId => $id});
	my $again = task_call($s, 'run_task_template', \%run)->{result};
	is($again->{task}{taskId}, $id, 'a key gives the same task again');
	is($again->{task}{status}, 'completed', '  a second call with the same key has the task as now');
	ok($again->{_meta}{'paddock/deduplicated'}, '  a second call with the same key says deduplicated');
	is($s->tool(run_task_template => \%run)->{view}{runId}, $id, '  a run with the key of a task has the task\'s id');
	$run{options}{idempotencyKey} = 'k2';
	$s->tool(run_task_template => \%run);
	refused($s->result($s->request('tools/call', {name => 'run_task_template',
		arguments => \%run, task => {}})), 'INVALID_PARAMETER',
		'the key of a run that is no task makes none');
}
$s->stop;

done_testing;
