#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# nouns.t - a comment, a document and the name of a test are understood alone: few pronouns,
# and no pronoun at the beginning of a comment. Files older than the rule are in nouns.txt,
# which only gets shorter. PADDOCK_WRITE=1 removes the files which pass.
use strict;
use warnings;
use lib 'tests/lib';
use Nouns;
use Test::More;

my $LIST = 'tests/system/tree/nouns.txt';
my %of   = map { $_ => [ Nouns::faults( $_, Nouns::slurp($_) ) ] } Nouns::files();
my @bad  = grep { @{ $of{$_} } } sort keys %of;

# ---- the measure itself ----

sub faults_of { return join '; ', Nouns::faults( 'a.c', $_[0] ) }
is( faults_of('/* Its lock can be taken. */'), '1 of 1 begin with a pronoun', 'a comment that begins with a pronoun is found' );
is( faults_of('/* The server is dead. */'), '', 'a comment that begins with a noun is none' );
is( faults_of( '/* The ' . 'server that lies tells it to them. ' x 8 . '*/' ), '42.1 pronouns in 100 words (6)', 'pronouns are counted in 100 words' );
is( faults_of('/* The server goes on ... */'), '1 run on with three dots', 'a comment that runs on is found' );
is( faults_of('char *s = "/* It is text. */";'), '', 'a text in quotes is no comment' );
is( join( '; ', Nouns::faults( 'a.t', "# It goes\n# on.\nok(1);\n# The end.\n" ) ), '1 of 2 begin with a pronoun', 'lines of a script that follow one another are one comment' );

# ---- the tree ----

if ( $ENV{PADDOCK_WRITE} ) {
	my %was = -e $LIST ? map { $_ => 1 } split /\n/, Nouns::slurp($LIST) : map { $_ => 1 } @bad;

	open my $out, '>', $LIST or die "$LIST: $!";
	print {$out} map { "$_\n" } grep { $was{$_} } @bad;
	close $out or die "$LIST: $!";
}
my %before = map { $_ => 1 } split /\n/, Nouns::slurp($LIST);

cmp_ok( scalar keys %of, '>', 1000, 'the files of the tree are found' );
is_deeply( [ map { "$_: @{$of{$_}}" } grep { !$before{$_} } @bad ], [], 'each file that is not in nouns.txt is understood alone' );
is_deeply( [ grep { !@{ $of{$_} // [] } } sort keys %before ], [], 'no file that is understood alone is in nouns.txt (PADDOCK_WRITE=1 takes it out)' );

# ---- names of tests ----

my @continued_names = ( 'and it ends', '  or is gone', '... of the run', );
is_deeply( [ Nouns::continued( sprintf qq{ok(a(1), "%s");\nok(b, "the run ends");\nis(c, 1, '%s');\nis(d, 1, '%s');}, @continued_names ) ], \@continued_names, 'a name that continues the name before is found' );
my %named = map { $_ => [ Nouns::continued( Nouns::slurp($_) ) ] } Nouns::test_files();
my @continued = grep { @{ $named{$_} } } sort keys %named;

is_deeply( [ map { "$_: $named{$_}[0]" } @continued ], [], 'the name of each test is understood alone' );
done_testing;
