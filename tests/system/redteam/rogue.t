#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Compromised workers: rogue.c stands in for paddock-worker, and each worker breaks the run
# protocol in a different way.
use lib 'tests/lib';
use Paddock;
use File::Copy qw(copy);

my $folder = Paddock::fresh_root();

compile('lib/rogue.c', "$folder/paddock-worker") or BAIL_OUT('tests/lib/rogue.c cannot be built');
copy("$BUILD/paddockd", "$folder/paddockd") or BAIL_OUT("paddockd: $!");
chmod 0755, "$folder/paddockd";

my @ways = ( # what the worker does, the run's errorCode, what its details say
    ['good', undef],
    ['exit', 'PROTOCOL_VIOLATION', qr/exit without a result/],
    ['exit_3', 'PROTOCOL_VIOLATION', qr/exit without a result/],
    ['unborn', 'PROTOCOL_VIOLATION', qr/exit without a result/],
    ['mute', 'RUN_TIMEOUT', qr/timeout/],
    ['idle', 'RUN_TIMEOUT', qr/timeout/],
    ['hangs_up', 'PROTOCOL_VIOLATION', qr/lived on/],
    ['unready', undef],
    ['unready_chunk', 'PROTOCOL_VIOLATION', qr/out of turn/],
    ['uses', 'PROTOCOL_VIOLATION', qr/out of turn/],
    ['ready_late', 'PROTOCOL_VIOLATION', qr/out of turn/],
    ['ready_twice', 'PROTOCOL_VIOLATION', qr/out of turn/],
    ['garbage', 'PROTOCOL_VIOLATION', qr/./],
    ['map', 'PROTOCOL_VIOLATION', qr/./],
    ['claims', 'PROTOCOL_VIOLATION', qr/./],
    ['negative', 'PROTOCOL_VIOLATION', qr/./],
    ['not_utf8', 'PROTOCOL_VIOLATION', qr/UTF-8/],
    ['trailing', 'PROTOCOL_VIOLATION', qr/trailing/],
    ['unknown', 'PROTOCOL_VIOLATION', qr/./],
    ['supervisor', 'PROTOCOL_VIOLATION', qr/out of turn/],
    ['asks_again', 'PROTOCOL_VIOLATION', qr/not above the last/],
    ['asks_back', 'PROTOCOL_VIOLATION', qr/not above the last/],
    ['asks_none', 'PROTOCOL_VIOLATION', qr/call.seq is 0/],
    ['asks_much', 'PROTOCOL_VIOLATION', qr/over 1 MiB/],
    ['asks_longer', 'PROTOCOL_VIOLATION', qr/longer than they said/],
    ['asks_between', 'PROTOCOL_VIOLATION', qr/out of turn/],
    ['asks_nonsense', 'PROTOCOL_VIOLATION', qr/not a JSON object/],
    ['asks_a_list', 'PROTOCOL_VIOLATION', qr/not a JSON object/],
    ['asks_nothing', 'PROTOCOL_VIOLATION', qr/not a JSON object/],
    ['drops_nothing', 'PROTOCOL_VIOLATION', qr/what was not asked/],
    ['asks_and_ends', undef],
    ['asks_for_ever', 'PROTOCOL_VIOLATION', qr/over 64 questions|flood/],
    ['chunk', 'PROTOCOL_VIOLATION', qr/out of turn/],
    ['too_long', 'PROTOCOL_VIOLATION', qr/./],
    ['overflow', 'PROTOCOL_VIOLATION', qr/longer than it said/],
    ['huge', 'PROTOCOL_VIOLATION', qr/over its limit/],
    ['half', 'PROTOCOL_VIOLATION', qr/without a result/],
    ['not_json', 'PROTOCOL_VIOLATION', qr/not JSON/],
    ['bad_reply', 'PROTOCOL_VIOLATION', qr/not an object/],
    ['step_gap', 'PROTOCOL_VIOLATION', qr/out of order/],
    ['step_many', 'PROTOCOL_VIOLATION', qr/10000/],
    ['step_never', 'PROTOCOL_VIOLATION', qr/never declared/],
    ['step_back', 'PROTOCOL_VIOLATION', qr/cannot make/],
    ['step_skips', 'PROTOCOL_VIOLATION', qr/cannot make/],
    ['forged_code', 'PROTOCOL_VIOLATION', qr/not a worker's/],
    ['forged_cancel', 'WORKER_CRASHED', qr/SIGTERM/],
    ['forged_cancel_why', 'WORKER_CRASHED', qr/SIGTERM/],
    ['bad_details', 'PROTOCOL_VIOLATION', qr/not an object/],
    ['lies', 'STEP_EXECUTION_FAILED', qr/"stepErrorCode":"E"/],
    ['late', undef],
    ['late_flood', undef],
    ['flood', 'PROTOCOL_VIOLATION', qr/flood|too many/],
    ['log_flood', 'PROTOCOL_VIOLATION', qr/flood|too many/],
);
my %templates = map {
	($_->[0] => {code => "return function() end\n-- rogue $_->[0]\n",
		     # longer than the test may wait, so no rogue reaches the timeout
		     limits => {maxTimeoutMs => 600_000, cancelGraceMs => 50}})
} @ways, ['crash_after'], ['stays'], ['boasts'];
my @kept = map { "kept$_" } '', qw(_early _twice _logs _waits _spins _boasts);
$templates{$_} = {code => "return function() end\n-- rogue $_\n", resident => {serial => true}, limits => {maxTimeoutMs => 600_000, cancelGraceMs => 50},
		  inputsSchema => {type => 'object', properties => {notebook => {type => 'string', format => 'paddock-notebook'}}}} for @kept;
# except the following
$templates{$_}{limits}{maxTimeoutMs} = 500 for 'mute', 'idle';
# The code names the rogue.
$templates{low_flood} = {code => "-- rogue flood\n",
			 limits => {%{$templates{flood}{limits}},
				    maxMessagesPerSecond => 100}};
my $s = Paddock->new(templates => \%templates, build => $folder);

$s->init;
my $before = Paddock::rss_kb($s->{pid});
for (@ways) {
	my ($name, $code, $text) = @$_;
	my $v = $s->run_sync($name);

	if (!defined $code) {
		is($v->{status}, 'succeeded', "$name: succeeded") ||
		    diag(json_of($v));
		next;
	}
	ok($v->{status} eq 'failed' && $v->{error}{errorCode} eq $code &&
	   json_of($v->{error}{details}) =~ $text, "$name: $code")
	    || diag(json_of($v));
}
{
	my $v = $s->run_sync('stays');

	is($v->{status}, 'succeeded',
	   'a worker that stays after its result is ended; the result stands');
	my $pid = $s->worker_pid($v->{runId});

	ok($pid && !kill(0 => $pid), 'the run\'s answer comes after the worker\'s end');
	my $run = $s->run_async('stays');
	$pid = $s->worker_pid($run);
	is($s->ended($run)->{status}, 'succeeded', 'the view of a run shows the end after the worker\'s end');
	ok(!kill(0 => $pid), 'before that');
	$v = $s->run_sync('crash_after');
	is($v->{status}, 'succeeded', 'a run whose worker crashes after the result succeeds');
	$run = $s->run_async('mute');
	$s->tool(cancel_task_run => {runId => $run});
	is($s->ended($run)->{status}, 'canceled', 'a mute one can be cancelled');
}
{
	my $v = $s->run_sync('boasts');
	my $kept = $s->tool(get_task_run => {runId => $v->{runId}})->{structuredContent};

	for ([$v, 'is answered'], [$kept, 'is recorded']) {
		my $m = $_->[0]{metrics};

		ok($m->{cpuMs} < 60_000 && $m->{maxRssBytes} < 1 << 30,
		   "of one that says it used centuries and all memory, what the kernel counted $_->[1]") ||
		    diag(json_of($m));
	}
	my ($used) = grep { $_->{templateId} eq 'boasts' } @{$s->call('paddock/usage', {})->{result}{rows}};

	is($used->{cpuMs}, $kept->{metrics}{cpuMs}, 'the usage has what the kernel counted');

	my $other = Paddock->new(root => $s->{root}, state => $s->{state}, build => $folder, shared => 1);
	my @ids = map { $s->run_sync('boasts')->{runId} } 1 .. 5;

	$other->init;
	push @ids, $s->run_sync('boasts')->{runId};
	my $leaves = $s->run_async('stays');

	$other->get_until($leaves, 'it is recorded', sub { $_[0]{status} eq 'succeeded' });
	push @ids, $leaves;
	$other->call('paddock/deleteRuns', {runIds => \@ids});
	$s->get($ids[0]); # who is asked writes all that waits first
	is_deeply([grep { $other->get($_)->{runId} } @ids], [], 'a run deleted by another server stays deleted');
	$other->stop;
}
# Residents, which stay between runs: a message between runs ends the process, and the kernel
# counts CPU time.
for my $way (@kept) {
	my $r = $s->run_sync($way => {notebook => 'n'});

	if ($way eq 'kept_early') {
		is($r->{error}{errorCode}, 'PROTOCOL_VIOLATION', "$way: PROTOCOL_VIOLATION");
		is($r->{notebook}{state}, 'lost', "$way: the notebook is lost");
		next;
	}
	is("$r->{status} $r->{notebook}{state}", 'succeeded new', "$way: the run succeeds") or diag explain $r;
	ok($r->{metrics}{cpuMs} < 60_000 && $r->{metrics}{maxRssBytes} < 1 << 31, "$way: the metrics are bounded") or diag explain $r->{metrics};
	ok($s->log_has(qr/template=$way name=n runs=1 ended="its worker sent what it may not send between runs"/), "$way: the worker is ended") if $way =~ /twice|logs|waits/;
	next unless $way =~ /spins|boasts|kept$/;
	my ($row) = grep { $_->{templateId} eq $way } @{$s->call('paddock/residents')->{result}{residents}};
	cmp_ok($row->{memoryBytes} // 0, '<', 1 << 31, "$way: the memory of an idle notebook is bounded");
	my $pid = $s->worker_pid($r->{runId});
	ok(until_true("$way to rest", sub { (Paddock::stat_of($pid)->{state} // '') eq 'T' }), "$way: an idle worker is stopped");
	$s->call('paddock/endResident', {templateId => $way, name => 'n'});
}
my $flooded;
{
	my $v = $s->run_sync('low_flood');
	my $d = $v->{error}{details};

	$flooded = $v->{runId};
	is($v->{error}{errorCode}, 'PROTOCOL_VIOLATION', 'a flood at a low rate');
	like($d->{offence}, qr/over messages_per_second, which allows 100 and 400 at once; who can raise that is the template's author/,
	     'names the limit, what it allows, and who can raise it');
	is("$d->{limit} $d->{allowed} $d->{unit}", 'messages_per_second 100 messages/s',
	   'the details of a flood have the limit');
	like($d->{whoCanRaise}, qr/limits\.maxMessagesPerSecond, up to the server's max_messages_per_second, or the operator: max_messages_per_second in \[template "low_flood"\]$/,
	     'all of them');
	cmp_ok($v->{metrics}{messages}, '>', 400, 'four seconds\' worth came at once');
}
is($s->run_sync('good')->{status}, 'succeeded', 'good ones go on being served');
cmp_ok(Paddock::rss_kb($s->{pid}), '<', $before + $ROOM * (32 << 10),
       'the server has not grown');
$s->stop;
{
	my $told = qx($BUILD/paddock explain $flooded --state-dir $s->{state} --templates $s->{root}/templates 2>&1);

	like($told, qr/limit messages_per_second\..*may have 100 messages\/s.*That is a limit of what its worker tells.*the template's author can raise it: limits\.maxMessagesPerSecond/s,
	     'explain tells of the limit that a flood met');
}

done_testing;
