#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The server's memory, and clients which try to use all of the memory: the memory stays
# below server_memory, the requestor with the most kept bytes is refused, and other
# requestors are served meanwhile.
use lib 'tests/lib';
use Paddock;
use Http;

my %TEMPLATES = (
	naps => {code => "return function(run) run.sleep(600000) end\n", inputsSchema => {type => 'object'}},
	echo => {code => "return function(run, i) return {n = i.n} end\n", inputsSchema => {type => 'object'}},
);
my $MOST_MB = 256;

sub server {
	my (%o) = @_;

	return Http->new(templates => {%TEMPLATES}, tokens => {eve => 'e', mal => 'm', ada => 'a'}, limits => {}, %o,
			 config => "[limits]\ndrain_timeout_ms = 100\nserver_memory = ${MOST_MB}M\nmax_concurrent_runs = 2\n");
}

sub peak_mb { return peak_kb($_[0]{pid}) >> 10 }

# The text of a small call which makes a tree of many values.
sub call_text {
	my ($id, $values, $tool) = @_;

	return '{"jsonrpc":"2.0","id":"' . $id . '","method":"tools/call","params":{"name":"' . $tool . '","arguments":{"a":[' . join(',', ('{}') x $values) . ']}}}';
}

# POST TEXT, and do not wait for the answer.
sub post {
	my ($s, $token, $text, $headers) = @_;
	my $c = $s->connect;

	$c->request('POST', '/mcp', {Authorization => "Bearer $token", 'Content-Type' => 'application/json', Accept => 'application/json, text/event-stream', %{$headers // {}}}, $text);
	return $c;
}

my $s = server();
my $ada = $s->client('ada')->greeted;
my $eve = $s->client('eve')->greeted;
my %EVE = ('Mcp-Session-Id' => $eve->{session}, 'MCP-Protocol-Version' => '2025-11-25');
my $idle = peak_mb($s);

# ---- calls that wait, and their trees ----
{
	my (@open, $refused, $tries, $code);

	for my $n (1 .. 120) {
		push @open, post($s, 'e', call_text("l$n", 20_000, 'naps'), \%EVE);
	}
	for my $n (1 .. 300) {
		push @open, post($s, 'e', call_text($n, 2_500, 'naps'), \%EVE);
		is($ada->call('ping')->{result} ? 'pong' : 'none', 'pong', 'somebody else is answered') if $n % 100 == 0;
	}
	# the server may still be reading earlier messages
	until_true('a refusal', sub {
		$refused = post($s, 'e', call_text('last' . $tries++, 2_500, 'naps'), \%EVE);
		push @open, $refused;
		return 0 unless $refused->head == 429;
		$code = json_to($refused->body)->{error}{data}{errorCode} // ''; # none: too much is unread
		return $code eq 'QUOTA_EXCEEDED';
	});
	is($code, 'QUOTA_EXCEEDED', 'who has many that wait is refused one more');
	is($ada->run_sync(echo => {n => 1})->{result}{n}, 1, 'another requestor has a run meanwhile');
	ok($s->log_has(qr/requestor=eve memory=refused times=\d/), 'the log tells who was refused');
	unlike($s->log_text, qr/requestor=ada memory=refused/, 'the log tells no refusal of another requestor');
	like($s->fetch('GET', '/readyz')->{body}, qr/clients were refused in the last minute.*server_memory/, 'readyz warns of refused clients');
	is($ada->tool('get_runtime_profile')->{view}{usage}{memoryRefused}, 0, 'who was not refused sees that');
	cmp_ok(peak_mb($s), '<', $MOST_MB * $ROOM, "calls that wait: $idle MB before, at most " . peak_mb($s));
	$_->hang_up for @open;
}

# ---- sessions, of which each declares much ----
{
	my $much = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"x","version":"1"},"capabilities":{"experimental":{"a":[' . join(',', ('{}') x 700) . ']}}}}';
	my $made = 0;

	for (1 .. 200) {
		my $r = $s->fetch('POST', '/mcp', {Authorization => 'Bearer m', 'Content-Type' => 'application/json', Accept => 'application/json, text/event-stream'}, $much);

		$made++ if $r->{headers}{'mcp-session-id'};
	}
	cmp_ok($made, '>', 100, "$made sessions begin that declare much");
	cmp_ok(peak_mb($s), '<', $MOST_MB * $ROOM, "$made sessions that declare much: at most " . peak_mb($s) . ' MB');
}

my $mal = $s->client('mal')->greeted;
my %MAL = (Authorization => 'Bearer m', 'Content-Type' => 'application/json', Accept => 'application/json, text/event-stream', 'Mcp-Session-Id' => $mal->{session}, 'MCP-Protocol-Version' => '2025-11-25');

# ---- many values, and no template that gets them ----
{
	my $r = $s->fetch('POST', '/mcp', \%MAL,
			  '{"jsonrpc":"2.0","id":"p","method":"ping","params":{"a":[' . join(',', ('{}') x 20_000) . ']}}');

	is($r->{json}{id}, 'p', 'a ping with many values is answered under its id');
	like($r->{json}{error}{message}, qr/ping came with what takes \d+ bytes of memory; at most 1048576 are taken/, 'a ping with many values is refused');
}

# ---- one message that has no room ----
{
	my $r = $s->fetch('POST', '/mcp', \%MAL, call_text('big', 900_000, 'echo'));
	my $data = $r->{json}{error}{data};

	is("$r->{status} $r->{json}{id}", '429 big', 'one whose tree has no room is refused under its id');
	is("$data->{errorCode} $data->{retryAfterMs}", 'QUOTA_EXCEEDED 1000', 'the refusal of a tree says when to try again');
	like($r->{json}{error}{message}, qr/server_memory in \[limits\]/, 'the refusal of a tree says who can raise the limit');
	cmp_ok(peak_mb($s), '<', $MOST_MB * $ROOM, '…at most ' . peak_mb($s) . ' MB');
}
$s->stop;

# ---- another bound, by a reload ----
{
	my $s = Http->new(templates => {%TEMPLATES}, tokens => {mal => 'm'}, limits => {}, config => "[limits]\nserver_memory = 2G\n");
	my $config = $s->{config};
	my $mal = $s->client('mal')->greeted;
	my $ask = sub {
		my ($id) = @_;
		my $a = $mal->answer($mal->request('tools/call', {name => 'echo', arguments => {n => 1, a => [map { {} } 1 .. 900_000]}}, $id));

		return $a->{error} ? $a->{error}{data}{errorCode} : 'runs';
	};

	is($ask->('before'), 'runs', 'a message has room');
	$s->write_config($config =~ s/server_memory = 2G/server_memory = 128M/r);
	is($s->reload, 'done', 'a reload with less server_memory is taken');
	is($ask->('less'), 'QUOTA_EXCEEDED', 'a message that had room has none after the reload');
	$s->write_config($config);
	$s->reload;
	is($ask->('more'), 'runs', 'a message runs when server_memory is raised');
	$s->stop;
}

# ---- results, which are checked as trees ----
{
	my @who = qw(a b c d);
	my $s = Http->new(templates => {big => {code => 'return function(run, inputs) local t = {} for n = 1, inputs.n or 300000 do t[n] = {} end return {t = t} end',
		inputsSchema => {type => 'object', properties => {n => {type => 'integer'}}}, outputsSchema => {type => 'object', properties => {t => {type => 'array', items => {type => 'object'}}}},
		limits => {maxOutputBytes => 16 << 20, maxMemoryBytes => 512 << 20}}},
		tokens => {map { $_ => $_ } @who}, limits => {}, config => "[limits]\nserver_memory = 512M\nmax_concurrent_runs = 8\n");
	my @runs;

	for my $c (map { $s->client($_)->greeted } @who, @who) {
		push @runs, $c->tool(run_task_template => {templateId => 'big', inputs => {}, options => {mode => 'async'}})->{view}{runId};
	}
	$s->log_has(qr/run=\Q$_\E .*status=/) for @runs;
	is_deeply([$s->log_text =~ /template=big .*status=(\w+)/g], [('succeeded') x @runs], scalar(@runs) . ' runs give many values at once');
	cmp_ok(peak_mb($s), '<', 512 * $ROOM, '…of which not all are read at the same time: at most ' . peak_mb($s) . ' MB');
	my $large = $s->client('a')->greeted->run_sync(big => {n => 900_000});

	is($large->{error}{errorCode}, 'RESOURCE_LIMIT', 'one whose tree has no room alone fails its run');
	like($large->{error}{message}, qr/server_memory in \[limits\]/, 'the error of a large tree says who can raise the limit');
	cmp_ok(peak_mb($s), '<', 512 * $ROOM, '…at most ' . peak_mb($s) . ' MB');
	$s->stop;
}

# ---- over lines ----
$s = Paddock->new(templates => {%TEMPLATES}, config => "[limits]\nserver_memory = ${MOST_MB}M\nmax_concurrent_runs = 2\n");
$s->init;
{
	my @ids = map { "l$_" } 1 .. 150;

	$s->{out} .= call_text($_, 20_000, 'naps') . "\n" for @ids;
	$s->{out} .= call_text('big', 900_000, 'echo') . "\n";
	$s->wait_for('a refusal', sub { $s->{answers}{'"big"'} });
	my $refused = $s->{answers}{'"big"'};

	is($refused->{error}{data}{errorCode}, 'QUOTA_EXCEEDED', 'over lines one is refused, too');
	cmp_ok(peak_mb($s), '<', $MOST_MB * $ROOM, '…at most ' . peak_mb($s) . ' MB');
}
$s->stop;

# ---- one large result that many wait for ----

my $MANY = 250;

# Read the answers to ALL in parallel until the server closes: the number of each status
# with a whole answer, as a stream or as one body.
sub told {
	my (@all) = @_;
	my %how;

	until_true('the ends of all answers', sub {
		@all = grep {
			my ($c, $n) = ($_);

			while ($n = sysread $c->{fh}, my $some, 1 << 18) {
				$c->{first} //= substr $some, 0, 12;
				$c->{tail} = substr(($c->{tail} // '') . $some, -16);
				$c->{got} += $n;
			}
			$how{($c->{first} // 'nothing') . ($c->{got} > 2 << 20 && $c->{tail} =~ /\}\s*(?:0\r\n\r\n)?\z/ ? ' whole' : " with $c->{got} bytes")}++ if defined $n;
			!defined $n;
		} @all;
		return !@all;
	});
	return \%how;
}

$s = Http->new(templates => {%TEMPLATES, large => {code => 'return function() return {text = string.rep("x", 2 << 20)} end',
	inputsSchema => {type => 'object'}, limits => {maxOutputBytes => 4 << 20}}},
	       tokens => {eve => 'e', ada => 'a'}, limits => {}, config => "[limits]\nserver_memory = ${MOST_MB}M\nmax_concurrent_runs = 2\n");
$ada = $s->client('ada')->greeted;
$eve = $s->client('eve')->greeted;
%EVE = ('Mcp-Session-Id' => $eve->{session}, 'MCP-Protocol-Version' => '2025-11-25');
{
	my $large;
	my @before = map { $large = $eve->tool(run_task_template => {templateId => $_, inputs => {}, options => {mode => 'async'}})->{view}{runId} } qw(naps naps large);
	my @open = map { post($s, 'e', '{"jsonrpc":"2.0","id":"w' . $_ . '","method":"tools/call","params":{"name":"get_task_run","arguments":{"runId":"' . $large . '","waitMs":30000}}}', {%EVE, Connection => 'close'}) } 1 .. $MANY;

	is($ada->call('ping')->{result} ? 'pong' : 'none', 'pong', "while $MANY wait for one end, somebody else is answered");
	$eve->tool(cancel_task_run => {runId => $_}) for @before[0, 1];
	is($eve->ended($large)->{status}, 'succeeded', 'a run with 2 MiB that many wait for ends');
	is($ada->run_sync(echo => {n => $_})->{result}{n}, $_, 'runs succeed while many are told') for 1 .. 3;
	is_deeply(told(@open), {'HTTP/1.1 200 whole' => $MANY}, 'each waiting call is told the whole result');
	is($ada->tool('get_runtime_profile')->{view}{usage}{memoryRefused}, 0, 'no other requestor was refused');
	cmp_ok(peak_mb($s), '<', $MOST_MB * $ROOM, '…at most ' . peak_mb($s) . ' MB');
	$_->hang_up for @open;

	my $call = sub { my ($id) = @_; return '{"jsonrpc":"2.0","id":"' . $id . '","method":"tools/call","params":{"name":"run_task_template","arguments":' .
		'{"templateId":"large","inputs":{},"options":{"idempotencyKey":"key","mode":"sync"}}}}' };
	until_true('the end of the run with the key', sub { post($s, 'e', $call->('first'), \%EVE)->response->{json}{result} });
	@open = map { post($s, 'e', $call->("k$_"), {%EVE, Connection => 'close'}) } 1 .. $MANY;
	is_deeply(told(@open), {'HTTP/1.1 200 whole' => $MANY}, "$MANY calls with the key of a run that has ended are told its end, whole");
	cmp_ok(peak_mb($s), '<', $MOST_MB * $ROOM, '…at most ' . peak_mb($s) . ' MB');
	$_->hang_up for @open;
	is($eve->end, 204, 'the session with many streams ends');
	ok(until_true('nothing of it to be counted', sub {
		kill USR1 => $s->{pid};
		return (($s->log_text =~ /requestor=eve status=ok running=0 .*memory_bytes=(\d+)/g)[-1] // 'no line') eq '0';
	}), 'no memory is counted in the end');
}
$s->stop;

# ---- questions, lines that wait for a thread, and all kinds at once ----
my $ASKS = <<'LUA';
return function(run, i)
	local much, how, all = {}, {}, {}
	for n = 1, 19900 do much[n] = {} end
	for n = 1, 60 do all[n] = n end
	run.map(all, {concurrency = 60}, function(n)
		local ok, err = pcall(run.sample, {messages = "m", maxTokens = 1, metadata = {a = much}, timeout = 1000})
		local code = ok and "answered" or err.code
		how[code] = (how[code] or 0) + 1
	end)
	return how
end
LUA
$s = Http->new(templates => {%TEMPLATES, asks => {code => $ASKS, inputsSchema => {type => 'object'}, limits => {maxMemoryBytes => 256 << 20}}},
	       tokens => {eve => 'e', mal => 'm', ada => 'a'}, limits => {}, config => "[limits]\ndrain_timeout_ms = 100\nserver_memory = ${MOST_MB}M\nmax_concurrent_runs = 5\n");
$ada = $s->client('ada')->greeted;
$eve = $s->client('eve')->greeted(undef, {sampling => {}});
%EVE = ('Mcp-Session-Id' => $eve->{session}, 'MCP-Protocol-Version' => '2025-11-25');

sub ask_much { return map { post($s, 'e', '{"jsonrpc":"2.0","id":"q' . $_ . '","method":"tools/call","params":{"name":"asks","arguments":{}}}', \%EVE) } 1 .. 4 }

# Connections to the socket, each with a complete large line.
sub large_lines {
	my @all = map { Daemon::client($s)->greeted } 1 .. 90;

	$_->{out} .= '{"jsonrpc":"2.0","id":"large","method":"ping","params":{"a":"' . 'x' x (4 << 20) . "\"}}\n" for @all;
	return @all;
}

# Wait until all LINES have an answer, of whatever kind.
sub turn_lines {
	my (@lines) = @_;

	return until_true('the answers to large lines', sub {
		$_->turn(0) for @lines;
		return !grep { !$_->{answers}{'"large"'} && !grep { exists $_->{error} } @{$_->{other}} } @lines;
	});
}

{
	my %how;

	# A stream may end before the answer while memory is short, so the runs are asked.
	my @streams = ask_much();

	until_true('the ends of the runs', sub {
		$_->fill_now for @streams; # unread streams are waited for
		my $list = $eve->tool('list_task_runs', {templateId => 'asks'})->{view}{runs} or return 0; # memory is short
		my @runs = @$list;
		my $refused = grep { $_->{in} =~ /"isError":true|"error":\{/ } @streams;

		return @runs + $refused >= 4 && !grep { $_->{status} =~ /^(?:queued|running)$/ } @runs;
	});
	for my $run ($eve->tool('list_task_runs', {templateId => 'asks'})->{view}{runs}->@*) {
		my $counts = $eve->ended($run->{runId})->{result} // {}; # a run may lack time on a busy machine

		$how{$_} += $counts->{$_} for keys %$counts;
	}
	cmp_ok($how{INPUT_TIMEOUT} // 0, '>', 0, 'some questions of many values wait') or diag(json_of(\%how));
	cmp_ok($how{QUOTA_EXCEEDED} // 0, '>', 0, 'other questions of many values are refused');
	cmp_ok(peak_mb($s), '<', $MOST_MB * $ROOM, '…at most ' . peak_mb($s) . ' MB');
}
{
	my @lines = large_lines();

	ok(turn_lines(@lines), scalar(@lines) . ' connections with a large line each are answered');
	cmp_ok(peak_mb($s), '<', $MOST_MB * $ROOM, '…at most ' . peak_mb($s) . ' MB');
	$_->hang_up for @lines;
}
{
	my @open = (ask_much(), map { post($s, 'm', call_text($_, 20_000, 'naps')) } 1 .. 60);
	my @lines = large_lines();

	push @open, map { post($s, 'e', call_text("a$_", 20_000, 'naps'), \%EVE) } 1 .. 60;
	ok(turn_lines(@lines), 'all kinds at once: lines are answered');
	is($ada->call('ping')->{result} ? 'pong' : 'none', 'pong', 'another requestor is answered beside all attacks');
	cmp_ok(peak_mb($s), '<', $MOST_MB * $ROOM, '…at most ' . peak_mb($s) . ' MB');
	$_->hang_up for @open, @lines;
}
$s->stop;
done_testing();
