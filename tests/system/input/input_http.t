#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# By which stream a question reaches a client over HTTP.
use lib 'tests/lib';
use Paddock;
use Http;

my $templates = {
    who => lua('return run.elicit{message = "who?", schema = {type = "object",
	properties = {name = {type = "string"}}}}',
	limits => {maxTimeoutMs => 600000}),
    busy => lua('local object = {type = "object", properties = {}}
	run.map({1, 2}, {concurrency = 2}, function(_, i)
		if i == 1 then return run.elicit{message = "who?", schema = object} end
		for n = 1, 100000 do run.progress(n, 100000) run.sleep(20) end
	end)', limits => {maxTimeoutMs => 600000}),
    late => lua('run.sleep(300) return run.elicit{message = "who?", schema = {type = "object", properties = {}}}',
	limits => {maxTimeoutMs => 600000}),
};
my %accept = (action => 'accept', content => {name => 'Ada'});
my $s = Http->new(templates => $templates,
		  tokens => {ada => 'a' x 40, bob => 'b' x 40});

sub client { return $s->client($_[0] // 'ada')->greeted(undef, {elicitation => {}}) }

# Call the asking template as a task; returns the id.
sub task {
	my ($c) = @_;

	return $c->call('tools/call', {name => 'who', arguments => {},
				       task => {}})->{result}{task}{taskId};
}

# The next message on CONN except progress and statuses.
sub next_on {
	my ($conn) = @_;

	$conn->head unless $conn->{status};
	while (my $e = $conn->message) {
		my $m = $e->{json} // next;

		return $m unless ($m->{method} // '') =~
		    m{^notifications/(progress|tasks/status|message)$};
	}
	return undef;
}

# ---- a run whose worker dies ----

{
	my ($first, $second) = (client(), client());
	# the two calls wait for the same run, by the key
	my %call = (name => 'run_task_template', arguments => {templateId => 'busy', inputs => {},
		    options => {mode => 'sync', idempotencyKey => 'k'}}, _meta => {progressToken => 'p'});
	my @ids = $first->request('tools/call', \%call);
	my $one = $first->route($ids[0]);

	is(next_on($one)->{method}, 'elicitation/create', 'a run asks who called it');
	push @ids, $second->request('tools/call', \%call);
	my $two = $second->route($ids[1]);
	$two->head;
	my $e = $two->message;
	$e = $two->message until !$e || ($e->{json}{method} // '') eq 'notifications/progress'; # it waits, too
	my ($run) = $s->log_text =~ /.*run=(run_\w+) pid=/s;
	kill KILL => $s->worker_pid($run);
	is(next_on($one)->{method}, 'notifications/cancelled', 'a client is told to forget the question of a dead worker');
	is(next_on($one)->{result}{isError}, true, '  the call of a dead worker\'s run fails');
	is(next_on($two)->{result}{isError}, true, '  a second call that waits for the dead worker\'s run fails without a question');
}

# ---- a plain call ----

{
	my $c = client();
	my $id = $c->request('tools/call', {name => 'who', arguments => {}});
	my $conn = $c->route($id);
	my $m = next_on($conn);

	is($m->{method}, 'elicitation/create',
	   'MCP 32: a call\'s question comes by the call\'s stream');
	$c->respond($m->{id}, \%accept);
	same_json($c->answer($id)->{result}{structuredContent}, \%accept,
		  'MCP 32: the result comes by the call\'s stream');
}

# ---- a task ----

{
	my $c = client();
	my $t = task($c);

	is(until_true('it to ask', sub {
		my $got = $c->call('tasks/get', {taskId => $t})->{result};
		$got->{status} eq 'input_required' && $got->{status};
	   }), 'input_required', 'without a stream a question is held');
	my $id = $c->request('tasks/result', {taskId => $t});
	my $m = next_on($c->route($id));
	is($m->{method}, 'elicitation/create',
	   'a held question comes by the stream of tasks/result');

	# the call ends, and the next call gets the question
	$c->notify('notifications/cancelled', {requestId => $id});
	my $over = next_on($c->route($id));
	is($over->{method}, 'notifications/cancelled',
	   'a question is taken back before the stream ends');
	is($over->{params}{requestId}, $m->{id}, 'a question is taken back by the own id');
	is($c->call('tasks/get', {taskId => $t})->{result}{status},
	   'input_required', 'MCP 9: the task goes on');

	my $stranger = client('bob');
	ok($stranger->call('tasks/result', {taskId => $t})->{error},
	   'another requestor cannot wait for it');

	my $other = client();
	$id = $other->request('tasks/result', {taskId => $t});
	$m = next_on($other->route($id));
	is($m->{method}, 'elicitation/create',
	   'another session of the same requestor is asked when it waits');
	$other->respond($m->{id}, \%accept);
	same_json($other->answer($id)->{result}{structuredContent}, \%accept,
		  'another session of the requestor gets the result');
}

{
	my $c = client();
	my $get = $c->listen;
	my $t = task($c);
	my $m = next_on($get);

	is($m->{method}, 'elicitation/create',
	   'MCP 34: an open stream gets the question of a task');
	$c->respond($m->{id}, {action => 'decline'});
	is($c->call('tasks/result', {taskId => $t})->{result}{structuredContent}
	   {action}, 'decline', 'MCP 34: a task\'s question on an open stream can be answered');

	my $late = client();
	$t = task($late);
	until_true('it to ask', sub {
		$late->call('tasks/get', {taskId => $t})->{result}{status} eq
		    'input_required' });
	$m = next_on($late->listen);
	is($m->{method}, 'elicitation/create',
	   'a stream that is opened later gets the question');
	$late->respond($m->{id}, {action => 'decline'});
	is($late->call('tasks/result', {taskId => $t})->{result}
	   {structuredContent}{action}, 'decline', 'a question asked on a later stream can be answered');
}

# ---- the session ends ----

{
	my $c = client();
	my $get = $c->listen;
	my $t = task($c);

	is(next_on($get)->{method}, 'elicitation/create', 'a session is asked');
	$c->end;
	my $other = client();
	my $id = $other->request('tasks/result', {taskId => $t});
	my $m = next_on($other->route($id));
	is($m->{method}, 'elicitation/create',
	   'when it ends, whoever waits is asked instead');
	$other->respond($m->{id}, {action => 'cancel'});
	is($other->answer($id)->{result}{structuredContent}{action}, 'cancel',
	   'the task goes on with another session\'s answer');
}

# ---- who was asked is not there any more ----

{
	my $c = client();
	my $t = task($c);
	my $first = $c->request('tasks/result', {taskId => $t});
	my $gone = $c->route($first);

	$gone->head;
	my $start = $gone->message;
	my $old = next_on($gone);
	is($old->{method}, 'elicitation/create', 'who waits is asked');
	$gone->hang_up;
	my $id = $c->request('tasks/result', {taskId => $t});
	my $new = next_on($c->route($id));
	is($new->{method}, 'elicitation/create', 'the next session that waits is asked when the first has hung up');
	isnt($new->{id}, $old->{id}, 'the next session gets a new question');
	my $again = $c->listen($start->{id});
	next_on($again);
	is(next_on($again)->{params}{requestId}, $old->{id}, 'for the first was taken back, where it was asked');
	$again->hang_up;
	$c->respond($old->{id}, {action => 'cancel'});
	$c->respond($new->{id}, {action => 'decline'});
	is($c->answer($id)->{result}{structuredContent}{action}, 'decline', 'the answer to the second question counts');
}
{
	my $c = client();
	my $t = $c->call('tools/call', {name => 'late', arguments => {}, task => {}})->{result}{task}{taskId};
	my @gone = map { $c->route($c->request('tasks/result', {taskId => $t})) } 1 .. 3;

	$_->head for @gone;
	my $other = client();
	my $id = $other->request('tasks/result', {taskId => $t});
	$other->route($id)->head;
	$_->hang_up for @gone;
	my $m = next_on($other->route($id));
	is($m->{method}, 'elicitation/create', 'of several who wait one is asked that is there');
	$other->respond($m->{id}, {action => 'decline'});
	is($other->answer($id)->{result}{structuredContent}{action}, 'decline', 'the session that is there can answer');
}
{
	my $c = client();
	my $get = $c->listen;
	my $t = task($c);

	is(next_on($get)->{method}, 'elicitation/create', 'who listens is asked');
	my $id = $c->request('tasks/result', {taskId => $t});
	$c->route($id)->head;
	$get->hang_up;
	my $m = next_on($c->route($id));
	is($m->{method}, 'elicitation/create', 'the session that waits is asked when the open stream has ended');
	$c->respond($m->{id}, {action => 'decline'});
	is($c->answer($id)->{result}{structuredContent}{action}, 'decline', 'the session that waits can answer');
}

$s->stop;
done_testing;
