#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The life of a node: killed, stopped for longer than its lease, cut off from the
# database, and each time back without a hand. The lease is 2 s here.
use lib 'tests/lib';
use Needs;
BEGIN { needs('postgres') }
exec 'tests/tools/with-postgres', $^X, $0 unless $ENV{PADDOCK_TEST_POSTGRES};
require Paddock;
Paddock->import;
require Nodes;
Nodes->import;

my %templates = (
    nap => lua('run.sleep(inputs.ms) return inputs.n'),
    doze => lua('run.progress(0, 1, "dozing") while true do run.sleep(60000) end',
		limits => {maxTimeoutMs => 600000}),
);

sub interrupted {
	my ($v, $name) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return is("$v->{status} " . ($v->{error}{errorCode} // ''), 'failed RUN_INTERRUPTED', $name);
}

# Two nodes, and a client of each.
sub pair {
	my ($schema, @o) = @_;
	my @nodes = map { node($schema, templates => \%templates, @o) } 1, 2;

	$_->ready for @nodes;
	return map { ($_, $_->client->greeted) } @nodes;
}

# A run of A's that goes on; its id and worker.
sub dozing {
	my ($a) = @_;
	my $run = $a->run_async('doze');

	$a->saying($run, 'dozing');
	return ($run, $a->worker_pid($run));
}

sub serves {
	my ($a, $name) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $said;
	until_true('a run', sub { $said = $a->run_sync(nap => {ms => 1, n => 7}); ($said->{status} // '') eq 'succeeded' });
	return is($said->{result}, 7, $name);
}

# ---- kill -9 ----
{
	my ($one, $a, $two, $b) = pair('killed');
	my ($run) = dozing($a);
	my ($own) = dozing($b);

	is($b->get($run)->{status}, 'running', 'a run of another node is seen');
	$one->kill9;
	interrupted($b->ended($run), 'that of one that was killed is interrupted, unasked');
	like($two->log_text, qr/recovered queued=0 interrupted=1/, 'once');
	is($b->get($own)->{status}, 'running', "the survivor's goes on");
	$b->tool(cancel_task_run => {runId => $own});
	strays_gone();
	$two->stop('the survivor stops');
}

# ---- stopped, and cut off ----
for my $how ('stopped', 'cut off') {
	my ($one, $a, $two, $b) = pair($how eq 'stopped' ? 'stopped' : 'cutoff');
	my ($run, $worker) = dozing($a);

	if ($how eq 'stopped') {
		kill STOP => $one->{pid};
	} else {
		cut_off($one);
		like($one->log_has(qr/(lease=over interrupted=\d+)/), qr/=1\z/, "$how: a node ends what it runs by itself");
		unlike($two->log_text, qr/interrupted=1/, "$how: before another says so");
		ok(until_true('the worker to go', sub { !alive($worker) }), "$how: its worker is gone");
		my $r = $a->run(nap => {ms => 1, n => 1});
		refused($r, 'STORE_UNAVAILABLE', "$how: and nothing new is begun");
		ok($r->{view}{details}{retryAfterMs}, "$how: with when to try again");
	}
	interrupted($b->ended($run), "$how: for the others its run is interrupted");
	kill CONT => $one->{pid} if $how eq 'stopped';
	link_up($one) if $how ne 'stopped';
	$one->log_has(qr/(taken_for_dead=yes)/);
	$one->log_has(qr/instance=(inst_\w+) after=/);
	ok(until_true('the worker to go', sub { !alive($worker) }), "$how: its worker is gone when it is back");
	serves($a, "$how: it serves again, without a hand");
	interrupted($a->get($run), "$how: and says the same of the run");
	my $later = $a->run_async('nap', {ms => 1, n => 3});
	is($b->ended($later)->{result}, 3, "$how: what it runs then is seen by others");
	$_->stop("$how: all stop") for $one, $two;
}

# ---- what is no death ----
{
	my ($one, $a, $two, $b) = pair('alive');
	my $run = $a->run_async('nap', {ms => 1500, n => 1});

	end_backends('alive');
	is($a->ended($run)->{status}, 'succeeded', 'connections that were ended cost no run');
	is($b->get($run)->{status}, 'succeeded', 'as others see, too');
	my ($mine) = dozing($a);
	my ($theirs) = dozing($b);
	cut_off($_) for $one, $two;
	$_->log_has(qr/(lease=over)/) for $one, $two;
	link_up($_) for $one, $two;
	interrupted($a->ended($mine), 'when the database was away from all for longer, runs are interrupted');
	interrupted($b->ended($theirs), 'by each node its own');
	serves($_, 'and each serves again') for $a, $b;
	unlike($_->log_text, qr/taken_for_dead/, 'nobody was taken for dead') for $one, $two;
	$_->stop('both stop') for $one, $two;
}
done_testing();
