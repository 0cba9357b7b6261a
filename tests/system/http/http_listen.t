#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# http_listen.t - subscriptions/listen over HTTP: a stream that stays, until its
# client closes it or the server ends.
use lib 'tests/lib';
use Paddock;
use Http;

my $SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
my %templates = (
	notes => lua('', resources => [{uri => 'notes:a', name => 'a', text => 'old'}]),
	nap   => lua('run.progress(0, 1, "napping") run.sleep(1000) return {slept = true}', taskSupport => 'required'),
	large => lua('return {text = ("x"):rep(400000)}', taskSupport => 'required'),
	hold  => lua('run.progress(0, 9, "held") while run.sleep(60000) do end return {}'),
);
my $s = Http->new(templates => \%templates, tokens => {one => 'a' x 40, two => 'b' x 40},
		  config => "[limits]\nmax_listen_streams = 4\nsse_keepalive_ms = 50\n");

sub ask { # a request that listens to FILTER; its connection
	my ($c, $filter, $id) = @_;

	return $c->post_request('subscriptions/listen', {notifications => $filter}, $id // 1);
}

# The same, once it is acknowledged; what is.
sub listening {
	my $conn = ask(@_);

	$conn->head;
	return ($conn, $conn->message->{json});
}

my $changes = 0;
sub reload { # the templates are others
	$changes++;
	$s->write_templates({%templates, "more$changes" => lua('return 1', trustLevelSupport => ['local', 'remote']),
			     notes => lua('', trustLevelSupport => ['local', 'remote'],
					  resources => [{uri => 'notes:a', name => 'a', text => "is $changes"}])});
	$s->reload;
}

sub methods { my ($conn, $n) = @_; return [sort map { $conn->message->{json}{method} =~ s{^notifications/}{}r } 1 .. $n] }

my ($one, $two) = ($s->modern('one'), $s->modern('two'));

# ---- a stream ----

my ($conn, $first) = listening($one, {toolsListChanged => true, resourceSubscriptions => ['notes:a', 'notes:b']}, 'mine');

is($conn->{status}, 200, 'MCP26 7: who listens has a stream');
like($conn->{headers}{'content-type'}, qr{^text/event-stream}, 'of events');
same_json($first, {jsonrpc => '2.0', method => 'notifications/subscriptions/acknowledged', params => {
	  notifications => {toolsListChanged => true, resourceSubscriptions => ['notes:a']}, _meta => {$SUBSCRIPTION => 'mine'}}},
	  'MCP26 7: which begins with what is honoured');
ok($conn->event->{comment}, 'MCP26 11: while nothing happens there are comments');

my ($same, $second) = listening($two, {promptsListChanged => true}, 'mine');
my ($number) = listening($one, {promptsListChanged => true, resourcesListChanged => true}, 7);

reload();
same_json(methods($conn, 2), ['resources/updated', 'tools/list_changed'], 'MCP26 7: each stream has what its request asked for');
same_json(methods($number, 2), ['prompts/list_changed', 'resources/list_changed'], 'MCP26 7: a stream has nothing that the request did not ask for');
same_json($same->message->{json}, {jsonrpc => '2.0', method => 'notifications/prompts/list_changed',
	  params => {_meta => {$SUBSCRIPTION => 'mine'}}}, 'MCP26 7: one id of two clients, each its own');
my $old = $s->client('one')->greeted;
reload();
same_json([methods($conn, 2), methods($number, 2), methods($same, 1)],
	  [['resources/updated', 'tools/list_changed'], ['prompts/list_changed', 'resources/list_changed'], ['prompts/list_changed']],
	  'MCP26 7: changes are told as often as the lists change');

# ---- how many, and whose ----

my @more = map { (listening($one, {}, $_))[0] } 1, 2;
my $r = ask($one, {})->response;

same_json([$r->{status}, $r->{json}{error}{code}, $r->{json}{error}{data}{limit}], [429, 429, 'max_listen_streams'],
	  'MCP26 7: one too many is told to come later');
like($r->{headers}{'retry-after'}, qr/^\d+$/, 'MCP26 7: the refusal of a stream says when to come back');
is((listening($two, {}))[1]{method}, 'notifications/subscriptions/acknowledged', 'others have their own');
$more[0]->hang_up;
my $again;
until_true('a place to be free', sub {
	$again = ask($one, {});
	return $again->head == 200;
});
ok($again->message, 'MCP26 8: closing a stream ends what it listens to');

my $run = $one->run('hold', {}, mode => 'async')->{view}{runId};
$more[1]->hang_up;
$again->hang_up;
until_true('two places to be free', sub { $again = ask($one, {}); return $again->head == 200 });
my ($theirs, $honoured) = listening($two, {resourceSubscriptions => ["paddock://runs/$run", "paddock://runs/$run/log", 'notes:a']});
same_json($honoured->{params}{notifications}, {resourceSubscriptions => ['notes:a']},
	  'what is another\'s is left out, like what does not exist');
$one->tool(cancel_task_run => {runId => $run});

# ---- tasks ----

$_->hang_up for $theirs, $again;
$two->{capabilities} = {extensions => {'io.modelcontextprotocol/tasks' => {}}};
{
	my @tasks = map { $two->call('tools/call', {name => 'large', arguments => {}})->{result}{taskId} } 1 .. 3;
	my ($stream) = listening($two, {taskIds => \@tasks}, 'large');
	my %length;

	while (keys %length < @tasks) {
		my $t = $stream->message->{json}{params} // last;

		$length{$t->{taskId}} = length $t->{result}{structuredContent}{text} if $t->{status} eq 'completed';
	}
	same_json(\%length, {map { ($_ => 400000) } @tasks}, 'MCP26 20: what is large comes whole');
	$stream->hang_up;
}

# ---- the end ----

my $task = $two->call('tools/call', {name => 'nap', arguments => {}})->{result}{taskId};
my ($napping) = listening($two, {taskIds => [$task]}, 'nap');
my $awake;

do { $awake = $napping->message->{json}{params} } until ($awake->{statusMessage} // '') eq 'napping';
$s->signal('TERM');
for (['mine', $conn], ['mine', $same], [7, $number]) {
	my ($id, $stream) = @$_;
	my $last = $stream->message->{json};

	same_json([@$last{qw(id method)}, $last->{result}{resultType}, $last->{result}{_meta}{$SUBSCRIPTION}],
		  [$id, undef, 'complete', $id], 'MCP26 7: the end of the server is the answer');
	ok(!defined $stream->message, 'MCP26 7: the answer is the last message of a stream');
}
do { $awake = $napping->message->{json} } until ($awake->{params}{status} // 'completed') eq 'completed';
same_json($awake->{params}{result}{structuredContent}, {slept => true},
	  'MCP26 7: what goes on until then is told of before, and its end with its result');
same_json($napping->message->{json}{id}, 'nap', 'MCP26 7: the stream of a task ends with the server');
ok(!defined $napping->message, 'MCP26 7: nothing follows the end of a task\'s stream');
$s->wait_exit;
done_testing;
