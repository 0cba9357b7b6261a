#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# documents.t - all files and folders named in the documents for developers exist, and
# each folder of the source has a row in ARCHITECTURE.md.
use strict;
use warnings;
use File::Basename;
use Test::More;

my @files = split /\n/, `git ls-files 2>/dev/null` || `find . -path ./build -prune -o -type f -printf '%P\n'`;
my ( %there, %folder );
for my $file (@files) {
	my @parts = split m{/}, $file;
	$there{ join '/', @parts[ $_ .. $#parts ] } = 1 for 0 .. $#parts;
	my @up = @parts[ 0 .. $#parts - 1 ];
	for my $from ( 0 .. $#up ) {
		$folder{ join( '/', @up[ $from .. $_ ] ) . '/' } = 1 for $from .. $#up;
	}
}

for my $document (qw(ARCHITECTURE.md INTERNALS.md ADDING.md tests/README.md)) {
	open my $in, '<', $document or die "$document: $!";
	my ( $named, @gone ) = (0);
	while ( my $line = <$in> ) {
		for my $quoted ( $line =~ /`([^`]+)`/g ) {
			for my $name ( $quoted =~ m{(?<![\w/.*\$-])[\w/.-]+\.(?:c|h|t|def|json|pl|pm|md|list|js|mjs|conf(?:\.5)?)(?![\w*])}g ) {
				$named++;
				push @gone, "$document:$.: $name" unless $there{$name};
			}
			push @gone, "$document:$.: $quoted"
			    if $quoted =~ m{\A[\w/]+/\z} && $quoted ne 'out/' && !$folder{$quoted};
		}
	}
	is_deeply( \@gone, [], "$document names what is there" );
	cmp_ok( $named, '>', 10, '  and that is more than ten files' );
}

# ARCHITECTURE.md is short, and ADDING.md names files by whole paths.
{
	open my $in, '<', 'ARCHITECTURE.md' or die "ARCHITECTURE.md: $!";
	my @lines = <$in>;
	cmp_ok( scalar @lines, '<=', 250, 'ARCHITECTURE.md has 250 lines at most' );
	open $in, '<', 'ADDING.md' or die "ADDING.md: $!";
	my $adding = do { local $/; <$in> };
	my %paths = map { $_ => 1 } $adding =~ m{`([\w.-]+(?:/[\w.-]+)+)`}g;
	cmp_ok( scalar keys %paths, '>', 30, 'ADDING.md names files' );
	is_deeply( [ grep { !-e } sort keys %paths ], [], 'each path in ADDING.md is there' );
}

# The section of ARCHITECTURE.md about the way of a call tells where its paths begin.
{
	open my $in, '<', 'ARCHITECTURE.md' or die "ARCHITECTURE.md: $!";
	my ($way) = do { local $/; <$in> } =~ /^## The way of a call\n(.*?)^## /ms;
	my @paths = $way =~ m{`([a-z_]+/(?:[\w/]*\.[ch]|(?:\w+/)*))`}g;
	cmp_ok( scalar @paths, '>', 20, 'the way of a call names files' );
	is_deeply( [ grep { !-e ( m{^(?:supervisor|proto|sandbox|worker)/} ? $_ : "supervisor/$_" ) } @paths ], [], 'each path is below supervisor/, proto/, sandbox/ or worker/' );
}

# A folder in the table, by the whole path or below the last named folder.
open my $in, '<', 'ARCHITECTURE.md' or die "ARCHITECTURE.md: $!";
my $text = do { local $/; <$in> };
my %row;
for my $line ( $text =~ /^\| (`.*)$/mg ) {
	my ($top) = $line =~ m{\A`([\w/]+)/`};
	next unless defined $top;
	$row{$top} = 1;
	my $parent = dirname($top);
	for my $name ( $line =~ m{`([\w/]+)/`}g ) {
		$row{$_} = 1 for $name, "$top/$name", "$parent/$name";
	}
}
my %source = map { dirname($_) => 1 } grep { m{^(?:base|ipc|proto|sandbox|worker|supervisor|browser|cli)/.*\.[ch]\z} } @files;
is_deeply( [ grep { $_ ne 'supervisor' && !$row{$_} } sort keys %source ], [], 'each folder has its row' );
done_testing;
