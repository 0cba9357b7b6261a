# SPDX-License-Identifier: Apache-2.0
# Answers.pm - long answers: no message is longer than the bound for messages, and a client
# can read the rest through the links that replace long parts.
package Answers;
use strict;
use warnings;
use bytes ();
use Exporter qw(import);
use MIME::Base64 qw(decode_base64);
use Paddock;
use Test::More;

our @EXPORT = qw($MIB $MOST %text $s_of links texts within read_all read_on);

our $MIB = 1 << 20;
our $MOST = 2 * $MIB; # the least that it can be set to: Perl reads JSON slowly
our %text = (type => 'object', properties => {s => {type => 'string'}}, required => ['s'],
	     additionalProperties => false);
our $s_of = 'local s = string.rep(inputs.unit or "x", inputs.n) ';

sub links { return grep { $_->{type} eq 'resource_link' } @{$_[0]{content}} }
sub texts { return join "\n", map { $_->{text} } grep { $_->{type} eq 'text' } @{$_[0]{content}} }

sub within {
	my ($raw, $what) = @_;
	my $n = bytes::length($raw // '');

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return ok($n > 0 && $n <= $MOST, "$what: $n bytes, which is no more than may be");
}

# The texts of all URIS, joined.
sub read_all {
	my ($s, $what, @uris) = @_;
	my $all = '';

	for (@uris) {
		my $a = $s->call('resources/read', {uri => $_});
		my $c = $a->{result}{contents}[0];

		within($a->{raw}, "$what: $_");
		diag(json_of($a->{error})) if $a->{error};
		$all .= $c->{text} // decode_base64($c->{blob} // '');
	}
	return $all;
}

# Read URI and follow the link in each part to the next part.
sub read_on {
	my ($s, $what, $uri) = @_;
	my $all = '';

	while (defined $uri) {
		my $a = $s->call('resources/read', {uri => $uri});
		my $c = $a->{result}{contents}[0] // {};

		within($a->{raw}, "$what: $uri");
		$all .= $c->{text} // decode_base64($c->{blob} // '');
		$uri = $c->{_meta}{'paddock/next'};
	}
	return $all;
}

1;
