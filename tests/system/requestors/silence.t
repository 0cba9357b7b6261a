#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# No answer to one requestor depends on another requestor: all refusals, views, lists,
# profiles and pages for ada, from a server without other requests, and from a server under
# bob's load, must be equal letter by letter.
use lib 'tests/lib';
use Paddock;
use File::Copy qw(copy);
use Http qw(sha256_hex);

my %templates = (
    echo => lua('return inputs'),
    near => lua('return 1', trustLevelSupport => ['local']),
    typed => lua('return 1', inputsSchema => {type => 'object', required => ['n'],
	properties => {n => {type => 'integer'}}, additionalProperties => JSON::PP::false}),
    doze => lua('run.progress(0, 1, "dozing") while true do run.sleep(60000) end',
		limits => {maxTimeoutMs => 600000}),
    late => lua('while true do run.sleep(1000) end', limits => {maxTimeoutMs => 50}),
    burn => lua('while true do end', limits => {maxCpuMs => 30}),
    grows => lua('local t = {} for i = 1, 1e9 do t[i] = ("x"):rep(1 << 16) .. i end',
		 limits => {maxMemoryBytes => 4 << 20}),
    throws => lua('run.error("SOME_CODE", "some words", {n = 1})'),
    breaks => lua('error("broken")'),
    steps => lua('run.step("one", function() error("no") end)'),
    bad => lua('return {a = 1}', outputsSchema => {type => 'array'}),
    asks => lua('return run.elicit{message = "who?", schema = {type = "object", properties = {}}}'),
    calls => lua('return run.call("navigate", {url = "http://127.0.0.1/"})'),
    keeps => lua('return run.artifact{name = "a", data = ("x"):rep(inputs.n)}'),
    traces => {program => "#!/usr/bin/perl\nsyscall(101, 16, 1, 0, 0, 0, 0)\n"},
    crashes => {program => "#!/bin/sh\nkill -SEGV \$\$\n"},
    warm => lua('local t = os.clock() while os.clock() - t < 1.1 do end return 1'),
    many => lua('for i = 1, 5 do run.artifact{name = "a" .. i, data = "x"} end return 1',
		limits => {maxArtifacts => 2}),
);
my %token = (ada => 'a' x 43, bob => 'b' x 43, cleo => 'c' x 43, dora => 'd' x 43);
my $config = "[limits]\nmax_concurrent_runs = 4\nmax_queued_runs = 80\nartifact_ttl_ms = 1h\n" . join '', map {
	"[requestor \"$_->[0]\"]\ntoken_sha256 = " . sha256_hex($token{$_->[0]}) . "\n$_->[1]" }
    ['ada', "max_concurrent_runs = 1\nmax_queued_runs = 3\ncpu_seconds_per_hour = 1000\nartifact_bytes = 100000\n" .
	    "rate_per_second = 200\nburst = 100000\n" . (as_root() ? "uid = 65534\n" : '')],
    ['bob', ''], ['cleo', "rate_per_second = 1\nburst = 4\n"], ['dora', "cpu_seconds_per_hour = 1\n"];

# Replace parts which differ each time without another requestor's influence.
sub plain {
	my ($text) = @_;

	$text =~ s/\b(run|art|sess|inst)_[2-7a-z]{26}/$1_ID/g;
	$text =~ s/\b[0-9a-f]{40}\b/SESSION/g;
	$text =~ s/(\\?"(?:elapsedMs|queuedMs|cpuMs|cpuUserMs|cpuSystemMs|maxRssBytes|peakMemoryBytes|readBytes|writtenBytes|cpuMsThisHour|storeBytes|pollInterval|messages)\\?":)[1-9]\d*/$1N/g;
	$text =~ s/(\\?"(?:elapsedMs|queuedMs|cpuMs|cpuUserMs|cpuSystemMs|readBytes|writtenBytes|cpuMsThisHour|messages)\\?":)0\b/$1N/g;
	$text =~ s/(\\?"(?:createdAt|startedAt|updatedAt|finishedAt|expiresAt|at|startedMs|endedMs|durationMs|lastUpdatedAt)\\?":)(?:\d+|\\?"[^"\\]*\\?")/$1T/g;
	# an answer that took more than 200 ms is kept in its stream, and is charged to ada
	$text =~ s/(\\?"memoryBytes\\?":)\d+/$1N/g;
	# counters of time or bytes; a count of runs is the requestor's own, and stays
	$text =~ s/(\\?"used\\?":)\d+(,\\?"allowed\\?":\d+,\\?"unit\\?":\\?"(?!runs|artifacts))/$1N$2/g;
	# how soon there is a token, or an hour is over, is the clock's to say
	$text =~ s/(\\?"retryAfterMs\\?":|try again in )[\d.]+/$1N/g if $text =~ /RATE_LIMITED|cpu_seconds_per_hour/;
	$text =~ s/again in \d+ ms/again in N ms/g;
	$text =~ s/used its? \d+/used N/g;
	$text =~ s/127\.0\.0\.1:\d+/HERE/g;
	return $text;
}

# ---- what bob does meanwhile ----

sub busy {
	my ($s) = @_;
	my $bob = $s->client('bob')->greeted;
	my @runs = map { $bob->run_async('doze') } 1 .. 3;

	$bob->saying($_, 'dozing') for @runs;
	$bob->run_async(echo => {x => 'y' x 500000}) for 1 .. 9; # below an eighth of the queue
	my @others = map { $s->client('bob')->greeted } 1 .. 30;
	my @streams = map { $_->listen } @others;
	my @held = map { $s->connect } 1 .. 100;
	$bob->tool(get_task_run => {runId => 'run_' . 'a' x 26}) for 1 .. 20;
	return [$bob, \@others, \@streams, \@held];
}

# ---- what ada hears ----

sub page {
	my ($s, $ada, $method, $path, $headers, $body) = @_;
	my $r = $s->fetch($method, $path, $headers, $body);
	my %h = %{$r->{headers}};

	delete @h{qw(date mcp-session-id content-length)};
	return json_of([$r->{status}, \%h, plain($r->{body} // '')]);
}

sub heard {
	my ($s) = @_;
	my $ada = $s->client('ada')->greeted;
	my $no = 'run_' . 'a' x 26;
	my @all;
	my $tool = sub { my ($what, @a) = @_; my $r = $ada->tool(@a); push @all, [$what, plain($r->{raw} =~ s/"id":\d+/"id":0/r)]; $r };
	my $run = sub { my ($what, $t, $in, %o) = @_; my $r = $ada->run($t, $in // {}, %o);
			push @all, [$what, plain($r->{raw} =~ s/"id":\d+/"id":0/r)]; $r };
	my $call = sub { my ($method, $params) = @_;
			 push @all, ["$method " . json_of($params // {}), plain($ada->call($method, $params)->{raw} =~ s/"id":\d+/"id":0/r)] };

	# existing methods and names
	$call->($_) for qw(ping tools/list resources/list resources/templates/list prompts/list tasks/list no/such);
	$call->('resources/read', {uri => 'paddock://isolation'});
	$call->('resources/read', {uri => "paddock://runs/$no/log"});
	$call->($_, {taskId => $no}) for qw(tasks/get tasks/result tasks/cancel);
	$tool->($_ => $_) for qw(list_task_templates list_task_runs get_runtime_profile);
	$tool->(search_task_templates => search_task_templates => {query => 'echo for a test'});

	# refusals before there is a run
	$run->('an unknown template', 'nosuch');
	$run->('an unknown version', 'echo', {}, templateVersion => '9.0.0');
	$run->('a template for others', 'near');
	$run->('a wrong input', 'typed', {n => 'x'});
	$run->('a browser that is not there', 'echo', {}, sessionId => 'sess_' . 'a' x 26);
	$tool->('an unknown run', $_ => {runId => $no}) for qw(get_task_run cancel_task_run);
	$tool->('an unknown artifact', get_artifact => {artifactId => 'art_' . 'a' x 26});

	# runs, and their failures
	$run->($_, $_, {n => 10, url => 'x'}, mode => 'sync')
	    for qw(echo late burn grows throws breaks steps bad asks calls keeps many traces crashes);
	my $made = $run->('an artifact', 'keeps', {n => 50000}, mode => 'sync');
	$tool->('an artifact', get_artifact => {artifactId => $made->{view}{result}});
	$tool->('beyond it', get_artifact => {artifactId => $made->{view}{result}, offset => 1 << 30});

	# limits
	my @mine = map { $ada->run_async('doze') } 1 .. 4;
	$ada->saying($mine[0], 'dozing');
	$run->('as many wait as may', 'echo', {}, mode => 'async');
	$tool->('usage', 'get_runtime_profile');
	$tool->('a list', list_task_runs => {status => 'queued'});
	$ada->tool(cancel_task_run => {runId => $_}) for @mine;
	$ada->ended($_) for @mine;
	$run->('artifacts over a share', 'keeps', {n => 90000}, mode => 'sync');
	$tool->('at the end', 'list_task_runs');

	# of her other two selves
	my $cleo = $s->client('cleo')->greeted;
	my $late;
	until (($late = $cleo->call('tools/list'))->{error}) { }
	push @all, ['more requests than may come', plain($late->{raw} =~ s/"id":\d+/"id":0/r)];
	my $dora = $s->client('dora')->greeted;
	$dora->run_sync('warm');
	for ($dora->run(echo => {}, mode => 'sync'), $dora->tool('get_runtime_profile')) {
		push @all, ['after an hour\'s CPU time', plain($_->{raw} =~ s/"id":\d+/"id":0/r)];
	}

	# pages
	push @all, ["$_->[0] $_->[1]", page($s, $ada, @$_)]
	    for [GET => '/healthz'], [GET => '/readyz'], [GET => '/nothing'], [PUT => '/mcp'],
		[POST => '/mcp', {}, '{}'], [POST => '/mcp', {Authorization => 'Bearer x'}, '{}'],
		[POST => '/mcp', $ada->headers(Accept => 'text/html'), '{}'],
		[POST => '/mcp', $ada->headers('Content-Type' => 'text/plain'), '{}'],
		[POST => '/mcp', $ada->headers('Mcp-Session-Id' => 'x'), '{}'],
		[POST => '/mcp', $ada->headers, '{"jsonrpc":'],
		[GET => '/mcp', $ada->headers(Accept => 'text/event-stream', 'Last-Event-ID' => '99-1')],
		[GET => '/readyz', {Host => 'evil.example'}], [GET => '/healthz', {Origin => 'http://evil.example'}];
	return @all;
}

# The command of an ordinary user, whose requestor is ada.
sub commands {
	my ($s) = @_;
	my @all;

	return () unless as_root();
	chmod 0666, $s->{socket};
	chmod 0755, $s->{root};
	for my $c (['ps', '-a', '--json'], ['doctor', '--json'], ['template', 'ls', '--json'],
		   ['artifact', 'ls', 'run_' . 'a' x 26], ['status', 'run_' . 'a' x 26],
		   ['logs', 'run_' . 'a' x 26], ['cancel', 'run_' . 'a' x 26]) {
		my @cmd = ('setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', 'env', '-i',
			   "HOME=$s->{root}", "PATH=$ENV{PATH}", "$BUILD/paddock", @$c, '--socket', $s->{socket});
		my $text = do { open my $f, '-|', 'sh', '-c', 'exec "$@" 2>&1', 'sh', @cmd or die; local $/; <$f> };
		push @all, ["paddock @$c: " . ($? >> 8), plain($text =~ s/\Q$s->{root}\E/ROOT/gr)];
	}
	return @all;
}

# A folder with a paddockd and a worker which obeys the name in the template's code.
sub rogue_folder {
	my $folder = Paddock::fresh_root();

	chmod 0755, $folder;
	compile('lib/rogue.c', "$folder/paddock-worker") or BAIL_OUT('tests/lib/rogue.c cannot be built');
	copy("$BUILD/paddockd", "$folder/paddockd") or BAIL_OUT("paddockd: $!");
	chmod 0755, "$folder/paddockd";
	return $folder;
}

my (@idle, @busy);
{
	my $s = Http->new(templates => \%templates, config => $config);
	$s->{tokens} = \%token;
	@idle = (heard($s), commands($s));
	$s->stop(undef, 'QUIT');
}
{
	my $s = Http->new(templates => \%templates, config => $config);
	$s->{tokens} = \%token;
	my $state = busy($s);
	@busy = (heard($s), commands($s));
	$s->stop(undef, 'QUIT');
}
is(scalar @busy, scalar @idle, @idle . ' answers of all kinds');
for my $i (0 .. $#idle) {
	is("$busy[$i][0]\n$busy[$i][1]", "$idle[$i][0]\n$idle[$i][1]", "the same: $idle[$i][0]");
}
my %codes = map { $_ => 1 } map { $_->[1] =~ /errorCode\\?":\\?"(\w+)/g } @idle;
my @wanted = qw(TEMPLATE_NOT_FOUND TEMPLATE_VERSION_UNSUPPORTED TRUST_LEVEL_NOT_ALLOWED INVALID_PARAMETER
    RUN_NOT_FOUND ARTIFACT_NOT_FOUND RUN_TIMEOUT RESOURCE_LIMIT EXECUTION_ERROR STEP_EXECUTION_FAILED
    OUTPUT_INVALID QUEUE_FULL RATE_LIMITED QUOTA_EXCEEDED SANDBOX_VIOLATION WORKER_CRASHED);
is(join(' ', grep { !$codes{$_} } @wanted), '', 'every such code was among them');

# ---- a worker that breaks its protocol: none of ours does, so tests/lib/rogue.c ----

sub rogue_heard {
	my ($folder, $others) = @_;
	my %ways = map { ($_ => {code => "return function() end\n-- rogue $_\n"}) }
	    qw(exit garbage asks_none huge step_gap);
	my $s = Http->new(templates => \%ways, build => $folder, tokens => {ada => 't', bob => 'u'});
	my ($ada, $bob) = map { $s->client($_)->greeted } qw(ada bob);

	$bob->run($_, {}, mode => 'sync') for $others ? sort keys %ways : ();
	my @all = map { [$_, plain($ada->run($_, {}, mode => 'sync')->{raw} =~ s/"id":\d+/"id":0/r)] } sort keys %ways;
	$s->stop(undef, 'QUIT');
	return @all;
}

{
	my $folder = rogue_folder();
	my ($alone, $beside) = map { [rogue_heard($folder, $_)] } 0, 1;

	for my $i (0 .. $#$alone) {
		my ($way, $text) = @{$alone->[$i]};
		like($text, qr/PROTOCOL_VIOLATION/, "a worker that breaks its protocol: $way");
		is($beside->[$i][1], $text, "the same error when others broke the protocol: $way");
	}
}

# ---- a queue of all: what is told is one's own, and the configured bound ----

{
	my $s = Http->new(templates => \%templates, tokens => {ada => 't', bob => 'u'},
			  config => "[limits]\nmax_concurrent_runs = 2\nmax_queued_runs = 40\n");
	my ($ada, $bob) = map { $s->client($_)->greeted } qw(ada bob);
	my @first = map { $_->run_async('doze') } $ada, $bob;

	$bob->run_async('echo') for 1 .. 20;
	my ($n, $r) = (0);
	$n++ until ($r = $ada->run(echo => {}, mode => 'async'))->{isError};
	refused($r, 'QUEUE_FULL', 'one fills what others leave of the queue');
	same_json([@{$r->{view}{details}}{qw(limit used allowed)}], ['max_queued_runs', $n, 40],
		  '  the refusal of the queue names the own runs and the bound for all');
	$s->stop(undef, 'QUIT');
}

# ---- runs that wait for answers: likewise ----

{
	my $s = Http->new(templates => {asks => lua('local ok, e = pcall(run.elicit, {message = "who?",
	    schema = {type = "object", properties = {}}}) return {said = e.message, details = e.details}')}, tokens => {ada => 't', bob => 'u'},
			  config => "[limits]\nmax_parked_runs = 10\n");
	my ($ada, $bob) = map { $s->modern($_) } qw(ada bob);

	$_->{capabilities} = {elicitation => {form => {}}} for $ada, $bob;
	$bob->run('asks', {}, mode => 'sync') for 1 .. 4;
	my ($n, $r) = (-1);
	do { $n++, $r = $ada->run('asks', {}, mode => 'sync') } while $r->{raw} =~ /input_required/;
	my $e = $r->{view}{result};
	cmp_ok($n, '<', 6, 'one has what others leave of the runs that may wait for answers, less a tenth');
	same_json([@{$e->{details}}{qw(limit used allowed whoCanRaise)}],
		  ['max_parked_runs', $n, 10, 'the operator: max_parked_runs in [limits]'],
		  '  the refusal of parked runs names the own runs and the bound for all') or diag($r->{raw});
	like($e->{said}, qr/: $n of yours do;/, '  in words, too');
	$s->stop(undef, 'QUIT');
}

done_testing;
