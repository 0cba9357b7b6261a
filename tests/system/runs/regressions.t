#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Former mistakes, each in a form which detects a return.
use lib 'tests/lib';
use Paddock;
use Daemon;
use Socket;

my $for_ever = 'run.progress(0, 1, "on") while true do run.sleep(60000) end';
my %templates = (
    doze => lua($for_ever, limits => {maxTimeoutMs => 600000}),
    quick => lua('return {}'),
    deep => lua('local v = 1 for i = 1, 60 + inputs.more do v = {v} end return v'),
    crash => lua($for_ever),
);

sub call_of { # a line that asks for a tool
	my ($id, $name, $args) = @_;

	return json_of({jsonrpc => '2.0', id => $id, method => 'tools/call',
			params => {name => $name, arguments => $args}}) . "\n";
}

sub run_of {
	my ($id, $template, %options) = @_;

	return call_of($id, run_task_template =>
	    {templateId => $template, inputs => {}, options => \%options});
}

sub cancel_of {
	return json_of({jsonrpc => '2.0', method => 'notifications/cancelled',
			params => {requestId => $_[0]}}) . "\n";
}

# ---- a result as deep as JSON may be, which its view is one deeper than ----

{
	my $s = Paddock->new(templates => \%templates)->greeted;

	for my $more (0 .. 4) { # 64 levels is the most
		my %key = (mode => 'sync', idempotencyKey => "k$more");
		my $first = $s->run(deep => {more => $more}, %key);
		my $again = $s->run(deep => {more => $more}, %key);

		ok($again->{view}{deduplicated},
		   'a deep result is given again for the same key: ' . (60 + $more));
		is($again->{view}{status}, $first->{view}{status}, "a deep result of the same key has the same status: @{[60 + $more]}");
	}
	$s->stop;
}

# ---- async calls ----

{
	my $s = Paddock->new(templates => \%templates);
	my %key = (mode => 'async', idempotencyKey => 'twin');

	$s->init;
	$s->send_raw(run_of('a', 'doze', %key) . run_of('b', 'doze', %key));
	my ($a, $b) = map { $s->result($_) } 'a', 'b';
	is($b->{view}{mode}, 'async',
	   'the twin of an async call gets a handle too, at once');
	is($b->{view}{runId}, $a->{view}{runId}, 'to the same run');
	$s->tool(cancel_task_run => {runId => $a->{view}{runId}});
	is($s->ended($a->{view}{runId})->{status}, 'canceled', 'the run of both twins can be cancelled');

	# a fast store may answer with the handle first: try again then
	my ($call, $run);
	for (1 .. 50) {
		$call = "c$_";
		$s->send_raw(run_of($call, 'doze', mode => 'async') . cancel_of($call));
		$run = $s->tool(list_task_runs => {limit => 1})->{view}{runs}[0]{runId};
		last if !exists $s->{answers}{qq{"$call"}};
		$s->tool(cancel_task_run => {runId => $run});
		$s->ended($run);
	}
	is($s->ended($run)->{status}, 'canceled',
	   'a call that is cancelled before its handle was given takes its run along');
	ok(!exists $s->{answers}{qq{"$call"}}, 'the cancelled call is not answered');
	$s->stop;
}

# ---- batches ----

{
	my $s = Paddock->new(templates => \%templates);
	my @ping = map { {jsonrpc => '2.0', id => $_, method => 'ping'} } 1 .. 129;

	$s->init('2025-03-26');
	my $b = json_to($s->exchange(json_of(\@ping) . "\n"));
	is($b->{error}{code}, -32600, 'a batch of 129 messages is refused');
	like($b->{error}{message}, qr/at most 128/, 'the refusal of a batch says how many messages pass');
	$b = json_to($s->exchange(json_of([@ping[0 .. 127]]) . "\n"));
	is(scalar @$b, 128, '128 pass');

	# the store's answer comes back when batch and session are gone
	my $ask = call_of('held', get_task_run => {runId => 'run_x'});
	$s->send_raw('[' . $ask =~ s/\n//r . ',' . json_of($ping[0]) . "]\n" .
		     cancel_of('held'));
	$s->flush;
	$s->stop('a batch of which a call was cancelled, and then the client went');
}

# ---- a client that wrote its last word, but still reads ----

{
	my $d = Daemon->new(templates => \%templates);
	my $many = 250; # their answers are less than a server keeps for one who reads none

	$d->ready;
	my $c = $d->client->greeted;
	my $before = keys %{$c->{answers}};
	$c->{deaf} = 1;
	$c->request('tools/list', undef, "l$_") for 1 .. $many;
	$c->flush;
	shutdown $c->{to}, SHUT_WR;
	my $other = $d->client->greeted;
	ok($other->call('ping')->{result}, 'a client that does not read keeps nobody else waiting');
	$c->{deaf} = 0;
	$c->drained;
	is(keys(%{$c->{answers}}) - $before, $many, 'a client that closed the sending side gets the answers');
	$d->stop;
}

# ---- TSTP and CONT that come while it is busy: the last one counts ----

{
	my $d = Daemon->new(templates => \%templates);

	$d->ready;
	my $c = $d->client->greeted;
	for (1 .. 40) { # HUP keeps it busy for a moment
		kill $_ => $d->{pid} for qw(HUP TSTP CONT);
	}
	is($c->run_sync('quick')->{status}, 'succeeded', 'after CONT it starts runs');
	kill $_ => $d->{pid} for qw(CONT TSTP);
	until_true('it to be quiet', sub {
		return ($d->log_text =~ /quiet=(\w+)/g)[-1] eq 'yes' });
	my $id = $c->run_async('quick');
	is($c->get($id)->{status}, 'queued', 'after TSTP it starts none');
	$d->stop;
}

# ---- stop now, with runs that wait ----

{
	my $d = Daemon->new(templates => \%templates,
			    config => {max_concurrent_runs => 4});

	$d->ready;
	my $c = $d->client->greeted;
	my @ids = map { $c->run_async('doze') } 1 .. 12;
	$d->stop('QUIT ends it', 'QUIT');
	my $next = $d->again;
	my $n = $next->client->greeted;
	# with a common queue, the run has waited there
	$next->log_has(qr/recovered queued=8/) unless on_postgres();
	until_true('what ran to be known as interrupted', sub { 4 == grep { $n->get($_)->{status} eq 'failed' } @ids });
	is(scalar(grep { $n->get($_)->{status} =~ /queued|running/ } @ids), 8, 'queued runs are taken over by the next instance');
	$next->signal('QUIT');
	$next->wait_exit;
	$next->stop('the next instance ends without a trace');
}

# ---- the zygote and its workers ----

{
	my $s = Paddock->new(templates => \%templates)->greeted;

	for my $round (1 .. 5) {
		my @zygotes = $s->zygotes;

		# the next order may find the socket closed before the zygote is reaped
		kill KILL => @zygotes;
		my $v = $s->run_sync('quick');
		is($v->{status}, 'succeeded',
		   'a run that finds its zygote just killed waits for the next');
	}
	my $run = $s->run_async('crash');
	$s->saying($run, 'on');
	my $pid = $s->worker_pid($run);
	my ($old) = $s->zygotes;
	kill ABRT => $pid;
	is($s->ended($run)->{error}{errorCode}, 'WORKER_CRASHED', 'a crash is told');
	until_true('the zygote to be renewed', sub {
		my @z = $s->zygotes;
		return @z == 1 && $z[0] != $old;
	});
	is($s->run_sync('quick')->{status}, 'succeeded', 'another zygote serves after the crash');
	$s->stop;
}

done_testing();
