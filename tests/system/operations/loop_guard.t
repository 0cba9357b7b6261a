#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Tests of several areas with a paddockd which ends when the loop's thread accesses a file,
# waits, or hashes more than 1 MiB in a turn (tests/tools/loop_guard.c). With make
# check-guard, all tests run so, with a bound of the time of a turn.
use strict;
use warnings;
use lib 'tests/lib';
use File::Temp qw(tempdir);
use OtherBuild;
use Paddock;
use POSIX qw(WNOHANG);

my @TESTS = map { "tests/system/$_.t" } qw(
	http/http http/http_listen http/http_ready http/http_artifacts
	templates/pictures sessions/listen sessions/mcp_base sessions/notifications sessions/resources sessions/revisions sessions/stateless
	tasks/tasks tasks/tasks_extension_http tasks/tasks_http input/input input/input_http
	requestors/requestors_http requestors/cross_requestor runs/contract runs/retry runs/regressions
	store/artifacts store/drain operations/reload);
my $guarded = "$BUILD/tests/guard/paddockd";

plan(skip_all => 'this build has no guarded paddockd beside it, or is one') if $BUILD =~ m{/guard\z} || !-x $guarded;
my ($reports) = read_file($guarded) =~ m{(/tmp/paddock-guard\.\d+)/report};
my $build = other_build($guarded);

# A killed run has left reports; make check-guard reports no such owner.
my ($owner) = -e "$reports/calls-alone" ? read_file("$reports/calls-alone") =~ /(\d+)/ : ();
if ($owner && !kill 0 => $owner) {
	unlink glob "$reports/*";
	rmdir $reports;
}
mkdir $reports or plan(skip_all => "make check-guard goes on: $reports is there");
chmod 01777, $reports;
write_file("$reports/calls-alone", "$$\n");

# The watch itself: a server whose loop accesses a file is ended, and the place is reported.
{
	my $state = tempdir('paddock-guarded.XXXXXX', TMPDIR => 1, CLEANUP => 1);

	write_file("$reports/probe", '');
	my $pid = open my $to, '|-', "$build/paddockd", '--stdio', '--state-dir', $state, '--templates', $state, '--log-file', "$state/log"
	    or die "paddockd: $!\n";
	my $ended = until_true('the end of a server whose loop accesses a file', sub { waitpid($pid, WNOHANG) == $pid });
	is($ended ? $? & 127 : 'none', 6, 'a server whose loop accesses a file is aborted');
	like(join('', map { read_file($_) } glob "$reports/report.*"), qr/^loop_guard: access on the loop: /, 'the access of the loop is reported');
	unlink "$reports/probe", glob "$reports/report.*";
	kill KILL => $pid if !$ended;
	close $to;
}

local $ENV{PADDOCK_BUILD} = $build;
for my $test (@TESTS) {
	my $said = qx{$^X $test 2>&1};

	ok($? == 0, $test) or diag($said =~ /^((?:not ok|#).*)$/mg);
}
is(qx{tests/tools/guarded $reports $guarded}, "loop_guard: 0 places\n", 'nothing was done on the loop that may take long');
unlink glob "$reports/*";
rmdir $reports;
done_testing();
