#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Workers which send random messages to a real supervisor: legal messages, messages with odd
# fields, changed bytes, and any end. PADDOCK_ROUNDS sets the number; PADDOCK_SEED repeats a
# round.
use lib 'tests/lib';
use Paddock;
use File::Copy qw(copy);
use Redteam;

my $ROUNDS = $ENV{PADDOCK_ROUNDS} // 300;
my $SEED = $ENV{PADDOCK_SEED} // time;
my $AT_ONCE = 24;
my %known = map { $_ => 1 } qw(PROTOCOL_VIOLATION WORKER_CRASHED RUN_TIMEOUT
    EXECUTION_ERROR STEP_EXECUTION_FAILED OUTPUT_INVALID RESOURCE_LIMIT);
my $build = Paddock::fresh_root();
my %limits = (maxTimeoutMs => 150, cancelGraceMs => 50);

compile('system/redteam/attacks/rogue.c', "$build/paddock-worker") or BAIL_OUT('rogue.c cannot be built');
copy("$BUILD/paddockd", "$build/paddockd") or die "paddockd: $!\n";
chmod 0755, "$build/paddockd";
my $s = Paddock->new(build => $build, config => {max_concurrent_runs => $AT_ONCE},
		     templates => {
	fuzz => {code => "return function() end\n--rogue\nfuzz\n", limits => \%limits},
	good => {code => "return function() end\n--rogue\nsend 9110\n" .
		     "send 97150000000004a46e756c6c\n"}});

$s->init(undef, {elicitation => {}, sampling => {}});
note("PADDOCK_SEED=$SEED PADDOCK_ROUNDS=$ROUNDS");
$s->run_sync('good') for 1 .. 3;

my (%how, @wrong, @on);
my $grown = 0;
my $before = rss_kb($s->{pid});

sub look {
	my ($round, $run) = @{$_[0]};
	my $v = $s->ended($run);
	my $was = json_of($v);
	my $error = $v->{error} // {};
	my $code = $error->{errorCode} // $v->{status} // 'gone';

	$how{$code}++;
	push @wrong, "seed $round: $was"
	    unless $code eq 'succeeded' || $known{$code};
	push @wrong, "seed $round: no word on why"
	    if $code ne 'succeeded' && !length($error->{message} // '');
	my $is = json_of($s->get($run));
	push @wrong, "seed $round: after its end it is $is, it was $was"
	    unless $is eq $was;
}

for my $round ($SEED .. $SEED + $ROUNDS - 1) {
	last unless alive($s->{pid});
	push @on, [$round, $s->run_async('fuzz', {seed => $round})];
	look(shift @on) if @on >= $AT_ONCE;
	$s->{notes} = []; # what they asked us
}
look($_) for splice @on;
ok(alive($s->{pid}), "the server lives after $ROUNDS workers from seed $SEED on");
same_json([@wrong[0 .. ($#wrong < 4 ? $#wrong : 4)]], [], 'each run ended as one may');
cmp_ok($how{PROTOCOL_VIOLATION} // 0, '>', $ROUNDS / 10, 'some broke the protocol');
cmp_ok(scalar keys %how, '>=', 3, 'and not all in one way: ' . json_of(\%how));
is($s->run_sync('good')->{status}, 'succeeded', 'good ones go on being served');
cmp_ok(rss_kb($s->{pid}), '<', $before + $ROOM * (32 << 10), 'the server has not grown');
ok(until_true('all workers to be gone', sub {
	my $waiting = 0;

	$waiting += $_->{waiting} for @{$s->call('paddock/waiting')->{result}{workers}};
	return children_of($s->{pid}) <= 2 + $waiting;
   }), 'no worker is left but those that wait for a run');
$s->stop;

done_testing;
