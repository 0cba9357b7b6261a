#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The bound of one requestor in the store, and the part of the disk kept for promised
# writes, whatever other requestors write.
use lib 'tests/lib';
use Paddock;
use Http;

my %templates = (
    echo => lua('return inputs'),
    doze => lua('run.progress(0, 1, "dozing") while true do run.sleep(60000) end',
		limits => {maxTimeoutMs => 600000}),
    keeps => lua('return run.artifact{name = "a", data = ("x"):rep(inputs.n)}'),
    says => lua('return ("x"):rep(inputs.n)'),
    waits => lua('run.progress(0, 1, "waiting") run.sleep(inputs.ms) return 1',
		 limits => {maxTimeoutMs => 600000}),
    logs => lua('for _ = 1, 100 do run.log("info", ("x"):rep(1000)) end return 1'),
);

sub stored { return $_[0]->tool('get_runtime_profile')->{view}{usage}{storeBytes} }

# Repeat FILL until refused; the refusal, and the number of successes.
sub until_refused {
	my ($fill) = @_;

	for my $n (0 .. 999) {
		my $r = $fill->();
		return ($r, $n) if $r->{isError};
	}
	return ({}, 1000);
}

# ---- one account for all that is stored ----

{
	my $s = Http->new(templates => \%templates, tokens => {ada => 't', eve => 'u'},
			  config => "[limits]\ndefault_store_bytes = 1M\n");
	my ($ada, $eve) = map { $s->client($_)->greeted } qw(ada eve);

	$eve->run_sync(echo => {x => 1});
	my $row = stored($eve);
	cmp_ok($row, '>', 500, 'a run counts with its row');
	$eve->run_sync(keeps => {n => 1000});
	cmp_ok(stored($eve), '>', $row + 1500, 'an artifact counts as stored bytes');
	$row = stored($eve);
	$eve->run_sync(says => {n => 10000});
	cmp_ok(stored($eve), '>', $row + 10000, 'a result counts as stored bytes');
	$row = stored($eve);
	$eve->run_sync('logs');
	cmp_ok(stored($eve), '>', $row + 100000, 'a log counts as stored bytes');
	my ($r, $n) = until_refused(sub { $eve->run(says => {n => 100000}, mode => 'sync') });
	refused($r, 'QUOTA_EXCEEDED', 'one who fills its account gets no more');
	cmp_ok($n, '<', 12, '  the limit is met without an artifact');
	same_json([@{$r->{view}{details}}{qw(limit unit whoCanRaise)}, $r->{view}{details}{allowed}],
		  ['default_store_bytes', 'bytes', 'the operator: default_store_bytes in [limits]', 1 << 20],
		  '  the refusal names the default limit and who can raise that');
	is($ada->run_sync(echo => {x => 1})->{status}, 'succeeded', 'another has its own');
	$s->write_config("[limits]\ndefault_store_bytes = none\n" . join '', map {
		"[requestor \"$_->[0]\"]\ntoken_sha256 = " . Http::sha256_hex($_->[1]) . "\n" }
		['ada', 't'], ['eve', 'u']);
	is($s->reload, 'done', 'the operator says that there is no limit');
	is($eve->run_sync(echo => {x => 2})->{status}, 'succeeded', '  a requestor without a limit has runs');
	$s->stop;
}
{
	my $s = Http->new(templates => \%templates, tokens => {eve => 'u'},
			  config => "[limits]\ndefault_store_bytes = 1M\nmax_concurrent_runs = 1\n");
	my $eve = $s->client('eve')->greeted;
	my $first = $eve->run_async('doze');

	$eve->saying($first, 'dozing');
	my ($r) = until_refused(sub { $eve->run(echo => {x => 'y' x 100000}, mode => 'async') });
	refused($r, 'QUOTA_EXCEEDED', 'inputs of runs that wait are in the account');
	is($r->{view}{details}{limit}, 'default_store_bytes', '  the refusal names default_store_bytes');
	$s->stop(undef, 'QUIT');
}

# ---- room for what was promised ----

SKIP: {
	skip_lacking(1, 'mount');
	my $root = Paddock::fresh_root();

	mkdir "$root/state";
	my $s = Http->new(templates => \%templates, tokens => {ada => 't', eve => 'u'}, root => $root,
		config => "[limits]\nmax_artifact_bytes = 1G\nmax_concurrent_runs = 10\n",
		wrap => ['unshare', '-m', 'sh', '-c',
			 "mount -t tmpfs -o size=40m none $root/state && exec \"\$\@\"", 'sh']);
	my ($ada, $eve) = map { $s->client($_)->greeted } qw(ada eve);
	my $inside = "/proc/$s->{pid}/root$root/state";
	my $left = sub { my $fs = `stat -f -c '%a %S' $inside`; my ($n, $size) = split ' ', $fs; $n * $size };
	my $fill_to = sub { # so many bytes are left
		open my $f, '>>', "$inside/filler" or die "$inside: $!\n";
		while ((my $much = $left->() - $_[0]) > 4096) {
			syswrite $f, 'x' x ($much > 1 << 20 ? 1 << 20 : $much - 4096) or last;
		}
		close $f;
	};
	my $noticed = sub { my ($what, $code) = @_; ok(until_true($what, $code), $what) };

	# eve fills the disk, while ada works
	my $going = $ada->run_async(waits => {ms => 600000});
	$ada->saying($going, 'waiting');
	my ($r, $n) = until_refused(sub {
		my $x = $eve->run_sync(keeps => {n => 1 << 20});
		$ada->run_sync(echo => {n => 1})->{status} eq 'succeeded' or return {isError => 1};
		return {isError => $x->{status} ne 'succeeded', view => $x} });
	like($r->{view}{error}{message} // '', qr/disk is nearly full/,
	     'one requestor\'s artifacts fill the disk, but for the reserve');
	cmp_ok($left->(), '>=', 4 << 20, '  the reserve of the disk is left');
	unlike($r->{view}{error}{message}, qr{/|\d{4}}, '  the error on a full disk tells neither path nor size');
	is($ada->run_sync(echo => {n => 2})->{status}, 'succeeded', 'another\'s runs go on');

	$fill_to->(3 << 20);
	$noticed->('below the reserve readyz warns', sub {
		(json_to($s->fetch('GET', '/readyz')->{body})->{warning} // '') =~ /nearly full/ });
	ok($s->log_has(qr{part=disk room=low dir="$root/state" .*make room there}), '  the log tells where, and what to do');
	is($s->fetch('GET', '/readyz')->{status}, 200, '  small runs are served below the reserve');
	is($ada->run_sync(echo => {n => 2})->{status}, 'succeeded', '  a small run succeeds below the reserve');
	my $end = $ada->run_sync(says => {n => 200000});
	is($end->{error}{errorCode}, 'STORE_UNAVAILABLE', 'a large result is not kept');
	like($end->{error}{message}, qr/200002 bytes, but .* nearly full/, '  the run with a large result says that the disk is nearly full');
	refused($ada->run(echo => {x => 'y' x 70000}), 'STORE_UNAVAILABLE', 'large inputs are refused on a full disk');
	my $v = $ada->tool('get_runtime_profile')->{view}{store};
	ok($v->{available} && $v->{reason} =~ /nearly full/, 'the profile says so');
	is($ada->ended($ada->run_async('logs'))->{status}, 'succeeded', 'a run with a large log ends');

	$fill_to->(1 << 20);
	$noticed->('below half of it readyz says no', sub { $s->fetch('GET', '/readyz')->{status} == 503 });
	my $refusal = $ada->run(echo => {n => 3});
	refused($refusal, 'STORE_UNAVAILABLE', 'no run is made');
	is($refusal->{view}{details}{limit}, 'disk_reserve_bytes', '  for want of the reserve');
	same_json($refusal->{view}, $eve->run(echo => {n => 3})->{view}, '  each requestor gets the same refusal on a full disk');
	$ada->tool(cancel_task_run => {runId => $going});
	is($ada->ended($going)->{status}, 'canceled', 'what goes on ends, and that is recorded');
	my $doctor = `$BUILD/paddock doctor --socket $s->{socket} 2>&1`;
	like($doctor, qr/missing +room on the disk: .*nearly full/, 'doctor tells');
	$s->signal('USR1');
	ok($s->log_has(qr/disk=spent/), 'the log says that the reserve is spent');
	unlink "$inside/filler";
	$noticed->('with room again runs are made', sub { succeeded($ada->run(echo => {n => 4})) });
	$s->stop;
}

done_testing;
