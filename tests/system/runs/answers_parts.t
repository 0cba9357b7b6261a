#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# No message to a client is longer than max_answer_bytes: replies of templates,
# logs, artifacts, batches, pages of lists, and older revisions, as answers_large.t
# has it for results. The command reads all.
use utf8;
use bytes ();
use lib 'tests/lib';
use Paddock;
use Answers;
use Daemon;
use MIME::Base64 qw(decode_base64);

my %limits = (max_answer_bytes => $MOST);
my %room = (limits => {maxOutputBytes => 40 * $MIB, maxMemoryBytes => 512 * $MIB,
		       maxLoggedBytes => 14 * $MIB, maxArtifactBytes => 64 * $MIB},
	    executionMode => 'sync');
my %templates = (
	gives => lua("$s_of return {s = s}", outputsSchema => \%text, %room),
	plain => lua("$s_of return s", %room),
	says => lua("$s_of return run.reply{content = {{type = 'text', text = 'first'}, " .
		    "{type = 'text', text = s}, {type = 'image', mimeType = 'image/png', data = " .
		    "run.base64.encode(s)}, {type = 'text', text = 'last'}}}", %room),
	shows => lua("$s_of return run.reply{content = {{type = 'text', text = 'short'}}, " .
		     "structuredContent = {s = s}}", outputsSchema => \%text, %room),
	errs => lua("$s_of return run.reply{isError = true, content = {{type = 'text', text = s}}}",
		    outputsSchema => \%text, %room),
	breaks => lua("$s_of return run.reply{error = {code = 17, message = 'no', data = {s = s}}}", %room),
	steps => lua('run.map((function() local t = {} for i = 1, 5000 do t[i] = i end return t end)(), ' .
		     '{step = "s"}, function(i) error(string.rep("e", 900)) end) return {}',
		     supportsPartialSuccess => true, partialSuccessThreshold => 0, %room),
	logs => lua('for i = 1, 160 do run.log("info", i .. string.rep("\1", 10000) .. "\n") end ' .
		    'for i = 1, 100 do run.log("info", string.rep("l", 60000)) run.sleep(1) end return {}', %room),
	file => lua("$s_of run.artifact{name = 'f', mimeType = 'text/plain', data = s} return {}", %room),
);
my $s = Paddock->new(templates => \%templates, config => {%limits, max_artifact_inline_bytes => 64 * $MIB});
my %tool;

$s->init;
%tool = map { $_->{name} => $_ } @{$s->call('tools/list')->{result}{tools}};

# ---- replies, and what is no object ----

{
	my $long = $s->tool('gives', {n => 2.5 * $MIB});

	within($long->{raw}, 'a long result');
	is($long->{structuredContent}{mode}, 'link', '  structuredContent gave way');

	my $r = $s->tool('plain', {n => 1.25 * $MIB, unit => "\x{e4}"});

	within($r->{raw}, 'a string of 1.25 Mi characters');
	ok(!exists $r->{structuredContent}, '  a long string has no structuredContent');
	is(length json_to(do { my $t = read_all($s, 'parts', map { $_->{uri} } links($r)); utf8::encode($t); $t }), 1.25 * $MIB,
	   '  parts of a string end where characters do');
	$r = $s->tool('says', {n => 1.25 * $MIB});
	within($r->{raw}, 'a reply with a long text and an image');
	is($r->{content}[0]{text}, 'first', '  short blocks stay');
	like($r->{content}[1]{text}, qr/^x+…$/, '  of a long text there is the beginning');
	like($r->{content}[2]{text}, qr/^\[image: \d+ bytes, too long/, '  in place of an image what it was');
	is($r->{content}[3]{text}, 'last', '  what comes later is there');
	like($r->{content}[4]{text}, qr/cut short.*max_answer_bytes/, '  the answer says that the reply was cut short');
	my $whole = json_to(read_all($s, 'parts', map { $_->{uri} } links($r)));
	is(length($whole->{content}[1]{text}), 1.25 * $MIB, '  the links lead to all');

	$r = $s->tool('shows', {n => 2.5 * $MIB});
	within($r->{raw}, 'a reply with a long structuredContent');
	is($r->{content}[0]{text}, 'short', '  the text of a reply with a long structuredContent stays');
	is($r->{structuredContent}{mode}, 'link', '  structuredContent is a handle');
	is(join('; ', schema_errors($tool{shows}{outputSchema}, $r->{structuredContent})), '', '  the handle fits the outputSchema');
	$r = $s->tool('errs', {n => 2.5 * $MIB});
	within($r->{raw}, 'a long error');
	ok($r->{isError} && !exists $r->{structuredContent}, '  a long error has isError');
	$r = $s->call('tools/call', {name => 'breaks', arguments => {n => 2.5 * $MIB}});
	same_json($r->{error}, {code => 17, message => 'no'}, 'an error with long data has none');
	$r = $s->run('steps', {}, mode => 'sync');
	within($r->{raw}, 'a view with many long steps');
	like(texts($r), qr/5000 of 5000 steps failed/, '  the text of a view with many steps says how many failed');
	is(join('; ', schema_errors($tool{run_task_template}{outputSchema}, $r->{structuredContent})), '', '  the view with long steps fits the outputSchema');
}

# ---- logs, artifacts ----

{
	my $run = $s->run_sync('logs')->{runId};
	my $a = $s->call('resources/read', {uri => "paddock://runs/$run/log"});

	like($a->{error}{message}, qr{no message.*max_answer_bytes.*/log\?offset=0}, 'a long log is refused, with the way out');
	my $log = read_on($s, 'a log', "paddock://runs/$run/log?offset=0");
	is(scalar(() = $log =~ /\n/g) >= 100, 1, '  all of it is read in parts');
	ok(length $log > 1.5 * $MIB, '  ' . length($log) . ' bytes');
	$a = $s->call('resources/read', {uri => "paddock://runs/$run/log?offset=99999999"});
	is($a->{result}{contents}[0]{text}, '', '  beyond its end there is nothing yet');
	for my $bad ('offset=', 'offset=1x', 'limit=0', 'offset=1&offset=2', 'other=1', '', 'offset=1234567890123456') {
		is($s->call('resources/read', {uri => "paddock://runs/$run/log?$bad"})->{error}{code}, -32002, "?$bad is no resource");
	}
	is($s->call('resources/subscribe', {uri => "paddock://runs/$run/log?offset=0"})->{error}{code}, -32002, 'no part is subscribed to');

	my $view = $s->run_sync('file', {n => 2 * $MIB, unit => "\1"});
	my $art = $view->{artifacts}[0]{artifactId};
	my ($at, $got) = (0, '');
	until ($at >= 2 * $MIB) {
		my $r = $s->tool(get_artifact => {artifactId => $art, offset => $at});

		within($r->{raw}, "get_artifact at $at") or last;
		$at += $r->{view}{bytesReturned} || last;
		$got .= decode_base64($r->{view}{data});
	}
	is($got eq "\1" x (2 * $MIB), 1, 'an artifact is given in pieces that messages have room for');
	my $most = $s->tool('get_runtime_profile')->{view}{limits};
	ok($most->{maxArtifactInlineBytes} < $MOST / 2 && $most->{maxAnswerBytes} == $MOST, '  the profile tells the longest artifact and answer');
	my $uri = "paddock://runs/$view->{runId}/artifacts/$art";
	like($s->call('resources/read', {uri => $uri})->{error}{message}, qr/get_artifact.*\?offset=0/, 'a long artifact is refused as a resource with a hint');
	is(length read_on($s, 'an artifact', "$uri?offset=0&limit=300000"), 2 * $MIB, '  ranges of the resource lead to the whole artifact');
}
$s->stop;

# ---- older revisions: text alone, and batches ----

{
	my $s = Paddock->new(templates => \%templates, config => \%limits)->greeted('2025-03-26');
	my $r = $s->tool('gives', {n => 2.5 * $MIB});
	within($r->{raw}, '2025-03-26: a long result');
	my ($uri) = texts($r) =~ m{(paddock://runs/run_\w+/result\?offset=0)};
	my ($at, $all) = (0, '');
	while (1) {
		my $part = $s->call('resources/read', {uri => $uri =~ s/0$/$at/r})->{result}{contents}[0]{text};

		last unless length($part // '');
		$all .= $part;
		$at = bytes::length($all);
	}
	is(length json_to($all)->{s}, 2.5 * $MIB, '  the result is read in parts');

	my $art = $s->run_sync('file', {n => 0.5 * $MIB})->{artifacts}[0]{artifactId};

	$s->{kept} = [];
	my @calls = map { {name => 'gives', arguments => {n => 0.75 * $MIB}} } 1 .. 4;
	my $line = $s->exchange(json_of([map { {jsonrpc => '2.0', id => "b$_", method => 'tools/call',
		params => $calls[$_]} } 0 .. 3]) . "\n");
	within($line, 'a batch of long results');
	my @all = @{json_to($line)};
	is(scalar(grep { $_->{result} || $_->{error}{message} =~ /in no batch/ } @all), 4, '  each is there, or an error that says why not');
	ok((grep { $_->{result} } @all) > 1, '  a batch has as many results as fit');
	$line = $s->exchange(json_of([map { {jsonrpc => '2.0', id => "c$_", method => 'tools/call',
		params => {name => 'get_artifact', arguments => {artifactId => $art}}} } 0 .. 7]) . "\n");
	within($line, 'a batch of artifacts');
	my @refused = grep { $_->{error} } @{json_to($line)};
	ok(@refused > 0 && @refused < 8, '  some artifacts of a batch are errors');
	like($refused[0]{error}{message}, qr/max_answer_bytes.*in no batch/, '  the errors of a batch say why');
	$s->stop;
}

# ---- lists ----

{
	my $long = 'd' x 300_000;
	my %many = map { my $n = $_; sprintf('t%02d', $n) => lua('return {}', inputsSchema =>
		{type => 'object', properties => {p => {type => 'string', description => $long}}}) } 0 .. 39;
	my $s = Paddock->new(templates => \%many, config => \%limits)->greeted;
	my ($cursor, @names, $pages);

	do {
		my $a = $s->call('tools/list', defined $cursor ? {cursor => $cursor} : {});

		within($a->{raw}, 'a page of tools');
		push @names, grep { /^t\d\d$/ } map { $_->{name} } @{$a->{result}{tools}};
		$cursor = $a->{result}{nextCursor};
		$pages++;
	} while (defined $cursor);
	is("@names", join(' ', sort keys %many), "the pages ($pages) have all tools");

	my ($offset, @ids) = (0);
	do {
		my $r = $s->tool('list_task_templates', {offset => $offset});

		within($r->{raw}, "templates from $offset on");
		push @ids, map { $_->{templateId} } @{$r->{structuredContent}{templates}};
		$offset = $r->{structuredContent}{nextOffset};
	} while (defined $offset);
	is("@ids", join(' ', sort keys %many), 'list_task_templates has all templates, in parts');

	$s->stop;
}

# ---- the command reads all ----

{
	my $s = Daemon->new(templates => \%templates, config => \%limits);
	my @at = ('--socket', $s->{socket});

	$s->ready;
	my $got = qx($BUILD/paddock run gives -i n:=5000000 --json @at 2>/dev/null);
	is(length(json_to($got)->{result}{s}), 5_000_000, 'paddock run prints a long result');
	my $id = json_to($got)->{runId};
	$got = qx($BUILD/paddock status $id --json @at 2>/dev/null);
	is(length(json_to($got)->{result}{s}), 5_000_000, 'paddock status likewise');
	$id = json_to(scalar qx($BUILD/paddock run logs --json @at 2>/dev/null))->{runId};
	ok(length(qx($BUILD/paddock logs $id @at 2>/dev/null)) > 1.5 * $MIB, 'paddock logs prints a long log');
	$s->stop;
}

done_testing;
