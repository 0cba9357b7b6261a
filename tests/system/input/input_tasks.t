#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Questions of a task, and clients which answer by a task of the client.
use lib 'tests/lib';
use Paddock;

my $ask = 'run.elicit{message = "who?", timeout = inputs.timeout, schema =
    {type = "object", properties = {name = {type = "string"}}}}';
my %templates = (
    who => lua("local ok, got = pcall(function() return $ask end)
	if ok then return {got = got} end
	return {code = got.code, message = got.message}",
	limits => {maxTimeoutMs => 600000}),
);
$templates{talk} = lua("$ask run.log('info', 'heard') $ask return {}",
		       limits => {maxTimeoutMs => 600000});
my $related = 'io.modelcontextprotocol/related-task';
my %accept = (action => 'accept', content => {name => 'Ada'});

sub server {
	my ($capabilities) = @_;
	my $s = Paddock->new(templates => \%templates);

	$s->init(undef, $capabilities // {elicitation => {}});
	return $s;
}

# Call the asking template as a task; the CreateTaskResult, with {id}.
sub task {
	my ($s, $args, $name) = @_;
	my $a = $s->call('tools/call', {name => $name // 'who', task => {},
					arguments => $args // {}});

	return {%$a, id => $a->{result}{task}{taskId}};
}

sub status { return $_[0]->call('tasks/get', {taskId => $_[1]})->{result}{status} }

# ---- the client's answers ----

{
	my $s = server();
	my $t = task($s);
	my $m = $s->told('elicitation/create'); # though nobody asked about it

	ok($m->{order} > $t->{order},
	   'a question comes after the CreateTaskResult');
	same_json($m->{params}{_meta}, {$related => {taskId => $t->{id}}},
		  'MCP 19: it says of which task it is');
	is(status($s, $t->{id}), 'input_required',
	   'MCP 20: the task waits for input');
	my $id = $s->request('tasks/result', {taskId => $t->{id}});
	$s->call('ping');
	is(scalar(grep { $_->{method} eq 'elicitation/create' } @{$s->{notes}}), 0,
	   'MCP 35: it is asked once, by one way');
	$s->reply($m, \%accept);
	my $r = $s->answer($id)->{result};
	same_json($r->{structuredContent}, {got => \%accept},
		  'MCP 18: the result is what came of the answer');
	is(status($s, $t->{id}), 'completed', 'MCP 18: the task is over after the result');

	$t = task($s, {}, 'talk');
	$id = $s->request('tasks/result', {taskId => $t->{id}});
	$s->reply($s->told('elicitation/create'), \%accept) for 1 .. 2;
	same_json($s->answer($id)->{result}{structuredContent}, {},
		  'who waits for the result waits on though the task logs');

	# a client which asks about the task knows the task
	$t = task($s);
	status($s, $t->{id});
	$m = $s->told('elicitation/create');
	ok($m, 'who knows the task is asked');
	my $end = $s->call('tasks/cancel', {taskId => $t->{id}});
	is($end->{result}{status}, 'cancelled', 'the task is cancelled');
	my $over = $s->told('notifications/cancelled');
	is($over->{params}{requestId}, $m->{id}, 'MCP 9: a cancelled task takes the question back');
	ok($over->{order} < $end->{order}, 'MCP 9: the question is taken back before the answer to tasks/cancel');
	$s->reply($m, \%accept);

	$t = task($s, {timeout => 1500});
	status($s, $t->{id}); # so that it is asked at once
	$m = $s->told('elicitation/create');
	is($s->told('notifications/cancelled')->{params}{requestId}, $m->{id},
	   'MCP 5: what is not answered in time is taken back');
	is($s->call('tasks/result', {taskId => $t->{id}})
	   ->{result}{structuredContent}{code}, 'INPUT_TIMEOUT',
	   'MCP 5: the template hears INPUT_TIMEOUT');
	$s->stop;
}

{
	my $s = server({});
	my $t = task($s);

	is($s->call('tasks/result', {taskId => $t->{id}})
	   ->{result}{structuredContent}{code}, 'ELICITATION_NOT_SUPPORTED',
	   'MCP 4: a task of a client that cannot be asked gets that at once');
	$s->stop;
}

# ---- the client makes a task of it ----

my %lender = (elicitation => {}, tasks => {cancel => {},
	      requests => {elicitation => {create => {}}}});

sub state_of { # of the client's task
	my ($status, %more) = @_;

	return {taskId => 'c1', status => $status, ttl => 60000,
		createdAt => '2025-11-25T00:00:00Z', pollInterval => 50,
		lastUpdatedAt => '2025-11-25T00:00:00Z', %more};
}

# A plain call of the asking template; the question has become the client's task.
sub lent {
	my ($s, %more) = @_;
	my $id = $s->ask(who => {timeout => $more{timeout}
				 ? ($more{timeout} + 0) : 60000});
	my $m = $s->told('elicitation/create');

	$s->reply($m, {task => state_of('working')});
	return ($id, $m);
}

{
	my $s = server(\%lender);
	my ($id, $m) = lent($s);

	cmp_ok($m->{params}{task}{ttl}, '>', 0,
	       'MCP 28: a client that declared so may answer by a task');
	for (qw(working input_required)) {
		my $get = $s->told('tasks/get');

		same_json($get->{params}, {taskId => 'c1'},
			  'MCP 28: which is polled');
		$s->reply($get, state_of($_));
	}
	$s->reply($s->told('tasks/get'), state_of('completed'));
	my $fetch = $s->told('tasks/result');
	same_json($fetch->{params}, {taskId => 'c1'},
		  'MCP 28: and fetched when it is completed');
	$s->reply($fetch, \%accept);
	same_json($s->result($id)->{view}, {got => \%accept},
		  'the template gets what was fetched');

	$id = $s->ask(who => {});
	$s->reply($s->told('elicitation/create'), \%accept);
	same_json($s->result($id)->{view}, {got => \%accept},
		  'a plain result is as good');

	# a task with a question names itself, and may become the client's task
	my $t = task($s);
	$m = $s->told('elicitation/create');
	same_json($m->{params}{_meta}, {$related => {taskId => $t->{id}}},
		  'MCP 19: so it is for a task\'s question');
	ok($m->{params}{task}, 'MCP 28: and that may become a task as well');
	$s->reply($m, {action => 'decline'});
	$s->call('tasks/result', {taskId => $t->{id}});

	for (['failed', state_of('failed', statusMessage => 'no'), qr/failed/],
	     ['cancelled', state_of('cancelled'), qr/cancelled/],
	     ['of a status that there is not', state_of('done'), qr/status/],
	     ['another one', {%{state_of('working')}, taskId => 'c2'},
	      qr/another/],
	     ['nothing', {}, qr/no taskId/]) {
		my ($name, $state, $why) = @$_;

		($id) = lent($s);
		$s->reply($s->told('tasks/get'), $state);
		my $got = $s->result($id)->{view};
		is($got->{code}, 'INPUT_FAILED', "the client's task is $name");
		like($got->{message}, $why, "the error says that the client's task is $name");
	}

	($id) = lent($s);
	$s->reply($s->told('tasks/get'), undef,
		  {code => -32602, message => 'unknown'});
	is($s->result($id)->{view}{code}, 'INPUT_FAILED',
	   'a poll may be refused');

	($id) = lent($s);
	$s->reply($s->told('tasks/get'), state_of('completed'));
	$s->reply($s->told('tasks/result'), {action => 'accept', content =>
		  {name => 1}});
	$s->reply($s->told('elicitation/create'), {action => 'accept', content => {name => 1}}) for 1 .. 3;
	is($s->result($id)->{view}{code}, 'INPUT_INVALID',
	   'MCP 29: what was fetched is checked as well');
	$s->stop;
}

{
	my $s = server(\%lender);
	my ($id) = lent($s, timeout => 1500);
	my $cancel = $s->told('tasks/cancel');

	same_json($cancel->{params}, {taskId => 'c1'},
		  'MCP 9: a client\'s task that takes too long is cancelled');
	$s->reply($cancel, state_of('cancelled'));
	is($s->result($id)->{view}{code}, 'INPUT_TIMEOUT',
	   'MCP 9: the template hears INPUT_TIMEOUT of a client\'s long task');

	@{$s->{notes}} = ();
	($id) = lent($s);
	my $get = $s->told('tasks/get');
	$s->notify('notifications/cancelled', {requestId => $id});
	same_json($s->told('tasks/cancel')->{params}, {taskId => 'c1'},
		  'MCP 9: and so is that of a cancelled run');
	$s->call('ping');
	is(scalar(grep { $_->{method} eq 'notifications/cancelled' }
		  @{$s->{notes}}), 0, 'MCP 9: a client\'s task is not taken back by notifications/cancelled');
	$s->reply($get, state_of('working')); # too late

	($id) = lent($s); # the client goes, with a task between two polls
	$s->stop('a client that goes leaves nothing behind');
}

done_testing;
