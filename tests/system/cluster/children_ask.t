#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Questions of called runs at another node than the node of their caller: the client of the outermost
# run is asked there, and the answer or the refusal comes back to the node of the called run.
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

my $reads = {readOnlyHint => true(), destructiveHint => false()};
my @may = (annotations => $reads, permissions => {templates => ['*']}, limits => {maxTimeoutMs => 600000});
my $form = '{type = "object", properties = {name = {type = "string"}}, required = run.array{"name"}}';
my %templates = (
	asks  => lua("local ok, a = pcall(run.elicit, {key = inputs.key, message = inputs.key, schema = $form}) return ok and (a.content and a.content.name or a.action) or a.code", annotations => $reads, limits => {maxTimeoutMs => 600000}),
	kinds => lua('return run.sample{messages = "hi", maxTokens = 9}.content.text .. run.roots{}[1].uri', annotations => $reads, limits => {maxTimeoutMs => 600000}),
	below => lua('return (run.template(inputs.template, inputs.inputs or {}))', @may),
	# two calls at once, of which one finds no place at a node with a single place
	two   => lua('local out = run.map(inputs.list, {concurrency = 2}, function(one) return (run.template(one.template, one.inputs or {})) end) return out[1].value .. "/" .. out[2].value', @may),
);
my $grants = join '', map { qq([grant "$_"]\ntemplates = *\n) } qw(below two);
my @nodes = map { node('asks', templates => \%templates, config => {max_concurrent_runs => 1}, server => "node_name = n$_\n$grants") } 1, 2;
$_->ready for @nodes;
my %can = (elicitation => {}, sampling => {}, roots => {});
my ($a, $b) = map { $_->client->greeted('2025-11-25', \%can) } @nodes;
my $modern = $nodes[0]->client;
my $pair = {list => [map { {template => 'asks', inputs => {key => $_}} } qw(x y)]};

sub name { return {action => 'accept', content => {name => $_[0]}} }
sub nodes_of { my ($template) = @_; return join ' ', sort map { $b->get($_->{runId})->{node} } grep { $_->{templateId} eq $template && $_->{status} eq 'running' } @{$b->tool('list_task_runs')->{view}{runs}} }

# ---- a stream ----

{
	my $id = $a->ask_run(two => $pair, mode => 'sync');
	my %asked = map { $_->{params}{message} => $_ } map { $a->told('elicitation/create') } 1, 2;

	is(join(' ', sort keys %asked), 'x y', 'called runs at two nodes ask the client of the outermost run');
	is(nodes_of('asks'), 'n1 n2', 'one of the called runs that ask is at each node');
	$a->reply($asked{y}, name('Y'));
	$a->reply($asked{x}, name('X'));
	is($a->result($id)->{view}{result}, 'X/Y', 'each answer reaches the node of the called run');
}
{
	my $id = $a->ask_run(two => {list => [map { {template => 'kinds'} } 1, 2]}, mode => 'sync');

	for (1, 2) {
		$a->reply($a->told('sampling/createMessage'), {role => 'assistant', model => 'm', content => {type => 'text', text => 'said '}});
		$a->reply($a->told('roots/list'), {roots => [{uri => 'file:///a'}]});
	}
	is($a->result($id)->{view}{result}, 'said file:///a/said file:///a', 'a model and roots of the client are asked for, too');
}
{
	my $id = $a->ask_run(two => $pair, mode => 'sync');
	my %asked = map { $_->{params}{message} => $_ } map { $a->told('elicitation/create') } 1, 2;

	$a->reply($asked{$_}, {action => 'accept', content => {name => 7}}) for qw(x y);
	my @again = map { $a->told('elicitation/create') } 1, 2;
	like($_->{params}{message}, qr/does not fit/, 'an answer that does not fit is asked for again') for @again;
	$a->reply($again[0], {action => 'decline'});
	$a->reply($again[1], {code => 1});
	like($a->result($id)->{view}{result}, qr{decline}, 'a refusal by the client reaches the called run');
}
{
	my $id = $a->ask_run(two => {list => [map { {template => 'below', inputs => {template => 'asks', inputs => {key => $_}}} } qw(x y)]}, mode => 'sync');
	my %asked = map { $_->{params}{message} => $_ } map { $a->told('elicitation/create') } 1, 2;

	$a->reply($asked{$_}, name(uc $_)) for qw(x y);
	is($a->result($id)->{view}{result}, 'X/Y', 'a run that a called run of another node called asks the outermost client');
}
{
	my $id = $a->ask_run(two => $pair, mode => 'sync');
	my @asked = map { $a->told('elicitation/create') } 1, 2;
	my %at = map { $b->get($_->{runId})->{node} => $_->{runId} } grep { $_->{templateId} eq 'asks' && $_->{status} eq 'running' } @{$b->tool('list_task_runs')->{view}{runs}};

	$b->tool(cancel_task_run => {runId => $at{n2}});
	my $gone = $a->told('notifications/cancelled');
	ok((grep { $_->{id} eq $gone->{params}{requestId} } @asked), 'the question of a called run that is cancelled at another node is withdrawn');
	$a->notify('notifications/cancelled', {requestId => $id});
	is($b->ended($at{n1})->{status}, 'canceled', 'a caller that goes away ends the runs that ask');
}

# ---- a client that takes questions along, and nobody to ask ----

{
	my $call = sub { my ($more, $can) = @_; return $modern->call('tools/call', stateless({name => 'two', arguments => $pair, %{$more // {}}}, $can // \%can)) };
	my $r = $call->()->{result};
	my %answers;

	for (1 .. 3) {
		last if ($r->{resultType} // '') ne 'input_required';
		$r = $call->({requestState => $r->{requestState}, inputResponses => {map { $_ => name(uc $_) } keys %{$r->{inputRequests}}}})->{result};
	}
	like($r->{content}[0]{text}, qr{X/Y}, 'questions of called runs at two nodes are taken along, and answered by a repeated call') or diag(json_of($r));
	like(json_of($call->({}, {})), qr{ELICITATION_NOT_SUPPORTED/ELICITATION_NOT_SUPPORTED}, 'where the client cannot be asked, the called run at each node hears so');
	my $run = $a->run_async(two => $pair);
	is($a->ended($run)->{result}, 'ELICITATION_NOT_SUPPORTED/ELICITATION_NOT_SUPPORTED', 'called runs of a run with a handle ask nobody at either node');
}
$_->stop('each stops') for @nodes;
done_testing();
