#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Attacks of one client against other clients, over HTTP. Beside each attack another client
# works, whose runs, session and stream must not be disturbed.
use lib 'tests/lib';
use Paddock;
use Http;

# A connection takes a descriptor at each end.
descriptors(8192);

my $GROWTH_KB = 96 << 10; # by thousands of sessions and connections

# The attacks; each returns the outcome in words. $eve and $ada are clients with tokens, $s
# is the server, $room has the server's limits.
my $unknown = 'run_' . 'a' x 26;
my $small = 64 << 10; # bytes that all lines of an attack may have

# How much larger the log and the audit log are after CODE; in words.
sub written {
	my ($s, $code) = @_;
	my $before = (-s $s->{log}) + (-s $s->{audit});

	$code->();
	my $more = (-s $s->{log}) + (-s $s->{audit}) - $before;
	return $more <= $small ? 'a few lines' : "$more bytes of log";
}

# Are N events since FROM at most 600 for each minute? One of the minutes may just have
# ended, and another begun.
sub few_a_minute {
	my ($from, $n) = @_;

	return $n <= 600 * (2 + int((time - $from) / 60));
}

# N requests on one connection, in turn; the last status.
sub many {
	my ($s, $n, $headers, $body) = @_;
	my $conn = $s->connect;
	my $status;

	for (1 .. $n) {
		$conn->request('POST', '/mcp', $headers, $body);
		my $r = $conn->response;
		$status = $r->{status} // return 'closed';
	}
	return $status;
}

# Repeat CODE until refused, at most N times; the text of the refusal.
sub until_refused {
	my ($n, $code) = @_;

	for (1 .. $n) {
		my $r = $code->();
		return $r->{view}{errorCode} . ' ' . ($r->{view}{details}{limit} // '') if $r->{isError};
	}
	return "never in $n times";
}

sub listen_to { # by CLIENT; the connection
	my ($client, $filter, $id) = @_;

	return $client->post_request('subscriptions/listen', {notifications => $filter}, $id);
}

# A client of MCP 2026-07-28 with the task extension and elicitation.
sub knowing {
	my ($s, $name) = @_;
	my $c = $s->modern($name);

	$c->{capabilities} = {extensions => {'io.modelcontextprotocol/tasks' => {}}, elicitation => {}};
	return $c;
}

# A client with elicitation, and a call of the template which asks.
sub answering {
	my ($s, $name) = @_;
	my $c = $s->modern($name);

	$c->{capabilities} = {elicitation => {form => {}}};
	return $c;
}

sub wonder {
	my ($c, %more) = @_;

	return $c->call('tools/call', {name => 'wonders', arguments => {}, %more});
}

my $json = {'Content-Type' => 'application/json', Accept => 'application/json, text/event-stream'};

my @table = (
    [1, 'ten thousand requests without a token', 'a few lines',
     sub { my ($s) = @_; written($s, sub { many($s, 10000, $json, '{}') }) }],
    [2, 'ten thousand with a wrong one', 'a few lines',
     sub { my ($s) = @_; written($s, sub { many($s, 10000, {%$json, Authorization => 'Bearer x'}, '{}') }) }],
    [3, 'ten thousand requests that are none', 'a few lines',
     sub { my ($s, $eve) = @_; written($s, sub { many($s, 10000, $eve->headers, '{"jsonrpc":') }) }],
    [4, 'sessions begun and ended, three thousand times', '600 lines a minute',
     sub { my ($s, $eve) = @_;
	   my $hello = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",' .
	       '"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}';
	   my %h = %{$eve->headers};
	   delete $h{'Mcp-Session-Id'};
	   my $before = () = $s->log_text =~ / begun=yes/g;
	   my $from = time;
	   many($s, 3000, \%h, $hello);
	   my $after = () = $s->log_text =~ / begun=yes/g;
	   return few_a_minute($from, $after - $before) ? '600 lines a minute' : $after - $before . ' lines' }],
    [5, 'ids that are not one\'s own, three thousand times', 'recorded 600 times a minute, and counted',
     sub { my ($s, $eve) = @_;
	   my $before = () = read_file($s->{audit}) =~ /RUN_NOT_FOUND/g;
	   my $from = time;
	   many($s, 3000, $eve->headers, json_of({jsonrpc => '2.0', id => 1, method => 'tools/call',
		params => {name => 'get_task_run', arguments => {runId => $unknown}}}));
	   my $after = () = read_file($s->{audit}) =~ /RUN_NOT_FOUND/g;
	   return few_a_minute($from, $after - $before) ? 'recorded 600 times a minute, and counted' : $after - $before . ' entries' }],
    [6, 'connections that say nothing, three thousand', 'served',
     sub { my ($s, $eve, $ada) = @_;
	   my @all = map { $s->connect } 1 .. 3000;
	   return $ada->call('ping')->{result} ? 'served' : 'not served' }],
    [7, 'requests that never end, two thousand', '429',
     sub { my ($s, $eve) = @_;
	   my @all = map { my $c = $s->connect;
			   $c->request('POST', '/mcp', $eve->headers('Content-Length' => 10)); $c } 1 .. 2000;
	   return $all[-1]->response->{status} }],
    [8, 'more sessions than one may have', 'the others keep theirs',
     sub { my ($s, $eve, $ada) = @_;
	   my %h = %{$eve->headers};
	   delete $h{'Mcp-Session-Id'};
	   many($s, 2100, \%h, '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",' .
		'"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}');
	   return $ada->call('ping')->{result} ? 'the others keep theirs' : 'another\'s session has ended' }],
    [9, 'runs that sleep, in every place', 'one is left',
     sub { my ($s, $eve, $ada) = @_;
	   my @all = map { $eve->run_async('doze') } 1 .. 8;
	   $eve->saying($all[0], 'dozing');
	   my $v = $ada->run_sync(echo => {n => 1});
	   $eve->tool(cancel_task_run => {runId => $_}) for @all;
	   $eve->ended($_) for @all;
	   return $v->{status} eq 'succeeded' ? 'one is left' : $v->{status} }],
    [10, 'the whole queue, with large inputs', 'QUEUE_FULL max_queued_runs, and another may wait',
     sub { my ($s, $eve, $ada) = @_;
	   my @first = map { $eve->run_async('doze') } 1 .. 4;
	   my $his = $ada->run_async('doze');
	   my $code = until_refused(100, sub { $eve->run(echo => {x => 'y' x 100000}, mode => 'async') });
	   my $r = $ada->run(echo => {}, mode => 'async');
	   $eve->tool(cancel_task_run => {runId => $_->{runId}}), $ada->tool(cancel_task_run => {runId => $_->{runId}})
	       for @{$eve->tool(list_task_runs => {limit => 100})->{view}{runs}};
	   $ada->tool(cancel_task_run => {runId => $his});
	   until_true('all to end', sub { my $u = $eve->tool('get_runtime_profile')->{view}{usage};
					  !$u->{running} && !$u->{queued} });
	   $ada->ended($_) for $his, $r->{view}{runId} // $his;
	   return "$code, and another " . ($r->{isError} ? 'may not' : 'may') . ' wait' }],
    [17, 'tasks that are not one\'s own, three thousand times, by requests that stand by themselves',
	'recorded 600 times a minute, and counted',
     sub { my ($s) = @_;
	   my $eve = knowing($s, 'eve');
	   my $m = {jsonrpc => '2.0', id => 1, method => 'tasks/update', params => $eve->params_of({taskId => $unknown, inputResponses => {}})};
	   my $before = () = read_file($s->{audit}) =~ /TASK_NOT_FOUND/g;
	   my $from = time;
	   many($s, 3000, $eve->headers($eve->fields_of($m)), json_of($m));
	   my $after = () = read_file($s->{audit}) =~ /TASK_NOT_FOUND/g;
	   return few_a_minute($from, $after - $before) ? 'recorded 600 times a minute, and counted' : $after - $before . ' entries' }],
    [18, 'two hundred thousand answers to one question, none of which is asked for', 'complete, and it still asks',
     sub { my ($s) = @_;
	   my $eve = knowing($s, 'eve');
	   my $id = $eve->call('tools/call', {name => 'asks', arguments => {}})->{result}{taskId};
	   my $asked = sub { return $eve->call('tasks/get', {taskId => $id})->{result}{inputRequests} };
	   until_true('it to ask', $asked);
	   my $a = $eve->call('tasks/update', {taskId => $id, inputResponses => {map { ("k$_" => {action => 'accept'}) } 1 .. 200_000}});
	   my $still = $asked->() ? 'it still asks' : 'it has an answer';
	   $eve->call('tasks/cancel', {taskId => $id});
	   return "$a->{result}{resultType}, and $still" }],
    [19, 'tasks in every place, and nobody to come for them', 'QUEUE_FULL max_queued_runs, and another\'s is served',
     sub { my ($s, undef, $ada) = @_;
	   my $eve = knowing($s, 'eve');
	   my ($end, @all);
	   for (1 .. 100) {
		$end = $eve->call('tools/call', {name => 'lies', arguments => {}})->{result};
		push @all, $end->{taskId} // last;
	   }
	   my $e = json_to($end->{content}[0]{text});
	   my $his = $ada->run_sync(echo => {n => 1});
	   $eve->call('tasks/cancel', {taskId => $_}) for @all;
	   until_true('all to end', sub { my $u = $ada->tool('get_runtime_profile')->{view}{usage}; $u->{running} == 1 && !$u->{queued} });
	   return "$e->{errorCode} $e->{details}{limit}, and another's is " . (($his->{status} // '') eq 'succeeded' ? 'served' : 'not') }],
    [16, 'thirty-two that listen to ends of a megabyte, and never read', 'another is told of his',
     sub { my ($s, $eve, $ada) = @_;
	   my ($new, $his) = ($s->modern('eve'), $s->modern('ada'));
	   my $sleep = sub { $_[0]->call('tools/call', {name => 'later', arguments => {n => $_[1]}})->{result}{taskId} };
	   $_->{capabilities} = {extensions => {'io.modelcontextprotocol/tasks' => {}}} for $new, $his;
	   my @tasks = map { $sleep->($new, 1 << 20) } 1 .. 4;
	   my $mine = $sleep->($his, 10);
	   my @open = map { listen_to($new, {taskIds => \@tasks}, $_) } 1 .. 32;
	   $_->head, $_->message for @open;
	   my $told = listen_to($his, {taskIds => [$mine]}, 1);
	   $told->head;
	   my $m;
	   do { $m = $told->message->{json} } until ($m->{params}{status} // '') eq 'completed';
	   $_->hang_up for @open; # who does not read is not answered either
	   $_->hang_up for @open; # who does not read is not answered either
	   until_true('all to end', sub { !grep { $new->call('tasks/get', {taskId => $_})->{result}{status} ne 'completed' } @tasks });
	   return 'another is told of his' }],
    [20, 'each byte of a requestState changed, halves of two, and another\'s', 'one by one refused, and his own goes on',
     sub { my ($s) = @_;
	   my ($new, $his) = map { answering($s, $_) } qw(eve ada);
	   my ($state, $second, $stolen) = map { wonder($_)->{result}{requestState} } $new, $new, $his;
	   my $half = length($state) / 2;
	   my @forged = ((map { my $t = $state; substr($t, $_, 1) =~ tr/A-Za-z0-9_-/B-Za-z0-9_\-A/; $t } 2 .. length($state) - 1),
	       substr($state, 0, $half) . substr($second, $half), substr($stolen, 0, $half) . substr($state, $half));
	   my %how;
	   $how{wonder($new, requestState => $_, inputResponses => {k => {action => 'decline'}})->{error}{data}{reason} // 'none'}++
	       for @forged, $stolen;
	   $how{$new->call('prompts/get', {name => 'wonders', requestState => $state})->{error}{data}{reason} // 'none'}++;
	   my @end = map { wonder($_->[0], requestState => $_->[1], inputResponses => {k => {action => 'decline'}})->{result}{structuredContent}{action} // 'lost' }
	       [$new, $state], [$new, $second], [$his, $stolen];
	   return "@end" eq 'decline decline decline' && json_of(\%how) eq json_of({forged => scalar @forged, other_requestor => 1, other_call => 1})
	       ? 'one by one refused, and his own goes on' : json_of([\%how, \@end]) }],
    [21, 'one requestState on sixty connections at once', 'one goes on, 59 are told that it was used',
     sub { my ($s) = @_;
	   my $new = answering($s, 'eve');
	   my $state = wonder($new)->{result}{requestState};
	   my @open = map { $new->post_request('tools/call', {name => 'wonders', arguments => {}, requestState => $state,
		inputResponses => {k => {action => 'decline'}}}, $_) } 1 .. 60;
	   my %how;
	   for (@open) {
		my $r = $_->response;
		$how{$r->{json}{result}{structuredContent}{action} // $r->{json}{error}{data}{reason} // json_of($r)}++;
	   }
	   return json_of(\%how) eq json_of({decline => 1, used => 59}) ? 'one goes on, 59 are told that it was used' : json_of(\%how) }],
    [11, 'the disk, by artifacts', 'RESOURCE_LIMIT store_bytes',
     sub { my ($s, $eve) = @_;
	   for (1 .. 40) {
		my $v = $eve->run_sync(keeps => {n => 1 << 20});
		return "$v->{error}{errorCode} $v->{error}{details}{limit}" if $v->{status} ne 'succeeded';
	   }
	   return 'never' }],
    [12, 'the disk, by results', 'QUOTA_EXCEEDED store_bytes, and another runs',
     sub { my ($s, $eve, $ada) = @_;
	   my $code = until_refused(100, sub { $eve->run(says => {n => 1 << 20}, mode => 'sync') });
	   return "$code, and another " . (($ada->run_sync(echo => {n => 1})->{status} // '') eq 'succeeded' ? 'runs' : 'does not') }],
    [13, 'forty requests of 8 MiB that never end', '429 for some of them, and another sends as much',
     sub { my ($s, $eve, $ada) = @_;
	   my $large = 8 << 20;
	   my @all = map { my $c = $s->connect;
			   $c->request('POST', '/mcp', $eve->headers('Content-Length' => $large), 'x' x ($large - 1));
			   $c } 1 .. 40;
	   my $status = $all[-1]->response->{status} // 'closed';
	   my $r = $ada->call('tools/call', {name => 'echo', arguments => {n => 1}, _meta => {x => 'y' x $large}});
	   return "$status for some of them, and another " . ($r->{result} ? 'sends as much' : json_of($r)) }],
    [14, 'a thousand requests that listen, and as many again that go at once', '32, 429 for all others, and another listens',
     sub { my ($s) = @_;
	   my $new = $s->modern('eve');
	   my (%n, @open);
	   for my $i (1 .. 1000) {
		push @open, listen_to($new, {toolsListChanged => true}, $i);
		$n{$open[-1]->head}++;
		pop @open if $open[-1]{status} != 200;
	   }
	   my $his = listen_to($s->modern('ada'), {}, 1)->head;
	   $_->hang_up for @open;
	   until_true('a place', sub { listen_to($new, {}, 1)->head == 200 });
	   listen_to($new, {toolsListChanged => true}, $_)->hang_up for 1 .. 1000;
	   until_true('a place', sub { listen_to($new, {}, 1)->head == 200 });
	   return "$n{200}, 429 for all others, and another " . ($n{429} == 968 && $his == 200 ? 'listens' : json_of([\%n, $his])) }],
    [15, 'what is another\'s, to listen to', 'nothing of it',
     sub { my ($s, $eve, $ada) = @_;
	   my $run = $ada->tool('list_task_runs', {status => 'running'})->{view}{runs}[0]{runId};
	   my $task = $ada->call('tools/call', {name => 'doze', arguments => {}, task => {}})->{result}{task}{taskId};
	   my $new = $s->modern('eve');
	   my (@ids, @uris, $got);
	   $new->{capabilities} = {extensions => {'io.modelcontextprotocol/tasks' => {}}};
	   @ids = ($run, $task, map { 'run_' . sprintf '%026d', $_ } 1 .. 62);
	   @uris = map { ("paddock://runs/$_", "paddock://runs/$_/log") } @ids[0 .. 31];
	   for (1 .. 40) {
		my $c = listen_to($new, {taskIds => \@ids, resourceSubscriptions => \@uris}, $_);
		$c->head;
		$got = json_of($c->message->{json}{params}{notifications});
		$c->hang_up;
	   }
	   $ada->call('tasks/cancel', {taskId => $task});
	   return $got eq '{"resourceSubscriptions":[],"taskIds":[]}' ? 'nothing of it' : $got }],
);

my $root = Paddock::fresh_root();
my $s = Http->new(root => $root, tokens => {ada => 't' x 43, eve => 'u' x 43},
	config => "[server]\naudit_file = $root/audit\nlog_level = info\n" .
	    "[limits]\nmax_concurrent_runs = 5\nmax_queued_runs = 40\n",
	templates => {
		echo => lua('return inputs'),
		says => lua('return ("x"):rep(inputs.n)'),
		later => lua('run.sleep(1500) return ("x"):rep(inputs.n)', taskSupport => 'required'),
		keeps => lua('return run.artifact{name = "a", data = ("x"):rep(inputs.n)}'),
		doze => lua('run.progress(0, 1, "dozing") while true do run.sleep(60000) end',
			    limits => {maxTimeoutMs => 600000}),
		lies => lua('while true do run.sleep(60000) end', taskSupport => 'required', limits => {maxTimeoutMs => 600000}),
		wonders => {%{lua('return run.elicit{key = "k", message = "?", schema = {type = "object", properties = {n = {type = "integer"}}}}')},
			prompts => [{name => 'wonders', description => 'd', messages => [{role => 'user', content => {type => 'text', text => '{k.n}'}}],
			    asks => {k => {message => '?', requestedSchema => {type => 'object', properties => {n => {type => 'integer'}}}}}}]},
		asks => lua('return run.elicit{message = "?", schema = {type = "object", properties = {n = {type = "integer"}}}}',
			    taskSupport => 'required'),
	}, idle => 1);
$s->write_config("[server]\naudit_file = $root/audit\n[limits]\nmax_concurrent_runs = 5\nmax_queued_runs = 40\n" .
	join '', map { "[requestor \"$_\"]\ntoken_sha256 = " . Http::sha256_hex($s->{tokens}{$_}) . "\n" .
		($_ eq 'eve' ? "store_bytes = 16M\n" : '') } qw(ada eve));
$s->{audit} = "$root/audit";
$s->{level} = 'info';
$s->start;
$s->ready;
my ($ada, $eve) = map { $s->client($_)->greeted } qw(ada eve);
my $going = $ada->run_async('doze');
$ada->saying($going, 'dozing');

for my $attack (@table) {
	my ($n, $what, $want, $code) = @$attack;

	next if $ENV{PADDOCK_ATTACK} && $n ne $ENV{PADDOCK_ATTACK};
	my $before = rss_kb($s->{pid});
	$eve = $s->client('eve')->greeted;
	is($code->($s, $eve, $ada), $want, "$n $what: $want");
	my $v = $ada->run_sync(echo => {n => $n});
	is(json_of($v->{result} // $v), json_of({n => $n}), '  another\'s run is done meanwhile');
	is($ada->get($going)->{status}, 'running', "$n $what: a run of another client goes on");
	my $now = rss_kb($s->{pid});
	cmp_ok($now, '<', $before + $GROWTH_KB, "$n $what: the server has not grown");
}
$ada->tool(cancel_task_run => {runId => $going});
is($ada->ended($going)->{status}, 'canceled', 'the run beside the attacks is cancelled');
$s->stop;
my $audit = read_file("$root/audit");
my $held = 0; # each minute by itself
$held += $_ for $audit =~ /"event":"held_back","requestor":"eve","of":"refused","count":(\d+)/g;
cmp_ok($held, '>', 1000, 'what was not recorded is counted');
like($s->log_text, qr/part=log .*held_back=\d+ like="auth=refused token=%s"/, 'lines held back are counted in the log');

done_testing;
