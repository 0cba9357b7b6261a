#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Calls of templates from inside a run: outputs, errors, the views of parents and children, who may call
# which template, and the bounds on depth and number. Lua templates and programs call alike: run.template of
# Lua, and lines of JSON on descriptor 3 of a program, whose answers are lines on descriptor 4.
use lib 'tests/lib';
use Paddock;
use Cage;

my $reads = {readOnlyHint => true, destructiveHint => false};
my @may = (annotations => $reads, permissions => {templates => ['*']});
my $caller = 'local out, run_of = run.template(inputs.template, inputs.inputs, inputs.options) return {output = out, run = run_of}';
my $catcher = 'local ok, e = pcall(run.template, inputs.template, inputs.inputs, inputs.options) if ok then return "no error" end return {code = e.code, message = e.message, details = e.details}';
# A call's line, and its answer as the output.
my $program = <<'PL';
#!/usr/bin/perl
use JSON::PP;
my $in = decode_json(do { local $/; <STDIN> });
open my $out, '>&=', 3 or die; open my $answers, '<&=', 4 or die;
for my $call (@{$in->{calls}}) { syswrite $out, encode_json({call => $call}) . "\n" }
my @all = map { decode_json(scalar <$answers>) } @{$in->{calls}};
print encode_json([sort { $a->{id} <=> $b->{id} } @all]);
PL
my %templates = (
	twice    => lua('return {n = inputs.n * 2}', annotations => $reads,
		inputsSchema => {type => 'object', required => ['n'], properties => {n => {type => 'integer'}}}),
	secret   => lua('return #inputs.password', annotations => $reads, inputsSchema => {type => 'object', properties => {password => {type => 'string', writeOnly => true}}}),
	fails    => lua('run.error("NO_LUCK", "it has no luck", {why = "none"})', annotations => $reads),
	writes   => lua('return "written"'),
	destroys => lua('return "gone"', annotations => {readOnlyHint => true, destructiveHint => true}),
	remote   => lua('return run.template', annotations => $reads, trustLevelSupport => ['remote']),
	big      => lua('return ("x"):rep(5 << 20)', annotations => $reads),
	kept     => lua('return {id = run.artifact{name = "a", data = "kept"}}', annotations => $reads),
	reader   => lua('return inputs.file', annotations => $reads, inputsSchema => {type => 'object', properties => {file => {type => 'string', format => 'paddock-file'}}}),
	calls    => lua($caller, @may),
	tries    => lua($catcher, @may),
	maps     => lua('local r = run.map(inputs.list, {concurrency = 4}, function(n) return run.template("twice", {n = n}).n end) local all = {} for i, one in ipairs(r) do all[i] = one.value or one.error.code end return all', @may),
	many     => lua('local n = 0 for i = 1, 1001 do local ok, e = pcall(run.template, "twice", {n = i}) if ok then n = n + 1 else return {n = n, code = e.code, limit = e.details.limit} end end', @may, limits => {maxTimeoutMs => 120000}),
	deep     => lua('if inputs.n == 0 then return 0 end local ok, out = pcall(run.template, "deep", {n = inputs.n - 1}) if not ok then return out.code .. " " .. tostring(out.details.limit) end return type(out) == "number" and out + 1 or out', @may),
	listed   => lua($catcher, annotations => $reads, permissions => {templates => ['twice', 'kept']}),
	looks    => lua('local ok, e = pcall(run.call, "get_artifact", {artifactId = "art_2al4fzu5c3l5jwea7zvw6ee2fv"}) return e', annotations => $reads, permissions => {templates => ['twice']}),
	unasked  => lua($catcher, annotations => $reads),
	ungranted => lua($catcher, annotations => $reads, permissions => {templates => ['twice']}),
	program  => {program => $program, @may},
	finds    => lua('local all = run.search(inputs.query, {limit = inputs.limit, detail = inputs.detail}) local ids = {} for i, t in ipairs(all) do ids[i] = t.templateId end return {ids = ids, n = #all, first = all[1]}', @may),
	cells    => lua('return 1', annotations => $reads, resident => {serial => true}, inputsSchema => {type => 'object', properties => {notebook => {type => 'string', format => 'paddock-notebook'}}}),
	spies    => lua($catcher, annotations => $reads, permissions => {templates => ['cells']}),
	peeks    => lua('local ok, e = pcall(run.search, "twice") return ok and "found" or {code = e.code, message = e.message}', annotations => $reads, permissions => {templates => ['twice']}),
);
my $grants = join '', map { qq([grant "$_"]\ntemplates = *\n) } qw(calls tries maps many deep program finds);
my $s = Paddock->new(templates => \%templates, config => "[limits]\nmax_concurrent_runs = 4\n$grants\[grant \"listed\"]\ntemplates = twice kept\n[grant \"looks\"]\ntemplates = twice\n[grant \"spies\"]\ntemplates = cells\n[grant \"peeks\"]\ntemplates = twice\n")->greeted;

sub out { my ($t, $inputs, %o) = @_; my $v = $s->run_sync($t => $inputs // {}, %o); is($v->{status}, 'succeeded', "$t succeeds") or diag(json_of($v)); return $v->{result} }
sub tries { my ($t, $inputs, %o) = @_; return out(tries => {template => $t, inputs => $inputs // {}}, %o) }

# ---- a call ----

{
	my $v = $s->run_sync(calls => {template => 'twice', inputs => {n => 21}});

	is($v->{result}{output}{n}, 42, 'a call returns the output of the called template') or diag(json_of($v));
	is($v->{result}{run}{status}, 'succeeded', 'the second value says how the called run ended');
	my $child = $s->get($v->{result}{run}{runId});

	is($child->{parentRunId}, $v->{runId}, 'the view of a child names the run that called');
	is_deeply([map { $_->{parentRunId} } @{$s->tool('list_task_runs', {limit => 2})->{view}{runs}}], [$v->{runId}, undef], 'the list of runs names the run that called');
	is($child->{depth}, 1, 'the view of a child says how deep it was called');
	is_deeply([map { my $c = $_; +{map { $_ => $c->{$_} } grep { !/At$|^elapsedMs$/ } keys %$c} } @{$v->{children}}], [{runId => $child->{runId}, templateId => 'twice', status => 'succeeded'}], 'the view of a parent lists the children');
	is_deeply([@{$v->{children}[0]}{qw(createdAt startedAt endedAt)}], [@$child{qw(createdAt startedAt updatedAt)}], 'the list of children has their times');
	is($v->{children}[0]{elapsedMs}, $v->{children}[0]{endedAt} - $v->{children}[0]{startedAt}, 'the list of children says how long each took');
	is($v->{childrenTotal}, 1, 'the view of a parent counts the children');
	is_deeply([grep { exists $child->{$_} } qw(children childrenTotal)], [], 'a run that called nothing lists no children');
	is_deeply([grep { exists $v->{$_} } qw(parentRunId depth)], [], 'a run that a client called names no parent');
}
{
	my $v = $s->run_sync(calls => {template => 'fails', inputs => {}});

	is("$v->{status} $v->{error}{errorCode}", 'failed EXECUTION_ERROR', 'an error that the parent does not catch fails the parent');
	is($v->{children}[0]{errorCode}, 'EXECUTION_ERROR', 'the view of the parent has the code of the child that failed');
	my $e = tries('fails');

	is($e->{code}, 'EXECUTION_ERROR', 'a failed child is an error with the code of the run');
	is($e->{message}, 'it has no luck', 'the error has the message of the child');
	is("$e->{details}{templateCode} $e->{details}{templateId} $e->{details}{status}", 'NO_LUCK fails failed', 'the details have those of the child, and name the child');
	is($s->get($e->{details}{runId})->{status}, 'failed', 'the details have the id of the child');
}
is_deeply(out(maps => {list => [1 .. 9]}), [map { 2 * $_ } 1 .. 9], 'calls within run.map run at the same time, in order');
is_deeply(out(program => {calls => [{id => 1, template => 'twice', inputs => {n => 4}}, {id => 2, template => 'fails', inputs => {}}]})->[0]{value}{output}, {n => 8}, 'a program calls by a line');
{
	my $r = out(program => {calls => [{id => 1, template => 'fails', inputs => {}}, {id => 2, template => 'twice', version => '^1.0', inputs => {n => 1}, options => {timeoutMs => 5000}}]});

	is($r->[0]{error}{code}, 'EXECUTION_ERROR', 'a program gets the error of a call');
	is($r->[1]{value}{output}{n}, 2, 'a program may give a version and options');
}

# ---- what does not fit ----

{
	my $e = tries(twice => {n => 'two'});

	is("$e->{code} $e->{details}{pointer}", 'INVALID_PARAMETER /inputs/n', 'inputs that do not fit are refused as those of a client');
	is(tries('nothing')->{code}, 'TEMPLATE_NOT_FOUND', 'an unknown template is refused');
	is(out(tries => {template => 'twice', inputs => {n => 1}, options => {version => '^2.0'}})->{code}, 'TEMPLATE_VERSION_UNSUPPORTED', 'an unknown version is refused');
	is(tries("twice\n{\"call\":{}}" => {n => 1})->{code}, 'TEMPLATE_NOT_FOUND', 'a name made to look like a call is a name');
	is(tries('remote')->{code}, 'TRUST_LEVEL_NOT_ALLOWED', 'a child has the trust of its parent');
	my $r = out(program => {calls => [{id => 1, template => 'twice', inputs => {n => 1}, options => {mode => 'async'}}, {id => 2, tool => 'get_runtime_profile', args => {}}]});

	like($r->[0]{error}{message}, qr/options\.timeoutMs, but no "mode"$/, 'a call has no mode');
	is($r->[1]{error}{code}, 'CALL_NOT_ALLOWED', 'other tools of the contract are not called');
	my $bad = $s->run_sync(program => {calls => [{id => 1, template => 'twice'}]});

	like($bad->{error}{message}, qr/a call of a template has an id, a template and inputs/, 'a line without inputs ends the program');
	$e = tries('big');
	is($e->{code}, 'ANSWER_TOO_LARGE', 'an output above the bound of an answer is an error');
	is($e->{details}{resultUri}, "paddock://runs/$e->{details}{runId}/result", 'the error says where the output is');
}

# ---- files and secrets ----

{
	my $v = $s->run_sync(calls => {template => 'kept', inputs => {}});

	is($v->{result}{run}{artifacts}[0]{artifactId}, $v->{result}{output}{id}, 'the answer lists the artifacts of the child');
	my $read = out(program => {calls => [{id => 1, tool => 'get_artifact', args => {artifactId => $v->{result}{output}{id}}}, {id => 2, tool => 'list_task_templates', args => {templateId => 'twice'}}, {id => 3, tool => 'get_artifact', args => {}}]});

	is($read->[0]{value}{data}, 'a2VwdA==', 'a run that may call all templates reads artifacts') or diag(json_of($read));
	is($read->[1]{value}{templates}[0]{templateId}, 'twice', 'a run that may call all templates lists templates');
	is($read->[2]{error}{code}, 'INVALID_PARAMETER', 'wrong arguments of get_artifact are refused');
	is(out(spies => {template => 'cells', inputs => {}}), 'no error', 'a granted template is called without a notebook');
	is(out(spies => {template => 'cells', inputs => {notebook => 'n'}})->{code}, 'PERMISSION_NOT_ALLOWED', 'a run that may call some templates enters no notebook of the client');
	is(out('looks')->{code}, 'PERMISSION_NOT_ALLOWED', 'a run that may call some templates reads nothing of the client');
	is(out(calls => {template => 'reader', inputs => {file => {'$artifact' => $v->{result}{output}{id}}}})->{output}, 'kept', 'a child reads the artifact of another');
	$v = $s->run_sync(calls => {template => 'secret', inputs => {password => 'hidden-word'}});
	is($v->{result}{output}, 11, 'a child has its secret');
	unlike(json_of($s->get($v->{result}{run}{runId})) . json_of($v->{children}), qr/hidden-word/, 'the views show no secret of a child');
}

# ---- who may call ----

{
	my $e = out(unasked => {template => 'twice', inputs => {n => 1}});

	is("$e->{code} $e->{details}{key}", 'PERMISSION_NOT_ALLOWED templates', 'a template that does not ask for it calls no other');
	like($e->{message}, qr/^unasked may not call twice: its manifest's permissions\.templates do not list it/, 'the refusal says what is missing');
	is(json_to($s->call('tools/call', {name => 'ungranted', arguments => {}})->{result}{content}[0]{text})->{errorCode}, 'PERMISSION_NOT_ALLOWED',
		'a template whose wish is not granted does not run');
	is(out(listed => {template => 'twice', inputs => {n => 1}}), 'no error', 'a template calls what its grant lists');
	is(out(listed => {template => 'fails', inputs => {}})->{code}, 'PERMISSION_NOT_ALLOWED', 'a template calls nothing else');
	is(out(listed => {template => 'calls', inputs => {template => 'fails', inputs => {}}})->{code}, 'PERMISSION_NOT_ALLOWED', 'a template reaches nothing else by a template with more rights');
}
for my $t (qw(writes destroys)) {
	my $e = tries($t);

	is("$e->{code} $e->{details}{option}", 'PERMISSION_NOT_ALLOWED options.allowWrites', "$t is called only when the client says so");
	is(tries($t, {}, allowWrites => true), 'no error', "$t is called with the client's allowWrites");
}
is(out(tries => {template => 'tries', inputs => {template => 'writes', inputs => {}}}, allowWrites => true), 'no error', 'allowWrites holds for the calls of calls');

# ---- searches ----

{
	my $r = out(finds => {query => 'twice', limit => 1});

	is_deeply($r->{ids}, ['twice'], 'a run finds templates by words');
	like($r->{first}{inputs}, qr/n: integer/, 'what is found has the type of the inputs') or diag(json_of($r));
	is(out(finds => {query => 'twice', limit => 1, detail => 'full'})->{first}{inputsSchema}{required}[0], 'n', 'a run may ask for the whole schema');
	is(out(finds => {query => 'remote'})->{n}, 0, 'a run finds only what it may call here');
	$r = out(program => {calls => [{id => 1, search => 'twice', limit => 1}, {id => 2, search => 'twice', limit => 0}, {id => 3, search => 'x' x 2000}]});
	is($r->[0]{value}{templates}[0]{templateId}, 'twice', 'a program searches by a line');
	is($r->[$_]{error}{code}, 'INVALID_PARAMETER', 'a search with a wrong ' . (qw(limit query))[$_ - 1] . ' is refused') for 1, 2;
	$r = out('peeks');
	is($r->{code}, 'PERMISSION_NOT_ALLOWED', 'a template that may call some templates does not search all');
	like($r->{message}, qr/^peeks may not search all templates \(\*\): its manifest's/, 'the refusal says what is missing');
	my $bad = $s->run_sync(program => {calls => [{search => 'twice'}]});
	like($bad->{error}{message}, qr/a search has an id, and the words in search/, 'a search without an id ends the program');
}

# ---- bounds ----

is(out(deep => {n => 4}), 4, 'calls are four deep');
is(out(deep => {n => 5}), 'RESOURCE_LIMIT max_call_depth', 'calls are no deeper');
is_deeply(out('many'), {n => 1000, code => 'RESOURCE_LIMIT', limit => 'children_in_all'}, 'a run makes a thousand calls, and no more');
$s->stop;
done_testing();
