# SPDX-License-Identifier: Apache-2.0
# selftest.pl - "paddock selftest", as root and as an ordinary user.
use strict;
use warnings;
use lib '/root/guest';
use Guest;

for my $who ([], ['runuser', '-u', 'ann', '--']) {
	my $name = @$who ? 'ann' : 'root';

	my ($out, $status) = ran(@$who, 'paddock', 'selftest');
	is($status, 0, "the selftest of a server that $name started holds", $out =~ s/^ok .*\n//mgr);
}
1;
