#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The next run of a resident may come at any moment: also while the shim stops and measures the
# processes of the resident, at length when there are many processes. And the shim stops and
# continues the processes at any moment: also in the middle of a long fork(2).
use lib 'tests/lib';
use Paddock;
use Residents;

my $CHILDREN = 40;
my $FORKS = "for (1 .. $CHILDREN) { my \$p = fork // die; if (!\$p) { POSIX::close(\$_) for 0 .. 20; sleep 600; POSIX::_exit(0) } } 'a'";

# After the end of a run the program forks, which takes long with much memory, and waits for the child.
my $FORKING = cells(limits => {maxMemoryBytes => 256 << 20});
$FORKING->{program} =~ s/^(use JSON::PP;)/$1\nour \$hoard = 'x' x (100 << 20);/m;
$FORKING->{program} =~ s/\}\n\z/\tmy \$p = fork \/\/ die; POSIX::_exit(0) if !\$p; waitpid \$p, 0;\n}\n/;

# The processes of the cages of a server, the oldest first, without their shims.
sub caged {
	my ($s) = @_;
	my @shims = grep { (Paddock::stat_of($_)->{comm} // '') eq 'paddock-worker' } Paddock::children_of($s->{pid});

	return sort { $a <=> $b } map { Paddock::children_of($_) } @shims;
}

for (users()) {
	my ($who, $user) = @$_;
	my $s = Paddock->new(user => $user, dirs => ['etc/templates'], templates => {cells => cells(), forking => $FORKING})->greeted;
	my ($youngest, $r);

	is(cell($s, $FORKS)->{status}, 'succeeded', "$who: a run leaves many processes");
	until_true("$who: the processes are seen", sub { my @all = caged($s); $youngest = $all[-1]; @all > $CHILDREN });
	for my $n (1 .. 10) {
		until_true("$who: the processes are stopped", sub { (Paddock::stat_of($youngest)->{state} // 'T') eq 'T' });
		$r = cell($s, '"b"');
		last if $r->{status} ne 'succeeded';
	}
	is($r->{result}{state}, 'a' . 'b' x 10, "$who: runs succeed right after the stop of the processes") or diag explain $r;
	for my $n (1 .. 30) {
		$r = $s->run_sync(forking => {notebook => 'f', do => '"f"'}, timeoutMs => 20000);
		last if $r->{status} ne 'succeeded';
	}
	is($r->{result}{state}, 'f' x 30, "$who: a fork goes on that the shim stopped and continued") or diag explain $r;
	my $n = 0;
	do { # each kills processes, whose ends interrupt the shim at its waits
		$r = $s->run_sync(run_python => {notebook => 'n', $n % 2 ? (undo => JSON::PP::true) : (code => '1')});
	} while $r->{status} eq 'succeeded' && ++$n < 120;
	is($n, 120, "$who: cells that are taken back at once cost no state") or diag explain $r;
	$s->stop;
}
done_testing;
