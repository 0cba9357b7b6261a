#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The daemon as operated by an operator and a service manager: readiness, signals, reload
# and rotation under load, drain, sockets, peers, the audit log.
use lib 'tests/lib';
use Paddock;
use Daemon qw(manager turn_all);
use File::Copy qw(copy);
use POSIX ();
use Socket;

my $ROTATIONS = 6;
my $EX_UNAVAILABLE = 69;
my $EX_CONFIG = 78;
my %templates = (
    echo => lua('return inputs'),
    nap => lua('run.sleep(inputs.ms) return {rested = inputs.ms}'),
    doze => lua('run.progress(0, 1, "dozing") while true do run.sleep(60000) end',
		limits => {maxTimeoutMs => 600000}),
    fails => lua('run.error("NO_LUCK", "bad day")'),
);

sub daemon { return Daemon->new(templates => \%templates, @_) }

# Run paddockd with ARGS to the end: (exit status, stdout, stderr).
sub paddockd {
	my ($dir, @args) = @_;
	my $pid = fork // die "fork: $!\n";

	if ($pid == 0) {
		open STDIN, '<', '/dev/null' or die;
		open STDOUT, '>', "$dir/stdout" or die;
		open STDERR, '>', "$dir/stderr" or die;
		%ENV = (PATH => $ENV{PATH}, HOME => $dir);
		exec {"$BUILD/paddockd"} 'paddockd', @args or POSIX::_exit(127);
	}
	waitpid $pid, 0;
	return ($? >> 8, read_file("$dir/stdout"), read_file("$dir/stderr"));
}

sub exit_of { # of an instance that ends by itself
	my ($d) = @_;

	my $status = $d->wait_exit;
	$d->close_stdin;
	return defined $status ? $status >> 8 : undef;
}

# ---- what a service manager hears ----

{
	my $root = Paddock::fresh_root();
	my $m = manager("$root/manager");
	my $d = daemon(root => $root, manager => $m,
		       env => {WATCHDOG_USEC => 40_000});

	is($m->hears(qr/(.*)/s), "READY=1\nSTATUS=serving",
	   'the manager first hears that it is ready');
	my $c = $d->client->greeted;
	same_json($c->run_sync(echo => {a => 1})->{result}, {a => 1},
		  'a daemon that reported READY serves');
	$m->hears(qr/^WATCHDOG=1$/);
	ok($m->hears(qr/^WATCHDOG=1$/), 'the watchdog of the manager is fed');
	$d->signal('HUP');
	like($m->hears(qr/^RELOADING=1\nMONOTONIC_USEC=(\d+)$/), qr/^\d+$/,
	     'a reload is announced');
	ok($m->hears(qr/^READY=1$/), 'the end of a reload is announced');
	$d->signal('TSTP');
	ok($m->hears(qr/^STATUS=quiet/), 'quiet is a status');
	$d->signal('CONT');
	ok($m->hears(qr/^STATUS=serving$/), 'serving is a status');
	$d->signal('TERM');
	ok($m->hears(qr/^STOPPING=1/), 'the end is announced');
	$d->stop('TERM ends it, status 0, and it leaves nothing behind');
}
{
	my $m = manager('@paddock-test-' . $$);
	my $d = daemon(manager => $m);

	ok($m->hears(qr/^READY=1/), 'an abstract socket is reached as well');
	$d->stop(undef, 'INT');
	is($m->heard(qr/^WATCHDOG/), 0, 'no watchdog was asked for');
}
{
	my $root = Paddock::fresh_root();
	my $m = manager("$root/manager");
	my $s = Paddock->new(templates => \%templates, root => $root,
			     env => {NOTIFY_SOCKET => $m->{name}})->greeted;

	kill HUP => $s->{pid};
	$s->log_has(qr/reload=done/);
	kill TERM => $s->{pid};
	$s->stop;
	is($m->heard(qr/./), 0, 'on stdio a manager of our parent hears nothing');
}

# A made-up worker program beside a copy of paddockd.
sub with_worker {
	my ($script, %o) = @_;
	my $root = Paddock::fresh_root();

	mkdir "$root/bin";
	copy("$BUILD/paddockd", "$root/bin/paddockd") or die;
	write_file("$root/bin/paddock-worker", "#!/bin/sh\n$script\n");
	chmod 0755, "$root/bin/paddockd", "$root/bin/paddock-worker";
	my $d = daemon(root => $root, idle => 1,
		       manager => manager("$root/manager"), %o);
	$d->{copy} = "$root/bin/paddockd";
	{
		no strict 'refs';
		my $real = \&Daemon::command;

		no warnings 'redefine';
		local *Daemon::command = sub {
			map { $_ eq "$BUILD/paddockd" ? $d->{copy} : $_ }
			    $real->(@_);
		};
		$d->start;
	}
	return $d;
}

{
	my $d = with_worker('exec sleep 1000');

	until_true('the socket', sub { -S $d->{socket} });
	is($d->reload, 'done', 'HUP before the cage is measured is heeded');
	is($d->{manager}->heard(qr/READY/), 0, 'a reload before the measure makes no daemon ready');
	ok(!-e $d->{state}, 'nothing is made on disk till then');
	$d->stop('TERM before the measure ends the daemon');
	is($d->{manager}->heard(qr/READY/), 0, 'a daemon ended before the measure never was ready');
}
{
	my $d = with_worker('exit 0');

	is(exit_of($d), $EX_UNAVAILABLE, 'no cage: exit 69');
	is($d->{manager}->heard(qr/READY/), 0, 'a daemon without a cage never is ready');
	ok(!-e $d->{socket}, 'without a socket left');
}
{
	# an ordinary user without a cgroup of its own
	my $root = Paddock::fresh_root();
	chown 65534, 65534, $root if as_root();
	my $d = daemon(root => $root, manager => manager("$root/manager"),
		       user => $ORDINARY,
		       args => ['--require-isolation', 'full']);

	is(exit_of($d), $EX_UNAVAILABLE,
	   'less isolation than is required: exit 69');
	is($d->{manager}->heard(qr/READY/), 0, 'a daemon with too little isolation never is ready');
	like($d->log_text, qr/^paddockd: .* but full is required, which lacks [^(]*cgroup/m,
	     'the log says which isolation is missing');
	like($d->log_text, qr/ why="[^"]*\bcgroup: (?:no cgroups with memory and pids are mounted here|[^"]+ \(start as root, or in a unit with Delegate=yes\))"/,
	     'the log says why there is no cgroup');
	ok(!-e $d->{state}, 'no state was made or taken over');
}

# ---- socket activation ----

# The test holds the listening socket, as a manager does; FDS are passed.
sub passed {
	my ($fds, $n, %o) = @_;
	my $code = 'use POSIX; my ($n, @from) = split /,/, shift;' .
	    'POSIX::dup2($from[$_], 3 + $_) for 0 .. $#from;' .
	    '$ENV{LISTEN_PID} = $ENV{OTHER} || $$; $ENV{LISTEN_FDS} = $n;' .
	    'exec {$ARGV[0]} @ARGV';

	return daemon(wrap => [$^X, '-e', $code, join ',', $n,
			       map { fileno $_ } @$fds], %o);
}

{
	local $^F = 1000; # what is opened from here on is inherited
	my $root = Paddock::fresh_root();
	socket my $fh, AF_UNIX, SOCK_STREAM, 0 or die;
	bind $fh, sockaddr_un("$root/manager-sock") or die;
	listen $fh, 16 or die;
	my %o = (root => $root, socket => "$root/manager-sock",
		 no_socket => 1, kept_socket => 1);
	my $early = Client->new({socket => "$root/manager-sock", log => '/dev/null',
				 pid => 0});
	my $id = $early->request('ping');
	my $d = passed([$fh], 1, %o);

	same_json($early->answer($id)->{result}, {},
		  'who connected before the daemon was there is served');
	$d->stop('a daemon on a passed socket ends');
	ok(-S "$root/manager-sock", 'a passed socket stays when the daemon ends');
	my $waiting = Client->new({socket => "$root/manager-sock",
				   log => '/dev/null', pid => 0});
	$id = $waiting->request('ping');
	$d = passed([$fh], 1, %o);
	same_json($waiting->answer($id)->{result}, {},
		  'who comes between two daemons waits for the next');
	$_->hang_up for $early, $waiting;
	$d->stop;

	$d = passed([$fh, $fh], 2, %o);
	is(exit_of($d), $EX_CONFIG, 'two sockets are one too many: exit 78');

	$d = passed([$fh], 1, env => {OTHER => 1});
	$d->ready;
	ok(-S $d->{socket}, 'a socket meant for another process is not taken');
	$d->stop;

	socket my $dgram, AF_UNIX, SOCK_DGRAM, 0 or die;
	bind $dgram, sockaddr_un("$root/dgram") or die;
	socket my $tcp, AF_INET, SOCK_STREAM, 0 or die;
	bind $tcp, sockaddr_in(0, INADDR_LOOPBACK) or die;
	listen $tcp, 1 or die;
	socket my $deaf, AF_UNIX, SOCK_STREAM, 0 or die;
	open my $file, '<', '/dev/null' or die;
	for (['datagrams', $dgram], ['TCP, whose peers nobody knows', $tcp],
	     ['a socket that does not listen', $deaf], ['no socket', $file]) {
		my ($what, $bad) = @$_;

		$d = passed([$bad], 1, no_socket => 1);
		is(exit_of($d), $EX_UNAVAILABLE, "passed is $what: exit 69");
		like($d->log_text, qr/descriptor 3.*not a unix stream socket/,
		     'the log says why');
	}
}

# ---- reload ----

# Keep one call of TEMPLATE open for each client, COUNT in all; OK judges each run view.
# MIDWAY is called after every EVERY answers.
sub load {
	my ($clients, $count, $template, $every, $midway) = @_;
	my (@views, @asked);
	my $sent = 0;
	my $more = sub {
		my ($i) = @_;

		$asked[$i] = $sent++ < $count
		    ? $clients->[$i]->ask_run($template, {n => $sent},
					      mode => 'sync') : undef;
	};

	$more->($_) for 0 .. $#$clients;
	until_true("$count runs", sub {
		turn_all(@$clients);
		for my $i (0 .. $#$clients) {
			next unless defined $asked[$i] &&
			    $clients->[$i]{answers}{$asked[$i]};
			push @views, $clients->[$i]->result($asked[$i])->{view};
			$more->($i);
			$midway->(@views / $every) if @views % $every == 0;
		}
		return @views == $count;
	});
	return @views;
}

sub told { # how often CLIENT was told that the tools have changed
	my ($c) = @_;

	$c->call('ping');
	return scalar grep { $_->{method} eq 'notifications/tools/list_changed' }
	    @{$c->{notes}};
}

{
	my $d = daemon(templates => {%templates,
			which => lua('return {v = 1}'),
			held => lua('run.progress(0, 1, "held") ' .
				    'run.sleep(1500) return {v = 1}')},
		       config => {max_concurrent_runs => 8});
	my $main = $d->client->greeted;
	my @clients = map { $d->client->greeted } 1 .. 4;
	my $held = $main->run_async('held');
	$main->saying($held, 'held');
	my %change = (
	    3 => sub {
		    for (['which', 'return {v = 2}'], ['held', 'return {v = 2}']) {
			    $d->write_templates({$_->[0] =>
				lua($_->[1], version => '1.1.0')});
		    }
		    $d->signal('HUP');
	    },
	    6 => sub { is($d->reload, 'done', 'a reload under load') },
	    9 => sub { # the old version's code changes under its version
		    $d->write_templates({held => lua('return {v = 3}')});
		    is($d->reload, 'done', 'a second reload under load');
	    });
	my @views = load(\@clients, 240, 'which', 20,
			 sub { ($change{$_[0]} // sub {})->() });

	is(scalar(grep { $_->{status} eq 'succeeded' } @views), 240,
	   'no run is lost over reloads under load');
	is($views[0]{result}{v}, 1, 'the first had the old version');
	is($views[-1]{result}{v}, 2, 'the last had the new one');
	same_json($main->ended($held)->{result}, {v => 1},
		  'a run that was under way ends with its old code');
	same_json([map { $_->{version} } @{$main->tool(list_task_templates =>
		{templateId => 'which'})->{view}{templates}}],
		  ['1.1.0', '1.0.0'], 'both versions are listed');
	same_json($main->run_sync('held', undef, templateVersion => '1.0.0')
		  ->{result}, {v => 3}, 'a new run has the new code');
	same_json([map { told($_) } $main, @clients], [2, 2, 2, 2, 2],
		  'every client was told twice that tools have changed');
	my $silent = $d->client; # it has not said who it is
	$d->reload;
	is(told($main), 2, 'nothing changed, nothing is told');
	$d->write_templates({late => lua('return 1')});
	$d->reload;
	is(told($main), 3, 'a new template is told');
	same_json([$silent->call('ping')->{result}, $silent->{notes}], [{}, []],
		  'a client without a session is told of no new template');
	$d->stop;
}

# ---- what is wrong is refused, and all stays as it was ----

{
	my $d = daemon(config => {max_queued_runs => 7});
	my $c = $d->client->greeted;
	my $waits = sub { $c->tool('get_runtime_profile')
			      ->{view}{limits}{maxQueuedRuns} };

	is($waits->(), 7, 'the configuration counts');
	for (["[limits]\nmax_queued_runs = 8\nmax_queud_runs = 1\n",
	      qr/paddock\.conf:3: .*max_queud_runs/, 'an unknown key'],
	     ["[limits]\nmax_queued_runs = many\n",
	      qr/paddock\.conf:2: .*expected/, 'a value that is none']) {
		my ($text, $why, $name) = @$_;

		$d->write_config($text);
		like($d->reload, $why, "HUP with $name is refused");
		is($waits->(), 7, "a reload refused for $name changes nothing");
	}
	$d->write_config("[limits]\nmax_queued_runs = 8\n[server]\naudit_file = $d->{root}/no/such/audit\n");
	like($d->reload, qr/^done/, 'a log that cannot be opened keeps nothing else from being taken');
	ok($d->log_has(qr/audit_file=".*no.such.audit" err="No such file/), 'the log says that the audit log cannot be opened');
	is($waits->(), 8, 'the configuration counts without the audit log');

	# a broken template is one package, which the owner may have broken on purpose
	$d->write_config({max_queued_runs => 9});
	write_file("$d->{root}/templates/broken/template.json", '{"version": 1}');
	my ($manifest) = glob "$d->{root}/templates/echo*/template.json";
	my $was = read_file($manifest);
	write_file($manifest, '{"version": 1}');
	like($d->reload, qr/^done/, 'broken packages keep nothing else from being taken');
	is($waits->(), 9, 'the configuration counts');
	ok($d->log_has(qr/skipped="\S*templates\/broken"/), 'what is broken is told');
	ok($d->log_has(qr/kept="echo 1\.0\.0"/), 'the log says what is kept of a broken package');
	same_json($c->run_sync(echo => {a => 1})->{result}, {a => 1},
		  'what was loaded of it is served');
	my ($view) = @{$c->tool(list_task_templates => {templateId => 'echo'})->{view}{templates}};
	like($view->{notReloaded}, qr/template\.json/, 'the view of a broken template says what is wrong');
	is(told($c), 0, 'nobody is told of anything, for nothing is another');
	write_file($manifest, $was);
	unlink "$d->{root}/templates/broken/template.json";
	like($d->reload, qr/^done/, 'mended, all is taken');
	($view) = @{$c->tool(list_task_templates => {templateId => 'echo'})->{view}{templates}};
	ok(!exists $view->{notReloaded}, 'the view of a mended template says nothing of a fault');
	rename $manifest, "$manifest.away" or die;
	$d->reload;
	is($c->run('echo')->{view}{errorCode}, 'TEMPLATE_NOT_FOUND', 'what is removed is gone');
	rename "$manifest.away", $manifest or die;
	$d->reload;
	$d->write_config("[server]\nstate_dir = $d->{root}/elsewhere\n" .
			 "[limits]\nmax_queued_runs = 10\n");
	is($d->reload, 'done', 'a key that takes a restart stops no reload');
	is($waits->(), 10, 'the others are taken');
	$d->stop;
}

# ---- log rotation under load ----

sub slurp_all { return join '', map { read_file($_) } glob $_[0] }

{
	my $root = Paddock::fresh_root();
	my ($log, $audit) = ("$root/rotated.log", "$root/audit");
	my $d = daemon(root => $root, args => ['--log-file', $log], idle => 1);
	my %mode;

	$d->{log} = $log; # where log_has() looks
	$d->write_config("[server]\naudit_file = $audit\n" .
			 "[limits]\nmax_concurrent_runs = 8\n");
	{
		local $d->{log} = "$root/stderr";
		$d->start;
	}
	my @clients = map { $d->client->greeted } 1 .. 4;
	my @views = load(\@clients, 50 * $ROTATIONS, 'echo', 45, sub {
		my ($i) = @_;

		rename $log, "$log.$i" or die "$log: $!";
		rename $audit, "$audit.$i" or die "$audit: $!";
		$d->signal('HUP');
		until_true('both files to be made anew',
			   sub { -e $log && -e $audit });
		$mode{(stat $_)[2] & 07777} = 1 for $log, $audit;
	});
	$d->stop;
	my @logs = glob "$log*";
	cmp_ok(scalar @logs, '>=', $ROTATIONS, 'the log was rotated under load');
	is(join(' ', keys %mode), 0640, 'files are made 0640');
	my %want = map { $_->{runId} => 1 } @views;
	is(scalar keys %want, 50 * $ROTATIONS, 'no run was lost');

	my $text = slurp_all("$log*");
	my %ended;
	$ended{$_}++ for $text =~ /part=run run=(run_\w+) \S+ \S+ status=/g;
	same_json(\%ended, \%want, 'each run has ended once in all logs together');
	is(scalar(grep { !/^ts=\S+Z level=(?:error|warn|info|debug) part=\w+ \S/ }
		  split /\n/, $text), 0, 'no line is torn');
	my (%created, %over);
	for (split /\n/, slurp_all("$audit*")) {
		my $e = eval { json_to($_) } // {event => "torn: $_"};

		$created{$e->{runId}}++ if $e->{event} eq 'run_created';
		$over{$e->{runId}}++ if $e->{event} eq 'run_ended';
	}
	same_json(\%created, \%want, 'each was created once in the audit log');
	same_json(\%over, \%want, 'each run ended once in the audit log');
	is(read_file("$root/stderr"), '', 'nothing went to stderr');
}

# ---- the audit log ----

{
	my $root = Paddock::fresh_root();
	my $d = daemon(root => $root, idle => 1);

	$d->write_config("[server]\naudit_file = $root/audit\n");
	$d->start;
	my $c = $d->client->greeted;
	my $good = $c->run_sync(echo => {secret => 'HUSH'})->{runId};
	my $trace = '00-' . 'ab' x 16 . '-' . 'cd' x 8 . '-01';
	my $traced = $c->result($c->ask(run_task_template => {templateId => 'echo', inputs => {}},
	    {traceparent => $trace}))->{view}{runId};
	my $bad = $c->run_sync('fails')->{runId};
	my $stopped = $c->run_async('doze');
	$c->saying($stopped, 'dozing');
	$c->tool(cancel_task_run => {runId => $stopped});
	$c->ended($stopped);
	$c->run('no_such_template');
	$c->tool(get_task_run => {runId => 'x' x 4000});
	$d->stop;
	my @lines = split /\n/, read_file("$root/audit");
	my %by; # event => run or tool => entry
	for my $e (map { json_to($_) } @lines) {
		$by{$e->{event}}{$e->{runId} // $e->{tool}} = $e;
	}
	my $created = $by{run_created}{$good};
	like($created->{ts}, qr/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, 'when');
	is($created->{requestor}, "uid:$>", 'who');
	same_json([@{$created}{qw(template version)}], ['echo', '1.0.0'], 'what');
	like($created->{digest}, qr/^[0-9a-f]{64}$/, 'of which content');
	is($by{run_created}{$traced}{traceparent}, $trace, 'the trace that it belongs to');
	ok(!exists $created->{traceparent}, 'the entry of a run without a trace has no traceparent');
	like($d->log_text, qr/run=$traced .* trace=\Q$trace\E$/m, 'the log has it, too');
	my $ended = $by{run_ended};
	same_json([map { [@{$ended->{$_}}{qw(outcome errorCode requestor template
				     version)}] } $good, $bad, $stopped],
		  [['succeeded', null, "uid:$>", 'echo', '1.0.0'],
		   ['failed', 'EXECUTION_ERROR', "uid:$>", 'fails', '1.0.0'],
		   ['canceled', 'RUN_CANCELED', "uid:$>", 'doze', '1.0.0']],
		  'each end with its outcome, and why');
	for (values %$ended) {
		like(join(' ', @{$_}{qw(elapsedMs cpuMs)}), qr/^\d+ \d+$/,
		     'how long it took');
		like($_->{isolation}{level}, qr/^(?:full|userns|container|restricted)$/,
		     'how it was isolated');
	}
	is($by{run_cancel_asked}{$stopped}{requestor}, "uid:$>",
	   'who asked for a cancel');
	same_json([@{$by{refused}{run_task_template}}{qw(id errorCode requestor)}],
		  ['no_such_template', 'TEMPLATE_NOT_FOUND', "uid:$>"],
		  'who was refused what, and why');
	ok($by{refused}{get_task_run} && !exists $by{refused}{get_task_run}{id},
	   'an id that can be none is left out');
	unlike(join('', @lines), qr/HUSH/, 'no input is in it');
}

# ---- drain ----

{
	my $d = daemon(config => {max_concurrent_runs => 2});
	my $c = $d->client->greeted;
	my $other = $d->client->greeted;
	my $sync = $c->ask_run(nap => {ms => 2000}, mode => 'sync');
	my $async = $other->run_async(nap => {ms => 2000});
	my @queued = map { $other->run_async(echo => {n => $_}) } 1 .. 3;
	my $lost = $other->ask_run(echo => {n => 4}, mode => 'sync');

	$c->call('ping');
	$other->call('ping');
	$d->signal('TERM');
	$d->log_has(qr/drain=started running=2 queued=3/);
	refused($c->run(echo => {}), 'QUEUE_FULL', 'drain: a new run is refused');
	ok(!-e $d->{socket}, 'the socket is gone for others');
	is($d->reload, 'done', 'logs may be rotated while it drains');
	my $r = $c->result($sync);
	same_json($r->{view}{result}, {rested => 2000},
		  'what runs may end, and its answer arrives');
	is($other->result($lost)->{view}{error}{errorCode}, 'RUN_INTERRUPTED', 'who waited for a queued run hears that it is none');
	ok($other->drained, 'the connections of a drained daemon are closed');
	$d->stop('a drained daemon ends');
	like($d->log_text, qr/drain=started.*part=daemon ended=yes status=0\n\z/s, 'the last line of the log says that it ended by itself');

	$d = $d->again;
	$c = $d->client->greeted;
	is($c->get($async)->{status}, 'succeeded', 'what ran is recorded');
	for my $n (1 .. 3) {
		same_json($c->ended($queued[$n - 1])->{result}, {n => $n},
			  "the next daemon takes up what was queued, $n");
	}
	is(scalar(grep { ($_->{result}{n} // 0) == 4 }
		  map { $c->ended($_->{runId}) } grep { $_->{templateId} eq 'echo' }
		  @{$c->tool('list_task_runs')->{view}{runs}}), 0,
	   'the next daemon has no run that was refused to somebody');
	$d->stop;
}

# A daemon with an endless run; SIGNALS, each followed by a wait for the log. The run's view
# afterwards.
sub cut_short {
	my ($name, $limits, @signals) = @_;
	my $d = daemon($limits ? (config => $limits) : ());
	my $c = $d->client->greeted;
	my $run = $c->run_async('doze');

	$c->saying($run, 'dozing');
	for (@signals) {
		my ($signal, $line) = @$_;

		$d->signal($signal);
		$d->log_has($line) if $line;
	}
	$d->stop("$name: it ends, and leaves nothing behind", 'ZERO');
	my $log = $d->log_text;
	$d = $d->again;
	my $v = $d->client->greeted->get($run);
	same_json([$v->{status}, $v->{errorCode} // $v->{error}{errorCode}],
		  ['failed', 'RUN_INTERRUPTED'], "$name: the run was interrupted");
	$d->stop;
	return $log;
}

cut_short('TERM twice', undef, ['TERM', qr/drain=started/], ['TERM']);
cut_short('TERM, then INT', undef, ['TERM', qr/drain=started/], ['INT']);
cut_short('TERM, then QUIT', undef, ['TERM', qr/drain=started/], ['QUIT']);
cut_short('QUIT', undef, ['QUIT']);
like(cut_short('drain_timeout_ms', {drain_timeout_ms => 50}, ['TERM']),
     qr/drain=timeout running=1/, 'the log says that it waited no longer');
cut_short('no drain at all', {drain_timeout_ms => 0}, ['TERM']);

# ---- quiet, status ----

{
	my $d = daemon();
	my $c = $d->client->greeted;

	$d->signal('TSTP');
	$d->log_has(qr/quiet=yes/);
	my $run = $c->run_async(echo => {a => 1});
	is($c->get($run)->{status}, 'queued', 'quiet: a run is accepted, and waits');
	$d->signal('USR1');
	my $line = $d->log_has(qr/(status=quiet .*)/);
	like($line, qr/^status=quiet[ ]running=0[ ]queued=1[ ]connections=1
	     [ ]http_connections=0[ ]http_sessions=0[ ]templates=4[ ]zygote=\d+[ ]isolation=\w+[ ]up_s=\d+[ ]disk=ok
	     [ ]store="ok"[ ]ready=yes[ ]why=""$/x,
	     'USR1: a line of status');
	my $told = sub { join '; ', map { "$_->{verdict}: $_->{says}" } grep { $_->{says} } @{$c->tool('get_runtime_profile')->{view}{health}{checks}} };
	is($told->(), 'warning: the server is quiet: it queues runs, and starts none', 'who waits is told why');
	$d->reload;
	is($c->get($run)->{status}, 'queued', 'a reload does not end quiet');
	$d->signal('CONT');
	same_json($c->ended($run)->{result}, {a => 1}, 'CONT: it goes on');
	is($told->(), '', 'a daemon that goes on has no warning');
	$d->signal('USR1');
	ok($d->log_has(qr/status=serving running=0 queued=0/), 'USR1 logs the status');
	$d->stop;
}

# ---- sockets ----

sub mode_of { return sprintf '%04o', (stat $_[0])[2] & 07777 }

{
	my $d = daemon();

	$d->ready;
	is(mode_of($d->{socket}), as_root() ? '0660' : '0600', 'the socket\'s mode');
	my $second = $d->again;
	is(exit_of($second), $EX_UNAVAILABLE,
	   'a second daemon on one socket: exit 69');
	like($second->log_text, qr/\Q$d->{socket}\E: another paddockd serves it/,
	     'the log says why');
	ok($d->client->greeted, 'the first one is still there');
	unlink $d->{socket};
	$second = $d->again;
	$second->ready;
	$d->{kept_socket} = 1;
	kill TERM => $d->{pid};
	is($d->wait_exit, 0, 'one whose socket was taken away ends');
	ok($second->client->greeted, 'without taking away its successor\'s');
	kill KILL => $second->{pid};
	$second->wait_exit;
	$_->close_stdin for $d, $second;
	ok(strays_gone(), 'the workers of a killed daemon end');
	ok(-S $second->{socket}, 'the socket of a killed daemon stays');
	$d = $d->again;
	ok($d->client->greeted, 'the socket of a killed daemon is replaced');
	$d->stop;
	write_file($d->{socket}, "precious\n");
	$d = $d->again(kept_socket => 1);
	is(exit_of($d), $EX_UNAVAILABLE, 'a file in place of a socket: exit 69');
	is(read_file($d->{socket}), "precious\n", 'the file in place of a socket is untouched');
	$d = daemon(socket => '/' . 'x' x 108, kept_socket => 1);
	is(exit_of($d), $EX_CONFIG, 'a path too long for a socket: exit 78');
	$d = daemon(socket => "$d->{root}/none/of/these/sock", kept_socket => 1);
	is(exit_of($d), $EX_UNAVAILABLE, 'a folder that is not there: exit 69');
}
SKIP: {
	skip_lacking(7, 'root');
	my $root = Paddock::fresh_root($NOBODY);
	my $d = daemon(user => $NOBODY, root => $root, no_socket => 1,
		       socket => "$root/run/paddock/paddock.sock",
		       kept_socket => 1, env => {XDG_RUNTIME_DIR => "$root/run"},
		       idle => 1);
	mkdir "$root/run";
	chown $NOBODY, $NOBODY, "$root/run";
	$d->start;
	my $c = $d->client($NOBODY)->greeted;
	same_json($c->run_sync(echo => {a => 1})->{result}, {a => 1},
		  'an ordinary user has a daemon too, where XDG says');
	is($c->tool('get_runtime_profile')->{view}{requestor}, "uid:$NOBODY",
	   'an ordinary user\'s daemon serves that user');
	is(mode_of($d->{socket}), '0600', 'an ordinary user\'s socket is for the user alone');
	is(mode_of("$root/run/paddock"), '0700', 'the folder of an ordinary user\'s socket is for the user alone');
	$d->stop;
	ok(!-e $d->{socket}, 'the socket goes');
}

# ---- peers ----

SKIP: {
	skip_lacking(31, 'root');
	my $d = daemon();
	$d->ready;
	chmod 0666, $d->{socket};
	my %c = (root => $d->client->greeted,
		 nobody => $d->client($NOBODY)->greeted);
	my (%run, %art, %live);

	$d->write_templates({file => lua('return {id = run.artifact{name = "a", ' .
					 'data = "x"}}')});
	$d->reload;
	for (qw(root nobody)) {
		my $v = $c{$_}->run_sync(file => {});

		($run{$_}, $art{$_}) = ($v->{runId}, $v->{result}{id});
		$live{$_} = $c{$_}->run_async('doze');
		$c{$_}->saying($live{$_}, 'dozing');
	}
	is($c{nobody}->tool('get_runtime_profile')->{view}{requestor},
	   "uid:$NOBODY", 'who asks is known by the socket');
	for (['root', 'nobody'], ['nobody', 'root']) {
		my ($me, $it) = @$_;
		my %mine = map { $_->{runId} => 1 }
		    @{$c{$me}->tool('list_task_runs')->{view}{runs}};

		ok($mine{$run{$me}} && !$mine{$run{$it}},
		   "$me lists its own runs alone");
		for (['get_task_run', 'runId', $run{$it}],
		     ['get_task_run', 'runId', $live{$it}],
		     ['cancel_task_run', 'runId', $run{$it}],
		     ['cancel_task_run', 'runId', $live{$it}],
		     ['get_artifact', 'artifactId', $art{$it}]) {
			my ($tool, $key, $id) = @$_;
			my $unknown = $id =~ s/.{9}$/777777777/r;
			my ($a, $b) = map {
				$c{$me}->tool($tool => {$key => $_})->{raw} =~
				    s/$_/THE-ID/gr =~ s/"id":\d+/"id":0/r;
			} $id, $unknown;

			is($a, $b, "$me, $tool: another's id is as an unknown one");
			like($a, qr/_NOT_FOUND/, "$me, $tool: another's id is not found");
		}
		is($c{$me}->get($run{$me})->{status}, 'succeeded',
		   'one\'s own is there');
	}
	is($c{$_}->get($live{$_})->{status}, 'running',
	   "$_ has a run that nobody else could cancel") for qw(root nobody);
	$c{$_}->tool(cancel_task_run => {runId => $live{$_}}) for qw(root nobody);
	is($c{$_}->ended($live{$_})->{status}, 'canceled',
	   "$_ can cancel the own run") for qw(root nobody);
	$d->stop;
}

# ---- many connections ----

{
	my $d = daemon();
	my @all = map { $d->client->greeted } 1 .. 200;
	my @ids = map { $_->ask_run(echo => {n => 1}, mode => 'sync') } @all;
	my $good = 0;

	for my $i (0 .. $#all) {
		$good++ if ($all[$i]->result($ids[$i])->{view}{status} // '')
		    eq 'succeeded';
	}
	is($good, 200, '200 clients at once are served');
	push @all, map { $d->client } 201 .. 224;
	$all[-1]->call('ping'); # so that all have been counted
	my $late = $d->client;
	ok($late->drained, 'one user\'s 231st is turned away');
	like($late->{other}[0]{error}{message} // '', qr/^224 connections of yours.* 256 /,
	     'the refusal says how many connections are open and allowed');
	SKIP: {
		skip_lacking(1, 'root');
		chmod 0666, $d->{socket};
		my $other = $d->client($NOBODY);

		same_json($other->call('ping')->{result}, {},
			  'there is room for another\'s');
		$other->hang_up;
	}
	same_json($all[0]->call('ping')->{result}, {}, 'the others notice nothing');
	$_->hang_up for splice @all, 100;
	ok(until_true('room for one more', sub {
		my $c = $d->client;

		$c->request('ping', undef, 'more');
		$c->wait_for('an answer', sub { $c->{eof} || $c->{answers}{'"more"'} });
		return $c->{answers}{'"more"'};
	}), 'when some are gone, there is room');
	$d->signal('USR1');
	$d->log_has(qr/connections=1\d\d /);
	$d->stop('a daemon with 100 clients ends');
}
{
	my $d = daemon();
	my $c = $d->client->greeted;
	my $run = $c->run_async(nap => {ms => 300});
	my $id = $c->ask_run(nap => {ms => 300}, mode => 'sync');

	$c->call('ping');
	$c->hang_up;
	my $next = $d->client->greeted;
	is($next->ended($run)->{status}, 'succeeded',
	   'a run goes on when its client has hung up');
	$d->stop;
}

# ---- --check, --print-config, exit codes ----

{
	my $dir = Paddock::fresh_root();
	my $d = daemon(idle => 1);
	my @t = ('--templates', "$d->{root}/templates");
	my ($status, $out, $err) = paddockd($dir, '--check', @t);

	is($status, 0, '--check of what is right: exit 0');
	is($out, join('', map { "$_ 1.0.0\n" } sort keys %templates),
	   '--check prints the list of templates');
	ok(!-e "$dir/.local", '--check leaves no trace');
	write_file("$dir/bob.conf", qq([requestor "bob"]\nuid = 7\ntemplates = ) . join(' ', (sort keys %templates)[0], 'nosuch') . "\n");
	($status, $out, $err) = paddockd($dir, '--check', @t, '--config', "$dir/bob.conf");
	is("$status $err", qq(0 paddockd: [requestor "bob"]: templates has nosuch, and there is no such template\n),
	   'a requestor who may run what is not there: it is told');
	write_file("$dir/server.conf", '[server]' . "\npublish_templates = " . join(' ', (sort keys %templates)[0], 'nosuch') . "\n[template \"raeds\"]\nmax_open_files = 16\n");
	($status, $out, $err) = paddockd($dir, '--check', @t, '--config', "$dir/server.conf");
	is("$status $err", qq(0 paddockd: [template "raeds"]: there is no such template\npaddockd: [server]: publish_templates has nosuch, and there is no such template\n),
	   'a tool, or limits, of what is not there: so are they');
	write_file("$d->{root}/templates/broken/template.json", '{}');
	($status, $out, $err) = paddockd($dir, '--check', @t);
	is($status, $EX_CONFIG, '--check of a broken template exits 78');
	like($err, qr/templates\/broken: \S/, '--check names a broken template');
	for (["[limits]\nmax_queued_runs = -1\n", qr/:2: max_queued_runs/,
	      'a wrong value'],
	     ["max_queued_runs = 1\n", qr/:1: /, 'a key outside of a section'],
	     ["[limitz]\nx = 1\n", qr/:\d: .*limitz/, 'a wrong section']) {
		my ($text, $why, $name) = @$_;

		write_file("$dir/c.conf", $text);
		($status, $out, $err) = paddockd($dir, '--check', '--config',
						 "$dir/c.conf");
		is($status, $EX_CONFIG, "$name: exit 78");
		like($err, qr/^paddockd: \Q$dir\E\/c\.conf$why/, 'file and line');
	}
	for (['--config', "$dir/none"], ['--log-level', 'loud'],
	     ['--log-file', "$dir/no/log"], ['--templates', "$dir/none"]) {
		($status, $out, $err) = paddockd($dir, '--check', @$_);
		is($status, $EX_CONFIG, "@$_: exit 78" =~ s/\Q$dir\E/DIR/r);
		like($err, qr/^paddockd: \S/m, "--check @$_ says why on stderr");
	}
	for ([qr/there is no flag --chekc; did you mean --check\?/, '--chekc'],
	     [qr/there is no flag --xyzzy; see --help/, '--xyzzy=1'],
	     [qr/there is no flag -x; see --help/, '-x'],
	     [qr/--config needs a value; see --help/, '--config'],
	     [qr/--stdio takes no value; see --help/, '--stdio=yes'],
	     [qr/"serve" is not a flag; see --help/, 'serve'],
	     [qr/"now" is not a flag; see --help/, '--check', 'now'],
	     [qr/--require-isolation is "some"; .* would pass/, '--require-isolation', 'some']) {
		my ($why, @flags) = @$_;

		($status, $out, $err) = paddockd($dir, @flags);
		is($status, 2, "@flags: exit 2");
		like($err, qr/\Apaddockd: $why\n\z/, "@flags: a single line on stderr says why");
	}
	for (['--version', qr/^paddockd \d+\.\d+\.\d+\n$/],
	     ['--help', qr/^usage: paddockd .*--require-isolation/s]) {
		($status, $out, $err) = paddockd($dir, $_->[0]);
		is($status, 0, "$_->[0]: exit 0");
		like($out, $_->[1], 'on stdout');
	}

	write_file("$dir/c.conf", <<"CONF");
[server]
templates = $dir/a
	$dir/b
publish_templates = no
audit_file = $dir/audit
socket = $dir/s
[limits]
max_run_timeout_ms = 90s
max_memory_bytes = 64M
drain_timeout_ms = 1m
[sandbox]
require_isolation = restricted
[requestor "alice"]
uid = 1000
weight = 3
CONF
	my ($first, $text) = paddockd($dir, '--print-config', '--config',
				      "$dir/c.conf");
	write_file("$dir/again.conf", $text);
	my ($second, $again) = paddockd($dir, '--print-config', '--config',
					"$dir/again.conf");
	same_json([$first, $second], [0, 0], '--print-config: exit 0');
	is($again, $text, 'what it prints is read as the same');
	like($text, qr/^max_run_timeout_ms = 90000$/m, '--print-config prints a key that was set');
	ok(!-e "$dir/audit", 'nothing is opened for that');
}

is(scalar(() = Paddock::children_of($$)), 0, 'no process is left');
done_testing;
