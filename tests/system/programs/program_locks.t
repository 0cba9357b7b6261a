#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A program's acts on visible inodes have no effect outside of the run: a lock, a FIFO, the
# times of a device, and the access time.
use lib 'tests/lib';
use Paddock;
use Fcntl qw(:flock F_SETLK F_RDLCK F_WRLCK O_RDWR O_NONBLOCK);
use POSIX ();


# Take each lock on the named files, report the results, and keep the locks until the
# readable file "go" has contents.
my $TAKES = <<'PERL';
#!/usr/bin/perl
use Fcntl qw(:flock F_SETLK F_RDLCK);
$| = 1;
my (@open, @did);
sub tried { push @did, $_[0] ? $_[1] : "$_[1]:" . (0 + $!) }
for my $path (@ARGV) {
	my @f = map { open my $f, '<', $path or die "$path: $!"; $f } 1 .. 3;
	push @open, @f;
	tried(flock($f[0], LOCK_EX | LOCK_NB), 'flock');
	my $lock = pack('s s x4 q q l x4', F_RDLCK, 0, 0, 0, 0);
	tried(fcntl($f[1], F_SETLK, $lock), 'posix');
	tried(fcntl($f[2], 37, $lock), 'ofd'); # F_OFD_SETLK
}
for my $path ('/etc/ld.so.cache', '/etc', map { m{(.*)/} ? $1 : () } @ARGV) {
	sysopen my $d, $path, 0 or die "$path: $!"; # a folder, too
	push @open, $d;
	flock($d, LOCK_EX | LOCK_NB);
}
open my $say, '>&=', 3 or die;
syswrite $say, "{\"progress\":{\"done\":1,\"message\":\"@did\"}}\n";
select undef, undef, undef, 0.02 until -s "READS/go";
print "\"@did\"";
PERL

my $OWN = <<'SH';
#!/bin/bash
exec 7>a 8<a
r=$(flock -n 7 && echo first; flock -n 8 || echo second; flock -u 7; flock -n 8 && echo third)
echo "\"${r//$'\n'/ }\""
SH

my $SQLITE = <<'PY';
#!/usr/bin/python3
import sqlite3, json, multiprocessing, os
def add(n):
    c = sqlite3.connect('x.db', timeout=20)
    for i in range(20):
        with c: c.execute('update t set n = n + 1')
if __name__ == '__main__':
    c = sqlite3.connect('x.db')
    with c: c.execute('create table t (n)'); c.execute('insert into t values (0)')
    ps = [multiprocessing.Process(target=add, args=(n,)) for n in range(3)]
    for p in ps: p.start()
    for p in ps: p.join()
    n = c.execute('select n from t').fetchone()[0]
    shown = sqlite3.connect('file:%s/host.db?mode=ro' % 'READS', uri=True).execute('select * from h').fetchone()[0]
    print(json.dumps([n, shown]))
PY

# Can the host take such locks of PATH now?
sub host_can {
	my ($path) = @_;
	my @not;

	open my $f, (-d $path || !-w $path ? '<' : '+<'), $path or return "$path: $!";
	flock($f, LOCK_EX | LOCK_NB) or push @not, 'flock';
	flock $f, LOCK_UN;
	my $kind = -w $path && !-d $path ? F_WRLCK : F_RDLCK;
	my $lock = pack('s s x4 q q l x4', $kind, 0, 0, 0, 0);
	fcntl($f, F_SETLK, $lock) or push @not, 'posix';
	return @not;
}

sub program { my ($code, $reads, %m) = @_; $code =~ s/READS/$reads/g;
	      return {program => $code, permissions => {readPaths => [$reads]}, %m} }

sub locks {
	my ($who, $user, $what, @wrap) = @_;
	my $room = Paddock::fresh_root($user);
	my $reads = "$room/data";
	my $works = $what eq 'layers';

	write_file("$reads/file", "x\n");
	write_file("$reads/go", '');
	chmod 0755, $reads;
	if (-x '/usr/bin/python3') {
		system '/usr/bin/python3', '-c', 'import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); ' .
		    'c.execute("create table h (n)"); c.execute("insert into h values (7)"); c.commit()', "$reads/host.db";
		chown $user, $user, glob("$reads/*") if defined $user;
	}
	POSIX::mkfifo("$reads/fifo", 0666) or die $!;
	chmod 0666, "$reads/fifo";
	# files of the zygote belong to no host program, but are common to all runs
	my @paths = ("$reads/file", '/usr/bin/env', '/template/main', '/etc/alternatives/awk');
	my $s = Paddock->new(
	    idle => 1, user => $user, wrap => \@wrap, config => "[sandbox]\nread_paths = $reads\n", templates => {
		takes => program($TAKES, $reads, runtime => {}),
		own => program($OWN, $reads), one => program($TAKES, $reads, runtime => {}, permissions => {readPaths => ["$reads/file", "$reads/go"]}), sqlite => program($SQLITE, $reads),
		writes => program("#!/bin/bash\n(echo leak 1<>$reads/fifo >$reads/fifo) & p=\$!; sleep 0.3; kill \$p 2>/dev/null; echo 1\n", $reads),
	    });
	my $dir = "$s->{root}/templates/takes-1.0.0";

	for (['takes', @paths], ['one', "$reads/file"]) { # of a file of the package, too
		my ($id, @args) = @$_;
		my $file = "$s->{root}/templates/$id-1.0.0/template.json";
		my $m = json_to(read_file($file));

		$m->{runtime}{args} = \@args;
		write_file($file, json_of($m));
	}
	$s->start;
	$s->init;
	my ($missing) = $s->log_has(qr/programs=caged missing="(.*)"/);
	is($missing =~ /locks: refused to programs \(/ ? 1 : 0, $works ? 0 : 1, 'the log says whether locks are refused');
	my $run = $s->run_async('takes');
	my $took = sub { $s->get_until($_[0], 'to have taken its locks', sub { ($_->{progress}{doneSteps} // 0) == 1 || $_->{status} ne 'running' }) };
	$took->($run);
	for ($reads, "$dir/main", $dir, @paths[0, 1], qw(/usr/bin /usr /etc /etc/alternatives /etc/ld.so.cache)) {
		is_deeply([host_can($_)], [], "the host can lock $_ ($who, $what)");
	}
	my $one = $s->run_async('one');
	$took->($one);
	is_deeply([host_can("$reads/file")], [], 'a lock on a single granted file is not seen at the host');
	my $second = $s->run_async('takes');
	$took->($second);
	write_file("$reads/go", 'go');
	for ($s->ended($run), $s->ended($second)) {
		is($_->{result}, join(' ', map { $works ? qw(flock posix ofd) : qw(flock:1 posix:1 ofd:1) } @paths),
		   $works ? 'each run has all locks to itself' : 'no run has any') or diag(json_of($_));
	}
	is($s->ended($one)->{result}, $works ? 'flock posix ofd' : 'flock:1 posix:1 ofd:1',
	   'a run beside others has the own locks');
      SKIP: {
		skip 'locks are refused', 1 unless $works;
		my $v = $s->run_sync('own');
		is($v->{result}, 'first second third', 'in /work locks do what they are for') or diag(json_of($v));
	}
      SKIP: {
		skip 'locks are refused, or there is no python3', 1 unless $works && -e "$reads/host.db";
		my $v = $s->run_sync('sqlite');
		is_deeply($v->{result}, [60, 7], 'three processes of sqlite have the locks') or diag(json_of($v));
	}
	sysopen my $fifo, "$reads/fifo", O_RDWR | O_NONBLOCK or die $!;
	$s->run_sync('writes');
	my $got = '';
	sysread $fifo, $got, 10 if $works;
	is($got, '', 'what a program writes into a FIFO of the host does not come out there') if $works;
	$s->stop("nothing is left ($who, $what)");
}

# ---- what was granted ----

# A template with granted locks has the host's own inodes of its readable files.
sub granted {
	my ($who, $user) = @_;
	my $room = Paddock::fresh_root($user);
	my $reads = "$room/data";

	write_file("$reads/$_", '') for qw(file go);
	chmod 0755, $reads;
	my $asks = {readPaths => [$reads], locks => true};
	my $s = Paddock->new(
	    user => $user, idle => 1, templates => {
		locks => program($TAKES, $reads, runtime => {}, permissions => $asks),
		begs => program($TAKES, $reads, permissions => $asks)},
	    config => "[sandbox]\nread_paths = $reads\n[grant \"locks\"]\nlocks = yes\n");
	my $file = "$s->{root}/templates/locks-1.0.0/template.json";
	my $m = json_to(read_file($file));

	$m->{runtime}{args} = ["$reads/file"];
	write_file($file, json_of($m));
	$s->start;
	$s->init;
	is($s->run('begs')->{view}{errorCode}, 'PERMISSION_NOT_ALLOWED', "locks that nobody granted are refused ($who)");
	my $run = $s->run_async('locks');
	$s->get_until($run, 'to have its locks', sub { ($_->{progress}{doneSteps} // 0) == 1 || $_->{status} ne 'running' });
	is_deeply([host_can("$reads/file")], [qw(flock posix)], 'granted locks are seen at the host');
	is_deeply([host_can($_)], [], "no lock at $_ is seen at the host") for '/usr/bin/env', $file;
	write_file("$reads/go", 'go');
	is($s->ended($run)->{result}, 'flock posix ofd', 'the program had the granted locks');
	is_deeply([host_can("$reads/file")], [], 'no lock stays at the host when the program has ended');
	$s->stop;
}

# ---- times ----

my $TIMES = <<'PERL';
#!/usr/bin/perl
my @did;
for (qw(/dev/null /dev/zero /dev/full /dev/random /dev/urandom READS/file /usr/bin/env)) {
	push @did, "utime $_" if utime 1, 1, $_;
	push @did, "touch $_" if utime undef, undef, $_;
	push @did, "chmod $_" if chmod 0777, $_;
}
for (qw(/dev/null /dev/full)) { open my $f, '>', $_ or push @did, "cannot open $_"; syswrite $f, 'x' }
for (qw(/dev/zero /dev/urandom READS/file)) { open my $f, '<', $_ or push @did, "cannot open $_"; sysread $f, my $x, 9 }
opendir my $d, 'READS'; () = readdir $d;
print '[', join(',', map { "\"$_\"" } @did), ']';
PERL

sub times_of { return map { [(stat $_)[8, 9, 10, 2]] } @_ }

sub untouched {
	my ($who, $user) = @_;
	my $room = Paddock::fresh_root($user);
	my $reads = "$room/data";
	my @all = ("$reads/file", $reads, qw(/dev/null /dev/full /dev/zero /dev/urandom));

	write_file("$reads/file", "x\n");
	utime 1, 1, "$reads/file", $reads; # relatime would set it when it is read
	my $s = Paddock->new(user => $user, config => "[sandbox]\nread_paths = $reads\n",
			     templates => {times => program($TIMES, $reads)})->greeted;
	my @before = times_of(@all);
	is_deeply($s->run_sync('times')->{result}, [], "nothing of the host's is given times or a mode ($who)");
	is_deeply([times_of(@all)], \@before, 'no access time at the host changes');
	$s->stop;
}

my $deny = Paddock::fresh_root() . '/deny';

for (users()) {
	my ($who, $user) = @$_;

	untouched($who, $user);
	locks($who, $user, 'layers');
	granted($who, $user);
      SKIP: {
		skip_lacking(1, 'compiler');
		compile('lib/deny.c', $deny, '-lseccomp');
		locks($who, $user, 'none', $deny, 'layers', '--');
	}
}
done_testing();
