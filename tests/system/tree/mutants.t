#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# mutants.t - each small bug of tests/mutate/*.list can still be put in, and
# the tests that are to notice it are there; make mutate tries them.
use strict;
use warnings;
use lib 'tests/lib';
use Mutant;
use Test::More;

sub read_file { open my $f, '<:raw', $_[0] or return undef; local $/; return scalar <$f> }

my @all = mutants_read(sort glob 'tests/mutate/*.list');
my %seen;

cmp_ok(scalar @all, '>=', 150, 'there are 150 bugs and more');
for my $m (@all) {
	my $text = read_file($m->{file});

	ok(defined $text && eval { mutant_apply($m, $text) } && !$seen{"$m->{file} $m->{name}"}++,
	   "$m->{file}: $m->{name}") or diag($@);
	ok(mutant_test($_), "$m->{at}: there is $_, once") for @{ $m->{by} };
}
done_testing();
