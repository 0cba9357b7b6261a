#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Usage by parents and children: each run counts once, by template, in the view of the requestor and of root;
# children of a repeated parent are found, and count no second time.
use lib 'tests/lib';
use Paddock;
use Http;

my $reads = {readOnlyHint => true, destructiveHint => false};
my %token = (ada => 'a' x 43, bob => 'b' x 43);
my $d = Http->new(templates => {
	burn  => lua('local t = os.clock() while os.clock() - t < 0.05 do end return 1', annotations => $reads),
	calls => lua('for i = 1, 3 do run.template("burn", {}) end if inputs.fails then run.error("NO", "no luck") end return 1', annotations => $reads, permissions => {templates => ['*']}),
}, tokens => \%token, config => qq([grant "calls"]\ntemplates = *\n));
my ($root, $ada, $bob) = (Client->new($d)->greeted, map { $d->client($_)->greeted } qw(ada bob));

sub used { my ($client) = @_; return {map { ("$_->{requestor} $_->{templateId}" => [@$_{qw(runs cpuMs)}]) } @{$client->call('paddock/usage')->{result}{rows}}} }
sub cpu { my ($client, @runs) = @_; my $ms = 0; $ms += $client->get($_)->{metrics}{cpuMs} for @runs; return $ms }
sub children { my ($v) = @_; return map { $_->{runId} } @{$v->{children}} }

my $first = $ada->run_sync(calls => {fails => true});
my @mine = ($first->{runId}, children($first));
my %ada = ('ada calls' => [1, cpu($ada, $mine[0])], 'ada burn' => [3, cpu($ada, @mine[1 .. 3])]);

cmp_ok($ada{'ada burn'}[1], '>=', 140, 'the CPU time of children is that of three runs');
is_deeply(used($ada), \%ada, 'usage counts a parent and each child once');
# The quota also has the fractions of milliseconds, and the starts of workers.
cmp_ok($ada->tool('get_runtime_profile')->{view}{usage}{cpuMsThisHour}, '<', cpu($ada, @mine) + 45, 'the quota of CPU time is charged once for each run');
is_deeply(used($bob), {}, 'no other requestor pays');

my $again = $ada->tool(retry_task_run => {runId => $first->{runId}, inputs => {fails => false}, options => {mode => 'sync'}})->{view};
is($again->{status}, 'succeeded', 'a run is run again') or diag(json_of($again));
is_deeply(used($ada), {'ada calls' => [2, cpu($ada, $first->{runId}, $again->{runId})], 'ada burn' => $ada{'ada burn'}}, 'children that are found again are not counted again');

my $other = $bob->run_sync(calls => {});
my %bob = ('bob calls' => [1, cpu($bob, $other->{runId})], 'bob burn' => [3, cpu($bob, children($other))]);
is_deeply(used($bob), \%bob, 'another requestor pays for the own runs alone');
is_deeply(used($root), {%bob, %{used($ada)}}, 'the sums of all requestors count each run once');
$_->hang_up for grep { $_->can('hang_up') } $root, $ada, $bob;
$d->stop('the server ends');
done_testing();
