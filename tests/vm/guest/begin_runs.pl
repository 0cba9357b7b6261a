# SPDX-License-Identifier: Apache-2.0
# begin_runs.pl - before a boot: runs that have ended, that run, and that wait.
use strict;
use warnings;
use lib '/root/guest';
use Guest;

my $c = until_true('the daemon', sub { client() }) or die "no daemon\n";
my %kept = (boots => boots());
my $v = $c->run(run_python => {code => "print('before boot $kept{boots}')"});
is($v->{status}, 'succeeded', 'a run ends before the boot', json_of($v));
$kept{ended} = $v->{runId};
$kept{running} = [map { $c->run(run_python => {code => 'import time; time.sleep(280)', timeoutMs => 300000}, mode => 'async')->{runId} } 1 .. 4];
until_true('four that run', sub { 4 == grep { ($c->tool(get_task_run => {runId => $_})->{status} // '') eq 'running' } @{$kept{running}} });
$kept{waiting} = [map { $c->run(run_python => {code => "print('waited $_')"}, mode => 'async')->{runId} } 1 .. 3];
is(scalar(grep { /^run_/ } @{$kept{running}}, @{$kept{waiting}}), 7, 'four runs go on, and three wait');
keep(runs => \%kept);
1;
