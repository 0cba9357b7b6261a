# SPDX-License-Identifier: Apache-2.0
# Cage.pm - can this machine make the cage of programs? The answer comes from util-linux,
# not from paddock: a test may skip programs where the machine has no cage, and fails where
# only paddock has none.
package Cage;

use strict;
use warnings;
use Exporter qw(import);
use POSIX ();
use Test::More;

our @EXPORT = qw(uncaged);

my @unshare = qw(unshare --user --map-root-user --mount --pid --fork --net --ipc --uts
    --mount-proc true);
my %can; # uid => is it so?

sub machine_can {
	my ($user) = @_;

	return $can{$user} //= do {
		my $pid = fork // die "fork: $!\n";

		if ($pid == 0) {
			open STDOUT, '>', '/dev/null';
			open STDERR, '>&', \*STDOUT;
			$> == $user or POSIX::setgid($user), POSIX::setuid($user);
			exec @unshare or POSIX::_exit(127);
		}
		waitpid $pid, 0;
		$? == 0 ? 1 : 0;
	};
}

# WHY programs are not run by USER (or the current user), as a reason to skip; a failure
# where paddock is at fault.
sub uncaged {
	my ($why, $user) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	fail("programs are caged where the machine can: $why") if machine_can($user // $>);
	return $why;
}

1;
