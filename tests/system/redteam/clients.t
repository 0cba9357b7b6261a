#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# What one client may try against the others, over HTTP; the table is
# tests/system/redteam/tables/clients.pl. Beside each attack another client works, whose runs,
# session and stream must notice nothing.
use lib 'tests/lib';
use Paddock;
use Http;

# A connection takes a descriptor at each end.
if (POSIX::sysconf(&POSIX::_SC_OPEN_MAX) < 8192 && !$ENV{PADDOCK_FDS}) {
	$ENV{PADDOCK_FDS} = 1;
	exec 'sh', '-c', 'ulimit -n 8192 2>/dev/null; exec "$@"', 'sh', $^X, $0, @ARGV;
}

my $GROWTH_KB = 96 << 10; # by thousands of sessions and connections
my @table = do "$TOP/tests/system/redteam/tables/clients.pl";
die "tests/system/redteam/tables/clients.pl: " . ($@ || $!) . "\n" unless ref $table[0];

my $root = Paddock::fresh_root();
my $s = Http->new(root => $root, tokens => {ada => 't' x 43, eve => 'u' x 43},
	config => "[server]\naudit_file = $root/audit\nlog_level = info\n" .
	    "[limits]\nmax_concurrent_runs = 5\nmax_queued_runs = 40\n",
	templates => {
		echo => lua('return inputs'),
		says => lua('return ("x"):rep(inputs.n)'),
		keeps => lua('return run.artifact{name = "a", data = ("x"):rep(inputs.n)}'),
		doze => lua('run.progress(0, 1, "dozing") while true do run.sleep(60000) end',
			    limits => {maxTimeoutMs => 600000}),
	}, idle => 1);
$s->write_config("[server]\naudit_file = $root/audit\n[limits]\nmax_concurrent_runs = 5\nmax_queued_runs = 40\n" .
	join '', map { "[requestor \"$_\"]\ntoken_sha256 = " . Http::sha256_hex($s->{tokens}{$_}) . "\n" .
		($_ eq 'eve' ? "store_bytes = 16M\n" : '') } qw(ada eve));
$s->{audit} = "$root/audit";
$s->{level} = 'info';
$s->start;
$s->ready;
my ($ada, $eve) = map { $s->client($_)->greeted } qw(ada eve);
my $going = $ada->run_async('doze');
$ada->saying($going, 'dozing');

for my $attack (@table) {
	my ($n, $what, $want, $code) = @$attack;

	next if $ENV{PADDOCK_ATTACK} && $n ne $ENV{PADDOCK_ATTACK};
	my $before = rss_kb($s->{pid});
	$eve = $s->client('eve')->greeted;
	is($code->($s, $eve, $ada), $want, "$n $what: $want");
	my $v = $ada->run_sync(echo => {n => $n});
	is(json_of($v->{result} // $v), json_of({n => $n}), '  another\'s run is done meanwhile');
	is($ada->get($going)->{status}, 'running', '  and one goes on');
	my $now = rss_kb($s->{pid});
	cmp_ok($now, '<', $before + $GROWTH_KB, '  and the server has not grown');
}
$ada->tool(cancel_task_run => {runId => $going});
is($ada->ended($going)->{status}, 'canceled', 'which ends as it is told');
$s->stop;
my $audit = read_file("$root/audit");
my ($held) = $audit =~ /"event":"held_back","requestor":"eve","of":"refused","count":(\d+)/;
cmp_ok($held // 0, '>', 1000, 'what was not recorded is counted');
like($s->log_text, qr/part=log .*held_back=\d+ like="auth=refused token=%s"/, 'and in the log, too');

done_testing;
