#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Messages to a client of an older revision of MCP have the members of the revision, and no
# later members.
use lib 'tests/lib';
use Paddock;

my @revisions = qw(2024-11-05 2025-03-26 2025-06-18 2025-11-25);

# Members by kind, and the first revision; for a member which is an object, or a list of
# objects, a colon precedes the kind; "any" stands for free contents.
my %since = (
	initialize => {'2024-11-05' => [qw(protocolVersion capabilities:capabilities serverInfo:info instructions _meta:any)]},
	capabilities => {'2024-11-05' => [qw(experimental:any logging:any prompts:lists resources:lists tools:lists)],
			 '2025-03-26' => [qw(completions:any)], '2025-11-25' => [qw(tasks:any)]},
	lists => {'2024-11-05' => [qw(listChanged subscribe)]},
	info => {'2024-11-05' => [qw(name version)], '2025-06-18' => [qw(title)],
		 '2025-11-25' => [qw(icons:any websiteUrl description)]},
	tools => {'2024-11-05' => [qw(tools:tool nextCursor _meta:any)]},
	tool => {'2024-11-05' => [qw(name description inputSchema:any)], '2025-03-26' => [qw(annotations:hints)],
		 '2025-06-18' => [qw(title outputSchema:any _meta:any)], '2025-11-25' => [qw(icons:any execution:any)]},
	hints => {'2025-03-26' => [qw(title readOnlyHint destructiveHint idempotentHint openWorldHint)]},
	result => {'2024-11-05' => [qw(content:block isError _meta:any)], '2025-06-18' => [qw(structuredContent:any)]},
	block => {'2024-11-05' => [qw(type text data mimeType resource:embedded annotations:notes)],
		  '2025-06-18' => [qw(uri name title description size _meta:any)], '2025-11-25' => [qw(icons:any)]},
	embedded => {'2024-11-05' => [qw(uri mimeType text blob)], '2025-06-18' => [qw(_meta:any)]},
	notes => {'2024-11-05' => [qw(audience priority)], '2025-06-18' => [qw(lastModified)]},
	resources => {'2024-11-05' => [qw(resources:resource nextCursor _meta:any)]},
	templates => {'2024-11-05' => [qw(resourceTemplates:resource nextCursor _meta:any)]},
	resource => {'2024-11-05' => [qw(uri uriTemplate name description mimeType annotations:notes)],
		     '2025-06-18' => [qw(title size _meta:any)], '2025-11-25' => [qw(icons:any)]},
	read => {'2024-11-05' => [qw(contents:embedded _meta:any)]},
	prompts => {'2024-11-05' => [qw(prompts:prompt nextCursor _meta:any)]},
	prompt => {'2024-11-05' => [qw(name description arguments:argument)], '2025-06-18' => [qw(title _meta:any)],
		   '2025-11-25' => [qw(icons:any)]},
	argument => {'2024-11-05' => [qw(name description required)], '2025-06-18' => [qw(title)]},
	messages => {'2024-11-05' => [qw(description messages:message _meta:any)]},
	message => {'2024-11-05' => [qw(role content:block)]},
	completion => {'2024-11-05' => [qw(completion:values _meta:any)]},
	values => {'2024-11-05' => [qw(values total hasMore)]},
	progress => {'2024-11-05' => [qw(progressToken progress total)], '2025-03-26' => [qw(message)]},
	log => {'2024-11-05' => [qw(level logger data)]},
	elicit => {'2025-06-18' => [qw(message requestedSchema:any)], '2025-11-25' => [qw(mode)]},
	sample => {'2024-11-05' => [qw(messages:message modelPreferences:any systemPrompt includeContext temperature
				       maxTokens stopSequences metadata:any)]},
);
my %types = (text => '2024-11-05', image => '2024-11-05', resource => '2024-11-05', audio => '2025-03-26',
	     resource_link => '2025-06-18');

# The members of V, of KIND, unknown to REVISION.
sub unknown {
	my ($v, $kind, $revision, $at) = @_;
	my %known = map { my ($k, $of) = split /:/; ($k => $of // '') }
	    map { @{$since{$kind}{$_} // []} } grep { $_ le $revision } @revisions;
	my @wrong;

	return map { unknown($v->[$_], $kind, $revision, "$at/$_") } 0 .. $#$v if ref $v eq 'ARRAY';
	return ref $v eq 'HASH' ? () : "$at is no object" unless ref $v eq 'HASH';
	push @wrong, "$at/type is $v->{type}" if $kind eq 'block' && ($types{$v->{type}} // 'x') gt $revision;
	for my $k (sort keys %$v) {
		if (!exists $known{$k}) {
			push @wrong, "$at/$k";
		} elsif ($known{$k} ne '' && $known{$k} ne 'any') {
			push @wrong, unknown($v->{$k}, $known{$k}, $revision, "$at/$k");
		}
	}
	return @wrong;
}

my $notes = '{audience = {"user"}, priority = 1, lastModified = "2025-01-01T00:00:00Z"}';
my %templates = (
	full => lua("run.log('info', 'x') run.progress(1, 2, 'half')
		return run.reply{structuredContent = {n = 1}, content = {
		{type = 'text', text = 'a', annotations = $notes, _meta = {a = 1}},
		{type = 'image', data = 'AAAA', mimeType = 'image/png', annotations = $notes},
		{type = 'audio', data = 'AAAA', mimeType = 'audio/wav', annotations = $notes},
		{type = 'resource', annotations = $notes, _meta = {a = 1},
		 resource = {uri = 'a:b', text = 'x', _meta = {a = 1}}},
		{type = 'resource_link', uri = 'a:b', name = 'n', title = 'N', annotations = $notes,
		 icons = {{src = 'https://a.example/i.png'}}}}}",
		annotations => {readOnlyHint => true, title => 'Full'}, executionMode => 'sync',
		outputsSchema => {type => 'object'},
		resources => [{uri => 'x:a', name => 'a', title => 'A', text => 't', mimeType => 'text/plain'},
			      {uriTemplate => 'x:{b}', name => 'b', title => 'B', text => 't'}],
		prompts => [{name => 'p', title => 'P', arguments => [{name => 'a', title => 'A'}], complete => {a => ['x']},
			     messages => [{role => 'user', content => {type => 'text', text => '{{a}}'}},
					  {role => 'user', content => {type => 'audio', data => 'AAAA',
								       mimeType => 'audio/wav'}},
					  {role => 'user', content => {type => 'resource',
						resource => {uri => 'a:b', text => 'x'}}},
					  {role => 'user', content => {type => 'resource_link', uri => 'a:b',
								       name => 'n', title => 'N'}}]}]),
	made => lua('run.artifact{name = "x", data = "x"} return {a = 1}'),
	bad => lua('run.error("NO", "no")'),
	asks => lua('return {pcall(run.elicit, {message = "m", schema = {type = "object", properties = {}}})}'),
	model => lua('return {pcall(run.sample, {maxTokens = 1, messages = {{role = "user",
		content = {type = "text", text = "x", annotations = ' . $notes . '}}}})}'),
);

for my $revision (@revisions) {
	my $s = Paddock->new(templates => \%templates);
	my $hello = $s->init($revision, {elicitation => {}, sampling => {}});
	my %seen;

	my $check = sub {
		my ($what, $kind, $v) = @_;
		my @wrong = unknown($v, $kind, $revision, '');

		same_json(\@wrong, [], "$revision: $what");
	};
	$check->('initialize', initialize => $hello);
	for (['tools/list', 'tools', {}], ['resources/list', 'resources', {}],
	     ['resources/templates/list', 'templates', {}], ['prompts/list', 'prompts', {}],
	     ['resources/read', 'read', {uri => 'x:a'}], ['resources/read', 'read', {uri => 'paddock://isolation'}],
	     ['prompts/get', 'messages', {name => 'p', arguments => {a => 'y'}}],
	     ['completion/complete', 'completion', {ref => {type => 'ref/prompt', name => 'p'},
						    argument => {name => 'a', value => ''}}],
	     (map { ['tools/call', 'result', $_] } {name => 'full', _meta => {progressToken => 't'}}, {name => 'made'},
	      {name => 'bad'}, {name => 'get_task_run', arguments => {runId => 'x'}}, {name => 'list_task_runs'},
	      {name => 'full', task => {}},
	      {name => 'run_task_template', arguments => {templateId => 'full', inputs => {}}})) {
		my ($method, $kind, $params) = @$_;
		next if $params->{task} && $revision ge '2025-11-25';

		$check->("$method " . substr(json_of($params), 0, 40), $kind, $s->call($method, $params)->{result});
	}
	for (['notifications/progress', 'progress'], ['notifications/message', 'log']) {
		my $note = $s->told($_->[0]);

		$check->($_->[0], $_->[1], $note->{params});
	}
	for (['asks', 'elicitation/create', 'elicit'], ['model', 'sampling/createMessage', 'sample']) {
		my ($tool, $method, $kind) = @$_;
		next if $kind eq 'elicit' && $revision lt '2025-06-18';
		my $id = $s->ask($tool => {});
		my $m = $s->told($method);

		$check->($method, $kind, $m->{params});
		$s->reply($m, undef, {code => -1, message => 'no'});
		$s->result($id);
	}
	my %heard = map { $_->{method} => 1 } @{$s->{notes}};

	same_json([grep { m{tasks/} } sort keys %heard], [], "$revision: nothing is said of tasks");
	$s->stop;
}
done_testing;
