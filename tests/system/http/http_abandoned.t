#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Abandoned HTTP streams: the kept bytes and the number of streams have bounds.
use lib 'tests/lib';
use Paddock;
use Http;
use Task;

# A connection takes a descriptor at each end.
descriptors(4096);

my $SIZE = 2 << 20;
my %templates = (
	large => lua('run.sleep(inputs.ms) return {text = string.rep("x", inputs.size)}'),
	doze => lua('run.sleep(60000)'),
	asks => lua('local l = {} for i = 1, 64 do l[i] = i end
		run.map(l, {concurrency = 64}, function(i) return run.elicit{message = "q" .. i,
			schema = {type = "object", properties = {}}} end)', limits => {maxTimeoutMs => 600000}),
);

# Send N posts, 100 at a time, and leave each after the head: the number of each status.
sub post_and_leave {
	my ($n, $post) = @_;
	my %status;

	while ($n > 0) {
		my @conns = map { $post->($n--) } 1 .. ($n < 100 ? $n : 100);

		for my $conn (@conns) {
			$conn->head;
			$status{$conn->{status}}++;
		}
		$_->hang_up for @conns;
	}
	return \%status;
}

sub server {
	return Http->new(templates => \%templates, tokens => {ada => 't', bob => 'u'},
			 config => "[limits]\nmax_concurrent_runs = 4\n", @_);
}

{
	my $s = server();
	my @left = map { [$s->client('ada')->greeted] } 1 .. 48;

	# A post is a stream, since the run takes longer than a plain answer may take.
	push @$_, $_->[0]->post({jsonrpc => '2.0', id => 1, method => 'tools/call',
		params => {name => 'large', arguments =>
			   {ms => 400, size => $SIZE}}}) for @left;
	for (@left) { # it will have ended, each of its own session
		my $conn = pop @$_;

		$conn->head;
		push @$_, $conn->message->{id};
		$conn->hang_up;
	}
	until_true('all to end', sub {
		my @ended = $s->log_text =~ /template=large .*status=succeeded/g;
		return @ended == 48;
	});
	$s->client('bob')->greeted->tool('large', {ms => 0, size => 1});
	is($left[0][0]->listen($left[0][1])->{status}, 405,
	   'the oldest of many ended answers is dropped');
	my $conn = $left[-1][0]->listen($left[-1][1]);

	is($conn->message->{json}{id}, 1, 'MCP 36: the newest is, whole');
	my $peak = peak_kb($s->{pid});
	cmp_ok($peak, '<', 330_000 * $ROOM, "at most ${peak} kB were held");
	$s->stop;
}
{
	my $s = server();
	my @c = map { $s->client('ada')->greeted } 1 .. 3;
	my $id = start_task($c[0], 'doze', {}, ttl => 600000);
	my $n = post_and_leave(4200, sub { # to come, and their connections are gone
		return $c[$_[0] % 3]->post({jsonrpc => '2.0', id => 10 + $_[0],
			method => 'tasks/result', params => {taskId => $id}});
	});

	same_json($n, {200 => 4096, 429 => 104}, 'a requestor awaits so many answers');
	is($s->client('bob')->greeted->call('ping')->{result} ? 1 : 0, 1,
	   'another requestor\'s ping is answered');
	$s->stop(undef, 'QUIT');
}
# ---- many who wait for a task that asks what they cannot answer ----
{
	my $s = server();
	my $maker = $s->client('ada')->greeted('2025-11-25', {elicitation => {}});
	my $mute = $s->client('ada')->greeted;
	my $id = start_task($maker, 'asks', {}, task => {ttl => 600000});

	task_until($maker, $id, 'to ask', sub { $_->{status} eq 'input_required' });
	post_and_leave(2000, sub {
		return $mute->post({jsonrpc => '2.0', id => 10 + $_[0],
			method => 'tasks/result', params => {taskId => $id}});
	});
	is($mute->end, 204, 'the session of abandoned waits ends');
	my @stat = split ' ', read_file("/proc/$s->{pid}/stat") =~ s/^.*\) //sr;
	my $ticks = $stat[11] + $stat[12];
	cmp_ok($ticks / POSIX::sysconf(&POSIX::_SC_CLK_TCK), '<', 10,
	       '2,000 abandoned waits cost the server less than 10 s of CPU time');
	my $wait = $maker->post({jsonrpc => '2.0', id => 5, method => 'tasks/result',
				 params => {taskId => $id}});
	my %asked;

	$wait->head;
	while (keys %asked < 64 && (my $e = $wait->message)) {
		$asked{$e->{json}{params}{message}}++
		    if ($e->{json}{method} // '') eq 'elicitation/create';
	}
	is(scalar(keys %asked), 64, 'who can answer is asked all of it');
	$s->stop(undef, 'QUIT');
}
done_testing;
