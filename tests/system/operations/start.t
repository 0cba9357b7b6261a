#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The server starts completely or not at all: each fault which makes runs impossible, with a
# log file and without, as root and as an ordinary user, for a daemon, a server of one
# client and --check: the exit status, one line with the reason, and nothing left behind.
use lib 'tests/lib';
use Paddock;
use Daemon;
use File::Copy qw(copy);
use Fcntl qw(F_SETLK);
use File::Find;
use Http;
use POSIX qw(WNOHANG);
use Socket;

my ($UNAVAILABLE, $NOPERM, $CONFIG) = (69, 77, 78);
my @users = as_root() ? (['root', undef], ['nobody', $NOBODY]) : (['this user', undef]);

# ---- one start, to its end ----

sub files {
	my ($dir) = @_;
	my @all;

	find({no_chdir => 1, wanted => sub { push @all, $_ }}, $dir);
	return join ' ', sort @all;
}

our @wrap; # the command that starts the next program

sub start { return ends(paddockd => @_) }

# Run PROGRAM with ARGS as USER below ROOT, with stdin at its end: {status, lines of stderr,
# out}. The program is killed after the usual patience.
sub ends {
	my ($program, $root, $user, @args) = @_;
	my $build = -e "$root/build" ? "$root/build" : $BUILD;
	my $said = Paddock::fresh_root();
	my $pid = fork // die "fork: $!\n";

	if ($pid == 0) {
		open STDIN, '<', '/dev/null' or die;
		open STDOUT, '>', "$said/out" or die;
		open STDERR, '>', "$said/err" or die;
		if (defined $user) {
			$( = $) = "$user $user";
			POSIX::setuid($user);
		}
		%ENV = (PATH => $ENV{PATH}, HOME => $root);
		exec @wrap, "$build/$program", @args or POSIX::_exit(127);
	}
	my $status;
	until_true('the end of a start', sub {
		waitpid($pid, WNOHANG) == $pid or return 0;
		$status = $?;
		return 1;
	}) or do { kill KILL => $pid; waitpid $pid, 0 };
	return {status => defined $status ? $status >> 8 : undef,
		out => read_file("$said/out"),
		lines => [split /\n/, read_file("$said/err")]};
}

# The common setup of all starts below; a fault changes one part.
sub usual {
	my ($user) = @_;
	my $root = Paddock::fresh_root($user);

	mkdir "$root/templates";
	return {root => $root, user => $user, state => "$root/state", socket => "$root/sock",
		templates => "$root/templates", config => '', more => []};
}

sub args {
	my ($c, $mode) = @_;

	write_file("$c->{root}/c.conf", $c->{config});
	return (($mode eq 'daemon' ? () : "--$mode"), '--config', "$c->{root}/c.conf",
		'--templates', $c->{templates}, '--state-dir', $c->{state},
		'--socket', $c->{socket}, '--log-level', 'error', @{$c->{more}});
}

# ---- the faults ----

sub database {
	my ($c, $bytes) = @_;

	mkdir $c->{state}, 0700;
	write_file("$c->{state}/paddock.db", $bytes);
	chown $c->{user} // 0, $c->{user} // 0, $c->{state}, "$c->{state}/paddock.db" if as_root();
}

sub taken { # a socket that somebody listens at; it lives as long as the case
	my ($c, $domain, $addr) = @_;

	socket my $fh, $domain, SOCK_STREAM, 0 or die "socket: $!\n";
	bind $fh, $addr or die "bind: $!\n";
	listen $fh, 1 or die "listen: $!\n";
	chmod 0666, $c->{socket} if $domain == AF_UNIX;
	push @{$c->{held}}, $fh;
	return $fh;
}

sub mkfifo {
	my ($c, $name) = @_;

	POSIX::mkfifo("$c->{root}/$name", 0666) or die "mkfifo: $!\n";
	chmod 0666, "$c->{root}/$name";
}

sub uncaged { # a worker program that is none
	my ($c) = @_;

	mkdir "$c->{root}/build";
	copy("$BUILD/paddockd", "$c->{root}/build/paddockd") or die "copy: $!\n";
	write_file("$c->{root}/build/paddock-worker", "#!/bin/sh\nexit 0\n");
	chmod 0755, "$c->{root}/build", glob "$c->{root}/build/*";
}

# name, the code which makes the fault, the message, the status of a daemon, of --stdio
# ('on': the server serves the client all the same, with one line; undef: not concerned) and
# of --check. after: found when the log is open.
my @faults = (
    ['a folder of templates that is not there', sub { $_[0]{templates} .= '/none' },
     qr{/templates/none, which templates names, is not there}, $CONFIG, $CONFIG, $CONFIG],
    ['a file for a folder of templates', sub { write_file($_[0]{templates} .= '/file', '') },
     qr{is no folder}, $CONFIG, $CONFIG, $CONFIG],
    ['a line break in a name', sub {
	    $_[0]{templates} .= "/none\npaddockd: forged" },
     qr{/none\?paddockd: forged": there is a control character}, $CONFIG, $CONFIG, $CONFIG],
    ['a browser that is not there', sub { $_[0]{config} .= "[browser]\nchromium = /no/such/chromium\n" },
     qr{chromium in \[browser\] is /no/such/chromium, which is no program}, undef, 'on', $CONFIG],
    ['a browser that is none', sub { $_[0]{config} .= "[browser]\nchromium = /bin/false\n" },
     qr{chromium in \[browser\] is /bin/false, which is no browser that works here: \S.*; name another}, undef, undef, $CONFIG,
     after => 1],
    ['a state folder of another\'s', sub {
	    mkdir $_[0]{state};
	    write_file("$_[0]{state}/thesis.tex", '');
	    chown $_[0]{user} ? 0 : 4242, 0, $_[0]{state} if as_root();
	    chmod 0555, $_[0]{state} },
     qr{state}, $NOPERM, 'on', $NOPERM],
    ['a state folder in a place where none can be made', sub {
	    mkdir "$_[0]{root}/closed", 0555;
	    $_[0]{state} = "$_[0]{root}/closed/a/b" },
     qr{the state folder cannot be used: \S+/closed: Permission denied; let this user}, $NOPERM, 'on',
     $NOPERM, ordinary => 1],
    ['a state folder below one that is root\'s alone', sub {
	    mkdir "$_[0]{root}/closed", 0700;
	    mkdir $_[0]{state} = "$_[0]{root}/closed/state", 0700 },
     qr{the state folder cannot be used: \S+/closed/state: Permission denied; let this user}, $NOPERM, 'on',
     $NOPERM, root => 1],
    ['no state folder yet below one that is root\'s alone', sub {
	    mkdir "$_[0]{root}/closed", 0700;
	    $_[0]{state} = "$_[0]{root}/closed/state" },
     qr{the state folder cannot be used: \S+/closed: Permission denied; let this user}, $NOPERM, 'on',
     $NOPERM, root => 1],
    ['a file for a state folder', sub { write_file($_[0]{state}, '') },
     qr{the state folder cannot be used: \S+/state: Not a directory}, $CONFIG, 'on', $CONFIG],
    ['a store that is none', sub { database($_[0], 'not a database, ' x 4096) },
     qr{paddock\.db: .*it is damaged}, $UNAVAILABLE, 'on', $UNAVAILABLE],
    ['a store whose tables are damaged', sub {
	    database($_[0], pack 'a16 n C2 C4 x4 N x12 N x4 N N x4 N x28', "SQLite format 3\0",
		     4096, 1, 1, 0, 64, 32, 32, 2, 4, 1, 1, 3);
	    open my $f, '>>', "$_[0]{state}/paddock.db" or die;
	    print {$f} "\xff" x (2 * 4096 - 100);
	    close $f },
     qr{paddock\.db: .*it is damaged}, $UNAVAILABLE, 'on', $UNAVAILABLE],
    ['a newer paddock\'s store', sub {
	    database($_[0], pack 'a16 x44 N x36', "SQLite format 3\0", 4711) },
     qr{paddock\.db: .*a newer paddock wrote it}, $UNAVAILABLE, 'on', $UNAVAILABLE],
    ['a folder for the socket that is not there', sub { $_[0]{socket} = "$_[0]{root}/no/such/sock" },
     qr{/no/such/sock: No such file or directory; make its folder}, $UNAVAILABLE, undef, $UNAVAILABLE],
    ['a folder for the socket that is another\'s', sub {
	    mkdir "$_[0]{root}/closed", 0555;
	    $_[0]{socket} = "$_[0]{root}/closed/sock" },
     qr{/closed/sock: Permission denied}, $NOPERM, undef, $NOPERM, ordinary => 1],
    ['a file in place of the socket', sub { write_file($_[0]{socket}, '') },
     qr{it is no socket}, $UNAVAILABLE, undef, $UNAVAILABLE],
    ['a path too long for a socket', sub { $_[0]{socket} = "$_[0]{root}/" . 'x' x 108 },
     qr{at most 107 bytes}, $CONFIG, undef, $CONFIG],
    ['a socket that is served', sub { taken($_[0], AF_UNIX, pack_sockaddr_un($_[0]{socket})) },
     qr{/sock: another paddockd serves it}, $UNAVAILABLE, undef, 0],
    ['a port that is taken', sub {
	    my ($port) = unpack_sockaddr_in(getsockname taken($_[0], AF_INET, pack_sockaddr_in(0, INADDR_LOOPBACK)));
	    $_[0]{config} .= "[server]\nlisten = 127.0.0.1:$port\n" },
     qr{127\.0\.0\.1:\d+ cannot be listened at: Address already in use}, $UNAVAILABLE, undef, $UNAVAILABLE],
    ['an address beyond loopback without a token', sub {
	    $_[0]{config} .= "[server]\nlisten = 0.0.0.0:0\n" },
     qr{0\.0\.0\.0:0, which is not loopback, and no \[requestor\] has a token}, $CONFIG, undef, $CONFIG],
    ['an address that is not here', sub { 
	    $_[0]{config} .= "[server]\nlisten = 192.0.2.1:0\n[requestor \"ada\"]\ntoken_sha256 = " . 'ab' x 32 . "\n" },
     qr{192\.0\.2\.1:0 cannot be listened at: Cannot assign requested address; name an address that this machine has, such as 127\.0\.0\.1, by listen}, $UNAVAILABLE, undef, $UNAVAILABLE],
    ['an audit log without its folder', sub {
	    $_[0]{config} .= "[server]\naudit_file = $_[0]{root}/no/audit\n" },
     qr{audit_file is \S+/no/audit, which cannot be opened: No such}, $CONFIG, $CONFIG, $CONFIG],
    ['an audit log that may not be written', sub {
	    mkdir "$_[0]{root}/closed", 0555;
	    $_[0]{config} .= "[server]\naudit_file = $_[0]{root}/closed/audit\n" },
     qr{audit_file is \S+/closed/audit, which cannot be opened: Permission}, $NOPERM, $NOPERM, $NOPERM,
     ordinary => 1],
    ['an audit log that is a FIFO without a reader', sub {
	    mkfifo($_[0], 'audit');
	    $_[0]{config} .= "[server]\naudit_file = $_[0]{root}/audit\n" },
     qr{audit_file is \S+/audit, which is a FIFO that no program reads, or a socket; start}, $UNAVAILABLE,
     $UNAVAILABLE, $UNAVAILABLE],
    ['a log that is a FIFO without a reader', sub {
	    mkfifo($_[0], 'fifo');
	    push @{$_[0]{more}}, '--log-file', "$_[0]{root}/fifo" },
     qr{log_file is \S+/fifo, which is a FIFO that no program reads, or a socket; start}, $UNAVAILABLE,
     $UNAVAILABLE, $UNAVAILABLE, own_log => 1],
    ['a log that is a socket', sub {
	    taken($_[0], AF_UNIX, pack_sockaddr_un("$_[0]{root}/listens"));
	    chmod 0666, "$_[0]{root}/listens";
	    push @{$_[0]{more}}, '--log-file', "$_[0]{root}/listens" },
     qr{log_file is \S+/listens, which is a FIFO that no program reads, or a socket}, $UNAVAILABLE,
     $UNAVAILABLE, $UNAVAILABLE, own_log => 1, ordinary => 1],
    ['fewer descriptors than a server needs', sub {
	    $_[0]{wrap} = ['sh', '-c', 'ulimit -n 32; exec "$@"', 'sh'] },
     qr{the limit of open files is 32, and this configuration needs 106 descriptors: .* LimitNOFILE in the unit}, $UNAVAILABLE,
     $UNAVAILABLE, $UNAVAILABLE],
    ['fewer descriptors than its runs need', sub {
	    $_[0]{config} .= "[limits]\nmax_concurrent_runs = 50\n";
	    $_[0]{wrap} = ['sh', '-c', 'ulimit -n 195; exec "$@"', 'sh'] },
     qr{is 195, and this configuration needs 196 descriptors: .*2 for each of the 50 runs}, $UNAVAILABLE,
     $UNAVAILABLE, $UNAVAILABLE],
    ['a section without a token', sub { $_[0]{config} .= "[requestor \"ada\"]\nweight = 2\n" },
     qr{\[requestor "ada"\] needs a token_sha256 or a uid}, $CONFIG, $CONFIG, $CONFIG],
    ['a user that there is not', sub { $_[0]{config} .= "[server]\nuser = nobody-at-all\n" },
     qr{there is no such user}, $CONFIG, $CONFIG, $CONFIG, root => 1],
    ['a worker that cannot be caged', \&uncaged, qr{nothing is run}, $UNAVAILABLE, $UNAVAILABLE,
     $UNAVAILABLE, after => 1],
    ['less isolation than is required', sub { push @{$_[0]{more}}, '--require-isolation', 'full' },
     qr{caged as \w+, but full is required, which lacks \S}, $UNAVAILABLE, $UNAVAILABLE,
     $UNAVAILABLE, after => 1, ordinary => 1],
);

sub one {
	my ($fault, $mode, $user, $log) = @_;
	my ($name, $make, $says, $daemon, $stdio, $check, %o) = @$fault;
	my $want = {daemon => $daemon, stdio => $stdio, check => $check}->{$mode};
	my $c = usual($user);
	my $file = "$c->{root}/the.log";

	return 1 if !defined $want || ($log && $o{own_log});
	$make->($c);
	push @{$c->{more}}, '--log-file', $file if $log;
	my @args = args($c, $mode);
	local @wrap = @{$c->{wrap} // []};
	my $before = files($c->{root});
	my $r = start($c->{root}, $c->{user}, @args);
	my ($status, $lines) = $want eq 'on' ? (0, 1) : ($want, $want ? 1 : 0);
	my $logged = $log && read_file($file);
	my @wrong = (($r->{status} // 'none') == $status ? () : "status " . ($r->{status} // 'none'),
		     @{$r->{lines}} == $lines ? () : scalar(@{$r->{lines}}) . ' lines',
		     (map { /^paddockd: / && $_ =~ $says ? () : "not the line: $_" } @{$r->{lines}}));

	$o{after} = 0 if $mode eq 'check';
	if ($log && $want ne 'on' && !$o{after}) {
		push @wrong, 'there is a log' if defined $logged;
	} elsif ($log && $o{after}) {
		push @wrong, 'not in the log' unless ($logged // '') =~ /level=error .*$says/;
	}
	unlink $file;
	push @wrong, 'left: ' . files($c->{root}) if files($c->{root}) ne $before;
	push @wrong, 'a process' unless strays_gone();
	chmod 0755, "$c->{root}/closed", $c->{state};
	diag("$name, $mode: $_") for @wrong, @wrong ? @{$r->{lines}} : ();
	return !@wrong;
}

my $lock = '/run/paddock/ids.lock'; # which a server that root starts makes
my $had_lock = -e $lock;

# Nothing is wrong: --check says so, and leaves no trace.
for (@users) {
	my ($who, $user) = @$_;

	ok(one(['nothing', sub { }, qr/^$/, undef, 'on', 0], 'check', $user, $_),
	   "all is well, as $who: --check says nothing and makes nothing" . ($_ ? ', log file or not' : '')) for 0, 1;
}

is(-e $lock, $had_lock, "--check makes no lock for user ids");

for my $fault (@faults) {
	my ($name, undef, undef, undef, undef, undef, %o) = @$fault;

	for (@users) {
		my ($who, $user) = @$_;
		my $is_root = as_root() && !defined $user;

		next if $is_root ? $o{ordinary} : $o{root};
		for my $mode ('daemon', 'stdio', 'check') {
			ok(!(grep { !one($fault, $mode, $user, $_) } 0, 1),
			   "$name, $mode, as $who: status, one line, no trace, with a log file or not");
		}
	}
}

# ---- what is whose ----

my %echo = (echo => lua('return inputs'));

sub private_user { return as_root() ? (user => $NOBODY) : () }

{
	my $root = Paddock::fresh_root($ORDINARY);
	my $log = "$root/the.log";
	my %same = (templates => \%echo, root => $root, level => 'info', private_user(),
		    args => ['--log-file', $log]);
	write_file("$root/templates/broken/template.json", '{}');
	my $d = Daemon->new(%same);

	until_true('the daemon', sub { (read_file($log) // '') =~ /ready=yes/ });
	like(read_file($log), qr/part=catalogue skipped="[^"]*broken"/, 'the log has what was found before it was opened');
	my $own = sub { join '', grep { !/part=conn / } split /^/, read_file($log) }; # but who knocked
	my $before = $own->();
	my $second = $d->again(level => 'info', kept_socket => 1);
	is(($second->wait_exit // 0) >> 8, $UNAVAILABLE, 'a second daemon on socket and log: exit 69');
	like($second->log_text, qr/^paddockd: [^\n]*another paddockd serves it[^\n]*\n\z/,
	     '  the second daemon says once on stderr that another daemon serves');
	is($own->(), $before, '  the second daemon writes nothing into the first one\'s log');
	$_->init for my @two = map { Paddock->new(%same, templates => undef) } 1, 2;
	same_json($_->run_sync(echo => {a => 1})->{result}, {a => 1}, 'one client\'s servers start beside it')
	    for @two;
	$_->{shared} = 1 for @two;
	$_->stop for @two;
	$d->stop;
}

{
	my $c = usual($users[-1][1]);
	my $wrlck = 1;

	database($c, '');
	open my $f, '+<', "$c->{state}/paddock.db" or die;
	# where SQLite locks a database: https://www.sqlite.org/lockingv3.html
	fcntl($f, F_SETLK, pack('s s x4 q q i x4', $wrlck, 0, 0x40000000, 512, 0)) or die "fcntl: $!\n";
	my $d = Daemon->new(root => $c->{root}, private_user());

	$d->log_has(qr/part=server isolation=/); # now it waits for the store
	$d->stop('a daemon that is told to end while it waits for its store ends');
	unlink "$c->{root}/log.0";
	my $r = start($c->{root}, $c->{user}, args($c, 'daemon'));
	is($r->{status}, $UNAVAILABLE, 'a store that another process holds: exit 69');
	is(scalar @{$r->{lines}}, 1, '  in one line') or diag(@{$r->{lines}});
	like($r->{lines}[0], qr/another process holds it: see which/, '  the line says which process to look for');
	ok(!-e $c->{socket}, '  without a socket left');
}
SKIP: {
	skip_lacking(1, 'mount');
	my $root = Paddock::fresh_root();

	mkdir "$root/state";
	my $s = Http->new(templates => \%echo, root => $root,
		wrap => ['unshare', '-m', 'sh', '-c', "mount -t tmpfs -o size=8m none $root/state && " .
			 "head -c 16M /dev/zero >$root/state/filler; exec \"\$\@\"", 'sh']);

	like($s->log_text, qr/^paddockd: the disk of the state folder \S+ is nearly full: make room/m,
	     'a full disk does not end the start, but is told');
	is($s->fetch(GET => '/readyz')->{status}, 503, '  a server on a full disk is not ready');
	unlink "/proc/$s->{pid}/root$root/state/filler" or die "$!";
	ok(until_true('it to be ready', sub { $s->fetch(GET => '/readyz')->{status} == 200 }),
	   '  a server with room on the disk again is ready');
	is($s->client->greeted->run_sync(echo => {a => 1})->{status}, 'succeeded', '  a server with room on the disk again runs templates');
	cmp_ok(scalar(() = $s->log_text =~ /part=store msg=/g), '<=', 2, '  the log says it once, and that it is over');
	$s->stop;
}

# ---- the command, whose private server does not start ----

for (['--templates', qr{/templates/none, which templates names, is not there}, 2, sub { $_[0]{templates} .= '/none' }],
     ['a cage', qr{but full is required, which lacks \S}, 125,
      sub { $_[0]{config} .= "[sandbox]\nrequire_isolation = full\n" }]) {
	my ($what, $says, $status, $make) = @$_;
	my $c = usual($users[-1][1]);

	$make->($c);
	write_file("$c->{root}/c.conf", $c->{config});
	for my $command (['template', 'ls'], ['status'], ['doctor']) {
		my $r = ends('paddock', $c->{root}, $c->{user}, @$command, '--config', "$c->{root}/c.conf",
			     '--templates', $c->{templates}, '--state-dir', $c->{state});

		is($r->{status}, $status, "$what, paddock @$command: status $status");
		is(scalar(grep { $_ =~ $says } @{$r->{lines}}), 1, "$what, paddock @$command: the reason stands once") or diag(@{$r->{lines}});
	}
}

# ---- lines that nobody forges ----

{
	my $d = Daemon->new(templates => \%echo, idle => 1, private_user(),
			    root => Paddock::fresh_root($ORDINARY));

	write_file("$d->{root}/templates/x\nts=0 level=error part=forged/template.json", '{}');
	$d->start;
	$d->ready;
	like($d->log_text, qr/^ts=\S+ level=warn part=catalogue skipped="[^"\n]*\/x\?ts=0 level=error part=forged/m,
	     'a folder with a line break in its name is told of in one line');
	unlike($d->log_text, qr/^ts=0/m, '  a folder\'s name begins no line of the log');
	my $r = start($d->{root}, $d->{user}, '--check', '--templates', "$d->{root}/templates",
		      '--state-dir', $d->{state});
	is(scalar(grep { !/^paddockd: / } @{$r->{lines}}), 0, '  a folder\'s name begins no line on stderr of --check');
	my $c = $d->client->greeted;
	my $run = $c->run_sync(echo => {a => 1})->{runId};
	ok($d->log_has(qr/part=run run=$run template=echo version=1\.0\.0 requestor=\S+ started=yes waited_ms=\d+$/m),
	   'the log has a line for a run\'s start');
	$d->signal('USR1');
	ok($d->log_has(qr/ready=yes why=""$/m), 'a line of status says that it is ready');
	ok($d->log_has(qr/part=requestor requestor=\S+ status=ok .* overpolls=\d+ memory_bytes=\d+ memory_refused=\d+$/m), '  the log has a line for each requestor');
	unlike($d->log_text, qr/=unknown/, '  knows what it tells');
	$d->stop;
}

# ---- while it serves ----

# The answers of readyz, "paddock status" and "paddock doctor": whether the server starts
# runs, and the reason if not.
sub told {
	my ($s) = @_;
	my $r = $s->fetch(GET => '/readyz')->{json};
	my @said = map { my $all = `$BUILD/paddock $_ --socket $s->{socket} 2>&1`; [$? >> 8, $all] } qw(status doctor);

	return {status => $r->{status}, reason => $r->{reason},
		alike => !(grep { ($_->[0] == 0) != ($r->{status} eq 'ready') ||
				      defined $r->{reason} && index($_->[1], $r->{reason}) < 0 } @said)};
}

{
	my $root = Paddock::fresh_root($ORDINARY);
	my $s = Http->new(templates => \%echo, root => $root, private_user());
	my $c = $s->client->greeted;

	$c->run_sync(echo => {a => 1});
	is(told($s)->{status}, 'ready', 'a daemon whose state is well is ready');
	chown 0, 0, $s->{state} if as_root();
	chmod 0555, $s->{state};
	ok(until_true('it to notice', sub { told($s)->{status} eq 'not ready' }), 'a server is not ready when the state folder is closed');
	my $now = told($s);
	is($now->{reason}, 'it may not read or write its state', '  readyz says that the state cannot be read or written');
	ok($now->{alike}, '  status and doctor say the same as readyz');
	refused($c->run(echo => {a => 2}), 'STORE_UNAVAILABLE', '  a run is refused while the state is closed');
	ok($s->log_has(qr/level=error part=health state=failing path="$s->{state}" err="Permission denied"/),
	   '  the log says which folder');
	like(`$BUILD/paddock status --socket $s->{socket} 2>&1`, qr/^failing +it may not .*\n +\Q$s->{state}\E: Permission denied; let this user/m,
	     '  status tells a local user which folder');
	unlike(json_of($c->tool('get_runtime_profile')->{view}{health}), qr{\Q$s->{state}}, '  no remote client hears of the folder');
	chmod 0700, $s->{state};
	chown $NOBODY, $NOBODY, $s->{state} if as_root();
	ok(until_true('it to be mended', sub { told($s)->{status} eq 'ready' }), 'a server is ready when the state folder is mended');
	is($c->run_sync(echo => {a => 3})->{status}, 'succeeded', '  runs succeed without a restart when the folder is mended');
	ok($s->log_has(qr/part=health state=ok/), '  the log says that the state is well');
	is(scalar(() = $s->log_text =~ /state=failing/g), 1, '  the log tells the failure of the state folder once');
	$s->stop;
}
done_testing;
