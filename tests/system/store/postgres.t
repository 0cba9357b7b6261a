#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The unit tests of the store once more, on PostgreSQL.
use strict;
use warnings;
use lib 'tests/lib';
use Needs;
use Test::More;

needs('postgres');
exec 'tests/tools/with-postgres', $^X, $0 unless $ENV{PADDOCK_TEST_POSTGRES};

my $build = $ENV{PADDOCK_BUILD} // 'build';
my @tests = glob "$build/tests/unit/supervisor/store/t_store*[a-z]";

cmp_ok( scalar @tests, '>', 10, 'the tests of the store are there' );
for my $test (@tests) {
	my @said = qx{timeout 300 $test 2>&1};

	ok( $? == 0 && !grep( /^not ok/, @said ) && grep( /^1\.\./, @said ), $test =~ s{.*/}{}r )
	    or diag( grep { !/^ok/ } @said );
}
done_testing();
