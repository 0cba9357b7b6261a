#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The next run of a resident may come at any moment: also while the shim stops and measures the
# processes of the resident, at length when there are many processes.
use lib 'tests/lib';
use Paddock;
use Residents;

my $CHILDREN = 40;
my $FORKS = "for (1 .. $CHILDREN) { my \$p = fork // die; if (!\$p) { POSIX::close(\$_) for 0 .. 20; sleep 600; POSIX::_exit(0) } } 'a'";

# The processes of the cages of a server, the oldest first, without their shims.
sub caged {
	my ($s) = @_;
	my @shims = grep { (Paddock::stat_of($_)->{comm} // '') eq 'paddock-worker' } Paddock::children_of($s->{pid});

	return sort { $a <=> $b } map { Paddock::children_of($_) } @shims;
}

for (users()) {
	my ($who, $user) = @$_;
	my $s = Paddock->new(user => $user, templates => {cells => cells()})->greeted;
	my ($youngest, $r);

	is(cell($s, $FORKS)->{status}, 'succeeded', "$who: a run leaves many processes");
	until_true("$who: the processes are seen", sub { my @all = caged($s); $youngest = $all[-1]; @all > $CHILDREN });
	for my $n (1 .. 10) {
		until_true("$who: the processes are stopped", sub { (Paddock::stat_of($youngest)->{state} // 'T') eq 'T' });
		$r = cell($s, '"b"');
		last if $r->{status} ne 'succeeded';
	}
	is($r->{result}{state}, 'a' . 'b' x 10, "$who: runs succeed right after the stop of the processes") or diag explain $r;
	$s->stop;
}
done_testing;
