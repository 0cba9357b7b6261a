#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The functions of Lua templates, as seen by a client.
use utf8;
use lib 'tests/lib';
use Paddock;

binmode $_, ':utf8' for map { Test::More->builder->$_ }
    qw(output failure_output todo_output);

# name => the body of a template; each is run once, with {} for inputs
my %code = (
    who => 'return {id = run.id, template = run.template}',
    time => 'return {left = run.deadline(), cancelled = run.cancelled()}',
    slept => 'local t = run.deadline() run.sleep(30) return t - run.deadline()',
    told => <<'LUA',
run.progress(5, 10, "half") run.progress(3, 10, "less") return "told"
LUA
    told_over => 'run.progress(7, 5) return 1',
    values => <<'LUA',
local a, b, c = run.step("s", function() return 1, nil, "three" end)
return {a, b == nil, c}
LUA
    nested => <<'LUA',
return run.step("outer", function()
  return run.step("inner", function() return "deep" end)
end)
LUA
    retried => <<'LUA',
local n = 0
local v = run.step("s", function()
  n = n + 1 if n < 3 then error("not yet") end return "third"
end, {retries = 2, backoff = 1})
return {v = v, n = n}
LUA
    exhausted => <<'LUA',
run.step("s", function() run.error("ALWAYS", "never works") end, {retries = 2})
LUA
    caught => <<'LUA',
local ok, e = pcall(run.step, "s", function() run.error("OOPS", "the step broke") end)
run.step("t", function() end)
return {ok = ok, code = e.code, message = e.message}
LUA
    plain => 'error("just words")',
    plain_table => 'error({code = "MINE", message = "said so", details = {1}})',
    no_value => 'error()',
    syntax => 'return return',
    late => <<'LUA',
run.step("slow", function() run.sleep(60000) end, {timeout = 20})
LUA
    late_caught => <<'LUA',
local ok, e = pcall(run.step, "slow", function() run.sleep(60000) end,
                    {timeout = 20})
return {ok = ok, code = e.code}
LUA
    hung => <<'LUA',
run.step("hung", function()
  while true do pcall(function() while true do end end) end
end, {timeout = 20})
LUA
    mapped => <<'LUA',
local now, most, order = 0, 0, run.array{}
local r = run.map({10, 20, 30, 40, 50, 60}, {concurrency = 2, step = "col"},
  function(v, i)
    now = now + 1 if now > most then most = now end
    run.sleep(i % 2 == 0 and 1 or 40)
    order[#order + 1] = i
    now = now - 1
    if v == 30 then run.error("THIRTY", "I do not like it") end
    return v + i
  end)
return {r = r, most = most, order = order}
LUA
    mapped_none => 'return run.map({}, function() end)',
    mapped_one => 'return run.map({7}, {step = "only"}, function(v) return v end)',
    parallel => <<'LUA',
local t = run.deadline()
run.map({1, 2, 3, 4, 5, 6, 7, 8}, {concurrency = 8}, function() run.sleep(250) end)
return t - run.deadline()
LUA
    no_call => 'return {pcall(run.call, "navigate", {})}',
    no_elicit => <<'LUA',
return {pcall(run.elicit, {message = "?", schema = {type = "object", properties = {}}})}
LUA
    no_sample => 'return {pcall(run.sample, {messages = "?", maxTokens = 1})}',
    no_answer => 'run.sample{messages = "?", maxTokens = 1}',
    bad_elicit => 'run.elicit{message = "?", schema = {}}',
    bad_sample => 'run.sample{messages = {}, maxTokens = 1}',
    bad_call => 'run.call("navigate", {"https://example.org"})',
    json => <<'LUA',
local j = run.json
return {
  there = j.decode('{"a":[1,2.5,null,"\\u00e9",{},[]],"b":true}'),
  text = j.encode(j.decode('[1,{"a":null},[],{}]')),
  bad = select(2, pcall(j.decode, "{nope}")) ~= nil,
  empty = {}, none = run.array{}, null = run.null,
  is_null = j.decode("null") == run.null,
  base64 = run.base64.encode("\0\255paddock"),
  back = run.base64.decode("AP8=") == "\0\255",
  bad64 = pcall(run.base64.decode, "???"),
}
LUA
    numbers => 'return {1, 1.5, -0.0, 2^53, 9007199254740993, 1e300, 1//1}',
    nan => 'return 0/0',
    infinite => 'return {1/0}',
    a_function => 'return {f = print}',
    mixed => 'return {1, 2, x = 3}',
    circle => 'local t = {} t.t = t return t',
    not_utf8 => 'return "\xff\xfe"',
    unicode => 'return {["ключ"] = "中文\u{1F600}\0end"}',
    nothing => '',
    null => 'return run.null',
    a_false => 'return false',
    a_string => 'return "words"',
    libraries => <<'LUA',
local gone = run.array{}
for _, n in ipairs{"io", "require", "package", "debug", "dofile", "loadfile"} do
  if _G[n] ~= nil then gone[#gone + 1] = n end
end
for k in pairs(os) do
  if not ({time = 1, clock = 1, date = 1, difftime = 1})[k] then
    gone[#gone + 1] = "os." .. k
  end
end
if string.dump then gone[#gone + 1] = "string.dump" end
return {still = gone, collect = pcall(collectgarbage, "collect"),
        count = collectgarbage("count") > 0,
        binary = load("\27Lua") == nil, text = load("return 7")(),
        mode = pcall(load, "\27Lua", "x", "b")}
LUA
    addresses => <<'LUA',
return {table = tostring({}), fn = tostring(print), co = tostring(coroutine.create(print)),
        f = string.format("%s %p", {}, {})}
LUA
    logs => <<'LUA',
print("printed", 1, nil, true)
for _, l in ipairs{"debug", "info", "notice", "warning", "error", "critical",
                   "alert", "emergency"} do run.log(l, "at " .. l .. "\nforged") end
return pcall(run.log, "loud", "x")
LUA
    files => <<'LUA',
return {run.artifact{name = "a.csv", mimeType = "text/csv", data = "x,y\n"}}
LUA
    bad_file => 'run.artifact{name = "a\nb", mimeType = "text/csv", data = ""}',
    reply => <<'LUA',
return run.reply{content = {{type = "text", text = "hello"}},
                 structuredContent = {a = 1}}
LUA
    reply_bare => 'return run.reply{structuredContent = {a = run.array{}}}',
    reply_error => <<'LUA',
return run.reply{content = {{type = "text", text = "no"}}, isError = true}
LUA
    reply_wrong => 'return run.reply{contents = {}}',
    reply_protocol => 'return run.reply{error = {code = 17, message = "no", data = {a = 1}}}',
    coroutines => <<'LUA',
local co = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end)
return {co(), co(), co()}
LUA
    random => 'return {math.random(1 << 62), math.random(1 << 62)}',
    isolated => 'x = (x or 0) + 1 string.x = 1 return x',
);
my %more = (
    late => {limits => {cancelGraceMs => 5000}},
    hung => {limits => {cancelGraceMs => 20}},
);
my %templates = map { ($_ => lua($code{$_}, %{$more{$_} // {}})) } keys %code;
my $s = Paddock->new(templates => \%templates,
		     config => {max_concurrent_runs => 8})->greeted;
my %asked = map { $_ => $s->ask_run($_, {}, mode => 'sync') } sort keys %code;
my %v = map { $_ => $s->result($asked{$_})->{view} // {} } sort keys %code;

sub gives {
	my ($name, $want, $what) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	ok($v{$name}{status} eq 'succeeded' &&
	   json_of($v{$name}{result}) eq json_of($want), $what)
	    || diag(json_of($v{$name}));
}

sub fails {
	my ($name, $code, $details, $text, $what) = @_;
	my %d = %{$v{$name}{error}{details} // {}};

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	delete $d{runId};
	ok(($v{$name}{status} // '') eq 'failed' &&
	   $v{$name}{error}{errorCode} eq $code &&
	   json_of(\%d) eq json_of($details) &&
	   $v{$name}{error}{message} =~ $text, $what)
	    || diag(json_of($v{$name}));
}

sub steps { return [map { [@$_{qw(name status attempts)}] } @{$v{$_[0]}{steps}}] }

gives(who => {id => $v{who}{runId}, template => 'who'},
      'run.id and run.template');
ok($v{time}{result}{left} > 0 && $v{time}{result}{left} <= 60000 &&
   !$v{time}{result}{cancelled}, 'run.deadline() and run.cancelled()');
cmp_ok($v{slept}{result}, '>=', 29, 'run.sleep lasts');
same_json($v{told}{progress}, {totalSteps => 10, doneSteps => 5},
	  'run.progress: done never falls');
same_json($v{told_over}{progress}, {totalSteps => 5, doneSteps => 5},
	  'run.progress: done never passes the total');

gives(values => [1, true, 'three'], "a step gives all of its function's values");
gives(nested => 'deep', 'steps in steps');
same_json(steps('nested'), [['outer', 'succeeded', 1], ['inner', 'succeeded', 1]],
	  'each is a step of the run');
gives(retried => {v => 'third', n => 3}, 'retries are extra attempts');
same_json(steps('retried'), [['s', 'succeeded', 3]], 'retries are counted in the steps');
fails(exhausted => 'STEP_EXECUTION_FAILED',
      {failedStep => 's', stepErrorCode => 'ALWAYS'}, qr/never works/,
      'when there are no more, the step raises');
same_json(steps('exhausted'), [['s', 'failed', 3]], 'a step without retries left has failed');
fails(caught => 'STEP_EXECUTION_FAILED',
      {failedStep => 's', stepErrorCode => 'OOPS'}, qr/the step broke/,
      'a step that failed stays failed, though the template catches that');
same_json(steps('caught'), [['s', 'failed', 1], ['t', 'succeeded', 1]],
	  'what follows it still runs');
fails(plain => 'EXECUTION_ERROR', {}, qr/main\.lua:\d+: just words/,
      'error() of words: where it was');
fails(plain_table => 'EXECUTION_ERROR',
      {templateCode => 'MINE', templateDetails => [1]}, qr/^said so$/,
      'a table with a code is a typed error');
fails(no_value => 'EXECUTION_ERROR', {}, qr/./, 'error(nil) has a message');
fails(syntax => 'EXECUTION_ERROR', {}, qr/main\.lua:\d+:.*near/,
      'an error of syntax: where it is');
fails(late => 'STEP_EXECUTION_FAILED',
      {failedStep => 'slow', stepErrorCode => 'STEP_TIMEOUT'}, qr/20 ms/,
      "a step's timeout");
is($v{late_caught}{error}{details}{stepErrorCode}, 'STEP_TIMEOUT',
   'can be caught, but stays');
fails(hung => 'STEP_EXECUTION_FAILED',
      {failedStep => 'hung', stepErrorCode => 'STEP_TIMEOUT'}, qr/./,
      'one that does not end costs the worker its life');
is($v{hung}{steps}[0]{status}, 'failed', 'a step that does not end has failed');

same_json([map { $_->{value} } @{$v{mapped}{result}{r}}],
	  [11, 22, undef, 44, 55, 66], 'run.map: values in order of the items');
same_json($v{mapped}{result}{r}[2],
	  {ok => false, error => {code => 'THIRTY', message => 'I do not like it'}},
	  'run.map: a failed item has the error');
is($v{mapped}{result}{most}, 2, 'run.map: as many items at once as concurrency says');
same_json([@{$v{mapped}{result}{order}}[0, 1]], [2, 1],
	  'a slot that is free takes the next');
is($v{mapped}{status}, 'failed', 'of which one failed, and so does the run');
same_json([map { $_->[1] } @{steps('mapped')}],
	  [qw(succeeded succeeded failed succeeded succeeded succeeded)],
	  'the others are done all the same');
same_json([map { $_->[0] } @{steps('mapped')}], [map { "col[$_]" } 1 .. 6],
	  'each item is a step');
is($v{mapped}{steps}[2]{error}{code}, 'THIRTY', "run.map: the step of a failed item has the error");
gives(mapped_none => [], 'run.map of nothing');
gives(mapped_one => [{ok => true, value => 7}], 'of one item');
is($v{mapped_one}{steps}[0]{name}, 'only[1]', 'run.map: the step of a single item has a number');
cmp_ok($v{parallel}{result}, '<', 8 * 250, 'items wait side by side');

for (['no_call', 'CALL_NOT_ALLOWED', qr/tools do not list it/],
     ['no_elicit', 'ELICITATION_NOT_SUPPORTED', qr/asked/],
     ['no_sample', 'SAMPLING_NOT_SUPPORTED', qr/asked/]) {
	my ($name, $code, $why) = @$_;
	my ($ok, $e) = @{$v{$name}{result}};

	ok(!$ok && $e->{code} eq $code && $e->{message} =~ $why,
	   "$code is raised") or diag(json_of($v{$name}));
}
is($v{no_answer}{error}{details}{templateCode}, 'SAMPLING_NOT_SUPPORTED',
   'a question without an answer ends the run');
for (['bad_elicit', qr/run\.elicit: schema\.type must be/],
     ['bad_sample', qr/run\.sample: messages must be/],
     ['bad_call', qr/run\.call: the arguments must be/]) {
	like($v{$_->[0]}{error}{message}, $_->[1], "$_->[0]: says what passes");
}

{
	my $r = $v{json}{result};

	same_json($r->{there}, {a => [1, 2.5, undef, 'é', {}, []], b => true},
		  'run.json there and back');
	is($r->{text}, '[1,{"a":null},[],{}]', 'encoded, compact');
	ok($r->{bad} && $r->{is_null} && !defined $r->{null}, 'null is run.null');
	same_json([$r->{empty}, $r->{none}], [{}, []],
		  'an empty table is {} unless run.array');
	ok($r->{base64} eq 'AP9wYWRkb2Nr' && $r->{back} && !$r->{bad64},
	   'run.base64');
}
is(json_of($v{numbers}{result}[4]) . '', '9007199254740993',
   'integers are exact');
ok($v{numbers}{result}[1] == 1.5 && $v{numbers}{result}[5] == 1e300,
   'floats are exact');
for (['nan', qr/NaN|nan|not a number/i], ['infinite', qr/inf/i],
     ['a_function', qr/function/], ['mixed', qr/./],
     ['circle', qr/./], ['not_utf8', qr/UTF-8/]) {
	ok($v{$_->[0]}{status} eq 'failed' &&
	   $v{$_->[0]}{error}{errorCode} =~ /^(EXECUTION_ERROR|OUTPUT_INVALID)$/ &&
	   $v{$_->[0]}{error}{message} =~ $_->[1],
	   "what JSON cannot say is refused: $_->[0]")
	    || diag(json_of($v{$_->[0]}));
}
gives(unicode => {'ключ' => "中文\x{1F600}\0end"}, 'any text comes through');
gives(nothing => undef, 'no value is null');
ok(exists $v{nothing}{result}, 'a result of null is there');
gives(null => undef, 'run.null is null');
gives(a_false => false, 'false is a result');
gives(a_string => 'words', 'a string is a result');

gives(libraries => {still => [], collect => false, count => true,
		    binary => true, text => 7, mode => false},
      'no way out by the libraries');
unlike(json_of($v{addresses}{result} // ''), qr/0x[0-9a-f]{4}/,
       'tostring shows no addresses');
{
	my $log = $s->log_text;

	is(scalar(() = $log =~ /run=$v{logs}{runId} level=\w+ msg="at /g), 8,
	   "MCP's eight levels are logged");
	unlike($log, qr/^forged/m, 'a log message forges no line');
	gives(logs => false, 'there is no ninth');
}
is(scalar @{$v{files}{artifacts}}, 1, 'run.artifact');
fails(bad_file => 'EXECUTION_ERROR', {}, qr/name/, 'a name of two lines is none');

{
	my $r = $s->tool(reply => {});

	same_json($r->{content}, [{type => 'text', text => 'hello'}],
		  "run.reply's content is passed on");
	same_json($r->{structuredContent}, {a => 1}, 'run.reply\'s structuredContent is passed on');
	ok(succeeded($r), 'a reply that sets no isError is no error');
	$r = $s->tool(reply_bare => {});
	same_json(json_to($r->{content}[0]{text}), {a => []},
		  'without content, text stands for it');
	$r = $s->tool(reply_error => {});
	ok($r->{isError} && $r->{content}[0]{text} eq 'no',
	   'a reply that is an error is passed on');
	is($r->{_meta}{'paddock/status'}, 'failed', 'the run of a reply with isError has failed');
	is($v{reply_error}{status}, 'failed', 'a run with an error reply by run_task_template has failed');
	is($v{reply}{status}, 'succeeded', 'one that is none succeeds');
	$r = $s->call('tools/call', {name => 'reply_protocol', arguments => {}});
	same_json($r->{error}, {code => 17, message => 'no', data => {a => 1}},
		  "one of JSON-RPC is the call's own");
	fails(reply_protocol => 'EXECUTION_ERROR', {}, qr/the error 17 of JSON-RPC: no$/,
	      'a run that ended by one');
	fails(reply_wrong => 'EXECUTION_ERROR', {}, qr/content/,
	      'an unknown part of a reply');
}
gives(coroutines => [1, 2, 3], "coroutines of the template's own");
isnt(json_of($s->run_sync('random')->{result}), json_of($v{random}{result}),
     'random numbers are not the same in each run');
gives(isolated => 1, 'globals are of this run alone');
is($s->run_sync('isolated')->{result}, 1, 'globals of the run before are gone');

$s->stop;
done_testing;
