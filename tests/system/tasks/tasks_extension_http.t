#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The Tasks extension of MCP 2026-07-28 over HTTP: the close of a call without the end of
# the task, statuses, owners of tasks, and a session beside the tasks.
use lib 'tests/lib';
use Paddock;
use Http;
use Task;

my %long = (limits => {maxTimeoutMs => 600000, cancelGraceMs => 60000});
my %templates = (
    doze => lua('run.progress(0, 1, "dozing") while true do run.sleep(60000) end', %long),
    must => lua('run.sleep(50) return {n = 5}', taskSupport => 'required'),
    asks => lua('return {hello = run.elicit{message = "who?", schema = {type = "object", properties = {name = {type = "string"}}}}.content.name}',
		taskSupport => 'required'),
    large => lua('return {text = string.rep("x", 300000)}', taskSupport => 'required'),
);
my %knows = (extensions => {$TASKS => {}}, elicitation => {});

sub server {
	my ($after_ms, @more) = @_;

	return Http->new(templates => \%templates, tokens => {alice => 'a', bob => 'b'},
			 config => "[limits]\nmax_concurrent_runs = 20\ntask_after_ms = $after_ms\n", @more);
}

sub knowing {
	my ($s, $name) = @_;
	my $c = $s->modern($name);

	$c->{capabilities} = \%knows;
	return $c;
}

sub dozing {
	my ($c) = @_;
	my $id = $c->call('tools/call', {name => 'doze', arguments => {}})->{result}{taskId};

	ext_until($c, $id, 'to doze', sub { ($_->{statusMessage} // '') eq 'dozing' });
	return $id;
}

# ---- a task outlives its call ----
{
	my $s = server(0);
	my $c = knowing($s, 'alice');
	my $a = $c->call('tools/call', {name => 'must', arguments => {}});

	is($a->{result}{resultType}, 'task', 'MCP26 15: a task over HTTP');
	is($c->{last}{status}, 200, '  MCP26 15: the answer with a task has status 200');
	is(ext_over($c, $a->{result}{taskId})->{result}{structuredContent}{n} // 5, 5, '  MCP26 15: a task over HTTP gets the result');
	is($c->{last}{headers}{'content-type'}, 'application/json', '  without a stream');

	my $id = dozing($c);
	$c->{last}->hang_up;
	is(ext_get($c, $id)->{status}, 'working', 'MCP26 8: a connection that closes later ends no task');
	is($c->call('tasks/get', {taskId => 'run_' . 'x' x 26})->{error}{code}, -32602, 'MCP26 19: no such task');
	is($c->{last}{status}, 200, '  MCP26 19: an unknown task has status 200');
	is($s->modern('alice')->call('tasks/get', {taskId => $id})->{error}{code}, -32021, 'MCP26 19: without the extension');
	{
		my $m = $s->modern('alice');

		$m->call('tasks/cancel', {taskId => $id});
		is($m->{last}{status}, 400, '  MCP26 19: a call without the extension is 400');
		$m->call('tools/call', {name => 'must', arguments => {}});
		is($m->{last}{status}, 400, '  MCP26 19: a required task without the extension is 400');
		$m->call('tasks/list', {});
		is($m->{last}{status}, 404, '  there is no tasks/list');
	}
	my $t = ext_over($c, $c->call('tools/call', {name => 'large', arguments => {}})->{result}{taskId});
	is(length $t->{result}{structuredContent}{text}, 300000, 'MCP26 16: a large result is in tasks/get');

	# questions of a task, on unrelated connections
	$id = $c->call('tools/call', {name => 'asks', arguments => {}})->{result}{taskId};
	$t = ext_until($c, $id, 'to ask', sub { $_->{status} ne 'working' || $c->call('tasks/get', {taskId => $id})->{result}{inputRequests} });
	my ($key) = keys %{$c->call('tasks/get', {taskId => $id})->{result}{inputRequests}};
	is(knowing($s, 'alice')->call('tasks/update', {taskId => $id, inputResponses => {
		$key => {action => 'accept', content => {name => 'Ada'}}}})->{result}{resultType}, 'complete',
	   'MCP26 17: an answer by another connection');
	is(json_to(ext_over($c, $id)->{result}{content}[0]{text})->{hello}, 'Ada', '  MCP26 17: the template gets an answer by another connection');

	# owners of tasks
	my $bob = knowing($s, 'bob');
	$id = $c->call('tools/call', {name => 'asks', arguments => {}})->{result}{taskId};
	until_true('it to ask', sub { ($key) = keys %{$c->call('tasks/get', {taskId => $id})->{result}{inputRequests} // {}} });
	not_found($bob->call($_->[0], {taskId => $id, %{$_->[1]}}), "MCP26 20: another requestor's: $_->[0]")
	    for ['tasks/get', {}], ['tasks/cancel', {}],
		['tasks/update', {inputResponses => {$key => {action => 'accept', content => {name => 'Bob'}}}}];
	is($c->call('tasks/get', {taskId => $id})->{result}{status}, 'input_required', '  none of which did anything');

	# a session of the same requestor
	my $old = $s->client('alice')->greeted(undef, {elicitation => {}});
	is(get_task($old, $id)->{status}, 'input_required', 'a session shows it');
	my $wait = $old->request('tasks/result', {taskId => $id});
	my $m;
	$old->route($wait)->head;
	$m = $old->route($wait)->message until $m && ($m->{json}{method} // '') eq 'elicitation/create';
	is($m->{json}{params}{message}, 'who?', '  who waits there is asked as well');
	$c->call('tasks/update', {taskId => $id, inputResponses => {$key => {action => 'accept', content => {name => 'Eve'}}}});
	is(json_to($old->answer($wait)->{result}{content}[0]{text})->{hello}, 'Eve', '  the session that waits gets the result of the first answer');
	is((grep { $_->{method} eq 'notifications/cancelled' } @{$old->{notes}}), 1, '  the session that waits is told that the question is over');
	$id = start_task($old, 'doze');
	is($c->call('tasks/cancel', {taskId => $id})->{result}{resultType}, 'complete', "a session's task is cancelled");
	is(task_over($old, $id)->{status}, 'cancelled', '  a session sees that the task was cancelled');

	# announced tasks are kept
	my @ids = (dozing($c), dozing($c));
	$s->kill9;
	strays_gone();
	$s = $s->again(args => [], tokens => {alice => 'a', bob => 'b'});
	$c = knowing($s, 'alice');
	for my $id (@ids) {
		my $t = ext_over($c, $id);

		is($t->{status}, 'completed', 'MCP26 15: after kill -9 a task is there');
		is(json_to($t->{result}{content}[0]{text})->{errorCode}, 'RUN_INTERRUPTED', '  MCP26 15: a task that ran at kill -9 was interrupted');
	}
	$s->stop;
}

# ---- until it is one, its connection holds it ----
{
	my $s = server(3_600_000);
	my $c = knowing($s, 'alice');
	my $conn = $c->post_request('tools/call', {name => 'doze', arguments => {}, _meta => {progressToken => 'p'}}, 1);
	$conn->head;
	my $m = $conn->message;
	is($m->{json}{method}, 'notifications/progress', 'MCP26 8: before that it is a call with progress');
	$conn->hang_up;
	ok($s->log_has(qr/template=doze .*status=canceled/), '  MCP26 8: the end of the connection cancels the call');
	$s->stop;
}

# ---- and then it says nothing more ----
{
	my $s = server(300);
	my $c = knowing($s, 'alice');
	my $conn = $c->post_request('tools/call', {name => 'doze', arguments => {}, _meta => {progressToken => 'p'}}, 1);
	my @all;

	$conn->head;
	while (my $m = $conn->message) { push @all, $m->{json} if $m->{json} }
	is($all[0]{params}{message}, 'dozing', 'MCP26 20: its progress is told');
	is($all[-1]{result}{resultType}, 'task', '  MCP26 20: the stream of progress ends with a task');
	is(scalar(grep { $_->{result} } @all), 1, '  MCP26 20: the task ends the stream');
	is(ext_get($c, $all[-1]{result}{taskId})->{status}, 'working', '  MCP26 20: the task goes on after the stream');
	ext_call($c, 'tasks/cancel', {taskId => $all[-1]{result}{taskId}});
	$s->stop;
}

done_testing;
