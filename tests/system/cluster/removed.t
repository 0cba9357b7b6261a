#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A reload removes a requestor at one of two nodes: the requestor is locked out of the first node, waiting
# runs go to the other node, and a notebook of that node is lost with the reason.
use lib 'tests/lib';
use Paddock;

BEGIN {
	needs('postgres');
	exec 'tests/tools/with-postgres', $^X, $0 unless $ENV{PADDOCK_TEST_POSTGRES};
}
use Cluster;
use Residents;

my %token = (ada => 'a' x 40, bob => 'b' x 40);
my $c = Cluster->new(templates => {cells => cells(), doze => lua('run.progress(0, 1, "dozes") while not run.cancelled() do run.sleep(100) end', limits => {maxTimeoutMs => 600000}), echo => lua('return inputs')},
	nodes => 2, limits => {max_concurrent_runs => 2}, tokens => \%token);
my ($here, $there) = map { $_->modern('ada') } $c->nodes;
my $bob = $c->node(0)->modern('bob');
my $conf = "$c->{nodes}[0]{root}/paddock.conf";

is(cell($here, '"a"')->{result}{state}, 'a', 'a notebook lives at the first node');
my $run = $here->run_async('doze');
$there->saying($run, 'dozes');
my $old = read_file($conf);
my $new = $old =~ s/^\[requestor "ada"\]\n(?:(?!\[).*\n)*//mr;
isnt($new, $old, 'the section is there before');
write_file($conf, $new);
is($c->node(0)->reload, 'done', 'the first node has no section of the requestor any more');

is($c->node(0)->fetch('POST', '/mcp', {Authorization => "Bearer $token{ada}", 'Content-Type' => 'application/json', Accept => 'application/json, text/event-stream'}, '{}')->{status}, 401, 'the requestor is locked out there');
is($there->get($run)->{status}, 'running', 'a run that the requestor began at the first node goes on, and is shown by the other node');
my $r = cell($there, '"b"');
is($r->{result}{state}, 'b', 'the notebook begins anew at the other node');
is($r->{notebook}{why}, 'its requestor was removed', 'the first run of the new notebook is told why the state was lost');
my @id = map { $there->run_async(echo => {n => $_}) } 1 .. 12;
is_deeply([map { $there->ended($_)->{result}{n} } @id], [1 .. 12], 'runs of the requestor are begun by the other node alone');
is(scalar(() = $c->node(0)->log_text =~ /requestor=ada claimed=left/g), 0, 'the first node claims no run of the requestor');
$there->tool(cancel_task_run => {runId => $run});
is($there->ended($run)->{status}, 'canceled', 'the other node cancels the run of the first');
is($bob->run_sync(echo => {n => 7})->{result}{n}, 7, 'another requestor is served at the first node');

# ---- and back ----

write_file($conf, $old);
is($c->node(0)->reload, 'done', 'the section is there again');
$here = $c->node(0)->modern('ada');
is($here->run_sync(echo => {n => 8})->{result}{n}, 8, 'the requestor is served at the first node again');
is(cell($here, '"c"')->{result}{state}, 'bc', 'the notebook of the other node is reached from the first');
$c->stop;
done_testing();
