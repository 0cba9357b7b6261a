#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Tasks over time: kill -9, restarts, races, pages while tasks come and go, and several
# requestors.
use lib 'tests/lib';
use Paddock;
use Daemon;
use Task;

my $ROUNDS = 200; # of cancelling what is about to end
my $PAGE = 100;   # tasks in one answer
my %templates = (
    echo => lua('return inputs'),
    nap => lua('run.sleep(inputs.ms) return {n = inputs.n}'),
    fails => lua('run.error("NO_LUCK", "bad day", {day = 13})'),
    sorry => lua('return run.reply{content = {{type = "text", text = "gone"}}, isError = true}'),
    doze => lua('run.progress(0, 1, "dozing") while true do run.sleep(60000) end',
		limits => {maxTimeoutMs => 600000, cancelGraceMs => 60000}),
    stubborn => lua('run.progress(0, 1, "deaf") while true do pcall(run.sleep, 60000) end',
		    limits => {maxTimeoutMs => 600000, cancelGraceMs => 60000}),
);

sub server { return Paddock->new(templates => \%templates, @_) }

sub dozing {
	my ($s, $name) = @_;
	my $id = start_task($s, $name // 'doze');

	task_until($s, $id, 'to doze', sub { $_->{statusMessage} });
	return $id;
}

# ---- 16, 23: cancelling what is about to end ----
{
	my $s = server()->greeted;
	my (@wrong, %how);

	for my $n (1 .. $ROUNDS) {
		my $id = start_task($s, 'nap', {ms => $n % 5, n => $n});
		my $wait = $s->request('tasks/result', {taskId => $id});
		my $cancel;

		select undef, undef, undef, ($n % 10) / 1000 if $n % 2;
		$cancel = $s->call('tasks/cancel', {taskId => $id});
		my $said = $cancel->{result}{status} // 'completed';
		my $result = $s->answer($wait);
		my $is = get_task($s, $id)->{status};
		my $run = $s->ended($id)->{status};

		$how{$said}++;
		push @wrong, "round $n: said $said, is $is, run $run: " . json_of($result)
		    unless $is eq $said &&
		    get_task($s, $id)->{status} eq $said &&
		    $run eq ($said eq 'cancelled' ? 'canceled' : 'succeeded') &&
		    ($said eq 'cancelled' ? $result->{error}{message} eq 'Task was cancelled'
		     : $result->{result}{structuredContent}{n} == $n);
		my @told = map { $_->{params}{status} } grep { $_->{params}{status} } notes_of($s, $id);
		push @wrong, "round $n: told @told" if "@told" ne $said;
		$s->{notes} = [];
	}
	same_json(\@wrong, [], "MCP 16: $ROUNDS times cancelled at the end: one end each, " .
		  json_of(\%how));
	my $id = dozing($s, 'stubborn');
	$s->call('tasks/cancel', {taskId => $id});
	is(get_task($s, $id)->{status}, 'cancelled',
	   'MCP 23: it is cancelled, whatever its worker does');
	is($s->call('tasks/result', {taskId => $id})->{error}{message}, 'Task was cancelled',
	   '  MCP 23: tasks/result of a cancelled task does not wait for the worker');
	ok($s->get($id)->{cancelRequested}, '  while the run has yet to end');
	$s->stop;
}

# ---- the poll interval ----
{
	my $s = server()->greeted;

	task_over($s, start_task($s, 'nap', {ms => 1500, n => 1}));
	my $task = task_call($s, 'nap', {ms => 600000, n => 1})->{result}{task};

	# 1,500 ms less the age, and a quarter of the age: never below 300 ms
	cmp_ok($task->{pollInterval}, '>=', 300, 'a poll interval follows what runs of the template took');
	cmp_ok(task_call($s, 'echo', {})->{result}{task}{pollInterval}, '<', 300, '  of that template alone');
	$s->call('tasks/cancel', {taskId => $task->{taskId}});
	$s->stop;
}

# ---- waiting in line ----
{
	my $s = server(config => {max_concurrent_runs => 1})->greeted;
	my $first = dozing($s);
	my $id = start_task($s, 'echo', {a => 1});
	my $t = get_task($s, $id);
	my $wait = $s->request('tasks/result', {taskId => $id});

	is($t->{status}, 'working', 'a task that waits in line is working');
	like($t->{statusMessage}, qr/[Ww]aiting/, '  says that it waits');
	is($s->call('tasks/cancel', {taskId => $id})->{result}{status}, 'cancelled',
	   'a queued task can be cancelled');
	is($s->answer($wait)->{error}{code}, -32603, '  a cancelled task wakes who waits');
	is(get_task($s, $id)->{status}, 'cancelled', '  a cancelled queued task stays cancelled');
	$s->call('tasks/cancel', {taskId => $first});
	$s->stop;
}

# ---- 18: kill -9, and the same state ----
{
	my $s = server(config => {max_concurrent_runs => 3})->greeted;
	my (%want, %id);

	for my $name (qw(echo fails sorry)) {
		$id{$name} = start_task($s, $name, {a => 1.50});
		$id{"$name by run"} = start_task($s, 'run_task_template',
			{templateId => $name, inputs => {a => 1}});
	}
	$want{$_} = $s->call('tasks/result', {taskId => $id{$_}})->{result} for keys %id;
	my %before = map { $_ => get_task($s, $id{$_}) } keys %id;
	my ($runs, $deaf) = (dozing($s), dozing($s, 'stubborn'));
	my $by_run = start_task($s, 'run_task_template', {templateId => 'doze', inputs => {}});
	my $waits = start_task($s, 'echo', {later => 1});
	$s->call('tasks/cancel', {taskId => $deaf});
	$s->kill9;
	strays_gone();

	my $t = server(root => $s->{root})->greeted;
	my %listed = map { $_->{taskId} => $_ } all_tasks($t);
	is(scalar(grep { !$listed{$_} } values %id, $runs, $deaf, $by_run, $waits), 0,
	   'after kill -9 every task is listed, as the first thing that is asked');
	for my $name (sort keys %id) {
		same_json($t->call('tasks/result', {taskId => $id{$name}})->{result}, $want{$name},
			  "MCP 18: the result of $name is the same after a restart");
		my $now = get_task($t, $id{$name});
		same_json({%$now, pollInterval => 0}, {%{$before{$name}}, pollInterval => 0},
			  "MCP 18: the task of $name is the same after a restart");
	}
	for ([$runs, 'a task'], [$by_run, 'one by run_task_template']) {
		my ($id, $what) = @$_;
		my $task = get_task($t, $id);
		my $r = $t->call('tasks/result', {taskId => $id})->{result};

		is($task->{status}, 'failed', "$what that ran has failed");
		like($task->{statusMessage}, qr/restarted/, '  since the server was restarted');
		ok($r->{isError} && json_of($r) =~ /RUN_INTERRUPTED/, "the result of $what says RUN_INTERRUPTED");
		is($r->{_meta}{+RELATED}{taskId}, $id, "the result of $what names the task");
	}
	is(get_task($t, $deaf)->{status}, 'cancelled',
	   'MCP 23: one that was cancelled stays cancelled, though it had not ended');
	is($t->call('tasks/result', {taskId => $deaf})->{error}{message}, 'Task was cancelled',
	   '  MCP 23: a task cancelled before kill -9 answers as cancelled');
	is($t->get($deaf)->{error}{errorCode}, 'RUN_CANCELED', '  MCP 23: the run of a task cancelled before kill -9 is canceled');
	same_json($t->call('tasks/result', {taskId => $waits})->{result}{structuredContent},
		  {later => 1}, 'one that waited is run, and answered');
	$t->stop;
}
{
	my $s = server()->greeted;
	my $id = dozing($s);
	$s->stop;
	my $t = server(root => $s->{root})->greeted;
	like(get_task($t, $id)->{statusMessage}, qr/restarted/,
	     'an orderly end interrupts a task as well');
	$t->stop;
}

# ---- 14, 23: what was said is so, however soon it dies ----
{
	my $s = server();
	my (@made, @cancelled, @wrong);

	for my $round (1 .. 5) {
		my @ids;

		$s->init;
		push @ids, start_task($s, $_ % 2 ? 'doze' : 'echo') for 1 .. 2 * $round;
		push @made, @ids;
		for my $id (@ids) {
			push @cancelled, $id
			    if $s->call('tasks/cancel', {taskId => $id})->{result};
		}
		push @made, start_task($s, 'doze');
		$s->kill9;
		strays_gone();
		$s = server(root => $s->{root});
	}
	$s->init;
	for (@made) {
		push @wrong, "$_ is lost" unless get_task($s, $_)->{status};
	}
	for (@cancelled) {
		my $is = get_task($s, $_)->{status} // 'lost';

		push @wrong, "$_ was cancelled, is $is" unless $is eq 'cancelled';
	}
	same_json(\@wrong, [], 'MCP 14, 23: of ' . @made . ' tasks made and ' . @cancelled .
		  ' cancelled, none is lost by kill -9, or another');
	$s->stop;
}

# ---- what waits when a daemon ends ----
{
	my $d = Daemon->new(templates => \%templates,
		config => {max_concurrent_runs => 1, drain_timeout_ms => 100});
	my $c = $d->client->greeted;
	my $id = dozing($c);
	my $waits = start_task($c, 'echo', {later => 2}, meta => {progressToken => 1});

	$c->request('tasks/result', {taskId => $waits});
	$c->call('ping');
	$d->stop('a daemon ends while a task waits, and somebody for it');
	$d = $d->again;
	$c = $d->client->greeted;
	like(get_task($c, $id)->{statusMessage}, qr/restarted/, '  what ran was interrupted');
	same_json($c->call('tasks/result', {taskId => $waits})->{result}{structuredContent},
		  {later => 2}, '  what waited is run by the next');
	$d->stop;
}

# ---- two servers, one state ----
{
	my $a = server();
	my $b = server(root => $a->{root});

	$_->init for $a, $b;
	my $id = dozing($a);
	my $nap = start_task($a, 'nap', {ms => 300, n => 4});
	my $wait = $b->request('tasks/result', {taskId => $nap});

	is(get_task($b, $id)->{status}, 'working', 'a task of another server is seen');
	is($b->answer($wait)->{result}{structuredContent}{n}, 4, '  the result of another server\'s task is waited for');
	is($b->call('tasks/cancel', {taskId => $id})->{result}{status}, 'cancelled',
	   '  a task of another server is cancelled'); # tests/system/operations/instances.t has more
	is(get_task($a, $id)->{status}, 'cancelled', '  the owner of a task sees the cancel');
	$a->{shared} = 1;
	$_->stop for $a, $b;
}

# ---- 22: pages ----
{
	my $s = server(config => {max_queued_runs => 1000})->greeted;
	my @ids = map { start_task($s, 'echo', {n => $_}) } 1 .. 2 * $PAGE + 50;
	task_over($s, $_) for @ids;
	my @all = map { $_->{taskId} } all_tasks($s);
	# an id has the time in quarters of a millisecond, and two ids may have the same
	my @ticks = map { substr $_, 0, length('run_') + 10 } @ids;
	same_json(\@ticks, [sort @ticks], 'MCP 22: ids are in the order of time');
	@ids = sort @ids;
	same_json(\@all, [reverse @ids], '  MCP 22: all tasks are listed, newest first');
	my $first = $s->call('tasks/list')->{result};
	is(scalar @{$first->{tasks}}, $PAGE, '  MCP 22: tasks/list gives pages');
	my @more;
	@all = map { $_->{taskId} } all_tasks($s, sub {
		push @more, start_task($s, 'echo') for 1 .. 3; # they come…
		my $brief = start_task($s, 'echo', {}, task => {ttl => 1}); # …and go
		until_true('it to expire', sub { $s->call('tasks/get', {taskId => $brief})->{error} });
	});
	same_json(\@all, [reverse @ids], 'MCP 22: each once, though others come and go meanwhile');
	my %now = map { $_->{taskId} => 1 } all_tasks($s);
	is(scalar(grep { !$now{$_} } @ids, @more), 0, '  the new ones from the next time on');
	for ('x', '', 'cnVu', 7, [], substr($first->{nextCursor}, 1), $first->{nextCursor} . 'AAAA') {
		is($s->call('tasks/list', {cursor => $_})->{error}{code}, -32602,
		   'MCP 22: refused: cursor ' . json_of($_));
	}
	$s->stop;
}

# ---- 25: whose tasks ----

SKIP: {
	skip_lacking(1, 'root');
	my $d = Daemon->new(templates => \%templates);
	my %c = (root => $d->client->greeted, nobody => $d->client($NOBODY)->greeted);
	my %id = map { $_ => dozing($c{$_}) } sort keys %c;

	for (['root', 'nobody'], ['nobody', 'root']) {
		my ($me, $other) = @$_;

		not_found($c{$me}->call("tasks/$_", {taskId => $id{$other}}),
			  "MCP 25: $me, of a task of ${other}'s: tasks/$_")
		    for qw(get result cancel);
		same_json([map { $_->{taskId} } all_tasks($c{$me})], [$id{$me}],
			  "MCP 25: tasks/list of $me shows no task of ${other}'s");
		is(scalar(notes_of($c{$me}, $id{$other})), 0, "MCP 25: $me hears nothing of ${other}'s task");
	}
	my $second = $d->client->greeted;
	is(get_task($second, $id{root})->{status}, 'working',
	   'MCP 25: another session of the same user sees it');
	$c{root}->hang_up;
	is(get_task($second, $id{root})->{status}, 'working', '  MCP 25: a task is seen when the first session has gone');
	is($second->call('tasks/cancel', {taskId => $id{root}})->{result}{status}, 'cancelled',
	   '  MCP 25: another session of the same user may cancel the task');
	$c{nobody}->call('tasks/cancel', {taskId => $id{nobody}});
	$d->stop;
}

done_testing;
