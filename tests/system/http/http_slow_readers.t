#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Clients over HTTP that do not read: what is kept for them has bounds, and all
# that they read after all is there.
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
			 config => "[limits]\nmax_concurrent_runs = 4\n", @_);
}

# How many bytes came on each of CONNS, which are read together to their ends.
sub sizes_of {
	my (@conns) = @_;
	my %left = map { fileno($_->{fh}) => $_ } @conns;
	my $deadline = time + 2 * $PATIENCE;

	$_->{size} = 0 for @conns;
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

# A call of "large" that is not read; the server closes after its answer.
sub deaf_call {
	my ($c, $id, $params) = @_;

	return $c->post({jsonrpc => '2.0', id => $id, method => 'tools/call',
			 params => $params}, Connection => 'close');
}

# ---- plain calls, of one session and of many ----
for my $sessions (1, 20) {
	my $s = server();
	my @c = map { $s->client('ada')->greeted } 1 .. $sessions;
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
		return @ended == $n;
	});
	my $bob = $s->client('bob')->greeted;

	is_deeply($bob->tool(get_runtime_profile => {})->{view}{requestor}, 'bob',
		  'another requestor is served meanwhile');
	is_deeply($bob->tool(large => {ms => 0, size => 3})->{view}, {text => 'xxx'},
		  'and its runs');
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

done_testing;
