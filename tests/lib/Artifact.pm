# SPDX-License-Identifier: Apache-2.0
# Artifact.pm - the bytes of an artifact, as read by a client.
package Artifact;

use strict;
use warnings;

use Exporter qw(import);
use MIME::Base64 qw(decode_base64);

our @EXPORT = qw(artifact);

# The artifact NAME of the run VIEW, read in as many parts as S returns; undef: the run has
# no artifact NAME.
sub artifact {
	my ($s, $view, $name) = @_;
	my ($a) = grep { $_->{name} eq $name } @{$view->{artifacts}};
	my $bytes = '';

	return undef unless $a;
	while (length $bytes < $a->{size}) {
		my $part = $s->tool(get_artifact => {offset => length $bytes,
			artifactId => $a->{artifactId}})->{view};

		last unless $part->{bytesReturned};
		$bytes .= decode_base64($part->{data});
	}
	return $bytes;
}

1;
