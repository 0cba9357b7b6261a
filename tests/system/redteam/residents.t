#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Residents that attack: descriptors of the program opened by another process of the cage, ends
# of other runs, too long results, and lines that are no JSON.
use lib 'tests/lib';
use Paddock;
use Residents;

# Code for a run: leaves a process with four timers, each continuing the process five times a
# second, and then the process does DO. Linux drops a waiting SIGCONT at a stop, and a timer
# with a dropped signal never fires again, so one timer would not do.
sub waking {
	my ($do) = @_;
	my ($create, $set) = (POSIX::uname())[4] eq 'x86_64' ? (222, 223) : (107, 110);

	return <<"END";
pipe my \$from, my \$to or die;
my \$p = fork // die;
if (!\$p) {
	\$SIG{CONT} = sub { $do };
	for my \$n (1 .. 4) {
		my (\$event, \$id, \$times) = (pack('q i i x48', 0, POSIX::SIGCONT(), 0), pack('i', 0), pack('q4', 0, 200_000_000, 0, \$n * 50_000_000));
		syscall($create, 1, \$event, \$id) == 0 && syscall($set, unpack('i', \$id), 0, \$times, 0) == 0 or POSIX::_exit(1);
	}
	syswrite \$to, 'armed';
	POSIX::close(\$_) for 0 .. 20;
	while (1) { select undef, undef, undef, 1000 }
}
close \$to;
sysread \$from, my \$armed, 5;
\$armed
END
}

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
	$lost->(cell($s, 'say_line({reply => {content => []}}); sleep 600'), 'EXECUTION_ERROR', qr/ended with a run/, 'a reply');
	$lost->(cell($s, 'syswrite $out, "no JSON\n"; sleep 600'), 'EXECUTION_ERROR', qr/ended with a run/, 'a line that is no JSON');

	for (['works', '$n++'], ['works and stops itself again', 'kill STOP => $$']) {
		my ($how, $do) = @$_;
		my $name = $how =~ tr/ /_/r;
		is(cell($s, waking($do), {notebook => $name})->{result}{said}, 'armed', "$who: a run leaves a process that timers continue, and that $how");
		ok($s->log_has(qr/name=$name .*ended="one of its processes went on while it was stopped/), "$who: a stopped process that $how is found, and the resident ended");
		is(cell($s, '"n"', {notebook => $name})->{notebook}{state}, 'new', "$who: a stopped process that $how costs the state");
	}
	$s->stop;
}
done_testing;
