# SPDX-License-Identifier: Apache-2.0
# second.pl - after a boot in mid-run: the unit is there again by itself, and knows
# what became of the run.
use strict;
use warnings;
use lib '/root/guest';
use Guest;

my $c = until_true('the daemon', sub { client() });
ok($c, 'the daemon is there again by itself', said('systemctl', 'status', '--no-pager', 'paddockd'));
exit 1 unless $c;
my $run = kept('run');
my $v = until_true('the end of the run', sub {
	my $v = $c->tool(get_task_run => {runId => $run});
	return ($v->{status} // '') =~ /^(?:queued|running)$/ ? undef : $v });
like(json_of($v), qr/RUN_INTERRUPTED/, 'the run that the boot ended is told as interrupted');
is(json_of($c->run(run_python => {code => 'print(1)'})->{result}{stdout}), '"1\n"', 'and the next runs');
unlike(said('systemctl', '--failed', '--no-legend'), qr/\S/, 'no unit has failed');
1;
