#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A machine with 2 GB: the server and all runs in a memory cgroup of this size. The runs
# within the limit of places get the promised memory; too much memory for a run ends the run
# by its limit, and too much for the machine ends runs, never the server.
use lib 'tests/lib';
use Paddock;
use Http;

my $BYTES = 2 << 30;
my $MOST = 5; # max_concurrent_runs, as it is by default

# A memory cgroup of BYTES below the test's, by version 1 or 2; a command to join, or undef.
sub small_group {
	my %own = map { my (undef, $names, $path) = split /:/, $_, 3; map { $_ => $path } $names eq '' ? '' : split /,/, $names }
	    split /\n/, read_file('/proc/self/cgroup') // '';
	my ($dir, $limit) = defined $own{memory} && -d '/sys/fs/cgroup/memory' ? ("/sys/fs/cgroup/memory$own{memory}", 'memory.limit_in_bytes')
	    : defined $own{''} ? ("/sys/fs/cgroup$own{''}", 'memory.max') : return;
	my $group = ($dir =~ s{/$}{}r) . "/paddock-small-$$";

	mkdir $group or return;
	open my $f, '>', "$group/$limit" or do { rmdir $group; return };
	syswrite($f, $BYTES) or do { rmdir $group; return };
	return $group;
}

needs('root');
my $group = small_group() // plan skip_all => 'no cgroup of this machine can be given a limit of memory here';
END { rmdir $group if defined $group }

my $fill = 'local t = {} for i = 1, inputs.mb do t[i] = ("%d"):format(i):rep((1 << 20) // #("%d"):format(i)) end';
my %templates = (
	echo => lua('return inputs'),
	keeps => lua("$fill run.progress(0, 1, 'full') while not run.cancelled() do run.sleep(20) end return #t"),
	hog => lua("$fill return #t"),
	p_hog => {program => "#!/usr/bin/perl\nmy \@a; push \@a, 'x' x (1 << 20) for 1 .. 4000; print 1\n"},
	large => lua("$fill run.progress(0, 1, 'full') while not run.cancelled() do run.sleep(20) end return #t", limits => {maxMemoryBytes => 1 << 30}),
);
my $s = Http->new(templates => \%templates, tokens => {ada => 'a', eve => 'e'}, limits => {}, config => "[limits]\n",
	wrap => ['sh', '-c', 'echo $$ >"$0/cgroup.procs" && exec "$@"', $group]);
my $ada = $s->client('ada')->greeted;
my $eve = $s->client('eve')->greeted;

sub status { my ($v) = @_; return join ' ', $v->{status} // 'none', $v->{error} ? ($v->{error}{errorCode}, $v->{error}{details}{limit} // ()) : () }

# ---- as many as may run at a time, each with nearly all that it may have ----
{
	my @runs = map { $eve->run_async(keeps => {mb => 90}) } 1 .. $MOST - 1;

	$eve->saying($_, 'full') for @runs;
	is(status($ada->run_sync(hog => {mb => 90})), 'succeeded', "$MOST runs at a time have what they were promised");
	my @more = map { $eve->run_async(echo => {n => $_}) } 1 .. 30;
	is(status($ada->run_sync(echo => {n => 1})), 'succeeded', 'while more wait, somebody else\'s run has its place');
	$eve->tool(cancel_task_run => {runId => $_}) for @runs;
	is_deeply([grep { status($eve->ended($_)) ne 'succeeded' } @more], [], 'each of the waiting runs succeeds');
}

# ---- too much for one run ----

is(status($eve->run_sync($_ => {mb => 4000})), 'failed RESOURCE_LIMIT memory', "$_: a run that wants all of the machine meets its own limit") for qw(hog p_hog);
is(status($ada->run_sync(echo => {n => 2})), 'succeeded', 'other runs succeed after a run that wanted all memory');

# ---- too much for the machine: templates may ask for 1 GiB each, of which two have no room ----
{
	my @runs = map { $eve->run_async(large => {mb => 900}) } 1 .. 4;
	my @ends = map { $eve->get_until($_, 'to have it, or to end', sub { ($_->{message} // '') eq 'full' || $_->{status} !~ /^(?:queued|running)$/ }) } @runs;
	my @died = grep { $_->{status} eq 'failed' } @ends;

	cmp_ok(scalar @died, '>=', 2, 'of four that fill 3.6 GB two end at least');
	is_deeply([grep { $_ !~ /^RESOURCE_LIMIT |machine had no memory left/ } map { "$_->{error}{errorCode} $_->{error}{message}" } @died], [], '  each told by what');
	is(status($ada->run_sync(echo => {n => 3})), 'succeeded', 'the server lives, and serves somebody else');
	$eve->tool(cancel_task_run => {runId => $_}) for @runs;
	$eve->ended($_) for @runs;
}

# ---- too much for the server ----
{
	my $text = sub { '{"jsonrpc":"2.0","id":"' . $_[0] . '","method":"tools/call","params":{"name":"run_task_template","arguments":{"templateId":"echo","inputs":{"a":[' . join(',', ('{}') x 900_000) . ']}}}}' };
	my @open = map { my $c = $s->connect; $c->request('POST', '/mcp', {Authorization => 'Bearer e', 'Content-Type' => 'application/json',
		Accept => 'application/json, text/event-stream', 'Mcp-Session-Id' => $eve->{session}, 'MCP-Protocol-Version' => '2025-11-25'}, $text->("b$_")); $c } 1 .. 12;

	is(status($ada->run_sync(echo => {n => $_})), 'succeeded', 'while messages of many values come, somebody else is served') for 1 .. 3;
	$_->hang_up for @open;
	cmp_ok(peak_kb($s->{pid}), '<', (1 << 20) * $ROOM, 'the server keeps within server_memory');
}
is_deeply($ada->call('ping')->{result}, {}, 'the server answers a ping at the end');
$s->stop;
rmdir $group;
undef $group if !-d $group;
ok(!defined $group, 'nothing is left in the cgroup');
done_testing;
