#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Residents that attack: descriptors of the program opened by another process of the cage, ends
# of other runs, too long results, and lines that are no JSON.
use lib 'tests/lib';
use Paddock;
use Residents;

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
	$s->stop;
}
done_testing;
