#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# HTTP clients which do not read: the bytes kept for a client have bounds, and a client
# which reads later gets all kept bytes.
use lib 'tests/lib';
use Paddock;
use Http;
use Task;

my $SIZE = 2 << 20;
my %templates = (
	large => lua('run.sleep(inputs.ms) return {text = string.rep("x", inputs.size)}'),
);

sub server {
	return Http->new(templates => \%templates, tokens => {ada => 't', bob => 'u'},
			 config => "[limits]\nmax_concurrent_runs = 4\ninline_wait_ms = 1h\n", @_);
}

# The server closes a connection which reads nothing for 30 seconds: to keep the
# connections, however long the runs take on a busy machine, each of CONNS reads a little
# every five seconds.
my $SIP = 256 << 10;
my $sipped = time;

sub sip {
	my (@conns) = @_;

	return if time < $sipped + 5;
	for my $c (@conns) {
		$c->{size} += sysread($c->{fh}, my $data, $SIP) // 0;
	}
	$sipped = time;
}

# The number of bytes on each of CONNS, read together to the end.
sub sizes_of {
	my (@conns) = @_;
	my %left = map { fileno($_->{fh}) => $_ } @conns;
	my $deadline = time + 2 * $PATIENCE;

	$_->{size} //= 0 for @conns;
	while (%left && time < $deadline) {
		my $bits = '';

		vec($bits, $_, 1) = 1 for keys %left;
		select $bits, undef, undef, 1;
		for my $fd (grep { vec($bits, $_, 1) } keys %left) {
			my $n = sysread $left{$fd}{fh}, my $data, 1 << 18;

			$left{$fd}{size} += $n // 0;
			delete $left{$fd} if defined $n && $n == 0;
		}
	}
	return map { $_->{size} } @conns;
}

# The CPU time of the process, in steps of 10 ms.
sub cpu_ms {
	my ($pid) = @_;
	my @stat = split / /, read_file("/proc/$pid/stat") =~ s/^.*\) //r;

	return 10 * ($stat[11] + $stat[12]);
}

# An unread call of "large"; the server closes the connection after the answer.
sub deaf_call {
	my ($c, $id, $params) = @_;

	return $c->post_request('tools/call', $params, $id, Connection => 'close') if $c->isa('Http::Modern');
	return $c->post({jsonrpc => '2.0', id => $id, method => 'tools/call',
			 params => $params}, Connection => 'close');
}

# ---- plain calls, of one session, of many, and of none ----
for my $sessions (1, 20, 0) {
	my $s = server();
	my @c = map { $s->client('ada')->greeted } 1 .. $sessions;

	@c = $s->modern('ada') unless @c;
	my $n = 80;
	my @conns = map {
		my %in = (ms => 0, size => $SIZE);

		deaf_call($c[$_ % @c], 100 + $_, $_ % 2
			  ? {name => 'large', arguments => \%in}
			  : {name => 'run_task_template', arguments =>
			     {templateId => 'large', inputs => \%in}})
	} 1 .. $n;
	until_true('all to end', sub {
		my @ended = $s->log_text =~ /template=large .*status=succeeded/g;
		sip(@conns);
		return @ended == $n;
	});
	my $bob = $s->client('bob')->greeted;

	is_deeply($bob->tool(get_runtime_profile => {})->{view}{requestor}, 'bob',
		  'another requestor is served meanwhile');
	is_deeply($bob->tool(large => {ms => 0, size => 3})->{view}, {text => 'xxx'},
		  'runs of another requestor succeed meanwhile');
	my $whole = grep { $_ > 2 * $SIZE } sizes_of(@conns);

	is($whole, $n, "$sessions sessions: $n large answers come as they are read");
	my $peak = peak_kb($s->{pid});
	cmp_ok($peak, '<', 330_000 * $ROOM, "at most ${peak} kB were held");
	$s->stop;
}

# ---- many who wait for one task ----
{
	my $s = server();
	my @c = map { $s->client('ada')->greeted } 1 .. 8;
	my $n = 80;
	my $id = start_task($c[0], 'large', {ms => 300, size => $SIZE});
	my @conns = map { $c[$_ % @c]->post({jsonrpc => '2.0', id => 100 + $_,
		method => 'tasks/result', params => {taskId => $id}},
		Connection => 'close') } 1 .. $n;

	$s->log_has(qr/run=\Q$id\E .*status=succeeded/);
	my $whole = grep { $_ > 2 * $SIZE } sizes_of(@conns);

	is($whole, $n, "MCP 18: all $n who wait get the result as they read it");
	my $peak = peak_kb($s->{pid});
	cmp_ok($peak, '<', 330_000 * $ROOM, "at most ${peak} kB were held");
	$s->stop;
}

# ---- requests of many sessions, or of none, are held back: they wait, and the server rests ----
for my $modern (0, 1) {
	my $s = server();
	my @c = map { $modern ? $s->modern('ada') : $s->client('ada')->greeted } 1 .. 20;
	my $n = 12;
	my @large = map { deaf_call($c[0], 100 + $_, {name => 'large',
		arguments => {ms => 0, size => 2 * $SIZE}}) } 1 .. $n;

	until_true('all to end', sub {
		my @ended = $s->log_text =~ /template=large .*status=succeeded/g;
		sip(@large);
		return @ended == $n;
	});
	my @held = map { $modern ? $_->post_request('tools/list', {}, 1, Connection => 'close')
			     : $_->post({jsonrpc => '2.0', id => 1, method => 'tools/list'},
					Connection => 'close') } @c;

	$s->client('bob')->greeted; # whose answers are read: each may be next
	my $before = cpu_ms($s->{pid});

	sleep 2;
	cmp_ok(cpu_ms($s->{pid}) - $before, '<', 1000,
	       'who cannot go on is not asked again and again');
	my @sizes = sizes_of(@large, @held);

	is(scalar(grep { $_ > 2 * $SIZE } @sizes[0 .. $n - 1]), $n,
	   'the large answers come as they are read');
	is(scalar(grep { $_ > 1000 } @sizes[$n .. $#sizes]), scalar @held,
	   'held answers come after the large ones are read');
	$s->stop;
}

done_testing;
