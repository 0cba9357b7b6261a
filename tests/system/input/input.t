#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Questions of a template reach the client which waits for the run, and the answers reach
# the template.
use lib 'tests/lib';
use Paddock;

my $form = '{type = "object", properties = {name = {type = "string",
    minLength = 2}}, required = run.array{"name"}}';
my $elicit = "run.elicit{message = inputs.message or 'who?', schema = $form,
    timeout = inputs.timeout}";
my $hello = '{{role = "user", content = {type = "text", text = "hi"}}}';
# a template which returns the answer, or the error
my $show = sub {
	my ($ask, %manifest) = @_;

	return lua("local ok, got = pcall(function() return $ask end)
	    if ok then return {got = got} end
	    if type(got) == 'string' then return {text = got} end
	    return {code = got.code, message = got.message,
		    details = got.details}",
	    limits => {maxTimeoutMs => 600000}, %manifest);
};
my %templates = (
    who => $show->($elicit),
    twice => $show->("{$elicit, $elicit}"),
    nested => $show->('run.elicit{message = "m", schema = {type = "object",
	properties = {p = {type = "array", items = {type = "object"}}}}}'),
    named => lua("run.elicit{message = 'm', schema = $form, key = 'who-1'}
	run.sample{messages = $hello, maxTokens = 9, key = 'say.it'}
	local _, err = pcall(run.elicit, {message = 'm', schema = $form,
	    key = 'a b'})
	return {err = tostring(err)}"),
    secret => $show->('run.elicit{message = "m", schema = {type = "object",
	properties = {p = {type = "string", format = "password"}}}}'),
    model => $show->("run.sample{messages = $hello, maxTokens = 9}"),
    tooled => $show->("run.sample{messages = $hello, maxTokens = 9,
	toolChoice = {mode = 'auto'}}"),
    where => $show->("run.roots{timeout = inputs.timeout}"),
    looks => sh(<<'SH'),
echo '{"roots":{"id":"r","key":"all"}}' >&3
read -r answer <&4
echo "$answer"
SH
    hasty => $show->("run.step('s', function() return $elicit end,
	{timeout = 30})"),
    many => lua("local out = run.map({'a', 'b', 'c'}, {concurrency = 3},
	function(name)
	    return run.elicit{message = name, schema = $form}.content.name
	end)
	local all = ''
	for _, r in ipairs(out) do all = all .. r.value end
	return {all = all}", limits => {maxTimeoutMs => 600000}),
);
my %can = (elicitation => {}, sampling => {});

sub sh {
	return {program => "#!/bin/bash\n$_[0]\n",
		limits => {maxTimeoutMs => 600000}};
}

sub server {
	my ($revision, $capabilities, %o) = @_;
	return Paddock->new(templates => \%templates, %o)->greeted($revision, $capabilities // \%can);
}

sub silent { # nothing was asked of the client
	my ($s, $name) = @_;

	$s->call('ping');
	is(scalar(grep { defined $_->{id} } @{$s->{notes}}), 0, $name);
}

# ---- a user's answers ----

{
	my $s = server();
	my $id = $s->ask(who => {message => 'Your name?'});
	my $m = $s->told('elicitation/create');

	is($m->{params}{message}, 'Your name?', 'a user is asked');
	is($m->{params}{mode}, 'form', 'a user is asked by a form');
	same_json($m->{params}{requestedSchema},
		  {type => 'object', required => ['name'], properties =>
		   {name => {type => 'string', minLength => 2}}},
		  'the form is the template\'s');
	same_json([sort keys %{$m->{params}}],
		  [qw(message mode requestedSchema)],
		  'MCP 19: of no task, and so without _meta');
	my ($run) = @{$s->tool('list_task_runs')->{view}{runs}};
	$run = $s->get($run->{runId});
	is($run->{status}, 'running', 'the run goes on meanwhile');
	ok($run->{awaitingInput}, 'the view of the run says that input is awaited');
	$s->reply($m, {action => 'accept', content => {name => 'Ada'}});
	same_json($s->result($id)->{view}, {got => {action => 'accept',
		  content => {name => 'Ada'}}}, 'the template gets the answer');

	$id = $s->ask(twice => {});
	$m = $s->told('elicitation/create');
	($run) = $s->tool('list_task_runs', {limit => 1})->{view}{runs}[0]{runId};
	my $waits = $s->ask(get_task_run => {runId => $run, waitMs => 45000});
	$s->call('ping');
	ok(!$s->{answers}{$waits}, 'who waits for a run that asks already waits on');
	$s->reply($m, {action => 'accept', content => {name => 'Ada'}});
	$m = $s->told('elicitation/create');
	my $seen = $s->result($waits)->{view};
	is("$seen->{status} $seen->{awaitingInput}", 'running 1', 'a wait for a run is answered when the run comes to ask');
	$s->reply($m, {action => 'accept', content => {name => 'Ada'}});
	$s->result($id);

	for my $action (qw(decline cancel)) {
		$id = $s->ask(who => {});
		$s->reply($s->told('elicitation/create'), {action => $action});
		same_json($s->result($id)->{view},
			  {got => {action => $action}}, "the user may $action");
	}

	$id = $s->ask(who => {});
	my $first = $s->told('elicitation/create');
	$s->reply($first, {action => 'accept', content => {name => 'A'}});
	my $again = $s->told('elicitation/create');
	like($again->{params}{message}, qr{^\Q$first->{params}{message}\E\n\nThe last answer does not fit: /content/name has to be},
	     'what does not fit is asked for again, with what is wrong');
	same_json($again->{params}{requestedSchema}, $first->{params}{requestedSchema}, 'the question after a bad answer has the same form');
	$s->reply($again, {action => 'accept', content => {name => 'Ada'}});
	same_json($s->result($id)->{view}, {got => {action => 'accept', content => {name => 'Ada'}}}, 'the template gets the answer that fits');

	$id = $s->ask(who => {});
	$s->reply($s->told('elicitation/create'), {action => 'accept', content => {name => 'A'}}) for 0 .. 3;
	my $got = $s->result($id)->{view};
	is($got->{code}, 'INPUT_INVALID',
	   'MCP 29: an answer that the form would not take is refused');
	is($got->{details}{pointer}, '/content/name', 'INPUT_INVALID has the pointer of the bad answer');
	like($got->{message}, qr{^the client's answer does not fit what was asked: /content/name has to be},
	     'INPUT_INVALID says what is wrong');

	$id = $s->ask(who => {});
	$s->reply($s->told('elicitation/create'), {action => 'perhaps'});
	is($s->result($id)->{view}{code}, 'INPUT_INVALID',
	   'an answer of another shape is refused');

	$id = $s->ask(who => {});
	$s->reply($s->told('elicitation/create'), undef,
		  {code => -1, message => 'nobody is here'});
	$got = $s->result($id)->{view};
	is($got->{code}, 'INPUT_FAILED', 'a client may answer with an error');
	same_json($got->{details}, {code => -1, message => 'nobody is here'},
		  'the template sees the client\'s error');

	$id = $s->ask(named => {});
	for my $method (qw(elicitation/create sampling/createMessage)) {
		my $m = $s->told($method);

		ok(!exists $m->{params}{key},
		   "the name of a question is not the client's: $method");
		$s->reply($m, $method =~ /^el/ ? {action => 'decline'} :
			{role => 'assistant', model => 'm',
			 content => {type => 'text', text => 't'}});
	}
	like($s->result($id)->{view}{err}, qr/key must be a name of 1 to 64/,
	     'a question\'s key has to be a name');

	$got = $s->tool(nested => {})->{view};
	is($got->{code}, 'INVALID_PARAMETER', 'a form is flat');
	is($got->{details}{pointer}, '/requestedSchema/properties/p/items',
	   'the error of a nested form has the pointer');
	is($s->tool(secret => {})->{view}{code}, 'INVALID_PARAMETER',
	   'MCP 29: a form asks for no secrets');
	silent($s, 'of neither is the client asked');
	$s->stop;
}

# ---- a model's ----

{
	my $s = server();
	my $id = $s->ask(model => {});
	my $m = $s->told('sampling/createMessage');

	same_json($m->{params}, {maxTokens => 9, messages => [{role => 'user',
		  content => {type => 'text', text => 'hi'}}]},
		  'a model is asked');
	my %said = (role => 'assistant', model => 'm', stopReason => 'endTurn',
		    content => {type => 'text', text => 'ho'});
	$s->reply($m, \%said);
	same_json($s->result($id)->{view}, {got => \%said},
		  'the template gets what it says');
	$id = $s->ask(model => {});
	$s->reply($s->told('sampling/createMessage'), {role => 'assistant'});
	is($s->result($id)->{view}{code}, 'INPUT_INVALID',
	   'a result of another shape is refused');
	my $got = $s->tool(tooled => {})->{view};
	is($got->{code}, 'SAMPLING_NOT_SUPPORTED',
	   'MCP 29: tools are for clients that declare sampling.tools');
	like($got->{message}, qr/sampling\.tools/, 'the error names sampling.tools');
	$s->stop;
}

# ---- a client's roots ----

for my $revision (qw(2025-11-25 2024-11-05)) {
	my $s = server($revision, {roots => {listChanged => true}});
	my @roots = ({uri => 'file:///home/ada/x', name => 'x'},
		     {uri => 'file:///srv'});
	my $id = $s->ask(where => {});
	my $m = $s->told('roots/list');

	same_json($m->{params} // {}, {}, "$revision: a client is asked for its roots");
	$s->reply($m, {roots => \@roots});
	same_json($s->result($id)->{view}, {got => \@roots},
		  'the template gets them');
	$id = $s->ask(where => {});
	$s->reply($s->told('roots/list'), {roots => []});
	same_json($s->result($id)->{view}, {got => []}, 'the template gets an empty list of roots');
	$id = $s->ask(where => {});
	$s->reply($s->told('roots/list'), {roots => [{uri => 'http://a/'}]});
	my $got = $s->result($id)->{view};
	is($got->{code}, 'INPUT_INVALID', 'a root is a file');
	is($got->{details}{pointer}, '/roots/0/uri', 'the error of a root that is no file has the pointer');
	$id = $s->ask(where => {timeout => 30});
	$m = $s->told('roots/list');
	is($s->told('notifications/cancelled')->{params}{requestId}, $m->{id},
	   'the roots are not waited for too long');
	is($s->result($id)->{view}{code}, 'INPUT_TIMEOUT', 'the template is told');
	$id = $s->ask(looks => {});
	$s->reply($s->told('roots/list'), {roots => \@roots});
	same_json($s->result($id)->{view},
		  {id => 'r', ok => true, value => \@roots},
		  'a program may ask as well');
	$s->stop;
}

# ---- clients that cannot be asked ----

for ([who => '2025-11-25', {}, qr/elicitation\.form/, 'ELICITATION'],
     [who => '2025-11-25', {elicitation => {url => {}}},
      qr/elicitation\.form/, 'ELICITATION'],
     [who => '2025-03-26', \%can, qr/2025-06-18/, 'ELICITATION'],
     [model => '2024-11-05', {elicitation => {}}, qr/sampling/, 'SAMPLING'],
     [where => '2025-11-25', \%can, qr/capability roots/, 'ROOTS']) {
	my ($template, $revision, $capabilities, $why, $what) = @$_;
	my $s = server($revision, $capabilities);
	my $got = $s->tool($template => {})->{view};
	my $name = "MCP 4: $template, $revision, " . json_of($capabilities);

	is($got->{code}, "${what}_NOT_SUPPORTED", $name);
	like($got->{message}, $why, 'the author reads what is missing');
	silent($s, "$name: the client is not asked");
	$s->stop;
}

{
	my $s = server('2025-06-18');
	my $id = $s->ask(who => {});
	my $m = $s->told('elicitation/create');

	ok(!exists $m->{params}{mode}, 'before 2025-11-25 there are no modes');
	$s->reply($m, {action => 'decline'});
	is($s->result($id)->{view}{got}{action}, 'decline', 'a question without a mode is answered');
	my $run = $s->run_async(who => {});
	is($s->ended($run)->{result}{code}, 'ELICITATION_NOT_SUPPORTED',
	   'for a run that nobody waits for nobody is asked');
	$s->stop;
}

# ---- several at once, and ends ----

{
	my $s = server();
	my $id = $s->ask(many => {});
	my @m = map { $s->told('elicitation/create') } 1 .. 3;

	same_json([sort map { $_->{params}{message} } @m], ['a' .. 'c'],
		  'a template may ask several things at once');
	for (reverse @m) {
		$s->reply($_, {action => 'accept', content =>
			{name => "$_->{params}{message}$_->{params}{message}"}});
	}
	is($s->result($id)->{view}{all}, 'aabbcc',
	   'each answer reaches its question');

	# the client cancels
	$id = $s->ask(many => {});
	@m = map { $s->told('elicitation/create') } 1 .. 3;
	$s->notify('notifications/cancelled', {requestId => $id});
	my @over = map { $s->told('notifications/cancelled') } 1 .. 3;
	same_json([sort map { $_->{params}{requestId} } @over],
		  [sort map { $_->{id} } @m],
		  'a cancelled call takes its questions back');
	$s->reply($_, {action => 'decline'}) for @m; # too late
	my ($run) = @{$s->tool('list_task_runs')->{view}{runs}};
	is($s->ended($run->{runId})->{status}, 'canceled', 'the run of a cancelled call is canceled');

	# the run is cancelled
	$id = $s->ask(who => {});
	my $m = $s->told('elicitation/create');
	($run) = @{$s->tool('list_task_runs')->{view}{runs}};
	$s->tool(cancel_task_run => {runId => $run->{runId}});
	is($s->told('notifications/cancelled')->{params}{requestId}, $m->{id},
	   'a cancelled run takes its question back');
	$s->result($id);

	# time
	$id = $s->ask(who => {timeout => 30});
	$m = $s->told('elicitation/create');
	is($s->told('notifications/cancelled')->{params}{requestId}, $m->{id},
	   'MCP 5: a question that is not answered in time is taken back');
	is($s->result($id)->{view}{code}, 'INPUT_TIMEOUT',
	   'MCP 5: the template hears INPUT_TIMEOUT');
	$s->reply($m, {action => 'decline'});

	# a step's time
	$id = $s->ask(hasty => {});
	$m = $s->told('elicitation/create');
	is($s->told('notifications/cancelled')->{params}{requestId}, $m->{id},
	   'a step that waits no more takes its question back');
	$s->result($id);

	# a run which dies
	$id = $s->ask(who => {});
	$m = $s->told('elicitation/create');
	($run) = @{$s->tool('list_task_runs')->{view}{runs}};
	kill KILL => $s->worker_pid($run->{runId});
	is($s->told('notifications/cancelled')->{params}{requestId}, $m->{id},
	   'a run that fails takes its question back');
	$s->result($id);
	$s->stop;
}

# ---- an inline wait that is over ----

{
	my $s = server(undef, undef, config => {inline_wait_ms => 1});
	my $id = $s->ask_run(who => {}, mode => 'auto');
	my $m = $s->told('elicitation/create');

	$s->call('ping');
	$s->reply($m, {action => 'decline'});
	my $view = $s->result($id)->{view};
	is($s->ended($view->{runId})->{result}{got}{action}, 'decline',
	   'a call that waits for its user is not sent away');
	$s->stop;
}

# ---- what is written down ----

{
	my $s = Paddock->new(templates => \%templates, idle => 1);

	$s->write_config("[server]\naudit_file = $s->{root}/audit\n");
	$s->start;
	$s->init(undef, \%can);
	my $id = $s->ask(who => {message => 'Psst, your name?'});
	$s->reply($s->told('elicitation/create'),
		  {action => 'accept', content => {name => 'Ada'}});
	$s->result($id);
	$s->stop;
	my $audit = read_file("$s->{root}/audit");
	my @lines = map { json_to($_) } grep { /"input_/ } split /\n/, $audit;
	same_json([map { [$_->{event}, $_->{how}] } @lines],
		  [['input_asked', 'elicitation/create'],
		   ['input_answered', 'accept']],
		  'the audit log has who was asked what kind of thing');
	unlike($audit . $s->log_text, qr/Psst|Ada/,
	       'neither log has the words');
}

done_testing;
