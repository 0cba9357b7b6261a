#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The life of a node: killed, stopped for longer than the lease, cut off from the database,
# and each time back by itself. The lease is 2 s.
use lib 'tests/lib';
use Needs;
BEGIN { needs('postgres') }
exec 'tests/tools/with-postgres', $^X, $0 unless $ENV{PADDOCK_TEST_POSTGRES};
use Time::Local qw(timegm);
require Paddock;
Paddock->import;
require Nodes;
Nodes->import;

my $build = $ENV{PADDOCK_BUILD} // 'build';
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

# Start a run of A which goes on; its id and worker.
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
	interrupted($b->ended($run), 'a run of a killed node is interrupted unasked');
	like($two->log_text, qr/recovered queued=0 interrupted=1/, 'a killed node\'s run is recovered by one node');
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
	is($b->get($run)->{status}, 'succeeded', 'another node sees the run succeed in spite of ended connections');
	my ($mine) = dozing($a);
	my ($theirs) = dozing($b);
	cut_off($_) for $one, $two;
	$_->log_has(qr/(lease=over)/) for $one, $two;
	link_up($_) for $one, $two;
	interrupted($a->ended($mine), 'when the database was away from all for longer, runs are interrupted');
	interrupted($b->ended($theirs), 'another node\'s run is interrupted by that node');
	serves($_, 'a node serves again after the database came back') for $a, $b;
	unlike($_->log_text, qr/taken_for_dead/, 'nobody was taken for dead') for $one, $two;
	$_->stop('both stop') for $one, $two;
}
# ---- no further connection ----
{
	my ($one, $a, $two, $b) = pair('full', lease_ms => 6000);
	my ($run) = dozing($a);
	my $listed = sub { my ($like) = @_; return (Postgres::postgres_sql(
		"SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = '$one->{backend}' AND query LIKE '$like'"))[0] };
	my $beats = sub { (Postgres::postgres_sql("SELECT heartbeat_ms FROM node WHERE node_name = '$one->{name}'", Postgres::postgres_url('full')))[0] };

	unlink "$one->{root}/.s.PGSQL.5432";
	until_true('the connection of the heartbeat to end', sub { $listed->('%paddock_beat%') > 0 });
	my $last = $beats->();
	until_true('heartbeats for longer than a lease', sub { $beats->() > $last + 8000 || $one->log_text =~ /lease=over/ });
	is($a->get($run)->{status}, 'running', 'a node whose heartbeat gets no connection keeps its runs');
	unlike($one->log_text, qr/lease=over/, 'heartbeats on the connection of the store keep the lease');
	is($a->run_sync(nap => {ms => 1, n => 5})->{result}, 5, 'a node whose heartbeat gets no connection runs new calls');
	link_up($one);
	$b->tool(cancel_task_run => {runId => $run});
	is($a->ended($run)->{status}, 'canceled', 'a node whose heartbeat gets no connection ends a run that another node cancels');
	$_->stop('both stop') for $one, $two;
}
# ---- who is there ----
{
	my ($one, $a, $two, $b) = pair('listed');
	my ($run) = dozing($a);
	my %row;

	until_true('the load to be told', sub {
		%row = map { $_->{name} => $_ } @{$b->call('paddock/nodes')->{result}{nodes}};
		$row{$one->{name}}{running} });
	is(scalar keys %row, 2, 'operators see all nodes, by name');
	is($row{$two->{name}}{running}, 0, 'what each runs');
	is($_->get($run)->{node}, $one->{name}, 'the view of a run names the node') for $a, $b;
	my $listed = sub { my ($s, %f) = @_; return {map { $_->{runId} => $_->{node} } @{$s->tool(list_task_runs => {%f})->{view}{runs}}} };
	my $done = $a->run_sync(nap => {ms => 1, n => 1})->{runId};
	for my $f ({}, {status => 'running'}, {templateId => 'doze'}) {
		is($listed->($_, %$f)->{$run}, $one->{name}, '  also in a list' . (%$f ? " by @{[keys %$f]}" : '')) for $a, $b;
	}
	is($listed->($b)->{$done}, $one->{name}, '  the list names the node of an ended run');
	my $ps = sub { return join '', `$build/paddock ps @_ --socket $two->{socket} 2>&1` };
	like($ps->(), qr/\ARUN .* NODE\s*\n\Q$run\E .* \Q$one->{name}\E\s*\n\z/, '  ps has a column for nodes');
	ok($row{$two->{name}}{self} && !$row{$one->{name}}{self}, 'operators see which node answers');
	if (as_root()) {
		chmod 0777, $two->{socket};
		chmod 0755, $two->{root};
		my $other = $two->client($Needs::ORDINARY)->greeted;

		like($other->call('paddock/nodes')->{error}{message}, qr/told to root/, 'nobody else does');
		my ($theirs) = $other->run_async('doze');
		is($other->get($theirs)->{node}, undef, '  other users do not see the node of a run');
		is($listed->($other)->{$theirs}, undef, '  a list shows other users no nodes');
		$other->tool(cancel_task_run => {runId => $theirs});
		$other->ended($theirs);
	}
	is_deeply([map { $row{$_->{name}}{draining} ? 1 : 0 } $one, $two], [0, 0], 'while both serve none is told to drain');
	$one->signal('TERM');
	my %is;
	until_true('the drain to be told', sub {
		%is = map { $_->{name} => $_->{draining} } @{$b->call('paddock/nodes')->{result}{nodes}};
		$is{$one->{name}} });
	ok($is{$one->{name}} && !$is{$two->{name}}, 'one that drains says so, and it alone');
	$b->tool(cancel_task_run => {runId => $run});
	is($b->ended($run)->{status}, 'canceled', '  a run of a draining node is cancelled from another');
	$_->stop('both nodes stop') for $one, $two;
}

# ---- clocks ----
SKIP: {
	my $box = Paddock::fresh_root();
	my $lib = "$box/clock.so";
	my $ahead = 90;

	skip('a library cannot be made', 1) if $SANITIZED || !compile('lib/clock.c', $lib, '-shared', '-fPIC');
	my @nodes = map { node('clocks', templates => \%templates,
			       $_ ? (env => {LD_PRELOAD => $lib, PADDOCK_CLOCK_AHEAD => $_}) : ()) } 0, $ahead, -$ahead;
	$_->ready for @nodes;
	my @c = map { $_->client->greeted } @nodes;

	my ($y, $mo, $d, $h, $m, $s) = $nodes[1]->log_text =~ /^ts=(\d+)-(\d+)-(\d+)T(\d+):(\d+):(\d+)/;
	cmp_ok(timegm($s, $m, $h, $d, $mo - 1, $y) - time, '>', 60, "a node's clock is ahead of the others'");
	my @runs = map { (dozing($_))[0] } @c;
	for my $n (0 .. 2) {
		my $at = $c[($n + 1) % 3];
		is($at->saying($runs[$n], 'dozing')->{message}, 'dozing', "node $n shows its run to the next, by whoever's clock");
		my $v = $at->get($runs[$n]);
		cmp_ok(abs($v->{createdAt} / 1000 - time), '<', 60, '  made when it was');
	}
	my $since = sub { return $c[0]->tool(list_task_runs => {status => 'running', since => int(1000 * (time + $_[0]))})->{view}{total} };
	is($since->(-60) - $since->(30), 3, 'ids of runs are of the right time');
	for my $n (0 .. 2) {
		my $at = $c[($n + 2) % 3];
		$at->tool(cancel_task_run => {runId => $runs[$n]});
		is($at->ended($runs[$n])->{status}, 'canceled', "node $n ends its run for another");
	}
	unlike($_->log_text, qr/taken_for_dead|lease=over|interrupted=[1-9]/, 'nobody was taken for dead') for @nodes;
	$_->stop('all three nodes stop') for @nodes;
}
done_testing();
