#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Results of MCP 2026-07-28 name the kind, the lifetime and the scope; a request gets log
# messages when asked for; schemas fetch no document.
use lib 'tests/lib';
use Paddock;
use Stateless;
use IO::Socket::INET;

my $level = 'io.modelcontextprotocol/logLevel';
my $server = 'io.modelcontextprotocol/serverInfo';
my $web = IO::Socket::INET->new(Listen => 5, LocalAddr => '127.0.0.1', Blocking => 0) or die "listen: $!\n";
my $far = 'http://127.0.0.1:' . $web->sockport . '/schema.json';
my %can = (elicitation => {form => {}});

my %templates = (
	echo => {code => 'return inputs',
		 resources => [{uri => 'test://a', name => 'a', mimeType => 'text/plain', text => 'A'},
			       {uriTemplate => 'test://b/{x}', name => 'b', mimeType => 'text/plain', text => '{x}'}],
		 prompts => [{name => 'p', description => 'P', arguments => [{name => 'x'}],
			      messages => [{role => 'user', content => {type => 'text', text => '{{x}}'}}]}]},
	fails => {code => 'error("no")'},
	replies => {code => 'return run.reply{content = {}}'},
	asks => {code => 'run.elicit{message = "?", schema = {type = "object", properties = {}}}'},
	logs => {code => 'for _, l in ipairs{"debug", "info", "notice", "warning", "error"} do run.log(l, l) end'},
	fetches => {inputsSchema => {type => 'object', properties => {x => {'$ref' => $far}}}},
	deep => {code => 'return {}', inputsSchema => {type => 'object', properties => {x => {'$ref' => '#/$defs/l'}},
		'$defs' => {l => {anyOf => [{type => 'string'}, {type => 'array', items => {'$ref' => '#/$defs/l'}}]}}}},
	map { ("more_$_" => {}) } 1 .. 60,
);
my $s = Paddock->new(templates => \%templates);

sub ask {
	my ($method, $params, $meta) = @_;

	return $s->call($method, stateless($params, \%can, $meta));
}

# ---- 4: what each result says ----

sub says {
	my ($method, $params, $kind) = @_;
	my $r = ask($method, $params)->{result};

	is($r->{resultType}, $kind // 'complete', "MCP26 4: $method says of what kind its result is") or diag(json_of($r));
	is($r->{_meta}{$server}{name}, 'paddock', "MCP26 4: $method says of which server the result is");
	return $r;
}

says('server/discover', {});
says('tools/call', {name => $_, arguments => {}}, $_ eq 'asks' ? 'input_required' : 'complete')
    for qw(echo fails replies asks list_task_templates get_runtime_profile);
says('tools/call', {name => 'get_task_run', arguments => {runId => 'x'}});
says('prompts/get', {name => 'p', arguments => {x => 'y'}});
says('completion/complete', {ref => {type => 'ref/prompt', name => 'p'}, argument => {name => 'x', value => ''}});

for (['server/discover', {}], ['tools/list', {}], ['prompts/list', {}], ['resources/list', {}],
     ['resources/templates/list', {}], ['resources/read', {uri => 'test://a'}],
     ['resources/read', {uri => 'test://b/1'}]) {
	my $r = says(@$_);

	like($r->{ttlMs} // '', qr/^\d+$/, '  MCP26 4: a list or resource says for how long the result holds');
	like($r->{cacheScope} // '', qr/^(?:public|private)$/, '  MCP26 4: a list or resource says for whom the result holds');
}
{
	my (%scopes, $cursor, $pages, %all);

	do {
		my $r = ask('tools/list', defined $cursor ? {cursor => $cursor} : {})->{result};

		$scopes{$r->{cacheScope}}++;
		$all{$_->{name}}++ for @{$r->{tools}};
		$cursor = $r->{nextCursor};
		$pages++;
	} while (defined $cursor);
	ok($pages > 1 && keys %scopes == 1, 'MCP26 4: all pages of a list are for the same');
	is($all{more_60}, 1, '  MCP26 4: all pages of a list have each tool once');
}

# ---- 9: logs for who wants them ----

# The log messages of a call, before the answer.
sub heard {
	my ($meta) = @_;

	$s->{notes} = [];
	my $r = ask('tools/call', {name => 'logs', arguments => {}}, $meta);

	ok(!$r->{error}, 'a template that logs') or diag(json_of($r));
	return join ' ', map { "$_->{method} $_->{params}{level}" =~ s{^notifications/message }{}r } @{$s->{notes}};
}

is(heard({}), '', 'MCP26 9: a request that asks for no logs hears of none');
is(heard({$level => 'warning'}), 'warning error', '  else of those of its level, and above');
is(heard({$level => 'debug'}), 'debug info notice warning error', '  each by its own');
is(heard({}), '', '  whatever others before it asked for');
for my $bad ('loud', 7, null, '') {
	my $r = ask('tools/call', {name => 'logs', arguments => {}}, {$level => $bad});

	is($r->{error}{code}, -32602, 'MCP26 9: ' . json_of($bad) . ' is no level');
	like($r->{error}{message} // '', qr/logLevel.*debug/, '  MCP26 9: the refusal of a level says which would pass');
}

# ---- 10: schemas ----

{
	my %tool = map { $_->{name} => 1 } @{ask('tools/list', {})->{result}{tools} // []};
	my $x = 'a';

	ok(!$tool{fetches}, 'MCP26 10: a schema that would have to be fetched makes no tool');
	ok(!defined $web->accept, '  MCP26 10: a schema at another host is not fetched');
	$x = [$x] for 1 .. 60;
	ok(succeeded(ask('tools/call', {name => 'deep', arguments => {x => $x}})->{result}),
	   'MCP26 10: what nests within bounds is checked');
	$x = [$x] for 1 .. 400;
	like($s->exchange(json_of({jsonrpc => '2.0', id => 1, method => 'tools/call',
		params => stateless({name => 'deep', arguments => {x => $x}}, \%can)}) . "\n"),
	     qr/"error":.*deep/, '  what nests beyond them is refused');
	delete $s->{kept};
	is(ask('tools/call', {name => 'deep', arguments => {x => 'y'}})->{result}{resultType}, 'complete',
	   '  a server goes on after a refused deep schema');
}
$s->stop;
done_testing();
