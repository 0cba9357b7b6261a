#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A run in a notebook asks the client, while the client is connected to a node other than the
# node of the notebook: a task gets the answer, and the run of another call is told that the
# client cannot be asked. The run of a lost client ends.
use lib 'tests/lib';
use Paddock;

BEGIN {
	needs('postgres');
	exec 'tests/tools/with-postgres', $^X, $0 unless $ENV{PADDOCK_TEST_POSTGRES};
}
use Cluster;
use Residents;
use Task;

my $c = Cluster->new(templates => {cells => cells(limits => {maxTimeoutMs => 600_000})}, nodes => 2, tokens => {ada => 'a' x 40});
my ($home, $far) = map { $_->modern('ada') } $c->nodes;

my %can = (elicitation => {}, extensions => {'io.modelcontextprotocol/tasks' => {}});

sub task { my ($task) = @_; return ext_call($far, 'tasks/get', {taskId => $task}, \%can)->{result} }
sub until_status { my ($task, $want) = @_; my $v; until_true("a task $want", sub { $v = task($task); ($v->{status} // '') eq $want }); return $v }
sub answer { my ($task, $key, $what) = @_; return ext_call($far, 'tasks/update', {taskId => $task, inputResponses => {$key => $what}}, \%can) }
sub last_run { return $home->tool('list_task_runs')->{view}{runs}[0]{runId} }

cell($home, '"a"');

# ---- a task ----

for ([{action => 'accept', content => {name => 'Al'}}, 'Al'], [{action => 'decline'}, 'decline']) {
	my ($what, $said) = @$_;
	my $task = ext_task($far, 'cells', {notebook => 'n', ask => 'Who?'}, \%can);
	my $v = until_status($task, 'input_required');
	my ($key) = keys %{$v->{inputRequests}};

	is($v->{inputRequests}{$key}{params}{message}, 'Who?', "$said: the client gets the question at another node");
	answer($task, $key, $what);
	is(until_status($task, 'completed')->{result}{structuredContent}{said}, $said, "$said: the answer comes to the run");
}
{
	my $task = ext_task($far, 'cells', {notebook => 'n', ask => 'Who?'}, \%can);
	until_status($task, 'input_required');
	ext_call($far, 'tasks/cancel', {taskId => $task}, \%can);
	until_status($task, 'cancelled');
	is(cell($home, '"b"')->{result}{state}, 'aAldeclineb', 'a run that is cancelled while the client has the question costs the notebook nothing');
}

# ---- a call that waits ----

for ('2025-11-25', '2026-07-28') {
	my $s = $_ lt '2026' ? $c->node(1)->client('ada')->greeted($_, {elicitation => {}}) : $far;
	my $r = $s->call('tools/call', $_ lt '2026' ? {name => 'cells', arguments => {notebook => 'n', ask => 'Who?'}}
		: stateless({name => 'cells', arguments => {notebook => 'n', ask => 'Who?'}}, {elicitation => {form => {}}}))->{result};

	is($r->{structuredContent}{said}, 'ELICITATION_NOT_SUPPORTED: the run was called at another server than this one, which has the notebook, so nobody can be asked here: call the tool as a task', "$_: a call that is no task is not asked at another node, and the run is told why");
}

# ---- a lost client ----

for my $how ('2025-11-25', '2026-07-28') {
	my $s = $how lt '2026' ? $c->node(1)->client('ada')->greeted($how) : $c->node(1)->modern('ada');
	my %call = (name => 'cells', arguments => {notebook => 'n', do => 'sleep 600'});
	my $id = $s->request('tools/call', $how lt '2026' ? \%call : stateless(\%call));
	my $run;
	until_true('the run', sub { $run = last_run(); $home->get($run)->{status} eq 'running' });
	$how lt '2026' ? $s->notify('notifications/cancelled', {requestId => $id}) : $s->route($id)->hang_up;
	is($home->ended($run)->{status}, 'canceled', "$how: the run of a client that is gone ends at the node of the notebook");
	like(cell($far, '"c"')->{result}{state}, qr/^aAldeclineb.*c\z/s, "$how: the notebook goes on after that");
}
$c->stop;
done_testing();
