#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# leaks.t - last of the suite: nothing is left that was not there before.
use strict;
use warnings;
use Test::More;

my $list = $ENV{PADDOCK_BEFORE}
    or plan skip_all => 'run by tests/tools/in-clean-tmp, which lists what was there before';
open my $in, '<', $list or die "$list: $!";
my %before = map { $_ => 1 } <$in>;
my @after  = `tests/tools/check-leaks`;

for my $kind (qw(process mount cgroup temporary shared)) {
	my @left = grep { /^$kind / && !$before{$_} } @after;
	is( join( '', @left ), '', "no $kind is left behind" );
}
done_testing();
