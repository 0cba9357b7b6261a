#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The rules of MCP 2025-11-25 that come before all others: messages, versions,
# lines, schemas, tools.
use lib 'tests/lib';
use Paddock;

my %templates = (
	echo => lua('return inputs', executionMode => 'sync',
		    inputsSchema => {type => 'object', properties => {
			    pair => {prefixItems => [{type => 'string'}, {type => 'integer'}]}}},
		    outputsSchema => {type => 'object', properties => {
			    n => {type => 'integer'}}}),
	asks => lua('local ok, e = pcall(run.elicit, {message = "Sure?",
			schema = {type = "object", properties = {}}})
		     return {asked = ok, code = not ok and e.code or ""}'),
	(map { ("dialect_$_" => lua('return 1', inputsSchema => {
		type => 'object', '$schema' => "http://json-schema.org/draft-$_/schema#"})) }
	 '04', '06'),
	older => lua('return 1', inputsSchema => {type => 'object',
		'$schema' => 'http://json-schema.org/draft-07/schema#',
		properties => {pair => {items => [{type => 'string'}, {type => 'integer'}]}}}),
	newest => lua('return 1', inputsSchema => {type => 'object',
		'$schema' => 'https://json-schema.org/draft/2020-12/schema'}),
);
my $s = Paddock->new(templates => \%templates);
my $hello = $s->init('2025-11-25', {elicitation => {}});

# ---- 1: JSON-RPC ----

for my $id (0, -7, 9007199254740993, '', 'x', "\x{e9}\n\"", '7') {
	my $r = $s->answer($s->request('ping', undef, $id));

	same_json([$r->{jsonrpc}, $r->{id}, $r->{result}], ['2.0', $id, {}],
		  'MCP 1: the id comes back as it was: ' . json_of($id));
}
for (['{', -32700, 'no JSON'], ["{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", -32700, 'no UTF-8'],
     ['{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, 'an id that is null'],
     ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, 'an id that is no integer'],
     ['{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600, 'an id that is an object'],
     ['{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600, 'another version of JSON-RPC'],
     ['{"jsonrpc":"2.0","id":1,"method":"ping","params":7}', -32602, 'params that are no object']) {
	my ($text, $code, $what) = @$_;
	my $n = @{$s->{other}};

	delete $s->{answers}{1};
	$s->send_raw("$text\n");
	my $r = $s->wait_for("an answer to $what", sub { $s->{other}[$n] // $s->{answers}{1} });

	ok($r->{error} && $r->{error}{code} =~ /^-32[67]\d\d$/ && !exists $r->{result},
	   "MCP 1: $what is answered by an error") or diag(json_of($r));
	is($r->{error}{code}, $code, "MCP 1: and its code is $code");
}

# ---- 7: dialects ----

$s->call('tools/list');
like($s->log_text, qr/dialect_$_\S*.*(?:dialect|\$schema)/i, "MCP 7: draft $_ is refused: its template is not served")
    for '04', '06';
my %tool = map { $_->{name} => $_ } @{$s->call('tools/list')->{result}{tools}};
ok(!$tool{dialect_04} && !$tool{dialect_06} && $tool{newest}, 'MCP 7: 2020-12 by its name is taken');
refused($s->tool(echo => {pair => ['x', 'y']}), 'INVALID_PARAMETER',
	'MCP 7: and it is what a schema without $schema means');
ok(succeeded($s->tool(echo => {pair => ['x', 7]})), 'MCP 7: both ways');
refused($s->tool(older => {pair => ['x', 'y']}), 'INVALID_PARAMETER',
	'MCP 7: one that names draft-07 is judged by that');

# ---- 39, 40: tools ----

same_json($hello->{capabilities}{tools}, {listChanged => true}, 'MCP 39: tools are declared');
ok(!(grep { $_->{name} !~ /^[A-Za-z0-9_.-]{1,128}$/ } values %tool), 'MCP 39: their names are such as hosts take');
ok(!(grep { $_->{inputSchema}{type} ne 'object' } values %tool), 'MCP 39: and what they take is an object');
is($s->call('tools/call', {name => 'no_such_tool', arguments => {}})->{error}{code}, -32602,
   'MCP 40: an unknown tool is a protocol error');
is($s->call('tools/call', $_)->{error}{code}, -32602, 'MCP 40: and so are params like ' . json_of($_))
    for {}, {name => 7}, {name => 'echo', arguments => []}, {name => 'echo', arguments => 'x'};
refused($s->tool(echo => {pair => [1]}), 'INVALID_PARAMETER', 'MCP 40: inputs that the schema refuses are the tool\'s error');
my $r = $s->tool(echo => {n => 7});
same_json($r->{structuredContent}, {n => 7}, 'MCP 40: what outputSchema promises comes as structuredContent');
same_json(json_to($r->{content}[0]{text}), {n => 7}, 'MCP 40: and as text');
refused($s->tool(echo => {n => 'seven'}), 'OUTPUT_INVALID', 'MCP 40: what breaks the promise is not passed on');

# ---- 6: stdio ----

$s->tool(echo => {text => "line\nline\r\n\x{2028}"});
is(scalar(grep { exists $_->{bad} } @{$s->{other}}), 0, 'MCP 6: each line of stdout is one message, whatever is in it');
$s->stop('MCP 6: at the end of its input it exits, status 0');

# ---- 2, 3, 4: the start ----

for (['2024-11-05'], ['2025-03-26'], ['2025-06-18'], ['2025-11-25'],
     ['2031-01-01', '2025-11-25'], ['x', '2025-11-25']) {
	my ($asked, $given) = @$_;
	my $p = Paddock->new(templates => {});
	my $v = $p->call(initialize => {protocolVersion => $asked, capabilities => {},
					clientInfo => {name => 't', version => '1'}});

	is($v->{result}{protocolVersion}, $given // $asked,
	   "MCP 2: who asks for $asked gets " . ($given // 'it'));
	ok(ref $v->{result}{capabilities} eq 'HASH' && length $v->{result}{serverInfo}{name},
	   'MCP 2: with capabilities and serverInfo');
	same_json($p->call('ping')->{result}, {}, 'MCP 4: ping is answered before initialized');
	$p->stop;
}
{
	my $p = Paddock->new(templates => \%templates);

	$p->call(initialize => {protocolVersion => '2025-11-25', capabilities => {elicitation => {}},
				clientInfo => {name => 't', version => '1'}});
	same_json($p->tool(asks => {})->{view}, {asked => false, code => 'ELICITATION_NOT_SUPPORTED'},
		  'MCP 3: before notifications/initialized a client is asked nothing');
	is(scalar(grep { exists $_->{id} } @{$p->{notes}}), 0, 'MCP 3: indeed');
	$p->notify('notifications/initialized');
	my $id = $p->ask(asks => {});
	my $q = $p->wait_for('a question', sub { (grep { exists $_->{id} } @{$p->{notes}})[0] });

	is($q->{method}, 'elicitation/create', 'MCP 3: after it, it is');
	$p->send_msg({jsonrpc => '2.0', id => $q->{id}, result => {action => 'decline'}});
	ok(succeeded($p->answer($id)->{result}), 'MCP 3: the answer to a question gives the result');
	$p->stop;
}
done_testing;
