#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Several requestors: identification, and what each may use, see and know of other
# requestors.
use lib 'tests/lib';
use Paddock;
use Daemon;

my $RATE_LIMITED = -32010;
my %templates = (
    echo => lua('return inputs', trustLevelSupport => ['local', 'remote']),
    other => lua('return 1'),
    near => lua('return 1', trustLevelSupport => ['local']),
    doze => lua('run.progress(0, 1, "dozing") while true do run.sleep(60000) end',
		limits => {maxTimeoutMs => 600000}),
    burn => lua('local t = os.clock() while os.clock() - t < inputs.s do end return 1'),
    makes => lua('return run.artifact{name = "a", data = ("x"):rep(inputs.n)}'),
);

# A section for the requestor on stdio.
sub me { my ($keys, $limits) = @_;
	 return ($limits ? "[limits]\n$limits" : '') .
	     "[requestor \"alice\"]\nuid = $>\n$keys" }
sub server { return Paddock->new(templates => \%templates, config => me(@_)) }

# A refusal by a limit of alice's own, with all details.
sub limited {
	my ($r, $code, $limit, $unit, $name) = @_;
	my $d = $r->{view}{details} // {};

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	refused($r, $code, $name);
	ok(($d->{limit} // '') eq $limit && $d->{unit} eq $unit &&
	   $d->{used} >= $d->{allowed} && $d->{retryAfterMs} > 0 &&
	   $d->{whoCanRaise} eq "the operator: $limit in [requestor \"alice\"]",
	   "$name: the refusal says which limit, how much, who can raise the limit and when to try again") or
	    diag(json_of($r->{view}));
	return $d;
}

sub reload {
	my ($s, $config) = @_;
	my $n = () = $s->log_text =~ /reload=done/g;

	$s->write_config($config);
	kill HUP => $s->{pid};
	until_true('the reload', sub {
		my @all = $s->log_text =~ /reload=done/g;
		return @all > $n });
}

# ---- who one is ----

{
	my $s = server("max_concurrent_runs = 3\nburst = 7\n")->greeted;
	my $v = $s->tool('get_runtime_profile')->{view};

	is($v->{requestor}, 'alice', 'a section names the user');
	is($v->{trustLevel}, 'local', 'who is trusted as it connects');
	same_json($v->{requestorLimits}, {maxConcurrentRuns => 3, burst => 7},
		  'the profile has the requestor\'s limits');
	is($v->{usage}{cpuMsThisHour}, 0, 'the profile has the CPU time used');
	$s->stop;
}

# ---- rate ----

{
	my $s = server("rate_per_second = 1\nburst = 20\n")->greeted;
	my @pings = map { $s->request('ping') } 1 .. 300;
	my @asked = map { $s->request('tools/list') } 1 .. 300;
	my @errors = map { $_->{error} // () } map { $s->answer($_) } @asked;
	my $data = $errors[0]{data} // {};

	my @unanswered = map { $_->{error} // () } map { $s->answer($_) } @pings;

	cmp_ok(scalar @unanswered, '>', 50, 'pings have a rate, ten times as high');
	is((grep { $_->{code} != $RATE_LIMITED } @unanswered), 0, 'pings above the rate have the code of the rate limit');
	cmp_ok(scalar @errors, '<', 290,
	       'pings do not use the rate of requests');
	cmp_ok(scalar @errors, '>', 200, 'over its rate it is refused');
	is((grep { $_->{code} != $RATE_LIMITED } @errors), 0, 'the refusal by rate has the code -32010');
	is($data->{errorCode}, 'RATE_LIMITED', 'the refusal by rate is RATE_LIMITED');
	cmp_ok($data->{retryAfterMs}, '>', 0, 'the refusal by rate says when to try again');
	like($errors[0]{message}, qr/rate_per_second in \[requestor "alice"\]/,
	     'the refusal by rate names rate_per_second');
	reload($s, me(''));
	ok($s->call('tools/list')->{result}, 'a reload lifts the limit at once');
	$s->stop;
}

# ---- runs ----

{
	my $s = server("max_concurrent_runs = 1\nmax_queued_runs = 2\n",
		       "max_concurrent_runs = 4\n")->greeted;
	my @runs = map { $s->run_async('doze') } 1 .. 3;

	$s->saying($runs[0], 'dozing');
	my $usage = $s->tool('get_runtime_profile')->{view}{usage};
	same_json([@$usage{qw(running queued)}], [1, 2],
		  'one runs at a time, though the server would let four');
	my $d = limited($s->run('doze', {}, mode => 'async'), 'QUEUE_FULL',
			'max_queued_runs', 'runs', 'a third queued run is refused');
	same_json([@$d{qw(used allowed)}], [2, 2], '  in numbers');
	reload($s, me("max_concurrent_runs = 2\nmax_queued_runs = 2\n"));
	$s->saying($runs[1], 'dozing');
	is($s->get($runs[2])->{status}, 'queued', 'a reload starts one more');
	$s->tool(cancel_task_run => {runId => $_}) for @runs;
	$s->ended($_) for @runs;
	$s->stop;
}

# ---- how long a run is remembered ----

for (['max_ttl_ms = 5000' => 5000], ["max_ttl_ms = 5000\nrun_ttl_ms = 9000" => 9000],
     ["max_ttl_ms = 90000\n[limits]\nmax_ttl_ms = 5000\ndefault_ttl_ms = 5000\nrun_ttl_ms = 5000" => 5000]) {
	my ($section, $most) = @$_;
	my $s = server("$section\n")->greeted;
	$s->run_sync(echo => {}, ttlMs => 3_600_000);
	$s->stop;
	my $ttl = qx{python3 -c 'import sqlite3, sys, glob
for f in glob.glob(sys.argv[1] + "/*.db") + glob.glob(sys.argv[1] + "/*.sqlite*"):
    c = sqlite3.connect(f)
    print(*[r[0] for r in c.execute("SELECT expires_ms - finished_ms FROM runs")])
    break' $s->{state}};
	is($ttl, "$most\n", 'no longer than its requestor may ask for');
}

# ... also when the server dies meanwhile.
{
	my $s = server("run_ttl_ms = 3600000\n")->greeted;
	my $run = $s->run_async('doze');

	$s->saying($run, 'dozing');
	$s->kill9;
	my $t = Paddock->new(root => $s->{root}, templates => \%templates, config => me("run_ttl_ms = 3600000\n"))->greeted;
	my $v = $t->ended($run);
	is($v->{error}{errorCode}, 'RUN_INTERRUPTED', 'a run that was interrupted');
	is($v->{expiresAt} - $v->{updatedAt}, 3_600_000, 'an interrupted run is kept for the requestor\'s ttl');
	$t->stop;
}

# ---- CPU time ----

{
	my $s = server("cpu_seconds_per_hour = 1\nmax_concurrent_runs = 1\n")->greeted;
	my @runs = map { $s->run_async(burn => {s => 1.1}) } 1, 2;

	is($s->ended($runs[0])->{status}, 'succeeded', 'a run that had begun ends');
	my $over = $s->run(echo => {});
	limited($over, 'QUOTA_EXCEEDED', 'cpu_seconds_per_hour', 'seconds', 'runs are refused when the CPU time is used up');
	like($over->{view}{recoverHint}, qr/^try again in .*, when what was used an hour ago counts no more, or have the limit raised, by the operator: /,
	     'the hint for CPU time says when the oldest use falls out');
	is($s->get($runs[1])->{status}, 'queued', 'what waits is not started');
	kill USR1 => $s->{pid};
	ok($s->log_has(qr/requestor=alice status=held running=0 queued=1 parked=0 cpu_ms=1\d{3} .*refused=1 /),
	   'the status says so');
	reload($s, me("cpu_seconds_per_hour = 60\n"));
	is($s->ended($runs[1])->{status}, 'succeeded', 'a held run is started when the limit is raised');
	$s->stop;
}

# ---- artifacts ----

{
	my $s = server("artifact_bytes = 100\n")->greeted;
	ok($s->run_sync(makes => {n => 60})->{result}, 'an artifact is kept');
	my $v = $s->run_sync(makes => {n => 41});

	is($v->{status}, 'failed', 'one that would be too much is not');
	like($v->{error}{message} // $v->{error},
	     qr/41 bytes .* 60 of 100 .*operator: artifact_bytes in \[requestor "alice"\]/,
	     '  the template is told why the artifact is refused');
	delete $v->{error}{details}{runId};
	same_json($v->{error}{details}, {limit => 'artifact_bytes', used => 101, allowed => 100, unit => 'bytes',
		  whoCanRaise => 'the operator: artifact_bytes in [requestor "alice"]'}, '  the view says why the artifact is refused');
	ok($s->run_sync(makes => {n => 40})->{result}, 'all may be used');
	limited($s->run(makes => {n => 1}), 'QUOTA_EXCEEDED', 'artifact_bytes',
		'bytes', 'a run is refused when artifact_bytes are used up');
	$s->stop;
	my $again = Paddock->new(root => $s->{root}, state => $s->{state})->greeted;
	is($again->tool('get_runtime_profile')->{view}{usage}{artifactBytes}, 100,
	   'the bytes of artifacts are known after a restart');
	limited($again->run(echo => {}), 'QUOTA_EXCEEDED', 'artifact_bytes',
		'bytes', 'the bytes of artifacts count after a restart');
	$again->stop;
}

# ---- what it sees ----

sub names { return join ' ', sort grep { $templates{$_} }
	    map { $_->{name} // $_->{templateId} } @{$_[0]} }

# The answer about NAME, with NAME removed.
sub said_of { my ($name, $r) = @_;
	      delete @$r{qw(order raw)};
	      return json_of($r) =~ s/\b$name\b/NAME/gr =~ s/"id":\d+/"id":0/gr }

{
	my $s = server("templates = echo near\ntrust_level = remote\n")->greeted;
	is(names($s->call('tools/list')->{result}{tools}), 'echo',
	   'tools/list has what it may see and is trusted with');
	is(names($s->tool('list_task_templates')->{view}{templates}), 'echo near',
	   'list_task_templates shows the listed templates');
	is($s->tool('get_runtime_profile')->{view}{trustLevel}, 'remote',
	   'the trust level is the section\'s');
	refused($s->run(near => {}), 'TRUST_LEVEL_NOT_ALLOWED',
		'a local template is refused to a remote requestor');
	refused($s->run('other'), 'TEMPLATE_NOT_FOUND',
		'another template is not there');
	for my $try (sub { $s->run($_[0]) },
		     sub { $s->run($_[0], {}, templateVersion => '9.0.0') },
		     sub { $s->tool($_[0], {}) }) {
		my ($hidden, $unknown) = map { said_of($_, $try->($_)) }
		    'other', 'xyzzy';

		is($hidden, $unknown, '  exactly like one that there is not');
	}
	unlike(json_of($s->run('othe')), qr/other/, 'a hidden template is not suggested');
	$s->{notes} = [];
	reload($s, me("templates = echo other\n"));
	is(names($s->call('tools/list')->{result}{tools}), 'echo other',
	   'a reload shows another');
	is((grep { $_->{method} =~ m{tools/list_changed} } @{$s->{notes}}), 1,
	   'the change of tools is notified');
	$s->stop;
}

# ---- two of them ----

# ---- who is removed in mid-session, and cannot be hung up on ----

{
	my $s = Paddock->new(config => "[requestor \"me\"]\nuid = $>\n")->greeted;

	is($s->tool('get_runtime_profile')->{view}{requestor}, 'me', 'stdio is its user');
	$s->write_config('');
	kill HUP => $s->{pid};
	$s->log_has(qr/reload=done/);
	like($s->call('tools/list')->{error}{message} // '',
	     qr/operator has removed \[requestor "me"\]/, 'who was removed is told so');
	$s->stop;
	$s = Paddock->new(config => "[requestor \"me\"]\nuid = $>\n", templates => {one => lua('return 1')})->greeted;
	is($s->run_sync('one')->{result}, 1, 'who has a section runs a template');
	$s->write_config('');
	write_file("$s->{root}/templates/one-1.0.0/template.json", '{');
	kill HUP => $s->{pid};
	$s->log_has(qr/reload=done/);
	like($s->call('tools/list')->{error}{message} // '', qr/operator has removed \[requestor "me"\]/,
	     'no package that is broken keeps a requestor from being removed');
	$s->stop;
}

SKIP: {
	skip_lacking(1, 'root');
	my $root = Paddock::fresh_root();
	my $audit = "$root/audit";
	my $both = "[server]\naudit_file = $audit\n" .
	    "[limits]\nmax_concurrent_runs = 1\n[requestor \"alice\"]\nuid = 0\n";
	my $bobs = "[requestor \"bob\"]\nuid = $NOBODY\n";
	my $d = Daemon->new(root => $root, templates => \%templates,
			    config => $both . $bobs);

	$d->ready;
	chmod 0666, $d->{socket};
	my $alice = $d->client->greeted;
	my $bob = $d->client($NOBODY)->greeted;

	is($bob->tool('get_runtime_profile')->{view}{requestor}, 'bob',
	   'two users are two requestors');

	# ---- one knows nothing of the other ----

	my $made = $alice->run_sync(makes => {n => 5});
	my $doze = $alice->run_async('doze');
	my $waits = $alice->run_async('echo');
	my %art = (art_x => $made->{result});

	$alice->saying($doze, 'dozing');
	my @runs = ($made->{runId}, $doze, $waits);
	my $no_run = 'run_' . 'a' x 26;
	my $no_art = 'art_' . 'a' x 26;

	# Bob's answer about ID, with ID and the request's id removed.
	my $hears = sub {
		my ($id, $method, $params) = @_;
		my $a = $bob->call($method, $params);

		return $a->{raw} =~ s/\Q$id\E/ID/gr =~ s/"id":\d+/"id":0/r;
	};
	my $same = sub {
		my ($name, $theirs, $unknown, @ask) = @_;
		my $code = pop @ask;

		is($hears->($theirs, $code->($theirs)),
		   $hears->($unknown, $code->($unknown)), "$name is unknown");
	};
	for my $tool (qw(get_task_run cancel_task_run)) {
		$same->("$tool: " . (qw(an\ ended a\ running a\ queued))[$_] . ' run',
			$runs[$_], $no_run, sub {
				('tools/call', {name => $tool,
						arguments => {runId => $_[0]}}) })
		    for 0 .. 2;
	}
	$same->("the log of a run", $_, $no_run, sub {
		('resources/read', {uri => "paddock://runs/$_[0]/log"}) }) for @runs;
	$same->('an artifact', $made->{result}, $no_art, sub {
		('tools/call', {name => 'get_artifact',
				arguments => {artifactId => $_[0]}}) });
	$same->('an artifact by its URI', $made->{result}, $no_art, sub {
		('resources/read', {uri => "paddock://runs/$made->{runId}/artifacts/$_[0]"}) });
	same_json($bob->tool('list_task_runs')->{view}, {runs => [], total => 0},
		  'no run of another\'s is listed');
	is($alice->get($doze)->{status}, 'running', 'the run that another tried to cancel is running');
	my @polls = map { $alice->ask(get_task_run => {runId => $doze}) } 1 .. 20;
	$alice->result($_) for @polls;
	$d->signal('USR1');
	ok($d->log_has(qr/requestor=bob status=ok running=0 queued=0 .*lookups_failed=2\d /),
	   'failed look-ups are counted');
	ok($d->log_has(qr/requestor=bob lookups_failed=1$/m), 'the first failed look-up is logged');
	is((() = $d->log_text =~ / requestor=bob lookups_failed=\d+$/mg), 1, 'a failed look-up is logged once');
	ok($d->log_has(qr/requestor=alice status=\w+ .*overpolls=[1-9]/),
	   'who asks too often is counted');
	is((() = $d->log_text =~ /level=warn .*requestor=alice overpolls=1$/mg), 1, 'overpolls are logged once');
	unlike($d->log_text, qr/requestor=bob overpolls=/, 'no overpolls of another requestor are logged');

	# ---- turns ----

	$d->signal('TSTP');
	$d->log_has(qr/quiet=yes/);
	$alice->tool(cancel_task_run => {runId => $_}) for $doze, $waits;
	$alice->ended($_) for $doze, $waits;
	my $before = () = read_file($audit) =~ /run_ended/g;
	my @asked = map { $alice->ask_run(echo => {}, mode => 'async') } 1 .. 200;
	$alice->result($_) for @asked;
	my $his = $bob->run_async(echo => {});
	$d->signal('CONT');
	$bob->ended($his);
	until_true('all to end', sub {
		my $n = () = read_file($audit) =~ /run_ended/g;
		return $n == $before + 201 });
	my @ended = map { json_to($_)->{requestor} } grep { /run_ended/ }
	    split /\n/, read_file($audit);
	my ($turn) = grep { $ended[$before + $_] eq 'bob' } 0 .. 200;

	cmp_ok($turn, '<=', 2, '200 of one delay another\'s by a turn or two');

	# ---- one is removed ----

	my $last = $bob->run_async('doze');
	$bob->saying($last, 'dozing');
	$d->write_config($both);
	is($d->reload, 'done', 'a section is removed');
	ok($bob->drained, 'the connection of a removed requestor is closed');
	ok($alice->call('ping')->{result}, 'no other is');
	my $user = $d->client($NOBODY)->greeted;
	is($user->tool('get_runtime_profile')->{view}{requestor}, "uid:$NOBODY",
	   'who comes again is anybody');
	refused($user->tool(get_task_run => {runId => $last}), 'RUN_NOT_FOUND',
		'who has no such run');
	$d->signal('USR1');
	ok($d->log_has(qr/requestor=bob status=gone running=1 /),
	   'the run of a removed requestor goes on');
	$d->write_config($both . $bobs);
	is($d->reload, 'done', 'a section is there again');
	ok($user->drained, 'the connection of a user without a section is closed when a section comes');
	$bob = $d->client($NOBODY)->greeted;
	is($bob->get($last)->{status}, 'running', 'who finds the run');
	$bob->tool(cancel_task_run => {runId => $last});
	$bob->ended($last);
	$d->stop;
}

# ---- runs that sleep do not hold every place ----

SKIP: {
	skip_lacking(1, 'root');
	my $d = Daemon->new(templates => \%templates, config => "[limits]\nmax_concurrent_runs = 5\n");

	$d->ready;
	chmod 0666, $d->{socket};
	my $alice = $d->client->greeted;
	my @five = map { $alice->run_async('doze') } 1 .. 5;
	$alice->saying($_, 'dozing') for @five;
	ok(@five == 5, 'who is alone has all places');
	my $bob = $d->client($NOBODY)->greeted;
	my $waits = $bob->run_async(echo => {});
	is($bob->get($waits)->{status}, 'queued', 'the first run of another requestor waits');
	$alice->tool(cancel_task_run => {runId => $five[0]});
	is($bob->ended($waits)->{status}, 'succeeded', 'for one of them');
	my @more = map { $alice->run_async('doze') } 1 .. 3;
	is($bob->run_sync(echo => {})->{status}, 'succeeded', 'from then on there is a place for it');
	is($alice->get($_)->{status}, 'queued', '  however many wait') for @more;
	$d->write_config("[limits]\nmax_concurrent_runs = 5\n[requestor \"alice\"]\nuid = 0\nmax_concurrent_runs = 5\n");
	is($d->reload, 'done', 'the operator raises the number of runs of one');
	$alice = $d->client->greeted;
	$d->signal('USR1');
	ok($d->log_has(qr/requestor=uid:0 status=ok running=4/), '  the others go on');
	$d->stop(undef, 'QUIT');
}

done_testing;
