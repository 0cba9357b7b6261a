# SPDX-License-Identifier: Apache-2.0
# Cage.pm - can this machine make what programs are caged in? util-linux is
# asked, not paddock: a test may leave programs out where the machine cannot,
# and fails where it can and paddock does not.
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

# WHY programs are not run by USER (who we are), as a reason to skip; a failure
# where that is paddock's fault.
sub uncaged {
	my ($why, $user) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	fail("programs are caged where the machine can: $why") if machine_can($user // $>);
	return $why;
}

1;
