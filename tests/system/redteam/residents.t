#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Residents that attack: a process that continues itself between runs, lines written for the
# program by a process of the cage, ends of other runs, and too long results.
use lib 'tests/lib';
use Paddock;
use Residents;

# A process of the cell that a timer continues each millisecond, and that spins.
my $SPINS = <<'PERL';
defined(my $p = fork) or die;
if (!$p) {
	POSIX::close($_) for 0 .. 20;
	my ($event, $id) = (pack('q l l x48', 0, 18, 0), pack 'l', 0);
	syscall 222, 1, $event, $id;
	my $each = pack 'q4', 0, 1_000_000, 0, 1_000_000;
	syscall 223, unpack('l', $id), 0, $each, 0;
	1 while 1;
}
"a"
PERL

for (users()) {
	my ($who, $user) = @$_;
	my $s = Paddock->new(user => $user, templates => {cells => cells(limits => {maxOutputBytes => 65536})})->greeted;
	my $lost = sub {
		my ($r, $code, $why, $name) = @_;

		is($r->{error}{errorCode}, $code, "$who: $name fails the run") or diag explain $r;
		my $next = cell($s, '"n"');
		is($next->{notebook}{state}, 'new', "$who: $name costs the state");
		like($next->{notebook}{why}, $why, "$who: $name is told");
	};

	is(cell($s, '"a"')->{status}, 'succeeded', "$who: a resident begins");
	for my $fd (3, 4) {
		my $r = cell($s, "my \$n = '/proc/' . getppid() . '/fd/$fd'; open(my \$f, '+<', \$n) ? 'opened' : 'refused'");
		is($r->{result}{said}, 'refused', "$who: descriptor $fd of the program is not to be opened by /proc");
	}
	$lost->(cell($s, '"b"', {id => 'run_2al4dtnkng4i25fysipeb34cku'}), 'EXECUTION_ERROR', qr/ended with a run/, 'the end of another run');
	$lost->(cell($s, '"x" x 100_000'), 'EXECUTION_ERROR', qr/ended with a run/, 'a result that is too long');
	$lost->(cell($s, 'syswrite $out, "no JSON\n"; sleep 600'), 'EXECUTION_ERROR', qr/ended with a run/, 'a line that is no JSON');
	is(cell($s, 'defined(my $p = fork) or die; if (!$p) { POSIX::close($_) for 0 .. 20; select undef, undef, undef, 0.05; 1 } $p ? "c" : POSIX::_exit(0)')->{status}, 'succeeded', "$who: a cell may leave a process");
	is(cell($s, $SPINS)->{status}, 'succeeded', "$who: a cell leaves a process that continues itself");
	until_true("$who: the end of the process", sub { $s->log_text =~ /ended="it used more CPU time/ });
	like(cell($s, '"n"')->{notebook}{why}, qr/CPU time/, "$who: a resident that works between runs ends");
	$s->stop;
}
done_testing;
