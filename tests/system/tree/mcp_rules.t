#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Each rule of MCP 2025-11-25 for servers has a number, and a test whose name
# begins with "MCP N:".
use strict;
use warnings;
use Test::More;

my $RULES = 41; # of 41, what static tokens have of authorization
my %by;

for my $file (split /\n/, `find tests -name "*.t" -o -name "t_*.c"`) {
	open my $f, '<', $file or die "$file: $!\n";
	while (my $line = <$f>) {
		$by{$_}++ for map { split /, / } $line =~ /["']\s*MCP ((?:\d+, )*\d+): /g;
	}
}
ok($by{$_}, "rule $_ has a test") for 1 .. $RULES;
is_deeply([grep { $_ > $RULES } sort keys %by], [], 'and no test a rule that is not');
done_testing;
