#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Requestors by token: limits, isolation, and the effect of a reload.
use lib 'tests/lib';
use Paddock;
use Http qw(sha256_hex);
use Task;

my %templates = (
    echo => lua('return inputs'),
    doze => lua('run.progress(0, 1, "dozing") while true do run.sleep(60000) end',
		limits => {maxTimeoutMs => 600000}),
    near => lua('return 1', trustLevelSupport => ['local']),
    other => lua('return 1'),
    burn => lua('local t = os.clock() while os.clock() - t < inputs.s do end return 1'),
    makes => lua('return run.artifact{name = "a", data = ("x"):rep(inputs.n)}'),
);
my %token = (alice => 'a' x 43, bob => 'b' x 43, new => 'c' x 43);

sub section { my ($name, $token, $more) = @_;
	      return "[requestor \"$name\"]\ntoken_sha256 = " .
		  sha256_hex($token{$token}) . "\n" . ($more // '') }

# Does TOKEN open anything at all?
sub status_of {
	my ($s, $token) = @_;

	return $s->fetch('POST', '/mcp', {
		'Content-Type' => 'application/json',
		Accept => 'application/json, text/event-stream',
		$token ? (Authorization => "Bearer $token") : ()},
	    json_of({jsonrpc => '2.0', id => 1, method => 'initialize', params => {
		protocolVersion => '2025-11-25', capabilities => {},
		clientInfo => {name => 'test', version => '1'}}}))->{status};
}

{
	my $s = Http->new(templates => \%templates, config =>
			  section('alice', 'alice', "max_concurrent_runs = 1\n") .
			  section('bob', 'bob', "trust_level = local\n"));
	$s->{tokens} = \%token;
	my ($alice, $bob) = map { $s->client($_)->greeted } qw(alice bob);
	my %trust = map { $_->tool('get_runtime_profile')->{view}{requestor} =>
			  $_->tool('get_runtime_profile')->{view}{trustLevel} }
	    $alice, $bob;

	same_json(\%trust, {alice => 'remote', bob => 'local'},
		  'who asks is the token\'s owner, trusted as its section says');
	refused($alice->run('near'), 'TRUST_LEVEL_NOT_ALLOWED',
		'one of them is held to that');
	is($bob->run_sync('near')->{result}, 1, 'the other is not');
	is(status_of($s), 401, 'no token is nobody\'s');
	is(status_of($s, 'd' x 43), 401, 'an unknown token is refused');
	is(status_of($s, sha256_hex($token{alice})), 401, 'the digest of a token is refused');

	my $run = $alice->run_async('doze');
	$alice->saying($run, 'dozing');
	my ($foreign, $unknown) = map {
		$bob->tool(get_task_run => {runId => $_})->{raw} =~ s/$_/ID/gr =~
		    s/"id":\d+/"id":0/r } $run, 'run_' . 'a' x 26;
	is($foreign, $unknown, 'another\'s run is as an unknown one');
	my $session = $bob->{session};
	$bob->{session} = $alice->{session};
	is($bob->post({jsonrpc => '2.0', id => 1, method => 'ping'})->response->{status},
	   404, 'another\'s session is refused');
	$bob->{session} = $session;

	# ---- a token is replaced, a section removed ----

	my $stream = $alice->listen;
	my $bobs = $bob->listen;
	$s->write_config(section('alice', 'new') .
			 section('bob', 'bob', "trust_level = local\n"));
	is($s->reload, 'done', 'a token is replaced');
	1 while $stream->more;
	ok($stream->{done}, 'streams that the old one opened end');
	is(status_of($s, $token{alice}), 401, 'a replaced token is refused at once');
	is($alice->post({jsonrpc => '2.0', id => 1, method => 'ping'})->response->{status},
	   401, 'in its session, too');
	is_deeply($bob->call('ping')->{result}, {}, 'others notice nothing');
	my $again = $s->client('new')->greeted;
	is($again->get($run)->{status}, 'running', 'the run is found by the new token');

	$s->write_config(section('bob', 'bob', "rate_per_second = 1\nburst = 30\n"));
	is($s->reload, 'done', 'a section is removed');
	is(status_of($s, $token{new}), 401, 'the token of a removed section is refused');
	$s->signal('USR1');
	ok($s->log_has(qr/requestor=alice status=gone running=1 /),
	   'what it had begun goes on');

	# ---- rates ----

	is($bob->tool('get_runtime_profile')->{view}{trustLevel}, 'remote',
	   'trust can be withdrawn');
	my @all = map { $bob->request('tools/list') } 1 .. 60;
	my ($refused) = grep { $_->[0]{error} }
	    map { [$bob->answer($_), $bob->{last}] } @all;
	is($refused->[0]{error}{code}, -32010, 'the refusal by rate has the code -32010');
	is($refused->[1]{status}, 429, 'the refusal by rate has status 429');
	like($refused->[1]{headers}{'retry-after'}, qr/^[1-9]\d*$/,
	     'the refusal by rate has Retry-After');
	is_deeply($bob->call('ping')->{result}, {}, 'pings have a rate of their own');
	for (['a notification' => POST => '{"jsonrpc":"2.0","method":"notifications/x"}', 202],
	     ['an answer to nothing' => POST => '{"jsonrpc":"2.0","id":1,"result":{}}', 202],
	     ['what is no message' => POST => '{}', 400],
	     ['a GET without a session' => GET => undef, 400],
	     ['a DELETE without a session' => DELETE => undef, 400]) {
		my ($what, $method, $body, $else) = @$_;
		my %h = %{$bob->headers};
		my $r;

		delete $h{'Mcp-Session-Id'} if $method ne 'POST';
		for (1 .. 400) {
			$r = $s->fetch($method => '/mcp', \%h, $body);
			last if $r->{status} != $else;
		}
		is($r->{status}, 429, "$what has that rate");
		like($r->{headers}{'retry-after'}, qr/^[1-9]\d*$/, "the refusal of $what has Retry-After");
	}

	$s->stop(undef, 'QUIT'); # with that run
}

# ---- a token that is taken away while a request comes in ----

{
	my $s = Http->new(templates => \%templates, config => section('alice', 'alice'));
	$s->{tokens} = \%token;
	my $alice = $s->client('alice')->greeted;
	my %say = (initialize => {protocolVersion => '2025-11-25', capabilities => {},
				  clientInfo => {name => 'test', version => '1'}}, ping => {});
	my @half = map {
		my $body = json_of({jsonrpc => '2.0', id => 1, method => $_, params => $say{$_}});
		my %h = %{$alice->headers('Content-Length' => length $body)};
		my $conn = $s->connect;

		delete $h{'Mcp-Session-Id'} if $_ eq 'initialize';
		$conn->request('POST', '/mcp', \%h);
		[$conn, $body, $_]
	} sort keys %say;
	is($s->fetch('GET', '/healthz')->{status}, 200, 'two requests have come in part');
	$s->write_config(section('alice', 'new'));
	is($s->reload, 'done', 'the token is replaced while requests come in');
	for (@half) {
		my ($conn, $body, $what) = @$_;

		$conn->put($body);
		my $r = $conn->response;
		is($r->{status}, 401, "$what, whose head came before, is refused");
		ok(!exists $r->{headers}{'mcp-session-id'}, "$what, whose head came before, makes no session");
	}
	$s->stop;
}

# ---- each limit, as a client over HTTP meets it ----

# The refusal R of a limit of the requestor's own.
sub limited {
	my ($r, $code, $limit, $name) = @_;
	my $d = $r->{view}{details} // {};

	refused($r, $code, $name);
	same_json([@$d{qw(limit whoCanRaise)}], [$limit, "the operator: $limit in [requestor \"alice\"]"],
		  "$name: the refusal says who can raise the limit");
	cmp_ok($d->{retryAfterMs}, '>', 0, "$name: the refusal says when to try again");
}

{
	my $s = Http->new(templates => \%templates, config => section('alice', 'alice', <<'EOT') . section('bob', 'bob'));
max_concurrent_runs = 1
max_queued_runs = 1
max_ttl_ms = 5000
cpu_seconds_per_hour = 1
artifact_bytes = 100
templates = echo doze makes burn near
trust_level = remote
EOT
	$s->{tokens} = \%token;
	my ($alice, $bob) = map { $s->client($_)->greeted } qw(alice bob);
	my $first = $alice->run_async('doze');
	my $second = $alice->run_async('echo');

	$alice->saying($first, 'dozing');
	is($alice->get($second)->{status}, 'queued', 'max_concurrent_runs: the second run waits');
	for (['a call' => {}], ['a task' => {task => {}}]) {
		my ($what, $more) = @$_;
		my $id = $alice->request('tools/call', {name => 'echo', arguments => {}, %$more});

		limited($alice->result($id), 'QUEUE_FULL', 'max_queued_runs', "max_queued_runs: the third is refused, $what");
	}
	is_deeply($bob->tool(echo => {a => 1})->{view}, {a => 1}, 'another requestor has a run beside the full queue');
	$alice->tool(cancel_task_run => {runId => $_}) for $first, $second;
	$alice->ended($_) for $first, $second;

	is(get_task($alice, start_task($alice, 'echo', {}, task => {ttl => 999_999}))->{ttl}, 5000,
	   'MCP 26: max_ttl_ms: a task lives no longer');
	my $v = $alice->tool(run_task_template => {templateId => 'echo', inputs => {}, options => {ttlMs => 999_999}})->{view};
	cmp_ok($v->{expiresAt} - $v->{updatedAt}, '<=', 5000, '  MCP 26: max_ttl_ms bounds a run');

	refused($alice->run('other'), 'TEMPLATE_NOT_FOUND', 'templates: what is not listed is not there');
	is($alice->call('tools/call', {name => 'other'})->{error}{message}, 'Unknown tool "other"; tools/list names them',
	   '  templates: a tool that is not listed is unknown');
	refused($alice->run('near'), 'TRUST_LEVEL_NOT_ALLOWED', 'trust_level: what is for others is refused');
	like($alice->call('tools/call', {name => 'near'})->{error}{message}, qr/trust level local, and yours is remote/,
	     '  trust_level: a tool for local clients is refused');

	is($alice->run_sync(makes => {n => 100})->{status}, 'succeeded', 'artifact_bytes: up to there');
	limited($alice->run(makes => {n => 1}), 'QUOTA_EXCEEDED', 'artifact_bytes', '  artifact_bytes: a byte more is refused');
	$s->write_config(section('alice', 'alice', "cpu_seconds_per_hour = 1\n") . section('bob', 'bob'));
	is($s->reload, 'done', 'the limit artifact_bytes is lifted');
	is($alice->run_sync(burn => {s => 1.1})->{status}, 'succeeded', 'cpu_seconds_per_hour: a run that began ends');
	limited($alice->run('echo'), 'QUOTA_EXCEEDED', 'cpu_seconds_per_hour', '  the next does not begin');
	is_deeply($bob->tool(echo => {a => 2})->{view}, {a => 2}, 'another requestor has a run beside the used CPU time');

	$s->write_config(section('alice', 'alice', "rate_per_second = 1\nburst = 3\n"));
	is($s->reload, 'done', 'another limit');
	my ($no) = grep { $_->{status} != 200 } map {
		$alice->post({jsonrpc => '2.0', id => "r$_", method => 'tools/list'})->response } 1 .. 9;
	is("$no->{status} $no->{json}{error}{code}", '429 -32010', 'rate_per_second: too many are refused');
	like($no->{json}{error}{message}, qr/rate_per_second in \[requestor "alice"\].*operator.*again in \d+ ms/,
	     '  rate_per_second: the refusal names the limit');
	same_json([sort keys %{$no->{json}{error}{data}}], [qw(errorCode retryAfterMs)], '  in data as well');
	$s->stop;
}

# ---- turns: who floods is served one request at a time, between others' ----
{
	my $flood = 200; # fewer than may wait to be accepted
	my $audit = Paddock::fresh_root() . '/audit.log';
	my $s = Http->new(templates => \%templates, config => section('alice', 'alice', "max_concurrent_runs = 1\n") .
			  section('bob', 'bob') . "[server]\naudit_file = $audit\n");
	my ($alice, $bob) = map { my $c = $s->client; $c->{token} = $token{$_}; $c->greeted } qw(alice bob);
	my $call = sub {
		my ($c, $id) = @_;

		return $c->post({jsonrpc => '2.0', id => $id, method => 'tools/call',
			params => {name => 'run_task_template', arguments => {templateId => 'echo', inputs => {a => 'x' x 60_000}, options => {mode => 'async'}}}});
	};
	my @conns;

	kill STOP => $s->{pid}; # so that all of it has come when it looks
	push @conns, $call->($alice, "a$_") for 1 .. $flood;
	push @conns, $call->($bob, 'b');
	kill CONT => $s->{pid};
	$_->response for @conns;
	my @who = map { $_->{requestor} } grep { ($_->{event} // '') eq 'run_created' } map { json_to($_) } split /\n/, read_file($audit);
	my ($at) = grep { $who[$_] eq 'bob' } 0 .. $#who;

	is(scalar(@who), $flood + 1, 'all that came is served');
	cmp_ok($at, '<', $flood / 2, "one request is not behind $flood of somebody else's that came before it");
	$s->stop;
}

# ---- with the first token nobody comes without ----

{
	my $s = Http->new(templates => \%templates, config => "[limits]\n");
	my $c = $s->client->greeted;
	my $v = $c->tool('get_runtime_profile')->{view};

	same_json([@$v{qw(requestor trustLevel)}], ['anonymous', 'remote'],
		  'without any token configured all are anonymous');
	my $stream = $c->listen;
	$s->write_config(section('bob', 'bob'));
	is($s->reload, 'done', 'one is configured');
	1 while $stream->more;
	ok($stream->{done}, 'streams of who had none end');
	is(status_of($s), 401, 'a request without a token is refused after the reload');
	is(status_of($s, $token{bob}), 200, 'a request with a token is served after the reload');
	$s->stop;
}

done_testing;
