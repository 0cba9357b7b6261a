#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Attacks of programs started ahead of the run (prestart): on the next run, on other waiting
# workers, and on the machine. The tests run as root, and as nobody.
use lib 'tests/lib';
use Paddock;

sub perl { return "#!/usr/bin/perl\nuse strict; \$| = 1;\n$_[0]" }
my $ANSWER = 'my $in = join "", <STDIN>; print "1";';

# [number, description, the program, 'taken' or the reason in the log for a useless worker,
# the result of a run, limits]
my @attacks = (
	[201, 'keep state for the next run',
	 'my @left = grep { -e } "left", "/tmp/left", "/dev/shm/left"; ' .
	 'for ("left", "/tmp/left", "/dev/shm/left") { open my $f, ">", $_ } my $in = join "", <STDIN>; print scalar @left;',
	 'taken', 'succeeded 0'],
	[202, 'spin before the run', 'my $n = 0; $n++ while 1;', qr/CPU time/, 'failed RESOURCE_LIMIT', {maxCpuMs => 400}],
	[203, 'spin once it waits', 'select undef, undef, undef, 0.5; unless (fork) { close STDIN; my $n; $n++ while 1 }' . $ANSWER,
	 qr/CPU time/, 'succeeded 1'],
	[204, 'fork before the run', 'for (1 .. 40) { my $pid = fork; last unless defined $pid; next if $pid; sleep 1000; exit }' . $ANSWER,
	 qr/too many|worker was ended|of who waits|taken/, 'any', {maxProcesses => 8}],
	[205, 'exhaust memory before the run', 'my $all = "x" x (1 << 30); ' . $ANSWER, qr/memory|ended/, 'any', {maxMemoryBytes => 32 << 20}],
	[206, 'fill its files before the run', 'open my $f, ">", "/tmp/big"; print $f "x" x (1 << 20) for 1 .. 300; ' . $ANSWER,
	 qr/memory|ended|taken/, 'any', {maxMemoryBytes => 64 << 20}],
	[207, 'answer before it is asked', 'print "1"; my $in = join "", <STDIN>;', qr/too early/, 'succeeded 1'],
	[208, 'speak before it is asked', 'open my $l, ">&=3"; $l->autoflush; print $l qq({"log":{"message":"x"}}\n);' . $ANSWER,
	 qr/too early/, 'succeeded 1'],
	[209, 'ask for a call before it has a run', 'open my $l, ">&=3"; $l->autoflush; print $l qq({"elicit":{"id":1,"message":"?"}}\n);' . $ANSWER,
	 qr/too early/, 'any'],
	[210, 'hold descriptors', 'my @f; while (open my $f, "<", "/dev/null") { push @f, $f } ' . $ANSWER, 'taken', 'succeeded 1'],
	[211, 'close what it is told by', 'close STDIN; sleep 1; print "1";', qr/too early/, 'succeeded 1'],
	[212, 'leave a process behind', 'unless (fork) { setpgrp; unless (fork) { close STDOUT; close STDIN; sleep 1000 } exit } wait; exit 1;',
	 qr/ended before its run|too early/, 'failed EXECUTION_ERROR'],
	[213, 'make a forbidden call', 'select undef, undef, undef, 0.3; syscall 101, 0, 0, 0, 0;' . $ANSWER,
	 qr/forbidden/, 'any'],
	[214, 'fill the log before the run', 'print STDERR "x" x 1000, "\n" for 1 .. 300;' . $ANSWER, 'taken', 'succeeded 1'],
	[215, 'signal the shim', 'kill TERM => 1; kill USR1 => 1; kill KILL => 1; kill STOP => 1;' . $ANSWER, 'taken', 'succeeded 1'],
);

sub outcome { # of a view
	my ($v) = @_;

	return join ' ', $v->{status} // 'none', $v->{status} eq 'succeeded' ? $v->{result} : $v->{error}{errorCode};
}

my @only = grep { !$ENV{PADDOCK_ATTACK} || $_->[0] == $ENV{PADDOCK_ATTACK} } @attacks;

for (users()) {
	my ($who, $user) = @$_;
	my $s = Paddock->new(user => $user, log_level => 'debug', config => "[limits]\nprestart_memory = 128M\nmax_concurrent_runs = 8\n",
		templates => {
			honest => {program => perl($ANSWER), prestart => 1},
			lua => {code => 'return function() return 1 end'},
			map { ("attack_$_->[0]" => {program => perl($_->[2]), prestart => 1, limits => $_->[5] // {}}) } @only});

	$s->init;
	$s->run_sync($_) for qw(honest lua);
	for (@only) {
		my ($n, $what, undef, $use, $want) = @$_;
		my $t = "attack_$n";
		my @views = $s->run_sync($t);

		if (ref $use) {
			my $gone = until_true("one of $t to be of no use", sub {
				my ($row) = grep { ($_->{templateId} // '') eq $t } @{$s->result($s->request('paddock/waiting'))->{workers}};
				return ($row->{replaced} // 0) > 0 || ('taken' =~ $use && ($row->{waiting} // 0) > 0);
			});
			like($s->log_text =~ /part=warm template=$t replaced=\d+ why="([^"]*)"/ ? $1 : 'taken', $use, "$n $what: is seen ($who)") if $gone;
		} else {
			until_true("one of $t to wait", sub { $s->log_text =~ /part=warm template=$t pid=\d+ settled=yes/ });
		}
		push @views, $s->run_sync($t);
		is(outcome($_), $want, "$n $what: its run") for $want eq 'any' ? () : @views;
		ok($_->{status} =~ /succeeded|failed/, "$n $what: it ends") for @views;
		is(outcome($s->run_sync($_)), 'succeeded 1', "$n $what: $_ is served") for qw(honest lua);
	}
	$s->stop("nothing is left ($who)");
}

done_testing;
