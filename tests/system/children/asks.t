#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Questions of called runs go to the client of the outermost run, by every way that the outermost
# run's own questions have: streams, a repeated call with requestState, and tasks of both eras.
use lib 'tests/lib';
use Paddock;
use Task;

my $form = '{type = "object", properties = {name = {type = "string"}}, required = run.array{"name"}}';
my $reads = {readOnlyHint => true, destructiveHint => false};
my @may = (annotations => $reads, permissions => {templates => ['*']}, limits => {maxTimeoutMs => 600000});
my %templates = (
	asks   => lua("local ok, a = pcall(run.elicit, {key = inputs.key, message = inputs.message or 'Which?', schema = $form, timeout = inputs.timeout}) return ok and (a.content and a.content.name or a.action) or a.code", annotations => $reads, limits => {maxTimeoutMs => 600000}),
	models => lua("return run.sample{messages = 'hi', maxTokens = 9}.content.text", annotations => $reads),
	parent => lua('return (run.template(inputs.template, inputs.inputs or {}))', @may),
	pair   => lua('local out = run.map({"a", "b"}, {concurrency = 2}, function(key) return (run.template("asks", {key = key, message = key})) end) return out[1].value .. out[2].value', @may),
	both   => lua("local out = run.map({1, 2}, {concurrency = 2}, function(i) if i == 1 then return (run.template('asks', {key = 'k'})) end return run.elicit{key = 'k', message = 'own', schema = $form}.content.name end) return out[1].value .. out[2].value", @may),
	step   => lua('local ok, e = pcall(run.step, "s", function() return run.template("asks", {key = "first"}) end, {timeout = 300}) return run.step("t", function() return e.code end)', @may),
	task   => {%{lua('return (run.template(inputs.template, inputs.inputs or {}))', @may)}, taskSupport => 'required'},
	leaves => lua('pcall(run.step, "s", function() return run.template("asks", {}) end, {timeout = 300}) return "left"', @may),
	many   => lua('local list, codes = {}, {} for i = 1, 5 do list[i] = i end for i, r in ipairs(run.map(list, {concurrency = 5}, function(i) return (run.template("bunch", {})) end)) do for k, n in pairs(r.value) do codes[k] = (codes[k] or 0) + n end end return codes', @may),
	bunch  => lua("local list, codes = {}, {} for i = 1, 16 do list[i] = i end for _, r in ipairs(run.map(list, {concurrency = 16}, function(i) local ok, e = pcall(run.elicit, {message = 'm', schema = $form, timeout = 2000}) return e.code end)) do codes[r.value] = (codes[r.value] or 0) + 1 end return codes", annotations => $reads, limits => {maxTimeoutMs => 600000}),
);
my $grants = join '', map { qq([grant "$_"]\ntemplates = *\n) } qw(parent pair both step task leaves many);
my %can = (elicitation => {form => {}});
my %tasks = (%can, extensions => {$TASKS => {}});
my $deep = {template => 'parent', inputs => {template => 'parent', inputs => {template => 'asks', inputs => {key => 'deep'}}}};

sub server { return Paddock->new(templates => \%templates, config => $grants, @_) }
sub name { return {action => 'accept', content => {name => $_[0]}} }
# Call TOOL of S without a session; MORE members of the params.
sub call {
	my ($s, $tool, $args, $more, $can) = @_;
	my $r = $s->call('tools/call', stateless({name => $tool, arguments => $args // {}, %{$more // {}}}, $can // \%can));

	return $r->{result} // $r;
}
sub again { my ($s, $tool, $args, $r, %answers) = @_; return call($s, $tool, $args, {requestState => $r->{requestState}, inputResponses => \%answers}) }
sub said { my ($r) = @_; return $r->{content}[0]{text} // json_of($r) }
sub listed { my ($s, $template) = @_; return grep { $_->{templateId} eq $template } @{call($s, 'list_task_runs')->{structuredContent}{runs}} }

# The task, once N questions are there.
sub asked {
	my ($s, $task, $can, $n) = @_;
	my $t;

	until_true("$n questions", sub { $t = ext_call($s, 'tasks/get', {taskId => $task}, $can)->{result}; $n == keys %{$t->{inputRequests} // {}} });
	return $t;
}

# ---- a client that takes questions along ----

{
	my $s = server();
	my $r = call($s, parent => $deep);

	is($r->{resultType}, 'input_required', 'a question from depth 3 is the answer to the outermost call') or diag(json_of($r));
	is($r->{inputRequests}{deep}{params}{message}, 'Which?', 'the question has the key and the message of the called run');
	like(said(again($s, parent => $deep, $r, deep => name('Ada'))), qr/Ada/, 'the answer in the repeated call reaches the called run');
	is(again($s, parent => $deep, $r, deep => name('Bob'))->{error}{data}{reason}, 'used', 'a state of a called question is good for one call');

	$r = call($s, 'pair');
	is(join(' ', sort keys %{$r->{inputRequests}}), 'a b', 'questions of two children at once come together') or diag(json_of($r));
	$r = again($s, pair => {}, $r, b => name('Bob'));
	is(join(' ', keys %{$r->{inputRequests}}), 'a', 'the unanswered question of another child is asked again');
	like(said(again($s, pair => {}, $r, a => name('Ada'))), qr/AdaBob/, 'each answer reaches the child that asked');

	$r = call($s, 'both');
	my ($own, $child) = sort { $r->{inputRequests}{$a}{params}{message} eq 'own' ? -1 : 1 } keys %{$r->{inputRequests}};
	ok($own && $child && $own ne $child, 'a question of the run and a question of a child with the same key have two keys') or diag(json_of($r));
	like(said(again($s, both => {}, $r, $own => name('Own'), $child => name('Child'))), qr/ChildOwn/, 'both answers arrive');

	$r = call($s, 'step');
	is(join(' ', map { $_->{params}{message} } values %{$r->{inputRequests}}), 'Which?', 'a question of a child in a step is asked');
	until_true('the end of the step', sub { my ($run) = grep { $_->{status} eq 'canceled' } listed($s, 'asks'); $run });
	like(json_of(again($s, step => {}, $r, first => name('late'))), qr/STEP_TIMEOUT/, 'the answer to a question of a child that was cancelled meanwhile is passed over');

	$r = call($s, parent => {template => 'models'});
	is($r->{error}{code}, -32021, 'a client that cannot be asked is told which capability a called run needs') or diag(json_of($r));

	$r = call($s, parent => $deep);
	my ($inner) = grep { $_->{status} eq 'running' } listed($s, 'parent');
	call($s, cancel_task_run => {runId => $inner->{runId}});
	like(said(again($s, parent => $deep, $r, deep => name('Ada'))), qr/CALL_CANCELED|RUN_CANCELED/, 'a question whose run is cancelled meanwhile is over');
	my $id = $s->request('tools/call', stateless({name => 'pair', arguments => {}}, {sampling => {}}));
	my $codes = $s->answer($id);
	like(json_of($codes), qr/ELICITATION_NOT_SUPPORTED/, 'called runs hear that the client cannot be asked');
	$s->stop;
}
{
	my $s = server(config => "[limits]\ninput_wait_ms = 1000\n$grants");
	my $r = call($s, parent => $deep);

	ok($r->{requestState}, 'a client takes a question of a called run along');
	until_true('the ends', sub { !grep { $_->{status} eq 'running' } @{call($s, 'list_task_runs')->{structuredContent}{runs}} });
	is(join(' ', sort map { $_->{status} } listed($s, 'asks'), listed($s, 'parent')), 'canceled canceled canceled failed', 'when the client does not come back the outermost run fails, and the called runs end');
	$s->stop;
}

# ---- tasks of 2026-07-28 ----

{
	my $s = server();
	my $task = ext_task($s, 'task', $deep, \%tasks);
	my $t = asked($s, $task, \%tasks, 1);

	is($t->{inputRequests}{deep}{params}{message}, 'Which?', 'a question of a called run is an inputRequest of the task') or diag(json_of($t));
	ext_call($s, 'tasks/update', {taskId => $task, inputResponses => {deep => name('Ada')}}, \%tasks);
	like(json_of(ext_over($s, $task)), qr/Ada/, 'the answer by tasks/update reaches the called run');
	my $later = {%tasks, extensions => {$TASKS => {}, 'paddock/answersLater' => {}}};
	my $r = call($s, run_task_template => {templateId => 'pair', inputs => {}, options => {mode => 'async'}}, {}, $later);
	my $run = $r->{structuredContent}{runId};
	ok($run, 'a run is started with a handle') or diag(json_of($r));
	$t = asked($s, $run, $later, 2);
	is(join(' ', sort keys %{$t->{inputRequests}}), 'a b', 'questions of called runs of a run with a handle are there for later answers');
	is(call($s, get_task_run => {runId => $run})->{structuredContent}{awaitingInput}, true, 'the view of the outermost run says that the run awaits input');
	ext_call($s, 'tasks/update', {taskId => $run, inputResponses => {a => name('A'), b => name('B')}}, $later);
	until_true('the end', sub { (call($s, get_task_run => {runId => $run})->{structuredContent}{status} // '') eq 'succeeded' });
	is(call($s, get_task_run => {runId => $run})->{structuredContent}{result}, 'AB', 'later answers reach the called runs');
	$s->stop;
}

# ---- tasks of 2025-11-25, and streams ----

{
	my $s = server()->greeted('2025-11-25', \%can);
	my $task = start_task($s, 'parent', $deep);
	my $m = $s->told('elicitation/create');

	same_json($m->{params}{_meta}, {(RELATED) => {taskId => $task}}, 'a question of a called run names the task of the outermost run');
	is(get_task($s, $task)->{status}, 'input_required', 'the task of the outermost run waits for input');
	my $id = $s->request('tasks/result', {taskId => $task});
	$s->reply($m, name('Ada'));
	like(json_of($s->answer($id)), qr/Ada/, 'the answer to a question with a related task reaches the called run');

	$id = $s->ask_run('pair', {}, mode => 'sync');
	my @asked = map { $s->told('elicitation/create') } 1, 2;
	is(join(' ', sort map { $_->{params}{message} } @asked), 'a b', 'two children ask on one stream');
	$s->reply($_, name("<$_->{params}{message}>")) for reverse @asked;
	is($s->result($id)->{view}{result}, '<a><b>', 'the answers on one stream reach the child that asked');

	$id = $s->ask_run('leaves', {}, mode => 'sync');
	$m = $s->told('elicitation/create');
	my $gone = $s->told('notifications/cancelled');
	is($gone->{params}{requestId}, $m->{id}, 'a question of a child that is cancelled is withdrawn');
	is($s->result($id)->{view}{result}, 'left', 'the caller goes on without the answer');

	$id = $s->ask_run(parent => $deep, mode => 'sync');
	$m = $s->told('elicitation/create');
	$s->notify('notifications/cancelled', {requestId => $id});
	until_true('the ends', sub { !grep { $_->{status} eq 'running' } @{$s->tool('list_task_runs')->{view}{runs}} });
	pass('a caller that goes away while a called run asks ends all runs');

	my $run = $s->run_async(parent => $deep);
	is($s->ended($run)->{result}, 'ELICITATION_NOT_SUPPORTED', 'a called run of a detached run asks nobody');
	$id = $s->ask_run(many => {}, mode => 'sync');
	my $codes = $s->result($id)->{view}{result};
	ok($codes->{INPUT_FAILED} && $codes->{INPUT_TIMEOUT}, 'questions of called runs are bounded in number') or diag(json_of($codes));
	is(($codes->{INPUT_FAILED} // 0) + ($codes->{INPUT_TIMEOUT} // 0), 80, 'each question beyond the bound is refused, each other asked');
	$s->stop;
}
done_testing();
