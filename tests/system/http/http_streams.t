#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Event streams: the first event, the replay, the effect of a lost connection, and the cost
# of a thousand idle streams to other clients.
use lib 'tests/lib';
use Paddock;
use Http;

# A stream takes a descriptor at each end.
descriptors(4096);

my $templates = {
	echo => lua('return inputs'),
	slow => lua('run.progress(1, 3, "one") run.sleep(inputs.ms or 300)
		     run.progress(2, 3, "two") return {said = inputs.say}'),
	broken => lua('error("no")'),
};
my $s = Http->new(templates => $templates,
		  config => {sse_keepalive_ms => 50});

sub call_slow {
	my ($c, $id, %in) = @_;

	return $c->post({jsonrpc => '2.0', id => $id, method => 'tools/call',
			 params => {name => 'slow', arguments => \%in,
				    _meta => {progressToken => "t$id"}}});
}

# The messages up to the end of the stream, with the ids.
sub all_of {
	my ($conn) = @_;
	my @all;

	while (my $e = $conn->message) { push @all, $e }
	return @all;
}

# ---- one stream ----

my $c = $s->client->greeted;
{
	my $conn = call_slow($c, 1, say => 'a');

	is($conn->head, 200, 'a call that takes long is answered by a stream');
	like($conn->{headers}{'cache-control'}, qr/no-cache/, 'for no cache');
	is($conn->{headers}{'x-accel-buffering'}, 'no', 'a stream is not buffered on the way');
	my ($first, @rest) = all_of($conn);

	ok(length $first->{id} && $first->{data} eq '' && $first->{retry} > 0,
	   'MCP 32: the first event has an id, retry and empty data');
	is_deeply([map { $_->{json}{method} // 'answer' } @rest],
		  [('notifications/progress') x 2, 'answer'],
		  'MCP 32: progress, and then the answer');
	is($rest[-1]{json}{id}, 1, 'to the request');
	ok(!$conn->{cut}, 'MCP 32: the stream ends after it');
	my %ids = map { $_->{id} => 1 } $first, @rest;

	is(scalar keys %ids, 4, 'MCP 36: each event has an id of its own');
	is($conn->{headers}{connection} // '', '', 'the connection stays');
	$conn->request('GET', '/healthz');
	is($conn->response->{status}, 200, 'a connection serves the request after a stream');

	# resume after each of the events
	for my $n (0 .. 3) {
		my @all = ($first, @rest);
		my $again = $c->listen($all[$n]{id});

		is_deeply([map { $_->{id} } all_of($again)],
			  [map { $_->{id} } @all[$n + 1 .. $#all]],
			  "MCP 36: after event $n come the others, and the end");
	}
}
{
	my $old = $s->client->greeted('2025-06-18');
	my $conn = call_slow($old, 1, say => 'a');

	$conn->head;
	my ($first) = all_of($conn);
	is($first->{json}{method}, 'notifications/progress',
	   'MCP 32: an older client gets no empty event');
}

# ---- several, and cuts ----

{
	my %conn = map { $_ => call_slow($c, $_, say => "s$_") } 11 .. 13;
	my %first = map { $conn{$_}->head; ($_ => $conn{$_}->message->{id}) }
	    sort keys %conn;

	$_->hang_up for values %conn;
	for my $id (sort keys %first) {
		my $again = $c->listen($first{$id});
		my @all = grep { $_->{json} } all_of($again);
		my ($answer) = grep { exists $_->{json}{id} } @all;

		is($again->{status}, 200, "the stream of call $id is taken up");
		is_deeply($answer->{json}{result}{structuredContent},
			  {said => "s$id"},
			  'MCP 33: a cut ends no call: its answer comes');
		my @others = grep { ($_->{json}{id} // $id) != $id ||
		    ($_->{json}{params}{progressToken} // "t$id") ne "t$id" } @all;

		is(scalar @others, 0, 'MCP 36: with messages of its own alone');
	}
}
for ('9999-1', 'x', '1', '-1-1') {
	is($c->listen($_)->{status}, 400, "Last-Event-ID $_ is no stream's");
}

# A finished stream without further events gets 204, since official clients would repeat the
# request after any other answer.
sub is_over {
	my ($client, $id, $name) = @_;
	my $again = $client->listen($id);

	is($again->{status}, 405, "$name: to come back for it is refused for good");
	is($again->{headers}{allow}, 'GET, POST, DELETE', "$name: Allow says which methods pass");
	like($again->body, qr/is over, and nothing/, "$name: the refusal says that the stream is over");
	return;
}

{
	my $conn = call_slow($c, 14, say => 'x');

	$conn->head;
	my @all = all_of($conn);
	is_over($c, $all[-1]{id}, 'a stream that was heard to its end');
}
{ # the newer connection has it
	my $conn = call_slow($c, 20, say => 'x', ms => 1500);

	$conn->head;
	my $id = $conn->message->{id};
	my $again = $c->listen($id);

	is_deeply([grep { exists $_->{json}{id} } all_of($conn)], [],
		  'MCP 35: an older connection to a stream ends');
	my ($answer) = grep { exists $_->{json}{id} } all_of($again);
	is($answer->{json}{id}, 20, 'MCP 35: the newer connection gets the answer');
}
{ # cancelled: the stream ends without an answer
	my $conn = call_slow($c, 21, say => 'x', ms => 30000);

	$conn->head;
	$conn->message for 1 .. 2;
	is($c->notify('notifications/cancelled', {requestId => 21}), 202,
	   'a call is cancelled');
	is_deeply([grep { exists $_->{json}{id} } all_of($conn)], [],
		  'MCP 8: it gets no answer, and its stream ends');
	ok(!$conn->{cut}, 'properly');
}
{
	my $conn = call_slow($c, 22, say => 'x', ms => 30000);

	$conn->head;
	my @some = map { $conn->message->{id} } 1 .. 2;
	$c->notify('notifications/cancelled', {requestId => 22});
	all_of($conn);
	is_over($c, $some[1], 'one that was cancelled');
	my @rest = all_of($c->listen($some[0]));

	is(scalar @rest, 1, 'a client that missed an event of a cancelled call gets the event');
	is_over($c, $rest[0]{id}, 'the stream of a cancelled call is over when all was read');
}

# ---- what belongs to no request ----

sub more_templates {
	my ($n) = @_;

	$s->write_templates({"added_$n" => lua('return 1')});
	is($s->reload, 'done', 'templates change');
}

# Read until the tools have changed; other lists may have changed, too.
sub tools_changed {
	my ($conn) = @_;

	while (my $e = $conn->message) {
		return $e if ($e->{json}{method} // '') eq
		    'notifications/tools/list_changed';
	}
	return undef;
}

{
	my $get = $c->listen;

	is($get->{status}, 200, 'MCP 30: GET opens a stream');
	my $first = $get->message;
	ok(length $first->{id} && $first->{data} eq '', 'MCP 30: the stream of a GET begins with an empty event with an id');
	is($get->event->{comment}, ':', 'a silent stream gets comments');
	more_templates(1);
	my $e = tools_changed($get);
	ok($e, 'MCP 34: what belongs to no request comes there');

	$get->hang_up;
	more_templates(2);
	my $again = $c->listen($e->{id});
	ok(tools_changed($again),
	   'MCP 34: a missed notification comes after Last-Event-ID');
	my $newer = $c->listen;
	is($newer->message->{data}, '', 'a newer GET begins anew');
	more_templates(3);
	ok(tools_changed($newer), 'MCP 35: what is new comes there');
	$newer->hang_up;
	more_templates(4);
	my $told = tools_changed($again);
	ok($told, 'the older one was not ended: it has the next, once it is alone');
	ok(!grep({ $_->{json} } all_of_now($again)), 'MCP 35: the older stream repeats nothing')
}
# The events received so far, without a wait.
sub all_of_now {
	my ($conn) = @_;
	my @all;

	push @all, $conn->event while $conn->{body} =~ /\n\n/;
	return @all;
}
{ # the stream that is taken up goes to the newer connection; the older stays
	my $one = $s->client->greeted;
	my $first = $one->listen;
	my $id = $first->message->{id};
	my $second = $one->listen($id);

	is($second->{status}, 200, 'a stream is taken up while its connection lives');
	more_templates(5);
	ok(tools_changed($second), 'MCP 35: the newer one has what comes');
	is($first->event->{comment}, ':', 'the older one is silent, and not ended');
	ok(!grep({ $_->{json} } all_of_now($first)), 'MCP 35: the older stream is not told the same');
	$one->end;
	all_of($first);
	ok($first->{done} && !$first->{cut}, 'the stream ends with the session');
}
{ # as many as there may be
	my $one = $s->client->greeted;
	my @get = map { my $get = $one->listen; [$get, $get->message->{id}] } 1 .. 9;

	all_of($get[0][0]);
	ok(!$get[0][0]{cut}, 'the ninth stream ends the first');
	is_over($one, $get[0][1], 'the first of nine');
	is($get[1][0]->event->{comment}, ':', 'the second lives');
	$one->end;
}

{
	my $late = $s->client->greeted;

	more_templates(6);
	my $get = $late->listen;
	ok(tools_changed($get), 'what changed before a client listened is told then');
	$get->hang_up;
	$late->end;
}

# ---- many, and slow ones ----

{
	my @idle = map { my $each = $s->client->greeted;
			 my $conn = $each->listen; $conn } 1 .. 1000;
	is(scalar(grep { $_->{status} == 200 } @idle), 1000,
	   '1,000 streams are open');
	my @loris = map { my $conn = $s->connect;
			  $conn->put("POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX:");
			  $conn } 1 .. 200;
	my $n = 0;

	for (1 .. 30) {
		$n += $c->tool(echo => {n => $_})->{view}{n} == $_;
		$loris[$_]->put('x');
	}
	is($n, 30, 'calls are answered while 200 requests crawl in');
	is($s->fetch(GET => '/readyz')->{status}, 200, 'the server is ready');
	ok(scalar(grep { $_->message } @idle) == 1000, 'all streams live');
	$_->hang_up for @idle, @loris;
}
{
	my @all = map { $s->connect } 1 .. 2200;

	is($s->fetch(GET => '/healthz')->{status}, 200,
	   'connections that ask for nothing make room');
	is_deeply($c->call('ping')->{result}, {}, 'for who does');
	$_->hang_up for @all;
}

# ---- the end ----

{
	my $get = $c->listen;
	my $conn = call_slow($c, 30, say => 'last', ms => 300);
	my $idle = $s->connect;

	$idle->request('GET', '/healthz');
	is($idle->response->{status}, 200, 'a connection is idle');
	$conn->head;
	$conn->message for 1 .. 2;
	$s->signal('TERM');
	$s->log_has(qr/drain=started/);
	my ($answer) = grep { exists $_->{json}{id} } all_of($conn);
	is_deeply($answer->{json}{result}{structuredContent}, {said => 'last'},
		  'a drain waits for what runs, and answers it');
	all_of($get);
	ok($get->{done} && !$get->{cut}, 'streams are ended, not cut');
	is($idle->rest, '', 'idle connections are closed');
	$s->stop;
}

done_testing;
