#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The start of a session: revisions, tools/list, batches, unknown names.
use lib 'tests/lib';
use Paddock;

my @contract = qw(list_task_templates run_task_template get_task_run
		  list_task_runs cancel_task_run get_artifact
		  get_runtime_profile
		  retry_task_run search_task_templates);
my %few = (
    zebra => lua('return {}', name => 'The zebra',
		 annotations => {readOnlyHint => true, title => 'Z'},
		 executionMode => 'sync', outputsSchema => {type => 'object'}),
    aardvark => lua('return {}', executionMode => 'async',
		    outputsSchema => {type => 'object'}),
    list_of => lua('return run.array{}', executionMode => 'sync',
		   outputsSchema => {type => 'array'}),
    distant => lua('return {}', trustLevelSupport => ['remote']),
);

# lists are the same whether there is a browser or not
my $no_browser = "[browser]\nenabled = no\n";

sub server { return Paddock->new(templates => \%few, config => $no_browser, @_) }

sub error_is {
	my ($a, $code, $text, $name) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return ok(!exists $a->{result} && ($a->{error}{code} // 0) == $code &&
		  $a->{error}{message} =~ $text, $name) || diag($a->{raw});
}

# ---- negotiation ----

my @knows = ( # revision asked, given, has annotations, has title and output
    ['2024-11-05', '2024-11-05', 0, 0],
    ['2025-03-26', '2025-03-26', 1, 0],
    ['2025-06-18', '2025-06-18', 1, 1],
    ['2025-11-25', '2025-11-25', 1, 1],
    ['1999-01-01', '2025-11-25', 1, 1],
    ['', '2025-11-25', 1, 1],
    ['latest', '2025-11-25', 1, 1],
);

for (@knows) {
	my ($asked, $given, $annotations, $modern) = @$_;
	my $s = server();
	my $hello = $s->init($asked);
	my $list = $s->call('tools/list')->{result};
	my %tool = map { $_->{name} => $_ } @{$list->{tools}};

	is($hello->{protocolVersion}, $given, "asked for '$asked': $given");
	same_json([sort keys %$hello],
		  [qw(capabilities instructions protocolVersion serverInfo)],
		  "$given: the parts of an initialize result");
	ok(ref $hello->{capabilities}{tools} eq 'HASH',
	   "$given: tools are declared");
	like($hello->{instructions}, qr/get_task_run/,
	     "$given: instructions tell how to go about it");
	is($hello->{serverInfo}{name}, 'paddock', "$given: serverInfo.name");
	like($hello->{serverInfo}{version}, qr/^\d+\.\d+/,
	     "$given: serverInfo.version");
	is(exists $hello->{serverInfo}{title} ? 1 : 0, $modern,
	   "$given: serverInfo.title where the revision has it");

	same_json([map { $_->{name} } @{$list->{tools}}],
		  [@contract, qw(aardvark list_of zebra)],
		  "$given: the contract's tools, then templates by name; " .
		  'none of another trust level');
	ok(!(grep { !length $_->{description} ||
		    ($_->{inputSchema}{type} // '') ne 'object' }
	     @{$list->{tools}}),
	   "$given: each has a description and an object for input");
	is(scalar(grep { exists $_->{annotations} } @{$list->{tools}}),
	   $annotations ? 10 : 0, "$given: annotations as the revision has them");
	is(scalar(grep { exists $_->{title} } @{$list->{tools}}),
	   $modern ? 12 : 0, "$given: titles as the revision has them");
	is(scalar(grep { exists $_->{outputSchema} } @{$list->{tools}}),
	   $modern ? 11 : 0, "$given: outputSchema as the revision has it");
	if ($modern) {
		is($tool{zebra}{title}, 'The zebra', "$given: a title is the " .
		   "template's name");
		ok($tool{zebra}{outputSchema} && $tool{aardvark}{outputSchema} &&
		   !$tool{list_of}{outputSchema}, "$given: of the templates, " .
		   'those with an object for output declare it');
	}
	ok(!exists $list->{nextCursor}, "$given: one page has no nextCursor");

	my $r = $s->tool('get_runtime_profile');
	is(exists $r->{structuredContent} ? 1 : 0, $modern,
	   "$given: structuredContent as the revision has it");
	$s->stop("$given: ends cleanly");
}

# ---- before and after ----

{
	my $s = server();

	same_json($s->call('ping')->{result}, {}, 'ping works before initialize');
	error_is($s->call('tools/list'), -32602, qr/initialize.*params\._meta/,
		 'tools/list does not, and says why');
	error_is($s->call('tools/call', {name => 'zebra'}), -32602,
		 qr/initialize/, 'tools/call before initialize is refused');
	error_is($s->call('initialize', {}), -32602, qr/protocolVersion/,
		 'initialize needs a protocolVersion');
	error_is($s->call('initialize', {protocolVersion => 7}), -32602,
		 qr/protocolVersion/, 'a protocolVersion that is a number is refused');
	error_is($s->call('initialize'), -32602, qr/protocolVersion/,
		 'initialize without params is refused');
	is($s->call('initialize', {protocolVersion => '2025-06-18'})
	   ->{result}{protocolVersion}, '2025-06-18',
	   'after all of that it can still be initialized, by the least there is');
	error_is($s->call('initialize', {protocolVersion => '2025-11-25'}),
		 -32600, qr/already/, 'a second initialize is refused');
	ok(exists $s->call('tools/list')->{result},
	   'requests need not wait for notifications/initialized');
	same_json($s->call('ping', {})->{result}, {}, 'ping still works');
	$s->notify('notifications/initialized');
	$s->notify('notifications/nobody_knows', {a => 1});
	$s->notify('notifications/cancelled', {requestId => 999});
	$s->notify('notifications/cancelled', {requestId => {}});
	$s->notify('notifications/cancelled');
	$s->notify('tools/list');
	same_json($s->call('ping')->{result}, {},
		  'notifications are never answered, not even odd ones');
	is($s->{lines}, 11, 'nothing else was said');
	$s->stop;
}

# ---- many tools ----

{
	my %many = map { (sprintf('t%03d', $_) => lua('return {}')) } 1 .. 94;
	my $s = Paddock->new(templates => \%many, config => $no_browser)->greeted;
	my (@names, @sizes, $cursor);

	do {
		my $r = $s->call('tools/list', defined $cursor
				 ? {cursor => $cursor} : {})->{result};

		push @sizes, scalar @{$r->{tools}};
		push @names, map { $_->{name} } @{$r->{tools}};
		$cursor = $r->{nextCursor};
	} while (defined $cursor && @sizes < 10);
	same_json(\@sizes, [50, 50, 3], '103 tools come in pages of 50');
	same_json(\@names, [@contract, sort keys %many],
		  'each is on one page, in order');
	for (['a number', 7], ['null', null], ['empty', ''], ['not base64', '%%'],
	     ['base64 of nothing', '===='], ['with a NUL', 'AAAA'],
	     ['very long', 'QUFB' x 1000], ['an object', {}]) {
		my $a = $s->call('tools/list', {cursor => $_->[1]});

		# some clients send null for a missing cursor
		if ($_->[0] eq 'null') {
			ok(exists $a->{result} || $a->{error}{code} == -32602,
			   'a null cursor is none, or refused');
			next;
		}
		error_is($a, -32602, qr/cursor/, "a cursor is refused: $_->[0]");
	}
	my $gone = $s->call('tools/list', {cursor => 'dDA1MHggMA=='}); # "t050x 0"
	is($gone->{result}{tools}[0]{name}, 't051',
	   'a cursor whose tool is gone goes on after where it was');
	$s->stop;
}
{
	my $some = Paddock->new(templates => {one => lua('return 1'), two => lua('return 2')}, config => "[server]\npublish_templates = two three\n$no_browser")->greeted;
	my %is = map { $_->{name} => 1 } @{$some->call('tools/list')->{result}{tools}};
	is_deeply([map { $is{$_} // 0 } qw(one two run_task_template)], [0, 1, 1], 'publish_templates may be a list');
	is($some->run_sync('one')->{result}, 1, 'publish_templates as a list: run_task_template runs all');
	$some->stop;
	my $s = server(config => "[server]\npublish_templates = no\n$no_browser")->greeted;

	same_json([map { $_->{name} } @{$s->call('tools/list')->{result}{tools}}],
		  \@contract, 'publish_templates = no: the contract alone');
	error_is($s->call('tools/call', {name => 'zebra', arguments => {}}),
		 -32602, qr/Unknown tool .*publish_templates.*run_task_template/,
		 'publish_templates = no: the refusal says how to run a template');
	is($s->run_sync('zebra')->{status}, 'succeeded',
	   'publish_templates = no: run_task_template runs a template');
	$s->stop;
}

# ---- names that nobody knows ----

{
	my $s = server()->greeted;

	error_is($s->call('tools/lits'), -32601, qr/tools\/lits/,
		 'an unknown method is named');
	error_is($s->call('sampling/createMessage'), -32601, qr/sampling/,
		 "a method that is a client's");
	error_is($s->call('x' x 5000), -32601, qr/^.{1,300}$/,
		 'a long name does not come back whole');
	error_is($s->call('tools/call', {name => 'run_task_templat',
					 arguments => {}}),
		 -32602, qr/mean "run_task_template"/,
		 'an unknown tool: the nearest of the contract is named');
	error_is($s->call('tools/call', {name => 'zebar', arguments => {}}),
		 -32602, qr/mean "zebra"/, 'an unknown tool: the nearest template is named');
	error_is($s->call('tools/call', {name => 'quite_another',
					 arguments => {}}),
		 -32602, qr/tools\/list/, 'an unknown tool without a neighbour: tools/list is named');
	error_is($s->call('tools/call', {name => 'distant', arguments => {}}),
		 -32602, qr/Unknown tool "distant".*for the trust level remote, and yours is local.*operator/,
		 'a template of another trust level is no tool, and why');
	my @bad;
	for my $n (0 .. 3) { # cut at each byte of a character
		my $long = 'x' x $n . "\x{4e2d}" x 99;

		for (['x/y' => {}], ['tools/call' => {name => $long}], ['prompts/get' => {name => $long}],
		     map { ['tools/call' => $_] } {name => 'get_task_run', arguments => {runId => $long}},
		     {name => 'get_artifact', arguments => {artifactId => $long}},
		     {name => 'run_task_template', arguments => {templateId => $long, inputs => {}}},
		     {name => 'run_task_template', arguments => {templateId => 'zebra', inputs => {},
								  templateVersion => $long}}) {
			my ($method, $params) = @$_;
			my $a = $s->call($method eq 'x/y' ? $long : $method, $params);
			my $said = $a->{error}{message} // $a->{result}{content}[0]{text};

			push @bad, "$method, cut at $n" unless ($said // '') =~ /"x*\x{4e2d}+\\?"/;
		}
	}
	same_json(\@bad, [], 'a name that is shown in part is whole characters, and the rest of the message there');
	for (['no params', undef], ['no name', {}], ['a name of 7', {name => 7}],
	     ['a null name', {name => null}], ['a NUL', {name => "zebra\0"}],
	     ['arguments in a list', {name => 'zebra', arguments => []}],
	     ['arguments as text', {name => 'zebra', arguments => '{}'}]) {
		error_is($s->call('tools/call', $_->[1]), -32602,
			 qr/params\.name/, "tools/call is refused: $_->[0]");
	}
	ok(exists $s->call('tools/call', {name => 'zebra'})->{result},
	   'arguments may be left out');
	$s->stop;
}

# ---- batches ----

sub batch_of {
	my ($s, $messages, $what) = @_;

	$s->send_raw((ref $messages ? json_of($messages) : $messages) . "\n");
	$s->wait_for($what, sub { @{$s->{other}} });
	return shift @{$s->{other}};
}

sub req {
	my ($id, $method, $params) = @_;

	return {jsonrpc => '2.0', defined $id ? (id => $id) : (),
		method => $method, $params ? (params => $params) : ()};
}

for my $revision ('2024-11-05', '2025-06-18', '2025-11-25') {
	my $s = server()->greeted($revision);

	is(batch_of($s, [req(1, 'ping')], 'a refusal')->{error}{code}, -32600,
	   "$revision has no batches");
	$s->stop;
}
{
	my $s = server();

	is(batch_of($s, [req(1, 'initialize',
			     {protocolVersion => '2025-03-26'})],
		    'a refusal')->{error}{code}, -32600,
	   'a batch with initialize is refused');
	$s->init('2025-03-26');
	my $b = batch_of($s, [req(1, 'ping'), req(undef, 'notifications/x'),
			      req('two', 'tools/call',
				  {name => 'zebra', arguments => {}}),
			      req(3, 'no/method'), 17,
			      [req(4, 'ping')], {jsonrpc => '2.0'}], 'answers');
	my %by = map { (json_of($_->{id}) => $_) } @{$b->{batch}};
	is(scalar @{$b->{batch}}, 6,
	   '2025-03-26: all but the notification are answered, in one line');
	ok($by{1}{result} && $by{'"two"'}{result} &&
	   $by{3}{error}{code} == -32601, 'each by its own id');
	is(scalar(grep { !defined $_->{id} && $_->{error}{code} == -32600 }
		  @{$b->{batch}}), 3, 'what is no message is refused, by itself');
	is(batch_of($s, '[]', 'a refusal')->{error}{code}, -32600,
	   'an empty batch is refused');
	$s->send_raw(json_of([req(undef, 'notifications/x')]) . "\n");
	$s->send_raw(json_of([map { req("c$_", 'ping') } 1 .. 100]) . "\n");
	$s->wait_for('answers', sub { @{$s->{other}} });
	is(scalar @{$s->{other}[0]{batch}}, 100,
	   'a batch of notifications is not answered; one of 100 requests is');
	same_json($s->call('ping')->{result}, {}, 'the server goes on after the batches');
	$s->stop;
}

done_testing;
