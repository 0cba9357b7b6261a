#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# retry_task_run: the same inputs again, as a new run with the id of the old run; the kept
# inputs of a run, and inputs which must be given again. Over stdio, over HTTP in both eras,
# as a task, and across kill -9.
use lib 'tests/lib';
use Paddock;
use Http;
use Task;
use Stateless;

my %secret = (inputsSchema => {type => 'object', required => ['user', 'password'], properties => {
	user => {type => 'string'}, password => {type => 'string', writeOnly => true},
	hidden => {type => 'object', properties => {deep => {writeOnly => true}, other => true}}}});
my %templates = (
	echo => lua('return inputs'),
	typed => lua('return inputs', inputsSchema => {type => 'object', additionalProperties => false,
		properties => {n => {type => 'integer'}, text => {type => 'string'}, list => {type => 'array'}}}),
	login => lua('return {user = inputs.user, letters = #inputs.password, hidden = inputs.hidden ~= nil}', %secret),
	fails => lua('run.error("NO_LUCK", "bad day")'),
	doze => lua('run.progress(0, 1, "dozing") while not run.cancelled() do run.sleep(20) end'),
	asks => lua('local a = run.elicit{key = "k", message = "Who?", schema = {type = "object", properties = {name = {type = "string"}}}} ' .
		    'return {name = a.content.name, n = inputs.n}'),
	reads => lua('return {text = inputs.file, n = inputs.n}', inputsSchema => {type => 'object', properties => {
		file => {type => 'string', format => 'paddock-file'}, n => {type => 'integer'}}}),
	made => lua('run.artifact{name = "a", mimeType = "text/plain", data = inputs.text} return {}'),
);
my %token = (ada => 'a' x 43, bob => 'b' x 43);
my $audit = Paddock::fresh_root() . '/audit.log';
my $s = Http->new(templates => \%templates, tokens => \%token,
		  config => "[server]\naudit_file = $audit\n[limits]\nkeep_inputs_bytes = 100000\ninline_wait_ms = 60s\n");
my $ada = $s->client('ada')->greeted;
my $modern = $s->modern('ada');

sub again { my ($c, $run, %args) = @_; return $c->tool(retry_task_run => {runId => $run, %args}) }
sub modern_again { my ($run, %args) = @_;
	return ext_call($modern, 'tools/call', {name => 'retry_task_run', arguments => {runId => $run, %args}}, {}) }
sub given { my ($c, $t, $i, %o) = @_; return $c->run($t, $i, mode => 'sync', %o)->{view}{runId} }
sub row { my ($id, $what) = @_; $ada->get($id); # whoever asks has it moved from where it was staged
	return join "\n", postgres_sql("SELECT coalesce($what\:\:text, 'None') FROM runs WHERE id = '$id'",
	postgres_url("$s->{root}/state")) if on_postgres(); return qx{python3 -c 'import sqlite3, sys
print(sqlite3.connect(sys.argv[1]).execute("SELECT %s FROM runs WHERE id = ?" % sys.argv[3], (sys.argv[2],)).fetchone()[0])' '$s->{root}/state/paddock.db' $id '$what'} =~ s/\n\z//r }

# ---- the same again ----

{
	my $first = given($ada, 'echo', {n => 1, text => "a\x{e4}", list => [1, {x => null}]});
	my $r = again($ada, $first);
	my $v = $r->{view};

	answer_ok($r, 'retry_task_run answers as run_task_template does');
	is($v->{status}, 'succeeded', 'a retried run succeeds');
	same_json($v->{result}, {n => 1, text => "a\x{e4}", list => [1, {x => null}]}, 'a retried run has the same inputs');
	isnt($v->{runId}, $first, 'a retried run has an id of its own');
	is($v->{retriedFrom}, $first, 'a retried run\'s view has retriedFrom');
	same_json($ada->get($v->{runId}), $v, 'get_task_run of a retried run has the same view');
	ok(!exists $ada->get($first)->{retriedFrom}, 'the first is what it was');
	my %listed = map { $_->{runId} => $_->{retriedFrom} } @{$ada->tool(list_task_runs => {})->{view}{runs}};
	is($listed{$v->{runId}}, $first, 'list_task_runs has retriedFrom');
	my $third = again($ada, $v->{runId}, inputs => {n => 2, list => null});
	same_json($third->{view}{result}, {n => 2, text => "a\x{e4}", list => null}, 'some inputs are given anew, the others stay');
	is($third->{view}{retriedFrom}, $v->{runId}, 'a try can be tried again');
	is(json_of($ada->get($first)) =~ /"inputs"/ ? 1 : 0, 0, 'no view shows inputs');
	my ($entry) = grep { $_->{event} eq 'run_created' && $_->{runId} eq $v->{runId} } map { json_to($_) } split /\n/, read_file($audit);
	is($entry->{retriedFrom}, $first, 'the audit log names the first');

	my $handle = again($ada, $first, options => {mode => 'async', idempotencyKey => 'k1', ttlMs => 90_000});
	is($handle->{view}{retriedFrom}, $first, 'a handle says so, too');
	my $ended = $ada->ended($handle->{view}{runId});
	is($ended->{expiresAt} - $ended->{updatedAt}, 90_000, 'options hold');
	my $same = again($ada, $first, options => {mode => 'sync', idempotencyKey => 'k1'});
	is($same->{view}{runId}, $handle->{view}{runId}, 'the same key gives the same run');
	refused(again($ada, $first, inputs => {n => 9}, options => {idempotencyKey => 'k1'}), 'INVALID_PARAMETER', 'the same key with other inputs is refused');

	my $deep = given($ada, 'echo', {files => {a => 1, 'b/c' => {text => 'old', name => 'x'}}, list => [1], n => 1});
	$v = again($ada, $deep, members => {'/files/b~1c' => {text => 'new'}, '/files/d' => null, '/more/e/f' => 2, '/n' => 3})->{view};
	same_json($v->{result}, {files => {a => 1, 'b/c' => {text => 'new'}, d => null}, more => {e => {f => 2}}, list => [1], n => 3},
		  'members of objects are given anew, the others stay');
	$v = again($ada, $deep, inputs => {files => {z => 1}}, members => {'/files/y' => 2})->{view};
	same_json($v->{result}{files}, {z => 1, y => 2}, 'members are given after whole inputs');
	for my $pointer ('files/a', '', '/list/0', '/n/x', '/files/a/b', '/x' x 17) {
		my $bad = again($ada, $deep, members => {$pointer => 1});
		refused($bad, 'INVALID_PARAMETER', "\"$pointer\" leads through no objects");
		like($bad->{view}{error}, qr{members has "\Q$pointer\E", which leads through no objects of the run's inputs; a JSON Pointer such as /files/data\.csv does}, "the refusal of \"$pointer\" says what a pointer is");
	}
	my $typed = given($ada, 'typed', {n => 1, text => 'a'});
	my $bad = again($ada, $typed, inputs => {n => 'x'});
	refused($bad, 'INVALID_PARAMETER', 'what is given is checked');
	is($bad->{view}{details}{pointer}, '/inputs/n', 'the refusal of bad inputs names the pointer');
	is(again($ada, given($ada, 'fails', {}))->{view}{error}{details}{templateCode}, 'NO_LUCK', 'what failed may fail again');
	my $made = again($ada, given($ada, 'made', {text => 'made anew'}))->{view};
	is($ada->tool(get_artifact => {artifactId => $made->{artifacts}[0]{artifactId}})->{view}{data}, 'bWFkZSBhbmV3', 'a retried run has artifacts of its own');
}

# ---- what it cannot ----

{
	my $live = $ada->run_async('doze');

	$ada->saying($live, 'dozing');
	my $r = again($ada, $live);
	refused($r, 'INVALID_PARAMETER', 'a run that goes on is not tried again');
	like($r->{view}{error}, qr/the run is running: it can be run again once it has ended/, 'the refusal says when the run can be tried again');
	$ada->tool(cancel_task_run => {runId => $live});
	is($ada->ended($live)->{status}, 'canceled', 'one that was cancelled');
	my $handle = again($ada, $live, options => {mode => 'async'});
	is($handle->{view}{retriedFrom}, $live, 'may be');
	$ada->tool(cancel_task_run => {runId => $handle->{view}{runId}});
	$ada->ended($handle->{view}{runId});
	refused(again($ada, 'run_' . 'a' x 26), 'RUN_NOT_FOUND', 'one that there is not cannot');
	my $bob = $s->client('bob')->greeted;
	refused(again($bob, $live), 'RUN_NOT_FOUND', 'a run of another requestor cannot be tried again');
	refused(again($bob, $live, inputs => {}), 'RUN_NOT_FOUND', 'whatever is given');
	is($bob->tool(list_task_runs => {})->{view}{total}, 0, 'a refused retry makes no run');
	refused(again($ada, $live, templateVersion => '9.0.0'), 'TEMPLATE_VERSION_UNSUPPORTED', 'in a version that there is not it cannot');
	my $gone = given($ada, 'echo', {});
	$ada->call('paddock/deleteRuns', {runIds => [$gone]});
	refused(again($ada, $gone), 'RUN_NOT_FOUND', 'a deleted run cannot be tried again');
}

# ---- secrets, and what is too much ----

{
	my %in = (user => 'ada', password => 'tops3cret', hidden => {deep => 'deepsecret', other => 1});
	my $first = given($ada, 'login', \%in);
	my $r = again($ada, $first);

	refused($r, 'INVALID_PARAMETER', 'without its secrets a run is not tried again');
	like($r->{view}{error}, qr/are secret, so they were not kept; give these again: (?:password, hidden|hidden, password)/, 'the refusal names the secret inputs');
	same_json([sort @{$r->{view}{details}{missing}}], ['hidden', 'password'], 'the details list the secret inputs');
	refused(again($ada, $first, inputs => {password => 'x' x 5}), 'INVALID_PARAMETER', 'each has to be given');
	refused(again($ada, $first, inputs => {password => 'x'}, members => {'/hidden/deep' => 'x'}), 'INVALID_PARAMETER', 'a partly secret input has to be given as a whole');
	my $again = again($ada, $first, inputs => {password => 'x' x 5, hidden => {}});
	same_json($again->{view}{result}, {user => 'ada', letters => 5, hidden => true}, 'inputs that are no secret are kept');
	is(row($first, 'inputs'), '{"user":"ada"}', 'the store has what is no secret');
	$ada->run_sync('echo') for 1 .. 3;
	my @found = grep { (read_file($_) // '') =~ /tops3cret|deepsecret/ } glob("$s->{root}/state/*"), $audit, $s->{log};
	is_deeply(\@found, [], 'no file of the server has a secret');

	my $large = given($ada, 'echo', {text => 'x' x 99_000});
	is(length(again($ada, $large)->{view}{result}{text}), 99_000, 'inputs up to the bound are kept');
	is(length(again($ada, $large, inputs => {more => 'y' x 70_000})->{view}{result}{text} // ''), 99_000, 'inputs kept up to the bound are added to');
	my $more = given($ada, 'echo', {text => 'x' x 100_001});
	$r = again($ada, $more);
	refused($r, 'INVALID_PARAMETER', 'longer ones are not');
	like($r->{view}{error}, qr/they have 100012 bytes, and as many as 100000 are kept \(who can raise that is the operator: keep_inputs_bytes in \[limits\]\)/,
	     'the refusal says how long the inputs were');
	is($r->{view}{details}{allowed}, 100_000, 'the details have the bound of kept inputs');
	is(row($more, 'inputs'), 'None', 'the store has none of them');
	same_json(again($ada, $more, inputs => {n => 5})->{view}{result}, {n => 5}, 'whoever gives them again is served');
	is(row($large, 'bytes') > 99_000, 1, 'what is kept counts');
}

# ---- files ----

{
	my $source = $ada->run_sync(made => {text => 'bytes'});
	my $first = given($ada, 'reads', {file => {'$artifact' => $source->{artifacts}[0]{artifactId}}, n => 1});

	my $got = $ada->get($first);

	same_json($got->{result}, {text => 'bytes', n => 1}, 'a run that is given an artifact') or diag(json_of([$source, $got]), $s->log_text);
	same_json(again($ada, $first, inputs => {n => 2})->{view}{result}, {text => 'bytes', n => 2}, 'a retried run gets the artifact again');
	is(json_to(row($first, 'inputs'))->{file}{'$artifact'}, $source->{artifacts}[0]{artifactId}, 'what is kept is its id');
	$ada->call('paddock/deleteRuns', {runIds => [$source->{runId}]});
	my $r = again($ada, $first);
	refused($r, 'ARTIFACT_NOT_FOUND', 'while it is there');
	like($r->{view}{error}, qr{which /inputs/file names}, 'the refusal names the input with the deleted artifact');
	same_json(again($ada, $first, inputs => {file => {text => 'anew'}})->{view}{result}, {text => 'anew', n => 1}, 'another file can be given for a deleted artifact');
}

# ---- MCP 2026-07-28, and tasks ----

{
	my $first = given($ada, 'echo', {n => 7});
	my $v = modern_again($first)->{result}{structuredContent};
	is($v->{retriedFrom}, $first, 'MCP 2026-07-28: the same');
	same_json($v->{result}, {n => 7}, 'MCP 2026-07-28: a retried run has the inputs');
	like(json_of(modern_again('run_' . 'a' x 26)), qr/RUN_NOT_FOUND/, 'MCP 2026-07-28: an unknown run cannot be tried again');

	my $task = start_task($ada, 'retry_task_run', {runId => $first}, task => {ttl => 60_000});
	task_until($ada, $task, 'to end', sub { $_->{status} eq 'completed' });
	my $result = $ada->call('tasks/result', {taskId => $task})->{result};
	is($result->{structuredContent}{retriedFrom}, $first, 'a task of it has the run for its result');
	is($task, $result->{structuredContent}{runId}, 'the task of a retry has the run\'s id');

	my %can = (elicitation => {form => {}});
	my $asks = ext_call($modern, 'tools/call', {name => 'run_task_template', arguments => {templateId => 'asks', inputs => {n => 3}}}, \%can);
	my $answer = {name => 'run_task_template', arguments => {templateId => 'asks', inputs => {n => 3}},
		requestState => $asks->{result}{requestState}, inputResponses => {k => {action => 'accept', content => {name => 'ada'}}}};
	my $asked = ext_call($modern, 'tools/call', $answer, \%can)->{result}{structuredContent};
	is($asked->{result}{name}, 'ada', 'a template that asks is answered');
	my %retry = (name => 'retry_task_run', arguments => {runId => $asked->{runId}, inputs => {n => 4}});
	$asks = ext_call($modern, 'tools/call', \%retry, \%can)->{result};
	is($asks->{resultType}, 'input_required', 'a retried template that asks asks again');
	$v = ext_call($modern, 'tools/call', {%retry, requestState => $asks->{requestState},
		inputResponses => {k => {action => 'accept', content => {name => 'bob'}}}}, \%can)->{result}{structuredContent};
	same_json($v->{result}, {name => 'bob', n => 4}, 'the answers come to the retried run');
	is($v->{retriedFrom}, $asked->{runId}, 'a retry with answers is one run');
}
$s->stop;

# ---- versions ----

{
	my @two = ([echo => lua('return "old"')], [echo => lua('return "new"', version => '2.0.0')]);
	my $t = Paddock->new(templates => \@two)->greeted;
	my $old = $t->run('echo', {}, mode => 'sync', templateVersion => '1.0.0')->{view}{runId};

	is(again($t, $old)->{view}{result}, 'old', 'the version is that of the run, while it is there');
	is(again($t, $old, templateVersion => '^2.0')->{view}{result}, 'new', 'a retry runs the version asked for');
	$t->stop;
	my $u = Paddock->new(root => $t->{root}, idle => 1);
	unlink glob "$t->{root}/templates/echo-1.0.0/*";
	rmdir "$t->{root}/templates/echo-1.0.0";
	$u->start;
	$u->init;
	my $v = again($u, $old)->{view};
	is("$v->{result} $v->{templateVersion}", 'new 2.0.0', 'a retry of a removed version runs the newest');
	$u->stop;
}

# ---- across a death, and where none are kept ----

{
	my %one = (config => {max_concurrent_runs => 1});
	my $t = Paddock->new(templates => \%templates, %one)->greeted;
	my $first = $t->run_sync(echo => {n => 1})->{runId};
	my $doze = $t->run_async('doze', {n => 2});
	$t->saying($doze, 'dozing');
	my $queued = again($t, $first, inputs => {m => 3}, options => {mode => 'async'})->{view}{runId};
	my $lost = $t->run_async('login', {user => 'ada', password => 'tops3cret'});
	$t->kill9;
	strays_gone();
	my $u = Paddock->new(root => $t->{root}, templates => \%templates, %one);
	$u->init;
	my $v = $u->ended($queued);
	same_json([@$v{qw(result retriedFrom)}], [{n => 1, m => 3}, $first], 'a try that waited is run by the next server, and says of what it is one');
	is($u->get($doze)->{error}{errorCode}, 'RUN_INTERRUPTED', 'what ran was interrupted');
	like($u->get($doze)->{error}{recoverHint}, qr/retry_task_run/, 'the hint of an interrupted run names retry_task_run');
	my $handle = again($u, $doze, options => {mode => 'async'})->{view}{runId};
	is($u->saying($handle, 'dozing')->{retriedFrom}, $doze, 'a retried interrupted run has the inputs');
	is($u->get($lost)->{error}{errorCode}, 'RUN_INTERRUPTED', 'what waited with a secret is not run without it');
	$u->tool(cancel_task_run => {runId => $handle});
	$u->ended($handle);
	is(again($u, $lost, inputs => {password => 'x'})->{view}{result}{user}, 'ada', 'a run that waited with a secret can be tried again with the secret');
	$u->stop;

	my $none = Paddock->new(root => $t->{root}, templates => \%templates, config => {keep_inputs_bytes => 0})->greeted;
	my $r = again($none, $none->run_sync(echo => {n => 1})->{runId});
	refused($r, 'INVALID_PARAMETER', 'where none are kept none are there');
	like($r->{view}{error}, qr/this server keeps none \(who can change that is the operator: keep_inputs_bytes in \[limits\]\)/, 'the refusal says that the server keeps no inputs');
	same_json(again($none, $first)->{view}{result}, {n => 1}, 'what was kept before is');
	$none->stop;
}
done_testing;
