#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Runs and uploads deleted before the expiry: paddock rm, artifact rm and prune, and
# paddock/deleteRuns and paddock/deleteArtifacts in each revision, over the socket and over
# HTTP.
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
	like($r->{err}, qr/\Apaddock: 1 deleted, with artifacts and logs\n/, 'rm says how many runs were deleted');
	is($r->{status}, 4, 'what is not there counts most');
	like($r->{err}, qr/\Q$slow\E was not deleted: the run goes on; cancel it first/, 'a run that goes on is named and stays');
	like($r->{err}, qr/\Q$unknown\E was not deleted: you have no run/, 'rm names an unknown run');
	is(paddock('status', $made)->{status}, 4, 'the run is unknown');
	is(paddock('logs', $made)->{status}, 4, 'the log of a deleted run is unknown');
	refused($c->tool(get_artifact => {artifactId => $artifact}), 'ARTIFACT_NOT_FOUND', 'the artifact of a deleted run is not found');
	ok(!-e "$d->{root}/state/artifacts/$made", 'the file of a deleted run\'s artifact is gone');
	is(paddock('rm', $slow)->{status}, 2, 'a run that goes on is a fault of who asks');
	is_deeply([ids($c)], [sort $stays, $slow], 'the others are there');
	is(paddock('cancel', $slow)->{status}, 0, 'cancelled');
	paddock('wait', $slow);
	$r = paddock('rm', $slow, substr($stays, 0, 29), '--json');
	is_deeply(json_to($r->{out}), {deleted => 2, kept => [], map { ($_ => json_to($r->{out})->{$_}) } grep { /^_|resultType/ } keys %{json_to($r->{out})}},
		  'rm takes the beginning of an id and prints JSON');
	is(bytes(), $empty, 'nothing is on the account any more');
	is_deeply([sort map { $_->{runId} // '' } entries()], [sort $made, $slow, $stays], 'the audit log has each of them');
}

# ---- prune ----

{
	given($c, $_) for qw(makes makes other fails);
	my $slow = $c->run_async('slow');

	$c->saying($slow, 'dozing');
	is(paddock('prune', '--older', '1h')->{out}, "0 runs and 0 uploads deleted\n", 'nothing is as old as that');
	like(paddock('prune', '--older', '1h')->{err}, qr/\Apaddock: only runs that ended, and uploads that came, before \d{4}-\d\d-\d\dT\S+Z were looked at\n\z/, 'prune says since when');
	my $before = time * 1000 + 60000;
	my $prune = sub { my $r = $c->call('paddock/deleteRuns', {before => $before, @_})->{result}; return $r->{deleted} };
	is($prune->(templateId => 'other', status => 'failed'), 0, 'of a template and a status');
	is($prune->(status => 'failed'), 1, 'of a status');
	is($prune->(templateId => 'makes'), 2, 'of a template');
	like(paddock('prune', '--older', '1ms')->{out}, qr/^1 run and 0 uploads deleted$/, 'prune deletes all that ended');
	is_deeply([ids($c)], [$slow], 'prune deletes no run that goes on');
	is(paddock('prune', '--older', '1ms', '--template', 'nosuch')->{status}, 0, 'none is no failure');
	my ($last) = grep { !defined $_->{runId} && ($_->{template} // '') eq 'makes' } entries();
	is($last->{count}, 2, 'the audit log says how many');
	paddock('cancel', $slow);
}

# ---- uploads ----

{
	paddock('wait', 'last');
	paddock('prune', '--older', '1ms');
	my $empty = bytes();
	my $put = sub { write_file("$cli->{here}/f", $_[0]); return (split ' ', paddock('artifact', 'put', 'f', '-q')->{out})[0] };
	my @ids = map { $put->('x' x (100 * $_)) } 1 .. 4;
	my $made = $c->run_sync('makes');
	my $of_run = $made->{artifacts}[0]{artifactId};
	my ($uses) = grep { exists $_->{uploads} } @{$c->call('paddock/usage')->{result}{rows}};

	is_deeply($uses, {requestor => "uid:$>", uploads => 4, bytes => 1000}, 'usage counts them');
	like(paddock('usage')->{out}, qr/^uid:\d+ +\(uploads\) +4 +- +1000 bytes$/m, 'usage has a line for uploads');
	my $r = paddock('artifact', 'rm', $ids[0], substr($ids[1], 0, 29), $of_run, 'art_' . 'a' x 26);
	is($r->{out}, "$ids[0]\n$ids[1]\n", 'artifact rm tells what it deleted, also by the beginning of an id');
	is($r->{status}, 4, 'the status of an unknown artifact counts most');
	like($r->{err}, qr/\Apaddock: 2 deleted\n/, 'artifact rm says how many were deleted');
	like($r->{err}, qr/\Q$of_run\E was not deleted: the run \Q$made->{runId}\E made it, and it goes with that one/, 'artifact rm refuses an artifact of a run');
	is(paddock('artifact', 'rm', $of_run)->{status}, 2, 'artifact rm of a run\'s artifact is wrong usage');
	is(paddock('artifact', 'cat', $ids[0])->{status}, 4, 'what was deleted is unknown');
	is(paddock('artifact', 'cat', substr($ids[2], 4, 20))->{out}, 'x' x 300, 'the others are there, by beginnings, too');
	is(paddock('artifact', 'cat', substr($of_run, 0, 28))->{out}, 'x' x 5000, 'an artifact of a run is read by the beginning of the id');
	$r = paddock('artifact', 'cat', 'art_' . substr($ids[3], 4, 1));
	is($r->{status}, 2, 'a beginning of several is refused');
	like($r->{err}, qr/several of your artifacts begin with "art_2"; say more of the id \(paddock artifact ls --\S+ .*has them\)/, 'the refusal of a short beginning says how to list artifacts');
	is(paddock('prune', '--older', '1h')->{out}, "0 runs and 0 uploads deleted\n", 'prune leaves what is new');
	is(paddock('prune', '--older', '1ms', '--status', 'failed')->{out}, "0 runs deleted\n", 'prune with a status deletes no uploads');
	$r = json_to(paddock('prune', '--older', '1ms', '--json')->{out});
	is_deeply([@$r{qw(deleted uploadsDeleted kept)}], [1, 2, []], 'prune deletes those that are old');
	is(paddock('artifact', 'ls')->{out}, '', 'none is left');
	is(bytes(), $empty, 'no deleted byte is on the account');
	is_deeply([map { $_->{artifactId} } grep { $_->{event} eq 'artifact_deleted' } entries()], [@ids[0, 1]], 'the audit log has each that was named');
	is((grep { $_->{event} eq 'artifacts_deleted' } entries())[0]{count}, 2, 'the audit log has the number of pruned artifacts');
	is($c->call('paddock/deleteArtifacts', $_)->{error}{code}, -32602, json_of($_) . ' is refused') for {}, {artifactIds => 'x'}, {artifactIds => [1]}, {artifactIds => [], before => 1}, {before => -1};
}

# ---- whose ----

{
	my ($ada, $bob) = map { $d->client($_)->greeted } qw(ada bob);
	my $mine = given($ada, 'makes');
	my $theirs = given($bob, 'makes');
	my $r = $bob->call('paddock/deleteRuns', {runIds => [$mine, $theirs]})->{result};

	is($r->{deleted}, 1, 'one\'s own are deleted');
	is_deeply([map { @$_{qw(runId errorCode)} } @{$r->{kept}}], [$mine, 'RUN_NOT_FOUND'], 'another\'s are not there');
	is($bob->call('paddock/deleteRuns', {before => 4102444800000})->{result}{deleted}, 0, 'no run of another is deleted by time');
	is_deeply([ids($ada)], [$mine], 'another requestor\'s runs stay');
	$r = $d->modern('ada')->call('paddock/deleteRuns', {runIds => [$mine]})->{result};
	is($r->{deleted}, 1, 'a request of 2026-07-28');
	is($r->{resultType}, 'complete', 'a deletion by 2026-07-28 has a resultType');
}

# ---- what cannot be asked ----

like($c->tool(list_task_runs => {since => '1h'})->{view}{error}, qr/since is "1h"; it must be an integer \(Only runs that were created then or later: milliseconds since 1970, such as \d+\.\)/,
     'who asks since "1h" is told what passes');

# ---- another server's ----

{
	my $there = Paddock->new(state => $d->{state}, shared => 1, templates => \%templates)->greeted;
	my $slow = $there->run_async('slow');

	$there->saying($slow, 'dozing');
	my $r = $c->call('paddock/deleteRuns', {runIds => [$slow]})->{result};
	is($r->{kept}[0]{errorCode}, 'RUN_NOT_ENDED', 'a run that another server has');
	like($r->{kept}[0]{reason}, qr/goes on at another server; cancel it first/, 'the refusal says that another server has the run');
	is($c->call('paddock/deleteRuns', {before => time * 1000 + 60000})->{result}{deleted} >= 0, 1, 'ended runs are deleted by time');
	is($there->get($slow)->{status}, 'running', 'a run of another server goes on');
	is(paddock('cancel', $slow)->{status}, 0, 'a run of another server can be cancelled');
	paddock('wait', $slow);
	is(paddock('rm', $slow)->{status}, 0, 'an ended run of another server can be deleted');
	$there->stop;
}
$d->stop;

# ---- one too many ----

{
	my $full = Http->new(templates => \%templates, config => "[requestor \"me\"]\nuid = $>\nartifact_bytes = 1000\ntoken_sha256 = " . 'a' x 64 . "\n");

	write_file("$cli->{here}/f", 'x' x 2000);
	my $r = $cli->run(['artifact', 'put', 'f', '--socket', $full->{socket}]);
	is($r->{status}, 125, 'more than one may keep is refused');
	is(() = $r->{err} =~ /artifact_bytes in \[requestor "me"\]/g, 1, 'the refusal says once who can raise the limit') or diag $r->{err};
	my $slow = Client->new($full)->greeted->run_async('slow');
	$r = $cli->run(['status', $slow, '--socket', $full->{socket}])->{out};
	unlike($r, qr/^took/m, 'what goes on has taken no time');
	like($r, qr/^(?:so far|status +queued)/m, 'a run that goes on has a time so far');
	$cli->run(['cancel', $slow, '--socket', $full->{socket}]);
	$cli->run(['wait', $slow, '--socket', $full->{socket}]);
	like($cli->run(['status', $slow, '--socket', $full->{socket}])->{out}, qr/^took/m, 'an ended run has a time taken');
	$full->stop;
}
done_testing();
