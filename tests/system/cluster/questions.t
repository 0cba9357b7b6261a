#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Any node answers for any run: a client on another node than the run's can see the run,
# wait for the end, cancel, and answer the run's questions.
use lib 'tests/lib';
use Needs;
BEGIN { needs('postgres') }
exec 'tests/tools/with-postgres', $^X, $0 unless $ENV{PADDOCK_TEST_POSTGRES};
require Paddock;
Paddock->import;
require Nodes;
Nodes->import;
require Task;
Task->import;

my $who = 'run.elicit{key = "who", message = "who?", schema = {type = "object", properties = {name = {type = "string"}}, required = {"name"}}}';
my %templates = (
    echo => lua('return inputs'),
    doze => lua('run.log("info", "I lie down") run.progress(0, 1, "dozing") while true do run.sleep(60000) end',
		limits => {maxTimeoutMs => 600000}),
    asks => lua("local a = $who return {hello = a.content.name}", taskSupport => 'required'),
    asks_twice => lua("local a, b = $who, $who return {hello = a.content.name .. b.content.name}", taskSupport => 'required'),
);
my @nodes = map { node('questions', templates => \%templates) } 1, 2;
$_->ready for @nodes;
my ($a, $b) = map { $_->client->greeted('2025-11-25') } @nodes;
my ($c, $d) = map { $_->client } @nodes; # of 2026-07-28
my %can = (elicitation => {}, extensions => {'io.modelcontextprotocol/tasks' => {}});

sub get { my ($s, $task, $cap) = @_; return ext_call($s, 'tasks/get', {taskId => $task}, $cap // \%can)->{result} }
sub update { my ($s, $task, %all) = @_; return ext_call($s, 'tasks/update', {taskId => $task, inputResponses => \%all}, \%can) }
sub asked {
	my ($s, $task, $cap) = @_;
	my $v;

	until_true('a question', sub { $v = get($s, $task, $cap); ($v->{status} // '') ne 'working' });
	return $v;
}
sub name { return {action => 'accept', content => {name => $_[0]}} }
sub over {
	my ($s, $task) = @_;
	my $v;

	until_true('the end', sub { $v = get($s, $task); ($v->{status} // '') =~ /completed|cancelled/ });
	return $v;
}

# ---- what is asked, by a task of 2026-07-28 ----
{
	my $task = ext_task($c, 'asks', {}, \%can);
	my $v = asked($d, $task);

	is($v->{status}, 'input_required', 'what a run of another node asks is shown here');
	is($v->{inputRequests}{who}{method}, 'elicitation/create', '  the question of a remote run has the method');
	is($v->{inputRequests}{who}{params}{message}, 'who?', '  the question of a remote run has the message');
	same_json($v->{inputRequests}, asked($c, $task)->{inputRequests}, '  the question of a remote run is the same at both nodes');
	my %other = (extensions => $can{extensions}, sampling => {});
	is(get($d, $task, \%other)->{status}, 'working', '  a client that cannot answer sees no question');
	ok(!update($d, $task, nobody => name('x'))->{error}, 'an answer to nothing is passed over');
	ok(!update($d, $task, who => name('ada'))->{error}, 'an answer is taken here');
	is(over($d, $task)->{result}{structuredContent}{hello}, 'ada', '  the answer reaches the remote run');
	ok(!update($d, $task, who => name('bob'))->{error}, 'one that comes late is passed over');
	is(over($c, $task)->{result}{structuredContent}{hello}, 'ada', '  a late answer changes nothing');
}
{
	my $task = ext_task($c, 'asks_twice', {}, \%can);
	my ($first) = keys %{asked($d, $task)->{inputRequests}};

	is(update($d, $task, $first => name('x' x 300_000))->{error}{code}, -32603, 'answers of more than 256 KiB are refused at another node');
	update($d, $task, $first => name('x' x 100_000));
	my $next;
	until_true('another question', sub { ($next) = grep { $_ ne $first } keys %{get($d, $task)->{inputRequests} // {}}; $next });
	update($c, $task, $next => name('y'));
	is(over($d, $task)->{result}{structuredContent}{hello}, 'x' x 100_000 . 'y', 'a run that asks twice is answered at two nodes');
}
{
	my $task = ext_task($c, 'asks', {}, \%can);

	asked($d, $task);
	$nodes[0]->kill9;
	my $v = over($d, $task);
	is($v->{result}{isError}, true, 'when its node dies, so does its question');
	ok(!update($d, $task, who => name('x'))->{error}, '  an answer is passed over then');
	strays_gone();
	$nodes[0] = node('questions', templates => \%templates);
	$nodes[0]->ready;
	$a = $nodes[0]->client->greeted('2025-11-25');
	$c = $nodes[0]->client;
}

# ---- all else ----
{
	my $run = $a->run_async('doze');

	is($b->saying($run, 'dozing')->{message}, 'dozing', "another node's run is viewed here, with its progress");
	is($b->tool('list_task_runs')->{view}{runs}[0]{runId}, $run, '  a remote run is listed');
	ok(until_true('its log', sub {
		my $r = $b->call('resources/read', {uri => "paddock://runs/$run/log"})->{result};
		($r->{contents}[0]{text} // '') =~ /I lie down/ }), '  the log of a remote run is read');
	$b->tool(cancel_task_run => {runId => $run});
	is($_->ended($run)->{status}, 'canceled', 'a remote run is cancelled') for $a, $b;
	my $done = $a->run_sync(echo => {n => 1});
	same_json($b->get_less_node($done->{runId}), $done, 'what has ended reads the same');
}
{
	my $task = $a->call('tools/call', {name => 'doze', arguments => {}, task => {}})->{result}{task}{taskId};
	my $waits = $b->request('tasks/result', {taskId => $task});

	is($b->call('tasks/get', {taskId => $task})->{result}{status}, 'working', 'a task of 2025-11-25 is seen here');
	$a->call('tasks/cancel', {taskId => $task});
	is($b->answer($waits)->{error}{data}{errorCode}, 'RUN_CANCELED', '  a remote task of 2025-11-25 is waited for');
}
$_->stop('each stops') for @nodes;
done_testing();
