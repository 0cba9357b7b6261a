# SPDX-License-Identifier: Apache-2.0
# end_of_runs.pl - after a boot: the unit is there again by itself, and knows what
# became of each run that was acknowledged.
use strict;
use warnings;
use lib '/root/guest';
use Guest;

my $how = boots() == 1 ? 'a reboot' : 'a loss of power';
my $c = until_true('the daemon', sub { client() });
ok($c, "after $how the daemon is there again by itself", said('systemctl', 'status', '--no-pager', 'paddockd')) or die "no daemon\n";
my $kept = kept('runs');
my $ended = $c->tool(get_task_run => {runId => $kept->{ended}});
is($ended->{result}{stdout}, "before boot $kept->{boots}\n", "$how: an end that was told is kept", json_of($ended));
for my $run (@{$kept->{running}}) {
	my $v = $c->ended($run);
	is($v->{error}{errorCode}, 'RUN_INTERRUPTED', "$how: a run that it ended is told as interrupted", json_of($v));
}
for my $n (1 .. @{$kept->{waiting}}) {
	my $v = $c->ended($kept->{waiting}[$n - 1]);
	is($v->{result}{stdout}, "waited $n\n", "$how: a run that waited is done", json_of($v));
}
is(json_of($c->run(run_python => {code => 'print(1)'})->{result}{stdout}), '"1\n"', "$how: the next runs");
unlike(said('systemctl', '--failed', '--no-legend'), qr/\S/, "$how: no unit has failed");
1;
