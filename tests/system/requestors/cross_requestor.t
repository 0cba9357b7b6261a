#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Every method with an id: an id of another requestor gets byte for byte the answer of an
# unknown id, over HTTP and over the socket.
use lib 'tests/lib';
use Paddock;
use Http;
use Task;

my %templates = (
	doze => lua('run.progress(0, 1, "dozing") while not run.cancelled() do run.sleep(20) end'),
	made => lua('run.log("info", "a line") run.artifact{name = "x", mimeType = "text/plain",
		     data = "secret"} return {}'),
);
my %token = (ada => 'a' x 43, bob => 'b' x 43);
my $s = Http->new(templates => \%templates, tokens => \%token);

# Calls with ids, with RUN and ART in place; and the ids.
my @ways = (
	(map { ['tools/call', {name => $_, arguments => {runId => 'RUN'}}] }
	 qw(get_task_run cancel_task_run retry_task_run)),
	['paddock/deleteRuns', {runIds => ['RUN']}],
	['tools/call', {name => 'get_artifact', arguments => {artifactId => 'ART'}}],
	(map { ["tasks/$_", {taskId => 'RUN'}] } qw(get result cancel)),
	(map { my $m = $_; map { ["resources/$m", {uri => "paddock://runs/RUN$_"}] }
	       '', '/log', '/artifacts/ART' } qw(read subscribe unsubscribe)),
	['completion/complete', {ref => {type => 'ref/resource',
		uri => 'paddock://runs/{runId}/artifacts/{artifactId}'},
		argument => {name => 'artifactId', value => ''},
		context => {arguments => {runId => 'RUN'}}}],
	['completion/complete', {ref => {type => 'ref/resource',
		uri => 'paddock://runs/{runId}'}, argument => {name => 'runId', value => 'RUN'}}],
);

my @modern_ways = ((grep { $_->[0] !~ /^tasks|subscribe$/ } @ways),
	['tasks/get', {taskId => 'RUN'}], ['tasks/cancel', {taskId => 'RUN'}],
	['tasks/update', {taskId => 'RUN', inputResponses => {'input-0' => {action => 'accept', content => {}}}}]);

# The bytes of the answers with the given ids, which the answers name.
sub answers {
	my ($c, $run, $art) = @_;

	return map {
		my ($method, $params) = @$_;
		my $text = json_of($params) =~ s/RUN/$run/gr =~ s/ART/$art/gr;
		my $id = $c->request($method, json_to($text));
		my $raw = $c->answer($id)->{raw};

		$raw =~ s/"id":$id\b/"id":0/r =~ s/$run/RUN/gr =~ s/$art/ART/gr;
	} @ways;
}

my $ada = $s->client('ada')->greeted;
my $live = start_task($ada, 'doze', {}, task => {ttl => 600000});
my $over = start_task($ada, 'made', {}, task => {ttl => 600000});

$ada->saying($live, 'dozing');
task_until($ada, $over, 'to end', sub { $_->{status} eq 'completed' });
my $art = $ada->get($over)->{artifacts}[0]{artifactId};
my %unknown = (run => 'run_' . 'a' x 26, art => 'art_' . 'a' x 26);
my $socket = Client->new($s)->greeted;

{
	my ($complete) = grep { $_->[0] eq 'completion/complete' } @ways;
	my $bob = $s->client('bob')->greeted;

	$bob->call($complete->[0], json_to(json_of($complete->[1]) =~ s/RUN/$unknown{run}/r));
	ok($s->log_has(qr/requestor=bob lookups_failed=1$/m), 'a run that is none, whose artifacts are to be completed, is counted');
}

# The same for MCP 2026-07-28, which has other forms of the calls.
sub modern_answers {
	my ($c, $run, $art) = @_;

	return map {
		my ($method, $params) = @$_;
		my $text = json_of($params) =~ s/RUN/$run/gr =~ s/ART/$art/gr;
		my $raw = ext_call($c, $method, json_to($text))->{raw};

		$raw =~ s/"id":\d+\b/"id":0/r =~ s/$run/RUN/gr =~ s/$art/ART/gr;
	} @modern_ways;
}

for (['bob, over HTTP', $s->client('bob')->greeted], ['the local user, by the socket', $socket]) {
	my ($who, $c) = @$_;
	my @never = answers($c, @unknown{qw(run art)});

	for my $case (['one that goes on', $live], ['one that has ended', $over]) {
		my @foreign = answers($c, $case->[1], $art);

		is($foreign[$_], $never[$_], "MCP 25: $who: $ways[$_][0] of $case->[0]: " .
		   substr(json_of($ways[$_][1]), 0, 60)) for 0 .. $#ways;
	}
	ok(!(grep { /secret|a line|dozing/ } @never), "$who: no answer about an unknown id tells anything");
	is(scalar(@{$c->tool('list_task_runs', {})->{view}{runs}}), 0, "$who: lists none");
	same_json($c->call('tasks/list')->{result}{tasks}, [], "$who: tasks/list shows none");
}
for (['bob, over HTTP', $s->modern('bob')], ['the local user, by the socket', $socket]) {
	my ($who, $c) = @$_;
	my @never = modern_answers($c, @unknown{qw(run art)});

	for my $case (['one that goes on', $live], ['one that has ended', $over]) {
		my @foreign = modern_answers($c, $case->[1], $art);

		is($foreign[$_], $never[$_], "MCP26 20: $who: $modern_ways[$_][0] of $case->[0]: " .
		   substr(json_of($modern_ways[$_][1]), 0, 60)) for 0 .. $#modern_ways;
	}
}
is(get_task($ada, $live)->{status}, 'working', 'the run goes on, for all that');
$ada->call('tasks/cancel', {taskId => $live});
task_until($ada, $live, 'to be cancelled', sub { $_->{status} eq 'cancelled' });
$socket->hang_up;
$s->stop;
done_testing;
