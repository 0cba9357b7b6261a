#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# license.t - LICENSE exists, and each source file begins with the license's name.
use strict;
use warnings;
use File::Find;
use Test::More;

my $LINE = qr/SPDX-License-Identifier: Apache-2\.0\b/;

sub head_of {
	my ($path) = @_;
	open my $in, '<', $path or die "$path: $!";
	return join '', map { $_ // '' } map { scalar <$in> } 1 .. 2;
}

# Files with a place for a comment: by the name, or by the #! line.
sub is_source {
	my ($path) = @_;
	return $path =~ m{\.(?:[ch]|js|mjs|lua|py|sh|pl|pm|t|[158]|bash|zsh|fish|service|socket)\z|(?:^|/)Makefile\z}
	    || -x $path && head_of($path) =~ /\A#!/;
}

my ( @with, @without );
find( { no_chdir => 1, wanted => sub {
	my $path = s{^\./}{}r;
	return $File::Find::prune = 1
	    if -d && ( $path =~ m{^(?:build|paddock-out)\z|^\.(?!ci\b)[^/]} || $path eq 'tests/fuzz/corpus' );
	return if !-f || -l || !is_source($path);
	push @{ head_of($path) =~ $LINE ? \@with : \@without }, $path;
} }, '.' );
cmp_ok( scalar @with, '>', 900, 'the sources are found' );
is_deeply( \@without, [], 'an SPDX line heads each' );

open my $in, '<', 'LICENSE' or die "LICENSE: $!";
my $text = do { local $/; <$in> };
like( $text, qr/Apache License\s+Version 2\.0, January 2004/, 'LICENSE is the Apache License 2.0' );
like( $text, qr/^\s+Copyright \d{4} the paddock authors$/m, '  of the paddock authors' );
like( $text, qr/END OF TERMS AND CONDITIONS/, '  whole' );
done_testing;
