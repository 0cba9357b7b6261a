#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Rules of MCP for servers each have a number, and a test whose name begins with the number:
# "MCP N:" of 2025-11-25, "MCP26 N:" of 2026-07-28 and its extension for tasks.
use strict;
use warnings;
use Test::More;

my %RULES = (MCP => 41,	# of 41, what static tokens have of authorization
	     MCP26 => 20);
my %by;

for my $file (split /\n/, `find tests -name "*.t" -o -name "t_*.c"`) {
	open my $f, '<', $file or die "$file: $!\n";
	while (my $line = <$f>) {
		while ($line =~ /["']\s*(MCP(?:26)?) ((?:\d+, )*\d+): /g) {
			$by{$1}{$_}++ for split /, /, $2;
		}
	}
}
for my $which (sort keys %RULES) {
	for my $rule (1 .. $RULES{$which}) {
		ok($by{$which}{$rule}, "rule $which $rule has a test");
	}
	is_deeply([grep { $_ > $RULES{$which} } sort keys %{$by{$which}}], [], "no test names a rule of $which that does not exist");
}
done_testing;
