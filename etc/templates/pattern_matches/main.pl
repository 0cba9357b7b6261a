#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# All matches of a pattern: where each is, and what its groups hold.
use strict;
use warnings;
use JSON::PP;

my $json = JSON::PP->new->utf8->canonical;
my $inputs = $json->decode(do { local $/; <STDIN> });
my ($text, $most) = ($inputs->{text}, $inputs->{most} // 1000);
my $pattern = eval { qr/$inputs->{pattern}/ }
    or die "the pattern is not one: $@";
my (@found, $cut);

while ($text =~ /$pattern/g) {
	if (@found == $most) {
		$cut = 1;
		last;
	}
	my $line = 1 + (substr($text, 0, $-[0]) =~ tr/\n//);
	push @found, {at => $-[0], line => $line,
		      text => substr($text, $-[0], $+[0] - $-[0]),
		      groups => [map { defined $-[$_]
			  ? substr($text, $-[$_], $+[$_] - $-[$_]) : undef } 1 .. $#+]};
}
print $json->encode({matches => \@found,
		     complete => $cut ? JSON::PP::false : JSON::PP::true});
