#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Recovery: kill -9, two servers at once, a failing state folder. PADDOCK_ROUNDS is the
# number of kills; 10 by default.
use lib 'tests/lib';
use Paddock;
use Daemon;
use POSIX ();

my $ROUNDS = $ENV{PADDOCK_ROUNDS} // 10;
my %templates = (
    nap => lua('run.sleep(inputs.ms) return inputs.n'),
    file => lua(<<'LUA'),
run.artifact{name = "a", mimeType = "text/plain", data = string.rep("a", 5000)}
run.sleep(inputs.ms)
run.artifact{name = "b", mimeType = "text/plain", data = string.rep("b", 5000)}
return inputs.n
LUA
    doze => lua('run.progress(0, 1, "dozing") while true do run.sleep(60000) end',
		limits => {cancelGraceMs => 60000, maxTimeoutMs => 600000}),
);
my %busy = (max_concurrent_runs => 3, default_ttl_ms => 3_600_000);

sub server {
	return Paddock->new(templates => \%templates, config => \%busy, @_);
}

sub interrupted {
	return $_[0]{status} eq 'failed' &&
	    $_[0]{error}{errorCode} eq 'RUN_INTERRUPTED';
}

# Every run there is, by id.
sub all_runs {
	my ($s) = @_;
	my (%all, $v, $offset);

	$offset = 0;
	do {
		$v = $s->tool(list_task_runs => {limit => 100, offset => $offset})
		    ->{view};
		$all{$_->{runId}}++ for @{$v->{runs}};
		$offset += @{$v->{runs}};
	} while (@{$v->{runs}});
	return ($v->{total}, %all);
}

# ---- kill -9 under load ----

{
	my $root = Paddock::fresh_root();
	my (%acked, %final, @wrong, %how);
	my $sent = 0;
	my $s = server(root => $root);

	for my $round (1 .. $ROUNDS) {
		my (@ids, %mine);

		$s->init;
		for my $n (1 .. 30) {
			push @ids, $s->ask_run($n % 3 ? 'nap' : 'file',
				{ms => $n % 7, n => $n}, mode => 'async',
				$n % 5 ? () : (idempotencyKey => "$round-$n"));
			$sent++;
		}
		# kill at another point of the work in each round
		for my $id (@ids[0 .. ($round * 7) % 30]) {
			my $v = $s->result($id)->{view};

			$mine{$v->{runId}} = 1 if $v->{runId};
		}
		for my $run (sort keys %mine) {
			my $v = $s->get($run);

			$final{$run} = json_of($v)
			    if $v->{status} =~ /^(succeeded|failed)$/;
		}
		my @children = children_of($s->{pid});
		$s->kill9;
		push @wrong, "round $round: orphans" unless strays_gone();
		push @wrong, "round $round: $_ lives" for grep { alive($_) } @children;
		# answers in the pipe count as given
		for my $a (grep { ref $_ } @{$s->{answers}}{map { json_of($_) } @ids}) {
			my $run = $a->{result}{structuredContent}{runId} // next;

			$mine{$run} = 1;
		}
		%acked = (%acked, %mine);

		$s = server(root => $root);
		$s->init;
		for my $run (sort keys %mine) {
			my $v = $s->ended($run);
			my $how = interrupted($v) ? 'interrupted' : $v->{status};

			$how{$how}++;
			push @wrong, "round $round: $run: " . json_of($v)
			    unless $how eq 'interrupted' || $how eq 'succeeded';
			push @wrong, "$run has no result"
			    if $how eq 'succeeded' && !defined $v->{result};
			for my $a (@{$v->{artifacts} // []}) {
				my $r = $s->tool(get_artifact =>
				    {artifactId => $a->{artifactId}})->{view};

				push @wrong, "$a->{artifactId} is lost"
				    unless ($r->{size} // 0) == 5000;
			}
		}
		for my $run (grep { $mine{$_} } sort keys %final) {
			push @wrong, "$run changed after its end"
			    unless json_of($s->get($run)) eq $final{$run};
		}
		$s->{next_id} = 1;
		$s->kill9 if $round % 2; # in every other round, an orderly end
		$s->stop("round $round: an orderly end") unless $round % 2;
		strays_gone();
		$s = server(root => $root);
	}
	$s->init;
	my ($total, %all) = all_runs($s);
	is(scalar(grep { !$all{$_} } keys %acked), 0,
	   keys(%acked) . ' runs acknowledged before kill -9: none is lost');
	is(scalar(grep { $_ > 1 } values %all), 0, 'none is there twice');
	ok($total == keys %all && $total <= $sent, 'no run in the store was invented');
	same_json(\@wrong, [], 'each has ended, once, as it should');
	until_true('all to end', sub {
		$s->tool(list_task_runs => {status => 'running'})->{view}{total} +
		    $s->tool(list_task_runs => {status => 'queued'})->{view}{total} == 0;
	});
	($total) = all_runs($s);
	is($total, $s->tool(list_task_runs => {status => 'succeeded'})->{view}{total} +
	   $s->tool(list_task_runs => {status => 'failed'})->{view}{total},
	   'unacknowledged runs have ended');
	cmp_ok($how{succeeded} // 0, '>', 0, 'some were done after all: ' . json_of(\%how));
	$s->stop;
}

# ---- queued runs go on in the next server ----

{
	my $s = server(config => {max_concurrent_runs => 1})->greeted;
	my ($on, @queued, $t);

	$on = $s->run_async('doze');
	$s->saying($on, 'dozing');
	@queued = map { $s->run_async(nap => {ms => 1, n => $_}, ttlMs => 5_000_000,
				      idempotencyKey => "q$_") } 1 .. 10;
	$s->kill9;
	strays_gone();
	$t = server(root => $s->{root}, config => {max_concurrent_runs => 1});
	$t->init;
	my $lost = $t->ended($on);
	ok(interrupted($lost), 'what ran was interrupted');
	is($lost->{expiresAt} - $lost->{updatedAt}, 30 * 86_400_000, 'an interrupted run is kept as long as any run');
	my @v = map { $t->ended($_) } @queued;
	is(scalar(grep { $_->{status} eq 'succeeded' } @v), 10, 'what was queued is run');
	same_json([map { $_->{result} } @v], [1 .. 10], 'queued runs keep the inputs');
	same_json([$t->log_text =~ /run=(run_\w+) event=start /g], \@queued,
		  'in its order');
	is($v[3]{expiresAt} - $v[3]{updatedAt}, 5_000_000, 'a queued run keeps the options');
	is($t->run(nap => {ms => 1, n => 4}, mode => 'async',
		   idempotencyKey => 'q4')->{view}{runId}, $queued[3],
	   'a queued run keeps the idempotency key');
	$t->stop;
}
{
	my $s = server(config => {max_concurrent_runs => 1})->greeted;
	my ($on, $queued, $t);

	$on = $s->run_async('doze');
	$queued = $s->run_async(nap => {ms => 1, n => 1});
	$s->kill9;
	strays_gone();
	$t = Paddock->new(root => $s->{root}, idle => 1);
	write_file("$s->{root}/templates/nap-1.0.0/main.lua",
		   "return function() return 'another' end\n");
	$t->start;
	$t->init;
	ok(interrupted($t->ended($queued)),
	   'a queued run whose template has changed is interrupted');
	is($t->run_sync('nap')->{result}, 'another', 'the template is the new one');
	$t->stop;
}

# ---- two at once ----

{
	my $a = server();
	my $b = server(root => $a->{root});
	my ($ra, $rb, $v);

	$_->init for $a, $b;
	$ra = $a->run_async('doze', {}, idempotencyKey => 'shared');
	$rb = $b->run_async('doze');
	$a->saying($ra, 'dozing');
	$b->saying($rb, 'dozing');
	is($b->get($ra)->{status}, 'running', 'two servers share a state folder');
	is($b->tool('list_task_runs')->{view}{total}, 2, 'each sees all of its user');
	is($b->run('doze', {}, mode => 'async', idempotencyKey => 'shared')
	   ->{view}{runId}, $ra, 'a key of the one is known to the other');
	$v = $a->run_sync(nap => {ms => 1, n => 5});
	same_json($b->get_less_node($v->{runId}), $v, 'what has ended reads the same in both');
	my $c = server(root => $a->{root})->greeted;
	is($c->get($ra)->{status}, 'running', 'a third takes nothing from the living');
	$a->kill9;
	strays_gone();
	my $d = server(root => $a->{root})->greeted;
	ok(interrupted($d->ended($ra)), 'whoever starts next takes over from the dead');
	is($d->get($rb)->{status}, 'running', 'a server takes nothing over from the living');
	is($b->get($rb)->{status}, 'running', 'the others do not notice');
	$_->{shared} = 1 for $c, $d;
	$_->stop('each ends by itself') for $c, $d;
	$b->tool(cancel_task_run => {runId => $rb});
	is($b->ended($rb)->{status}, 'canceled', 'a run is left to its own server');
	$b->stop('the last server of a folder leaves nothing');
}

# ---- a folder that cannot be used ----

sub unavailable {
	my ($r, $text, $name) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	refused($r, 'STORE_UNAVAILABLE', $name);
	unlike($r->{view}{error}, qr{/}, "$name: where is not told");
	return like($r->{view}{error}, $text, "$name: why");
}

sub all_unavailable {
	my ($s, $text, $what) = @_;

	unavailable($s->run(nap => {ms => 1}, mode => $_), $text, "$what: $_")
	    for qw(async sync);
	unavailable($s->tool(get_task_run => {runId => 'run_x'}), $text,
		    "$what: get_task_run");
	unavailable($s->tool('list_task_runs'), $text, "$what: list_task_runs");
	unavailable($s->tool(cancel_task_run => {runId => 'run_x'}), $text,
		    "$what: cancel_task_run");
	unavailable($s->tool(get_artifact => {artifactId => 'art_x'}), $text,
		    "$what: get_artifact");
	ok($s->tool('list_task_templates')->{structuredContent},
	   "$what: templates are listed all the same");
	ok($s->tool('get_runtime_profile')->{structuredContent},
	   "$what: so is the profile");
}

{
	my $nobody = $ORDINARY;
	my $root = Paddock::fresh_root($nobody);
	my $s;

	mkdir "$root/state";
	chmod 0555, "$root/state";
	$s = server(root => $root, user => $nobody);
	$s->init;
	all_unavailable($s, qr/it may not read or write its state/,
			'a folder of another user');
	if (as_root()) {
		chown $nobody, $nobody, "$root/state";
	}
	chmod 0700, "$root/state";
	ok(until_true('it to be mended', sub {
		succeeded($s->run(nap => {ms => 1, n => 3}, mode => 'sync')) }),
	   'runs succeed when the state folder is mended');
	my $on = $s->run_async('doze');
	$s->saying($on, 'dozing');
	$s->kill9;
	strays_gone();
	chown 0, 0, "$root/state" if as_root();
	chmod 0555, "$root/state", "$root/state/instances";
	$s = server(root => $root, user => $nobody);
	$s->init;
	ok($s->tool(get_task_run => {runId => $on})->{isError},
	   'the next server cannot use it either');
	chmod 0700, "$root/state/instances";
	chown $nobody, $nobody, "$root/state" if as_root();
	chmod 0700, "$root/state";
	until_true('it to be mended', sub {
		succeeded($s->tool(get_task_run => {runId => $on})) });
	ok(interrupted($s->ended($on)), 'what the dead one ran is taken over then');
	$s->stop;
}
{
	my $root = Paddock::fresh_root();
	my $s;

	write_file("$root/state", 'a file');
	$s = server(root => $root);
	$s->init;
	all_unavailable($s, qr/its state is not where it should be/, 'a file in its place');
	$s->stop;
	$s = server(root => $root, state => '/proc/paddock');
	$s->init;
	unavailable($s->run(nap => {ms => 1}), qr{its state cannot be used},
		    'a place where nothing can be');
	$s->stop;
}
SKIP: {
	skip('the rows are not there', 3) if on_postgres();
	my $s = server()->greeted;
	my $run;

	$run = $s->run_sync(nap => {ms => 1, n => 1})->{runId};
	$s->stop;
	write_file("$s->{state}/paddock.db", 'not a database, ' x 4096);
	my $t = server(root => $s->{root})->greeted;
	unavailable($t->run(nap => {ms => 1}, mode => 'async'), qr/its record of runs is damaged/,
		    'a database that is none');
	same_json($t->call('ping')->{result}, {}, 'the server lives');
	$t->stop;
}

# ---- a full disk ----

SKIP: {
	skip_lacking(1, 'mount');
	skip('the rows are not there', 1) if on_postgres();
	my $root = Paddock::fresh_root();
	my (@done, $on, $waiting, $r);

	mkdir "$root/state";
	my $s = server(root => $root, wrap => ['unshare', '-m', 'sh', '-c',
		"mount -t tmpfs -o size=2m none $root/state && exec \"\$\@\"", 'sh'])->greeted;
	my $inside = "/proc/$s->{pid}/root$root/state";
	my $fill = sub {
		open my $f, '>', "$inside/filler" or die "$inside: $!\n";
		1 while (syswrite $f, 'x' x 4096) // 0;
		close $f;
	};
	push @done, $s->run_async(nap => {ms => 1, n => $_}) for 1 .. 5;
	$on = $s->run_async('doze');
	$s->saying($on, 'dozing');
	$s->ended($_) for @done;
	$fill->();
	my @tried = map { [$s->run(nap => {ms => 1, n => $_}, mode => 'async')] } 1 .. 30;
	my @refused = grep { $_->[0]{isError} } @tried;
	push @done, map { $_->[0]{view}{runId} } grep { succeeded($_->[0]) } @tried;
	cmp_ok(scalar @refused, '>', 0, 'on a full disk runs are refused');
	unavailable($refused[-1][0], qr/full|space/i, 'the error of a refused run names the full disk');
	unavailable($s->run(nap => {ms => 1}, mode => 'sync'), qr/full|space/i,
		    'waiting for one as well');
	unavailable($s->run(file => {ms => 1}, mode => 'sync'), qr/full|space/i,
		    'a run with artifacts is refused on a full disk');
	$s->tool(cancel_task_run => {runId => $on});
	same_json($s->call('ping')->{result}, {}, 'the server lives');
	unlink "$inside/filler" or die "$inside/filler: $!\n";
	ok(until_true('space to be noticed', sub {
		succeeded($s->run(nap => {ms => 1, n => 3}, mode => 'sync')) }),
	   'runs succeed when the disk has space again');
	is($s->ended($on)->{status}, 'canceled',
	   'what ended meanwhile has been recorded');
	is(scalar(grep { $s->ended($_)->{status} eq 'succeeded' } @done), scalar @done,
	   'no acknowledged run is lost');
	my $v = $s->run_sync(file => {ms => 1, n => 7});
	is(scalar @{$v->{artifacts}}, 2, 'artifacts work as well');
	$fill->();
	$r = $s->run(file => {ms => 1, n => 7}, mode => 'sync');
	ok($r->{isError}, 'artifacts are refused on a disk that is full again');
	unlink "$inside/filler";
	ok(until_true('space to be noticed', sub {
		succeeded($s->run(nap => {ms => 1, n => 3}, mode => 'sync')) }),
	   'a run succeeds when space is there again');
	$s->stop('the server ends in order after a full disk');
}

# A run waits, and the next server has no section for the requestor. On PostgreSQL the run
# waits on in the common queue, for a server with the section.
unless (on_postgres()) {
	my $alice = "[limits]\nmax_concurrent_runs = 1\n[requestor \"alice\"]\nuid = $>\n";
	my $s = Daemon->new(templates => \%templates, config => $alice);
	my $c = $s->client->greeted;
	my $on = $c->run_async(doze => {});
	my $waits = $c->run_async(nap => {ms => 1, n => 1});

	until_true('the first to run', sub { $c->get($on)->{status} eq 'running' });
	$s->signal('KILL');
	$s->wait_exit;
	my $next = $s->again(templates => \%templates, config => "[limits]\nmax_concurrent_runs = 1\n");
	$next->client->greeted->tool(list_task_runs => {});
	$next->log_has(qr/recovered queued=0 interrupted=2/);
	$next->stop;
	my $back = $s->again(templates => \%templates, config => $alice);
	my $d = $back->client->greeted;

	like($d->ended($waits)->{error}{message}, qr/had not begun when its server stopped.*requestor's section/,
	     'a run that waited is not begun without the section of its requestor, and says so');
	like($d->ended($on)->{error}{message}, qr/server that ran this stopped/, '  unlike the one that ran');
	$back->stop;
}

done_testing;
