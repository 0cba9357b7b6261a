#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Several servers with one state: each server shows, and ends, the runs of the others.
use lib 'tests/lib';
use Paddock;
use Cli;
use File::stat ();
use Task;

my $box = Paddock::fresh_root();
my $lib = "$box/faults.so";
my $have_lib = !$SANITIZED && # whose libraries want to be the first
    compile('lib/faults.c', $lib, '-shared', '-fPIC');

chmod 0777, $box;

my $ask = 'run.elicit{message = "go on?", schema = {type = "object",
    properties = {name = {type = "string"}}}}';
my %templates = (
    doze => lua(<<'LUA', limits => {maxTimeoutMs => 600000}),
run.log("info", "I lie down")
run.step("settle", function() return 1 end)
run.progress(1, 4, "dozing")
while true do run.sleep(60000) end
LUA
    stubborn => lua(<<'LUA', limits => {cancelGraceMs => 60000, maxTimeoutMs => 600000}),
run.progress(0, 1, "staying")
while true do pcall(run.sleep, 10) end
LUA
    asks => lua(<<"LUA", limits => {maxTimeoutMs => 600000}),
run.progress(0, 2, "nothing yet")
$ask
run.log("info", "the first answer came")
run.progress(1, 2, "half of it")
$ask
return "both came"
LUA
    quick => lua('return "done"'),
);
my %can = (elicitation => {});

sub server {
	return Paddock->new(templates => \%templates, @_);
}

# Faults for the calls of a server, as in tests/lib/faults.c, from the start.
sub faulty {
	my ($line) = @_;
	my $file = "$box/faults." . scalar(@{[glob "$box/faults.*"]});

	return () unless defined $line;
	write_file($file, "$line\n");
	chmod 0666, $file;
	return (faults => $file, env => {LD_PRELOAD => $lib, PADDOCK_FAULTS => $file});
}

# Two servers with one state, as USER; LIMITS are the first server's.
sub pair {
	my ($user, %limits) = @_;
	my ($fault_a, $fault_b) = map { delete $limits{$_} } qw(fault_a fault_b);
	my $a = server(user => $user, faulty($fault_a),
		       config => {default_ttl_ms => 3_600_000, %limits});

	$a->init(undef, \%can); # the file of its configuration will be the other's
	my $b = server(user => $user, root => $a->{root}, faulty($fault_b),
		       config => {default_ttl_ms => 3_600_000})->greeted(undef, \%can);
	return ($a, $b);
}

sub cancel { return $_[0]->tool(cancel_task_run => {runId => $_[1]}) }

# The view of get_task_run, without the parts which change with time.
sub still {
	my %v = %{$_[0]};

	delete @v{qw(metrics updatedAt)};
	return \%v;
}

sub has_asked { my ($s) = @_; return $s->told('elicitation/create') }
sub answer_it { my ($s, $m) = @_;
		return $s->reply($m, {action => 'accept', content => {name => 'x'}}) }

sub stop_both {
	my ($a, $b, $name) = @_;

	$b->{shared} = 1;
	$b->stop("$name: the one ends");
	return $a->stop("$name: and the other, and nothing is left");
}

sub shows_and_ends {
	my ($user, $as) = @_;
	my ($a, $b) = pair($user, max_concurrent_runs => 2);
	my ($run, $stays, $queued, $v, $again);

	$run = $a->run_async('doze');
	$v = $a->saying($run, 'dozing');
	same_json(still($b->get($run)), still($v),
		  "$as: a run of another server is shown as that one shows it");
	same_json($v->{progress}, {totalSteps => 4, doneSteps => 1}, "$as: a run of another server is shown with the progress");
	is($v->{steps}[0]{status}, 'succeeded', "$as: a run of another server is shown with the steps");
	like($b->run_log($run), qr/I lie down/, "$as: and its log");
	is($b->run_log($run), $a->run_log($run), "$as: the log is the same at both servers");
	$v = json_to($b->call('resources/read', {uri => "paddock://runs/$run"})
		     ->{result}{contents}[0]{text});
	is($v->{message}, 'dozing', "$as: so is its resource");
	$v = cancel($b, $run);
	answer_ok($v, "$as: and it is ended from there");
	ok($v->{view}{cancelRequested} && !exists $v->{view}{reason}, "$as: the answer of a cancel elsewhere has no reason")
	    or diag(json_of($v));
	is($a->ended($run)->{status}, 'canceled', "$as: the owner of a run cancelled elsewhere has cancelled the run");
	same_json($b->get($run), $a->get($run), "$as: both servers show the end alike");
	$v = cancel($b, $run)->{view};
	ok(!$v->{cancelRequested} && $v->{currentStatus} eq 'canceled' &&
	   $v->{reason} =~ /ended already/, "$as: once more is too late") or diag(json_of($v));

	$stays = $a->run_async('stubborn');
	$a->saying($stays, 'staying');
	$a->saying($run = $a->run_async('doze'), 'dozing');
	$queued = $a->run_async('doze');
	is($b->get($queued)->{status}, 'queued', "$as: a run that waits is shown");
	$v = cancel($b, $queued)->{view};
	ok($v->{cancelRequested} && $v->{currentStatus} eq 'canceled',
	   "$as: and ended: it is canceled at once") or diag(json_of($v));
	for my $which ('one that does not stop', 'one that was asked to stop before') {
		$v = cancel($b, $stays)->{view};
		ok($v->{cancelRequested} && $v->{currentStatus} eq 'running',
		   "$as: $which is asked to") or diag(json_of($v));
	}
	is_deeply([map { !!$_->get($stays)->{cancelRequested} } $a, $b], [1, 1],
		  "$as: both servers show that the run is asked to stop");
	$again = () = $a->log_text =~ /run=\Q$stays\E .*cancel=asked/g;
	is($again, 1, "$as: the owner of the run has been asked once");
	is($b->tool(list_task_runs => {status => 'running'})->{view}{total}, 2,
	   "$as: lists have them all");
	stop_both($a, $b, $as);
}

# The progress of a run causes no write of the server, until another server asks.
sub unasked {
	my ($user, $as) = @_;
	my ($a, $b) = pair($user);
	my $written = sub { return join ' ', sort(postgres_sql('SELECT xmin FROM runs UNION ALL SELECT xmin FROM shown',
				postgres_url($a->{state}))) if on_postgres();
			    return join ' ', map { $_->size, $_->mtime }
			    grep { $_ } map { File::stat::stat("$a->{state}/$_") }
				qw(paddock.db paddock.db-wal) };
	my ($run, $asked, $before);

	$run = start_task($a, 'asks');
	$asked = has_asked($a);
	is($b->tool(list_task_runs => {status => 'running'})->{view}{total}, 1,
	   "$as: a run is there");
	$before = $written->();
	answer_it($a, $asked);
	$a->saying($run, 'half of it');
	has_asked($a);
	is($written->(), $before, "$as: progress and log of a run are not written to the store");
	is($b->get($run)->{message}, 'half of it', "$as: the progress is written when another server asks");
	isnt($written->(), $before, "$as: the asked progress is written as rows");
	stop_both($a, $b, $as);
}

sub tasks {
	my ($user, $as) = @_;
	my ($a, $b) = pair($user);
	my ($task, $run, $v, $waits, $asked);

	$task = start_task($a, 'asks');
	$asked = has_asked($a);
	$v = get_task($b, $task);
	is($v->{status}, 'input_required', "$as: a task elsewhere that asks is shown so");
	ok($b->get($task)->{awaitingInput}, "$as: a run elsewhere that asks is shown as awaiting input");
	$waits = $b->request('tasks/result', {taskId => $task});
	$b->call('resources/subscribe', {uri => "paddock://runs/$task$_"}) for '', '/log';
	answer_it($a, $asked);
	$asked = has_asked($a);
	until_true('both to be told of', sub {
		$b->turn(50);
		my %told = map { $_->{params}{uri} => 1 } grep {
			$_->{method} eq 'notifications/resources/updated' } @{$b->{notes}};
		return keys %told == 2;
	});
	is(scalar(grep { $_->{method} eq 'notifications/resources/updated' &&
	       $_->{params}{uri} =~ m{/log$} } @{$b->{notes}}) > 0, 1,
	   "$as: who has subscribed to it elsewhere is told");
	$v = $b->get_until($task, 'to go on', sub { ($_->{message} // '') eq 'half of it' });
	same_json($v->{progress}, {totalSteps => 2, doneSteps => 1},
		  "$as: it is shown how it goes on");
	until_true('its log', sub { $b->run_log($task) =~ /first answer/ });
	like($b->run_log($task), qr/the first answer came/, "$as: the log of a run elsewhere is shown");
	answer_it($a, $asked);
	$v = $b->answer($waits);
	is($v->{result}{content}[0]{text}, '"both came"',
	   "$as: who waits for it at another server gets its result");

	$task = start_task($a, 'doze');
	$a->saying($task, 'dozing');
	is(get_task($b, $task)->{statusMessage}, 'dozing', "$as: a task says what its run says");
	$waits = $b->request('tasks/result', {taskId => $task});
	$v = $b->call('tasks/cancel', {taskId => $task});
	is($v->{result}{status}, 'cancelled', "$as: a task is cancelled from elsewhere")
	    or diag(json_of($v));
	is($v->{result}{statusMessage}, 'The task was cancelled.', "$as: a cancelled task says so");
	is($b->answer($waits)->{error}{message}, 'Task was cancelled',
	   "$as: a client that waits for a cancelled task hears so");
	is($a->ended($task)->{status}, 'canceled', "$as: the owner of a cancelled task has cancelled the run");
	like($b->call('tasks/cancel', {taskId => $task})->{error}{message}, qr/cancelled/,
	     "$as: a second cancel of a cancelled task is refused");

	$run = $a->run_async('doze');
	$a->saying($run, 'dozing');
	not_found($b->call($_, {taskId => $run}), "$as: a run elsewhere that is no task: $_")
	    for qw(tasks/get tasks/cancel);
	is($a->get($run)->{status}, 'running', "$as: a run elsewhere that is no task goes on");
	stop_both($a, $b, $as);
}

# Where nudges are not to be had, and where nothing can be written.
sub hindered {
	my ($user, $as) = @_;

  SKIP: {
	skip 'the file that is to fail is not there', 14 if on_postgres();
	skip 'no faults: no compiler, or a sanitized build', 14 unless $have_lib;
	my ($a, $b) = pair($user, fault_a => 'watch 28 /instances/',
			   fault_b => 'none 0 none');
	my ($run, $v);

	$run = start_task($a, 'doze');
	$a->saying($run, 'dozing');
	ok(-s "$a->{faults}.hit", "$as: a server that cannot be nudged");
	is($b->get($run)->{message}, 'dozing', '  shows its run all the same');
	like($b->run_log($run), qr/I lie down/, "$as: the log of a run is shown though the owner cannot be nudged");
	ok(cancel($b, $run)->{view}{cancelRequested}, "$as: a run ends though the owner cannot be nudged");
	is($a->ended($run)->{status}, 'canceled', "$as: the run without a nudge is canceled");

	$run = start_task($a, 'doze');
	$a->saying($run, 'dozing');
	write_file("$b->{faults}", "write 28 /paddock.db-wal\n");
	refused($v = cancel($b, $run), 'STORE_UNAVAILABLE',
		"$as: a server that cannot write says so, for one that is to be ended");
	like($v->{view}{error}, qr/was not cancelled: .* its disk is full/, "$as: the refused cancel says why");
	like($b->call('tasks/cancel', {taskId => $run})->{error}{message},
	     qr/was not cancelled: .* its disk is full/, '  of a task as well');
	$v = $b->get($run);
	ok($v->{status} eq 'running' && $v->{message} =~ /not known how far.* its disk is full/,
	   '  one that is looked at is shown as far as it is known') or diag(json_of($v));
	like($b->call('resources/read', {uri => "paddock://runs/$run/log"})->{error}{message},
	     qr/not to be had until it ends: .* its disk is full/, "$as: the log of a run elsewhere is refused with the reason");
	write_file("$b->{faults}", "none 0 none\n");
	ok(cancel($b, $run)->{view}{cancelRequested}, "$as: a cancel passes when the store can be written again");
	is($a->ended($run)->{status}, 'canceled', "$as: a run ends when the store can be written again");
	stop_both($a, $b, $as);
  }
}

# An id of another requestor gives the same answer as an unknown id.
sub strangers {
	my ($user, $as) = @_;
	my $uid = $user // $>;
	my $mine = "[requestor \"mine\"]\nuid = $uid\n";
	my $a = server(user => $user, config => $mine)->greeted;
	my $b = server(user => $user, root => $a->{root},
		       config => "[requestor \"theirs\"]\nuid = $uid\n");
	my ($run, %answers);

	$b->init;
	$run = start_task($a, 'doze');
	$a->saying($run, 'dozing');
	for my $id ($run, 'run_00000000000000000000000000') {
		my @all = (cancel($b, $id),
		    $b->tool(get_task_run => {runId => $id}),
		    map({ $b->call("tasks/$_", {taskId => $id}) } qw(get cancel result)),
		    map({ $b->call('resources/read', {uri => "paddock://runs/$id$_"}) }
			'', '/log'));
		my $text = json_of([map { my %x = %$_; delete @x{qw(raw id order)}; \%x } @all]);

		$text =~ s/\Q$id\E/ID/g;
		$answers{$id} = $text;
	}
	is((values %answers)[0], (values %answers)[1],
	   "$as: a run of another requestor is like one that is not there");
	$b->write_config($mine);
	is($a->get($run)->{status}, 'running', "$as: a run of another requestor goes on");
	unlike($a->log_text, qr/cancel=asked/, "$as: the server is not asked to cancel another requestor's run");
	stop_both($a, $b, $as);
}

sub silent {
	my ($user, $as) = @_;
	my ($a, $b) = pair($user);
	my ($run, $v, %id);

	$run = start_task($a, 'doze');
	$a->saying($run, 'dozing');
	kill STOP => $a->{pid};
	%id = (get => $b->ask(get_task_run => {runId => $run}),
	       log => $b->request('resources/read', {uri => "paddock://runs/$run/log"}),
	       task => $b->request('tasks/get', {taskId => $run}),
	       cancel => $b->ask(cancel_task_run => {runId => $run}),
	       cancel_task => $b->request('tasks/cancel', {taskId => $run}));
	$v = $b->result($id{get})->{view};
	ok($v->{status} eq 'running' && $v->{message} =~ /does not answer/,
	   "$as: a server that does not answer is said not to") or diag(json_of($v));
	$v = $b->answer($id{log});
	like($v->{error}{message}, qr/does not answer/, '  for the log as well');
	is($b->answer($id{task})->{result}{status}, 'working', '  a task goes on');
	$v = $b->result($id{cancel})->{view};
	ok($v->{cancelRequested} && $v->{currentStatus} eq 'running' &&
	   $v->{reason} =~ /does not answer now; it ends the run as soon as it can/,
	   '  to end it is asked for') or diag(json_of($v));
	like($b->answer($id{cancel_task})->{error}{message}, qr/does not answer/,
	     "$as: the cancel of a task at a silent server says so");
	kill CONT => $a->{pid};
	is($a->ended($run)->{status}, 'canceled', "$as: a run of a stopped server is cancelled when the server goes on");

	$run = $a->run_async('doze');
	$a->saying($run, 'dozing');
	kill STOP => $a->{pid};
	my $c = server(user => $user, root => $a->{root})->greeted;
	%id = map { $_ => $c->ask($_ => {runId => $run}) } qw(get_task_run cancel_task_run);
	$c->request('resources/read', {uri => "paddock://runs/$run/log"});
	$c->request('tasks/get', {taskId => $run});
	$c->notify('notifications/cancelled', {requestId => $_}) for values %id;
	$c->call('ping');
	$c->{shared} = 1;
	$c->stop("$as: who has asked may leave before there is an answer");
	cancel($b, $run);
	$a->kill9;
	strays_gone();
	is($b->ended($run)->{status}, 'canceled',
	   "$as: what was asked for holds when the server dies instead");
	$b->stop;
}

sub died {
	my ($user, $as) = @_;
	my ($a, $b) = pair($user, max_concurrent_runs => 1);
	my ($run, $queued, $task, $waits, $v);

	$run = start_task($a, 'doze');
	$queued = $a->run_async('quick');
	$a->saying($run, 'dozing');
	is($b->get($run)->{message}, 'dozing', "$as: a run is shown");
	$waits = $b->request('tasks/result', {taskId => $run});
	$a->kill9;
	strays_gone();
	$v = $b->get($run);
	ok($v->{status} eq 'failed' && $v->{error}{errorCode} eq 'RUN_INTERRUPTED',
	   "$as: once its server was killed it is interrupted, at the first look")
	    or diag(json_of($v));
	is(json_to($b->answer($waits)->{result}{content}[0]{text})->{errorCode} // '',
	   'RUN_INTERRUPTED', '  who waits for it hears that');
	is($b->ended($queued)->{status}, 'succeeded', '  what was queued is run here');
	$v = cancel($b, $run)->{view};
	ok(!$v->{cancelRequested} && $v->{currentStatus} eq 'failed',
	   '  there is nothing to cancel');

	my $c = server(user => $user, root => $b->{root},
		       config => {max_concurrent_runs => 1})->greeted;
	$run = $c->run_async('doze');
	$c->saying($run, 'dozing');
	$queued = $c->run_async('doze');
	$c->kill9;
	strays_gone();
	$v = cancel($b, $run)->{view};
	ok(!$v->{cancelRequested} && $v->{currentStatus} eq 'failed' &&
	   $v->{reason} =~ /has died/, "$as: to cancel it then tells that") or
	    diag(json_of($v));
	$v = cancel($b, $queued)->{view};
	ok($v->{cancelRequested}, "$as: a queued run of a dead server is cancelled")
	    or diag(json_of($v));
	is($b->ended($queued)->{status}, 'canceled', '  for good');
	$b->stop;
}

# Ends and cancels meet in every order: each run has one end, the same on both servers.
sub races {
	my ($user, $as) = @_;
	my ($a, $b) = pair($user, max_queued_runs => 100);
	my (@runs, @wrong, %how);

	for my $n (1 .. 40) {
		my $id = $a->run_async('quick');
		my @asked = map { $_->ask(cancel_task_run => {runId => $id}) } $b;

		push @asked, $b->ask(cancel_task_run => {runId => $id}) if $n % 2;
		push @runs, $id;
		for my $v (map { $b->result($_)->{view} } @asked) {
			my $end = $b->ended($id)->{status};

			push @wrong, "$id $end: " . json_of($v)
			    unless $v->{cancelRequested} ? $end eq 'canceled'
				: ($v->{reason} // '') =~ /ended already/;
		}
	}
	for my $id (@runs) {
		my ($x, $y) = map { json_of($_->get($id)) } $a, $b;
		my @ends = $a->log_text =~ /part=run run=\Q$id\E .*status=/g;

		push @wrong, "$id: $x $y" if $x ne $y || @ends != 1;
		$how{$b->get($id)->{status}}++;
	}
	same_json(\@wrong, [], "$as: each run has one end, and the answers fit: " . json_of(\%how));
	stop_both($a, $b, $as);
}

# A server ends, in order or by kill -9, while another server cancels a run.
sub ends_meanwhile {
	my ($user, $as) = @_;
	my $root = Paddock::fresh_root($user);
	my $b = server(user => $user, root => $root)->greeted;
	my (@wrong, %how);

	for my $n (1 .. 6) {
		my $a = server(user => $user, root => $root)->greeted;
		my $run = $a->run_async('doze');
		$a->saying($run, 'dozing');
		my @ids = map { $b->ask(cancel_task_run => {runId => $run}) } 1, 2;
		$b->turn(0) for 1 .. $n;
		if ($n % 2) {
			$a->kill9;
		} else {
			$a->{shared} = 1;
			$a->stop;
		}
		strays_gone();
		my @v = map { $b->result($_)->{view} } @ids;
		my $end = $b->ended($run);

		$how{$end->{status}}++;
		push @wrong, json_of([$end, @v])
		    unless $end->{error}{errorCode} =~ /^RUN_(CANCELED|INTERRUPTED)$/ &&
		    !grep { $_->{cancelRequested} ? $end->{status} ne 'canceled'
				: ($_->{reason} // '') !~ /ended already|has died/ } @v;
	}
	same_json(\@wrong, [], "$as: to ask a server that ends: the answers fit the end: " .
		  json_of(\%how));
	$b->stop;
}

sub command {
	my ($user, $as) = @_;
	my $cli = Cli->new(templates => \%templates, user => $user);
	my $s = server(user => $user, root => $cli->{root});
	my ($run, $r);
	my $paddock = sub { return $cli->run_private([@_], user => $user) };

	if (defined $user) {
		chown $user, $user, glob("$cli->{root}/*");
	}
	$s->init(undef, \%can);
	$run = start_task($s, 'asks');
	has_asked($s);
	$r = $paddock->(status => $run);
	like($r->{out}, qr/status\s+running, waits for an answer/,
	     "$as: paddock status of a run that asks, elsewhere");
	$run = $s->run_async('doze');
	$s->saying($run, 'dozing');
	$r = $paddock->(status => $run);
	like($r->{out}, qr{progress\s+1/4\nmessage\s+dozing}, "$as: paddock status");
	$r = $paddock->(logs => $run);
	like($r->{out}, qr/I lie down/, "$as: paddock logs");
	$r = $paddock->('ps');
	like($r->{out}, qr/\Q$run\E\s+doze\s+running/, "$as: paddock ps");
	my $follows = $cli->start(['logs', '-f', $run, $cli->private], user => $user);
	until_true('its first lines', sub {
		(read_file($follows->{out_path}) // '') =~ /lie down/ });
	$r = $paddock->(cancel => $run);
	is_deeply([@$r{qw(status out)}], [0, "$run\n"], "$as: paddock cancel") or diag(json_of($r));
	like($r->{err}, qr/^paddock: $run is asked to stop: it is (?:running|canceled)\n\z/,
	     "$as: paddock cancel says how the run is");
	$r = $follows->finish;
	is($r->{status}, 0, "$as: paddock logs -f ends with the run") or diag(json_of($r));
	is($s->get($run)->{status}, 'canceled', "$as: paddock cancel has cancelled the run");
	$r = $paddock->(cancel => $run);
	is($r->{status}, 0, "$as: a second paddock cancel is no fault");
	like($r->{err}, qr/nothing to cancel: the run has ended already/, "$as: a second paddock cancel says that the run has ended");
	is($paddock->(cancel => 'run_00000000000000000000000000')->{status}, 4,
	   "$as: paddock cancel of an unknown run has status 4");

	$run = $s->run_async('doze');
	$s->saying($run, 'dozing');
	kill STOP => $s->{pid};
	$r = $paddock->(cancel => $run);
	is($r->{status}, 125, "$as: paddock cancel where the server does not answer fails");
	is($r->{out}, '', "$as: paddock cancel prints no run that is not cancelled");
	like($r->{err}, qr/not cancelled yet: another server has this run/, "$as: paddock cancel says why the run is not cancelled yet");
	$r = $paddock->(logs => $run);
	ok($r->{status} == 125 && $r->{err} =~ /does not answer/, '  paddock logs, too')
	    or diag(json_of($r));
	kill CONT => $s->{pid};
	is($s->ended($run)->{status}, 'canceled', "$as: the run is cancelled when the server goes on");
	$s->stop;
}

# Waiting runs of an ended server wait for the next server, whoever looks meanwhile.
sub left_waiting {
	my ($user, $as) = @_;
	my $cli = Cli->new(templates => \%templates, user => $user);
	my %same = (user => $user, root => $cli->{root}, config => {max_concurrent_runs => 1});
	my $paddock = sub { return $cli->run_private([@_], user => $user) };
	my ($s, $begun, $next, $waits, $unwanted, $r);

	chown $user, $user, glob("$cli->{root}/*") if defined $user;
	$s = server(%same);
	$s->init;
	($begun, $next) = map { $s->run_async('doze') } 1, 2;
	($waits, $unwanted) = map { $s->run_async('quick') } 1, 2;
	$s->saying($begun, 'dozing');
	$s->kill9;
	strays_gone();
	$r = $paddock->('ps');
	is_deeply([map { $r->{out} =~ /^\Q$_\E .* queued/m ? 1 : 0 } $next, $waits, $unwanted],
		  [1, 1, 1], "$as: the command looks, and leaves waiting what waits");
	like($paddock->(status => $begun)->{out}, qr/status\s+failed/, '  what had begun is over');
	like($paddock->(status => $waits)->{out}, qr/status\s+queued/, '  one that waits is shown');
	is($paddock->(logs => $waits)->{status}, 0, "$as: paddock logs of a queued run has status 0");
	$r = $paddock->(cancel => $unwanted);
	is_deeply([@$r{qw(status out)}], [0, "$unwanted\n"], "$as: paddock cancel cancels a queued run")
	    or diag(json_of($r));
	like($paddock->(status => $unwanted)->{out}, qr/status\s+canceled/, "$as: a cancelled queued run is canceled at once");

	$s = server(%same);
	$s->init;
	$s->saying($next, 'dozing');
	is($s->get($waits)->{status}, 'queued', "$as: the next server takes them over");
	$s->stop("$as: the next server ends before the queued runs begin");
	$s = server(%same);
	$s->init;
	is($s->ended($waits)->{status}, 'succeeded', "$as: the server after the next runs what waited");
	is($s->get($next)->{error}{errorCode}, 'RUN_INTERRUPTED', "$as: a run that the dead server had begun is interrupted");
	$s->stop;
}

# the uid does not matter to a database
for my $case (as_root() ? ([undef, 'root'], on_postgres() ? () : [$NOBODY, 'nobody']) : [undef, 'us']) {
	shows_and_ends(@$case);
	unasked(@$case);
	tasks(@$case);
	hindered(@$case);
	strangers(@$case);
	silent(@$case);
	died(@$case);
	races(@$case);
	ends_meanwhile(@$case);
	command(@$case);
	left_waiting(@$case);
}

done_testing();
