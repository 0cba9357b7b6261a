#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Notebooks while nodes differ: a node which is taken for dead, a node with another version of
# the template, a node without the template, and a run bound to a node without the notebook.
use lib 'tests/lib';
use Paddock;

BEGIN {
	needs('postgres');
	exec 'tests/tools/with-postgres', $^X, $0 unless $ENV{PADDOCK_TEST_POSTGRES};
}
use Daemon;
use Nodes;
use Residents;

sub start { my ($schema, %templates) = @_; my $node = node($schema, templates => \%templates); return ($node->ready && $node, $node->client->greeted) }
sub names { my ($client) = @_; return join ' ', map { "$_->{name} $_->{node}" } @{$client->call('paddock/residents')->{result}{residents}} }
sub state_is { my ($r, $state, $why, $name) = @_; is($r->{result}{state}, $state, $name) or diag explain $r; is($r->{notebook}{why}, $why, "$name: the reason") }

# ---- a node which is taken for dead, and goes on ----

{
	my ($one, $first) = start('silent', cells => cells());
	my ($two, $second) = start('silent', cells => cells());

	state_is(cell($first, '"a"'), 'a', undef, 'a notebook begins at the first node');
	state_is(cell($second, '"b"'), 'ab', undef, 'a run by way of the second node has the state');
	until_true('the notebook in the list of the second node', sub { names($second) eq "n $one->{name}" });
	cut_off($one);
	my $run = $second->run_async(cells => {notebook => 'n', do => '"c"'});
	state_is($second->ended($run), 'c', 'its node died', 'a run that waited for the silent node goes on at the second');
	link_up($one);
	$one->log_has(qr/after="taken for dead"/);
	until_true('the return of the first node', sub { ($first->run(cells => {notebook => 'm', do => '"m"'})->{view} // {})->{status} });
	state_is(cell($first, '"d"'), 'cd', undef, 'the node that was taken for dead has its runs go to the notebook of the second');
	is(scalar(() = $one->log_text =~ /ended="its node was taken for dead"/g), 1, 'the earlier process of the notebook is ended');
	$_->stop('a node stops') for $one, $two;
}

# ---- templates that differ ----

{
	my ($one, $first) = start('differ', cells => cells());
	my ($two, $second) = start('differ', cells => cells(description => 'Another.'));
	my ($three, $third) = start('differ', other => cells());

	cell($first, '"a"');
	until_true('the notebook in the list of a node without the template', sub { names($third) eq "n $one->{name}" });
	my $run = $second->run_async(cells => {notebook => 'n', do => '"b"'});
	is($second->get($run)->{status}, 'queued', 'a run of another version waits while the notebook is at a node without that version');
	$one->write_templates({cells => cells(description => 'Another.')});
	is($one->reload, 'done', 'the node reloads its templates');
	state_is($second->ended($run), 'b', 'its template has changed', 'the run goes on once the node has ended the notebook of the old version');
	state_is(cell($first, '"c"'), 'bc', undef, 'all nodes have the new notebook');
	is($third->call('paddock/endResident', {templateId => 'cells', name => 'n'})->{result}{ended} ? 1 : 0, 1, 'a node without the template ends the notebook');
	state_is(cell($second, '"d"'), 'd', 'it was ended on request', 'the next run is told of the end');

	# ---- a version that its node never gets ----
	cell($first, '"x"', {notebook => 'stays'});
	until_true('the notebook in the list', sub { names($third) =~ /\bstays / });
	my ($node, $client) = names($third) =~ /\bstays $one->{name}\b/ ? ($two, $second) : ($one, $first);
	$node->write_templates({cells => cells(description => 'A third.')});
	is($node->reload, 'done', 'the node without the notebook has a third version');
	$run = $client->run_async(cells => {notebook => 'stays', do => '"y"'});
	is($client->ended($run)->{error}{errorCode}, 'RUN_INTERRUPTED', 'a run fails whose version the node of the notebook does not get');
	$_->stop('a node stops') for $one, $two, $three;
}
# ---- a run that cannot go to the node of its notebook ----

{
	my $cells = cells();
	$cells->{inputsSchema}{properties}{key} = {type => 'string', writeOnly => \1};
	my ($one, $first) = start('bound', cells => $cells);
	my ($two, $second) = start('bound', cells => $cells);

	is(cell($first, '"a"', {key => 'k'})->{result}{state}, 'a', 'a template with a secret has a notebook');
	my $e = cell($second, '"b"', {key => 'k'})->{error};
	is($e->{errorCode}, 'NOTEBOOK_ELSEWHERE', 'a run with a secret fails when the notebook is at another node');
	is($e->{message}, 'the notebook "n" lives at another server, where this run cannot go, since its inputs may be secret and are in no database; take another name, or end the notebook first', 'the error says why, and what would pass');
	like($e->{recoverHint}, qr/^take another name/, 'the error has a hint');
	state_is(cell($second, '"c"', {key => 'k', notebook => 'm'}), 'c', undef, 'a run with a secret has a notebook of another name');
	state_is(cell($first, '"d"', {key => 'k'}), 'ad', undef, 'a run with a secret has the notebook of its own node');
	until_true('the end of the notebook', sub { $second->call('paddock/endResident', {templateId => 'cells', name => 'n'})->{result}{ended} });
	state_is(cell($second, '"e"', {key => 'k'}), 'e', 'it was ended on request', 'after the end of the notebook the run begins it anew at another node');
	my $busy = $second->run_async(cells => {notebook => 'n', do => 'sleep 600', key => 'k'});
	$second->get_until($busy, 'to run', sub { $_->{status} eq 'running' });
	is(cell($first, '"f"', {key => 'k'})->{error}{errorCode}, 'NOTEBOOK_ELSEWHERE', 'a run with a secret fails while the notebook of another node has a run');
	my $waits = $second->run_async(cells => {notebook => 'n', do => '"g"', key => 'k'});
	$second->tool(cancel_task_run => {runId => $busy});
	state_is($second->ended($waits), 'eg', undef, 'a run with a secret waits for the notebook of its own node');
	$_->stop('a node stops') for $one, $two;
}
done_testing();
