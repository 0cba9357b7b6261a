#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Tasks over HTTP: the stream of each message, clients which give up, and owners of tasks.
use lib 'tests/lib';
use Paddock;
use Http;
use Task;

my %templates = (
    echo => lua('return inputs'),
    steps => lua('for i = 1, 9 do run.progress(i, 9) run.sleep(20) end return {n = 9}'),
    doze => lua('run.progress(0, 1, "dozing") while true do run.sleep(60000) end',
		limits => {maxTimeoutMs => 600000, cancelGraceMs => 60000}),
);

sub dozing {
	my ($c) = @_;
	my $id = start_task($c, 'doze');

	task_until($c, $id, 'to doze', sub { $_->{statusMessage} });
	return $id;
}

# ---- with tokens ----
{
	my $s = Http->new(templates => \%templates, tokens => {alice => 'a', bob => 'b'},
			  config => "[limits]\nmax_concurrent_runs = 20\n");
	my $c = $s->client('alice');
	my ($id, $id2, $wait, $listen, @told);

	ok($c->init->{capabilities}{tasks}{list}, 'MCP 25: a requestor with a token has tasks/list');
	$id = dozing($c);
	is($c->{last}{headers}{'content-type'}, 'application/json',
	   'MCP 27: tasks/get is answered without a stream');
	$wait = $c->request('tasks/result', {taskId => $id});
	$c->route($wait)->hang_up;
	is(get_task($c, $id)->{status}, 'working', 'MCP 27: a wait that is hung up ends no task');
	$wait = $c->request('tasks/result', {taskId => $id});
	is($c->call('tasks/cancel', {taskId => $id})->{result}{status}, 'cancelled', 'tasks/cancel');
	is($c->answer($wait)->{error}{message}, 'Task was cancelled', 'wakes who waits on another connection');

	# notifications come on the GET stream alone
	$listen = $c->listen;
	$id = start_task($c, 'steps', {}, meta => {progressToken => 'p'});
	$wait = $c->request('tasks/result', {taskId => $id});
	while (my $m = $listen->message) {
		next unless $m->{json};
		push @told, $m->{json};
		last if ($m->{json}{params}{status} // '') eq 'completed';
	}
	is($c->answer($wait)->{result}{structuredContent}{n}, 9, 'tasks/result gives the result of the run');
	same_json([map { $_->{method} } @told[0, -1]],
		  [qw(notifications/progress notifications/tasks/status)],
		  'MCP 21: progress and status come by the stream of no request');
	is(scalar(notes_of($c, $id)), 0, '  MCP 21: progress and status come by no other stream');
	is($told[0]{params}{_meta}{+RELATED}{taskId}, $id, 'MCP 19: progress names its task');
	$listen->hang_up;

	# a second session, and another requestor
	$id = dozing($c);
	my $again = $s->client('alice')->greeted;
	my $other = $s->client('bob')->greeted;
	is(get_task($again, $id)->{status}, 'working', 'MCP 25: a task is its requestor\'s, not a session\'s');
	not_found($other->call("tasks/$_", {taskId => $id}), "MCP 25: not another's: tasks/$_")
	    for qw(get result cancel);
	is(scalar(all_tasks($other)), 0, '  MCP 25: another requestor\'s task is in no list');
	is($c->end, 204, 'the session that made it ends');
	is(get_task($again, $id)->{status}, 'working', '  MCP 25: a task outlives the session');
	is($again->call('tasks/cancel', {taskId => $id})->{result}{status}, 'cancelled',
	   '  MCP 25: a task that outlived the session is cancelled');
	$again->ended($id);
	$s->stop;
}

# ---- without ----
{
	my $s = Http->new(templates => \%templates);
	my $c = $s->client;
	my $declared = $c->init->{capabilities}{tasks};
	my $id = start_task($c, 'echo', {a => 1});

	ok($declared->{cancel} && !$declared->{list}, 'MCP 25: who has no name has no tasks/list');
	is($c->call('tasks/list')->{error}{code}, -32601, '  MCP 25: a client without a name is refused tasks/list');
	is($c->call('tasks/result', {taskId => $id})->{result}{structuredContent}{a}, 1,
	   '  MCP 25: a client without a name has tasks by id');
	$s->stop;
}

done_testing;
