#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# HTTP sessions survive the server, after kill -9 and after TERM: clients do not initialize
# again. The test checks a client's own session, foreign sessions, and lost streams.
use lib 'tests/lib';
use Paddock;
use Http qw(sha256_hex);

my %tokens = (ada => 'a' x 40, bob => 'b' x 40);
my $templates = {
	echo => lua('return inputs'),
	says => lua('run.log("debug", "fine") run.log("error", "bad") return 1'),
	asks => lua('return run.elicit{message = "Really?", schema = {type = "object",
		     properties = {yes = {type = "boolean"}}}}.action'),
	doze => lua('run.progress(0, 1, "dozing") run.sleep(60000)'),
	nap => lua('run.progress(1, 2, "half") run.sleep(30000)'),
};
my $s = Http->new(templates => $templates, tokens => \%tokens);

sub restarted {
	my ($how, %o) = @_;

	if ($how eq 'KILL') {
		$s->kill9;
		strays_gone();
	} else {
		$s->stop("the server ends by $how");
	}
	my $next = $s->again(args => [], tokens => \%tokens, %o);

	return $s = $next;
}

# Move C, a client of the former server, to this server.
sub moved { my ($c) = @_; $c->{server} = $s; $c->{log} = $s->{log}; return $c }

sub status { my ($c) = @_; return $c->post({jsonrpc => '2.0', id => 'p', method => 'ping'})->response->{status} }

sub url { return postgres_url("$s->{root}/state") }
sub database { return join('', map { postgres_sql("SELECT t::text FROM $_ AS t", url()) } qw(runs sessions)) if on_postgres();
	return join '', map { read_file($_) // '' } glob "$s->{root}/state/paddock.db*" }

sub hears_of {
	my ($conn, $method) = @_;

	$conn->head unless $conn->{status};
	while (my $e = $conn->message) {
		return $e if ($e->{json}{method} // '') eq $method;
	}
	return undef;
}

for my $how (qw(KILL TERM)) {
	my $c = $s->client('ada')->greeted('2025-11-25', {elicitation => {}});
	my $quiet = $s->client('ada')->greeted('2025-06-18');
	my $old = $s->client('ada')->greeted('2025-03-26');
	my $over = $s->client('ada')->greeted;

	is($c->call('logging/setLevel', {level => 'warning'})->{result} && 1, 1, "$how: a level is set");
	ok($c->call('resources/subscribe', {uri => 'paddock://isolation'})->{result}, "$how: something subscribed to");
	my $run = $c->run_async('doze');
	$c->saying($run, 'dozing');
	ok($c->call('resources/subscribe', {uri => "paddock://runs/$run"})->{result}, "$how: a run as well");
	my $get = $c->listen;
	my $last = $get->message->{id};
	my $call = $c->post({jsonrpc => '2.0', id => 77, method => 'tools/call', params => {
		name => 'nap', arguments => {}, _meta => {progressToken => 1}}});
	$call->head;
	my $lost = $call->message->{id};
	is($over->end, 204, "$how: a session is ended");
	if ($how eq 'KILL') {
		# settings are stored within a moment
		until_true('it to be kept', sub { database() =~ m{runs\\?/$run"} });
	} else {
		$c->tool(cancel_task_run => {runId => $run});
		$c->notify('notifications/cancelled', {requestId => 77});
	}
	restarted($how);
	moved($_) for $c, $quiet, $old, $over;

	is_deeply($c->call('ping')->{result}, {}, "$how: the session goes on at the next server");
	is(status($over), 404, "$how: one that was ended does not");
	my $id = $c->request('tools/call', {name => 'asks', arguments => {}});
	my $asked = hears_of($c->route($id), 'elicitation/create');
	is($asked->{json}{params}{message}, 'Really?', "$how: what its client can do is known");
	$c->respond($asked->{json}{id}, {action => 'decline'});
	is(($c->answer($id)->{result}{content} // [{}])->[0]{text}, '"decline"', "$how: and it answers");
	$c->{notes} = [];
	$c->call('tools/call', {name => 'says', arguments => {}, _meta => {progressToken => 9}});
	is_deeply([map { $_->{params}{data} } grep { $_->{method} eq 'notifications/message' } @{$c->{notes}}],
		  ['bad'], "$how: and its level of logging");

	my $again = $c->listen($last);
	is($again->{status}, 200, "$how: its stream of no request is taken up");
	my $first = $again->message;
	ok($first->{id} ne $last && $first->{data} eq '', "$how: as one with ids of its own");
	my %told;
	until (keys %told == 3) {
		my $e = $again->message // last;
		my $m = $e->{json};

		$told{"tools"} = 1 if $m->{method} eq 'notifications/tools/list_changed';
		$told{$m->{params}{uri}} = 1 if $m->{method} eq 'notifications/resources/updated';
	}
	is_deeply([sort keys %told], [sort 'tools', 'paddock://isolation', "paddock://runs/$run"],
		  "$how: there it hears that lists and what it is subscribed to may have changed");
	is($c->listen($lost)->{status}, on_postgres() ? 404 : 405, "$how: a call's stream is over, for good");
	is($quiet->call('tools/list')->{result} && 1, 1, "$how: an older revision's goes on");
	my $both = $old->post('[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]')->response;
	is(scalar @{$both->{json} // []}, 2, "$how: and one that has batches still has them");
	is($quiet->end, 204, "$how: one is ended that nobody had come back for twice");
	is(status($quiet), 404, "$how: and is gone");
	$again->hang_up;
}

# ---- whose it is ----
{
	my $ada = $s->client('ada')->greeted;
	my $thief = $s->client('bob');

	restarted('KILL');
	moved($_) for $ada, $thief;
	my $none = $s->client('bob');

	$thief->{session} = $ada->{session};
	$none->{session} = '0' x 40;
	my @r = map { $_->post({jsonrpc => '2.0', id => 1, method => 'ping'})->response } $thief, $none;
	is($r[0]{status}, 404, "another's session is none");
	is($r[0]{body}, $r[1]{body}, 'another\'s session and an unknown one have the same answer');
	is($thief->listen->{status}, 404, 'another\'s session cannot be listened to');
	is($thief->end, 404, 'another\'s session cannot be ended');
	is(status($ada), 200, 'the session stays with the owner');
	my $all = database();

	like($all, qr/@{[sha256_hex($ada->{session})]}/, 'a session is kept by the hash of the id');
	unlike($all, qr/\Q$ada->{session}\E/, 'a session\'s id is not in the database');
	unlike($all, qr/a{40}|@{[sha256_hex($tokens{ada})]}/, 'no token and no hash of a token is in the database');
	is((stat "$s->{root}/state/paddock.db")[2] & 0777, 0600, 'where nobody else reads') unless on_postgres();
}

# ---- many come back at once; a batch, a notification; DELETE is for good ----
{
	my @all = map { $s->client('ada')->greeted } 1 .. 50;
	my $one = $s->client('ada')->greeted;

	restarted('TERM');
	moved($_) for @all, $one;
	my @conns = map { my $c = $_; map { $c->post({jsonrpc => '2.0', id => $_, method => 'ping'}) } 1 .. 3 } @all;
	is(scalar(grep { $_->response->{status} == 200 } @conns), 150, 'very many come back, each several times at once');
	is($one->notify('notifications/initialized'), 202, 'a session goes on with a notification');
	my $ended = $s->client('ada')->greeted;
	is($ended->end, 204, 'DELETE');
	restarted('KILL');
	is(status(moved($ended)), 404, 'an ended session stays gone after kill -9');
	is(moved($one)->end, 204, 'one is ended that was not here');
	restarted('KILL');
	is(status(moved($one)), 404, 'a session ended at another server is gone');
}

# ---- the requestor goes, or shows something else ----
{
	my $ada = $s->client('ada')->greeted;
	my $bob = $s->client('bob')->greeted;

	restarted('KILL');
	moved($_) for $ada, $bob;
	my $path = "$s->{root}/paddock.conf";
	my $text = read_file($path);
	write_file($path, $text =~ s/\[requestor "ada"\]\n.*\n//r);
	is($s->reload, 'done', 'ada is removed');
	is(status($ada), 401, 'a removed requestor\'s session is refused');
	write_file($path, $text);
	is($s->reload, 'done', 'she is back');
	is(status($ada), 404, 'what she had is not');
	is(status($bob), 200, "another requestor's session goes on");

	my $again = $s->client('ada')->greeted;
	restarted('KILL');
	moved($again);
	$tokens{ada} = 'c' x 40;
	write_file($path, $text =~ s/@{[sha256_hex('a' x 40)]}/@{[sha256_hex('c' x 40)]}/r);
	is($s->reload, 'done', 'her token is another');
	$again->{token} = 'c' x 40;
	is(status($again), 404, 'what was begun with the one before is over');
}

# ---- a store that fails ----
{
	my $c = $s->client('bob')->greeted;
	if (on_postgres()) {
		postgres_sql('ALTER TABLE sessions RENAME TO away', url());
	} else {
		my $db = "$s->{root}/state/paddock.db";

		unlink glob "$db*";
		write_file($db, 'x' x 8192);
	}
	my $new = $s->client('bob')->greeted;
	is(status($new), 200, 'a session begins though it cannot be kept');
	is(status($c), 200, 'a session goes on though the database is broken');
	is($c->end, 204, 'a session ends though the database is broken');
	is(status($c), 404, 'a session ended in a broken database stays ended');
	my $other = $s->client('bob');
	$other->{session} = '1' x 40;
	my $r = $other->post({jsonrpc => '2.0', id => 1, method => 'ping'})->response;
	is($r->{status}, 503, 'whether there is another nobody can tell');
	is($r->{headers}{'retry-after'}, 1, 'an unknown session on a broken database says to retry');
}
$s->{kept_socket} = 1;
$s->stop('the server ends');

# ---- a run that waited goes on at the next server, and so does who waits for its result ----
{
	$s = Http->new(templates => $templates, tokens => \%tokens, config => "[limits]\nmax_concurrent_runs = 1\n");
	my $c = $s->client('ada')->greeted;

	$c->saying($c->run_async('doze'), 'dozing');
	my $run = $c->run_async('doze');
	ok($c->call('resources/subscribe', {uri => "paddock://runs/$run/result"})->{result}, 'the result of one that waits is subscribed to');
	until_true('it to be kept', sub { database() =~ m{runs\\?/$run\\?/result} });
	restarted('KILL');
	my $get = moved($c)->listen;
	ok(hears_of($get, 'notifications/resources/updated'), 'at the next server it may have changed');
	$c->saying($run, 'dozing');
	$c->tool(cancel_task_run => {runId => $run});
	my $last = hears_of($get, 'notifications/resources/updated');
	is($last->{json}{params}{uri}, "paddock://runs/$run/result", 'a client hears of the change of a run at the next server');
	$get->hang_up;
	$s->stop('the server with the broken database ends');
}

done_testing;
