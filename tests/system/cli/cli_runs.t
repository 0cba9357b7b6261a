#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Runs after they were started: waited for, their results had again, named by the
# beginning of an id or as the last, and listed by when they were.
use lib 'tests/lib';
use Paddock;
use Cli;
use Daemon;
use Stateless;

my %templates = (
    give => lua('return {n = inputs.n}'),
    fail => lua('run.error("NO", "no is no")'),
    slow => lua('run.sleep(60000)'),
    asks => lua('run.elicit{message = "m", schema = {type = "object", properties = {}}}'),
    soon => lua('run.progress(0, 1, "begun") run.sleep(300) return 7'),
);
my $d = Daemon->new(templates => \%templates);
$d->log_has(qr{ready=yes});
my $cli = Cli->new(socket => $d->{socket});

sub paddock { return $cli->run([@_, '--socket', $d->{socket}]) }
sub start { my $r = paddock('run', @_, '--mode', 'async'); chomp $r->{out}; return $r->{out} }

my @given = map { start('give', '-i', "n:=$_") } 1 .. 3;

# ---- wait, result ----

{
	my $soon = start('soon');
	my $r = paddock('wait', $soon);

	is($r->{out}, "succeeded\n", 'wait tells how the run ended');
	is($r->{status}, 0, 'wait of a succeeded run has status 0');
	like($r->{err}, qr/\Apaddock: $soon succeeded in [\d.]+ m?s\n\z/, 'wait prints the time of the run on stderr');
	is(paddock('result', $soon)->{out}, "7\n", 'result gives what the run gave');
	my $fail = start('fail');
	$r = paddock('wait', $fail);
	is_deeply([@{$r}{qw(out status)}], ["failed\n", 1], 'a run that fails');
	like($r->{err}, qr/no is no/, 'wait of a failed run says why');
	$r = paddock('wait', $soon, $fail);
	is($r->{status}, 1, 'of several the worst counts');
	is(paddock('wait', $fail, $soon)->{status}, 1, 'wait of several runs has the worst status in any order');
	is($r->{out}, "$soon succeeded\n$fail failed\n", 'wait of several runs prints each id');
	like(paddock('result', $fail)->{err}, qr/no is no/, 'result says why there is none');
	my $slow = start('slow');
	$r = paddock('wait', $slow, '-t', '200ms');
	is($r->{status}, 124, 'time that is up ends the wait');
	like($r->{err}, qr/\Q$slow\E has not ended in that time, and goes on/, 'wait says that the run goes on after the timeout');
	$r = paddock('result', $slow);
	is($r->{status}, 1, 'a run that goes on has no result');
	like($r->{err}, qr/it is running/, 'result of a running run says so');
	is(paddock('cancel', $slow)->{status}, 0, 'the running run is cancelled');
	$r = paddock('wait', $slow);
	is($r->{status}, 130, 'a run that was cancelled');
	is($r->{err}, "paddock: $slow was cancelled\n", 'wait says that the run was cancelled');
	same_json([sort keys %{json_to(paddock('result', $soon, '--json')->{out})}],
		  [sort keys %{json_to(paddock('wait', $soon, '--json')->{out})}], '--json gives the whole view');
}

# ---- --detach ----

{
	my $r = paddock('run', 'slow', '--detach');
	my ($id) = $r->{out} =~ /\A(run_[a-z2-7]{26})\n\z/;

	is($r->{status}, 0, 'run --detach leaves');
	ok($id, 'run --detach prints the id alone on stdout') or diag($r->{out});
	like($r->{err}, qr/\Apaddock: $id is (?:queued|running)\n  hint: paddock wait $id --socket \S+; paddock logs -f $id --socket \S+\n\z/,
	     'run --detach prints on stderr how to follow');
	$r = paddock('cancel', $id);
	like($r->{err}, qr/\Apaddock: $id is asked to stop: it is \w+\n\z/, 'cancel tells what it was');
	is(paddock('wait', $id)->{status}, 130, 'wait prints nothing before a cancelled run has ended');
	($id) = paddock('run', 'give', '-d', '-q', '-i', 'n:=3', '--idempotency-key', 'k')->{out} =~ /(run_\w+)/;
	is(paddock('wait', $id)->{out}, "succeeded\n", 'a short one is waited for');
	is(paddock('run', 'give', '-dq', '-i', 'n:=3', '--idempotency-key', 'k')->{out}, "$id\n", 'run --detach with a used key prints the id of the ended run');
	is(json_to(paddock('result', $id)->{out})->{n}, 3, 'result with a used key gives the result');
	is(paddock('run', 'give', '-d', '--mode', 'sync')->{status}, 2, 'who waits does not leave');
	said($cli->run(['run', 'give', '--detach']), 125,
	     qr/\Apaddock: --detach needs the daemon, since a private server ends with this command\n  hint: start paddockd, or leave --detach out\n\z/,
	     'without a daemon it says that it needs one');
	like(paddock('run', 'give', '-i', 'n:=1')->{err}, qr/^paddock: run_\w{26} succeeded in [\d.]+ m?s$/m, 'what succeeds is told with its id and time');
}

# ---- names ----

{
	my $last = start('give', '-i', 'n:=9');

	paddock('wait', $last);

	is(json_to(paddock('result', 'last')->{out})->{n}, 9, 'last is the newest');
	is(json_to(paddock('result', $given[0])->{out})->{n}, 1, 'a whole id');
	is(json_to(paddock('result', substr $given[1], 0, 29)->{out})->{n}, 2, 'the beginning of one');
	is(json_to(paddock('result', substr $given[2], 4, 25)->{out})->{n}, 3, 'the beginning of an id without run_ is found');
	is(json_to(paddock('result', substr $given[2], 4)->{out})->{n}, 3, 'a whole id without run_ is found');
	my $r = paddock('result', 'run_');
	is($r->{status}, 2, 'a beginning of several is refused');
	like($r->{err}, qr/several of your runs begin with "run_"; say more of the id \(paddock ps -a --socket \S+ has them\)/, 'the refusal of a short beginning says how to list runs');
	$r = paddock('wait', 'run_zzzzzz');
	is_deeply([$r->{status}, $r->{err} =~ /RUN_NOT_FOUND/ ? 1 : 0], [4, 1],
	    'a beginning of none');
	like(paddock('explain', 'last')->{out}, qr/\Q$last\E/, 'explain takes them, too');
	my $logs = paddock('logs', 'last');
	is("$logs->{status}$logs->{out}", '0', 'logs takes last');
	is($logs->{err}, "paddock: $last has logged nothing\n", 'logs says that nothing was logged');
	is(paddock('logs', '-q', 'last')->{err}, '', 'logs -q says nothing of an empty log');
}

# ---- waiting for answers ----

{
	my $c = $d->client;

	$c->request('tools/call', stateless({name => 'asks', arguments => {}}, {elicitation => {}}));
	ok(until_true('a question', sub { paddock('status')->{out} =~
		/^your runs +0 running, 0 waiting\n +1 waiting for answers$/m }),
	   'status counts what waits for answers with no client there');
	like(paddock('status', 'last')->{out}, qr/^status +running, waits for an answer$/m, 'status of a run says that answers are awaited');
	paddock('cancel', 'last');
	paddock('wait', 'last');
	unlike(paddock('status')->{out}, qr/for answers/, 'where nothing does it says nothing');
}

# ---- ps ----

{
	my $all = json_to(paddock('ps', '-a', '--json')->{out});

	like(paddock('ps', '-a')->{out}, qr/^run_\S+ +give +succeeded +\d\S*(?: \w+)? ago/m, 'ps prints how long ago a run was created');
	is(scalar @{json_to(paddock('ps', '-n', '2', '--json')->{out})}, 2, 'ps -n: so many');
	same_json(json_to(paddock('ps', '-n', '2', '--json')->{out}), [@$all[0, 1]], 'ps -n lists the newest runs');
	same_json(json_to(paddock('ps', '--since', '1h', '--json')->{out}), $all, 'ps --since: of that time');
	my $age = time * 1000 - $all->[-1]{createdAt};
	is(scalar(grep { $_->{createdAt} < $all->[0]{createdAt} }
	    @{json_to(paddock('ps', '--since', '1ms', '--json')->{out})}), 0, 'ps --since lists no older runs');
	same_json(json_to(paddock('ps', '-n', '50', '--status', 'failed', '--json')->{out}),
		  [grep { $_->{status} eq 'failed' } @$all], 'ps --status lists runs of that status');
	same_json(json_to(paddock('ps', '-a', '--template', 'give', '--since', '1h', '--json')->{out}),
		  [grep { $_->{templateId} eq 'give' } @$all], 'ps --template lists runs of that template');
	for my $case (['-n', '0'], ['-n', 'x'], ['--since', 'yesterday']) {
		is(paddock('ps', @$case)->{status}, 2, "ps @$case is refused");
	}
}

# ---- the tool ----

{
	my $c = $d->client->greeted;
	my $list = sub { return $c->tool(list_task_runs => {@_})->{view} };
	my $all = $list->();

	is($list->(idPrefix => $given[0])->{total}, 1, 'list_task_runs by an id: total counts what matches');
	is($list->(since => $all->{runs}[1]{createdAt} + 1)->{total} <= 1, 1, 'since: what is newer');
	is($list->(since => 0)->{total}, $all->{total}, 'since the beginning');
	is($list->(idPrefix => 'run_', since => 4102444800000)->{total}, 0, 'both: what matches both');
	refused($c->tool(list_task_runs => {idPrefix => 'run_%'}), 'INVALID_PARAMETER', 'a beginning that is none');
}
$d->stop;
done_testing();
