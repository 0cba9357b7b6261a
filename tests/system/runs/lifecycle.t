#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The life of runs: notifications, ends, and effects on other runs.
use lib 'tests/lib';
use Paddock;

my @patient = (limits => {cancelGraceMs => 60000, maxTimeoutMs => 600000});
my @impatient = (limits => {cancelGraceMs => 50, maxTimeoutMs => 600000});
my %templates = (
    echo => lua('return inputs'),
    doze => lua('run.progress(0, 1, "dozing") while true do run.sleep(60000) end',
		@patient),
    spin => lua('run.progress(0, 1, "spinning") while true do end', @impatient),
    deaf => lua(<<'LUA', @impatient),
run.map({1, 2, 3}, {concurrency = 1, step = "s"}, function()
  run.progress(0, 1, "deaf")
  while true do pcall(function() while true do end end) end
end)
LUA
    polite => lua(<<'LUA', @patient),
run.artifact{name = "early", mimeType = "text/plain", data = "kept"}
run.map({1, 2, 3}, {concurrency = 1, step = "s"}, function(i)
  run.progress(i - 1, 3, "at " .. i)
  while not run.cancelled() do run.sleep(60000) end
  run.progress(i, 3, "finished " .. i)
end)
return "never"
LUA
    ladder => lua(<<'LUA'),
for i = 1, inputs.n do
  run.progress(i, inputs.n, "rung " .. i)
  if i % 10 == 0 then run.sleep(25) end
end
return inputs.n
LUA
    stepwise => lua(<<'LUA'),
for i = 1, 4 do run.step("s" .. i, function() run.sleep(25) end) end
LUA
    score => lua(<<'LUA', supportsPartialSuccess => true,
run.map(inputs.score, {step = "s"}, function(v) if v == 0 then error("zero") end end)
return "scored"
LUA
		 partialSuccessThreshold => 0.6),
    strict_score => lua(<<'LUA'),
run.map(inputs.score, {step = "s"}, function(v) if v == 0 then error("zero") end end)
return "scored"
LUA
    raises => lua(<<'LUA', supportsPartialSuccess => true,
run.map({1, 1, 1}, {step = "s"}, function() end)
error("after all")
LUA
		  partialSuccessThreshold => 0),
    hog => lua(<<'LUA', limits => {maxMemoryBytes => 8 << 20}),
local t = {} for i = 1, 1 << 30 do t[i] = {i} end
LUA
    gulp => lua('return #string.rep("x", 1 << 28)',
		limits => {maxMemoryBytes => 8 << 20}),
    burn => lua('while true do pcall(function() while true do end end) end',
		limits => {maxCpuMs => 80}),
    big => lua('return string.rep("x", inputs.n)',
	       limits => {maxOutputBytes => 6_000_000}),
    nap => lua('run.sleep(inputs.ms) return inputs.n'),
    secret => lua(<<'LUA', inputsSchema => {
run.progress(0, 1, "dozing")
if inputs.password:sub(8) ~= "-swordfish" then run.error("WRONG", "no") end
while inputs.stay do run.sleep(60000) end
return #inputs.password
LUA
	type => 'object', properties => {
	    password => {type => 'string', writeOnly => true, minLength => 8},
	    stay => {type => 'boolean'}}}),
);

sub server { return Paddock->new(templates => \%templates, @_) }

sub step_states { return [map { $_->{status} } @{$_[0]{steps} // []}] }

sub crashed {
	my ($view, $code, $name) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return ok(($view->{status} // '') eq 'failed' &&
		  $view->{error}{errorCode} eq $code, $name) ||
	    diag(json_of($view));
}

# ---- from steps to a status ----

{
	my $s = server(config => {max_concurrent_runs => 5})->greeted;

	for ([[1, 1], 'succeeded'], [[], 'succeeded'], [[1, 1, 1, 0], 'partial_success'],
	     [[1, 1, 1, 0, 0], 'partial_success'], [[1, 0], 'failed'],
	     [[0, 0, 0], 'failed']) {
		my $v = $s->run_sync(score => {score => $_->[0]});
		my $name = "[@{$_->[0]}] by 0.6";

		is($v->{status}, $_->[1], "$name: $_->[1]");
		is($v->{error}{errorCode}, 'STEP_EXECUTION_FAILED',
		   "$name: as its error says") if $_->[1] eq 'failed';
		is($v->{result}, 'scored', "$name: the result stands");
		same_json(step_states($v),
			  [map { $_ ? 'succeeded' : 'failed' } @{$_->[0]}],
			  "$name: its steps");
	}
	is($s->run_sync(strict_score => {score => [1, 1, 1, 1, 0]})->{status},
	   'failed', 'without supportsPartialSuccess one step is too many');
	my $v = $s->run_sync('raises');
	crashed($v, 'EXECUTION_ERROR', 'an uncaught error is failed, whatever the steps');
	is($v->{progress}{doneSteps}, 3, 'the steps of a run that raised stay readable');

	# ---- limits ----

	$v = $s->run_sync('hog');
	crashed($v, 'RESOURCE_LIMIT', 'memory, bit by bit');
	is($v->{error}{details}{limit}, 'memory', 'the failure names the limit memory');
	ok($v->{error}{details}{allowed} == 8 << 20 &&
	   $v->{error}{details}{unit} eq 'bytes' &&
	   length $v->{error}{details}{whoCanRaise}, 'how much, and who can raise it');
	crashed($s->run_sync('gulp'), 'RESOURCE_LIMIT', 'memory, in one gulp');
	$v = $s->run_sync('burn');
	crashed($v, 'RESOURCE_LIMIT', 'CPU time, whatever is caught');
	is($v->{error}{details}{limit}, 'cpu', 'the failure names the limit cpu');
	is($v->{error}{details}{allowed}, 80, 'how much');
	crashed($s->run_sync('spin', {}, timeoutMs => 50), 'RUN_TIMEOUT',
		'a loop without end is timed out');
	$v = $s->run_sync('deaf', {}, timeoutMs => 50);
	crashed($v, 'RUN_TIMEOUT', 'nobody can catch that');
	same_json(step_states($v), [qw(failed skipped skipped)],
		  'the step under way failed, the others are skipped');
	$v = $s->run_sync(big => {n => 5_000_000});
	is(length $v->{result}, 5_000_000, 'a result of 5 MB comes whole');
	$v = $s->run_sync(big => {n => 6_000_001});
	crashed($v, 'RESOURCE_LIMIT', 'one over maxOutputBytes does not');
	is($v->{error}{details}{limit}, 'output_bytes', 'the failure names the limit output_bytes');
	$s->stop;
}

# ---- progress ----

for my $revision ('2024-11-05', '2025-11-25') {
	my $s = server();
	my $said = $revision gt '2025';

	$s->init($revision);
	for my $token ('a token', 17, 0, "\x{4e2d}") {
		my $shown = json_of($token);
		my $r = $s->tool('ladder', {n => 100}, {progressToken => $token});
		my @notes = $s->progress_of($token);
		my @done = map { $_->{params}{progress} } @notes;

		cmp_ok(scalar @done, '>', 2, "$revision, token $shown: progress is told");
		is(scalar(grep { $done[$_] <= $done[$_ - 1] } 1 .. $#done), 0,
		   "$revision, $shown: it only increases");
		is($done[-1], 100, "$revision, $shown: up to the end");
		ok($notes[-1]{order} < $r->{order},
		   "$revision, $shown: nothing after the answer");
		ok(!(grep { $_->{params}{total} != 100 } @notes),
		   "$revision, $shown: total");
		ok(!(grep { $said ? $_->{params}{message} ne
				    "rung $_->{params}{progress}"
				  : exists $_->{params}{message} } @notes),
		   "$revision, $shown: a message, where there are any");
	}
	is(scalar @{$s->{notes}}, 0, "$revision: no other notifications");
	$s->tool('ladder', {n => 30});
	is(scalar @{$s->{notes}}, 0, "$revision: none without a token");
	for my $bad (undef, 1.5, {}, [], true) {
		is($s->tool('ladder', {n => 3}, {progressToken => $bad})
		   ->{content}[0]{text}, '3', "$revision: a bad token is ignored");
	}
	is(scalar @{$s->{notes}}, 0, "$revision: and told nothing");
	$s->stop;
}
{
	my $s = server()->greeted;
	my $v;
	my @ids = map { $s->ask('ladder', {n => 100}, {progressToken => "t$_"}) } 1 .. 4;
	$s->result($_) for @ids;
	is(scalar(grep { my @d = map { $_->{params}{progress} }
			     $s->progress_of("t$_");
			 $d[-1] == 100 } 1 .. 4), 4,
	   'calls side by side have tokens of their own');
	$v = $s->run_sync('stepwise', {}, meta => {progressToken => 's'});
	my @notes = $s->progress_of('s');
	is($notes[-1]{params}{progress}, 4, 'without run.progress, steps count');
	is($notes[-1]{params}{total}, 4, 'the total is the number of declared steps');
	$s->stop;
}

# ---- cancelling ----

{
	my $s = server(config => {max_concurrent_runs => 2})->greeted;
	my ($run, $v, $id);

	$run = $s->run_async('polite');
	$s->saying($run, 'at 1');
	$s->tool(cancel_task_run => {runId => $run});
	$v = $s->ended($run);
	is($v->{status}, 'canceled', 'a template that listens is cancelled');
	same_json(step_states($v), [qw(succeeded skipped skipped)],
		  'the step under way has ended by itself, the others are skipped');
	is($v->{message}, 'finished 1', 'what it said last');
	is($v->{result}, 'never', 'what it returns all the same stays readable');
	is($s->tool(get_artifact => {artifactId => $v->{artifacts}[0]{artifactId}})
	   ->{view}{size}, 4, 'what was produced stays readable');
	is($v->{error}{errorCode}, 'RUN_CANCELED', 'the error of a cancelled run is RUN_CANCELED');

	for my $name ('spin', 'deaf') {
		$run = $s->run_async($name);
		$s->saying($run, $name eq 'spin' ? 'spinning' : 'deaf');
		$s->tool(cancel_task_run => {runId => $run});
		$v = $s->get($run);
		ok($v->{cancelRequested} || $v->{status} eq 'canceled',
		   "$name: cancelRequested shows");
		$v = $s->ended($run);
		is($v->{status}, 'canceled', "$name: the grace ends, and so it is cancelled");
	}
	same_json(step_states($v), [qw(failed skipped skipped)],
		  'a step that was killed has failed');

	$id = $s->ask_run('doze', {}, mode => 'sync', meta => {progressToken => 1});
	$s->wait_for('it to doze', sub { @{$s->{notes}} });
	$s->notify('notifications/cancelled', {requestId => $id, reason => "bored\nyes"});
	($run) = map { $_->{runId} }
	    @{$s->tool('list_task_runs')->{view}{runs}};
	is($s->ended($run)->{status}, 'canceled', 'notifications/cancelled cancels the run');
	ok(!exists $s->{answers}{$id}, 'a call cancelled by notification has no answer');
	like($s->log_text, qr/cancelled=yes reason="bored/, 'the log says why');
	unlike($s->log_text, qr/^yes/m, 'in one line');
	$id = $s->ask('echo', {});
	$s->result($id);
	$s->notify('notifications/cancelled', {requestId => $id});
	same_json($s->call('ping')->{result}, {}, 'a late notifications/cancelled does no harm');

	my @ids = map { $s->ask_run('doze', {}, mode => 'sync') } 1 .. 4;
	$s->notify('notifications/cancelled', {requestId => $_}) for reverse @ids;
	until_true('all to end', sub {
		$s->tool('list_task_runs', {status => 'canceled'})->{view}{total} == 8;
	});
	is($s->tool('list_task_runs', {status => 'canceled'})->{view}{total}, 8,
	   'queued runs are canceled');
	is(scalar(grep { exists $s->{answers}{$_} } @ids), 0, 'without answers');
	$s->stop;
}

# ---- the queue ----

{
	my $s = server(config => {max_concurrent_runs => 1, max_queued_runs => 20})->greeted;
	my $first = $s->run_async('doze');
	my @runs = map { $s->run_async(echo => {n => $_}) } 1 .. 20;
	refused($s->run('echo'), 'QUEUE_FULL', 'the queue has an end');
	is($s->tool('list_task_runs', {status => 'queued', limit => 1})->{view}{total},
	   20, 'as many runs wait as max_queued_runs');
	$s->tool(cancel_task_run => {runId => $first});
	is(scalar(grep { $s->ended($_)->{status} eq 'succeeded' } @runs), 20,
	   'all get their turn');
	same_json([$s->log_text =~ /run=(run_\w+) event=start /g], [$first, @runs],
		  'in the order of their coming');
	my ($queued) = map { $_->{metrics}{queuedMs} } $s->get($runs[-1]);
	cmp_ok($queued, '>=', 0, 'queuedMs is measured');
	$s->stop;
}

# ---- workers that die ----

{
	# with signals ignored as by a shell for background jobs
	local @SIG{qw(HUP INT QUIT)} = ('IGNORE') x 3;
	my $s = server(config => {max_concurrent_runs => 6})->greeted;
	my $sibling;

	$sibling = $s->run_async('doze');
	$s->saying($sibling, 'dozing');
	my $witness = $s->worker_pid($sibling);
	for my $sig (qw(KILL SEGV ABRT BUS FPE ILL HUP INT QUIT USR1 TERM)) {
		my $run = $s->run_async('doze');
		my $pid = $s->worker_pid($run);

		$s->saying($run, 'dozing');
		kill $sig => $pid;
		my $v = $s->ended($run);
		crashed($v, 'WORKER_CRASHED', "a worker that gets SIG$sig");
		is($v->{error}{details}{signal}, "SIG$sig", "SIG$sig: by that signal");
		ok(!alive($pid), "SIG$sig: it is gone");
	}
	my $run = $s->run_async('doze', {}, timeoutMs => 300);
	my $pid = $s->worker_pid($run);
	kill STOP => $pid;
	crashed($s->ended($run), 'RUN_TIMEOUT', 'one that is stopped is timed out');
	$run = $s->run_async('spin');
	$s->saying($run, 'spinning');
	kill STOP => $s->worker_pid($run);
	$s->tool(cancel_task_run => {runId => $run});
	is($s->ended($run)->{status}, 'canceled', 'a stopped worker\'s run is cancelled');
	is($s->get($sibling)->{status}, 'running', 'the neighbour of a stopped worker still runs');
	ok(alive($witness), 'in the same process');
	is($s->run_sync(echo => {a => 1})->{result}{a}, 1, 'new runs succeed beside a stopped worker');
	$s->tool(cancel_task_run => {runId => $sibling});
	is($s->ended($sibling)->{status}, 'canceled', 'the neighbour ends as it is told');
	until_true('one zygote', sub { $s->zygotes == 1 });
	is(scalar $s->zygotes, 1, 'there is one zygote after all');
	$s->stop;
}

# ---- zygotes that die ----

{
	my $s = server(config => {max_concurrent_runs => 8})->greeted;
	my (@runs, %seen);

	# a server whose first zygotes all die has no cage, and ends
	$s->run_sync(nap => {ms => 1, n => 1});
	for my $round (1 .. 5) {
		push @runs, map { $s->ask_run(nap => {ms => 5, n => $_}, mode => 'sync') }
		    1 .. 20;
		my ($zygote) = $s->zygotes;
		kill KILL => $zygote if $zygote;
		until_true('another zygote', sub {
			grep { $_ != ($zygote // 0) } $s->zygotes });
	}
	for (@runs) {
		my $v = $s->result($_)->{view};

		$seen{$v->{status} eq 'failed' ? $v->{error}{errorCode} : $v->{status}}++;
	}
	is(($seen{succeeded} // 0) + ($seen{WORKER_CRASHED} // 0), 100,
	   '100 runs while zygotes die: each ends, well or cleanly')
	    || diag(json_of(\%seen));
	cmp_ok($seen{succeeded}, '>', 50, 'most of them well') || diag(json_of(\%seen));
	is($s->run_sync(nap => {ms => 1, n => 7})->{result}, 7, 'the next one does, too');
	ok(until_true('no zombie', sub {
		!grep { (Paddock::stat_of($_)->{state} // '') eq 'Z' }
		    children_of($s->{pid}) }), 'there are no zombies');
	$s->stop;
}

# ---- the end of the server ----

{
	my $s = server(config => {max_concurrent_runs => 4})->greeted;
	my (@runs, @pids, $t);

	push @runs, $s->run_async($_) for qw(spin spin deaf doze echo);
	my $queued = $s->run_async('doze');
	my $ended = $s->run_async('doze');
	$s->tool(cancel_task_run => {runId => $ended});
	push @pids, $s->worker_pid($_) for @runs[0 .. 3];
	$s->stop('the end of stdin ends the server and all workers');
	is(scalar(grep { alive($_) } @pids), 0, 'looping workers end with the server');

	$t = Paddock->new(root => $s->{root});
	$t->init;
	for (@runs[0 .. 3]) {
		my $v = $t->ended($_);

		crashed($v, 'RUN_INTERRUPTED', 'the next server knows what was interrupted');
		ok(exists $v->{createdAt} && length $v->{error}{recoverHint},
		   'the view of an interrupted run has a hint');
	}
	is($t->get($ended)->{status}, 'canceled', 'what had ended stays as it was');
	crashed($t->ended($queued), 'RUN_INTERRUPTED', 'what was queued at the end of ' .
		'stdin was interrupted as well');
	is($t->tool('list_task_runs')->{view}{total}, 7, 'no run is lost or doubled');
	$t->stop;
}
for my $sig (qw(TERM INT QUIT)) {
	my $s = server()->greeted;
	my $run = $s->run_async('spin');
	my $pid = $s->worker_pid($run);
	$s->saying($run, 'spinning');
	kill $sig => $s->{pid};
	my $status = $s->wait_exit;
	ok(defined $status && ($status & 127) == 0, "SIG$sig ends it in order");
	ok(!alive($pid), "SIG$sig: and its worker");
	$s->close_stdin;
	strays_gone();
	same_json([$s->litter], [], "SIG$sig: no litter");
}

# ---- secrets ----

sub files_with {
	my ($folder, $text) = @_;
	my @found;
	my @todo = ($folder);

	while (defined(my $path = shift @todo)) {
		if (-d $path) {
			push @todo, glob("$path/*");
		} elsif (index(read_file($path) // '', $text) >= 0) {
			push @found, $path;
		}
	}
	return @found;
}

{
	my $s = server(config => {max_concurrent_runs => 1});
	my $word = 'hunter2-swordfish';

	$s->init;
	is($s->run_sync(secret => {password => $word})->{result}, length $word,
	   'a secret reaches its template');
	my $r = $s->run(secret => {password => "$word-wrong"}, mode => 'sync');
	unlike($r->{raw}, qr/$word/, 'an error does not show it');
	$r = $s->run(secret => {password => 'hunt3r'}, mode => 'sync');
	refused($r, 'INVALID_PARAMETER', 'one that is too short is refused');
	unlike($r->{raw}, qr/hunt3r/, 'without being shown');
	$r = $s->run(secret => {password => ['hunt3r']}, mode => 'sync');
	unlike($r->{raw}, qr/hunt3r/, 'a secret of the wrong type is not shown');
	my $on = $s->run_async(secret => {password => $word, stay => true},
			       idempotencyKey => 'k');
	my $queued = $s->run_async(secret => {password => $word},
				   idempotencyKey => 'q');
	$s->saying($on, 'dozing');
	same_json([files_with($s->{root}, $word)], [],
		  'a secret is in no file while the run runs or waits');
	my @rows = on_postgres() ? postgres_sql('SELECT r::text FROM runs AS r', postgres_url($s->{state})) : ();
	like(json_of([files_with($s->{root}, $queued), @rows]), qr/paddock\.db|$queued/,
	     '(the test would find it there)');
	unlike("@rows", qr/$word/, 'a secret is in no row');
	my $memory = "/proc/$s->{pid}/environ";
	unlike(read_file($memory) // '', qr/$word/, 'a secret is not in the environment');
	$s->stop;
	ok(strays_gone(), 'killed, it leaves no worker');
	same_json([files_with($s->{root}, $word)], [], 'a killed server leaves no secret in files');
	my $t = Paddock->new(root => $s->{root})->greeted;
	crashed($t->ended($queued), 'RUN_INTERRUPTED',
		'a queued run with a secret is not resumed');
	crashed($t->ended($on), 'RUN_INTERRUPTED', 'a running run with a secret is not resumed');
	$t->stop;
	same_json([files_with($s->{root}, $word)], [], 'no file has the secret after the restart');
}

done_testing;
