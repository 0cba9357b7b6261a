# SPDX-License-Identifier: Apache-2.0
# term.pl - TERM while runs are wanted: each call is answered by what became of its run,
# and whoever has an id can ask the next server for it.
use strict;
use warnings;
use lib '/root/guest';
use Guest;

my $code = 'import time; time.sleep(3); print(1)';
my @clients = map { client() } 1 .. 4;
my @asked;
for my $n (1 .. 4) {
	push @asked, map { [$_, $_->ask_run(run_python => {code => $code}, mode => $n % 2 ? 'sync' : 'auto')] } @clients;
}
until_true('runs', sub { said('paddock', 'ps', '--json') =~ /"running"/ });
my $stop = fork // die "fork: $!\n";
if ($stop == 0) { exec 'systemctl', 'restart', 'paddockd' or die }

my %ends;
my @handed;
for (@asked) {
	my ($client, $id) = @$_;
	my $v = $client->view($id);
	my ($status, $code, $run) = ($v->{status} // '', $v->{error}{errorCode} // '', $v->{runId} // $v->{error}{details}{runId} // '');
	my $how = $run !~ /^run_\w+$/ ? 'no run: ' . json_of($v)
	    : $status eq 'succeeded' && ($v->{result}{stdout} // '') eq "1\n" ? 'done'
	    : $code eq 'RUN_INTERRUPTED' ? 'interrupted'
	    : $status eq 'queued' ? 'handed on' : json_of($v);

	$ends{$how}++;
	push @handed, $run if $how eq 'handed on';
}
waitpid $stop, 0;
is($? >> 8, 0, 'a restart while 16 runs are wanted');
is(join(' ', grep { !/^(?:done|interrupted|handed on)$/ } keys %ends), '', 'each of 16 answers is a result, an error with its code and run, or a handle', json_of(\%ends));
ok($ends{done} && $ends{interrupted}, 'some runs were done, some were not', json_of(\%ends));
note(json_of(\%ends));
is(said('systemctl', 'is-active', 'paddockd'), "active\n", 'the unit is back');
unlike(said('journalctl', '-u', 'paddockd', '-o', 'cat', '--no-pager'), qr/Failed with result|code=killed/, 'having ended by itself');
like(http('/readyz'), qr{^HTTP/1.1 200 }, 'and ready');
my $c = client() or die "the socket takes no client\n";
for my $run (@handed) {
	my $v = $c->ended($run);
	is($v->{result}{stdout}, "1\n", 'the next server does a run that was handed on', json_of($v));
}

# ---- what the system heard of all that ----

unlike(said('dmesg'), qr/overlayfs: /, 'the log of the kernel says nothing of overlays') or note(said('dmesg') =~ /^(.*overlayfs.*)$/mg);
unlike(said('systemctl', '--failed', '--no-legend'), qr/\S/, 'no unit has failed');
note(said('journalctl', '-u', 'paddockd', '-o', 'cat', '--no-pager') =~ /^(.*level=(?:warn|error).*\n)/mg);
1;
