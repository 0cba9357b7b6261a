#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# index.t - INDEX.md is what tests/tools/index writes of the source files as they are.
use strict;
use warnings;
use Test::More;

my $made = `tests/tools/index`;
is( $?, 0, 'each source file has an opening comment' );
open my $in, '<', 'INDEX.md' or die "INDEX.md: $!";
my @kept = <$in>;
my %kept = map { $_ => 1 } @kept;
my @made = map { "$_\n" } split /\n/, $made;
my %made = map { $_ => 1 } @made;

cmp_ok( scalar @made, '>', 900, 'the index has the source files' );
like( $made, qr/^- `id\.c`: makes the ids [^.\n]+$/m, 'a row has the file and the first sentence of its comment' );
is_deeply( [ map { "+ $_" } grep { !$kept{$_} } @made ], [], 'INDEX.md has each row (make index adds it)' );
is_deeply( [ map { "- $_" } grep { !$made{$_} } @kept ], [], 'INDEX.md has no row of before (make index removes it)' );
is( join( '', @kept ), $made, 'INDEX.md is in order' );
done_testing;
