#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# mutants.t - each small bug of tests/mutate/*.list can still be put in, and
# the tests that are to notice it are there; make mutate tries them.
use strict;
use warnings;
use lib 'tests/lib';
use File::Temp;
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
}
for my $want (qw(t_run_shown tell_progress)) {
	ok((grep { mutant_matches($_, $want) } @all), "a test or a function means its bugs: $want");
}

my $list = File::Temp->new;

print $list "== x\nproto/x.c f\n-a\n+b\nby t_of_nothing\n";
close $list;
is(eval { mutants_read("$list"); 1 } // $@, "$list:1: there is not one test t_of_nothing\n", 'a test that is not there ends all');
done_testing();
