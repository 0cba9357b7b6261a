#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Many calls which wait for the same run: each call is answered, also when the server ends;
# few calls get the run's log and progress, and the open calls of a requestor, on all
# connections together, have a bound.
use lib 'tests/lib';
use Paddock;
use Daemon;

my ($MANY, $TOLD, $EACH, $MOST) = (300, 64, 2048, 4096);
my %templates = (
	gate => lua('while true do run.sleep(100000) end'),
	nap => lua('run.sleep(inputs.ms) return {n = 1}'),
	says => lua('run.log("info", "said") run.progress(1, 2) return {n = 1}'),
);

# Send N calls for the same run of TEMPLATE in a single write; returns the ids of the calls.
sub await_one {
	my ($c, $n, $template, $inputs, $name) = @_;
	my @ids = map { "$name$_" } 1 .. $n;

	$c->{out} .= join '', map { json_of({jsonrpc => '2.0', id => $_, method => 'tools/call', params => {
		name => 'run_task_template', _meta => {progressToken => $_},
		arguments => {templateId => $template, inputs => $inputs, options => {mode => 'sync', idempotencyKey => $template}}}}) . "\n" } @ids;
	return @ids;
}

# The number of calls among IDS whose run has the status WANT.
sub ended { my ($c, $want, @ids) = @_; return scalar grep { (($c->result($_)->{view} // {})->{status} // '') eq $want } @ids }

{
	my $s = Daemon->new(templates => \%templates, config => "[limits]\nmax_concurrent_runs = 1\n");
	my $c = $s->client->greeted;
	my $gate = $c->run_async('gate');
	my @ids = await_one($c, $MANY, 'says', {}, 'a');

	$c->call('ping'); # behind all of these
	$c->tool(cancel_task_run => {runId => $gate});
	is(ended($c, 'succeeded', @ids), $MANY, "$MANY calls that wait for one run are all told its end");
	$c->call('ping');
	my @said = grep { $_->{method} eq 'notifications/message' && $_->{params}{data} eq 'said' } @{$c->{notes}};
	my %heard = map { $_->{params}{progressToken} => 1 } grep { $_->{method} eq 'notifications/progress' } @{$c->{notes}};
	is(scalar @said, $TOLD, "a log line of the run is told $TOLD times");
	is(scalar keys %heard, $TOLD, "the progress of the run is told to $TOLD calls");
	is(ended($c, 'succeeded', await_one($c, $MANY, 'says', {}, 'b')), $MANY, "$MANY later calls for the ended run are answered");
	$s->stop;
}

{
	my $s = Daemon->new(templates => \%templates);
	my $c = $s->client->greeted;
	my @ids = await_one($c, $MANY, 'nap', {ms => 2000}, 'a');

	$c->call('ping');
	$s->signal('TERM');
	is(ended($c, 'succeeded', @ids), $MANY, 'a server that ends tells the end to all of them');
	$s->stop;
}

{
	my $s = Daemon->new(templates => \%templates);
	my @c = map { $s->client->greeted } 1 .. 3;

	for my $n (0, 1) {
		await_one($c[$n], $EACH - 1, 'gate', {}, "c$n-");
		$c[$n]->call('ping');
	}
	await_one($c[2], 2, 'gate', {}, 'last');
	like($c[2]->call('ping')->{error}{message} // '', qr/^$MOST requests of yours are under way on all connections together/,
	     "one more than $MOST on all connections is refused");
	$c[0]->notify('notifications/cancelled', {requestId => 'c0-1'});
	ok(until_true('room', sub { $c[2]->call('ping')->{result} }), 'a call is accepted again after the end of another call');
	$s->stop;
}
done_testing;
