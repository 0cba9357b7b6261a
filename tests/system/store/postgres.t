#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The unit tests of the store, and the dependent system tests, run again with PostgreSQL:
# ON_POSTGRES in the Makefile lists the tests. Two run at a time; one database serves all,
# since each state folder has a schema of its own.
use strict;
use warnings;
use lib 'tests/lib';
use File::Temp;
use Needs;
use POSIX ();
use Test::More;

needs('postgres');
exec 'tests/tools/with-postgres', $^X, $0 unless $ENV{PADDOCK_TEST_POSTGRES};

my $AT_ONCE = 2;
my $SECONDS = 600; # a file may take
my $build   = $ENV{PADDOCK_BUILD} // 'build';
my @unit    = ( glob("$build/tests/unit/supervisor/store/t_store*[a-z]"), glob("$build/tests/unit/supervisor/run/exec/t_runs*[a-z]"), glob("$build/tests/unit/supervisor/cluster/t_*[a-z]") );
my @system  = split ' ', $ENV{PADDOCK_ON_POSTGRES} // qx{make -s on-postgres};
my ( %running, %said );

cmp_ok( scalar @unit,   '>', 10, 'the tests of the store are there' );
cmp_ok( scalar @system, '>', 10, 'so are those of the system' );

sub begin {
	my ($test) = @_;
	my $out = File::Temp->new;
	my $pid = fork // die "fork: $!\n";

	if ( $pid == 0 ) {
		open STDOUT, '>&', $out      or POSIX::_exit(127);
		open STDERR, '>&', \*STDOUT or POSIX::_exit(127);
		exec 'timeout', $SECONDS, $test =~ /\.t\z/ ? $^X : (), $test or POSIX::_exit(127);
	}
	$running{$pid} = [ $test, $out, time ];
}

# Is the TAP good: a complete plan, or a reason to skip?
sub is_well {
	my @said = @_;
	my $done = grep { /^ok / } @said;

	return 0 if $? != 0 || grep { /^not ok|^Bail out!/ } @said;
	return scalar grep { /^1\.\.(\d+)/ && ( $1 == $done || /^1\.\.0 # SKIP/ ) } @said;
}

my @left = ( @system, @unit );
while ( @left || %running ) {
	begin( shift @left ) while @left && keys %running < $AT_ONCE;
	my $run = delete $running{ waitpid -1, 0 } // next;
	my ( $test, $out, $began ) = @$run;
	my $status = $?;
	seek $out, 0, 0;
	my @said = <$out>;

	$? = $status;
	ok( is_well(@said), $test =~ s{.*(?:/tests/unit|tests/system)/}{}r ) or diag( grep { !/^ok/ } @said );
	note( time - $began, ' s' );
	note( grep { /# (?:SKIP|skip)/ } @said );
}
done_testing();
