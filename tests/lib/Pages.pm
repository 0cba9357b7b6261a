# SPDX-License-Identifier: Apache-2.0
# Pages.pm - the templates that drive a browser, for the tests that run them.
package Pages;

use strict;
use warnings;

use Exporter qw(import);
use Paddock;
use Test::More;

our @EXPORT = qw(fits login);

my %output;

# V is what the template ID declares.
sub fits {
	my ($id, $v) = @_;

	$output{$id} //= json_to(Paddock::read_file(
	    "$TOP/etc/templates/$id/template.json"))->{outputsSchema};
	my @wrong = schema_errors($output{$id}, $v);
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return ok(!@wrong, "$id gives what it declares") || diag("@wrong");
}

sub login { my ($site, %more) = @_; return $site->login(%more) }

1;
