#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# More questions than a client may be asked at once, from tasks which have expired
# meanwhile: some questions are refused during the walk, which ends the feeds of the tasks.
# Each question ends once, and the server lives.
use lib 'tests/lib';
use Paddock;
use Http;

my $EACH = 60;     # questions of a task
my $AT_ONCE = 256; # that a session may be asked
my $TTL = 3000;    # long enough for all of them to be asked

my $s = Http->new(
	templates => {crowd => lua("local list, got = {}, {}
		for i = 1, $EACH do list[i] = i end
		for _, r in ipairs(run.map(list, {concurrency = $EACH, step = 'ask'}, function()
			local ok, e = pcall(run.elicit, {message = 'who?', timeout = 600000,
				schema = {type = 'object', properties = {}}})
			return ok and 'answered' or e.code
		end)) do got[r.value] = (got[r.value] or 0) + 1 end
		return got", limits => {maxTimeoutMs => 600000})},
	config => "[limits]\nmax_concurrent_runs = 10\n",
	env => {MALLOC_PERTURB_ => 165}); # what is used after it was freed shows

# A task of C which has asked all its questions; the id.
sub crowd {
	my ($c, $ttl) = @_;
	my $id = $c->call('tools/call', {name => 'crowd', arguments => {}, task => {ttl => $ttl}})->{result}{task}{taskId};

	$c->get_until($id, 'to ask all', sub { $EACH == grep { $_->{status} ne 'pending' } @{$_->{steps} // []} });
	return $id;
}

sub expired {
	my ($c, $id) = @_;

	until_true("$id to expire", sub { exists $c->call('tasks/get', {taskId => $id})->{error} });
}

# Read N questions on CONN.
sub questions {
	my ($conn, $n) = @_;
	my @all;

	while (@all < $n) {
		my $e = $conn->message // last;

		push @all, $e->{json} if ($e->{json}{method} // '') eq 'elicitation/create';
	}
	return @all;
}

# {how a question ended => how many} of all in the runs IDS.
sub outcomes {
	my ($c, @ids) = @_;
	my %sum;

	for my $id (@ids) {
		my $got = $c->ended($id)->{result} // {};

		$sum{$_} += $got->{$_} for keys %$got;
	}
	return \%sum;
}

sub client { return $s->client->greeted(undef, {elicitation => {}}) }

{
	my $c = client();
	my @tasks = map { crowd($c, $TTL) } 1 .. 6; # without a stream: held

	expired($c, $_) for @tasks;
	my @asked = questions($c->listen, $AT_ONCE);
	is(scalar @asked, $AT_ONCE, 'a stream opens, and the client is asked as much as it may be');
	$c->respond($_->{id}, {action => 'decline'}) for @asked;
	same_json(outcomes($c, @tasks), {answered => $AT_ONCE, INPUT_FAILED => 6 * $EACH - $AT_ONCE},
		  '  what is too much is refused; each question ended once');
	$c->end;
}
{
	my ($c, $busy) = (client(), client());
	my ($stream, $other) = ($c->listen, $busy->listen);
	my @tasks = map { crowd($c, $TTL) } 1 .. 4;
	my @own = map { crowd($busy, 600000) } 1 .. 5;
	my @waits = map { $busy->request('tasks/result', {taskId => $_}) } @tasks;
	my @asked = questions($other, $AT_ONCE);

	questions($stream, 4 * $EACH);
	$busy->route($_)->head for @waits; # they have begun
	expired($c, $_) for @tasks;
	$stream->hang_up;
	same_json(outcomes($c, @tasks), {INPUT_FAILED => 4 * $EACH},
		  'a stream ends, and who waits beside it is asked too much already: refused');
	$busy->respond($_->{id}, {action => 'decline'}) for @asked;
	same_json(outcomes($busy, @own), {answered => $AT_ONCE, INPUT_FAILED => 5 * $EACH - $AT_ONCE},
		  '  what that one was asked before goes on');
}

$s->stop;
done_testing;
