#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# template_resources.t - what templates offer beside their tools: resources, prompts,
# completion of their arguments.
use lib 'tests/lib';
use Paddock;
use MIME::Base64 qw(decode_base64 encode_base64);

my $png = "\x89PNG\r\n\x1a\n\0\xff";
my @said = ({ role => 'user', content => { type => 'text', text => 'Hello.' } });

sub says { return { role => 'user', content => {@_} } }

my %offers = (
	resources => [
		{ uri => 'notes://today', name => 'today', title => 'Today', text => "caf\x{e9}\n",
		  mimeType => 'text/plain', description => 'What is on.' },
		{ uri => 'notes://picture', name => 'picture', file => 'a.png',
		  mimeType => 'image/png' },
		{ uriTemplate => 'notes://{day}/of/{month}', name => 'day',
		  text => '{"day":"{day}","month":"{month}","{year}":1}',
		  mimeType => 'application/json' },
	],
	prompts => [
		{ name => 'plain', messages => \@said },
		{ name => 'echo', arguments => [ { name => 'a' }, { name => 'b' } ],
		  messages => [ says(type => 'text', text => '{{a}}, {{b}}; {a} {{ a }}') ] },
		{ name => 'about', title => 'About', description => 'Of a topic.',
		  arguments => [ { name => 'topic', title => 'Topic', required => true },
				 { name => 'tone', description => 'How.' } ],
		  complete  => { tone => [ 'kind', 'keen', 'dry', map { "n$_" } 1 .. 150 ] },
		  messages  => [
			says(type => 'text', text => '{{topic}}, {{tone}}; {topic} {{ tone }}'),
			says(type => 'image', mimeType => 'image/png', file => 'a.png'),
			says(type => 'image', mimeType => 'image/png', data => 'AAAA'),
			says(type => 'audio', mimeType => 'audio/wav', data => 'AAAA'),
			says(type => 'resource', resource => { uri => 'x://{{topic}}',
				mimeType => 'text/plain', text => 'On {{topic}}.' }),
			says(type => 'resource', resource => { uri => 'x:p', file => 'a.png' }),
			says(type => 'resource_link', uri => 'x://{{topic}}', name => '{{topic}}'),
		  ] },
	],
);

sub server {
	my (%o) = @_;
	my $p = Paddock->new(idle => 1, templates => { talks => lua('', %offers), %{ $o{templates} // {} } });

	write_file("$p->{root}/templates/talks-1.0.0/a.png", $png);
	return $p->start;
}

my $p = server(templates => {
	afar   => lua('', resources => [ { uri => 'afar:a', name => 'a', text => '' },
					 { uri => 'notes://today', name => 'x', text => 'x' },
					 { uriTemplate => 'notes://{day}/of/{month}', name => 'x', text => 'x' } ],
		      prompts => [ { name => 'afar', messages => \@said },
				   { name => 'plain', messages => [] } ],
		      trustLevelSupport => ['remote']),
	ztwice => lua('', resources => [ { uri => 'notes://today', name => 'no', text => 'no' } ],
		      prompts => [ { name => 'plain', messages => [] } ]),
});
my $caps = $p->init->{capabilities};
my ($l, $e);

is_deeply($caps->{prompts}, { listChanged => true }, 'prompts are declared');
is_deeply($caps->{completions}, {}, 'completions are declared');

# ---- resources ----

$l = $p->call('resources/list')->{result};
is_deeply([ map { $_->{uri} } @{ $l->{resources} } ],
	  [qw(paddock://isolation notes://today notes://picture)],
	  'paddock\'s own come first, then templates\', each URI once, one that is not seen hides none');
same_json($l->{resources}[1], { uri => 'notes://today', name => 'today', title => 'Today',
	  mimeType => 'text/plain', description => 'What is on.' }, 'a template\'s resource is listed as in the manifest');
ok(!exists $l->{nextCursor}, 'one page has them all');
is_deeply([ map { $_->{uriTemplate} }
	    @{ $p->call('resources/templates/list')->{result}{resourceTemplates} } ],
	  [ 'paddock://runs/{runId}', 'paddock://runs/{runId}/log',
	    'paddock://runs/{runId}/result{?offset,limit}',
	    'paddock://runs/{runId}/artifacts/{artifactId}', 'notes://{day}/of/{month}' ],
	  'resource templates have a list of their own');

sub reads { return $p->call('resources/read', { uri => $_[0] }) }

same_json(reads('notes://today')->{result}{contents}, [ { uri => 'notes://today',
	  mimeType => 'text/plain', text => "caf\x{e9}\n" } ], 'a text is read; the first of two');
$l = reads('notes://picture')->{result}{contents}[0];
is(decode_base64($l->{blob} // ''), $png, 'a file that is no text comes as a blob');
same_json(reads('notes://9%2F10/of/May')->{result}{contents},
	  [ { uri => 'notes://9%2F10/of/May', mimeType => 'application/json',
	      text => '{"day":"9/10","month":"May","{year}":1}' } ],
	  'what the URI says goes into the text');
for my $uri ('notes://', 'notes://a/of/', 'notes://a/of/b/c', 'notes://tomorrow', 'afar:a',
	     'notes://picture/../a.png') {
	$e = reads($uri)->{error};
	same_json([ $e->{code}, $e->{data} ], [ -32002, { uri => $uri } ], "MCP: $uri is not found");
}

# ---- prompts ----

$l = $p->call('prompts/list')->{result}{prompts};
same_json($l, [
	{ name => 'plain', arguments => [] },
	{ name => 'echo', arguments => [ { name => 'a' }, { name => 'b' } ] },
	{ name => 'about', title => 'About', description => 'Of a topic.', arguments => [
		{ name => 'topic', title => 'Topic', required => true },
		{ name => 'tone', description => 'How.' } ] } ],
	'prompts are listed, each name once, and those of other trust not at all');

sub prompt { return $p->call('prompts/get', { name => $_[0], arguments => $_[1] }) }

same_json(prompt('plain', {})->{result}, { messages => \@said }, 'a prompt is given');
same_json(prompt('echo', { a => "a\"{{b}}\x{4e2d}" , more => 'x' })->{result}{messages}[0],
	  says(type => 'text', text => "a\"{{b}}\x{4e2d}, ; {a} {{ a }}"),
	  'arguments are filled in, once; an optional one is empty');
$l = prompt('about', { topic => 'tea', tone => 'dry' })->{result};
is($l->{description}, 'Of a topic.', 'a prompt has the description');
same_json($l->{messages}, [
	says(type => 'text', text => 'tea, dry; {topic} {{ tone }}'),
	says(type => 'image', mimeType => 'image/png', data => encode_base64($png, '')),
	says(type => 'image', mimeType => 'image/png', data => 'AAAA'),
	says(type => 'audio', mimeType => 'audio/wav', data => 'AAAA'),
	says(type => 'resource', resource => { uri => 'x://tea', mimeType => 'text/plain',
					       text => 'On tea.' }),
	says(type => 'resource', resource => { uri => 'x:p', blob => encode_base64($png, '') }),
	says(type => 'resource_link', uri => 'x://tea', name => 'tea') ],
	'messages of every kind');
for ([ 'about', {}, qr/needs the argument topic/, 'one that is required is missing' ],
     [ 'about', { topic => 1 }, qr/topic must be a string/, 'one is no string' ],
     [ 'about', { topic => 'a b' }, qr/not an absolute/, 'one makes no URI' ],
     [ 'about', { topic => 'x' x 4_000_000 }, qr/a uri of 4000004 bytes; at most 65536/, 'it is too much' ],
     [ 'abuot', {}, qr/did you mean "about"/, 'a name is misspelt' ],
     [ 'afar', {}, qr/Unknown prompt/, 'it is for other trust' ],
     [ 'about', [], qr/an object of strings/, 'arguments are no object' ]) {
	my ($name, $args, $why, $when) = @$_;

	$e = prompt($name, $args)->{error};
	is($e->{code}, -32602, "MCP: -32602 when $when");
	like($e->{message}, $why, "MCP: the error says why when $when");
}

# ---- completion ----

sub complete {
	my ($ref, $name, $value, $args) = @_;

	return $p->call('completion/complete', { ref => $ref, argument => { name => $name,
		value => $value }, $args ? (context => { arguments => $args }) : () });
}
my $about = { type => 'ref/prompt', name => 'about' };
my $runs  = { type => 'ref/resource', uri => 'paddock://runs/{runId}/artifacts/{artifactId}' };

same_json(complete($about, tone => 'k')->{result}, { completion => { values => [qw(kind keen)],
	  total => 2, hasMore => false } }, 'what begins so is offered');
$l = complete($about, tone => '')->{result}{completion};
same_json([ scalar @{ $l->{values} }, $l->{total}, $l->{hasMore} ], [ 100, 153, true ],
	  'at most 100, with how many there are');
same_json(complete($about, topic => 'x')->{result}{completion}{values}, [],
	  'nothing for an argument without values');
same_json(complete({ type => 'ref/resource', uri => 'notes://{day}/of/{month}' }, day => '')
	  ->{result}{completion}{values}, [], 'a template\'s resource has no completion');
for ([ { type => 'ref/prompt', name => 'none' }, 'a', '' ], [ { type => 'ref/tool' }, 'a', '' ],
     [ { type => 'ref/resource', uri => 'none:{x}' }, 'x', '' ], [ $about, undef, '' ],
     [ $about, 'tone', 3 ], [ { type => 'ref/prompt', name => 'afar' }, 'a', '' ]) {
	is(complete(@$_)->{error}{code}, -32602, 'not to be completed: ' . json_of($_));
}
$p->stop;

$p = Paddock->new(templates => { makes => lua('return {run.artifact{name = "a", data = "x"}}') });
$p->init;
my @made = map { $p->run_sync('makes') } 1 .. 3;
my @ids  = map { $_->{runId} } @made;

same_json(complete($runs, runId => 'run_')->{result}{completion}{values}, [ reverse @ids ],
	  'runIds are offered, the newest first');
same_json(complete($runs, runId => $ids[1])->{result}{completion}{values}, [ $ids[1] ],
	  'runIds with the beginning are offered');
same_json(complete($runs, artifactId => 'art_', { runId => $ids[0] })->{result}{completion}{values},
	  [ $made[0]{artifacts}[0]{artifactId} ], 'artifactIds are those of the run in the context');
same_json(complete($runs, artifactId => '')->{result}{completion}{values}, [], 'none without it');
$p->stop;

# ---- pages ----

$p = Paddock->new(templates => { map { my $t = $_; ("many_$t" => lua('',
	resources => [ map { { uri => "m:$t/$_", name => "r$_", text => '' },
			     { uriTemplate => "m:$t/$_/{x}", name => "p$_", text => '' } } 1 .. 90 ],
	prompts => [ map { { name => "p$t.$_", messages => \@said } } 1 .. 90 ])) } 'a', 'b' });
$p->init;
for ([ 'resources/list', 'resources', 'uri', 181 ], [ 'prompts/list', 'prompts', 'name', 180 ],
     [ 'resources/templates/list', 'resourceTemplates', 'uriTemplate', 184 ]) {
	my ($method, $key, $name, $want) = @$_;
	my ($cursor, @all, @pages);

	do {
		$l = $p->call($method, { $cursor ? (cursor => $cursor) : () })->{result};
		push @all, map { $_->{$name} } @{ $l->{$key} };
		push @pages, scalar @{ $l->{$key} };
	} while ($cursor = $l->{nextCursor});
	my %once = map { $_ => 1 } @all;

	same_json([ @pages, scalar keys %once ], [ 100, $want - 100, $want ],
		  "MCP: $method has pages, and each entry once");
	for my $bad ('', '*', 'AAAA', 7, encode_base64('many_a x', ''), encode_base64('many_a ', ''),
		     encode_base64('x' x 100, '')) {
		is($p->call($method, { cursor => $bad })->{error}{code}, -32602,
		   "MCP: -32602 for the cursor $bad");
	}
}
$p->stop;

# ---- older revisions ----

for (['2024-11-05', 0, 0, 0], ['2025-03-26', 1, 1, 0], ['2025-06-18', 1, 1, 1]) {
	my ($revision, $completions, $audio, $later) = @$_;

	$p = server();
	$caps = $p->init($revision)->{capabilities};
	is(exists $caps->{completions} ? 1 : 0, $completions,
	   "$revision: the capability completions, where there is such");
	is(exists $p->call('resources/list')->{result}{resources}[1]{title} ? 1 : 0, $later,
	   "$revision: a resource's title likewise");
	is(exists $p->call('prompts/list')->{result}{prompts}[2]{title} ? 1 : 0, $later,
	   "$revision: and a prompt's");
	$l = prompt('about', { topic => 'tea' })->{result}{messages};
	is($l->[3]{content}{type}, $audio ? 'audio' : 'text', "$revision: and audio");
	is($l->[6]{content}{type}, $later ? 'resource_link' : 'text', "$revision: and links");
	is(complete($about, tone => 'dry')->{result}{completion}{total}, 1,
	   "$revision: values are offered");
	$p->stop;
}

# ---- what tools reply with ----

my @blocks = ({ type => 'text', text => 'a' }, { type => 'image', data => 'AAAA', mimeType => 'image/png' },
	      { type => 'audio', data => 'AAAA', mimeType => 'audio/wav' },
	      { type => 'resource', resource => { uri => 'a:b', text => 'x' } },
	      { type => 'resource_link', uri => 'a:b', name => 'n' });
my %replies = (
	kinds => lua('return run.reply{content = {' .
		'{type = "text", text = "a"}, {type = "image", data = "AAAA", mimeType = "image/png"}, ' .
		'{type = "audio", data = "AAAA", mimeType = "audio/wav"}, ' .
		'{type = "resource", resource = {uri = "a:b", text = "x"}}, ' .
		'{type = "resource_link", uri = "a:b", name = "n"}}}'),
	wrong => lua('return run.reply{content = {{type = "text", text = 1}}}'),
	wrong_error => lua('return run.reply{isError = true, content = {{type = "image", ' .
			   'mimeType = "image/png", data = "no base64"}}}'));

for my $revision ('2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25') {
	$p = Paddock->new(templates => \%replies);
	$p->init($revision);
	my @want = @blocks;
	$want[4] = { type => 'text', text => 'n: a:b' } if $revision lt '2025-06-18';
	$want[2] = { type => 'text', text => "[audio, audio/wav: this client's revision of MCP " .
		'has no audio]' } if $revision lt '2025-03-26';
	same_json($p->tool('kinds')->{content}, \@want, "$revision: a reply's content of each kind");
	refused($p->tool($_), 'OUTPUT_INVALID', "$revision: $_: clients are not given what they would refuse")
	    for 'wrong', 'wrong_error';
	$p->stop;
}

# ---- prompts that are long with what a client gives: a thread writes them ----
{
	my $p = Paddock->new(templates => {
		many => { code => 'local t = run.array({}) for i = 1, inputs.n do t[i] = i % 10 end run.artifact{name = "a", data = "b"} return {t = t}' },
		long => { code => 'return 1', prompts => [
		{ name => 'long', arguments => [ { name => 'a' } ], messages => [ { role => 'user', content => { type => 'text', text => '{{a}}' x 8 } } ] },
		{ name => 'link', arguments => [ { name => 'a' } ], messages => [ { role => 'user', content => { type => 'resource_link', name => 'x', uri => 'file:///{{a}}' } } ] } ] } });
	my $jobs = sub { # jobs that threads have done, as soon as no thread frees a long result of the run before
		my ($left, $done);

		until_true('every job is done', sub {
			my $n = () = $p->log_text =~ /part=offload/g;

			kill USR1 => $p->{pid};
			until_true('the count of jobs', sub { (() = $p->log_text =~ /part=offload/g) > $n });
			($left, $done) = ($p->log_text =~ /part=offload jobs=(\d+) done=(\d+)/g)[-2, -1];
			return $left == 0;
		});
		return $done;
	};
	my $get = sub { my ($name, $a) = @_; return $p->call('prompts/get', { name => $name, arguments => { a => $a } }) };

	$p->init;
	my $before = $jobs->();
	is(length $get->('long', 'x' x 60_000)->{result}{messages}[0]{content}{text}, 480_000, 'a long prompt is given whole');
	is($jobs->() - $before, 1, 'a long prompt of a small request is made by a thread');
	like($get->('long', 'x' x 1_100_000)->{error}{message}, qr/has more than 8388608 bytes/, 'a prompt above 8 MiB is refused');
	is($get->('link', 'x' x 65_528)->{result}{messages}[0]{content}{type}, 'resource_link', 'a link of 65,528 bytes is given');
	like($get->('link', 'x' x 65_529)->{error}{message}, qr/has a uri of 65537 bytes; at most 65536 are taken/, 'a link\'s uri is no longer than 65536 bytes');

	my $many = $p->run_sync('many', { n => 100_000 });
	my $id = $many->{artifacts}[0]{artifactId};
	$before = $jobs->();
	my $a = $p->call('completion/complete', { ref => { type => 'ref/resource', uri => 'paddock://runs/{runId}/artifacts/{artifactId}' },
		argument => { name => 'artifactId', value => 'art_' }, context => { arguments => { runId => $many->{runId} } } });
	same_json($a->{result}{completion}, { values => [$id], total => 1, hasMore => false }, 'the artifacts of a run with a long result are offered');
	is($jobs->() - $before, 1, 'artifacts of a run with a long result are found by a thread');
	$p->stop;
}
done_testing();
