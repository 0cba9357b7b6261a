#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# tasks_listen.t - tasks of which a client is told by subscriptions/listen, in place
# of asking again and again.
use lib 'tests/lib';
use Paddock;
use Stateless;
use Task;
use Time::HiRes qw(time);

my $SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
my %knows = (extensions => {$TASKS => {}});
my %asks  = (%knows, elicitation => {form => {}});

my %templates = (
	doze  => lua('run.progress(0, 1, "dozing") while true do run.sleep(60000) end', limits => {maxTimeoutMs => 600000}),
	steps => lua('run.progress(0, 9, "ready") local a = run.elicit{key = "go", message = "Go?", schema = {type = "object", properties = {ok = {type = "boolean"}}}}
		for i = 1, 200 do run.progress(i, 200, "step " .. i) run.sleep(2) end return {n = 9}', taskSupport => 'required'),
	two   => lua('local s = {type = "object", properties = {ok = {type = "boolean"}}}
		return run.map({"one", "two"}, {step = "s"}, function(k) return run.elicit{key = k, message = k, schema = s}.action end)',
		taskSupport => 'required'),
	fails => lua('run.error("NO_LUCK", "bad day")', taskSupport => 'required'),
	breaks => lua('return run.reply{error = {code = 17, message = "no account"}}', taskSupport => 'required'),
	large => lua('return {text = string.rep("x", 300000)}', taskSupport => 'required'),
	brief => lua('return {n = 1}'),
);

my $next = 0;

# Send a request which listens to the tasks @IDS; returns the id.
sub listen_to {
	my ($p, $capabilities, @ids) = @_;

	return $p->request('subscriptions/listen', stateless({notifications => {taskIds => \@ids}}, $capabilities),
			   'tasks-' . $next++);
}

# Take the messages for request ID so far: the params, without _meta.
sub of {
	my ($p, $id) = @_;
	my $is = sub { ($_[0]{params}{_meta}{$SUBSCRIPTION} // '') eq $id };
	my @mine = grep { $is->($_) } @{$p->{notes}};

	$p->{notes} = [grep { !$is->($_) } @{$p->{notes}}];
	delete $_->{params}{_meta} for @mine;
	return map { {%{$_->{params}}, method => $_->{method}} } @mine;
}

sub listening {
	my ($p, $capabilities, @ids) = @_;
	my $id = listen_to($p, $capabilities, @ids);
	my @got;

	$p->wait_for("$id to be acknowledged", sub { push @got, of($p, $id); @got });
	unshift @{$p->{notes}}, map { my $m = $_; {method => delete $m->{method}, params => {%$m, _meta => {$SUBSCRIPTION => $id}}} }
	    @got[1 .. $#got];
	return ($id, $got[0]{notifications}{taskIds}) if wantarray;
	return $id;
}

# The messages for ID, until CODE accepts the last.
sub told_until {
	my ($p, $id, $what, $code) = @_;
	my @got;

	$p->wait_for("$id to tell $what", sub {
		push @got, of($p, $id);
		return grep { $code->() } @got });
	return @got;
}

sub over { return told_until(@_[0, 1], 'an end', sub { $_->{status} =~ /^(?:completed|failed|cancelled)$/ }) }
sub cancel_listen { return $_[0]->notify('notifications/cancelled', {requestId => $_[1]}) }

my $p = Paddock->new(templates => \%templates, config => {task_after_ms => 0});

# ---- who may, and to what ----

my $e = $p->answer(listen_to($p, {}, 'run_' . 'a' x 26))->{error};
same_json([$e->{code}, $e->{data}], [-32021, {requiredCapabilities => \%knows}],
	  'MCP26 19: who does not declare the extension listens to no task');
for my $ids ({}, 'x', [7], [('run_' . 'a' x 26) x 65]) {
	my $r = $p->call('subscriptions/listen', stateless({notifications => {taskIds => $ids}}, \%knows));

	is($r->{error}{code}, -32602, 'MCP26 7: nor to what cannot be meant: ' . json_of($ids) =~ s/(.{40}).*/$1/r);
}
my $doze = ext_task($p, 'doze');
my $run = $p->run_async('doze', {}, meta => stateless({})->{_meta});
my ($id, $honoured) = listening($p, \%knows, 'run_' . 'a' x 26, $doze, 'x', $run, '', $doze);

same_json($honoured, [$doze], 'MCP26 7: what is no task is left out, and nothing is twice');
(undef, $honoured) = listening($p, \%knows, 'run_' . 'b' x 26);
same_json($honoured, [], 'MCP26 20: and when none is, nobody learns why');

# ---- a task's life ----

my @got = told_until($p, $id, 'that it dozes', sub { ($_->{statusMessage} // '') eq 'dozing' });

ok(!(grep { $_->{method} ne 'notifications/tasks' || $_->{taskId} ne $doze || $_->{status} ne 'working' } @got),
   'MCP26 20: a task that goes on is told of by notifications/tasks');
my $now = ext_get($p, $doze);
is_deeply({map { ($_ => $got[-1]{$_}) } qw(taskId status statusMessage createdAt ttlMs)},
	  {map { ($_ => $now->{$_}) } qw(taskId status statusMessage createdAt ttlMs)}, '  MCP26 20: a notified task is the same as in tasks/get');
ok(exists $got[-1]{lastUpdatedAt} && exists $got[-1]{pollIntervalMs} && !exists $got[-1]{resultType}, '  MCP26 20: a notified task has the members of a task');
ext_call($p, 'tasks/cancel', {taskId => $doze});
@got = over($p, $id);
is($got[-1]{status}, 'cancelled', 'MCP26 20: and its end');
same_json([ext_get($p, $doze)->{status}, of($p, $id)], ['cancelled'], '  MCP26 20: the end of a task is told once');
cancel_listen($p, $id);

# ---- what it asks ----

my $steps = ext_task($p, 'steps', {}, \%asks);
my $able = listening($p, \%asks, $steps);
my $unable = listening($p, \%knows, $steps);

@got = told_until($p, $able, 'that it asks', sub { $_->{status} eq 'input_required' });
is($got[-1]{inputRequests}{go}{method}, 'elicitation/create', 'MCP26 20: what it asks is told to who can answer');
$p->wait_for('the other to be told', sub { grep { ($_->{params}{_meta}{$SUBSCRIPTION} // '') eq $unable } @{$p->{notes}} });
ok(!(grep { $_->{inputRequests} } of($p, $unable)), '  MCP26 20: a subscription that cannot answer is told no question');
my $begin = time;
ext_call($p, 'tasks/update', {taskId => $steps, inputResponses => {go => {action => 'accept', content => {ok => true}}}});
@got = over($p, $able);
is($got[-1]{status}, 'completed', 'MCP26 20: its end has its result');
same_json($got[-1]{result}{structuredContent}, {n => 9}, '  MCP26 20: the told result is that of a plain call');
is($got[-1]{result}{resultType}, 'complete', '  MCP26 20: the told result is complete');
same_json($got[-1]{result}, ext_get($p, $steps)->{result}, '  MCP26 20: the told result is the same as tasks/get has');
my @said = grep { ($_->{statusMessage} // '') =~ /^step/ } @got;
cmp_ok(scalar @said, '>=', 1, 'MCP26 20: how far it is, is told');
cmp_ok(scalar @said, '<=', (time - $begin) * 10 + 3, '  MCP26 20: progress is told at most ten times a second');
is((over($p, $unable))[-1]{status}, 'completed', 'MCP26 20: to all who listen');

my $two = ext_task($p, 'two', {}, \%asks);
my $both = listening($p, \%asks, $two);

told_until($p, $both, 'both', sub { 2 == keys %{$_->{inputRequests} // {}} });
ext_call($p, 'tasks/update', {taskId => $two, inputResponses => {one => {action => 'decline'}}});
@got = told_until($p, $both, 'one', sub { join(' ', keys %{$_->{inputRequests} // {}}) eq 'two' });
is($got[-1]{status}, 'input_required', 'MCP26 17: what is answered is not told of any more, and what is not still is');
ext_call($p, 'tasks/update', {taskId => $two, inputResponses => {two => {action => 'decline'}}});
over($p, $both);

# ---- how it ends ----

for (['fails', 'completed', sub { $_->{result}{isError} }], ['breaks', 'failed', sub { $_->{error}{code} == 17 && !exists $_->{result} }],
     ['large', 'completed', sub { length $_->{result}{structuredContent}{text} == 300000 }]) {
	my ($template, $status, $code) = @$_;
	my $task = ext_task($p, $template);
	my @end = over($p, listening($p, \%knows, $task));

	is($end[-1]{status}, $status, "MCP26 16: $template is $status");
	local $_ = $end[-1];
	ok($code->(), "MCP26 16: $template ends with the result or error");
	ext_over($p, $task);
	@end = over($p, my $again = listening($p, \%knows, $task));
	is(scalar @end, 1, 'MCP26 7: one that has ended already is told of once');
	is($end[0]{status}, $status, "MCP26 7: the end of $template is told as the task ended");
}

# ---- a task of another server, on the same state ----

{
	my $b = Paddock->new(templates => \%templates, root => $p->{root}, config => {task_after_ms => 0});
	my $there = ext_task($p, 'steps', {}, \%asks);
	my ($far, $found) = listening($b, \%asks, $there);

	same_json($found, [$there], 'MCP26 7: a task of another server is listened to as well');
	ok(defined((told_until($b, $far, 'that it goes on', sub { $_->{status} eq 'working' }))[0]), '  MCP26 7: another server\'s task is told to be working');
	ext_call($p, 'tasks/update', {taskId => $there, inputResponses => {go => {action => 'accept', content => {ok => true}}}});
	my @end = over($b, $far);
	is($end[-1]{status}, 'completed', '  MCP26 7: another server\'s task is told to be completed');
	same_json($end[-1]{result}, ext_get($p, $there)->{result}, '  MCP26 7: another server\'s task is told with the result');
	$b->{shared} = 1;
	$b->stop('  the other server ends');
}

# ---- the server ends ----

my $daemonless = listening($p, \%knows, ext_task($p, 'doze'));
kill TERM => $p->{pid};
is($p->answer($daemonless)->{result}{resultType}, 'complete', 'MCP26 7: who listens to what goes on is told of the end as well');
$p->wait_exit;
done_testing;
