# SPDX-License-Identifier: Apache-2.0
# OtherBuild.pm - the programs of the build, with another paddockd.
package OtherBuild;

use strict;
use warnings;
use Exporter qw(import);
use File::Copy qw(copy);
use File::Temp qw(tempdir);
use Paddock;

our @EXPORT = qw(other_build);

# Returns a folder for PADDOCK_BUILD with a copy of PADDOCKD. The folder's name is build, and etc
# is beside the folder, as in a checkout: so the templates of etc/templates have the shipped grants.
sub other_build {
	my ($paddockd) = @_;
	my $root = tempdir('paddock-other.XXXXXX', TMPDIR => 1, CLEANUP => 1);
	my $build = "$root/build";

	mkdir $build or die "$build: $!\n";
	chmod 0755, $root, $build;
	symlink "$TOP/etc", "$root/etc";
	symlink $_, $build . '/' . s{.*/}{}r for grep { !m{/paddockd\z} } glob("$BUILD/paddock*"), map { "$BUILD/$_" } qw(modules templates tests);
	copy($paddockd, "$build/paddockd") or die "$paddockd: $!\n";
	chmod 0755, "$build/paddockd";
	return $build;
}

1;
