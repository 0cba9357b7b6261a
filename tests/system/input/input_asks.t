#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Questions of a prompt or a resource to the user: by requests to a session's client, or by
# the input requests of a stateless client.
use lib 'tests/lib';
use Paddock;
use Http;
use Stateless;

sub form { my ($message, %properties) = @_; return {message => $message, requestedSchema => {type => 'object',
	properties => \%properties, required => [sort keys %properties]}} }

my %offers = (
	prompts => [
		{ name => 'greet', description => 'Hello.', arguments => [ { name => 'tone', required => true } ],
		  messages => [ { role => 'user', content => { type => 'text',
			text => '{{tone}}: {{user.name}}, {{user.age}}, {{sure-1.ok}}; {{tone}}' } } ],
		  asks => { user => form('Who?', name => { type => 'string', minLength => 2 }, age => { type => 'integer' }),
			    'sure-1' => form('Sure?', ok => { type => 'boolean' }) } },
		{ name => 'plain', messages => [] },
	],
	resources => [
		{ uriTemplate => 'notes://{day}', name => 'day', text => '{day} for {user.name}, {user.of}{other}',
		  asks => { user => { message => 'Who?', requestedSchema => { type => 'object',
			properties => { name => { type => 'string' }, of => { type => 'array', items => { type => 'string',
				enum => [qw(a b c)] } } } } } } },
		{ uri => 'note:one', name => 'one', text => 'For {user-1.name}.',
		  asks => { 'user-1' => form('Who?', name => { type => 'string' }) } },
	],
);
my $templates = { talks => lua('', %offers) };
my %greet = (name => 'greet', arguments => { tone => 'Kind' });
my %who = (action => 'accept', content => { name => 'Ada', age => 36 });
my %forms = (elicitation => { form => {} });
my %sure = (action => 'accept', content => { ok => true });

sub text_of { my ($a) = @_; return $a->{result}{messages}[0]{content}{text} // $a->{result}{contents}[0]{text} }

# Answer both questions of greet; the text of the prompt.
sub greeted {
	my ($s, $id) = @_;

	for (1, 2) {
		my $m = $s->told('elicitation/create') // return;

		$s->reply($m, $m->{params}{message} eq 'Who?' ? \%who : \%sure);
	}
	return text_of($s->answer($id));
}

sub server {
	return Paddock->new(templates => $templates)->greeted($_[0], $_[1] // { elicitation => {} });
}

# ---- a session ----

for my $revision (qw(2025-11-25 2025-06-18)) {
	my $s = server($revision);
	my $id = $s->request('prompts/get', \%greet);

	is(greeted($s, $id), 'Kind: Ada, 36, true; Kind', "$revision: a prompt is given with what its user answered");

	$id = $s->request('prompts/get', \%greet);
	my $m = $s->told('elicitation/create');
	same_json([ sort keys %{ $m->{params} } ], [ 'message', ($revision ge '2025-11-25' ? 'mode' : ()), 'requestedSchema' ], "$revision: a prompt's question is a form as others are");
	$s->call('ping');
	is(scalar(grep { ($_->{method} // '') eq 'elicitation/create' } @{ $s->{notes} }), 0, '  one after the other');
	$s->reply($m, { action => 'decline' });
	my $e = $s->answer($id)->{error};
	is($e->{code}, -32602, '  a user may decline');
	like($e->{message}, qr/^the user declined to answer "(user|sure-1)"/, '  the refusal says which question was declined');
	$s->stop;
}

{
	my $s = server();

	my $id = $s->request('resources/read', { uri => 'notes://may' });
	$s->reply($s->told('elicitation/create'), { action => 'accept', content => { name => 'Ada', of => [qw(a c)] } });
	is(text_of($s->answer($id)), 'may for Ada, a, c{other}', 'a resource is filled by its URI and its answers');
	$id = $s->request('resources/read', { uri => 'notes://{user.name}' });
	ok($s->answer($id)->{error}, 'a URI with braces names no resource');
	$id = $s->request('resources/read', { uri => 'notes://%7Buser.name%7D' });
	$s->reply($s->told('elicitation/create'), { action => 'accept', content => { name => '{day}' } });
	is(text_of($s->answer($id)), '{user.name} for {day}, {other}', 'what was filled in is not filled in again');
	$id = $s->request('resources/read', { uri => 'note:one' });
	$s->reply($s->told('elicitation/create'), { action => 'accept', content => { name => 'Bo' } });
	is(text_of($s->answer($id)), 'For Bo.', 'a resource with a fixed URI is filled');

	for ([ { action => 'cancel' }, undef, qr/^the user declined/ ],
	     [ { action => 'accept', content => { name => 1 } }, undef, qr{is none: /content/name has to be} ],
	     [ { action => 'accept', content => { nam => 'Ada' } }, undef,
	       qr{is none: /content lacks the member "name", which the question's schema requires} ],
	     [ { action => 'maybe' }, undef, qr{is none: /action has to be} ],
	     [ undef, { code => -1, message => 'nobody is here' }, qr/failed: nobody is here$/ ]) {
		my ($result, $error, $why) = @$_;

		$id = $s->request('resources/read', { uri => 'note:one' });
		$s->reply($s->told('elicitation/create'), $result, $error);
		my $e = $s->answer($id)->{error};
		is($e->{code}, -32602, 'no answer, no resource: ' . json_of($result // $error));
		like($e->{message}, $why, "no resource without an answer: the error says why");
	}

	like($s->call('prompts/get', { name => 'greet' })->{error}{message}, qr/needs the argument tone/,
	     'what the client has wrong is told');
	is(scalar(grep { ($_->{method} // '') eq 'elicitation/create' } @{ $s->{notes} }), 0, '  before the user is asked');
	same_json($s->call('prompts/get', { name => 'plain' })->{result}{messages}, [], 'what asks nothing is given');

	$id = $s->request('prompts/get', \%greet);
	my $m = $s->told('elicitation/create');
	$s->notify('notifications/cancelled', { requestId => $id });
	my $n = $s->told('notifications/cancelled');
	is($n->{params}{requestId}, $m->{id}, 'a request that is cancelled takes its question back');
	$s->reply($m, \%who);
	$s->call('ping');
	is(scalar(grep { defined $_->{id} } @{ $s->{notes} }), 0, '  a cancelled request asks nothing more');
	ok(!exists $s->{answers}{$id}, '  a cancelled request is not answered');

	my $list = json_of($s->call('prompts/list')->{result});
	unlike($list, qr/asks|Who\?/, 'what is asked is in no list');

	# a question keeps the prompt of the time of the question
	$id = $s->request('resources/read', { uri => 'note:one' });
	$m = $s->told('elicitation/create');
	$s->request('resources/read', { uri => 'note:one' });
	$s->told('elicitation/create');
	Paddock::remove_tree("$s->{root}/templates/talks-1.0.0");
	kill HUP => $s->{pid};
	ok($s->told('notifications/resources/list_changed'), 'the operator takes it away meanwhile');
	$s->reply($m, { action => 'accept', content => { name => 'Cy' } });
	is(text_of($s->answer($id)), 'For Cy.', '  a resource is given as the template was when the request came');
	ok($s->call('resources/read', { uri => 'note:one' })->{error}, '  a removed resource cannot be read again');
	$s->stop; # with a question under way
}

for ([ '2025-11-25', {}, qr/declare the capability elicitation\.form/ ], [ '2025-03-26', undef, qr/before 2025-06-18/ ]) {
	my ($revision, $can, $why) = @$_;
	my $s = server($revision, $can);
	my $e = $s->call('prompts/get', \%greet)->{error};

	is($e->{code}, -32602, "a client that cannot be asked: $revision");
	like($e->{message}, $why, '  reads what is missing');
	$s->stop;
}

# ---- a client that brings its terms ----

{
	my $s = Paddock->new(templates => $templates);
	my $get = sub { my ($responses, $state, $params) = @_; return $s->call('prompts/get', stateless({ %{ $params // \%greet },
		defined $responses ? (inputResponses => $responses) : (), defined $state ? (requestState => $state) : () }, \%forms)) };
	my $r = $get->()->{result};
	my $state = $r->{requestState};

	is($r->{resultType}, 'input_required', 'MCP26 6: a prompt says what it needs');
	same_json($r->{inputRequests}{user}, { method => 'elicitation/create', params => {
		message => 'Who?', mode => 'form', requestedSchema => $offers{prompts}[0]{asks}{user}{requestedSchema} } },
		'  questions of a prompt have the names of the manifest');
	same_json([ sort keys %{ $r->{inputRequests} } ], [qw(sure-1 user)], '  all at once');
	is(text_of($get->({ user => \%who, 'sure-1' => \%sure, more => 1 }, $state)), 'Kind: Ada, 36, true; Kind',
	   '  MCP26 6: a prompt is given when the answers have come');

	for ([ 'one is missing', { user => \%who }, 'sure-1' ], [ 'the name is another', { uses => \%who, 'sure-1' => \%sure }, 'user' ],
	     [ 'one does not fit', { user => { action => 'accept', content => { name => 'A', age => 1 } }, 'sure-1' => \%sure }, 'user' ],
	     [ 'one is a number', { user => 7, 'sure-1' => \%sure }, 'user' ], [ 'one is null', { user => undef, 'sure-1' => \%sure }, 'user' ]) {
		my ($name, $responses, $asked) = @$_;

		$r = $get->($responses, $state)->{result};
		same_json([ $r->{resultType}, sort keys %{ $r->{inputRequests} } ], [ 'input_required', $asked ], "a bad answer to a prompt is asked for again: $name");
	}
	for ([], undef, 'x') {
		$r = $get->($_ // JSON::PP::null, $state)->{result};
		same_json([ sort keys %{ $r->{inputRequests} } ], [qw(sure-1 user)], '  and all where there is no answer: ' . json_of($_));
	}
	is(text_of($get->({ user => \%who, 'sure-1' => \%sure })), 'Kind: Ada, 36, true; Kind',
	   '  answers given with the first request are taken');
	for ([ 'changed', $get, [ substr($state, 0, -1) ] ], [ 'another\'s', $get, [ $state, { name => 'greet', arguments => { tone => 'Curt' } } ] ],
	     [ 'none', $get, [ 7 ] ]) {
		my ($name, $ask, $more) = @$_;
		my $e = $ask->({ user => \%who, 'sure-1' => \%sure }, @$more)->{error};

		is($e->{code}, -32602, "  a state is refused: $name");
		is($e->{data}{errorCode}, 'REQUEST_STATE_REFUSED', "the error of a refused state is REQUEST_STATE_REFUSED: $name");
	}
	for my $action (qw(decline cancel)) {
		my $e = $get->({ user => { action => $action }, 'sure-1' => \%sure }, $state)->{error};

		is($e->{code}, -32602, "  $action is an error");
		like($e->{message}, qr/the user declined to answer "user"/, "the error of $action says who declined");
	}
	like($get->({ user => \%who, 'sure-1' => \%sure }, $state, { name => 'greet' })->{error}{message}, qr/needs the argument tone/,
	     '  what else is wrong is told before');

	$r = $s->call('resources/read', stateless({ uri => 'notes://may' }, \%forms))->{result};
	is($r->{resultType}, 'input_required', 'MCP26 6: a resource, too');
	$r = $s->call('resources/read', stateless({ uri => 'notes://may', inputResponses => { user => { action => 'accept',
		content => { name => 'Ada', of => ['b'] } } }, requestState => $r->{requestState} }, \%forms));
	is(text_of($r), 'may for Ada, b{other}', '  a resource is given when the answers have come');
	is($r->{result}{resultType}, 'complete', '  MCP26 6: a resource with all answers is complete');

	my $bound = $s->call('resources/read', stateless({ uri => 'notes://may' }, \%forms))->{result}{requestState};
	like($s->call('resources/read', stateless({ uri => 'notes://june', requestState => $bound }, \%forms))->{error}{data}{reason}, qr/^other_call$/,
	     '  a state for another URI is refused');
	my $e = $s->call('prompts/get', stateless(\%greet, { elicitation => { url => {} } }))->{error};
	is($e->{code}, -32021, 'MCP26 6: who does not declare it is not asked');
	same_json($e->{data}, { requiredCapabilities => { elicitation => { form => {} } } }, '  MCP26 6: the error says which capability would be needed');
	is(scalar(@{ $s->{notes} }), 0, 'MCP26 2: no client of this era gets a request');
	$s->stop;
}

# ---- HTTP ----

{
	my $s = Http->new(templates => $templates, tokens => { ada => 'a' x 40 });
	my $c = $s->client('ada')->greeted(undef, { elicitation => {} });
	my $conn = $c->route($c->request('prompts/get', \%greet));

	$conn->head;
	for (1, 2) {
		my $m = $conn->message;

		$m = $conn->message until !$m || ($m->{json}{method} // '') eq 'elicitation/create';
		$c->respond($m->{json}{id}, $m->{json}{params}{message} eq 'Who?' ? \%who : \%sure);
	}
	my $m = $conn->message;
	is(text_of($m->{json}), 'Kind: Ada, 36, true; Kind', 'over HTTP the questions come by the request\'s stream');

	$c = $s->modern('ada');
	$c->{capabilities} = \%forms;
	my $r = $c->call('prompts/get', { %greet });
	is($r->{result}{resultType}, 'input_required', 'a request that stands by itself is answered what it lacks');
	$r = $c->call('prompts/get', { %greet, inputResponses => { user => \%who, 'sure-1' => \%sure },
		requestState => $r->{result}{requestState} });
	is(text_of($r), 'Kind: Ada, 36, true; Kind', '  a request by the new era is answered when the answers have come');
	$s->stop;
}

done_testing;
