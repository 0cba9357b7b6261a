#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Attacks of a compromised worker on the supervisor. See tests/lib/Redteam.pm, and
# ipc/PROTOCOL.md.
#
# 28: the socket keeps frames apart, so no half frame exists; only a body can come slowly.
# 31, 32: maps are refused whatever the contents; so are ext, bin and floats.
# 36: more than the total counts as the total; a negative number has no form.
# 38: no waiting at the rate: the bucket is empty, and the worker is killed.
# 40: messages after the last message are dropped and logged.
# 41: no message names a run; the supervisor's own order is out of turn.
# 42: the result was whole and first, so the result counts.
# 45: a runtime of paddock cuts its texts, so a longer text proves a foreign runtime.
# 47: EPERM where the kernel can refuse descriptors (6.16), else recv(2) drops descriptors
# unread; either way none arrives. 48 is the same: a socket which asks for no credentials
# receives none.
use lib 'tests/lib';
use Paddock;
use File::Copy qw(copy);
use Redteam;

my $ready = 'send 9110';
my $null = 'send 97150000000004a46e756c6c';

sub bytes { return 'send ' . unpack 'H*', $_[0] }

# Does the run's view contain $want? Otherwise, the difference.
sub view_has {
	my ($at, $want) = @_;

	return sub {
		my $got = json_of($_[1]{$at});

		return $got eq json_of($want) ? () : "$at is $got";
	};
}

# The server must have the same descriptors as when idle.
sub idle_descriptors {
	my ($s) = @_;
	my @fds = glob "/proc/$s->{pid}/fd/*";

	return @fds > 100 ? 'it has ' . @fds . ' descriptors' : ();
}

# The same number of times: a worker with a result in flight, and a cancel.
sub race {
	my ($s) = @_;
	my (@wrong, %how);

	for my $n (1 .. 30) {
		my $run = $s->run_async('attack_44');

		$s->tool(cancel_task_run => {runId => $run});
		my $v = $s->ended($run);
		$how{$v->{status}}++;
		push @wrong, "$run changed after its end"
		    unless json_of($s->get($run)) eq json_of($v);
		my @ends = $s->log_text =~ /run=\Q$run\E event=(?:end|ended|done)\b/g;
		push @wrong, "$run ended " . @ends . ' times' if @ends > 1;
	}
	push @wrong, 'it is ' . json_of(\%how)
	    if grep { !/^(?:canceled|succeeded)$/ } keys %how;
	return @wrong;
}

my $bad = 'PROTOCOL_VIOLATION';

my $build = Paddock::fresh_root();

compile('system/redteam/attacks/rogue.c', "$build/paddock-worker") or BAIL_OUT('rogue.c cannot be built');
copy("$BUILD/paddockd", "$build/paddockd") or die "paddockd: $!\n";
chmod 0755, "$build/paddockd";

attack_all([
    [22, 'an array of 2^28 in 5 bytes', $bad, rogue => [$ready, bytes("\xdd\x10\0\0\0"), 'stay']],
    [23, 'a map of 2^28 in 5 bytes', $bad, rogue => [$ready, bytes("\xdf\x10\0\0\0"), 'stay']],
    [24, 'a string of 4 GiB in 7 bytes', $bad,
     rogue => [$ready, bytes("\x93\x13\x06\xdb\xff\xff\xff\xff"), 'stay']],
    ['24b', 'a body of 4 GiB', "$bad over", rogue => [$ready, bytes("\x97\x15\0\0\0\0\xce\xff\xff\xff\xff\xa0"), 'stay']],
    [25, 'arrays in 33 levels', $bad, rogue => [$ready, 'repeat 33 91 91', 'stay']],
    ['25b', 'arrays in 2,000 levels', $bad, rogue => [$ready, 'repeat 2000 91 91', 'stay']],
    ['25c', 'JSON in 2,000 levels', "$bad | OUTPUT_INVALID",
     rogue => [$ready, 'repeat 2000 5b ' . unpack('H*', "\x97\x15\0\0\0\0\xcd\x07\xd0\xda\x07\xd0"), 'stay']],
    [26, 'the byte 0xc1', $bad, rogue => [$ready, bytes("\xc1"), 'stay']],
    [27, 'a frame that is cut, then the end', $bad,
     rogue => [$ready, bytes("\x97\x15\0\0\0\0\x04\xa4nu"), 'exit 0']],
    [28, 'a result a byte at a time', 'RUN_TIMEOUT', limits => {maxTimeoutMs => 300},
     rogue => [$ready, bytes("\x97\x15\0\0\0\0\xcd\x10\0\xa1\""), 'drip 1 ' . unpack('H*', "\x92\x02\xa1x")]],
    [29, 'a frame above the cap', $bad, rogue => [$ready, 'big 65537', 'stay']],
    ['29b', 'a frame far above the cap', $bad, rogue => [$ready, 'big 1000000', 'stay'], also => undef],
    ['29c', 'an empty frame', $bad, rogue => [$ready, 'big 0', 'stay']],
    [30, 'bytes after the message', "$bad trailing", rogue => [$ready, bytes("\x91\x10\0"), 'stay']],
    [31, 'a map with a key twice', $bad,
     rogue => [$ready, bytes("\x94\x11\x01\x01\x82\xa1k\x01\xa1k\x02"), 'stay']],
    [32, 'a map with keys that are no strings', $bad,
     rogue => [$ready, bytes("\x82\x01\x02\xc0\x03"), 'stay']],
    [33, 'ext', $bad, rogue => [$ready, bytes("\x93\x13\x06\xc7\x01\x01x"), 'stay']],
    ['33b', 'bin', $bad, rogue => [$ready, bytes("\x93\x13\x06\xc4\x01x"), 'stay']],
    [34, 'progress of NaN', $bad,
     rogue => [$ready, bytes("\x94\x11\xcb\x7f\xf8\0\0\0\0\0\0\x01\xa0"), 'stay']],
    ['34b', 'progress of infinity', $bad,
     rogue => [$ready, bytes("\x94\x11\x01\xca\x7f\x80\0\0\xa0"), 'stay']],
    ['34c', 'a result of NaN', $bad, rogue => [$ready, bytes("\x97\x15\0\0\0\0\x03\xa3NaN"), 'stay']],
    [35, 'text that is not UTF-8', "$bad UTF-8", rogue => [$ready, bytes("\x93\x13\x06\xa2\xff\xfe"), 'stay']],
    ['35b', 'text with a NUL', "$bad NUL", rogue => [$ready, bytes("\x93\x13\x06\xa3a\0b"), 'stay']],
    ['35c', 'half a surrogate in UTF-8', "$bad UTF-8",
     rogue => [$ready, bytes("\x94\x11\x01\x01\xa3\xed\xa0\x80"), 'stay']],
    ['35d', 'half a surrogate in a result', "$bad | returns \"x\"",
     rogue => [$ready, bytes("\x97\x15\0\0\0\0\x08\xa8\"\\ud800\""), 'stay']],
    [36, 'progress of -1', $bad, rogue => [$ready, bytes("\x94\x11\xff\x01\xa0"), 'stay']],
    ['36b', 'progress of 900 %', 'returns null', also => view_has(progress =>
	{doneSteps => 1, totalSteps => 1}),
     rogue => [$ready, bytes("\x94\x11\x09\x01\xa0"), $null]],
    ['36c', 'progress of 2^64 - 1', "$bad 2^53",
     rogue => [$ready, bytes("\x94\x11\xcf" . "\xff" x 8 . "\x01\xa0"), 'stay']],
    [37, 'progress that falls', 'returns null', also => view_has(progress =>
	{doneSteps => 8, totalSteps => 9}),
     rogue => [$ready, bytes("\x94\x11\x08\x09\xa0"), bytes("\x94\x11\x02\x09\xa0"), $null]],
    [38, 'a million small messages', "$bad flood | $bad too many",
     rogue => [$ready, 'many 1000000 94110102a0', 'stay']],
    [39, 'messages after the last word', 'returns null',
     rogue => [$ready, $null, bytes("\x94\x11\x05\x05\xa4late"), bytes("\xc1"), 'exit 0'],
     also => view_has(message => undef)],
    [40, 'two results', 'returns 1',
     rogue => [$ready, bytes("\x97\x15\0\0\0\0\x01\xa11"), bytes("\x97\x15\0\0\0\0\x01\xa12"), 'exit 0']],
    ['40b', 'a result, then a failure', 'returns 1',
     rogue => [$ready, bytes("\x97\x15\0\0\0\0\x01\xa11"), bytes("\x94\x16\xafEXECUTION_ERROR\xa1x\xa0"), 'exit 0']],
    [41, 'an order with the id of another run', "$bad out of turn", rogue => [$ready,
	bytes("\x9f\x01\xberun_aaaaaaaaaaaaaaaaaaaaaaaaaa\xa1x\xa1x\x01\x01\x01\x01\x01\x64\0\x01\x01\0\xa2xx"), 'stay']],
    ['41b', 'answers to questions that it did not ask', "$bad",
     rogue => [$ready, bytes("\x95\x03\x01\x01\x02\xa2{}"), 'stay']],
    ['41c', 'a question dropped that was never asked', "$bad",
     rogue => [$ready, bytes("\x92\x19\x07"), 'stay']],
    ['41d', 'a question dropped twice', 'returns null',
     rogue => [$ready, bytes("\x95\x17\x01\xa1t\x02\xa2{}"), bytes("\x92\x19\x01"),
	       bytes("\x92\x19\x01"), $null, 'exit 0']],
    ['41e', 'a question dropped 200,000 times', "$bad flood | $bad too many",
     rogue => [$ready, bytes("\x95\x17\x01\xa1t\x02\xa2{}"), 'many 200000 921901', 'stay']],
    ['41f', 'a call with the number of another call', "$bad not above the last",
     rogue => [$ready, bytes("\x95\x17\x02\xa1t\x02\xa2{}"), bytes("\x95\x17\x02\xa1t\x02\xa2{}"), 'stay']],
    ['41g', 'a call with the number of an earlier call', "$bad not above the last",
     rogue => [$ready, bytes("\x95\x17\x02\xa1t\x02\xa2{}"), bytes("\x95\x17\x01\xa1t\x02\xa2{}"), 'stay']],
    ['41h', 'a template called without a grant', 'returns null', rogue => [$ready,
	bytes("\x95\x17\x01\xb1run_task_template\x1e\xbe" . '{"templateId":"x","inputs":{}}'), $null, 'exit 0'],
     also => sub { $_[1]{childrenTotal} ? 'it has made a run' : () }],
    [42, 'a result, then a crash', 'returns null', rogue => [$ready, $null, 'segv']],
    ['42b', 'half a result, then a crash', 'WORKER_CRASHED SIGSEGV',
     rogue => [$ready, bytes("\x97\x15\0\0\0\0\x06\xa4null"), 'segv']],
    [43, 'no result, and exit 0', "$bad without a result", rogue => [$ready, 'exit 0']],
    ['43b', 'no word at all, and exit 0', "$bad without a result", rogue => ['exit 0']],
    [44, 'a cancel that races the result', 'returns null', rogue => [$ready, $null, 'exit 0'],
     also => \&race],
    [45, 'an error text of 60,000 bytes', $bad,
     rogue => [$ready, 'repeat 60000 41 ' . unpack('H*', "\x94\x16\xafEXECUTION_ERROR\xda\xea\x60")]],
    ['45b', 'an error text of 8,192 bytes', 'EXECUTION_ERROR', rogue => [$ready,
	bytes("\x94\x16\xafEXECUTION_ERROR\xda\x20\0" . 'A' x 8192 . "\xa0"), 'exit 0']],
    [46, 'a text with control characters', 'returns null', rogue => [$ready,
	bytes("\x93\x13\x03\xbex\n2026 level=error part=forged"), bytes("\x94\x11\x01\x02\xa8\x1b[2Jx\r\n\x07"), $null],
     also => sub { $_[0]->log_text =~ /^2026 level=error part=forged|[\x00-\x09\x0b-\x1f]/m
		       ? 'the log has it as it came' : () }],
    [47, 'descriptors passed, 1,000 times', "returns 0 | returns 1 | $bad",
     rogue => [$ready, 'rights 1000', 'told'], also => \&idle_descriptors],
    ['47b', 'descriptors before the first word', "returns 1 | $bad",
     rogue => ['rights 1', $ready, 'told'], also => \&idle_descriptors],
    [48, 'credentials of another', "returns 1 | $bad", rogue => [$ready, 'forge', 'told']],
    [49, 'a socket that it will not read', "returns null",
     rogue => ['shut rd', $ready, $null, 'exit 0'], inputs => {pad => 'x' x 1_000_000}],
    ['49b', 'a socket that it will not write', "$bad", rogue => [$ready, 'shut wr', 'stay']],
    ['49c', 'a socket that it closes', "$bad", rogue => [$ready, 'hangup', 'stay']],
    [50, 'an order that it does not read', 'RUN_TIMEOUT', inputs => {pad => 'x' x 4_000_000},
     limits => {maxTimeoutMs => 300}, rogue => [$ready, 'stay']],
], build => $build,
	   sibling => {rogue => ['send 9110', 'send 97150000000004a46e756c6c']},
	   sibling_gives => null,
	   ticker => {rogue => ['tick'], limits => {cancelGraceMs => 100}});
