#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# "retry" in a manifest: a run whose worker crashed, or whose server died, is tried again,
# and the record has each attempt. The test kills workers and servers, and so knows the
# number of attempts. Over stdio, and as a daemon asked to end.
use lib 'tests/lib';
use Paddock;
use Daemon;

my $build = $ENV{PADDOCK_BUILD} // 'build';
my %again = (annotations => {idempotentHint => true}, limits => {maxTimeoutMs => 600_000});
sub tried { my ($code, %retry) = @_; return lua($code, %again, retry => {attempts => 3, backoffMs => 1, %retry}) }

my $doze = 'run.log("info", "begun") run.artifact{name = "a", mimeType = "text/plain", data = inputs.text or "x"} ' .
    'run.step("first", function() end) run.progress(1, 2, "dozing") while true do run.sleep(60000) end';
my %templates = (
	doze => tried($doze),
	once => lua($doze, %again),
	roomy => lua($doze, %again, retry => {attempts => 3, backoffMs => 1}, limits => {maxTimeoutMs => 600_000, maxArtifactBytes => 1000}),
	crashed => tried($doze, on => ['crashed']),
	interrupted => tried($doze, on => ['interrupted']),
	late => tried($doze, backoffMs => 60_000),
	asks => tried('run.elicit{key = "k", message = "Who?", schema = {type = "object", properties = {name = {type = "string"}}}} return 1'),
	fails => tried('run.error("NO_LUCK", "bad day")'),
	secret => lua($doze, %again, retry => {attempts => 3, backoffMs => 1},
		inputsSchema => {type => 'object', properties => {word => {type => 'string', writeOnly => true}, text => {type => 'string'}}}),
);

sub attempts { return @{$_[0]{attempts} // []} }
# The present worker of RUN, which dozes.
sub worker_of { my ($s, $run) = @_; return ($s->log_text =~ /run=\Q$run\E pid=(\d+)/g)[-1] }
# Wait until RUN dozes in attempt N.
sub dozing {
	my ($s, $run, $n) = @_;

	return $s->get_until($run, "to doze for the ${n}th time", sub {
		attempts($_) == $n - 1 && ($_->{message} // '') eq 'dozing' || $_->{status} eq 'failed' });
}
sub crash { my ($s, $run, $n) = @_; dozing($s, $run, $n); kill SEGV => worker_of($s, $run) }
sub error_of { return $_[0]{error}{errorCode} // '' }

# ---- a worker that crashes ----

{
	my $s = Paddock->new(templates => \%templates)->greeted;
	my $run = $s->run_async(doze => {text => 'abc'});

	crash($s, $run, 1);
	my $v = dozing($s, $run, 2);
	my ($first) = attempts($v);
	is($v->{status}, 'running', 'a run whose worker crashed runs again, under its id');
	is($first->{attempt}, 1, 'the record of a retried run has the first attempt');
	is($first->{errorCode}, 'WORKER_CRASHED', 'the record of an attempt has the error code');
	is($first->{details}{signal}, 'SIGSEGV', 'the record of an attempt has the signal');
	ok($first->{startedAt} >= $v->{createdAt} && $first->{endedAt} >= $first->{startedAt}, 'the record of an attempt has the times');
	cmp_ok($first->{maxRssBytes} // 0, '>', 0, 'the record of an attempt has the memory used');
	is(scalar @{$v->{steps}}, 1, 'the steps of a retried run are those of the present attempt');
	my $roomy = $s->run_async(roomy => {text => 'x' x 600});
	crash($s, $roomy, 1);
	is(dozing($s, $roomy, 2)->{status}, 'running', 'each attempt may keep as much as the first could');
	$s->tool(cancel_task_run => {runId => $roomy});
	crash($s, $run, 2);
	crash($s, $run, 3);
	$v = $s->ended($run);
	is($v->{status}, 'failed', 'after as many as the manifest has it fails');
	is(error_of($v), 'WORKER_CRASHED', 'a run that failed in each attempt has the last error');
	same_json([map { $_->{attempt} } attempts($v)], [1, 2], 'the record of a failed run has the attempts before');
	is(scalar @{$v->{artifacts}}, 1, 'the artifacts of a retried run are those of the last attempt');
	is($v->{artifacts}[0]{size}, 3, 'the last attempt has the inputs of the first');
	same_json($s->get($run), $v, 'what is stored is what was told');
	same_json([map { $_ + 0 } $s->run_log($run) =~ /notice attempt (\d) of 3 ended/g], [1, 2], 'the log of a retried run says where an attempt ended');

	$run = $s->run_async('doze');
	crash($s, $run, 1);
	dozing($s, $run, 2);
	$s->tool(cancel_task_run => {runId => $run});
	$v = $s->ended($run);
	is($v->{status}, 'canceled', 'the second attempt is cancelled as any run');
	is(scalar attempts($v), 1, 'a run cancelled in the second attempt is not tried again');

	$run = $s->run_async('late');
	crash($s, $run, 1);
	$v = $s->get_until($run, 'to rest', sub { attempts($_) == 1 });
	is($v->{status}, 'queued', 'a run waits in the queue until the backoff is over');
	like($v->{message}, qr/attempt 1 of 3 ended \(WORKER_CRASHED\), and it is tried again/, 'the message of a waiting run says why');
	$s->tool(cancel_task_run => {runId => $run});
	is($s->ended($run)->{status}, 'canceled', 'a run that waits for the next attempt can be cancelled');

	$run = $s->run_async(late => {}, timeoutMs => 30_000);
	crash($s, $run, 1);
	$v = $s->ended($run);
	is(error_of($v), 'WORKER_CRASHED', 'one that has no time left after the backoff is not tried again');

	for ([once => 'one whose manifest has no retry'], [interrupted => 'one that is tried again after an interruption alone']) {
		$run = $s->run_async($_->[0]);
		crash($s, $run, 1);
		$v = $s->ended($run);
		ok(error_of($v) eq 'WORKER_CRASHED' && !attempts($v), "$_->[1] fails at once");
	}
	$v = $s->run_sync('fails');
	ok(error_of($v) eq 'EXECUTION_ERROR' && !attempts($v), 'an error of the template is no crash');

	# a waiting call goes on waiting
	my %known = map { $_->{runId} => 1 } @{$s->tool('list_task_runs')->{view}{runs}};
	my $id = $s->ask_run(doze => {}, mode => 'sync');
	my $on;
	until_true('the run of the call', sub {
		($on) = grep { !$known{$_} } $s->log_text =~ /run=(run_\w+) template=doze /g });
	crash($s, $on, $_) for 1 .. 3;
	is(error_of($s->result($id)->{view}), 'WORKER_CRASHED', 'a call that waits is answered with the last attempt');

	# secrets are in no row, but in memory
	$run = $s->run_async(secret => {word => 'sesame', text => 'abc'});
	crash($s, $run, 1);
	is(dozing($s, $run, 2)->{status}, 'running', 'one with a secret is tried again by the same server');
	$s->kill9;
	strays_gone();
	my $t = Paddock->new(root => $s->{root})->greeted;
	is(error_of($t->ended($run)), 'RUN_INTERRUPTED', 'a run with a secret is not tried again by the next server');
	$t->stop;
}

# ---- those that rest before their next attempt wait, and count as such ----

{
	my $s = Paddock->new(templates => \%templates, config => "[limits]\nmax_queued_runs = 2\n")->greeted;
	my @late = map { $s->run_async('late') } 1 .. 2;
	my $r;

	crash($s, $_, 1) for @late;
	$s->get_until($_, 'to rest', sub { attempts($_) == 1 }) for @late;
	same_json($s->tool('get_runtime_profile')->{view}{usage}{queued}, 2, 'what rests is told as waiting');
	$r = $s->run('late', {}, mode => 'async');
	refused($r, 'QUEUE_FULL', 'a run above max_queued_runs is refused while others rest');
	is($r->{view}{details}{limit} // '', 'max_queued_runs', 'the refusal names max_queued_runs');
	$s->tool(cancel_task_run => {runId => $_}) for @late;
	is($s->ended($_)->{status}, 'canceled', 'one that is cancelled') for @late;
	same_json($s->tool('get_runtime_profile')->{view}{usage}{queued}, 0, 'a cancelled resting run leaves the queue');
	$s->stop;
}

# ---- a server that dies ----

{
	my $s = Paddock->new(templates => \%templates)->greeted;
	my %run = map { $_ => $s->run_async($_ => {text => 'abc'}) } qw(doze once crashed interrupted);
	my $stopped = $s->run_async('doze');
	my ($t, $v);

	dozing($s, $_, 1) for values %run, $stopped;
	$s->kill9;
	strays_gone();
	$t = Paddock->new(root => $s->{root})->greeted;
	for (qw(doze interrupted)) {
		$v = dozing($t, $run{$_}, 2);
		is($v->{status}, 'running', "$_: a run of a server that died is tried again by the next");
		is((attempts($v))[0]{errorCode}, 'RUN_INTERRUPTED', "$_: its record has the attempt");
		cmp_ok((attempts($v))[0]{startedAt} // 0, '>=', $v->{createdAt}, "$_: ... since when");
	}
	for (qw(once crashed)) {
		$v = $t->ended($run{$_});
		ok(error_of($v) eq 'RUN_INTERRUPTED' && !attempts($v), "$_: is not tried again");
	}
	crash($t, $run{doze}, 2);
	$v = dozing($t, $run{doze}, 3);
	same_json([map { $_->{errorCode} } attempts($v)], [qw(RUN_INTERRUPTED WORKER_CRASHED)],
		  'both count: its last attempt goes on');
	$t->tool(cancel_task_run => {runId => $stopped});
	$t->ended($stopped);
	$t->kill9;
	strays_gone();
	$t = Paddock->new(root => $s->{root})->greeted;
	$v = $t->ended($run{doze});
	is(error_of($v), 'RUN_INTERRUPTED', 'a run that is interrupted in its last attempt fails');
	same_json([map { $_->{attempt} } attempts($v)], [1, 2], 'the record of an interrupted run has the attempts before');
	is($t->get($stopped)->{status}, 'canceled', 'what was cancelled is not tried again');
	$t->tool(cancel_task_run => {runId => $run{interrupted}});
	is($t->ended($run{interrupted})->{status}, 'canceled', 'the other can be cancelled');
	$t->stop;
}

# ---- a daemon that is asked to end ----

{
	my $d = Daemon->new(templates => \%templates, config => {drain_timeout_ms => 1});
	my $c = $d->client->greeted;
	my %run = map { $_ => $c->run_async($_ => {text => 'abc'}) } qw(doze crashed late);
	my ($next, $v);

	$c->get_until($run{$_}, 'to doze', sub { ($_->{message} // '') eq 'dozing' }) for keys %run;
	kill SEGV => worker_of($d, $run{late});
	$c->get_until($run{late}, 'to rest', sub { attempts($_) == 1 });
	$d->stop;
	$next = $d->again;
	$c = $next->client->greeted;
	$v = $c->get_until($run{doze}, 'to doze again', sub { attempts($_) == 1 && ($_->{message} // '') eq 'dozing' });
	is((attempts($v))[0]{errorCode}, 'RUN_INTERRUPTED', 'a daemon that ends leaves what it ran to the next');
	$v = $c->ended($run{crashed});
	is(error_of($v), 'RUN_INTERRUPTED', 'a run to be retried after crashes alone is interrupted by the daemon\'s end');
	$v = $c->get_until($run{late}, 'to doze again', sub { ($_->{message} // '') eq 'dozing' });
	is((attempts($v))[0]{errorCode}, 'WORKER_CRASHED', 'what rested is there as well');
	like(join('', `$build/paddock explain $run{late} --socket $next->{socket}`), qr/Attempt 1 ended with WORKER_CRASHED, so it was tried again/,
	     'explain tells of the attempt');
	$c->tool(cancel_task_run => {runId => $run{$_}}) for qw(doze late);
	$c->ended($run{$_}) for qw(doze late);
	$next->stop;
}

# ---- a requestor whose section is removed ----

{
	my $me = "[requestor \"me\"]\nuid = $>\n";
	my $d = Daemon->new(templates => \%templates, config => $me);
	my $c = $d->client->greeted;
	my %run = map { $_ => $c->run_async($_ => {text => 'abc'}) } qw(doze late);
	my $ends = sub { my ($name) = @_; $d->log_has(qr/run=\Q$run{$name}\E \S+ requestor=me status=failed code=WORKER_CRASHED/) };

	$c->get_until($run{$_}, 'to doze', sub { ($_->{message} // '') eq 'dozing' }) for keys %run;
	kill SEGV => worker_of($d, $run{late});
	$c->get_until($run{late}, 'to rest', sub { attempts($_) == 1 });
	$d->put_config('');
	is($d->reload, 'done', 'a reload takes a requestor away');
	kill SEGV => worker_of($d, $run{doze});
	ok($ends->('doze'), 'a run of its that crashes is not tried again');
	ok($ends->('late'), 'a waiting attempt of a removed requestor\'s run is not made');
	$d->put_config($me);
	is($d->reload, 'done', 'when it is there again');
	$c = $d->client->greeted;
	is(error_of($c->get($run{$_})), 'WORKER_CRASHED', "  $_: it is told how that ended") for qw(doze late);

	my $late = $c->run_async(late => {text => 'abc'});
	$c->get_until($late, 'to doze', sub { ($_->{message} // '') eq 'dozing' });
	$d->kill9;
	strays_gone();
	$d = $d->again;
	$c = $d->client->greeted;
	$c->get_until($late, 'to rest', sub { attempts($_) == 1 });
	$d->put_config('');
	$d->reload;
	$d->log_has(qr/run=\Q$late\E \S+ requestor=me (status=failed)/);
	$d->put_config($me);
	$d->reload;
	is(error_of($d->client->greeted->get($late)), 'RUN_INTERRUPTED', 'one that rested since its server died is told that');
	$d->stop;
}

# ---- what a manifest may not say ----

for (['without the hint', {attempts => 3}, {}, qr/idempotentHint/],
     ['one attempt', {attempts => 1}, \%again, qr{/retry/attempts}],
     ['eleven', {attempts => 11}, \%again, qr{/retry/attempts}],
     ['after anything', {attempts => 2, on => ['failed']}, \%again, qr{/retry/on/0}],
     ['after nothing', {attempts => 2, on => []}, \%again, qr{/retry/on}]) {
	my ($what, $retry, $with, $re) = @$_;
	my $s = Paddock->new(templates => {bad => lua('return 1', %$with, retry => $retry)})->greeted;

	like($s->log_text, $re, "$what: the log says what is wrong");
	is(scalar(grep { $_->{templateId} eq 'bad' } @{$s->tool('list_task_templates')->{view}{templates} // []}), 0, "$what: it is no template");
	$s->stop;
}
done_testing();
