#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# cli_ask.t - questions of a template: on a terminal, by --answer, and without any answer;
# and missing inputs. No text of a template may look like paddock's own.
use utf8;
use Encode qw(encode decode);
use lib 'tests/lib';
use Paddock;
use Cli;
use Daemon;
use Stateless;

my $form = '{type = "object", required = run.array{"name", "colour"}, properties = {
    name = {type = "string", minLength = 2, title = "Full name"},
    colour = {type = "string", oneOf = run.array{{const = "r", title = "Dark red"}, {const = "b", title = "Blue"}}},
    age = {type = "integer", minimum = 1, maximum = 150, default = 30},
    mail = {type = "string", format = "email"},
    tags = {type = "array", items = {type = "string", enum = run.array{"x", "y", "z"}}},
    ok = {type = "boolean"}}}';
my $name = '{type = "object", required = run.array{"name"}, properties = {name = {type = "string", minLength = 2}}}';
my $integer = {type => 'integer', minimum => 1, maximum => 9};
my %templates = (
    form => lua("return run.elicit{message = 'Who is it?\\npaddock: password:', schema = $form}"),
    name => lua("return run.elicit{message = 'Who?', schema = $name}"),
    twice => lua("local all = run.map({'a', 'b'}, {concurrency = 2}, function(k)
	return run.elicit{key = k, message = k, schema = $name}.content.name end)
	return {all[1].value, all[2].value, run.elicit{message = 'again', schema = $name}.content.name}"),
    sure => lua("return run.elicit{message = 'Delete all?', schema = {type = 'object', properties = {}}}"),
    file => lua('return inputs.file', inputsSchema => {type => 'object', required => ['file'], properties => {
	file => {type => 'string', format => 'paddock-file'}}}),
    often => lua("for i = 1, 20 do run.elicit{message = 'm' .. i, schema = $name} end return 1"),
    plain => lua('return 1'),
    model => lua('return run.sample{messages = "hi", maxTokens = 9}'),
    evil => lua(q{return run.elicit{message = "a\npaddock: password for root:\n  hint: type it\27[2J\r$ " .. ("word "):rep(3000), schema = {type = "object",
	required = run.array{"k"}, properties = {["k"] = {type = "string", description = "x\npaddock: y\226\128\174"},
	['"]: \npaddock: your password: '] = {type = "string", default = "] paddock> "}}}}}),
    needs => lua('return {n = inputs.n, secret = #inputs.token, text = inputs.text, more = inputs.more}', inputsSchema => {type => 'object',
	required => ['n', 'token', 'text'], properties => {n => $integer, more => {type => 'string'},
	token => {type => 'string', writeOnly => JSON::PP::true}, text => {type => 'string'}}}),
);
my $cli = Cli->new(templates => \%templates);
my $d = Daemon->new(templates => \%templates);
my @there = ('--socket', $d->{socket});
my @tty = (tty => 1, columns => 100, env => {TERM => 'xterm'});

$d->ready;
write_file("$cli->{here}/text", "from a file\n");

# Wait for the next prompt of P, a match of RE after the prompt before.
sub prompted {
	my ($p, $re) = @_;
	my ($at, $what) = ($p->{at} // 0);

	until_true("a prompt that matches $re", sub {
		my $shown = $p->shown;

		return 0 if length $shown < $at || substr($shown, $at) !~ /$re[^\n]*: \z/s;
		$what = substr $shown, $at;
		$p->{at} = length $shown;
		return 1;
	}) or diag('it showed: ' . $p->shown);
	return $what // '';
}

# Run ARGS on a terminal, and answer each matching prompt with a line.
sub talk {
	my ($args, @lines) = @_;
	my $p = $cli->start($args, @tty);

	while (my ($re, $line) = splice @lines, 0, 2) {
		prompted($p, $re) or last;
		$p->type(encode('UTF-8', $line));
	}
	return ended($p);
}

sub ended {
	my $r = $_[0]->finish;

	$r->{err} =~ s/\r+\n/\n/g;
	$r->{json} = eval { json_to($r->{out}) };
	return $r;
}

sub answers {
	my ($args, $want, $what) = @_;
	my $r = $cli->run([@$args, '-q']);

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	same_json(json_to($r->{out} || 'null'), $want, $what) or diag($r->{err});
	return $r;
}

# ---- a form on a terminal ----

for my $where (['a private server', $cli->private], ['a daemon', @there]) {
	my ($what, @flags) = @$where;
	my $p = $cli->start(['run', 'form', @flags], @tty);
	my %say = (name => ["A\n", "Ada\n"], colour => ["3\n", "Dark red\n"], age => ["151\n", "\n"],
		   mail => ["nobody\n", "\n"], tags => ["1 z\n"], ok => ["perhaps\n", "yes\n"]);

	for (1 .. 12) {
		my ($key) = prompted($p, qr/(?:asks for|send)/) =~ /asks for "(\w+)"[^\n]*: \z/;
		$p->type($key ? shift @{$say{$key}} // "!cancel\n" : "y\n");
		last unless $key;
	}
	my $r = ended($p);
	my $shown = $r->{err};
	same_json($r->{json}, {action => 'accept', content => {name => 'Ada', colour => 'r', age => 30,
		  tags => ['x', 'z'], ok => JSON::PP::true}}, "$what: a form is filled in, by its schema") or diag($r->{err});
	is($r->{status}, 0, "$what: the run goes on with the answers");
	like($shown, qr/^paddock: form asks:\n  \| Who is it\?\n  \| paddock: password:\n/m, "$what: the template's words are marked");
	like($shown, qr/^  \| Full name\nform asks for "name", a text, at least 2 characters: /m, "$what: the prompt is marked");
	like($shown, qr/^    1 \| Dark red\n    2 \| Blue\nform asks for "colour", a number, 1 to 2: /m, "$what: the prompt lists the choices");
	like($shown, qr/^form asks for "age", an integer, 1 to 150 \[30\]: 151\n  that does not do: it has to be a number of at most 150\n/m, 'what does not do is told');
	like($shown, qr/name".*colour".*(?:age|mail|tags|ok)"/s, 'what has to be there comes first');
}

# ---- other ends ----

is(talk(['run', 'name', @there], qr/name"/ => "!decline\n")->{json}{action}, 'decline', '!decline refuses');
is(talk(['run', 'name', @there], qr/name"/ => "!cancel\n")->{json}{action}, 'cancel', '!cancel cancels');
is(talk(['run', 'name', @there], qr/name"/ => "\cD")->{json}{action}, 'cancel', 'ctrl-D cancels');
is(talk(['run', 'name', @there], qr/name"/ => "\n", qr/given; "" is[\s\S]*name"/ => "!!x\n")->{json}{content}{name}, '!x', 'an empty line is no answer, !! begins a text with !');
is(talk(['run', 'name', @there], qr/name"/ => "Zoë 名前\n")->{json}{content}{name}, 'Zoë 名前', 'any letters');
{
	my $r = talk(['run', 'name', @there], qr/name"/ => "\cC");

	is($r->{status}, 130, 'ctrl-C cancels the run');
	like($r->{err}, qr/cancelling run_\w+.*was cancelled/s, 'the command says that the run was cancelled');
	is($d->client->greeted->tool(list_task_runs => {limit => 1})->{view}{runs}[0]{status}, 'canceled', 'the cancelled run is over');
	$r = talk(['run', 'twice', @there], qr/name"/ => "Al\n", qr/name"/ => "Bo\n", qr/again[\s\S]*name"/ => "Cy\n");
	is(join(' ', sort @{$r->{json} // []}), 'Al Bo Cy', 'several at once, and one later');
	$r = talk(['run', 'sure', @there], qr/yes\?/ => "what\n", qr/yes\?/ => "n\n");
	is($r->{json}{action}, 'decline', 'a question without fields: no');
	is(talk(['run', 'sure', @there], qr/yes\?/ => "y\n")->{json}{action}, 'accept', 'a question without fields: yes');
	is(talk(['run', 'name', @there, '--answer', 'name=x'], qr/name"/ => "Ada\n")->{json}{content}{name}, 'Ada', 'an answer that does not do is asked for');
	is(talk(['run', 'name', @there, '--answer', 'name=Bo'])->{json}{content}{name}, 'Bo', 'one that does is not');
}

{
	my $hasty = Daemon->new(templates => \%templates, config => {input_wait_ms => 300});
	my @at = ('--socket', $hasty->{socket});

	$hasty->ready;
	my $p = $cli->start(['run', 'name', @at], @tty);
	prompted($p, qr/name"/);
	until_true('the end of the run', sub { $cli->run(['ps', '-a', @at])->{out} =~ /failed/ });
	$p->type("Ada\n");
	my $r = ended($p);
	is($r->{status}, 1, 'an answer that comes too late');
	like($r->{err}, qr/failed: no client came back with the answers.*INPUT_TIMEOUT/s, 'an answer that comes too late ends with the run\'s error');
	$hasty->stop;
}

# ---- hostile words ----

{
	my $r = talk(['run', 'evil', @there], qr/"k"/ => "x\n", qr/paddock: your password: [^\n]*/ => "\n", qr/send/ => "y\n");

	# On a slow machine, the command's own drawing comes between.
	unlike($r->{err} =~ s/\r[^\r\n\e]*\e\[K//gr, qr/[\e\x{202e}]|\r[^\n]/, 'no word of a template acts');
	my @forged = grep { !/^paddock: (?:evil asks:|run_\w+ succeeded|nothing)/ } $r->{err} =~ /^(paddock.*)/mg;
	is("@forged", '', 'none begins a line as paddock does');
	like($r->{err}, qr/^  \(what else it says is left out\)$/m, 'a message of any length leaves the prompt in sight');
	like($r->{err}, qr/^evil asks for "'': paddock: your password: ", a text \['? ?paddock> \]: |^evil asks for "'': /m, 'a prompt says who asks, before any word of its');
	is($r->{json}{action}, 'accept', 'a hostile question can be answered') or diag($r->{err});
}

# ---- nobody there ----

{
	my $r = $cli->run(['run', 'name', @there]);

	is(json_to($r->{out})->{action}, 'decline', 'without a terminal it is declined');
	like($r->{err}, qr/\Apaddock: name asks "Who\?", and there is no terminal to answer at, so it is declined\n  hint: give the answers beforehand: --answer name=VALUE\n/, 'a declined question is told with a hint to --answer');
	like($cli->run(['run', 'sure', @there])->{err}, qr/"Delete all\?".*\n.* --answer accept=yes\n/, 'a declined question without fields is told with a hint');
	answers(['run', 'form', @there, map { ('--answer', $_) } 'name=Ada', 'colour=Blue', 'tags=x', 'tags=3', 'age:=7', 'ok=n'],
	    {action => 'accept', content => {name => 'Ada', colour => 'b', age => 7, tags => ['x', 'z'], ok => JSON::PP::false}}, '--answer fills a form');
	answers(['run', 'form', @there, map { ('--answer', $_) } 'name=Ada', 'colour=1'],
	    {action => 'accept', content => {name => 'Ada', colour => 'r', age => 30}}, '--answer leaves other fields to the defaults');
	my $bad = $cli->run(['run', 'form', @there, map { ('--answer', $_) } 'name=Ada', 'age=151', 'colour=Blue']);
	is(json_to($bad->{out})->{action}, 'decline', 'the default does not replace a wrong answer') or diag($bad->{err});
	like($cli->run(['run', 'form', @there, '--answer', 'colour=Green'])->{err}, qr/^paddock: the answer for "colour" does not do: [^\n]*\n  it may be in words, too: Dark red, Blue$/m, 'the choices of a field are told for a wrong answer');
	answers(['run', 'sure', @there, '--answer', 'accept=yes'], {action => 'accept', content => {}}, '--answer accept=yes says yes');
	is($cli->run(['run', 'name', @there, '--answer', '=Al'])->{status}, 2, '--answer without a key before its = is refused');
	answers(['run', 'twice', $cli->private, '--answer', 'name=Al'], ['Al', 'Al', 'Al'], '--answer answers each question with the key');
	$r = $cli->run(['run', 'name', @there, '--answer', 'name=A', '--answer', 'nmae=Al']);
	like($r->{err}, qr/\Apaddock: the answer for "name" does not do: it has to be a string of at least 2 characters\npaddock: name asks /, 'one that does not do is told');
	like($r->{err}, qr/^paddock: nothing asked for "nmae", which --answer gives$/m, 'an answer for which no question came is told');
	said($cli->run(['run', 'name', @there, '--answer', 'name']), 2, qr/--answer is "name"; write key=value/, 'one without a value is wrong usage');
	$r = $cli->run(['run', 'often', @there, '--answer', 'name=x']);
	is(scalar(() = $r->{err} =~ /so it is declined/g), 5, 'a template that goes on asking is told of five times');
	like($r->{err}, qr/^paddock: 15 more questions were declined$/m, 'further declined questions are told by a number');
	$r = $cli->run(['run', 'plain', @there, '--answer', 'x=1']);
	is($r->{status}, 0, 'an answer too many does no harm');
	like($cli->run(['run', 'model', @there])->{err}, qr/SAMPLING_NOT_SUPPORTED/, 'there is no model to ask');
}

# ---- a run that was left alone ----

{
	my ($id) = $cli->run(['run', 'name', '-dq', @there])->{out} =~ /(run_\w+)/;

	ok(until_true('a question', sub { json_to($cli->run(['status', $id, '--json', @there])->{out})->{awaitingInput} }), 'a run that is detached keeps its question');
	my $r = talk(['wait', $id, @there], qr/name"/ => "Ada\n");
	is($r->{out}, "succeeded\n", 'wait at a terminal answers the question of a detached run') or diag($r->{err});
	is(json_to($cli->run(['result', $id, @there])->{out})->{content}{name}, 'Ada', 'the run gets the answer given to wait');
	($id) = $cli->run(['run', 'twice', '-dq', @there])->{out} =~ /(run_\w+)/;
	is($cli->run(['wait', $id, '--answer', 'name=Bo', '--answer', 'x=1', @there])->{out}, "succeeded\n", 'wait --answer answers the questions of a detached run');
	is($cli->run(['result', $id, @there])->{out} =~ s/\s//gr, '["Bo","Bo","Bo"]', 'wait --answer answers each question');
	said($cli->run(['wait', $id, '--answer', 'x=1', @there]), 0, qr/^paddock: nothing asked for "x", which --answer gives\n\z/m, 'an answer that nothing asked for is told');
	said($cli->run(['wait', $id, '-q', '--answer', 'x=1', @there]), 0, qr/\A\z/, 'an unused answer is not told with --quiet');
	($id) = $cli->run(['run', 'name', '-dq', @there])->{out} =~ /(run_\w+)/;
	until_true('its question', sub { json_to($cli->run(['status', $id, '--json', @there])->{out})->{awaitingInput} });
	$r = $cli->run(['wait', $id, '-t', '100ms', @there]);
	is($r->{status}, 124, 'without a terminal nothing is answered unasked');
	like($r->{err}, qr/\Apaddock: \Q$id\E waits for an answer, and there is no terminal to ask at; paddock wait \Q$id\E does on one, or with --answer KEY=VALUE\npaddock: \Q$id\E has not ended in that time, and goes on\n\z/, 'wait without a terminal says once that the run waits for an answer');
	is(talk(['wait', $id, @there], qr/name"/ => "\cC")->{status}, 130, 'ctrl-C leaves it');
	is(json_to($cli->run(['status', $id, '--json', @there])->{out})->{status}, 'running', 'the run goes on after ctrl-C in wait');
	$cli->run(['cancel', $id, @there]);
	like($d->client->greeted->run('name', {}, mode => 'async')->{view}{runId}, qr/^run_/, 'who cannot answer later');
	like($cli->run(['wait', 'last', @there])->{err}, qr/ELICITATION_NOT_SUPPORTED/, 'a client that cannot answer leaves no question waiting');
}

{
	my $c = $d->client;
	my $asks = $c->call('tools/call', stateless({name => 'name', arguments => {}}, {elicitation => {}}))->{result};
	my $p = $cli->start(['wait', 'last', @there], @tty);

	$p->wait_shown(qr/waits for an answer that its own client alone can give/);
	$c->call('tools/call', stateless({name => 'name', arguments => {}, requestState => $asks->{requestState},
		inputResponses => {map { $_ => {action => 'accept', content => {name => 'Cy'}} } keys %{$asks->{inputRequests}}}}, {elicitation => {}}));
	is($p->finish->{out}, "succeeded\n", "what is another client's to answer is left to it");
}

# ---- inputs that were not given ----

{
	my $r = talk(['run', 'needs', @there, '-i', 'more=x'], qr/"n"/ => "12\n", qr/at most 9[\s\S]*"n"/ => "3\n", qr/"token"/ => "HUSH\n", qr/"text"/ => "\@text\n");

	same_json($r->{json}, {n => 3, secret => 4, text => "from a file\n", more => 'x'}, 'inputs are asked for, by the schema') or diag($r->{err});
	unlike($r->{err}, qr/HUSH/, 'a secret one is not shown');
	like($r->{err}, qr/"text", a text: \@text\n/, 'the prompt after a secret one echoes again');
	like($r->{err}, qr/\Apaddock: needs needs inputs that were not given:\n.*^needs asks for "n", an integer, 1 to 9: /ms, 'each is told in words');
	$r = talk(['run', 'needs', @there, '-i', 'n=3'], qr/"token"/ => "HUSH\n", qr/"text"/ => "\cD");
	is($r->{status}, 2, 'who gives none runs nothing');
	like($r->{err}, qr/not all inputs were given, so nothing was run/, 'the command says that not all inputs were given');
	is(talk(['run', 'needs', @there], qr/"n"/ => "\cC")->{status}, 130, 'ctrl-C leaves');
	for my $line ('@@text', '@text') {
		$r = talk(['run', 'file', @there], qr/"file"/ => "$line\n");
		is($r->{out}, qq("from a file\\n"\n), "a file is asked for, too: $line") or diag($r->{err});
	}
	$r = talk(['run', 'file', @there, '-i', 'file=@text']);
	is($r->{out}, qq("from a file\\n"\n), 'who gave all that are required') or diag($r->{err});
	unlike($r->{err}, qr/not given/, 'a run with all required inputs asks for none');
	said($cli->run(['run', 'needs', @there, '-i', 'n=3']), 2, qr/the input "token" is missing/, 'without a terminal the server says what is missing');
}

# ---- a page to open, which another server may ask for ----

{
	my $url = 'https://bank.example@evil.example:8443/' . 'path/' x 40 . '?q=1';
	my $at = 0;
	my $visit = sub {
		my ($to, @lines) = @_;
		my $path = "$cli->{root}/fake" . $at++;
		my $pid = fake_server($path, 'server/discover' => {supportedVersions => ['2026-07-28'], resultType => 'complete', _meta => {}},
		    run_task_template => sub {
			    my $said = $_[2]{params}{inputResponses}{q};

			    return $said ? {runId => 'run_' . 'a' x 26, status => 'succeeded', result => $said}
				: {resultType => 'input_required', requestState => 's', inputRequests => {q => {method => 'elicitation/create',
				   params => {mode => 'url', elicitationId => 'e', message => "Pay\npaddock: now", url => $to}}}}},
		    list_task_templates => {templates => []});
		my $r = talk(['run', 'x', '--socket', $path], @lines);

		kill KILL => $pid;
		waitpid $pid, 0;
		return $r;
	};
	my $r = $visit->($url, qr/have you done/ => "y\n");

	is($r->{json}{action}, 'accept', 'a page: who has been there says so') or diag($r->{err});
	like($r->{err}, qr/^paddock: x asks you to open a page:\n  \| Pay\n  \| paddock: now\n  \| \Q$url\E\n  the page is of evil\.example:8443; paddock does not open it\n/m,
	     'the URL of a page to open is shown in full, with the host');
	is($visit->($url, qr/have you done/ => "!cancel\n")->{json}{action}, 'cancel', 'a page to open can be cancelled');
	is($visit->('javascript:alert(1)')->{json}{action}, 'decline', 'what is no page is declined');
}

# ---- another user ----

SKIP: {
	skip_lacking(2, 'root');
	chmod 0755, $cli->{root}, $cli->{here};
	my $r = $cli->run(['run', 'name', '--templates', "$cli->{root}/templates", '--state-dir', "$cli->{here}/state", '--answer', 'name=Ann'], user => $NOBODY);
	mkdir "$cli->{here}/mine";
	chown $NOBODY, $NOBODY, "$cli->{here}/mine";
	$r = $cli->run(['run', 'name', '-q', '--templates', "$cli->{root}/templates", '--state-dir', "$cli->{here}/mine", '--answer', 'name=Ann'], user => $NOBODY);
	is($r->{status}, 0, 'an ordinary user') or diag($r->{err});
	is(json_to($r->{out} || '{}')->{content}{name}, 'Ann', 'an ordinary user\'s server takes answers');
}
$d->stop;
ok(strays_gone(), 'nothing is left behind');
done_testing();
