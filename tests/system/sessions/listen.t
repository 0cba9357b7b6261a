#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# listen.t - subscriptions/listen of MCP 2026-07-28: a client gets exactly the wanted
# notifications, until client or server end the listen.
use lib 'tests/lib';
use Paddock;

my $META = 'io.modelcontextprotocol';

my %templates = (
	held  => lua('run.progress(0, 9, "held") while not run.cancelled() do run.sleep(20) run.log("info", "x") end return {}'),
	notes => lua('', resources => [ { uri => 'notes:a', name => 'a', text => 'old' },
					{ uriTemplate => 'notes:a/{b}', name => 'b', text => '{b}' } ]),
);

sub modern {
	my ($params, %caps) = @_;

	return { %$params, _meta => { "$META/protocolVersion" => '2026-07-28',
				      "$META/clientCapabilities" => { %caps } } };
}

# Send a request which listens to FILTER; returns the id.
sub listen_to {
	my ($p, $filter, $id, %caps) = @_;

	return $p->request('subscriptions/listen', modern({ notifications => $filter }, %caps), $id);
}

sub id_of { return $_[0]{params}{_meta}{"$META/subscriptionId"} }

# Take the messages for request ID so far.
sub of {
	my ($p, $id) = @_;
	my $is = sub { json_of(id_of($_[0])) eq json_of($id) };
	my @mine = grep { $is->($_) } @{ $p->{notes} };

	$p->{notes} = [ grep { !$is->($_) } @{ $p->{notes} } ];
	return @mine;
}

# The first message for a request: the honoured filter.
sub acknowledged {
	my ($p, $id) = @_;
	my @got;

	$p->wait_for("an acknowledgement of $id", sub { push @got, of($p, $id); @got });
	is($got[0]{method}, 'notifications/subscriptions/acknowledged',
	   'MCP26 7: what comes first is an acknowledgement');
	unshift @{ $p->{notes} }, @got[1 .. $#got];
	return $got[0]{params}{notifications};
}

sub listening {
	my ($p, @a) = @_;
	my $id = listen_to($p, @a);

	acknowledged($p, $id);
	return $id;
}

sub cancel { my ($p, $id) = @_; return $p->notify('notifications/cancelled', { requestId => $id }) }

# The methods of the messages for ID, once there are N.
sub methods_of {
	my ($p, $id, $n) = @_;
	my @got;

	$p->wait_for("$n messages to $id", sub { push @got, of($p, $id); @got >= $n });
	return [ sort map { $_->{method} =~ s{^notifications/}{}r } @got ];
}

my $versions = 0;
sub reload { # the templates are others
	my ($p) = @_;

	$versions++;
	$p->write_templates({ %templates, "new$versions" => lua('return {}'),
			      notes => lua('', resources => [ { uri => 'notes:a', name => 'a', text => "is $versions" } ]) });
	kill HUP => $p->{pid};
	return $p->log_has(qr/(?:reload=done.*?){$versions}/s);
}

my $p = Paddock->new(templates => \%templates);

# ---- what is asked for ----

for (['params.notifications', undef], [ 'params.notifications', [] ],
     [ 'toolsListChanged', { toolsListChanged => 'yes' } ],
     [ 'promptsListChanged', { promptsListChanged => 1 } ],
     [ 'resourceSubscriptions', { resourceSubscriptions => 'notes:a' } ],
     [ 'resourceSubscriptions', { resourceSubscriptions => [7] } ],
     [ 'resourceSubscriptions', { resourceSubscriptions => ["notes:a\0"] } ],
     [ 'at most 65536', { resourceSubscriptions => [ 'notes:a/' . 'x' x 70000 ] } ],
     [ 'at most 64', { resourceSubscriptions => [ map { "notes:a/$_" } 1 .. 65 ] } ]) {
	my ($name, $filter, $tasks) = @$_;
	my %caps = $tasks ? (extensions => { "$META/tasks" => {} }) : ();
	my $e = $p->answer(listen_to($p, $filter, undef, %caps))->{error};

	is($e->{code}, -32602, 'MCP26 7: what cannot be meant is refused: ' . json_of($filter) =~ s/(.{60}).*/$1/r);
	like($e->{message}, qr/\Q$name/, 'MCP26 7: the refusal names the bad filter');
}
is($p->call('subscriptions/listen', { notifications => {} })->{error}{code}, -32601,
   'MCP26 7: revisions before have no such method');

my $all = listen_to($p, { toolsListChanged => true, promptsListChanged => true, resourcesListChanged => false,
			  nobodyKnowsThis => true,
			  resourceSubscriptions => [ 'notes:a', 'notes:no/', 'notes:a', 'paddock://runs/run_' . 'a' x 26,
						     'paddock://isolation', 'notes:a/b' ] }, 'listen:0');
same_json(acknowledged($p, $all), { toolsListChanged => true, promptsListChanged => true,
				    resourceSubscriptions => [ 'notes:a', 'paddock://isolation', 'notes:a/b' ] },
	  'MCP26 7: with what is honoured, and nothing that is unknown');

for my $id (7, '7', -1, "\x{e9}\"", '') {
	same_json(acknowledged($p, listen_to($p, { toolsListChanged => true }, $id)), { toolsListChanged => true },
		  'MCP26 7: each is told by the id of its request as it came: ' . json_of($id));
}
cancel($p, $_) for 7, '7', -1, "\x{e9}\"", '';

# ---- lists ----

my $none = listening($p, {}, 'none');
my $tools = listening($p, { toolsListChanged => true }, 'tools');
my $lists = listening($p, { resourcesListChanged => true, promptsListChanged => true }, 'lists');

reload($p);
same_json(methods_of($p, $all, 4), [ 'prompts/list_changed', ('resources/updated') x 2, 'tools/list_changed' ],
	  'MCP26 7: after a reload each is told what it asked for');
same_json(methods_of($p, $tools, 1), ['tools/list_changed'], 'MCP26 7: and nothing else');
same_json(methods_of($p, $lists, 2), [ 'prompts/list_changed', 'resources/list_changed' ],
	  'MCP26 7: whatever that is');
cancel($p, $tools);
$p->call('server/discover', modern({}));
reload($p);
methods_of($p, $all, 3);
methods_of($p, $lists, 2);
$p->call('server/discover', modern({}));
same_json([ @{ $p->{notes} } ], [], 'MCP26 7: who called it off, who asked for nothing and who never asked are told nothing');
ok(!$p->{answers}{'"tools"'}, 'MCP26 7: nor answered');
same_json(acknowledged($p, listen_to($p, { toolsListChanged => true }, 'tools')), { toolsListChanged => true },
	  'MCP26 7: the id of a subscription called off is free');
cancel($p, $_) for qw(none tools lists), $all;

# ---- resources ----

my $terms = modern({})->{_meta};
my $held = $p->run_async('held', {}, meta => $terms);
my $run = listening($p, { resourceSubscriptions => [ "paddock://runs/$held" ] }, 'run');
my $log = listening($p, { resourceSubscriptions => [ "paddock://runs/$held/log" ] }, 'log');
my @got;

$p->wait_for('its log to grow', sub { push @got, of($p, $log); @got >= 2 });
same_json([ $got[0]{method}, $got[0]{params} ],
	  [ 'notifications/resources/updated', { uri => "paddock://runs/$held/log", _meta => { "$META/subscriptionId" => 'log' } } ],
	  'MCP26 7: a resource that changes is told of by its URI');
cancel($p, $log);
of($p, $run);
$p->tool(cancel_task_run => { runId => $held }, $terms);
same_json([ (methods_of($p, $run, 1))->[0] ], ['resources/updated'], 'MCP26 7: and so is the end of a run');
cancel($p, $run);

# ---- how many ----

listening($p, {}, "many$_") for 1 .. 32;
my $e = $p->answer(listen_to($p, {}, 'one more'))->{error};
is($e->{code}, 429, 'MCP26 7: so many may listen at the same time, and no more');
same_json([ @{ $e->{data} }{qw(errorCode limit used allowed)} ], [ 'QUOTA_EXCEEDED', 'max_listen_streams', 32, 32 ],
	  'MCP26 7: the refusal has the limit of streams');
like($e->{data}{whoCanRaise}, qr/max_listen_streams in \[limits\]/, 'MCP26 7: the refusal says who can raise the limit of streams');
cancel($p, 'many1');
same_json(acknowledged($p, listen_to($p, {}, 'one more')), {}, 'one less, and there is room');
cancel($p, $_) for 'one more', map { "many$_" } 2 .. 32;

# ---- a client that does not read ----

listening($p, { toolsListChanged => true, resourceSubscriptions => ['notes:a'] }, 'deaf');
$p->{deaf} = 1;
$p->request('resources/list', modern({}), "fill$_") for 1 .. 1;
reload($p) for 1 .. 5;
$p->{deaf} = 0;
cmp_ok(scalar(@{ methods_of($p, 'deaf', 2) }), '<=', 10, 'MCP26 7: who reads late is told');
cancel($p, 'deaf');

# ---- the end ----

listening($p, { toolsListChanged => true }, 'last');
kill TERM => $p->{pid};
my $a = $p->answer('last');
is($a->{result}{resultType}, 'complete', 'MCP26 7: the end of the server is the end of what listens');
is($a->{result}{_meta}{"$META/subscriptionId"}, 'last', 'MCP26 7: the end of a subscription names the subscription');
my ($c) = $p->told('notifications/cancelled');
same_json([ @{ $c->{params} }{qw(requestId)} ], ['last'], 'MCP26 7: over lines it is called off as well');
cmp_ok($a->{order}, '<', $c->{order}, 'after it has ended well');
$p->wait_exit;
done_testing;
