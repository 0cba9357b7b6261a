#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Clients which answer a question by a task of the client, and then lie, fail, delay or fall
# silent: the template gets the received answer, and nothing waits longer than the
# question's timeout.
use lib 'tests/lib';
use Paddock;
use Task;
use Time::HiRes qw(time);

my $SCHEMA = 'schema = {type = "object", properties = {name = {type = "string"}}}';
my $tell = 'if ok then return {got = got} end
	return {code = got.code, message = got.message, details = got.details}';
my %long = (limits => {maxTimeoutMs => 600000});
my %templates = (
	who => lua("local ok, got = pcall(run.elicit, {message = 'who?', timeout = inputs.timeout, $SCHEMA}) $tell",
		   %long),
	model => lua('local ok, got = pcall(run.sample, {maxTokens = 9, timeout = inputs.timeout,
		messages = {{role = "user", content = {type = "text", text = "hi"}}}}) ' . $tell, %long),
	goes_on => lua("run.elicit{message = 'who?', $SCHEMA} run.progress(1, 2, 'heard') run.sleep(600000)",
		       %long),
);
my %accept = (action => 'accept', content => {name => 'Ada'});
my %lends = (cancel => {}, requests => {elicitation => {create => {}},
					sampling => {createMessage => {}}});

sub server {
	my ($tasks, $revision) = @_;
	my $s = Paddock->new(templates => \%templates);

	$s->init($revision, {elicitation => {}, sampling => {},
			     $tasks ? (tasks => $tasks) : ()});
	return $s;
}

sub state_of { # of the client's task
	my ($status, %more) = @_;

	return {taskId => 'c1', status => $status, ttl => 60000,
		createdAt => '2025-11-25T00:00:00Z', pollInterval => 50,
		lastUpdatedAt => '2025-11-25T00:00:00Z', %more};
}

my %method = (who => 'elicitation/create', model => 'sampling/createMessage');

# Call NAME; the client makes the question the task TASK.
sub lent {
	my ($s, $name, $task, $timeout) = @_;
	my $id = $s->ask($name => {timeout => $timeout // 60000});
	my $m = $s->told($method{$name});

	$s->reply($m, {task => $task // state_of('working')});
	return $id;
}

sub asked_methods { return map { $_->{method} } grep { exists $_->{id} } @{$_[0]{notes}} }

# ---- what a client says of its task ----
{
	my $s = server(\%lends);
	my $long = 'x' x 1025;

	for (['no taskId', {status => 'working'}, qr/no taskId/],
	     ['a taskId that is a number', state_of('working', taskId => 7), qr/no taskId/],
	     ['a taskId over 1024 bytes', state_of('working', taskId => $long), qr/1024/],
	     ['no status', {taskId => 'c1'}, qr/no status/],
	     ['a status that there is not', state_of('napping'), qr/not working, .*"napping"/],
	     ['one that failed at once', state_of('failed', statusMessage => 'no hands'), qr/failed: no hands/],
	     ['one that failed, and does not say why', state_of('failed'), qr/failed$/],
	     ['one that was cancelled', state_of('cancelled', statusMessage => 'not today'),
	      qr/cancelled: not today/]) {
		my ($what, $task, $why) = @$_;
		my $got = $s->result(lent($s, 'who', $task))->{view};

		is($got->{code}, 'INPUT_FAILED', "a client's task with $what ends the question");
		like($got->{message}, $why, "the template hears of a client's task with $what");
	}
	my $got = $s->result(lent($s, 'who', state_of('failed', statusMessage => "\x{e9}" x 5000)))->{view};
	cmp_ok(length $got->{message}, '<', 400, '  a client\'s long message is cut');
	is(scalar(asked_methods($s)), 0, '  a client\'s failed task is not asked about any more');

	my $id = lent($s, 'who');
	$s->reply($s->told('tasks/get'), undef, {code => -32602, message => 'no such task'});
	$got = $s->result($id)->{view};
	same_json([$got->{code}, $got->{details}], ['INPUT_FAILED', {code => -32602, message => 'no such task'}],
		  'a client that does not know its own task: its error is passed on');

	# malformed results
	for (['who', 'another CreateTaskResult', {task => state_of('working')}],
	     ['who', 'a Task', state_of('completed')], ['who', 'nothing', {}],
	     ['who', 'what the form refuses', {action => 'accept', content => {name => 7}}],
	     ['model', 'a user\'s answer', \%accept], ['model', 'nothing', {}],
	     ['model', 'a message without a model', {role => 'assistant', content => {type => 'text', text => 'x'}}]) {
		my ($name, $what, $result) = @$_;

		$id = lent($s, $name, state_of('completed'));
		$s->reply($s->told('tasks/result'), $result);
		if ($what eq 'what the form refuses') { # which is asked for again, three times
			$s->reply($s->told('elicitation/create'), $result) for 1 .. 3;
		}
		is($s->result($id)->{view}{code}, 'INPUT_INVALID', "MCP 29: $name gets $what: refused");
	}
	$id = lent($s, 'who', state_of('completed'));
	$s->reply($s->told('tasks/result'), undef, {code => -32603, message => 'lost it'});
	is($s->result($id)->{view}{details}{message}, 'lost it',
	   'one that is completed and cannot be fetched: its error is passed on');
	$s->stop;
}

# ---- a model's answer as a task ----
{
	my $s = server(\%lends);
	my %said = (role => 'assistant', model => 'm', stopReason => 'endTurn',
		    content => {type => 'text', text => 'ho'});
	my $id = $s->ask(model => {});
	my $m = $s->told('sampling/createMessage');

	cmp_ok($m->{params}{task}{ttl}, '>', 0, 'MCP 28: a model may be asked by a task, too');
	$s->reply($m, {task => state_of('working')});
	$s->reply($s->told('tasks/get'), state_of('completed'));
	$s->reply($s->told('tasks/result'), \%said);
	same_json($s->result($id)->{view}, {got => \%said}, '  MCP 28: the result of a client\'s task is fetched');
	$s->stop;
}

# ---- how often it is asked about ----
{
	my $s = server(\%lends);
	my $EVERY = 1500; # a second is the rule without a pollInterval
	my $id = $s->ask(who => {});
	my $m = $s->told('elicitation/create');
	my $then = time;

	$s->reply($m, {task => state_of('working', pollInterval => $EVERY)});
	my $get = $s->told('tasks/get');
	cmp_ok((time - $then) * 1000, '>', $EVERY - 100, 'MCP 28: it is polled no sooner than it says');
	for my $odd (-5, 0, 'x', {}, 0.25) {
		$s->reply($get, state_of('working', pollInterval => $odd));
		$get = $s->told('tasks/get');
		is($get->{params}{taskId}, 'c1', '  and again after a pollInterval of ' . json_of($odd));
	}
	$s->notify('notifications/tasks/status', state_of('completed'));
	$s->call('ping');
	is(scalar(asked_methods($s)), 0, 'MCP 28: a status that it tells unasked is not relied upon');
	$s->reply($get, state_of('working', pollInterval => 50));
	$s->reply($s->told('tasks/get'), state_of('completed'));
	$s->reply($s->told('tasks/result'), {action => 'decline'});
	is($s->result($id)->{view}{got}{action}, 'decline', '  MCP 28: the state of a client\'s task is asked for');
	$s->stop;
}

# ---- tasks that do not end ----

for (['far away: its pollInterval is', 1e18 + 0], ['endless: it works on', 50]) {
	my ($what, $poll) = @$_;
	my $s = server(\%lends);
	my $id = lent($s, 'who', state_of('working', pollInterval => $poll), 700);
	my $m = $s->wait_for('tasks/cancel', sub {
		my ($get) = grep { $_->{method} eq 'tasks/get' } @{$s->{notes}};

		if ($get) { # and it says the same again
			$s->{notes} = [grep { $_ != $get } @{$s->{notes}}];
			$s->reply($get, state_of('working', pollInterval => $poll));
		}
		return (grep { $_->{method} eq 'tasks/cancel' } @{$s->{notes}})[0];
	});

	same_json($m->{params}, {taskId => 'c1'}, "MCP 9: a client's task whose end is $what $poll is cancelled in time");
	$s->reply($m, undef, {code => -32601, message => 'I do not do that'});
	is($s->result($id)->{view}{code}, 'INPUT_TIMEOUT', "the template hears INPUT_TIMEOUT of a task whose end is $what $poll");
	$s->stop;
}
{
	my $s = server(\%lends);
	my $id = lent($s, 'who', state_of('working'), 700);
	my $get = $s->told('tasks/get');

	ok($s->told('tasks/cancel'), 'one that does not answer a poll is cancelled as well');
	is($s->result($id)->{view}{code}, 'INPUT_TIMEOUT', '  the template hears INPUT_TIMEOUT when polls are not answered');
	$s->reply($get, state_of('completed')); # too late
	$s->call('ping');
	is((grep { $_ eq 'tasks/result' } asked_methods($s)), 0, '  what it says later is not heard');

	$id = lent($s, 'who', state_of('completed'));
	$s->told('tasks/result');
	$s->notify('notifications/cancelled', {requestId => $id});
	ok($s->told('tasks/cancel'), 'a call that is cancelled while its answer is fetched cancels the task');
	$s->stop;
}
{
	my $s = server({requests => $lends{requests}});
	my $id = lent($s, 'who', state_of('working'), 300);

	is($s->result($id)->{view}{code}, 'INPUT_TIMEOUT', 'a client that cannot cancel tasks');
	$s->call('ping');
	is((grep { $_ eq 'tasks/cancel' } asked_methods($s)), 0, 'MCP 4:   is not asked to');
	$s->stop;
}

# ---- who may lend at all ----

for (['which declares nothing', undef], ['of 2025-06-18, whatever it declares', \%lends, '2025-06-18'],
     ['which lends its model alone', {requests => {sampling => {createMessage => {}}}}]) {
	my ($what, $tasks, $revision) = @$_;
	my $s = server($tasks, $revision);
	my $id = $s->ask(who => {});
	my $m = $s->told('elicitation/create');

	ok(!exists $m->{params}{task}, "MCP 28: a client $what is asked without a task");
	$s->reply($m, {task => state_of('working')});
	is($s->result($id)->{view}{code}, 'INPUT_INVALID', "MCP 28: a client $what may not answer by a task");
	is(scalar(asked_methods($s)), 0, "MCP 28: a task of a client $what is not asked about");
	$s->stop;
}

# ---- ours, meanwhile ----
{
	my $s = server(\%lends);
	my $task = start_task($s, 'goes_on');
	my $m = $s->told('elicitation/create');

	$s->reply($m, {task => state_of('working')});
	my $get = $s->told('tasks/get');
	is(get_task($s, $task)->{status}, 'input_required',
	   'MCP 20: while a client works on its answer, the task waits for input');
	$s->reply($get, state_of('completed'));
	$s->reply($s->told('tasks/result'), \%accept);
	my $t = task_until($s, $task, 'to go on', sub { ($_->{statusMessage} // '') eq 'heard' });
	is($t->{status}, 'working', 'MCP 20: and works again when it is there');
	my @told = map { $_->{params}{status} } grep { $_->{method} eq 'notifications/tasks/status' } notes_of($s, $task);
	is($told[0], 'input_required', 'MCP 21: which is told as well');
	is($s->call('tasks/cancel', {taskId => $task})->{result}{status}, 'cancelled', 'MCP 20: a working task can be cancelled');
	$s->stop;
}

done_testing;
