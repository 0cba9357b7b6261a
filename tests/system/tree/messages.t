#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# messages.t - every message to a person is in messages.txt, where a reviewer reads the
# message. PADDOCK_WRITE=1 rewrites the list.
use strict;
use warnings;
use lib 'tests/lib';
use Messages;
use Test::More;

my $LIST = 'tests/system/tree/messages.txt';
my @now  = messages();

if ( $ENV{PADDOCK_WRITE} ) {
	open my $out, '>', $LIST or die "$LIST: $!";
	print {$out} map { "$_\n" } @now;
	close $out or die "$LIST: $!";
}

open my $in, '<', $LIST or die "$LIST: $!";
chomp( my @read = <$in> );
cmp_ok( scalar @now, '>', 1000, 'the sources\' messages are found' );

sub less { my ( $a, $b ) = @_; my %b = map { $_ => 1 } @$b; return [ grep { !$b{$_} } @$a ] }
is_deeply( less( \@now,  \@read ), [], "each is in $LIST" );
is_deeply( less( \@read, \@now ),  [], '  which has nothing else' );

# Forms of messages which read badly.
my @BAD = (
	[ 'a path into a JSON answer',       qr/\b(?:details|structuredContent)\.[a-z]/ ],
	[ 'two spaces in a sentence',        qr/[a-z,.;]  [a-z]/ ],
	[ 'a space before a comma',          qr/[a-z] [,;](?: |\z)/ ],
	[ 'a name of the C library\'s',      qr/\b(?:SQLITE_[A-Z]+|errno(?!=)|nullptr)\b/ ],
	[ 'somebody\'s folder',              qr{/home/[a-z]|/usr/src\b} ],
	[ 'an apology or a plea',            qr/\b(?:sorry|oops|unfortunately)\b/i ],
	[ 'the word error before a sentence', qr/^\w+: (?:error|fatal|failure): /i ],
	[ 'a word twice',                    qr/\b(?!that\b)([a-z]{2,}) \1\b/ ],
);
for (@BAD) {
	my ( $what, $like ) = @$_;
	is_deeply( [ grep { $_ =~ $like } @now ], [], "none has $what" );
}
done_testing;
