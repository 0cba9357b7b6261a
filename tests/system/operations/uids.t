#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The user ids of workers under a server started by root: no other user's ids, no other
# server's, and a different id for each run.
use lib 'tests/lib';
use Paddock;
use Daemon;

needs('root');

my $UNUSED = 1879048192; # below it distributions and containers give ids out
my %templates = (doze => lua('run.progress(0, 1, "dozing") run.sleep(60000)'),
		 echo => lua('return inputs'));

sub range_of { return $_[0]->log_has(qr/part=server uids=(\d+)-(\d+)/) }

sub server {
	my (%o) = @_;
	my $s = Paddock->new(templates => \%templates, %o)->greeted;

	return ($s, [range_of($s)]);
}

# The uid of a run's worker, which then ends.
sub uid_of_run {
	my ($s) = @_;
	my $run = $s->run_async('doze', {});

	$s->saying($run, 'dozing');
	my ($uid) = (read_file('/proc/' . $s->worker_pid($run) . '/status') // '') =~
	    /^Uid:\s+(\d+)/m;
	$s->tool(cancel_task_run => {runId => $run});
	$s->ended($run);
	return $uid;
}

# A server with another /etc: FILES by name.
sub with_etc {
	my ($files, %o) = @_;
	my $root = Paddock::fresh_root();

	write_file("$root/etc/$_", $files->{$_}) for keys %$files;
	write_file("$root/etc/passwd", "root:x:0:0::/:\n") unless $files->{passwd};
	return (root => $root, %o, wrap => [
		'unshare', '-m', 'sh', '-c', 'mount -t tmpfs none /etc && ' .
		'cp "$0"/* /etc && exec "$@"', "$root/etc"]);
}

# ---- two servers, and one that is killed ----

{
	my ($s, $ours) = server();
	my ($t, $theirs) = server();

	cmp_ok($ours->[0], '>=', $UNUSED, 'ids that nobody gives out');
	is($ours->[1] - $ours->[0], 256, 'one for each worker, one for the zygote');
	my $doctor = `$BUILD/paddock doctor --json`;
	my $told = json_to($doctor)->{uidsOfRuns};
	is(scalar(grep { $_ eq "$ours->[0]-" . ($ours->[0] + 511) ||
				 $_ eq "$theirs->[0]-" . ($theirs->[0] + 511) } @$told), 2,
	   'doctor tells both') or diag($doctor);
	ok($ours->[1] < $theirs->[0] || $theirs->[1] < $ours->[0],
	   'two servers never have the same');
	my @uids = map { uid_of_run($s) } 1 .. 3;
	is(scalar(grep { $_ < $ours->[0] || $_ >= $ours->[1] } @uids), 0,
	   'runs have them') or diag("@uids of @$ours");
	ok($uids[0] != $uids[1] && $uids[1] != $uids[2] && $uids[0] != $uids[2],
	   'runs in a row have others');
	my $other = uid_of_run($t);
	ok($other >= $theirs->[0] && $other < $theirs->[1], 'of its own each');
	$s->kill9;
	ok(strays_gone(), 'a server that is killed');
	my ($u, $again) = server();
	is_deeply($again, $ours, 'leaves its ids to the next');
	$_->stop('a server whose user ids were listed ends') for $t, $u;
}

# ---- what somebody has ----

{
	my ($s, $free) = server(with_etc({subuid => "a:100000:65536\nb:165536:65536\n",
		subgid => ''}));

	cmp_ok($free->[0], '>=', $UNUSED, 'two users with ranges are not in the way');
	my $uid = uid_of_run($s);
	ok($uid >= $free->[0] && $uid < $free->[1], 'runs have no ids of users with ranges');
	my ($id) = $s->log_has(qr/part=server uid=(\d+)/);
	is($id, $UNUSED, 'the server has no id of users with ranges');
	write_file("/proc/$s->{pid}/root/etc/subuid", "late:$free->[0]:65536\n");
	like(`nsenter -t $s->{pid} -m $BUILD/paddock doctor 2>&1`,
	     qr{^missing +user ids of its own for runs: $free->[0]-\d+: /etc/subuid gives .* to late; restart paddockd}m,
	     'doctor tells when they become somebody\'s later');
	$s->stop('the server with ids of a later user ends');
}
for my $file (qw(subuid subgid)) {
	my ($s, $free) = server(with_etc({$file => "a:$UNUSED:268400000\n"}));

	cmp_ok($free->[1], '<', $UNUSED, "$file: ids that somebody has are not given");
	cmp_ok($free->[0], '>=', 524288, "$file: nor those that distributions give");
	my ($id) = $s->log_has(qr/part=server uid=(\d+)/);
	is($id, 60599, "$file: the server's own, too");
	$s->stop("$file: it ends");
}
{
	my ($s) = server(with_etc({passwd => "root:x:0:0::/:\nx:x:$UNUSED:5::/:\n"}));
	my ($id) = $s->log_has(qr/part=server uid=(\d+)/);

	is($id, $UNUSED + 1, 'the server is nobody who exists');
	$s->stop('the server with an id that nobody has ends');
}
{
	my $s = Paddock->new(with_etc({subuid => "greedy:1:4294967000\n"}),
			     templates => \%templates);

	is($s->wait_exit >> 8, 78, 'where all ids are somebody\'s it does not start as one');
	like($s->log_text, qr{no user paddock .* nor a spare id \(/etc/subuid gives 1-4294967000 to greedy\)},
	     'the refusal says whose the ids are');
	$s = Paddock->new(with_etc({subuid => "greedy:1:4294967000\n"}),
			  templates => \%templates, config => "[server]\nuser = root\n");
	is($s->wait_exit >> 8, 69, 'no user ids are left for runs, so the start fails');
	like($s->log_text, qr/no 512 user ids in a row are free for runs/, 'the log says that no user ids are left for runs');
	$s = Paddock->new(templates => \%templates, wrap => [
		'unshare', '-m', 'sh', '-c', 'mount -t tmpfs -o ro none /run && exec "$@"', 'sh']);
	is($s->wait_exit >> 8, 69, 'without a lock it does not start');
	like($s->log_text, qr{/run/paddock/ids\.lock: .*; make it writable for root},
	     'the log says that the folder of the lock is to be writable');
}
{
	my $s = Paddock->new(templates => \%templates, idle => 1);

	mkdir $s->{state}, 0700;
	chown 199999, 199999, $s->{state};
	$s->start;
	$s->init;
	refused($s->tool(echo => {}), 'STORE_UNAVAILABLE', 'a state folder of another');
	ok($s->log_has(qr/belongs to uid 199999, as which an earlier server may have served.*chown -R root/),
	   'the log says what to do with the folder of an earlier version');
	$s->stop('the server on another user\'s folder ends');
	my $log = "$s->{root}/log";
	my $d = Daemon->new(root => $s->{root}, state => $s->{state}, config => "[server]\nlog_file = $log\n");
	is($d->wait_exit >> 8, 77, 'a daemon on another user\'s folder does not start');
	like($d->log_text, qr/^paddockd: \S+ belongs to uid 199999.*chown -R root/, 'a daemon on another user\'s folder says so on stderr');
	ok(!-e $log, 'a daemon on another user\'s folder writes no log');
	chown 0, 0, $d->{state};
	$d = Daemon->new(root => $s->{root}, state => $s->{state}, config => "[server]\nlog_file = $log\n");
	until_true('its store', sub { -s "$s->{state}/paddock.db" });
	isnt((stat "$s->{state}/paddock.db")[4], 199999, 'a daemon on a given folder makes the store');
	$d->stop('the daemon on the given folder ends');
}
done_testing;
