#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# MCP 2026-07-28 over lines: each request brings its terms, beside those of a
# session: what it has to say, what is answered to it, and what is gone.
use lib 'tests/lib';
use Paddock;
use Stateless;

my $AT = 'io.modelcontextprotocol';
my $s = Paddock->new(dirs => ['tests/peers/conformance/templates'], templates => {
    loud => lua("for _, l in ipairs{'debug', 'info', 'error'} do run.log(l, l) end return 1"),
    slow => lua("run.progress(1, 2, 'one') run.sleep(60000)"),
    list => lua("return {1, 2}"),
    deep => lua("return 1", inputsSchema => {type => 'object', properties => {
	a => {'$ref' => 'https://example.com/schema.json'}}}),
});

sub ask { my ($method, $params, $can, $meta) = @_;
	  return $s->call($method, stateless($params, $can, $meta)) }

sub error_is {
	my ($a, $code, $name) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is($a->{error}{code}, $code, $name) or diag(json_of($a));
}

# ---- what a request says of itself ----

for my $case (['no capabilities', {"$AT/protocolVersion" => '2026-07-28'}],
    ['capabilities that are a list', {"$AT/protocolVersion" => '2026-07-28', "$AT/clientCapabilities" => []}],
    ['a version that is a number', {"$AT/protocolVersion" => 2026, "$AT/clientCapabilities" => {}}],
    ['a client without a name', {"$AT/protocolVersion" => '2026-07-28', "$AT/clientCapabilities" => {},
	"$AT/clientInfo" => {version => '1'}}]) {
	error_is($s->call('tools/list', {_meta => $case->[1]}), -32602, "MCP26 1: $case->[0]: refused");
}
ok($s->call('tools/list', {_meta => {"$AT/protocolVersion" => '2026-07-28', "$AT/clientCapabilities" => {}}})->{result},
    'MCP26 1: a client need not say who it is');
error_is($s->call('tools/list'), -32602, 'MCP26 1: who says nothing of itself has to begin a session');

# ---- nothing is kept between requests ----

{
	my $tool = 'test_input_required_result_elicitation';

	is(ask('tools/call', {name => $tool}, {elicitation => {}})->{result}{resultType}, 'input_required',
	    'MCP26 2: what a request declares holds for it');
	ok(ask('tools/call', {name => $tool})->{result}{isError} //
	    ask('tools/call', {name => $tool})->{error}, 'MCP26 2: ... and for no other');
	my @lists = map { json_of([map { $_->{name} } @{ask('tools/list')->{result}{tools}}]) } 1 .. 2;
	is($lists[0], $lists[1], 'MCP26 2: lists have an order');
	is(scalar(grep { defined $_->{id} } @{$s->{notes}}), 0, 'MCP26 2: the server asks nothing by itself');
}

# ---- discovery ----

{
	my $d = ask('server/discover')->{result};

	is($d->{supportedVersions}[0], '2026-07-28', 'MCP26 3: discovery names the revisions, the newest first');
	is_deeply($d->{capabilities}{extensions}, {$TASKS => {}}, 'MCP26 3, 13: and the extension, with nothing in it');
	ok(!exists $d->{capabilities}{tasks}, 'MCP26 13: the core has no tasks in this revision');
	like($d->{_meta}{"$AT/serverInfo"}{name}, qr/^paddock$/, 'MCP26 3: and who the server is');
	like($d->{ttlMs}, qr/^\d+$/, 'MCP26 4: it says how long that may be kept');
	is($d->{cacheScope}, 'public', 'MCP26 4: ... and that it is the same for all');
}

# ---- results ----

for my $case (['tools/list', {}, 'private'], ['prompts/list', {}, 'private'], ['resources/list', {}, 'private'],
    ['resources/templates/list', {}, 'private'], ['resources/read', {uri => 'test://static-text'}, 'private'],
    ['prompts/get', {name => 'test_simple_prompt'}], ['tools/call', {name => 'test_simple_text'}],
    ['completion/complete', {ref => {type => 'ref/prompt', name => 'test_prompt_with_arguments'},
	argument => {name => 'arg1', value => ''}}]) {
	my ($method, $params, $scope) = @$case;
	my $r = ask($method, $params)->{result} // {};

	is($r->{resultType}, 'complete', "MCP26 4: $method says that it is complete");
	is($r->{_meta}{"$AT/serverInfo"}{name}, 'paddock', "MCP26 3: $method says who has answered");
	is($r->{cacheScope}, $scope, "MCP26 4: $method: who may keep it");
	is(defined $r->{ttlMs} ? 1 : 0, $scope ? 1 : 0, "MCP26 4: $method: for how long");
}
ok(!exists $_->{execution}, "MCP26 13: $_->{name} says nothing of how it is run as a task")
    for grep { $_->{name} eq 'loud' } @{ask('tools/list')->{result}{tools}};

# ---- errors ----

error_is(ask($_), -32601, "MCP26 5: $_ is gone") for qw(initialize ping logging/setLevel
    resources/subscribe resources/unsubscribe tasks/list tasks/result unknown/method);
{
	my $a = $s->call('tools/list', {_meta => {"$AT/protocolVersion" => '1999-01-01', "$AT/clientCapabilities" => {}}});

	error_is($a, -32022, 'MCP26 5: a revision that is not served');
	is_deeply([$a->{error}{data}{requested}, grep { $_ eq '2026-07-28' } @{$a->{error}{data}{supported}}],
	    ['1999-01-01', '2026-07-28'], 'MCP26 5: ... with those that are');
	$a = ask('resources/read', {uri => 'test://no'});
	error_is($a, -32602, 'MCP26 5: a resource that is not there');
	is($a->{error}{data}{uri}, 'test://no', 'MCP26 5: ... by its URI');
}

# ---- what is logged ----

{
	my $heard = sub {
		my (undef, $meta) = @_;
		my $before = @{$s->{notes}};
		ask('tools/call', {name => 'loud'}, {}, $meta);
		return join ' ', map { $_->{params}{level} } grep { ($_->{method} // '') eq 'notifications/message' }
		    splice @{$s->{notes}}, $before;
	};

	is($heard->(0, {}), '', 'MCP26 9: who names no level hears nothing');
	is($heard->(0, {"$AT/logLevel" => 'info'}), 'info error', 'MCP26 9: who names one hears what is as grave');
	is($heard->(0, {}), '', 'MCP26 9: ... with that request alone');
	error_is(ask('tools/call', {name => 'loud'}, {}, {"$AT/logLevel" => 'loudest'}), -32602,
	    'MCP26 9: a level that is none');
}

# ---- values ----

is_deeply(ask('tools/call', {name => 'list'})->{result}{content}[0]{text}, '[1,2]',
    'MCP26 10: a value need not be an object');
is(scalar(grep { $_->{name} eq 'deep' } @{ask('tools/list')->{result}{tools}}), 0,
    'MCP26 10: a schema that would have to be fetched is none');

# ---- the end of a call ----

{
	my $id = $s->request('tools/call', stateless({name => 'slow'}, {}, {progressToken => 7}));
	my $told = $s->told('notifications/progress');

	is($told->{params}{progressToken}, 7, 'progress comes with the request that asked for it');
	my $refused = $s->answer($s->request('tools/call', stateless({name => 'slow'}, {}, {progressToken => 'x' x 1025})));
	is($refused->{error}{code}, -32602, 'a token that each notification would have is no longer than 1024 bytes');
	like($refused->{error}{message}, qr/progressToken has more than 1024 bytes/, 'the refusal of a long progressToken says how long one may be');
	my ($run) = map { $_->{runId} } @{ask('tools/call', {name => 'list_task_runs',
	    arguments => {status => 'running'}})->{result}{structuredContent}{runs}};
	$s->notify('notifications/cancelled', {requestId => $id, reason => 'enough'});
	my $view;
	until_true('the run to end', sub {
		$view = ask('tools/call', {name => 'get_task_run', arguments => {runId => $run}})
		    ->{result}{structuredContent};
		return $view->{status} eq 'canceled';
	});
	is($view->{status}, 'canceled', 'MCP26 8: notifications/cancelled ends the run');
	ok(!exists $s->{answers}{$id}, 'MCP26 8: ... and nothing more is said');
}

# ---- beside a session ----

{
	my $a = $s->call(initialize => {protocolVersion => '2026-07-28', capabilities => {},
	    clientInfo => {name => 'old', version => '1'}});

	is($a->{result}{protocolVersion}, '2025-11-25', 'initialize agrees on the newest revision that has it');
	$s->notify('notifications/initialized');
	is_deeply($s->call('ping')->{result}, {}, 'a session goes on as ever');
	ok(!exists $s->call('tools/list')->{result}{resultType}, 'a session\'s results have no resultType');
	is(ask('tools/list')->{result}{resultType}, 'complete', 'requests by the new era have a resultType beside a session');
	is(json_to($s->exchange(json_of([{jsonrpc => '2.0', id => 'b', method => 'tools/list',
	    params => stateless()}]) . "\n"))->{error}{code}, -32600, 'no array has such a request in it');
}
$s->stop;
done_testing();
