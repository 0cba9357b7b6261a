#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Started as root, paddockd serves as another user with one capability left, and the keeper
# does the few acts which need root.
use lib 'tests/lib';
use Paddock;
use Cage;
use Daemon;

needs('root');

my $kill = 1 << 5; # capability(7)
my %templates = (echo => lua('return inputs'),
		 doze => lua('run.progress(0, 1, "dozing") run.sleep(60000)'),
		 tree => {program => "#!/bin/bash\n(setsid sleep 60 &) ; sleep 60\n"});

sub status_of {
	my ($pid) = @_;

	return { (read_file("/proc/$pid/status") // '') =~ /^(\w+):[ \t]*(.*)$/mg };
}

sub uids { return status_of($_[0])->{Uid} // '' }

sub echo {
	my ($s, $n) = @_;

	$s->init unless $s->{greeted}++;
	return ($s->tool(echo => {n => $n})->{view} // {})->{n};
}

# The cgroups of the workers: v1, v2 or none.
sub cgroup_of { return $_[0]->tool('get_runtime_profile')->{view}{isolation}{cgroup} }

sub owner { my @st = stat $_[0]; return $st[4] }

# ---- who it is ----

{
	my $s = Daemon->new(templates => \%templates);
	my ($uid) = $s->log_has(qr/part=server uid=(\d+) gid=\d+ user=/);
	my $st = status_of($s->{pid});
	my ($keeper) = grep { (read_file("/proc/$_/comm") // '') eq "paddock-keeper\n" }
	    Paddock::children_of($s->{pid});

	isnt($uid, 0, 'the server is not root');
	is($st->{Uid}, join("\t", ($uid) x 4), 'in no respect');
	is($st->{Gid} =~ /\b0\b/ ? 1 : 0, 0, 'the server\'s group is not root\'s');
	is(hex $st->{$_}, $kill, "$_: kill alone") for qw(CapPrm CapEff);
	is(hex $st->{$_}, 0, "$_: none") for qw(CapInh CapAmb);
	is(hex($st->{CapBnd}) & ~$kill, 0, 'the bounding set has no more than kill');
	is($st->{NoNewPrivs}, 1, 'the server gains no rights by exec');
	is($st->{Groups} // '', '', 'no group besides');
	ok($keeper, 'there is a keeper');
	is((split ' ', uids($keeper))[0], 0, 'the keeper is root');
	# beside files open for a moment during the birth of a worker
	ok(until_true('it to rest', sub { 4 == (() = glob "/proc/$keeper/fd/*") }), 'the keeper at rest has the order socket alone');
	my $c = $s->client;
	is(echo($c, 1), 1, 'a run ends');
	is(owner($s->{state}), $uid, 'the state folder is the server\'s');
	is((stat $s->{state})[2] & 0777, 0700, 'the state folder is private');
	kill KILL => $_ for $s->zygotes;
	$s->log_has(qr/zygote=gone/);
	is(echo($c, 2), 2, 'a new zygote is started without root');
	$s->signal('TERM');
	$s->stop('the server and its keeper end');
	ok(!-e $s->{socket}, 'the socket is removed from root\'s folder');
}

# ---- what it can still do to its workers ----

for (['cancel', 'doze'], ['KILL', 'doze'], ['cancel', 'tree'], ['KILL', 'tree']) {
	my ($how, $template) = @$_;
	my $s = Paddock->new(templates => \%templates)->greeted;
	my $id = $s->ask($template, {});
	my ($pid) = $s->log_has(qr/run=run_\w+ pid=(\d+)/);

	unlike(uids($pid), qr/^\Q@{[uids($s->{pid})]}\E$/,
	       "$how: the worker is somebody else");
	if ($how eq 'cancel') {
		$s->notify('notifications/cancelled', {requestId => $id});
		$s->log_has(qr/status=canceled/);
	} else {
		kill KILL => $s->{pid};
		$s->wait_exit;
	}
	ok(until_true('the worker to end', sub { !alive($pid) }),
	   "$how: it ends");
	$how eq 'cancel' ? $s->stop('the server ends')
	    : ok(strays_gone(), 'KILL: so do zygote and keeper');
}

# ---- whom it becomes ----

{
	my $s = Paddock->new(templates => \%templates,
			     config => "[server]\nuser = nobody\n");

	is(echo($s, 1), 1, 'user = nobody: it serves');
	like(uids($s->{pid}), qr/^65534\t/, 'a server with user = nobody has the uid of nobody');
	my $cgroup = cgroup_of($s);
	$s->stop('a server with user = nobody ends');
	is(owner("$s->{state}/paddock.db"), 65534, 'files of a server with user = nobody are nobody\'s');

	my $t = Paddock->new(templates => \%templates, root => $s->{root},
			     state => $s->{state},
			     config => "[server]\nuser = root\n");
	is(echo($t, 1), 1, 'user = root: it serves');
	like(uids($t->{pid}), qr/^0\t/, 'a server with user = root stays root');
	is(cgroup_of($t), $cgroup, 'workers of root\'s server are caged in the same way');
	$t->stop('a server with user = root ends');

	$t = Paddock->new(root => $s->{root}, state => $s->{state}, idle => 1,
			  config => "[server]\nuser = nosuchuser\n");
	$t->start;
	is($t->wait_exit >> 8, 78, 'a user that there is not: exit 78');
	like($t->log_text, qr/user is "nosuchuser"; there is no such user/,
	     'the log says which user does not exist');
}

# ---- logs in a folder of theirs lead nowhere with root's rights ----

{
	my $room = Paddock::fresh_root();

	mkdir "$room/$_" for qw(theirs roots);
	chmod 0755, $room;
	chown 65534, 65534, "$room/theirs";
	write_file("$room/theirs/audit", '');
	chmod 0700, "$room/roots";
	my $s = Daemon->new(templates => \%templates, config =>
	    "[server]\nuser = nobody\naudit_file = $room/theirs/audit\nlog_file = $room/roots/log\n");
	my $c = $s->client;

	is(echo($c, 1), 1, 'a server logs both into the user\'s folder and into root\'s');
	is(owner("$room/theirs/audit"), 65534, 'the one file is theirs');
	ok(-s "$room/roots/log", 'the other is written to');
	unlink "$room/theirs/audit";
	symlink "$room/roots/victim", "$room/theirs/audit";
	rename "$room/roots/log", "$room/roots/log.1";
	$s->signal('HUP');
	ok(until_true('the log to be opened again', sub { -e "$room/roots/log" }),
	   'a rotated log is opened again by the keeper');
	ok(until_true('the reload', sub { (read_file("$room/roots/log") // '') =~ /reload=/ ||
		(read_file("$room/roots/log.1") // '') =~ /audit_file=.*err=/ }), 'the reload says which log could not be opened');
	ok(!-e "$room/roots/victim", 'a link of theirs is not followed with root\'s rights');
	my ($keeper) = grep { (read_file("/proc/$_/comm") // '') eq "paddock-keeper\n" } Paddock::children_of($s->{pid});
	ok(until_true('it to rest', sub { 4 == (() = glob "/proc/$keeper/fd/*") }), 'the keeper has no folder open that it went through');
	unlink "$room/theirs/audit";
	$s->signal('TERM');
	$s->stop('the server with two logs ends');
}

# ---- a reload reads the files that root has read ----

{
	my $root = Paddock::fresh_root();
	my $queued = sub { $_[0]->tool('get_runtime_profile')->{view}{limits}{maxQueuedRuns} };

	write_file("$root/etc/paddock.conf", "[limits]\nmax_queued_runs = 33\n");
	my $s = Daemon->new(templates => \%templates, root => $root, wrap =>
	    ['unshare', '-m', 'sh', '-c',
	     'mount -t tmpfs none /etc && cp -r "$0" /etc/paddock && exec "$@"', "$root/etc"]);
	my $c = $s->client;

	is(echo($c, 1), 1, 'a server with the system\'s file');
	is($queued->($c), 33, 'limits of the system\'s file hold');
	write_file("/proc/$s->{pid}/root/etc/paddock/paddock.conf",
		   "[limits]\nmax_queued_runs = 44\n");
	is($s->reload, 'done', 'the system\'s file is changed');
	is($queued->($c), 44, 'limits of the changed file hold after the reload');
	chmod 0600, "/proc/$s->{pid}/root/etc/paddock/paddock.conf";
	like($s->reload, qr{\Arefused why=".*paddock\.conf: Permission denied; the server reads it as user id [1-9]\d*, which has to be let},
	     'one that root alone may read is refused then, and it says whom to let');
	$s->signal('TERM');
	$s->stop('the server ends');
}

# ---- what the keeper lets programs read is what it reads itself ----

{
	my $room = Paddock::fresh_root();
	my $reads = sub { my ($s, $c) = @_; my $v = $c->run_sync('reader');
			  return $v->{result} // $v->{errorCode} // json_of($v) };

	write_file("$room/data/x", '7');
	write_file("$room/own/x", '8');
	my $s = Daemon->new(config => "[limits]\n", templates => {reader => {
	    program => "#!/bin/bash\ncat $room/data/x\n",
	    permissions => {readPaths => ["$room/data"]}},
	  owner => {program => "#!/bin/bash\ncat $room/own/x\n",
	    permissions => {readPaths => ["$room/own"]}}});
	my $c = $s->client;

	$c->init;
	my $first = $reads->($s, $c);
      SKIP: {
		skip uncaged('programs are not caged here'), 6 if $first eq 'ISOLATION_TOO_WEAK';
		is($first, 'PERMISSION_NOT_ALLOWED', 'a folder that is not allowed');
		write_file("$s->{root}/paddock.conf", "[sandbox]\nread_paths = $room/data\n");
		is($s->reload, 'done', 'a reload with a new read_paths');
		is($reads->($s, $c), 7, 'a folder allowed by a reload can be read through the keeper');
		write_file("$s->{root}/paddock.conf", "[sandbox]\nread_paths = $room/data\n" .
			   "[grant \"owner\"]\nread_paths = $room/own\n");
		is($s->reload, 'done', 'another is granted to one template');
		is($c->run_sync('owner')->{result}, 8, 'a folder granted by a reload can be read by the template');
		is($reads->($s, $c), 7, 'the folder of [sandbox] stays readable beside the grant');
	}
	$s->signal('TERM');
	$s->stop('the server ends');
}

# ---- the state folder of another time ----

{
	my $s = Paddock->new(templates => \%templates,
			     config => "[server]\nuser = root\n");

	echo($s, 1);
	$s->stop('root has used a folder');
	is(owner("$s->{state}/paddock.db"), 0, 'the files of a folder used by root are root\'s');
	my $t = Paddock->new(templates => \%templates, root => $s->{root},
			     state => $s->{state}, config => "[server]\n");
	is(echo($t, 1), 1, 'a folder used by root is taken over');
	isnt(owner("$t->{state}/paddock.db"), 0, 'the files of a folder taken over are not root\'s');
	$t->stop('the server that took the folder over ends');
}
{
	my $s = Paddock->new(templates => \%templates, idle => 1);

	mkdir $s->{state};
	write_file("$s->{state}/thesis.tex", 'years of work');
	$s->start;
	$s->init;
	refused($s->tool(echo => {}), 'STORE_UNAVAILABLE',
		'a folder with other files is not taken');
	$s->log_has(qr/is no state folder that root has used/);
	is(owner($s->{state}), 0, 'a folder with other files stays root\'s');
	$s->stop('the server ends');
}
{
	my $s = Paddock->new(templates => \%templates, config => "[server]\n");

	echo($s, 1);
	$s->stop('a server of root has served as an unused id');
	my @again = (templates => \%templates, root => $s->{root}, state => $s->{state}, config => "[server]\nuser = nobody\n");
	my $t = Paddock->new(@again);

	$t->init;
	refused($t->tool(echo => {}), 'STORE_UNAVAILABLE', 'the state folder of the unused id is not given to a user');
	$t->log_has(qr/belongs to uid \d+, as which an earlier server may have served.*chown -R root \Q$s->{state}\E/);
	$t->stop('the server without a state folder ends');
	system('chown', '-R', 'root', $s->{state});
	my $u = Paddock->new(@again);
	is(echo($u, 1), 1, 'after chown -R root the user has the state folder');
	is(owner("$u->{state}/paddock.db"), 65534, 'after chown -R root the files are the user\'s');
	$u->stop('the server of the user ends');
}
# ---- root's rights, along paths that others have a part in ----

# A server's user may make links in its own folders. No link makes root give away an empty
# folder, or a file, of root.
{
	my $room = Paddock::fresh_root();
	my %prey = (empty => "$room/roots/empty", db => "$room/roots/db");

	chmod 0755, $room;
	mkdir "$room/$_" for qw(theirs group roots roots/empty roots/db);
	write_file("$room/roots/db/paddock.db", '');
	chown 65534, 65534, "$room/theirs";
	chown 0, 6, "$room/group"; # of a group that the user is in beside its own
	chmod 0775, "$room/group";
	# with a copy of /etc/group in a mount namespace, where the user nobody is in the
	# group disk
	write_file("$room/etc_group", (read_file('/etc/group') =~ s/^(disk:.*)$/$1,nobody/mr) =~ s/:,nobody/:nobody/r);
	my @in_group = ('unshare', '-m', 'sh', '-c', "mount --bind $room/etc_group /etc/group && exec \"\$@\"", 'sh');
	for my $dir (qw(theirs group)) {
		for my $kind (sort keys %prey) {
			my $at = "$room/$dir/$kind";
			my $in = "$room/$dir/in_$kind";

			symlink $prey{$kind}, $at or die $!;
			symlink "$room/roots", $in or die $!;
			for my $state ($at, "$in/$kind") {
				my $s = Paddock->new(templates => \%templates, state => $state, wrap => \@in_group,
						     config => "[server]\nuser = nobody\n")->greeted;
				$s->tool(echo => {});
				ok($s->log_has(qr/leads through a symbolic link that uid \d+ can have put there/),
				   "state_dir through a link in a folder of theirs ($dir): said");
				is(owner($prey{$kind}), 0, "$kind: the target of the link stays root's");
				$s->stop;
			}
		}
	}
	write_file("$room/roots/secret", 'x');
	chmod 0600, "$room/roots/secret";
	link "$room/roots/secret", "$room/group/log" or die $!;
	my $l = Paddock->new(templates => \%templates, wrap => \@in_group, state => "$room/state",
			     config => "[server]\nuser = nobody\nlog_file = $room/group/log\n");
	until_true('its answer', sub { !alive($l->{pid}) || -s "$room/state/paddock.db" });
	$l->close_stdin;
	$l->wait_exit;
	is(owner("$room/roots/secret"), 0, 'a log file in a folder of their group gives nothing of root\'s away');
	is(-s "$room/roots/secret", 1, 'a log file in a folder of the group is not written through a link');
	symlink "$room/roots", "$room/way" or die $!;
	my $s = Paddock->new(templates => \%templates, state => "$room/way/empty", config => "[server]\nuser = nobody\n");
	is(echo($s, 1), 1, 'a link that root alone can have put there is followed');
	$s->stop;
	is(owner($prey{empty}), 65534, 'the target of a trusted link is given to the user');
}
done_testing();
