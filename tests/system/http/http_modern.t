#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# MCP 2026-07-28 over HTTP: requests without a session, beside sessions, at the same
# endpoint: the header fields, the answers, and requests whose clients leave.
use lib 'tests/lib';
use Paddock;
use Http;

my %templates = (
	echo => lua('return inputs'),
	nap => lua('run.sleep(400) return {done = true}'),
	steps => lua('for i = 1, 3 do run.progress(i, 3) run.sleep(30) end return {done = true}'),
	hold => lua('run.progress(1, 2) run.sleep(60000)'),
	quiet => lua('run.sleep(60000)'),
	rest => lua('run.sleep(1500) return {done = true}'),
	deaf => lua('run.progress(1, 2) while true do end'),
	size => lua('return {n = #inputs.text}'),
	where => lua('return inputs', inputsSchema => {type => 'object', properties => {
		region => {type => 'string', 'x-mcp-header' => 'Region'}, n => {type => 'integer', 'x-mcp-header' => 'N'}}}),
);
my $s = Http->new(templates => \%templates, config => "[limits]\nmax_concurrent_runs = 4\nsse_keepalive_ms = 50\n");
my $META = 'io.modelcontextprotocol';

# The log's statuses of ended runs of TEMPLATE.
sub ends { my ($template) = @_; return $s->log_text =~ /template=$template requestor=\S+ status=(\S+)/g }

sub until_ended {
	my ($template, $n) = @_;

	until_true("$n of $template to end", sub { my @all = ends($template); @all >= $n });
	return join ' ', ends($template);
}

# ---- a call ----

{
	my $c = $s->modern;
	my $r = $c->tool(echo => {a => 1});

	is_deeply($r->{view}, {a => 1}, 'MCP26 11: a call by itself');
	is($c->{last}{headers}{'content-type'}, 'application/json', 'what is quick is plain');
	ok(!exists $c->{last}{headers}{'mcp-session-id'}, 'MCP26 2, 11: no session is begun');
	$r = $c->call('server/discover');
	is($r->{result}{resultType}, 'complete', 'MCP26 3: server/discover');
	my %h = ('Mcp-Session-Id' => 'f' x 40, 'Last-Event-ID' => '1-1');
	$r = $c->post_request('tools/list', {}, 7, %h)->response;
	is($r->{status}, 200, 'MCP26 11: Mcp-Session-Id and Last-Event-ID are ignored');
	is_deeply($r->{json}{id}, 7, 'MCP26 11: an answer beside old headers has the id');
	$r = $c->post_request('tools/call', {name => 'echo', arguments => {b => 2}}, 'seven',
			      'Mcp-Name' => '=?base64?ZWNobw==?=')->response;
	is_deeply($r->{json}{result}{structuredContent}, {b => 2}, 'MCP26 12: a name in base64');
	is($c->notify('notifications/cancelled', {requestId => 1}), 202, 'a notification is taken, and is nothing');

	$c->tool(steps => {}, {progressToken => 't'});
	my %head = %{$c->{last}{headers}};
	my @told = map { $_->{params}{progress} } $c->progress_of('t');
	is(join(' ', @told) =~ s/ 2 / /r, '1 3', # the middle one is left out where they come fast
	   'MCP26 2: progress comes on the stream of its request');
	like($head{'content-type'}, qr{^text/event-stream}, 'MCP26 2: a call with progress is a stream');
	is($head{'x-accel-buffering'}, 'no', 'MCP26 11: that no proxy is to hold up');
	my $conn = $c->route($c->ask(nap => {}));
	$conn->head;
	my ($comments, $last) = (0, undef);
	while (my $e = $conn->event) {
		$comments++ if $e->{comment};
		$last = $e if !$e->{comment};
	}
	cmp_ok($comments, '>=', 2, 'MCP26 11: a stream that has nothing to say is kept alive by comments');
	is_deeply([sort keys %$last], ['data', 'json'], 'MCP26 11: its event has no id, and nobody is told to come back');
	is_deeply($last->{json}{result}{structuredContent}, {done => true}, 'MCP26 11: the last event is the answer');
	$conn->request('GET', '/mcp', $c->headers(Accept => 'text/event-stream', 'MCP-Protocol-Version' => '2026-07-28'));
	is($conn->response->{status}, 400, 'a GET is for sessions, as it was');
	$conn->request('DELETE', '/mcp', $c->headers('MCP-Protocol-Version' => '2026-07-28'));
	is($conn->response->{status}, 400, 'a DELETE with 2026-07-28 is refused');
}

# ---- the ladder ----

{
	my $c = $s->modern;
	my $conn = $s->connect;
	my $old = $s->client->greeted;
	my %fine = (jsonrpc => '2.0', id => 9, method => 'tools/list', params => $c->params_of);
	my %named = (%fine, method => 'tools/call', params => $c->params_of({name => 'echo', arguments => {}}));
	my %claims = (%fine, params => {});
	my $other = sub { return (%fine, params => $c->params_of({}, @_)) };
	my %lacks = (%fine, params => {_meta => {"$META/protocolVersion" => '2026-07-28'}});
	my @V = ('MCP-Protocol-Version' => '2026-07-28');
	my @M = ('Mcp-Method' => 'tools/list');

	for (['b: an array with one', [\%claims, \%fine], [@V], 400, -32600, undef],
	     ['c: a response is a session\'s', {jsonrpc => '2.0', id => 1, result => {}}, [], 400, -32600, undef],
	     ['d: initialize with its head', {%claims, method => 'initialize'}, [@V], 400, -32020],
	     ['d: and with a claim', {%fine, method => 'initialize'}, [@V, 'Mcp-Method' => 'initialize'], 404, -32601],
	     ['e: an envelope that lacks something', \%lacks, ['MCP-Protocol-Version' => '2025-11-25'], 400, -32602],
	     ['e: a version that is none', {$other->("$META/protocolVersion" => 7)}, [@V, @M], 400, -32602],
	     ['e: capabilities that are none', {$other->("$META/clientCapabilities" => [])}, [@V, @M], 400, -32602],
	     ['e: another version in its head', \%fine, ['MCP-Protocol-Version' => '2025-11-25', @M], 400, -32020],
	     ['e: another method', \%fine, [@V, 'Mcp-Method' => 'tools/call'], 400, -32020],
	     ['e: an unknown version', {$other->("$META/protocolVersion" => '2099-01-01')},
	      ['MCP-Protocol-Version' => '2099-01-01', @M], 400, -32022],
	     ['e: the same without a head', {$other->("$META/protocolVersion" => '1999-01-01')}, [], 400, -32022],
	     ['e: no version in its head', \%fine, [@M], 400, -32020],
	     ['e: no method', \%fine, [@V], 400, -32020],
	     ['e: no name', \%named, [@V, 'Mcp-Method' => 'tools/call'], 400, -32020],
	     ['e: another name', \%named, [@V, 'Mcp-Method' => 'tools/call', 'Mcp-Name' => 'Echo'], 400, -32020],
	     ['e: a word that is none', \%named, [@V, 'Mcp-Method' => 'tools/call', 'Mcp-Name' => '=?base64?!?='], 400, -32020],
	     ['e: an unknown method', {%fine, method => 'no/method'}, [@V, 'Mcp-Method' => 'no/method'], 404, -32601],
	     ['e: params are the last', {%named, params => $c->params_of({name => 'nobody', arguments => {}})},
	      [@V, 'Mcp-Method' => 'tools/call', 'Mcp-Name' => 'nobody'], 200, -32602],
	     ['f: nothing but the head', \%claims, [@V], 400, -32602],
	     ['g: nothing', \%claims, [], 400, -32600, undef],
	     ['and what is no message', '{', [@V], 400, -32700, undef]) {
		my ($name, $body, $fields, $status, $code, @id) = @$_;

		for my $session ([], ['Mcp-Session-Id' => $old->{session}]) {
			next if @$session && $name =~ /^[cg]:/; # it has one then
			$conn->request('POST', '/mcp', $c->headers(@$fields, @$session), ref $body ? json_of($body) : $body);
			my $r = $conn->response;

			is_deeply([$r->{status}, $r->{json}{error}{code}, $r->{json}{id}],
				  [$status, $code, @id ? $id[0] : 9], "MCP26 1, 5, 12: $name: $status, $code" .
				  (@$session ? ', whatever session it names' : ''))
			    or diag($r->{body});
		}
	}
	my $r = $s->fetch('POST', '/mcp', $c->headers('MCP-Protocol-Version' => '2099-01-01', @M),
			  json_of({$other->("$META/protocolVersion" => '2099-01-01')}))->{json}{error};
	is_deeply([$r->{data}{requested}, (grep { $_ eq '2026-07-28' } @{$r->{data}{supported}})],
		  ['2099-01-01', '2026-07-28'], 'MCP26 5: an unknown version is told, with those that are served');
	$r = $s->fetch('POST', '/mcp', $c->headers(@V), json_of(\%claims))->{json}{error}{message};
	like($r, qr/protocolVersion .*clientCapabilities/, 'MCP26 1: what is missing is named');
	for my $method (qw(initialize ping logging/setLevel resources/subscribe resources/unsubscribe tasks/list tasks/result)) {
		my $answer = $c->call($method, {uri => 'x:y', level => 'info', taskId => 'run_x'});

		is_deeply([$c->{last}{status}, $answer->{error}{code}], [404, -32601], "MCP26 5: there is no $method");
		like($answer->{error}{message}, qr/^MCP 2026-07-28, .* has no method "\Q$method\E"; other/,
		    "MCP26 5: the error says that 2026-07-28 has no $method");
	}
	for my $twice ('MCP-Protocol-Version: 2026-07-28', 'Mcp-Method: tools/list', 'Mcp-Name: x', 'mcp-param-a: 1') {
		my $raw = $s->connect;
		my $body = json_of(\%fine);
		my %h = %{$c->headers(@V, @M, 'Mcp-Name' => 'x', 'Mcp-Param-A' => 1)};

		$raw->put(join '', "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n", (map { "$_: $h{$_}\r\n" } sort keys %h),
			  "$twice\r\nContent-Length: " . length($body) . "\r\n\r\n$body");
		is($raw->head, 400, "MCP26 12: a second $twice is refused");
	}
	is_deeply($old->call('ping')->{result}, {}, 'the session is as it was');
}

# ---- arguments in the head ----

{
	my $c = $s->modern;
	my @R = ('Mcp-Param-Region' => 'eu west');

	for (['as they are', {region => 'eu west', n => 42}, [@R, 'mcp-param-n' => '42.0'], 200],
	     ['in base64', {region => "z\xfcrich"}, ['Mcp-Param-Region' => '=?base64?esO8cmljaA==?='], 200],
	     ['with what has none absent', {n => 1}, ['Mcp-Param-N' => 1], 200],
	     ['none', {}, [], 200],
	     ['one absent', {region => 'eu west', n => 42}, [@R], 400],
	     ['another', {region => 'eu west'}, ['Mcp-Param-Region' => 'us'], 400],
	     ['another number', {n => 42}, ['Mcp-Param-N' => '42.5'], 400],
	     ['a word that is none', {region => 'eu west'}, ['Mcp-Param-Region' => '=?base64?ZXUgd2VzdA?='], 400]) {
		my ($name, $args, $fields, $status) = @$_;
		my $r = $c->post_request('tools/call', {name => 'where', arguments => $args}, 1, @$fields)->response;

		is_deeply([$r->{status}, $r->{json}{error}{code} // 0], [$status, $status == 200 ? 0 : -32020],
			  "MCP26 12: arguments in the head: $name") or diag($r->{body});
	}
	is(scalar(() = $s->log_text =~ /template=where .*started=yes/g), 4, 'what is refused does not run');
	my $old = $s->client->greeted;
	is_deeply($old->tool(where => {region => 'x'})->{view}, {region => 'x'}, 'a session\'s need none');
}

# ---- both eras on one connection, and the same ids from several clients ----

{
	my $old = $s->client->greeted;
	my @new = ($s->modern, $s->modern);
	my $conn = $s->connect;
	my (@got, @want);

	for my $i (1 .. 5) {
		my $m = {jsonrpc => '2.0', id => 1, method => 'tools/call',
			 params => $new[0]->params_of({name => 'echo', arguments => {i => $i}})};

		$conn->request('POST', '/mcp', $new[0]->headers($new[0]->fields_of($m)), json_of($m));
		push @got, $conn->response->{json}{result}{structuredContent}{i};
		$conn->request('POST', '/mcp', $old->headers, json_of({jsonrpc => '2.0', id => 1, method => 'tools/call',
			params => {name => 'echo', arguments => {i => -$i}}}));
		push @got, $conn->response->{json}{result}{structuredContent}{i};
		push @want, $i, -$i;
	}
	is_deeply(\@got, \@want, 'both eras take turns on one connection');
	my @conns = map { $new[$_ % 2]->post_request('tools/call', {name => 'steps', arguments => {},
		_meta => {progressToken => "p$_"}}, 'same') } 0 .. 5;
	my @tokens = map { my $conn = $_; my %of;

		$conn->head;
		while (my $e = $conn->message) {
			$of{$e->{json}{params}{progressToken} // $e->{json}{id}}++;
		}
		join ' ', map { "$_=$of{$_}" } sort keys %of } @conns;
	is_deeply([map { s/=2 /=3 /r } @tokens], [map { "p$_=3 same=1" } 0 .. 5], # the middle one of three, too
		  'MCP26 2: one id of several clients, each its own answer');
	my $pipe = $s->connect; # all at once, one after the other
	for my $i (1 .. 3) {
		my $m = {jsonrpc => '2.0', id => $i, method => 'tools/call', params =>
			 $new[0]->params_of({name => $i == 2 ? 'nap' : 'echo', arguments => {i => $i}})};

		$pipe->request('POST', '/mcp', $new[0]->headers($new[0]->fields_of($m)), json_of($m));
	}
	is($pipe->response->{json}{id}, 1, 'of several that come at once the first is answered first');
	$pipe->head;
	is($pipe->message->{json}{id}, 2, 'the second, a stream');
	1 while $pipe->more;
	is($pipe->response->{json}{id}, 3, 'the third of several requests at once is answered third');
}

# ---- who goes ----

{
	my $c = $s->modern;
	my $conn = $c->route($c->ask(hold => {}, {progressToken => 't'}));

	$conn->head;
	$conn->message;
	$conn->hang_up;
	is(until_ended('hold', 1), 'canceled', 'MCP26 8: closing the stream cancels the run');
	$conn = $c->route($c->ask(quiet => {}));
	$s->log_has(qr/template=quiet .*started=yes/);
	$conn->hang_up;
	is(until_ended('quiet', 1), 'canceled', 'MCP26 8: also before there is a stream');
	$conn = $c->route($c->ask(deaf => {}, {progressToken => 't'}));
	$conn->head;
	$conn->message;
	$conn->hang_up;
	is(until_ended('deaf', 1), 'canceled', 'MCP26 8: and one that does not listen');
	$conn = $c->route($c->ask(hold => {}, {progressToken => 't'}));
	$conn->head;
	$conn->message;
	$conn->put('x' x 200_000); # more than is read before the answer
	$conn->hang_up;
	is(until_ended('hold', 2), 'canceled canceled', 'MCP26 8: also when nothing more is read of its client');
	my @run = map { $c->route($c->ask(quiet => {})) } 1 .. 4;
	until_true('four to run', sub { 5 == (() = $s->log_text =~ /template=quiet .*started=yes/g) });
	my @wait = map { $c->route($c->ask(quiet => {})) } 1 .. 4;
	$_->head for @run, @wait;
	$_->hang_up for @wait;
	is(until_ended('quiet', 5), join(' ', ('canceled') x 5), 'MCP26 8: those that wait for their turn, too');
	$_->hang_up for @run;
	is(until_ended('quiet', 9), join(' ', ('canceled') x 9), 'MCP26 8: and then those that run');
	is(scalar(() = $s->log_text =~ /template=quiet .*started=yes/g), 5, 'MCP26 8: runs cancelled in the queue never begin');
	my $r = $c->run('quiet', {}, mode => 'async');
	like($r->{view}{status} // json_of($r), qr/queued|running/, 'what has its answer');
	is($c->tool(cancel_task_run => {runId => $r->{view}{runId}})->{isError} // 0, 0, 'goes on until somebody ends it');
	until_ended('quiet', 10);

	my %again = (templateId => 'rest', inputs => {}, options => {idempotencyKey => 'again'});
	my ($lost, $back) = map { my $one = $c->route($c->ask(run_task_template => \%again));
		$one->head;
		$one } 1 .. 2;
	$lost->hang_up;
	is($back->message->{json}{result}{structuredContent}{status}, 'succeeded',
	   'who asks again by the same idempotencyKey waits on when its first connection is lost');

	my $body = json_of({jsonrpc => '2.0', id => 1, method => 'tools/call', params =>
			    $c->params_of({name => 'size', arguments => {text => 'x' x 300_000}})});
	my %h = %{$c->headers('MCP-Protocol-Version' => '2026-07-28', 'Mcp-Method' => 'tools/call', 'Mcp-Name' => 'size')};
	for my $part (10, 100_000, length $body) { # of a body
		my $conn = $s->connect;

		$conn->request('POST', '/mcp', {%h, 'Content-Length' => length $body});
		$conn->put(substr $body, 0, $part);
		$conn->hang_up;
	}
	is_deeply($c->tool(size => {text => 'y' x 300_000})->{view}, {n => 300_000},
		  'a large one is read, after some that were cut');
	$h{'Mcp-Name'} = 'echo';
	is_deeply([map { $_->{status}, $_->{json}{error}{code} } $s->fetch('POST', '/mcp', \%h, $body)], [400, -32020],
		  'MCP26 12: its head is looked at, too');
	my $old = $s->client->greeted;
	delete @h{grep { /^mcp/i } keys %h};
	is_deeply([map { $_->{status}, $_->{json}{error}{code} } $s->fetch('POST', '/mcp', {%h, %{$old->headers}}, $body)],
		  [400, -32020], 'MCP26 12: also when it names a session');
	my $claimless = json_of({jsonrpc => '2.0', id => 1, method => 'tools/call', params =>
				 {name => 'size', arguments => {text => 'x' x 300_000}}});
	is($s->fetch('POST', '/mcp', {%h}, $claimless)->{status}, 400, 'one that is nobody\'s is refused');
	is_deeply($old->tool(size => {text => 'z' x 200_000})->{view}, {n => 200_000}, 'a session\'s is as it was');
}
is($s->zygotes ? scalar(map { children_of($_) } $s->zygotes) : 0, 0, 'MCP26 8: no worker is left');
$s->stop;

# ---- several requestors: rates, tokens, floods ----

descriptors(2048);
$s = Http->new(templates => \%templates, tokens => {ada => 't', bob => 'u', eve => 'v'},
	       config => "[limits]\nmax_concurrent_runs = 4\nmax_queued_runs = 100\n" .
	       "[requestor \"eve\"]\nrate_per_second = 1\nburst = 2\n");
{
	my $eve = $s->modern('eve');
	my $r = {};

	until_true('too many requests', sub {
		$r = $eve->post_request('tools/list', {}, 3)->response;
		$r->{status} != 200 });
	is_deeply([$r->{status}, $r->{json}{error}{code}, $r->{json}{id}], [429, 429, 3],
		  'MCP26 5: who asks too often gets 429 of both kinds');
	like($r->{headers}{'retry-after'}, qr/^[1-9]\d*\z/, 'MCP26 5: a 429 says when to come back');
	until_true('too many bad ones', sub {
		$r = $eve->post_request('tools/list', {}, 4, 'Mcp-Method' => undef)->response;
		$r->{status} != 400 });
	is_deeply([$r->{status}, $r->{json}{error}{code}, $r->{json}{id}], [429, 429, 4],
		  'MCP26 5: what is refused for its head counts, too');
}
{
	my ($ada, $bob) = map { $s->modern($_) } qw(ada bob);
	my @conns = map { $ada->post_request('tools/call', {name => 'quiet', arguments => {}}, 1) } 1 .. 400;

	is_deeply($bob->tool(echo => {n => 1})->{view}, {n => 1}, 'whoever floods, another is served');
	my %came;
	$_->head && $came{$_->{status}}++ for @conns;
	is($came{200}, 400, 'all are told something');
	my @waiting = grep { $_->{chunked} } @conns;
	cmp_ok(scalar @waiting, '>', 50, 'many wait') or diag(scalar @waiting);
	$_->hang_up for @conns;
	until_true('all to end', sub {
		my $n = () = $s->log_text =~ /template=quiet requestor=ada status=canceled/g;
		$n >= @waiting });
	is_deeply($ada->tool(echo => {n => 2})->{view}, {n => 2}, 'MCP26 8: and when they go there is room again');
}
{
	my $ada = $s->modern('ada');
	my $conn = $ada->route($ada->ask(hold => {}, {progressToken => 't'}));
	my $early = $ada->route($ada->ask(quiet => {}));

	$conn->head;
	$conn->message;
	$s->write_config("[requestor \"bob\"]\ntoken_sha256 = " . Http::sha256_hex('u') . "\n");
	is($s->reload, 'done', 'a requestor is removed');
	1 while $conn->message;
	ok($conn->{done} && !$conn->{cut}, 'the streams of a removed requestor end');
	ok($s->log_has(qr/template=hold requestor=ada status=canceled/), 'a removed requestor\'s call by a stream is cancelled');
	$early->head;
	1 while $early->more;
	ok($s->log_has(qr/template=quiet requestor=ada status=canceled.*\n.*template=quiet requestor=ada status=canceled/s),
	   'a removed requestor\'s plain call is cancelled');
	is($ada->post_request('tools/list', {}, 1)->response->{status}, 401, 'the token of a removed requestor is unknown');
}
$s->stop;
done_testing;
