#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Streamable HTTP: sessions, answers, callers, start and end.
use lib 'tests/lib';
use Paddock;
use Daemon;
use Http;
use Socket;

my $templates = {
	echo => lua('return inputs'),
	steps => lua('for i = 1, 3 do run.progress(i, 3) run.sleep(30) end
		      return {done = true}'),
	later => lua('run.sleep(50) return {late = true}', stream => 'poll'),
	nap => lua('run.sleep(400) return {done = true}'),
	hold => lua('run.progress(1, 2) run.sleep(20000)'),
};

# ---- a session ----

{
	my $s = Http->new(templates => $templates);
	my $c = $s->client;
	my $r = $c->init;

	is($r->{protocolVersion}, '2025-11-25', 'initialize is answered');
	is($c->{last}{status}, 200, 'initialize is answered with 200');
	is($c->{last}{headers}{'content-type'}, 'application/json', 'initialize is answered with JSON');
	like($c->{session}, qr/^[\x21-\x7e]{22,}$/,
	     'MCP 37: initialize gives a session id of visible characters');
	isnt($s->client->greeted->{session}, $c->{session}, 'MCP 37: each session has another id');
	is($c->notify('notifications/initialized'), 202,
	   'MCP 31: a notification gets 202');
	is($c->respond(77, {}), 202, 'MCP 31: so does a response');
	is_deeply($c->call('ping')->{result}, {}, 'ping');
	ok((grep { $_->{name} eq 'echo' }
	    @{$c->call('tools/list')->{result}{tools}}), 'tools/list');
	is($c->{last}{headers}{'content-type'}, 'application/json',
	   'what is quick is answered by JSON');
	is_deeply($c->tool(echo => {a => 1})->{view}, {a => 1}, 'tools/call');
	is_deeply($c->tool(nap => {})->{view}, {done => true},
		  'a call that takes long, and says nothing');
	like($c->{last}{headers}{'content-type'}, qr{^text/event-stream},
	     'a long call without progress is answered by a stream');
	$c->route($c->ask(nap => {}))->hang_up; # before it is one
	$r = $c->tool(steps => {}, {progressToken => 't'});
	is_deeply($r->{view}, {done => true}, 'a longer call');
	like($c->{last}{headers}{'content-type'}, qr{^text/event-stream},
	     'a long call with progress is answered by a stream');
	ok(scalar $c->progress_of('t'), 'the stream of a long call brings progress');

	# a client with several revisions
	my $task = $c->call('tools/call', {name => 'echo', arguments => {},
					   task => {}})->{result}{task};
	until_true('the task to end', sub {
		($c->call('tasks/get', {taskId => $task->{taskId}})->{result}{status}
		 // 'working') ne 'working' });
	is($c->{last}{headers}{'content-type'}, 'application/json',
	   'MCP 27: tasks/get opens no stream');

	# a batch with a long call
	my $batched = $s->client->greeted('2025-03-26');
	my $all = $batched->post([
		{jsonrpc => '2.0', id => 'a', method => 'ping'},
		{jsonrpc => '2.0', method => 'notifications/initialized'},
		{jsonrpc => '2.0', id => 'b', method => 'tools/call',
		 params => {name => 'steps', arguments => {},
			    _meta => {progressToken => 'b'}}}]);
	$all->head;
	like($all->{headers}{'content-type'}, qr{^text/event-stream},
	     'MCP 31: a batch with a call that says more gets a stream');
	my $said = $all->message->{json};
	$said = $all->message->{json} while ref $said eq 'HASH';
	is_deeply([sort map { $_->{id} } @$said], ['a', 'b'],
		  'the answers of a batch come in one message');
	is($all->message, undef, 'the stream of a batch ends');

	# HTTP/1.0 knows no chunks: a stream ends where the connection does
	my $plain = $s->connect;
	my %h = %{$c->headers(Accept => '*/*')};
	my $body = json_of({jsonrpc => '2.0', id => 60, method => 'tools/call',
			    params => {name => 'steps', arguments => {},
				       _meta => {progressToken => 'p'}}});
	$plain->put("POST /mcp HTTP/1.0\r\nHost: localhost\r\n" .
		    join('', map { "$_: $h{$_}\r\n" } sort keys %h) .
		    'Content-Length: ' . length($body) . "\r\n\r\n$body");
	like($plain->rest, qr/\r\n\r\nid: .*"id":60,.*\}\n\n\z/s,
	     'HTTP/1.0 gets events without chunks, and then the end');

	# a cut call goes on
	my $conn = $c->post({jsonrpc => '2.0', id => 51, method => 'tools/call',
			  params => {name => 'steps', arguments => {}}});
	$conn->head;
	$conn->hang_up;
	until_true('the run to end', sub {
		my @runs = @{$c->tool('list_task_runs')->{view}{runs} // []};

		@runs && !grep { $_->{status} =~ /^(?:queued|running)$/ } @runs });
	ok(!(grep { $_->{status} ne 'succeeded' }
	     @{$c->tool('list_task_runs')->{view}{runs}}),
	   'MCP 33: a lost connection cancels nothing');

	is($c->end, 204, 'DELETE ends the session');
	is($c->post({jsonrpc => '2.0', id => 9, method => 'ping'})
	   ->response->{status}, 404, 'MCP 37: which is unknown from then on');
	my $busy = $s->client->greeted;
	my $get = $busy->listen;
	$conn = $busy->post({jsonrpc => '2.0', id => 1, method => 'tools/call',
			     params => {name => 'hold', arguments => {}}});
	$conn->head;
	$conn->message;
	is($busy->end, 204, 'a session with a call under way can be ended');
	1 while $conn->message || $get->message;
	ok(!$conn->{cut} && !$get->{cut}, 'the streams of an ended session end');
	like($s->fetch(GET => '/readyz')->{body}, qr/"ready"/, 'a server with an ended session is ready');
	$s->stop(undef, 'QUIT');
}

# ---- idle ones end ----

{
	my $s = Http->new(templates => $templates,
			  config => {session_idle_ms => 100});
	my ($idle, $listening, $calling) = map { $s->client->greeted } 1 .. 3;
	my $get = $listening->listen;
	my $conn = $calling->post({jsonrpc => '2.0', id => 1,
				   method => 'tools/call',
				   params => {name => 'hold', arguments => {}}});

	$conn->head;
	$conn->message;
	$conn->hang_up;
	$s->log_has(qr/session=\Q@{[substr $idle->{session}, 0, 8]}\E .*why="idle"/);
	is($idle->call('ping')->{error}{code}, -32600, 'an idle session ends');
	is($idle->{last}{status}, 404, 'an idle session is unknown afterwards');
	is_deeply($_->call('ping')->{result}, {}, 'one at work does not')
	    for $listening, $calling;
	$s->stop(undef, 'QUIT');
}

# ---- who asks, by reload, too ----

{
	my $s = Http->new(templates => $templates, tokens => {ada => 't', bob => 'u'},
			  config => "[requestor \"bob\"]\nrate_per_second = 1\n" .
			      "burst = 1\n");
	my $ada = $s->client('ada')->greeted;
	my $get = $ada->listen;
	my $bob = $s->client('bob');
	my $r;

	$get->message;
	$bob->init;
	until_true('too many requests', sub {
		$r = $s->fetch(POST => '/mcp', $bob->headers,
			       '{"jsonrpc":"2.0","id":1,"method":"tools/list"}');
		$r->{status} != 200 });
	is("$r->{status} $r->{json}{error}{code}", '429 -32010',
	   'a requestor above its rate gets 429');
	like($r->{headers}{'retry-after'}, qr/^[1-9]\d*$/, 'a 429 says when to come back');

	write_file("$s->{root}/paddock.conf", "[requestor \"bob\"]\n" .
		   "token_sha256 = " . Http::sha256_hex('u') . "\n");
	is($s->reload, 'done', 'a requestor is removed');
	1 while $get->message;
	ok($get->{done} && !$get->{cut}, 'the streams of a removed requestor end');
	is($ada->post({jsonrpc => '2.0', id => 1, method => 'ping'})->response
	   ->{status}, 401, 'the token of a removed requestor is unknown');
	$s->stop;
}

# ---- the start ----

sub fails_to_start {
	my ($listen, $status, $why, $name) = @_;
	my $s = Http->new(listen => $listen, unready => 1,
			  templates => $templates);

	is(($s->wait_exit // -1) >> 8, $status, "$name: exit $status");
	like($s->log_text, $why, "$name: the reason");
}
fails_to_start('0.0.0.0:0', 78, qr/token_sha256/,
	       'beyond loopback without a token');
{
	socket my $fh, AF_INET, SOCK_STREAM, 0 or die;
	bind $fh, sockaddr_in(0, INADDR_LOOPBACK) or die;
	listen $fh, 1 or die;
	my ($port) = sockaddr_in(getsockname $fh);

	fails_to_start("127.0.0.1:$port", 69, qr/in use/, 'a port that is taken');
}
SKIP: {
	skip_lacking(1, 'IPv6');
	my $s = Http->new(listen => '[::1]:0', unready => 1,
			  templates => $templates);

	like($s->log_has(qr{url="(http://[^"]*)"}), qr{^http://\[::1\]:\d+/mcp$},
	     'IPv6 loopback');
	$s->stop;
}

# A template whose answer must be fetched.
{
	my $s = Http->new(templates => $templates);
	my $c = $s->client->greeted;
	my $other = $c->listen;
	my $conn = $c->route($c->ask(later => {}));

	$conn->head;
	like($conn->{headers}{'content-type'}, qr{^text/event-stream},
	     '"stream": "poll" is answered by a stream');
	my $first = $conn->event;
	is($first->{data}, '', 'a polled stream begins with an event without data');
	like($first->{retry}, qr/^\d+$/, 'a polled stream says when to come back');
	is($conn->event, undef, 'a polled stream ends');

	my $again = $c->listen($first->{id});

	is_deeply($again->message->{json}{result}{structuredContent},
		  {late => true}, 'Last-Event-ID has the answer');
	is($again->event, undef, 'a resumed polled stream ends');
	$other->hang_up;

	my $old = $s->client;

	$old->init('2025-06-18');
	is_deeply($old->tool(later => {})->{view}, {late => true},
		  'a client that cannot come back is not sent away');
	$s->stop;
}

done_testing;
