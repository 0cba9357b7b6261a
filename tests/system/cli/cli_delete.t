#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Runs that are forgotten before they expire: paddock rm and paddock prune, and
# paddock/deleteRuns in each revision, over the socket and over HTTP.
use lib 'tests/lib';
use Paddock;
use Cli;
use Http;

my %templates = (
    makes => lua('run.log("info", "made") run.artifact{name = "a.txt", data = ("x"):rep(5000)} return 1'),
    other => lua('return 2'),
    fails => lua('run.error("NO", "no")'),
    slow => lua('run.progress(0, 1, "dozing") run.sleep(600000)'),
);
my %token = (ada => 'a' x 43, bob => 'b' x 43);
my $audit = Paddock::fresh_root() . '/audit.log';
my $d = Http->new(templates => \%templates, tokens => \%token,
		  config => "[server]\naudit_file = $audit\n");
my $cli = Cli->new;
my $c = Client->new($d)->greeted;
my $unknown = 'run_' . 'a' x 26;

sub paddock { return $cli->run([@_, '--socket', $d->{socket}]) }
sub given { my ($client, $template) = @_; return $client->run_sync($template)->{runId} }
sub ids { my ($client) = @_; return sort map { $_->{runId} } @{$client->tool(list_task_runs => {limit => 100})->{view}{runs}} }
sub bytes { return $c->tool('get_runtime_profile')->{view}{usage}{storeBytes} }
sub entries { return grep { $_->{event} =~ /deleted/ } map { json_to($_) } split /\n/, read_file($audit) // '' }

# ---- rm ----

{
	my $empty = bytes();
	my ($made, $stays) = (given($c, 'makes'), given($c, 'other'));
	my $artifact = $c->get($made)->{artifacts}[0]{artifactId};
	my $slow = $c->run_async('slow');

	$c->saying($slow, 'dozing');
	my $r = paddock('rm', $made, $slow, $unknown);
	is($r->{out}, "$made\n", 'rm tells what it deleted');
	like($r->{err}, qr/\Apaddock: 1 deleted, with artifacts and logs\n/, '... and how many that were');
	is($r->{status}, 4, 'what is not there counts most');
	like($r->{err}, qr/\Q$slow\E was not deleted: the run goes on; cancel it first/, 'a run that goes on is named and stays');
	like($r->{err}, qr/\Q$unknown\E was not deleted: you have no run/, '... and so is one that there is not');
	is(paddock('status', $made)->{status}, 4, 'the run is unknown');
	is(paddock('logs', $made)->{status}, 4, '... and its log');
	refused($c->tool(get_artifact => {artifactId => $artifact}), 'ARTIFACT_NOT_FOUND', '... and its artifact');
	ok(!-e "$d->{root}/state/artifacts/$made", '... whose file is gone');
	is(paddock('rm', $slow)->{status}, 2, 'a run that goes on is a fault of who asks');
	is_deeply([ids($c)], [sort $stays, $slow], 'the others are there');
	is(paddock('cancel', $slow)->{status}, 0, 'cancelled');
	paddock('wait', $slow);
	$r = paddock('rm', $slow, substr($stays, 0, 29), '--json');
	is_deeply(json_to($r->{out}), {deleted => 2, kept => [], map { ($_ => json_to($r->{out})->{$_}) } grep { /^_|resultType/ } keys %{json_to($r->{out})}},
		  'by the beginning of an id, and in JSON');
	is(bytes(), $empty, 'nothing is on the account any more');
	is_deeply([sort map { $_->{runId} // '' } entries()], [sort $made, $slow, $stays], 'the audit log has each of them');
}

# ---- prune ----

{
	given($c, $_) for qw(makes makes other fails);
	my $slow = $c->run_async('slow');

	$c->saying($slow, 'dozing');
	is(paddock('prune', '--older', '1h')->{out}, "0 deleted\n", 'nothing is as old as that');
	like(paddock('prune', '--older', '1h')->{err}, qr/\Apaddock: only runs that ended before \d{4}-\d\d-\d\dT\S+Z were looked at\n\z/, '... and it says since when');
	my $before = time * 1000 + 60000;
	my $prune = sub { my $r = $c->call('paddock/deleteRuns', {before => $before, @_})->{result}; return $r->{deleted} };
	is($prune->(templateId => 'other', status => 'failed'), 0, 'of a template and a status');
	is($prune->(status => 'failed'), 1, 'of a status');
	is($prune->(templateId => 'makes'), 2, 'of a template');
	like(paddock('prune', '--older', '1ms')->{out}, qr/^1 deleted$/, 'prune deletes all that ended');
	is_deeply([ids($c)], [$slow], '... and nothing that goes on');
	is(paddock('prune', '--older', '1ms', '--template', 'nosuch')->{status}, 0, 'none is no failure');
	my ($last) = grep { !defined $_->{runId} && ($_->{template} // '') eq 'makes' } entries();
	is($last->{count}, 2, 'the audit log says how many');
	paddock('cancel', $slow);
}

# ---- whose ----

{
	my ($ada, $bob) = map { $d->client($_)->greeted } qw(ada bob);
	my $mine = given($ada, 'makes');
	my $theirs = given($bob, 'makes');
	my $r = $bob->call('paddock/deleteRuns', {runIds => [$mine, $theirs]})->{result};

	is($r->{deleted}, 1, 'one\'s own are deleted');
	is_deeply([map { @$_{qw(runId errorCode)} } @{$r->{kept}}], [$mine, 'RUN_NOT_FOUND'], 'another\'s are not there');
	is($bob->call('paddock/deleteRuns', {before => 4102444800000})->{result}{deleted}, 0, '... at whatever time they ended');
	is_deeply([ids($ada)], [$mine], '... and stay');
	$r = $d->modern('ada')->call('paddock/deleteRuns', {runIds => [$mine]})->{result};
	is($r->{deleted}, 1, 'a request of 2026-07-28');
	is($r->{resultType}, 'complete', '... has a result of that revision');
}

# ---- what cannot be asked ----

for my $case ([{}, 'neither'], [{runIds => 'x'}, 'no list'], [{runIds => [1]}, 'no ids'], [{runIds => [], before => 1}, 'both'],
	      [{before => -1}, 'no time'], [{before => 1, status => 'running'}, 'what goes on'], [{before => 1, status => 'dead'}, 'no status'],
	      [{before => 1, templateId => 7}, 'no template'], [{runIds => [($unknown) x 1001]}, 'too many']) {
	is($c->call('paddock/deleteRuns', $case->[0])->{error}{code}, -32602, "refused: $case->[1]");
}

# ---- another server's ----

{
	my $there = Paddock->new(state => $d->{state}, shared => 1, templates => \%templates)->greeted;
	my $slow = $there->run_async('slow');

	$there->saying($slow, 'dozing');
	my $r = $c->call('paddock/deleteRuns', {runIds => [$slow]})->{result};
	is($r->{kept}[0]{errorCode}, 'RUN_NOT_ENDED', 'a run that another server has');
	like($r->{kept}[0]{reason}, qr/goes on at another server; cancel it first/, '... is said to be there');
	is($c->call('paddock/deleteRuns', {before => time * 1000 + 60000})->{result}{deleted} >= 0, 1, 'those that ended go');
	is($there->get($slow)->{status}, 'running', '... and it goes on');
	is(paddock('cancel', $slow)->{status}, 0, 'it can be cancelled from here');
	paddock('wait', $slow);
	is(paddock('rm', $slow)->{status}, 0, '... and deleted');
	$there->stop;
}
$d->stop;
done_testing();
