#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Promises of the server: CPU time is charged for every end of a run, a reported cancel is
# on the disk, an artifact lives as long as promised, and all questions together have a
# bound.
use lib 'tests/lib';
use Paddock;
use Held;

my $burn = 'local t = os.clock() while os.clock() - t < 0.05 do end run.progress(1, 2, "burnt")';
my %templates = (
    echo => lua('return inputs'),
    burns => lua("$burn return 1"),
    fails => lua("$burn error('no')"),
    sleeps => lua("$burn while true do run.sleep(60000) end", limits => {maxTimeoutMs => 600000}),
    late => lua("$burn while true do run.sleep(60000) end", limits => {maxTimeoutMs => 1000}),
    crashes => {program => "#!/bin/bash\ni=0; while ((i++ < 30000)); do :; done; kill -SEGV \$\$\n"},
    keeps => lua('return run.artifact{name = "a", data = "kept"}'),
    talks => lua('local r = run.map({1, 2, 3, 4, 5}, {concurrency = 5}, function(i)
		return run.elicit{message = ("x"):rep(900000), timeout = 2000 + i,
				  schema = {type = "object", properties = {}}} end)
	local bad = {} for i, one in ipairs(r) do if not one.ok then bad[#bad + 1] = one.error.message end end
	return bad', limits => {maxTimeoutMs => 600000}),
);

# ---- CPU time ----

{
	my $s = Paddock->new(templates => \%templates);
	my $used = sub { $s->tool('get_runtime_profile')->{view}{usage}{cpuMsThisHour} };

	$s->init;
	for ([burns => 'succeeds'], [fails => 'fails'], [late => 'runs out of time'], [sleeps => 'is cancelled'],
	     ($s->tool('get_runtime_profile')->{view}{programs}{available} ? [crashes => 'crashes'] : ())) {
		my ($t, $what) = @$_;
		my $before = $used->();
		my $run = $s->run_async($t);

		if ($t eq 'sleeps') {
			$s->saying($run, 'burnt');
			$s->tool(cancel_task_run => {runId => $run});
		}
		my $v = $s->ended($run);
		my $cpu = $v->{metrics}{cpuMs};
		cmp_ok($cpu, '>=', $t =~ /crashes|late/ ? 1 : 40, "a run that $what has used CPU time ($v->{status})");
		cmp_ok($used->() - $before, '>=', $cpu, "the CPU time of a run that $what is charged");
	}
	$s->stop;
}

# ---- cancelled: on the disk before it is answered ----

SKIP: {
	skip_lacking(1, 'sqlite3') unless on_postgres();
	my $s = Paddock->new(templates => \%templates)->greeted;
	my $task = $s->call('tools/call', {name => 'sleeps', task => {}, arguments => {}})->{result}{task}{taskId};
	$s->saying($task, 'burnt');
	# a second process locks the database: no write is done until the release
	my $release = record_held($s);
	my $id = $s->request('tasks/cancel', {taskId => $task});
	is_deeply($s->call('ping')->{result}, {}, 'the server goes on');
	# the store answers in order, so an answer which needs no store would be there by
	# then
	my $other = $s->call('tools/list');
	ok(!exists $s->{answers}{json_of($id)}, 'a task is not said to be cancelled while nothing can be written');
	$release->();
	is($s->answer($id)->{result}{status}, 'cancelled', 'a task is said to be cancelled when the store can be written');
	$s->kill9;
	strays_gone();
	my $t = Paddock->new(templates => \%templates, root => $s->{root})->greeted;
	is($t->call('tasks/get', {taskId => $task})->{result}{status}, 'cancelled', 'a cancelled task is cancelled after kill -9');
	$t->stop;
}

# ---- what waited begins once its row says so: whoever finds it waiting starts it ----

SKIP: {
	skip_lacking(1, 'sqlite3') unless on_postgres();
	my $s = Paddock->new(templates => \%templates, config => {max_concurrent_runs => 1})->greeted;
	my $first = $s->run_async('sleeps');
	my $next = $s->run_async(echo => {n => 1});
	$s->saying($first, 'burnt');
	is($s->get($next)->{status}, 'queued', 'a run waits, and its row says so');
	my $release = record_held($s);
	kill KILL => $s->worker_pid($first);
	$s->log_has(qr/run=\Q$first\E .*status=failed/);
	is_deeply($s->call('ping')->{result}, {}, 'there is room for it');
	unlike($s->log_text, qr/run=\Q$next\E pid=/, 'a queued run does not begin while nothing can be written');
	$release->();
	same_json($s->ended($next)->{result}, {n => 1}, 'a queued run begins when the store can be written');
	$s->stop;
}

# ---- an artifact that lives longer than its run was to ----

{
	my $s = Paddock->new(templates => \%templates, config => "[limits]\nartifact_ttl_ms = 1h\n");

	$s->init;
	my $with = $s->run_sync(keeps => {}, ttlMs => 1);
	my $without = $s->run_sync(echo => {}, ttlMs => 1);
	is($with->{status}, 'succeeded', 'two runs are to be known for a millisecond');
	$s->stop;
	my $t = Paddock->new(templates => \%templates, root => $s->{root}, config => "[limits]\nartifact_ttl_ms = 1h\n");
	$t->init;
	ok(until_true('it to be forgotten', sub { $t->tool(get_task_run => {runId => $without->{runId}})->{isError} }),
	   'one without artifacts is forgotten');
	is($t->get($with->{runId})->{status}, 'succeeded', 'one whose artifact lives for an hour is not');
	is($t->tool(get_artifact => {artifactId => $with->{result}})->{view}{data}, 'a2VwdA==', 'an artifact outlives a run without artifacts');
	$t->stop;
}

# ---- questions that are too many bytes together ----

{
	my $s = Paddock->new(templates => \%templates)->greeted(undef, {elicitation => {}});
	my $r = $s->run_sync(talks => {});
	my @refused = grep { /over 4 MiB of questions/ } @{$r->{result} // []};
	is(scalar @refused, 1, 'of five questions of 900 kB the fifth is one too many')
	    or diag(json_of([map { substr $_, 0, 200 } @{$r->{result} // []}]));
	$s->stop;
}

done_testing;
