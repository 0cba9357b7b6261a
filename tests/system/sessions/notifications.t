#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# notifications.t - notifications to a client: log messages of its runs, and changes of
# subscribed resources and lists.
use lib 'tests/lib';
use Paddock;
use Time::HiRes qw(time);

my @levels = qw(emergency alert critical error warning notice info debug);

sub of { # the notifications of METHOD, taken
	my ($p, $method) = @_;
	my @mine = grep { $_->{method} eq $method } @{ $p->{notes} };

	$p->{notes} = [ grep { $_->{method} ne $method } @{ $p->{notes} } ];
	return @mine;
}

sub logged { return of($_[0], 'notifications/message') }
sub updated { return map { $_->{params}{uri} } of($_[0], 'notifications/resources/updated') }

my %templates = (
	levels => lua('for _, l in ipairs{"emergency", "alert", "critical", "error", "warning", ' .
		      '"notice", "info", "debug"} do run.log(l, "at " .. l) end return {}'),
	held  => lua('run.log("info", "begun") run.progress(0, 9, "held") ' .
		     'while not run.cancelled() do run.sleep(20) run.log("info", "x") end return {}'),
	quiet => lua('run.progress(0, 9, "held") while run.sleep(60000) do end return {}'),
	flood => lua('local text = ("x"):rep(8000) for i = 1, 4000 do run.log("info", text) end return {}'),
	done  => lua('return {run.artifact{name = "a", data = "x"}}'),
	notes => lua('', resources => [ { uri => 'notes:a', name => 'a', text => 'old' },
					{ uriTemplate => 'notes:a/{b}', name => 'b', text => '{b}' } ]),
	other => lua('', resources => [ { uri => 'other:a', name => 'a', text => 'old' } ]),
);
my $p = Paddock->new(templates => \%templates);
my $caps = $p->init->{capabilities};
my ($r, @got);

same_json([ @$caps{qw(logging resources)} ], [ {}, { subscribe => true, listChanged => true } ],
	  'logging and subscriptions are declared');

# ---- logging ----

$r = $p->tool('levels');
@got = logged($p);
same_json([ map { $_->{params}{level} } @got ], [ @levels[0 .. 6] ],
	  'without being asked, all but debug is told');
same_json($got[3]{params}, { level => 'error', logger => 'levels', data => 'at error' },
	  'each with its level, the template and what it says');
cmp_ok($got[-1]{order}, '<', $r->{order}, 'before the answer');
for my $i (0 .. 7) {
	same_json($p->call('logging/setLevel', { level => $levels[$i] })->{result}, {},
		  "the level is set to $levels[$i]");
	$p->tool('levels');
	same_json([ map { $_->{params}{level} } logged($p) ], [ @levels[0 .. $i] ],
		  "only messages of $levels[$i] and graver are told");
}
for my $bad (undef, '', 'Info', 'trace', 6) {
	is($p->call('logging/setLevel', { level => $bad })->{error}{code}, -32602,
	   'MCP: -32602 for a level of ' . json_of($bad));
}
is($p->call('logging/setLevel')->{error}{code}, -32602, 'MCP: -32602 for none');
$p->tool('levels');
is(scalar(() = logged($p)), 8, 'MCP: a refused level leaves the level as it was');
$p->ended($p->run_async('levels'));
is(scalar(() = logged($p)), 0, 'who does not wait for a run reads its log instead');

my $task = $p->call('tools/call', { name => 'held', arguments => {}, task => {} })->{result}{task}{taskId};
$p->wait_for('it to log', sub { @got = grep { $_->{method} eq 'notifications/message' } @{ $p->{notes} } });
like(delete $got[0]{params}{data}, qr/^(?:begun|x)$/, 'a task logs');
same_json($got[0]{params}, { level => 'info', logger => 'held', _meta => {
	  'io.modelcontextprotocol/related-task' => { taskId => $task } } },
	  'MCP: the session that made a task is told what it logs, and of which task that is');
$p->call('tasks/cancel', { taskId => $task });
$p->ended($task);
of($p, "notifications/$_") for 'message', 'tasks/status';

# ---- subscriptions ----

sub subscribe { return $p->call('resources/subscribe', { uri => $_[0] }) }
sub unsubscribe { return $p->call('resources/unsubscribe', { uri => $_[0] }) }
sub text { return $p->call('resources/read', { uri => $_[0] })->{result}{contents}[0]{text} // '' }

# The text of URI, read after a notification, once CODE accepts the text.
sub text_once {
	my ($uri, $code) = @_;

	for (;;) {
		$p->wait_for("$uri to change", sub { grep { $_ eq $uri } updated($p) }) or return '';
		local $_ = text($uri);
		return $_ if $code->();
	}
}

my $held = $p->run_async('held');
my $run  = "paddock://runs/$held";

$p->saying($held, 'held');
same_json(subscribe($run)->{result}, {}, 'a run is subscribed to');
same_json(subscribe($run)->{result}, {}, 'twice is no error');
my $begin = time; # before the first that may come
same_json(subscribe("$run/log")->{result}, {}, 'the log of a run is subscribed to');
my $lines = () = text("$run/log") =~ /\n/g;
ok(text_once("$run/log", sub { my $n = () = /\n/g; $n > $lines }), 'a line is told of');
my $more = 0;
$p->wait_for('ten more', sub { $more += grep { $_ eq "$run/log" } updated($p); $more >= 10 });
cmp_ok($more, '<=', (time - $begin) * 10 + 2, 'many lines of a log are told at most ten times a second');
$p->tool(cancel_task_run => { runId => $held });
like(text_once($run, sub { /"canceled"/ }), qr/"runId":"$held"/,
     'the end of a run is told when the view can be read');
same_json(subscribe($run)->{result}, {}, 'one that has ended can be subscribed to');

my $quiet = $p->run_async('quiet');
$p->saying($quiet, 'held');
subscribe("paddock://runs/$quiet");
same_json(unsubscribe("paddock://runs/$quiet")->{result}, {}, 'a subscription is ended');
same_json(unsubscribe("paddock://runs/$quiet")->{result}, {}, 'a subscription may be ended twice');
updated($p);
$p->tool(cancel_task_run => { runId => $quiet });
$p->ended($quiet);
same_json([ grep { /$quiet/ } updated($p) ], [], 'an ended subscription tells no more');

my @two = map { $p->run_sync('done') } 1 .. 2;
my @art = map { $_->{artifacts}[0]{artifactId} } @two;

same_json(subscribe("paddock://runs/$two[0]{runId}/artifacts/$art[0]")->{result}, {}, 'an artifact');
same_json(subscribe('paddock://isolation')->{result}, {}, 'the isolation report');
my $none = 'run_' . 'a' x 26;
for my $uri ("paddock://runs/$none", "paddock://runs/$none/log", 'paddock://no', 'file:///etc',
	     "paddock://runs/$two[1]{runId}/artifacts/$art[0]", 'notes:a/' . 'x' x 9000) {
	my $e = subscribe($uri)->{error};

	same_json([ $e->{code}, $e->{data}{uri} ], [ -32002, $uri ],
		  'MCP: nothing to subscribe to at ' . substr $uri, 0, 60);
}
is($p->call('resources/subscribe', {})->{error}{code}, -32602, 'a URI is needed');
is($p->call('resources/unsubscribe', {})->{error}{code}, -32602, 'here too');

# ---- a reload ----

subscribe($_) for 'notes:a', 'notes:a/b', 'other:a';
of($p, "notifications/$_/list_changed") for qw(tools resources prompts);
$p->write_templates({ notes => lua('', resources => [ { uri => 'notes:a', name => 'a', text => 'new' } ]) });
kill HUP => $p->{pid};
$p->wait_for('what has changed', sub { 2 <= grep { ($_->{params}{uri} // '') =~ /^notes:/ } @{ $p->{notes} } });
same_json([ sort { $a cmp $b } grep { !/^paddock:/ } updated($p) ], [ 'notes:a', 'notes:a/b' ],
	  'after a reload those that have changed, or are gone, are told of');
is(text('notes:a'), 'new', 'a changed resource is read as after the reload');
is(scalar(() = of($p, "notifications/$_/list_changed")), 1, "MCP: the $_ have changed")
    for qw(tools resources prompts);

is((grep { exists $_->{error} } map { subscribe($_ % 2 ? "notes:a" : 'other:a') } 1 .. 300), 0,
   'the same again needs no more room');
$p->write_templates({ notes => $templates{notes} });
kill HUP => $p->{pid};
$p->wait_for('the list to change', sub { of($p, 'notifications/prompts/list_changed') });
my @codes = map { subscribe("notes:a/$_")->{error}{code} // 0 } 1 .. 260;
ok($codes[0] == 0 && $codes[-1] == -32602, 'there may be so many subscriptions');
unsubscribe('notes:a/1');
same_json(subscribe('notes:a/300')->{result}, {}, 'one less, and there is room');

# ---- a client that does not read ----

my $id = $p->ask('flood');
$p->wait_for('it to be sent', sub { !length $p->{out} });
$p->{deaf} = 1;
$p->log_has(qr/template=flood .*status=succeeded/);
$p->{deaf} = 0;
$r = $p->result($id);
ok(defined $r->{content} && !$r->{isError}, 'a client that did not read the notifications gets the answer');
cmp_ok(scalar(() = logged($p)), '<', 2000, 'notifications do not pile up for a client that does not read');
$p->stop;

$p = Paddock->new(templates => { done => $templates{done} }, config => "[server]\n");
$p->init;
$p->write_config("[server]\npublish_templates = no\n");
kill HUP => $p->{pid};
$p->wait_for('the tools to change', sub { of($p, 'notifications/tools/list_changed') });
ok(!(grep { $_->{name} eq 'done' } @{ $p->call('tools/list')->{result}{tools} }),
   'a reload that publishes no templates changes the tools');
$p->stop;
done_testing();
