#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Clients of several tokens, revisions and transports at random, while templates and a token
# come and go, workers and zygotes are killed and the disk is full: each request is answered
# once, or cancelled; every run ends once, as told to the clients; nothing is left behind.
# PADDOCK_SEED selects the steps, PADDOCK_STEPS the number; PADDOCK_SECONDS bounds the time.
use lib 'tests/lib';
use Paddock;
use Chaos;
use Http;

my $SEED = $ENV{PADDOCK_SEED} // 20251125;
my $STEPS = $ENV{PADDOCK_STEPS} // 4000;
my $usual = !grep { defined } @ENV{qw(PADDOCK_SEED PADDOCK_STEPS PADDOCK_SECONDS)};
my $ROOM_ON_DISK = '256m';

my $object = 'schema = {type = "object", properties = {}}';
# References below failing branches: a value nested N deep takes 3^N checks, so a deep value
# is checked on a thread.
my %costly = ('$defs' => {n => {anyOf => [map { {properties => {a => {'$ref' => '#/$defs/n'}}, required => ["q$_"]} } 1 .. 3]}},
	      anyOf => [{'$ref' => '#/$defs/n'}, {type => 'object'}]);
my %templates = (
	weighs_in => lua('return {}', inputsSchema => {type => 'object', %costly}),
	weighs_out => lua('local v = {} for i = 1, 6 + (inputs.n or 0) do v = {a = v} end return v', outputsSchema => \%costly),
	echo => lua('return inputs'),
	nap => lua('run.progress(1, 3, "one") run.log("info", "a line") run.sleep(inputs.ms or 9)
		    run.progress(2, 3, "two") return {n = inputs.n}'),
	asks => lua("local ok, got = pcall(run.elicit, {message = 'who?', timeout = 300, $object}) return {ok = ok}"),
	holds => lua("local ok, got = pcall(run.elicit, {message = 'who?', timeout = 60000, $object}) return {ok = ok}",
		     limits => {maxTimeoutMs => 1500}),
	crowd => lua("run.map({1, 2, 3, 4, 5, 6, 7, 8}, {concurrency = 8}, function()
		      return run.elicit{message = 'who?', timeout = 500, $object} end) return {}"),
	fails => lua('run.error("NO_LUCK", "bad day")'),
	partly => lua('run.map({1, 2, 3}, {concurrency = 3}, function(n) if n == 2 then error("no") end end) return {}',
		      supportsPartialSuccess => true),
	makes => lua('return {id = run.artifact{name = "x", data = ("x"):rep(20000)}}'),
	loops => lua('while true do end', limits => {maxTimeoutMs => 200, cancelGraceMs => 100}),
	stuck => lua('pcall(run.sleep, 200) while not run.cancelled() do run.sleep(10) end
		      for i = 1, 20 do run.sleep(10) end return {}', limits => {maxTimeoutMs => 1000, cancelGraceMs => 150}),
	prog => {program => "#!/bin/sh\ncat >/dev/null\nsleep 0.05\necho '{}'\n"},
);

# With root's rights, the state has a small disk which can be filled.
my ($disk, $mounted);
if (as_root()) {
	$disk = Paddock::fresh_root();
	$mounted = system('mount', '-t', 'tmpfs', '-o', "size=$ROOM_ON_DISK,mode=1777", 'tmpfs', $disk) == 0;
}
END {
	if ($mounted) {
		my $status = $?;
		system('umount', '-l', $disk);
		$? = $status;
	}
}

my $s = Http->new(templates => \%templates, tokens => {ada => 'a' x 20, bob => 'b' x 20, eve => 'e' x 20},
	$mounted ? (state => "$disk/state") : (), shared => 1,
	config => "[limits]\nmax_concurrent_runs = 3\nmax_queued_runs = 30\nsse_keepalive_ms = 100\n" .
	    "[requestor \"eve\"]\nrate_per_second = 20\nburst = 30\n");

# Open files of the server, except the three for the groups of each slot, which stay open.
sub open_files {
	my $pid = $_[0]{pid};

	return grep { !m{^/sys/fs/cgroup/.*/run-\d+/} } map { readlink($_) // () } glob "/proc/$pid/fd/*";
}

# The open files after a run, a program's run, and a large message.
{
	my $first = $s->client('ada')->greeted;

	$first->run_sync($_, {x => 'x' x 500_000}) for qw(echo prog);
	$first->end;
}
my @before = open_files($s);
my $chaos = Chaos->new($s, $SEED, disk => $mounted ? $disk : undef);

$chaos->steps($STEPS, $ENV{PADDOCK_SECONDS});
$chaos->calm;
my @wrong = $chaos->wrong;
is(scalar @wrong, 0, "$STEPS random steps: every answer is right, once, and no other's, by seed $SEED");
diag("  $_") for @wrong;

# ---- what is left ----

sub status_line {
	my $n = () = $s->log_text =~ /part=daemon status=/g;

	$s->signal('USR1');
	until_true('the status', sub { $n < (() = $s->log_text =~ /part=daemon status=/g) });
	return ($s->log_text =~ /.*part=daemon (status=\w+ [^\n]*)/s)[0];
}

for my $client (map({ $s->client($_)->greeted } qw(ada bob)), Client->new($s)->greeted) {
	for my $status (qw(queued running)) {
		$client->tool('cancel_task_run', {runId => $_->{runId}})
		    for @{$client->tool('list_task_runs', {status => $status, limit => 100})->{view}{runs}};
	}
	$client->can('end') ? $client->end : $client->hang_up;
}
my $left;
until_true('all runs to end', sub { # so many status lines a minute are written
	select undef, undef, undef, 0.2;
	($left = status_line()) =~ /running=0 queued=0 connections=0 .*http_sessions=0 /;
});
like($left, qr/running=0 queued=0 connections=0 .*http_sessions=0 /, 'no run, no connection and no session is left');
ok(until_true('it to be ready', sub { $s->fetch(GET => '/readyz')->{status} == 200 }), 'the server is ready for more');
until_true('the descriptors to be closed', sub { open_files($s) <= @before });
my @now = open_files($s);
cmp_ok(scalar @now, '<=', scalar @before, 'no more descriptors are open than at the start')
    or diag(join "\n", 'before:', (sort @before), 'now:', sort @now);
my $peak = peak_kb($s->{pid});
cmp_ok($peak, '<', 300_000 * $ROOM, "the server held ${peak} kB at the most");
$s->stop;

# ---- every run has ended once, and as was told ----

# A second server finishes runs whose ends the first server could not write.
my $last = Paddock->new(root => $s->{root}, state => $s->{state})->greeted;
$last->run_sync('echo', {});
until_true('the rest to be taken over', sub { !grep { $_->{status} =~ /^(?:queued|running)$/ } values %{$chaos->rows} });
$last->stop;
my $rows = $chaos->rows;
my $log = join '', map { $_->log_text } $s, $last, @{$chaos->{servers} // []};
my ($met, $ends) = $chaos->endings($log, $rows);
my @untrue = $chaos->untrue($rows);
my @open = grep { $rows->{$_}{status} !~ /^(?:succeeded|partial_success|failed|canceled)$/ } sort keys %$rows;
my @twice = grep { $ends->{$_} != 1 } sort keys %$ends;

cmp_ok(scalar keys %$rows, '>', $STEPS / 40, 'the store has ' . keys(%$rows) . ' runs, and clients know of the ends of ' .
       keys(%{$chaos->{ended}}));
is("@untrue[0 .. ($#untrue > 9 ? 9 : $#untrue)]", '', 'each is in the store as its clients were told');
is("@open", '', 'each run in the store has ended');
is("@twice", '', 'each run has ended once');

# ---- which endings met which states ----

note(sprintf '%6d  %s', $met->{$_}, $_) for sort keys %$met;
my $counts = $chaos->counts;
note(sprintf '%6d  %s', $counts->{$_}, $_) for grep { /^a / } sort keys %$counts;
ok($met->{$_}, "a run was $_")
    for $usual ? ('queued RUN_CANCELED', 'running succeeded', 'running partial_success', 'running EXECUTION_ERROR',
		  'running STEP_EXECUTION_FAILED', 'running RUN_TIMEOUT', 'running WORKER_CRASHED',
		  'awaiting_input WORKER_CRASHED', 'cancelling RUN_CANCELED') : ();
like($log, qr/part=offload jobs=0 done=[1-9]/, 'some of it was read, or checked, on threads');
ok($counts->{$_}, "there was $_") for $usual ? ('a process killed', $mounted ? 'a full disk' : ()) : ();
done_testing;
