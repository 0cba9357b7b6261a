#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Large answers to a client that does not read: they are made as it reads.
use lib 'tests/lib';
use Paddock;
use Task;

my %templates = (
    talk => lua('for i = 1, 4000 do run.log("info", string.rep("y", 2000)) end return {}'),
    large => lua('run.sleep(inputs.ms) return {text = string.rep("x", inputs.size)}'),
);

sub server { return Paddock->new(templates => \%templates, @_) }

# ---- 18: many wait for what is large, and do not read ----
{
	my $s = server();
	my $size = 2 << 20;
	my $n = 48;

	$s->init;
	my $id = start_task($s, 'large', {ms => 100, size => $size});
	my @waits = map { $s->request('tasks/result', {taskId => $id}) } 1 .. $n;
	$s->flush;
	$s->{deaf} = 1;
	$s->log_has(qr/run=\Q$id\E .*status=succeeded/);
	my ($lines, $bytes) = (0, 0);
	until_true('all answers', sub { # without a look at them, which takes long
		my $got;

		while ($got = sysread $s->{from}, my $data, 1 << 20) {
			$lines += $data =~ tr/\n//;
			$bytes += $got;
		}
		return $lines > $n || defined $got; # the status is one as well
	});
	ok($lines > $n && $bytes > 2 * $size * $n,
	   "MCP 18: all $n who wait for a large result get it");
	$s->{deaf} = 0;
	my $peak = peak_kb($s->{pid});
	cmp_ok($peak, '<', 250_000 * $ROOM, "  answers were made as the client read: at most ${peak} kB were held");
	$s->stop;
}

# ---- the same of plain calls ----
{
	my $s = server(config => {max_concurrent_runs => 4});
	my $size = 2 << 20;
	my $n = 100;
	my ($lines, $bytes) = (0, 0);

	$s->init;
	for (1 .. $n) {
		my %args = (ms => 0, size => $size);

		if ($_ % 2) {
			$s->request('tools/call', {name => 'large', arguments => \%args});
		} else {
			$s->request('tools/call', {name => 'run_task_template',
				arguments => {templateId => 'large', inputs => \%args}});
		}
	}
	$s->{deaf} = 1;
	$s->flush;
	until_true('all to end', sub {
		my @ended = $s->log_text =~ /template=large .*status=succeeded/g;
		return @ended == $n;
	});
	until_true('all answers', sub {
		my $got;

		while ($got = sysread $s->{from}, my $data, 1 << 20) {
			$lines += $data =~ tr/\n//;
			$bytes += $got;
		}
		return $lines >= $n || defined $got;
	});
	ok($lines >= $n && $bytes > 2 * $size * $n,
	   "$n large results are given as they are read");
	my $peak = peak_kb($s->{pid});
	cmp_ok($peak, '<', 250_000 * $ROOM, "at most ${peak} kB were held");
	$s->{deaf} = 0;
	$s->stop;
}

# ---- log lines that the client does not read ----
{
	my $s = server();
	my ($text, $ping) = ('');

	$s->init;
	$s->request('tools/call', {name => 'talk', arguments => {}});
	$s->{deaf} = 1;
	$s->flush;
	$s->log_has(qr/template=talk .*status=succeeded/);
	$ping = $s->request('ping', {});
	$s->flush;
	until_true('the answer to the ping', sub {
		my $got;

		1 while $got = sysread $s->{from}, $text, 1 << 20, length $text;
		return $text =~ /"id":$ping\b/ || defined $got;
	});
	like($text, qr/"id":$ping\b/, 'a ping is answered after 8 MB of log lines that the client has not read');
	cmp_ok(length $text, '<', 3 << 20, 'fewer than 3 MiB of these log lines are sent before the answer');
	like($text, qr/yyyy/, 'the first of the log lines are sent');
	$s->{deaf} = 0;
	$s->stop;
}

done_testing;
