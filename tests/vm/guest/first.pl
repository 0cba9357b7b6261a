# SPDX-License-Identifier: Apache-2.0
# first.pl - what the machine is; the unit as it ships, its doctor, its selftest,
# each template, limits, HUP, TERM, a crash; then a boot in mid-run.
use strict;
use warnings;
use lib '/root/guest';
use Guest;

note(said('uname', '-rv'), said('systemctl', '--version') =~ /^(.*)$/m, "\n", said('stat', '-fc', '%T', '/sys/fs/cgroup'));
note('core_pattern ', text_of('/proc/sys/kernel/core_pattern'));

# ---- the start ----

put('/etc/paddock/conf.d/check.conf', <<'END');
[server]
listen = 127.0.0.1:8080
templates = /etc/paddock/templates
	/usr/share/paddock/templates
[grant "batch_extract_pages"]
hosts = 127.0.0.1
[grant "multi_tab_compare"]
hosts = 127.0.0.1
[grant "login_keep_session"]
hosts = 127.0.0.1
END
system 'cp', '-r', (map { "/usr/share/paddock/selftest/selftest_$_" } qw(python sh sh_cpu)), '/etc/paddock/templates';
my ($out, $status) = ran('systemctl', 'enable', '--now', 'paddockd');
is($status, 0, 'the unit as it ships starts', $out, said('systemctl', 'status', '--no-pager', 'paddockd'));
is(said('systemctl', 'is-active', 'paddockd'), "active\n", 'and is active');
like(http('/readyz'), qr{^HTTP/1.1 200 }, 'readyz says that it is ready');
note(said('journalctl', '-u', 'paddockd', '-o', 'cat', '--no-pager'));
like(said('journalctl', '-u', 'paddockd', '-o', 'cat', '--no-pager'), qr/isolation=full .*cgroup=v2 missing=""/, 'runs have a full cage');
like(said('journalctl', '-u', 'paddockd', '-o', 'cat', '--no-pager'), qr/programs=caged missing="(?:landlock: [^";]*)?"/, 'and so have programs, but for what this kernel has not');

# ---- doctor ----

($out, $status) = ran('paddock', 'doctor');
is($status, 0, 'doctor finds that runs work');
like($out, qr/^all is well$/m, 'and that all is well', $out);
note($out);

# ---- what ships ----

my $pages = fork // die "fork: $!\n";
if ($pages == 0) {
	mkdir '/tmp/pages';
	chdir '/tmp/pages';
	put("$_.html", "<!doctype html><title>$_</title><main><h1>$_</h1><p>Some text about $_.</p></main>") for qw(one two);
	open STDOUT, '>', '/dev/null';
	open STDERR, '>', '/dev/null';
	exec qw(python3 -m http.server 8081 --bind 127.0.0.1) or die;
}
until_true('a server of pages', sub { IO::Socket::INET->new(PeerAddr => '127.0.0.1:8081') });
my ($one, $two) = map { "http://127.0.0.1:8081/$_.html" } qw(one two);
my $c = client() or ok(0, 'the socket takes a client') && die "no client\n";
my %inputs = (batch_extract_pages => {urls => [$one, $two]}, multi_tab_compare => {urls => [$one, $two]},
	      login_keep_session => undef); # the fixture of a login is the browser's own tests'
for my $dir (sort glob '/usr/share/paddock/templates/*') {
	my ($id) = $dir =~ m{([^/]+)$};
	next if exists $inputs{$id} && !$inputs{$id};
	my ($test) = grep { ($_->{expect}{status} // '') eq 'succeeded' } map { json_to(text_of($_)) } sort glob "$dir/tests/*.json";
	my $v = $c->run($id, $inputs{$id} // $test->{inputs});

	is($v->{status}, 'succeeded', "$id runs", json_of($v));
}
my $tab = $c->tool(create_tab => {url => $one});
is($tab->{statusCode}, 200, 'the browser opens a page', json_of($tab));
like(json_of($c->tool(navigate => {tabId => $tab->{tabId}, url => $two})), qr/"statusCode":200/, 'and goes to another');

# ---- limits, by cgroup v2 ----

my %limits = (
    memory => ['selftest_python', {try => 'memory'}, qr/"limit":"memory"/],
    CPU => ['selftest_sh_cpu', {try => 'spin'}, qr/"limit":"cpu"/],
    time => ['selftest_sh', {try => 'deaf'}, qr/RUN_TIMEOUT/, timeoutMs => 1000],
    output => ['selftest_sh', {try => 'output'}, qr/"limit":"output_bytes"/],
);
for my $what (sort keys %limits) {
	my ($id, $inputs, $want, %o) = @{$limits{$what}};

	like(json_of($c->run($id, $inputs, %o)->{error}), $want, "a program's $what is limited");
}
like($c->run('selftest_sh', {try => 'forks'}, timeoutMs => 3000)->{status}, qr/^(?:failed|succeeded)$/, 'a fork bomb ends');
is(json_of($c->run(run_python => {code => 'print(6*7)'})->{result}{stdout}), '"42\n"', 'and the next run is as any other');
my @groups = glob '/sys/fs/cgroup/system.slice/paddockd.service/run-*';
ok(@groups > 0, 'each had a group of its own', join ' ', @groups);

# ---- HUP ----

system 'cp', '-r', '/usr/share/paddock/templates/word_count', '/etc/paddock/templates/words_again';
put('/etc/paddock/templates/words_again/template.json',
    text_of('/usr/share/paddock/templates/word_count/template.json') =~ s/"word_count"/"words_again"/r);
is((ran('systemctl', 'reload', 'paddockd'))[1], 0, 'systemctl reload');
like(until_true('the new template', sub { my $v = $c->run(words_again => {text => 'a b a'}); $v->{status} && json_of($v) }),
     qr/"succeeded"/, 'a template that was put there is served');

($out, $status) = ran('paddock', 'run', 'run_python', '-i', 'code=print(open("in/group").read())', '-i', 'files.f=@@/etc/group');
like($out, qr/paddock:x:/, 'a run is given a file', $out);

# ---- a crash, where the system keeps cores ----

my $helpers = sub { scalar(() = said('journalctl', '-q', '--no-pager', '_COMM=systemd-coredum') =~ /\n/g) };
my $before = $helpers->();
like(json_of($c->run(selftest_sh => {try => 'crash'})), qr/SIGSEGV/, 'a program that crashes is told so');
system 'perl', '-e', 'kill SEGV => $$';
until_true('the core of a crash of ours', sub { $helpers->() > $before });
unlike(said('coredumpctl', '--no-pager', '--no-legend', 'list'), qr{/(?:da|ba)?sh\b}, 'and no core of it is kept');
unlike(said('journalctl', '-q', '--no-pager', '-t', 'systemd-coredump'), qr/Process \d+ \((?:sh|dash|bash)\)/, 'and nobody was started for it');

# ---- selftest ----

for my $who ([], ['runuser', '-u', 'ann', '--']) {
	my $name = @$who ? 'ann' : 'root';

	($out, $status) = ran(@$who, 'paddock', 'selftest');
	is($status, 0, "the selftest of a server that $name started holds", $out =~ s/^ok .*\n//mgr);
}

# ---- TERM under load ----

my @clients = map { client() } 1 .. 4;
my @asked = map { my $c = $_; [$c, map { $c->ask_run(run_python => {code => 'import time; time.sleep(1); print(1)'}) } 1 .. 4] } @clients;
until_true('runs', sub { said('paddock', 'ps', '--json') =~ /"running"/ });
my $stop = fork // die "fork: $!\n";
if ($stop == 0) { exec 'systemctl', 'restart', 'paddockd' or die }
my ($answers, $ends) = (0, '');
for (@asked) {
	my ($c, @ids) = @$_;

	for my $id (@ids) {
		my $v = $c->view($id);
		$answers++ if %$v;
		$ends .= ' ' . ($v->{status} // $v->{errorCode} // json_of($v));
	}
}
waitpid $stop, 0;
is($? >> 8, 0, 'a restart while 16 runs are wanted');
is($answers, 16, 'loses no answer', $ends);
note($ends);
is(said('systemctl', 'is-active', 'paddockd'), "active\n", 'and it is back');
unlike(said('journalctl', '-u', 'paddockd', '-o', 'cat', '--no-pager'), qr/Failed with result|killed/, 'having ended by itself');
like(http('/readyz'), qr{^HTTP/1.1 200 }, 'and ready');

# ---- what the system heard of all that ----

unlike(said('dmesg'), qr/overlayfs: /, 'the log of the kernel says nothing of overlays') or note(said('dmesg') =~ /^(.*overlayfs.*)$/mg);
unlike(said('systemctl', '--failed', '--no-legend'), qr/\S/, 'no unit has failed');
note(said('journalctl', '-u', 'paddockd', '-o', 'cat', '--no-pager') =~ /^(.*level=(?:warn|error).*\n)/mg);

# ---- the end of the machine, in mid-run ----

$c = client();
my $view = $c->run(run_python => {code => 'import time; time.sleep(280)', timeoutMs => 300000}, mode => 'async');
like($view->{runId}, qr/^run/, 'a run begins', json_of($view));
keep(run => $view->{runId});
until_true('it runs', sub { ($c->tool(get_task_run => {runId => $view->{runId}})->{status} // '') eq 'running' });
kill KILL => $pages;
next_boot('orderly');
1;
