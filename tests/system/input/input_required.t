#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A client without a session takes a template's questions as the answer to the call, and
# returns with answers: the same worker goes on, no run is executed twice, and no other
# client can use the state.
use lib 'tests/lib';
use Paddock;
use Http;
use Stateless;

my $form = '{type = "object", properties = {name = {type = "string",
    minLength = 2}}, required = run.array{"name"}}';
my %can = (elicitation => {form => {}}, sampling => {}, roots => {});
my %templates = (
    # a local made before the question, and the value after the question
    who => lua("local made = tostring(os.clock()) .. run.id
	run.artifact{name = 'before', mimeType = 'text/plain', data = 'x'}
	local a = run.elicit{key = 'user_name', message = 'Who?', schema = $form}
	return {made = made ~= nil and #made > 10, id = run.id,
		name = a.action == 'accept' and a.content.name or a.action}"),
    twice => lua("local function ask(m) return run.elicit{key = 'k', message = m,
	schema = $form}.content.name end
	return {all = ask('one') .. ask('two')}"),
    many => lua("local out = run.map({'a', 'b', 'c'}, {concurrency = 3},
	function(name) return run.elicit{key = name, message = name,
	schema = $form}.content.name end)
	local all = ''
	for _, r in ipairs(out) do all = all .. (r.ok and r.value or r.error.code) end
	return {all = all}"),
    all => lua("local list, n = {}, 0
	for i = 1, 64 do list[i] = i end
	for _, r in ipairs(run.map(list, {concurrency = 64}, function(i)
		return #run.elicit{key = 'k' .. i, message = 'm', schema = $form}.content.name end)) do
		n = n + (r.ok and r.value or 0) end
	return {bytes = n}"),
    kinds => lua("local out = run.map({1, 2, 3}, {concurrency = 3}, function(n)
	if n == 1 then return run.elicit{message = 'm', schema = $form}.content.name end
	if n == 2 then return run.sample{messages = {{role = 'user', content =
	    {type = 'text', text = 'hi'}}}, maxTokens = 9}.content.text end
	return run.roots{}[1].uri end)
	return {out[1].value, out[2].value, out[3].value}"),
    late => lua("run.sleep(500)
	return {name = run.elicit{key = 'k', message = 'm', schema = $form}.content.name}"),
    steady => {%{lua("local out = run.map({1, 2}, {concurrency = 2}, function(i)
	if i == 1 then return run.elicit{key = 'k', message = 'm', schema = $form}.content.name end
	return run.step('s', function() run.sleep(100) return 'done' end, {timeout = 2000}) end)
	return {out[1].value, out[2].value or out[2].error.code, run.deadline() > 0}")},
	limits => {maxTimeoutMs => 2400}},
    stubborn => {%{lua("while true do pcall(run.elicit, {key = 'k', message = 'm', schema = $form}) end")},
	limits => {cancelGraceMs => 30000, maxTimeoutMs => 600000, maxCpuMs => 600000}},
    holds => lua("run.progress(0, 1, 'held') run.sleep(60000)"),
    caught => lua("local ok, e = pcall(run.elicit, {message = 'm', schema = $form})
	return {code = e.code}"),
    in_step => lua("run.step('s', function() run.sample{messages = 'hi', maxTokens = 9} end)"),
    claims => lua("run.error('SAMPLING_NOT_SUPPORTED', 'm')"),
    shell => {program => <<'SH'},
#!/bin/bash
before=$$
echo '{"elicit":{"id":"q","key":"user_name","message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}}' >&3
read -r answer <&4
echo "{\"same\":$([ $before = $$ ] && echo true),\"answer\":$answer}"
SH
);

sub server { return Paddock->new(templates => \%templates, @_) }

# call SERVER TOOL ARGS MORE CAPABILITIES: the answer.
sub call {
	my ($s, $tool, $args, $more, $can) = @_;
	my $a = $s->call('tools/call', stateless({name => $tool,
		arguments => $args // {}, %{$more // {}}}, $can // \%can));

	return $a->{result} // $a;
}

# again SERVER TOOL STATE ANSWERS ARGS CAPABILITIES: the same call, come back.
sub again {
	my ($s, $tool, $state, $answers, $args, $can) = @_;

	return call($s, $tool, $args, {requestState => $state,
		defined $answers ? (inputResponses => $answers) : ()}, $can);
}

sub name_is { return {action => 'accept', content => {name => $_[0]}} }

sub refused_for {
	my ($r, $reason, $name) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is_deeply([$r->{error}{code}, $r->{error}{data}{reason}],
	    [-32602, $reason], $name) or diag(json_of($r));
}

my $s = server();

# ---- once ----

{
	my $r = call($s, 'who');
	my $q = $r->{inputRequests}{user_name};

	is($r->{resultType}, 'input_required', 'a question is the answer to its call');
	is($q->{method}, 'elicitation/create', 'a question has the method elicitation/create');
	is_deeply($q->{params}, {mode => 'form', message => 'Who?', requestedSchema =>
	    {type => 'object', properties => {name => {type => 'string', minLength => 2}},
	     required => ['name']}}, 'a question has the parameters of a form alone');
	like($r->{requestState}, qr/^[\w-]{40,512}$/, 'the answer with a question has a requestState');
	my $done = again($s, 'who', $r->{requestState}, {user_name => name_is('Ann')});
	is($done->{structuredContent}{name} // json_of($done), 'Ann',
	    'who comes back with the answer gets the result');
	ok($done->{structuredContent}{made}, 'the result is from the run that had asked');
	is($done->{resultType}, 'complete', 'the final result is complete');
	refused_for(again($s, 'who', $r->{requestState}, {user_name => name_is('Ann')}),
	    'used', 'the same state is good for one time');
}

# ---- who knows what will be asked says it at once ----

{
	my $r = call($s, 'who', {}, {inputResponses => {user_name => name_is('Ann'), more => name_is('x')}});

	is($r->{structuredContent}{name} // json_of($r), 'Ann',
	    'answers that come with the call itself are taken');
	$r = call($s, 'twice', {}, {inputResponses => {k => name_is('Ann')}});
	is(join(' ', keys %{$r->{inputRequests} // {}}), 'k-2', 'answers with the call fit one question each');
}

# ---- who cannot be asked ----

{
	my $r = call($s, 'who', {}, {}, {sampling => {}});

	is_deeply([$r->{error}{code}, $r->{error}{data}],
	    [-32021, {requiredCapabilities => {elicitation => {form => {}}}}],
	    'a template that cannot do without an answer is an error to who cannot be asked')
	    or diag(json_of($r));
	is(call($s, 'caught', {}, {}, {})->{structuredContent}{code}, 'ELICITATION_NOT_SUPPORTED',
	    'a template that catches the refusal hears ELICITATION_NOT_SUPPORTED');
	$r = call($s, 'in_step', {}, {}, {});
	is_deeply($r->{error}{data}, {requiredCapabilities => {sampling => {}}}, 'a template that asks in a step fails with the lacking capability');
	$r = call($s, 'claims', {}, {}, \%can);
	ok($r->{isError}, 'what a template only says is its own error');
}

# ---- answers that are none ----

for my $case (['a wrong key', {other => name_is('Ann')}], ['null', null],
    ['nothing at all', undef], ['a number for an answer', {user_name => 5}],
    ['no object', [1]], ['a wrong key beside it', {other => 1, user_name => null}]) {
	my ($name, $answers) = @$case;
	my $first = call($s, 'who');
	my $r = call($s, 'who', {}, {requestState => $first->{requestState},
		defined $answers || $name eq 'null' ? (inputResponses => $answers) : ()});

	ok($r->{inputRequests}{user_name} && $r->{requestState} ne $first->{requestState},
	    "$name: it is asked again, with another state") or diag(json_of($r));
	my $done = again($s, 'who', $r->{requestState}, {user_name => name_is('Bo'), more => 1});
	is($done->{structuredContent}{name}, 'Bo', "$name: ... and goes on then; keys too many do no harm");
}
is(again($s, 'who', call($s, 'who')->{requestState}, {user_name => {action => 'decline'}})
    ->{structuredContent}{name}, 'decline', 'a user may decline');

# ---- several ----

{
	my $r = call($s, 'many');

	is_deeply([sort keys %{$r->{inputRequests}}], [qw(a b c)],
	    'what is asked at the same time is asked at once');
	$r = again($s, 'many', $r->{requestState}, {a => name_is('Al'), c => name_is('Cy')});
	is_deeply([sort keys %{$r->{inputRequests} // {}}], ['b'],
	    'an answer in part: the rest is asked again');
	$r = again($s, 'many', $r->{requestState}, {b => name_is('Bo')});
	is($r->{structuredContent}{all}, 'AlBoCy', 'answers in parts are all there in the end');
}
for my $size (2000, 100_000) { # by themselves, or together they are a large message
	my ($r, $rounds) = (call($s, 'all'), 0);

	is(scalar(keys %{$r->{inputRequests}}), 64, "64 questions, and answers of $size bytes");
	while ($r->{inputRequests} && $rounds++ < 5) {
		$r = again($s, 'all', $r->{requestState}, {map { $_ => name_is('x' x $size) } keys %{$r->{inputRequests}}});
	}
	is($r->{structuredContent}{bytes}, 64 * $size, "answers of $size characters are heard") or diag(json_of($r));
	is($rounds, 1, "answers of $size characters come in one round") if $size < 8000;
}
{
	my $r = call($s, 'twice');
	my ($first) = keys %{$r->{inputRequests}};
	my $next = again($s, 'twice', $r->{requestState}, {$first => name_is('Al')});
	my ($second) = keys %{$next->{inputRequests}};

	is($first, 'k', 'a question has the name that its template gave it');
	isnt($second, 'k', 'a name that was used is not used again');
	isnt($next->{requestState}, $r->{requestState}, 'each round has its own state');
	is(again($s, 'twice', $next->{requestState}, {$second => name_is('Bo')})
	    ->{structuredContent}{all}, 'AlBo', 'two rounds');
}
{
	my $r = call($s, 'kinds');
	my %by = map { $r->{inputRequests}{$_}{method} => $_ } keys %{$r->{inputRequests}};

	is_deeply([sort keys %by], [qw(elicitation/create roots/list sampling/createMessage)],
	    'each kind of question');
	$r = again($s, 'kinds', $r->{requestState}, {
	    $by{'elicitation/create'} => name_is('Al'),
	    $by{'roots/list'} => {roots => [{uri => 'file:///a'}]},
	    $by{'sampling/createMessage'} => {role => 'assistant', model => 'm',
		content => {type => 'text', text => 'hello'}}});
	is($r->{content}[0]{text}, '["Al","hello","file:///a"]', 'each method of questions has an answer');
}
{
	my $r = call($s, 'shell');

	$r = again($s, 'shell', $r->{requestState}, {user_name => name_is('Ann')});
	ok($r->{structuredContent}{same}, 'a program goes on where it was') or diag(json_of($r));
	is($r->{structuredContent}{answer}{value}{content}{name}, 'Ann', 'a program gets the answer')
	    or diag(json_of($r));
}

# ---- several calls of one run ----

{
	my %args = (templateId => 'who', inputs => {}, options => {idempotencyKey => 'abc'});
	my @said = map { call($s, 'run_task_template', \%args) } 1 .. 3;

	is(scalar(grep { $_->{inputRequests}{user_name} } @said), 3,
	    'each call of one run takes its questions along') or diag(json_of(\@said));
	is(scalar(keys %{{map { $_->{requestState} => 1 } @said}}), 3, 'each call of one run has a state of its own');
	for my $name ('Ann', 'Bo') {
		my $r = again($s, 'run_task_template', (shift @said)->{requestState},
		    {user_name => name_is($name)}, \%args);

		is($r->{structuredContent}{result}{name}, 'Ann',
		    "the first answer counts: $name comes back") or diag(json_of($r));
	}
}
{
	my %args = (templateId => 'late', inputs => {}, options => {idempotencyKey => 'abc'});
	my ($first, $second, $third) = map { $s->request('tools/call', stateless(
	    {name => 'run_task_template', arguments => \%args}, $_)) } {sampling => {}}, \%can, \%can;
	my $r = $s->answer($second)->{result};

	ok($s->answer($third)->{result}{inputRequests}{k}, 'two calls that wait are both told');
	ok($r->{inputRequests}{k}, 'who cannot be asked is in the way of nobody who can')
	    or diag(json_of($r));
	again($s, 'run_task_template', $r->{requestState}, {k => name_is('Ann')}, \%args);
	is($s->answer($first)->{result}{structuredContent}{result}{name}, 'Ann', 'the client that asked first gets the result');
}

# ---- who cannot be asked ----

is(call($s, 'caught', {}, {}, {})->{structuredContent}{code}, 'ELICITATION_NOT_SUPPORTED',
    'what a request does not declare is not asked for');

# ---- states that are not good ----

{
	my $state = call($s, 'who')->{requestState};

	refused_for(again($s, 'who', "$state-TAMPERED", {}), 'malformed', 'a state with more at its end');
	(my $other = $state) =~ s/(.)$/$1 eq 'A' ? 'B' : 'A'/e;
	$other =~ s/^(.{30})(.)/$1 . ($2 eq 'x' ? 'y' : 'x')/e;
	refused_for(again($s, 'who', $other, {}), 'forged', 'a state with another byte');
	refused_for(again($s, 'who', $_->[0], {}), 'malformed', $_->[1])
	    for ['', 'an empty state'], [7, 'a number'], [null, 'null'], ['x' x 100000, 'a long one'];
	refused_for(again($s, 'who', $state, {}, {message => 'x'}), 'other_call',
	    'the state of a call with other arguments');
	refused_for(again($s, 'twice', $state, {}), 'other_call', 'the state of another tool');
	is(again($s, 'who', $state, {user_name => name_is('Al')})->{structuredContent}{name},
	    'Al', 'a state refused for another call is good for the own call');
}
$s->stop;

# ---- nobody comes back ----

{
	my $s = server(config => {input_wait_ms => 500});
	my $r = call($s, 'who');
	my ($run) = map { $_->{runId} }
	    @{call($s, 'list_task_runs')->{structuredContent}{runs}};

	$s->init;
	my $view = $s->ended($run);

	is($view->{error}{errorCode}, 'INPUT_TIMEOUT', 'a run that nobody comes back to ends');
	refused_for(again($s, 'who', $r->{requestState}, {user_name => name_is('Al')}),
	    'expired', 'the requestState of an ended run has expired');
	$s->stop;
}
{
	my $s = server(config => {max_parked_runs => 2, max_concurrent_runs => 1});
	my @states = map { call($s, 'who')->{requestState} } 1 .. 2;
	my $third = call($s, 'caught');

	is($third->{structuredContent}{code}, 'QUOTA_EXCEEDED',
	    'one more question than max_parked_runs is refused') or diag(json_of($third));
	kill USR1 => $s->{pid};
	ok($s->log_has(qr/part=requestor .*running=0 queued=0 parked=2 /), 'the status counts runs that wait for answers');
	for my $state (@states) {
		my $r = again($s, 'who', $state, {user_name => name_is('Al')});

		is($r->{structuredContent}{name}, 'Al', 'each goes on') or diag(json_of($r));
	}
	ok(call($s, 'caught')->{inputRequests}, 'another question may wait after the answers');
	$s->stop;
}

# ---- places and time of who waits ----

{
	my $s = server();
	my $r = call($s, 'steady');

	select undef, undef, undef, 2.6; # longer than all that it has
	$r = again($s, 'steady', $r->{requestState}, {k => name_is('Al')});
	is($r->{content}[0]{text}, '["Al","done",true]', 'while a run waits its time does not pass, nor that of its steps');
	$s->stop;
}

{
	my $s = server(config => {max_concurrent_runs => 1});

	$s->init;
	# pairs of a waiting run's id and state, with the worker stopped
	my @parked = map {
		my $r = call($s, 'who');
		my ($run) = map { $_->{runId} } @{$s->tool('list_task_runs')->{view}{runs}};

		[$run, $r->{requestState}];
	} 1 .. 4;
	my $state_of = sub { Paddock::stat_of($s->worker_pid($_[0]))->{state} };
	call($s, 'stubborn');
	my ($stubborn) = map { $_->{runId} } @{$s->tool('list_task_runs')->{view}{runs}};
	my $hold = $s->run_async('holds', {});
	$s->saying($hold, 'held');
	$s->tool(cancel_task_run => {runId => $stubborn});
	is($s->ended($stubborn)->{status}, 'canceled', 'who is cancelled while others have all places has no grace');
	my @back = map { $s->request('tools/call', stateless({name => 'who', arguments => {},
		requestState => $_->[1], inputResponses => {user_name => name_is('Al')}}, \%can)) }
	    @parked[0 .. 2];

	$s->get($hold); # they have been read by then
	is(join('', map { $state_of->($_->[0]) } @parked), 'TTTT',
	    'who comes back waits for a place, as others do');
	$s->tool(cancel_task_run => {runId => $parked[1][0]});
	is($s->ended($parked[1][0])->{status}, 'canceled', 'a run that waits for a place can be cancelled');
	$s->answer($back[1]);
	kill KILL => $s->worker_pid($parked[2][0]);
	is($s->ended($parked[2][0])->{error}{errorCode}, 'WORKER_CRASHED', 'a run that waits for a place can die');
	$s->answer($back[2]);
	my $queued = $s->ask_run('caught', {});
	$s->tool(cancel_task_run => {runId => $hold});
	is($s->answer($back[0])->{result}{structuredContent}{name}, 'Al', 'a run that waits for a place goes on with the answer');
	$s->answer($queued);
	$hold = $s->run_async('holds', {});
	$s->saying($hold, 'held');
	$s->request('tools/call', stateless({name => 'who', arguments => {}, requestState =>
		$parked[3][1], inputResponses => {user_name => name_is('Al')}}, \%can));
	$s->get($hold);
	kill TERM => $s->{pid};
	is($s->wait_exit, 0, 'a server that is to stop lets go on who waits for a place');
}
{
	my $s = server(templates => {busy => {%{$templates{shell}}, limits => {maxTimeoutMs => 1000}}});
	my $r = call($s, 'busy');
	my ($run) = map { $_->{runId} }
	    @{call($s, 'list_task_runs')->{structuredContent}{runs}};

	ok($r->{inputRequests}, 'a program is asked for as well');
	$s->init;
	is($s->ended($run)->{error}{errorCode}, 'RUN_TIMEOUT',
	    'a run that waits for an answer meets the run\'s timeout');
	$s->stop;
}

{
	my $s = server(config => {max_parked_runs => 1000, max_concurrent_runs => 250});

	is(scalar(grep { call($s, 'caught')->{inputRequests} } 1 .. 64), 64, 'as many questions wait as there are workers');
	is(call($s, 'caught')->{structuredContent}{code}, 'QUOTA_EXCEEDED', 'one more question than workers is refused');
	$s->stop;
}

# ---- a run that is ended while it waits, and a server that dies ----

{
	my $s = server();
	my $r = call($s, 'who');
	my ($run) = map { $_->{runId} }
	    @{call($s, 'list_task_runs')->{structuredContent}{runs}};

	$s->init;

	is($s->get($run)->{awaitingInput}, true, 'a run that waits says so');
	$s->tool(cancel_task_run => {runId => $run});
	$s->ended($run);
	my $late = again($s, 'who', $r->{requestState}, {user_name => name_is('Al')});
	like($late->{content}[0]{text} // json_of($late), qr/RUN_CANCELED/,
	    'who comes back to one that was cancelled is told so');
	$s->stop;
}
for (['who', 'user_name'], ['twice', 'k']) {
	my ($tool, $key) = @$_;
	my $s = server();
	my $r = call($s, $tool);

	$s->kill9;
	my $next = server(root => $s->{root});
	my $late = again($next, $tool, $r->{requestState}, {$key => name_is('Al')});
	like($late->{content}[0]{text} // json_of($late), qr/RUN_INTERRUPTED/,
	    "who comes back to a server that was restarted is told so ($tool)");
	$next->stop;
}
{
	my $s = Http->new(templates => \%templates, config => "[limits]\nmax_concurrent_runs = 1\n");
	my $c = $s->modern;

	$c->{capabilities} = \%can;
	my $state = $c->call('tools/call', {name => 'who', arguments => {}})->{result}{requestState};
	my $late = $c->post_request('tools/call', {name => 'late', arguments => {}}, 1);

	$s->log_has(qr/run=\S+ template=late .*started=yes/);
	my $back = $c->post_request('tools/call', {name => 'who', arguments => {}, requestState => $state,
		inputResponses => {user_name => name_is('Al')}}, 2);

	$c->call('server/discover'); # it has been read by then
	kill TERM => $s->{pid};
	is($back->response->{json}{result}{structuredContent}{name}, 'Al',
	    'who waits for a place when the server is to stop goes on');
	like($late->response->{body}, qr/input_required/, 'a call that comes to ask during the stop is answered');
	is($s->wait_exit, 0, 'the stop does not wait for a question');
	unlike($s->log_text, qr/drain=timeout/, 'the stop has no timeout for a question');
}
{
	my $s = server();
	my $r = call($s, 'who');

	kill TERM => $s->{pid};
	$s->wait_exit;
	unlike($s->log_text, qr/drain=timeout/, 'a server that is to stop waits for no answers');
	my $next = server(root => $s->{root});
	my $late = again($next, 'who', $r->{requestState}, {user_name => name_is('Al')});
	like($late->{content}[0]{text} // json_of($late), qr/RUN_INTERRUPTED/,
	    'who comes back after that is told so');
	$next->stop;
}
# ---- an answer that does not fit ----
{
	my $s = server();
	my $r = call($s, 'who');
	my ($last, %seen) = ('', map { $_ => 1 } keys %{$r->{inputRequests}});

	for my $time (1 .. 3) {
		my ($key) = keys %{$r->{inputRequests}};

		$r = again($s, 'who', $r->{requestState}, {$key => name_is('A')});
		is($r->{resultType}, 'input_required', "what does not fit is asked for again: $time");
		is(join(' ', grep { $seen{$_}++ } keys %{$r->{inputRequests}}), '', "a question after a bad answer has another key: $time");
		like((values %{$r->{inputRequests}})[0]{params}{message}, qr{^Who\?\n\nThe last answer does not fit: /content/name has to be}, "a question after a bad answer says what is wrong: $time");
	}
	my ($key) = keys %{$r->{inputRequests}};
	is(again($s, 'who', $r->{requestState}, {$key => name_is('Ada')})->{structuredContent}{name}, 'Ada', "the template gets the answer that fits at last");
	$r = call($s, 'caught');
	for (0 .. 3) {
		my ($again) = keys %{$r->{inputRequests} // {}};

		$r = again($s, 'caught', $r->{requestState}, {$again // '' => name_is('A')});
	}
	is($r->{structuredContent}{code}, 'INPUT_INVALID', 'the fourth that does not fit is told the template');
	$s->stop;
}

done_testing();
