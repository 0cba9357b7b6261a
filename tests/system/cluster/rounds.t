#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A client of MCP 2026-07-28 takes the questions of a run, and returns with answers and the
# requestState to another node than the run's: the answers count there as on the first node,
# once, and the client gets the next questions, or the result.
use lib 'tests/lib';
use Needs;
BEGIN { needs('postgres') }
exec 'tests/tools/with-postgres', $^X, $0 unless $ENV{PADDOCK_TEST_POSTGRES};
require Paddock;
Paddock->import;
require Nodes;
Nodes->import;
require Stateless;
Stateless->import;
require Cluster;

my $ask = 'run.elicit{key = "k", message = "who?", schema = {type = "object", properties = {name = {type = "string"}}, required = {"name"}}}';
my %templates = (
    who => lua("return {name = $ask.content.name}"),
    twice => lua("local a = $ask local b = $ask return {all = a.content.name .. b.content.name}"),
    many => lua("local all = '' for _, r in ipairs(run.map({'a', 'b'}, {concurrency = 2}, function(n)
	return run.elicit{key = n, message = n, schema = {type = 'object', properties = {name = {type = 'string'}}}}.content.name end)) do
	all = all .. r.value end return {all = all}"),
    caught => lua("local a = $ask local ok, e = pcall(function() return $ask end) return {code = e and e.code or 'none'}"),
    dozes => lua("local a = $ask run.log('info', 'I lie down') run.progress(1, 2, 'dozing') while true do run.sleep(60000) end",
	limits => {maxTimeoutMs => 600000}),
);
my @nodes = map { node('rounds', templates => \%templates, config => {max_parked_runs => 8, task_after_ms => 0}) } 1, 2;
$_->ready for @nodes;
my ($c, $d) = map { $_->client } @nodes;
my %can = (elicitation => {form => {}});

sub params {
	my ($tool, $state, $answers, $can, $meta) = @_;

	return stateless({name => $tool, arguments => {}, defined $state ? (requestState => $state) : (),
		defined $answers ? (inputResponses => $answers) : ()}, $can // \%can, $meta);
}
sub call { my ($s, @how) = @_; my $a = $s->call('tools/call', params(@how)); return $a->{result} // $a }
sub name { return {action => 'accept', content => {name => $_[0]}} }
sub used { my ($r, $name) = @_; return is($r->{error}{data}{reason} // json_of($r), 'used', $name) }
sub run_of { my ($s) = @_; return call_view($s)->{runs}[0]{runId} }
sub call_view { my ($s) = @_; return $s->call('tools/call', stateless({name => 'list_task_runs', arguments => {}}))->{result}{structuredContent} }
sub view { my ($s, $run) = @_; return $s->call('tools/call', stateless({name => 'get_task_run', arguments => {runId => $run}}))->{result}{structuredContent} }

{
	my $r = call($c, 'who');
	ok($r->{requestState}, 'a run asks');
	my $back = call($d, 'who', $r->{requestState}, {k => name('Al')});
	is($back->{structuredContent}{name}, 'Al', 'who comes back to another node is answered there') or diag(json_of($back));
	used(call($d, 'who', $r->{requestState}, {k => name('Bo')}), '  a used state is refused at the other node');
	used(call($c, 'who', $r->{requestState}, {k => name('Bo')}), '  a used state is refused at the run\'s node');
}
{
	my $r = call($c, 'twice');
	my $next = call($d, 'twice', $r->{requestState}, {k => name('Al')});
	my ($key) = keys %{$next->{inputRequests}};

	is($next->{inputRequests}{$key}{params}{message}, 'who?', 'what is asked next is told there, too') or diag(json_of($next));
	isnt($next->{requestState}, $r->{requestState}, '  the next question has another state');
	used(call($_->[0], 'twice', $r->{requestState}, {$key => name('No')}), "  the first is used, $_->[1]") for [$d, 'there'], [$c, 'and where it runs'];
	my $last = call($c, 'twice', $next->{requestState}, {$key => name('Bo')});
	is($last->{structuredContent}{all}, 'AlBo', '  the second state is good at the run\'s node') or diag(json_of($last));
}
{
	my $r = call($c, 'twice');
	for my $name ('Al', 'Bo') {
		my ($key) = keys %{$r->{inputRequests}};
		$r = call($d, 'twice', $r->{requestState}, {$key => name($name)});
	}
	is($r->{structuredContent}{all}, 'AlBo', 'all rounds may be there') or diag(json_of($r));
}
{
	my %later = (%can, extensions => {$Stateless::TASKS => {}});
	my $r = call($c, 'twice');
	my $next = call($d, 'twice', $r->{requestState}, {k => name('Al')}, \%later);
	my ($key) = keys %{$next->{inputRequests}};
	my $last = call($d, 'twice', $next->{requestState}, {$key => name('Bo')}, \%later);

	is($last->{structuredContent}{all}, 'AlBo', 'who would take a task waits, where the run is none that could become one')
	    or diag(json_of([$next, $last]));
}
{
	my $r = call($c, 'many');
	my $next = call($d, 'many', $r->{requestState}, {a => name('Al')});
	is_deeply([keys %{$next->{inputRequests}}], ['b'], 'an answer in part: the rest is asked again');
	$next = call($c, 'many', $next->{requestState});
	is_deeply([keys %{$next->{inputRequests}}], ['b'], '  a call without answers gets the unanswered question');
	is(call($d, 'many', $next->{requestState}, {b => name('Bo')})->{structuredContent}{all}, 'AlBo', '  the run ends when all answers are there');
}
{
	my $r = call($c, 'twice');
	my @at = map { $_->request('tools/call', params('twice', $r->{requestState}, {k => name('Al')})) } $d, $c;
	my @said = ($d->answer($at[0]), $c->answer($at[1]));

	is(scalar(grep { ($_->{error}{data}{reason} // '') eq 'used' } @said), 1, 'of two who come with one state one is heard')
	    or diag(json_of(\@said));
	is(scalar(grep { ($_->{result}{requestState}) } @said), 1, '  one of two callers with one state gets the next question');
}
{
	my @said = map { call($_, 'caught', call($c, 'caught')->{requestState}, {k => name('Al')}, {}) } $c, $d;
	s/run_\w+//g for my @text = map { $_->{content}[0]{text} } @said;

	is($text[1], $text[0], 'who can be asked no more hears the same at both');
}
{
	my $r = call($c, 'caught');
	is(call($d, 'caught', $r->{requestState}, {k => name('x' x 300_000)})->{isError}, true, 'answers that are too large to be sent are refused');
	my $back = call($d, 'caught', $r->{requestState}, {k => {action => 'accept', content => {name => 7}}});
	like(json_of($back->{inputRequests}), qr/does not fit: .content.name has to be a string/, '  a state stays good after refused answers') or diag(json_of($back));
}
{
	my $r = call($c, 'who');
	my $bad = call($d, 'twice', $r->{requestState}, {k => name('Al')});
	is($bad->{error}{data}{reason}, 'other_call', 'the state of another call is refused there, too');
	(my $forged = $r->{requestState}) =~ s/^(.{30})(.)/$1 . ($2 eq 'x' ? 'y' : 'x')/e;
	is(call($d, 'who', $forged, {})->{error}{data}{reason}, 'forged', '  a forged state is refused');
	my $run = run_of($d);
	$c->call('tools/call', stateless({name => 'cancel_task_run', arguments => {runId => $run}}));
	until_true('its end', sub { view($d, $run)->{status} eq 'canceled' });
	like(json_of(call($d, 'who', $r->{requestState}, {k => name('Al')})), qr/RUN_CANCELED/, 'of a run that was ended meanwhile it is told there');
}
{
	my $r = call($c, 'dozes');
	my $run = run_of($c);
	my $id = $d->request('tools/call', params('dozes', $r->{requestState}, {k => name('Al')}, \%can,
		{progressToken => 'p', 'io.modelcontextprotocol/logLevel' => 'info'}));
	my $told = sub { my ($method, $text) = @_; $d->wait_for($text, sub {
		grep { $_->{method} eq "notifications/$method" && json_of($_) =~ /$text/ } @{$d->{notes}} }) };

	ok($told->('progress', 'dozing'), 'a run that goes on is waited for there, with its progress');
	ok($told->('message', 'I lie down'), '  the log of a remote run comes to the waiting call');
	$d->notify('notifications/cancelled', {requestId => $id});
	ok(until_true('its end', sub { view($c, $run)->{status} eq 'canceled' }), '  a cancelled call at another node cancels the run');
}
{
	my $state = call($c, 'twice')->{requestState};
	call($d, 'twice', $state, {k => name('Al')}); # it is used from now on
	my $r = call($c, 'dozes');
	my $run = run_of($c);
	my $id = $d->request('tools/call', params('dozes', $r->{requestState}, {k => name('Al')}));

	until_true('it goes on', sub { (view($d, $run)->{message} // '') eq 'dozing' });
	$c->call('tools/call', stateless({name => 'cancel_task_run', arguments => {runId => $run}}));
	ok(until_true('its end is told', sub {
		my $again = $d->request('tools/call', params('twice', $state, {k => name('Bo')}));

		view($d, $run);
		$d->notify('notifications/cancelled', {requestId => $again});
		return $d->{answers}{json_of($id)};
	}), 'who comes back there again and again keeps nobody from the end of another run');
}
{
	my %args = (templateId => 'dozes', inputs => {}, options => {idempotencyKey => 'one', mode => 'sync'});
	my $same = sub {
		my ($s, $state, %more) = @_;
		return $s->request('tools/call', stateless({name => 'run_task_template', arguments => \%args,
			defined $state ? (requestState => $state, inputResponses => {k => name('Al')}) : (), %more}, \%can));
	};
	my ($one, $two) = map { $c->answer($same->($c))->{result}{requestState} } 1, 2;
	my $run = run_of($c);
	my $there = $same->($d, $one);
	until_true('it goes on', sub { (view($c, $run)->{message} // '') eq 'dozing' });
	$c->notify('notifications/cancelled', {requestId => $same->($c, $two)});
	is(view($c, $run)->{status}, 'running', 'a run that somebody waits for there is not ended when who waits here goes');
	$d->notify('notifications/cancelled', {requestId => $there});
	ok(until_true('its end', sub { view($c, $run)->{status} eq 'canceled' }), '  a run ends when the last waiting call is cancelled');
}
{
	my $r = call($c, 'dozes');
	my $run = run_of($c);
	my $id = $d->request('tools/call', params('dozes', $r->{requestState}, {k => name('Al')}));

	until_true('it goes on', sub { (view($d, $run)->{message} // '') eq 'dozing' });
	$nodes[0]->kill9;
	like(json_of($d->answer($id)), qr/RUN_INTERRUPTED/, 'when its node dies who waits at another is told so');
	strays_gone();
}
$nodes[1]->stop('the second node stops');

# ---- a run that the next server tries again, and that asks until somebody is there ----
{
	my @all = map { node('again', templates => {who => lua("local ok, a
		repeat ok, a = pcall(function() return $ask end) if not ok then run.sleep(20) end until ok
		return {name = a.content.name}", annotations => {idempotentHint => true()}, retry => {attempts => 3, backoffMs => 1},
		limits => {maxTimeoutMs => 600000})}) } 1, 2;
	$_->ready for @all;
	my ($one, $two) = map { $_->client } @all;
	my $first = call($one, 'who')->{requestState};
	my $run = run_of($one);

	$all[0]->kill9;
	strays_gone();
	until_true('the next attempt', sub { my $v = view($two, $run); $v->{status} eq 'running' && @{$v->{attempts} // []} });
	my $next = call($two, 'who', $first, {k => name('Al')});
	my ($key) = keys %{$next->{inputRequests} // {}};
	ok($key, 'who comes back with what a server asked that died is asked anew') or diag(json_of($next));
	my $old = $two->request('tools/call', params('who', $first, {$key => name('No')}));
	my $said = call($two, 'who', $next->{requestState}, {$key => name('Bo')});
	is($said->{structuredContent}{name}, 'Bo', '  the new question of a restarted run takes the answer') or diag(json_of($said));
	my $late = $two->answer($old);
	is($late->{result}{structuredContent}{name}, 'Bo', '  a call with the first state gets the result') or diag(json_of($late));
	is(call($two, 'who', $first, {$key => name('No')})->{structuredContent}{name}, 'Bo', '  a call with the first state gets the result afterwards');
	used(call($two, 'who', $next->{requestState}, {$key => name('No')}), '  while the second is used');
	$all[1]->stop('the other stops');
}

# ---- over HTTP: requestors, and connections ----
{
	my $all = Cluster->new(nodes => 2, templates => {map { $_ => $templates{$_} } qw(who dozes)},
		tokens => {ada => 'a' x 40, bob => 'b' x 40});
	my ($one, $two, $bob) = map { $all->node($_->[0])->modern($_->[1]) } [0, 'ada'], [1, 'ada'], [1, 'bob'];
	$_->{capabilities} = \%can for $one, $two, $bob;
	my $state = $one->call('tools/call', {name => 'who', arguments => {}})->{result}{requestState};
	my %back = (requestState => $state, inputResponses => {k => name('Al')});

	is($bob->call('tools/call', {name => 'who', arguments => {}, %back})->{error}{data}{reason}, 'other_requestor',
	    "another's state is no more good there than here");
	is($two->call('tools/call', {name => 'who', arguments => {}, %back})->{result}{structuredContent}{name}, 'Al', '  a state is good for the requestor at any node');
	$state = $one->call('tools/call', {name => 'dozes', arguments => {}})->{result}{requestState};
	my $run = $one->call('tools/call', {name => 'list_task_runs', arguments => {}})->{result}{structuredContent}{runs}[0]{runId};
	my $view = sub { $one->call('tools/call', {name => 'get_task_run', arguments => {runId => $run}})->{result}{structuredContent} };
	my $conn = $two->post_request('tools/call', {name => 'dozes', arguments => {}, requestState => $state,
		inputResponses => {k => name('Al')}}, 7);

	until_true('it goes on', sub { ($view->()->{message} // '') eq 'dozing' });
	$conn->hang_up;
	ok(until_true('its end', sub { $view->()->{status} eq 'canceled' }), 'a connection that ends there ends its run');
	$_->stop('each stops') for $all->nodes;
}
done_testing();
