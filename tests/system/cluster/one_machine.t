#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The test one_machine.t: a server on a single machine needs no code for several machines: tests of
# runs, tasks and questions pass with a paddockd linked without supervisor/cluster/,
# store/postgres/ and store/import/ (tests/tools/one_machine.c). The command
# make check-one-machine runs all tests which need none of the three folders.
use strict;
use warnings;
use lib 'tests/lib';
use OtherBuild;
use Paddock;

my @TESTS = map { "tests/system/$_.t" } qw(runs/contract tasks/tasks sessions/notifications input/input);
my $alone = "$BUILD/tests/one_machine/paddockd";

plan(skip_all => 'this build has no paddockd for one machine beside it, or is one') if $BUILD =~ m{/one_machine\z} || !-x $alone;

my $stub = read_file('tests/tools/one_machine.c');

# The names of functions and tables of PROGRAM defined by SOURCE, a .c file, by the prefix of the file.
sub names {
	my ($program, $source) = @_;
	my ($prefix) = $source =~ m{([^/]+)\.c\z};

	return grep { /\A\Q$prefix\E(?:_|\z)/ } split /\n/, qx{nm --defined-only --format=just-symbols $program};
}

for my $source (sort glob('supervisor/cluster/*.c supervisor/store/postgres/pq*.c')) {
	ok(names("$BUILD/paddockd", $source) > 0, "paddockd has $source");
	is_deeply([grep { $stub !~ /\b$_\b/ } names($alone, $source)], [], "the paddockd for one machine has nothing of $source");
}

local $ENV{PADDOCK_BUILD} = other_build($alone);
local $ENV{PADDOCK_TEST_STORE};
for my $test (@TESTS) {
	my $said = qx{$^X $test 2>&1};

	ok($? == 0, "$test, on one machine") or diag($said =~ /^((?:not ok|#).*)$/mg);
}
done_testing();
