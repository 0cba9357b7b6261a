# SPDX-License-Identifier: Apache-2.0
# Worst cases for the loop; see tests/lib/Loop.pm. While each goes on another
# client's ping is answered: tests/system/redteam/loop.t, and bench/latency tells when.
use strict;
use warnings;
use Loop;
use Paddock;

my $MB = 1 << 20;

sub line { return join '', map { "$_\n" } @_ }
sub request { return qq({"jsonrpc":"2.0","id":"$_[0]","method":"$_[1]","params":$_[2]}) }

# N times a line of ID 0, 1, …: what is sent at once.
sub many { my ($n, $make) = @_; return join '', map { $make->($_) . "\n" } 1 .. $n }

# JSON of N bytes: a list of ITEM, "…," over and over.
sub list_of { my ($n, $item) = @_; return '[' . $item x (($n - 8) / length $item) . '0]' }

my $hello = sub { line(initialize()) };
my $old_hello = sub { line(initialize('2025-03-26')) };

# The client's session over HTTP; what is sent in it.
sub posts { my (@texts) = @_; return sub { my ($a) = @_; map { post($_, $a->{session}, $a->{port}) } @texts } }

# Rows of tests/system/redteam/tables/schemas.pl, as what a template takes, and as what it gives.
sub schemas {
	my @rows = do "$TOP/tests/system/redteam/tables/schemas.pl";

	die "tests/system/redteam/tables/schemas.pl: " . ($@ || $!) . "\n" unless ref $rows[0];
	return map {
		my ($n, $what, undef, %how) = @$_;
		my $schema = json_to(qq({"type":"object","properties":{"v":$how{schema}}}));
		my %as = (take => lua('return {}', inputsSchema => $schema),
			  give => lua('return inputs', outputsSchema => $schema,
				      limits => {maxOutputBytes => 4 << 20}));
		map {
			my $name = $_;

			["$name$n", "$name: $what", first => $hello, conns => 4,
			 long => $n != 1 && $n != 4, templates => {$name => $as{$name}},
			 say => sub { line(call_text(1, $name, qq({"v":$how{value}}))) }];
		} sort keys %as;
	} @rows;
}

(
    schemas(),

    # ---- many small messages ----
    [1, 'pings, a thousand at once', say => sub { many(1000, sub { request($_[0], 'ping', '{}') }) }],
    ['1b', 'the same by 16 connections', long => 1, conns => 16, say => sub { many(1000, sub { request($_[0], 'ping', '{}') }) }],
    [2, 'notifications of nothing', say => sub { many(1000, sub { '{"jsonrpc":"2.0","method":"notifications/x"}' }) }],
    [3, 'answers to nothing', long => 1, say => sub { many(1000, sub { '{"jsonrpc":"2.0","id":"\\u0070addock-1","result":{}}' }) }],
    [4, 'what is no message', say => sub { many(1000, sub { '{"a":' }) }],
    [5, 'requests over HTTP, one after the other', over => 'http', conns => 16,
     say => posts((request(1, 'ping', '{}')) x 100)],
    ['5b', 'health checks over HTTP', long => 1, over => 'http', conns => 16,
     say => sub { "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:$_[0]{port}\r\n\r\n" x 300 }],
    ['5c', 'what is refused over HTTP', long => 1, over => 'http', conns => 16,
     say => sub { "GET /nothing HTTP/1.1\r\nHost: 127.0.0.1:$_[0]{port}\r\n\r\n" x 300 }],
    [6, 'connections that come and go', over => 'http', conns => 16, parting => 1,
     say => sub { "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:$_[0]{port}\r\n\r\n" }],
    ['6b', 'sessions that come and go', long => 1, over => 'http', conns => 16, parting => 1,
     say => sub { post(initialize(), undef, $_[0]{port}) }],
    ['6c', 'connections of the socket that come and go', long => 1, conns => 16, parting => 1, say => $hello],
    [7, 'a batch of 128', first => $old_hello,
     say => sub { '[' . join(',', map { request($_, 'ping', '{}') } 1 .. 128) . "]\n" }],

    ['7b', 'a batch of 128 lists', first => $old_hello, dirs => 1, long => 1,
     say => sub { '[' . join(',', map { $_ % 2 ? request($_, 'tools/list', '{}') : call_text($_, 'list_task_templates', '{}') } 1 .. 128) . "]\n" }],

    # ---- large messages ----
    [10, 'a ping of 3.6 MB', long => 1, first => $hello,
     say => sub { line(request(1, 'ping', '{"a":' . list_of(3.6 * $MB, '0,') . '}')) }],
    [11, 'a ping of 16 MB, a million values', first => $hello,
     say => sub { line(request(1, 'ping', '{"a":' . list_of(1.9 * $MB, '0,') . ',"b":"' . 'x' x (14 * $MB) . '"}')) }],
    ['11b', 'objects in a list', long => 1, first => $hello,
     say => sub { line(request(1, 'ping', '{"a":' . list_of(4 * $MB, '{"a":{}},') . '}')) }],
    ['11c', 'a million names', long => 1, first => $hello,
     say => sub { line(request(1, 'ping', '{' . join(',', map { qq("k$_":0) } 1 .. 990_000) . '}')) }],
    ['11d', 'a string of 16 MB, escaped', first => $hello,
     say => sub { line(request(1, 'ping', '{"a":"' . '\\u0041' x (2.6 * $MB) . '"}')) }],
    ['11e', 'what is no message, of 16 MB', long => 1, say => sub { line('{"a":"' . 'x' x (15.9 * $MB)) }],
    ['11f', 'a line of 100 MB', say => sub { (map { 'x' x $MB } 1 .. 100), "\n" }],
    ['11g', 'a notification of 16 MB', long => 1, say => sub { line('{"jsonrpc":"2.0","method":"x","params":{"a":' . list_of(1.9 * $MB, '1,') . '}}') }],
    ['11h', 'an answer of 16 MB', long => 1, say => sub { line('{"jsonrpc":"2.0","id":"paddock-1","result":{"a":' . list_of(1.9 * $MB, '1,') . '}}') }],
    [12, 'large messages over HTTP', over => 'http', conns => 8,
     say => posts(request(1, 'ping', '{"a":' . list_of(1.9 * $MB, '0,') . ',"b":"' . 'x' x (13 * $MB) . '"}'))],
    [13, 'inputs of 15 MB', long => 1, first => $hello, say => sub { line(call_text(1, 'fill', '{"n":1,"t":"' . 'x' x (15 * $MB) . '"}')) }],
    ['13b', 'inputs of half a million values', first => $hello,
     say => sub { line(call_text(1, 'fill', '{"n":1,"t":' . list_of($MB, '0,') . '}')) }],
    ['13c', 'the same, with a key', long => 1, first => $hello,
     say => sub { line(call_text(1, 'run_task_template', '{"templateId":"fill","inputs":{"n":1,"t":' .
				 list_of($MB, '0,') . '},"options":{"idempotencyKey":"k"}}')) }],
    ['13d', 'inputs for a tool of the contract', long => 1, first => $hello,
     say => sub { line(call_text(1, 'get_task_run', '{"runId":' . list_of($MB, '0,') . '}')) }],
    ['13e', 'a tool that is not there, with much', long => 1, first => $hello,
     say => sub { line(call_text(1, 'x' x $MB, '{"runId":' . list_of($MB, '0,') . '}')) }],
    [14, 'inputs that come back', first => $hello, say => sub { line(call_text(1, 'echo', '{"t":"' . 'x' x (4 * $MB) . '"}')) }],
    ['14b', 'many values that come back', long => 1, first => $hello, say => sub { line(call_text(1, 'echo', '{"t":' . list_of($MB, '0,') . '}')) }],
    ['14c', 'large answers to questions', conns => 2, parting => 1, templates => {
	asks => lua('return run.sample{maxTokens = 9, messages = {{role = "user", content = {type = "text", text = "?"}}}}')},
     say => sub {
	my $answer = sub { qq({"jsonrpc":"2.0","id":"paddock-$_[0]","result":{"model":"m","role":"assistant","content":) .
			       list_of(4 * $MB, '{"type":"text","text":""},') =~ s/0\]$/{"type":"text","text":""}]/r . '}}' };

	line(initialize('2025-11-25', '{"sampling":{}}'), '{"jsonrpc":"2.0","method":"notifications/initialized"}',
	     (map { call_text("a$_", 'asks', '{}') } 1 .. 4), request('wait', 'ping', '{"a":' . list_of($MB, '0,') . '}'),
	     map { $answer->($_) } 1 .. 4)
     }],
    [15, 'results of 8 MB', first => $hello, conns => 4, say => sub { line(call_text(1, 'fill', '{"n":8000000}')) }],
    ['15b', 'results of 8 MB over HTTP', long => 1, over => 'http', conns => 4, say => posts(call_text(1, 'fill', '{"n":8000000}'))],
    ['15c', 'a large run, looked at', over => 'lines', first => $hello,
     prepare => sub { $_[0]->run_sync(fill => {n => 8_000_000})->{runId} },
     config => "[limits]\nmax_output_bytes = 16777216\n",
     say => sub { line(call_text(1, 'get_task_run', qq({"runId":"$_[0]{prepared}"}))) }],

    # ---- what is kept ----
    [16, 'trees of many values that wait', first => $hello, conns => 4, long => 1,
     say => sub { line(map { call_text("t$_", 'doze', '{"a":' . list_of(60_000, '{},') . '}') } 1 .. 50) }],
    ['16b', 'the same over HTTP', over => 'http', conns => 16,
     say => posts(call_text(1, 'doze', '{"a":' . list_of(60_000, '{},') . '}'))],
    ['16c', 'sessions that declare much', long => 1, over => 'http', conns => 16, parting => 1,
     say => sub { post(initialize(undef, '{"experimental":{"a":' . list_of(2_000, '{},') . '}}'), undef, $_[0]{port}) }],
    ['16d', 'large answers that nobody reads', first => $hello, conns => 16, deaf => 1, long => 1,
     say => sub { line(call_text(1, 'fill', '{"n":2000000}')) }],

    # ---- ids ----
    [20, 'an escaped id of 1.5 MB among 2,000 that wait', first => $hello,
     prepare => sub { my ($c) = @_; $c->{n}++; undef },
     say => sub { many(2000, sub { call_text("w\\u002d$_[0]", 'doze', '{}') }),
		  line('{"jsonrpc":"2.0","id":"' . '\\u0041' x 250_000 . '","method":"ping"}') x 4 }],

    # ---- lists ----
    [30, 'lists of tools', long => 1, first => $hello, say => sub { many(100, sub { request($_[0], 'tools/list', '{}') }) }, dirs => 1],
    ['30b', 'lists of templates', first => $hello, say => sub { many(100, sub { call_text($_[0], 'list_task_templates', '{}') }) }, dirs => 1],
    ['30h', 'searches', first => $hello, dirs => 1,
     say => sub { many(100, sub { call_text($_[0], 'search_task_templates', '{"limit":50,"detail":"full","query":"' . 'profile text file word ' x 40 . '"}') }) }],
    ['30c', 'lists of runs', long => 1, first => $hello,
     prepare => sub { my ($c) = @_; $c->run_sync(echo => {a => $_}) for 1 .. 100; 1 },
     say => sub { many(100, sub { call_text($_[0], 'list_task_runs', '{"limit":100}') }) }],
    ['30d', 'lists of resources', long => 1, first => $hello, say => sub { many(100, sub { request($_[0], 'resources/list', '{}') }) }],
    ['30e', 'the profile', long => 1, first => $hello, say => sub { many(100, sub { call_text($_[0], 'get_runtime_profile', '{}') }) }],
    ['30f', 'tasks', long => 1, first => $hello, say => sub { many(100, sub { request($_[0], 'tasks/list', '{}') }) }],
    ['30g', 'artifacts of a run of many values, completed', long => 1, first => $hello, conns => 4,
     templates => {many => lua('local t = run.array({}) for i = 1, 300000 do t[i] = i % 10 end return {t = t}')},
     prepare => sub { $_[0]->run_sync(many => {})->{runId} },
     say => sub { my ($a) = @_; many(8, sub { request($_[0], 'completion/complete', '{"ref":{"type":"ref/resource","uri":"paddock://runs/{runId}/artifacts/{artifactId}"},' .
	 qq("argument":{"name":"artifactId","value":""},"context":{"arguments":{"runId":"$a->{prepared}"}}})) }) }],
    [31, 'runs that log all they may', over => 'http', prepare => sub { my ($c) = @_; $c->run_async(chat => {}) for 1 .. 6; 1 },
     say => posts(request(1, 'ping', '{}'))],
    [32, 'artifacts of 4 MB', first => $hello, conns => 4,
     prepare => sub { my ($c) = @_; $c->run_sync(keep => {n => 4_000_000})->{artifacts}[0]{artifactId} },
     over => 'http', say => sub { my ($a) = @_; post(call_text(1, 'get_artifact', qq({"artifactId":"$a->{prepared}"})), $a->{session}, $a->{port}) }],

    # ---- many at once ----
    [40, 'runs that begin and are cancelled', first => $hello,
     say => sub { my $n = 0; many(100, sub { call_text("c$_[0]", 'doze', '{}') }),
		  join '', map { qq({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"c$_"}}\n) } 1 .. 100 }],
    [41, 'a thousand calls wait, and their client goes', conns => 2, parting => 1,
     say => sub { line(initialize()), many(1000, sub { call_text("c$_[0]", 'doze', '{}') }) }],
    [42, 'status, all the time', long => 1, signal => 'USR1'],
    ['42b', 'reloads, all the time', long => 1, signal => 'HUP', between => 0.1],
);
