#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# paddock as shipped: "make install" into a root of its own, with a user paddock, and the
# lines of the unit for paddockd (Unit.pm): shipped templates run, doctor and selftest find
# no fault, and each file has the right mode.
use lib 'tests/lib';
use Paddock;
use Daemon qw(manager);
use File::Find ();
use IO::Socket::INET;
use Pages;
use Site;
use Unit;

needs('root', 'mount', 'compiler', 'nsenter');
system(q(unshare -m sh -c 'mkdir -p /tmp/x.$$ && mount -t overlay -o ro,lowerdir=/usr:/etc o /tmp/x.$$ && umount /tmp/x.$$; s=$?; rmdir /tmp/x.$$; exit $s' 2>/dev/null)) == 0
    or plan skip_all => 'no overlay of /usr can be had here';
delete @ENV{qw(MAKEFLAGS MFLAGS MAKELEVEL)};

my $root = Paddock::fresh_root();
our ($dest, $fixture) = ("$root/dest", "$root/unit");
my $chromium = !defined lacks('Chromium');

compile('lib/unit.c', $fixture, '-lseccomp', '-lcap') or BAIL_OUT('tests/lib/unit.c cannot be built');
system('make', '-s', '--no-print-directory', '-C', $TOP, '-o', 'all', 'install', "DESTDIR=$dest", "B=$BUILD") == 0 or BAIL_OUT('make install');
write_file("$dest/etc/$_->[0]", (join '', grep { !/^paddock:/ } read_file("/etc/$_->[0]") =~ /^.*\n/mg) . $_->[1])
    for ['passwd', "paddock:x:990:990::/nonexistent:/usr/sbin/nologin\n"], ['group', "paddock:x:990:\n"];

sub glob_of { my @all = glob "$TOP/etc/templates/*"; return scalar @all }
my $site = Site->new;
my $n = 0;
sub start {
	my (%o) = @_;
	my $manager = manager("\@paddock-unit-$$-" . $n++);

	write_file("$dest/etc/paddock/conf.d/test.conf", $o{config} // '');
	my $d = Unit->new(dest => $dest, fixture => $fixture, manager => $manager, env => $o{env}, $o{after} ? (root => $o{after}{root}) : ());
	return $d if $manager->hears(qr/^READY=1/m);
	diag($d->last_log);
	BAIL_OUT('the unit does not start');
}

# ---- what is not known fails ----

for my $line ('PrivateUsers=yes', 'SystemCallFilter=~@ipc', 'ProtectSystem=full') {
	my $other = "$root/other";

	system('cp', '-r', $dest, $other) == 0 or die;
	my $unit = "$other/usr/lib/systemd/system/paddockd.service";
	write_file($unit, read_file($unit) =~ s/^(\[Install\])/$line\n$1/mr);
	my $d = eval { Unit->new(dest => $other, fixture => $fixture, manager => manager("\@paddock-unit-$$-" . $n++)) };
	my $said = $@;
	if ($d) {
		waitpid $d->{pid}, 0;
		$said = read_file($d->{log});
		$d->end;
	}
	like($said, qr/not know|not known/, "a unit with $line is one that this test does not know");
	system('rm', '-rf', $other);
}

# ---- a start that serves nothing ----

{
	my $other = "$root/other";

	system('cp', '-r', $dest, $other) == 0 or die;
	my $unit = "$other/usr/lib/systemd/system/paddockd.service";
	write_file($unit, read_file($unit) =~ s/^(\[Install\])/RestrictSUIDSGID=yes\n$1/mr);
	local $dest = $other;
	my $d = start(config => "[server]\nlisten = 127.0.0.1:0\n");

	like($d->log_text, qr/serving=no why="no template could be loaded, so nothing is served: @{[glob_of()]} are broken"/,
	     'where no file of a template can be opened, the log says that nothing is served');
	my ($out, $status) = $d->ran('paddock', 'doctor');
	is($status, 125, 'doctor finds that nothing works');
	like($out, qr/missing +templates that can be loaded: .*forbidden by a seccomp filter around paddockd, such as RestrictSUIDSGID=/, 'doctor says why no template can be loaded') or diag($out);
	($out, $status) = $d->ran('paddock', 'status');
	like($out, qr/no template could be loaded/, 'status says that no template can be loaded') or diag($out);
	my ($url) = $d->log_text =~ m{url="http://([^/"]+)};
	my $to = IO::Socket::INET->new(PeerAddr => $url) or die "$url: $!\n";
	print $to "GET /readyz HTTP/1.1\r\nHost: $url\r\nConnection: close\r\n\r\n";
	like(join('', <$to>), qr{^HTTP/1.1 503 .*no template could be loaded}s, 'readyz says that no template can be loaded');
	is($d->end, 0, 'a unit without templates ends well');
	system('rm', '-rf', $other);
}

# ---- the start ----

my $grants = join '', map { "[grant \"$_\"]\nhosts = 127.0.0.1\n" } qw(batch_extract_pages multi_tab_compare login_keep_session);
my $config = "[server]\nlog_file = /var/log/paddock/paddockd.log\naudit_file = /var/log/paddock/audit.log\n$grants";
my $d = start(config => $config);
my $kept = "$d->{root}/kept";
my $log = read_file("$kept/var/log/paddock/paddockd.log") // '';
like($log, qr/isolation=full /, 'runs are caged in full') or diag($log, $d->log_text);
like($log, qr/programs=caged missing=""/, 'programs are caged in the unit');
my @shipped = map { s{.*/}{}r } glob "$TOP/etc/templates/*";
like($log, qr/ templates=@{[scalar @shipped]}$/m, 'each template that ships is served');
unlike($log . $d->log_text, qr/level=(?:warn|error)/, 'the log of the unit has no warning');
my $limits = read_file("/proc/$d->{pid}/limits");
like($limits, qr/^Max open files\s+4096\s+4096 /m, 'the descriptors of the daemon are those of the unit');

# ---- what ships ----

my $c = $d->client;
$c->init;
my %inputs = (batch_extract_pages => {urls => [$site->url('/article.html')]},
	      multi_tab_compare => {urls => [map { $site->url("/$_.html") } qw(article form)]}, login_keep_session => login($site));
for my $id (@shipped) {
	SKIP: {
		skip_lacking(1, 'Chromium') if $inputs{$id};
		skip_lacking(1, 'node') if $id =~ /^(?:run_node|text_digests)$/;
		my ($test) = grep { ($_->{expect}{status} // '') eq 'succeeded' } map { json_to(read_file($_)) } sort glob "$TOP/etc/templates/$id/tests/*.json";
		my $v = $c->run_sync($id, $inputs{$id} // $test->{inputs});

		is($v->{status}, 'succeeded', "$id runs") or diag(json_of($v));
	}
}
SKIP: {
	skip_lacking(2, 'Chromium');
	my $tab = $c->tool(create_tab => {url => $site->url('/article.html')})->{view};
	is($tab->{statusCode}, 200, 'the browser opens a page') or diag(json_of($tab));
	is($c->tool(navigate => {tabId => $tab->{tabId}, url => $site->url('/form.html')})->{view}{statusCode}, 200, 'the browser goes to a second page');
}

# ---- the operator's commands ----

my ($out, $status) = $d->ran('paddock', 'doctor');
is($status, 0, 'doctor finds that runs work') or diag($out);
SKIP: {
	skip_lacking(1, 'Chromium', 'node');
	like($out, qr/^all is well$/m, 'doctor finds that all is well') or diag($out);
}
($out, $status) = $d->ran('sh', '-c', 'TMPDIR=/run/paddock exec paddock selftest');
is($status, 0, 'selftest finds that the cage holds') or diag($out =~ s/^ok .*\n//mgr);

# ---- modes ----

my %modes;
File::Find::find({no_chdir => 1, wanted => sub {
	my ($mode, $uid) = (lstat $_)[2, 4];
	my $name = substr $_, length $kept;

	$modes{$name =~ s{(?<=/instances/)[^/]+|(?<=/artifacts/).+}{*}gr} = sprintf '%03o %s', $mode & 07777, $uid == 990 ? 'paddock' : $uid;
}}, "$kept/run", "$kept/var");
my %want = ('/run' => '755 0', '/run/paddock' => '755 0', '/run/paddock/paddock.sock' => '660 0', '/run/paddock/ids.lock' => '600 0', '/var' => '755 0', '/var/lib' => '755 0', '/var/log' => '755 0',
	'/var/lib/paddock' => '700 paddock', '/var/log/paddock' => '750 0',
	(map { ("/var/log/paddock/$_.log" => '640 paddock') } qw(paddockd audit)),
	(map { ("/var/lib/paddock/$_" => '600 paddock') } qw(paddock.db paddock.db-wal paddock.db-shm instances/* seal.key)),
	(map { ("/var/lib/paddock/$_" => '700 paddock') } qw(instances artifacts)));
for (sort keys %modes) {
	next if m{/artifacts/\*};
	is($modes{$_}, $want{$_} // 'none', "the mode of $_");
}
unlike(join(' ', %modes), qr/\b\d?\d[2367] /, 'nothing can be written to by others');

# ---- its life ----

$d->reload;
ok(until_true('a reload', sub { read_file("$kept/var/log/paddock/paddockd.log") =~ /reload=done/ }), 'HUP loads all of it again')
    or diag(read_file("$kept/var/log/paddock/paddockd.log") =~ s/.*ready=yes//sr, $d->last_log);
is($c->run_sync(word_count => {text => 'a b a'})->{status}, 'succeeded', 'programs run after the reload');
my $more = "$dest/etc/paddock/templates/words_again";
system('cp', '-r', "$TOP/etc/templates/word_count", $more) == 0 or die;
system('chmod', '-R', 'a+rX', $more);
write_file("$more/template.json", read_file("$more/template.json") =~ s/"word_count"/"words_again"/r);
rename "$kept/var/log/paddock/$_.log", "$kept/var/log/paddock/$_.1" for qw(paddockd audit);
$d->reload;
ok(until_true('a log', sub { (read_file("$kept/var/log/paddock/paddockd.log") // '') =~ /reload=done/ }), 'the reload opens rotated logs again');
is($c->run_sync(words_again => {text => 'a b a'})->{status}, 'succeeded', 'a template added to the folder is served')
    or diag(read_file("$kept/var/log/paddock/paddockd.log"));
my ($given, $rc) = $d->ran('paddock', 'run', 'run_python', '-i', 'code=print(open("in/group").read())', '-i', 'files.f=@@/etc/group');
like($given, qr/paddock:x:990/, 'a run is given an artifact') or diag($given);
unlike(read_file("$kept/var/log/paddock/paddockd.log") . $d->log_text, qr/level=(?:warn|error) (?!.*worker=none err="Resource temporarily unavailable")/,
       'the log of the unit warns at most of a late zygote');
$c->hang_up;
is($d->end, 0, 'TERM ends it') or diag($d->last_log);
$site->stop;
ok(strays_gone(), 'the unit leaves no process');

my $again = start(after => $d, config => $config);
my $old = $again->client;
$old->init;
is($old->run_sync(word_count => {text => 'a b a'})->{status}, 'succeeded', 'the unit starts again with the state and logs of before') or diag($again->last_log);
ok(@{$old->tool('list_task_runs')->{view}{runs}} > 10, 'the restarted unit knows the runs of before');
$old->hang_up;
is($again->end, 0, 'the restarted unit ends well');
like(read_file("$kept/var/log/paddock/paddockd.log"), qr/reload=done.*ready=yes.*ended=yes/s, 'the log goes on after the restart');

# ---- where text is not UTF-8 ----

my $latin = "$root/locale";
mkdir $latin;
my $made = system("localedef -f ISO-8859-1 -i de_DE $latin/de_DE.ISO-8859-1 >/dev/null 2>&1") == 0;
for my $locale ('C', 'POSIX', 'de_DE.ISO-8859-1') {
	my @env = (LC_ALL => $locale, LANG => $locale, $made ? (LOCPATH => $latin) : ());
	my $s = start(env => {@env});
	my $client = $s->client;

	$client->init;
	my $v = $client->run_sync(text_digests => {texts => ["a\x{e9}\x{1f600}"]});
	is($v->{result}{digests}[0]{bytes}, 7, "$locale: a text is the same bytes") if !defined lacks('node');
	$v = $client->run_sync(run_python => {code => "print('\x{fc}\x{4e2d}')\nopen('out/\x{fc}.txt', 'w').write('\x{4e2d}')"});
	is($v->{result}{stdout}, "\x{fc}\x{4e2d}\n", "$locale: a program prints any character") or diag(json_of($v));
	is($v->{artifacts}[0]{name}, "\x{fc}.txt", "$locale: and names a file by one") or diag(json_of($v));
	my ($said, $rc) = $s->ran('env', map({ my $i = $_; "$env[2 * $i]=$env[2 * $i + 1]" } 0 .. $#env / 2), 'paddock', 'run', 'run_python', '--no-artifacts',
		'-i', "code=print('\xc3\xbc\xe4\xb8\xad')");
	is($rc, 0, "$locale: so does the command") or diag($said);
	like($said, qr/\xc3\xbc\xe4\xb8\xad/, "$locale: in UTF-8") or diag($said);
	$client->hang_up;
	$s->end;
}
done_testing;
