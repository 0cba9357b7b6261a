#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The programs which run: the package is unchanged since loading, reads what the operator
# allows, and the machine can cage programs.
use lib 'tests/lib';
use Paddock;

my $room = Paddock::fresh_root();
my %templates = (
    says => {program => "#!/bin/sh\necho 1\n"},
    lua => lua('return 1'),
    reads => {program => "#!/bin/sh\nread -r x <$room/allowed/file; read -r y <$room/allowed/one\necho \"[\\\"\$x\\\",\\\"\$y\\\",\$(ls $room | wc -l)]\"\n",
	      permissions => {readPaths => ["$room/allowed"]}},
    begs => {program => "#!/bin/sh\necho 1\n",
	     permissions => {readPaths => ["$room/allowed/file", "$room/other"]}},
);

write_file("$room/allowed/file", "secret\n");
write_file("$room/allowed/one", "more\n");
write_file("$room/other", "not for you\n");
write_file("$room/third", "private\n");

# ---- what may be read ----

my $s = Paddock->new(templates => \%templates, config => "[sandbox]\nread_paths = $room/allowed\n");
my $main = "$s->{root}/templates/says-1.0.0/main";

$s->init;
is_deeply($s->tool('get_runtime_profile')->{view}{programs}, {available => true},
	  'programs are caged here');
is_deeply($s->run_sync('reads')->{result}, ['secret', 'more', 1],
	  'a folder that is allowed is read, and nothing beside it');
my $r = $s->run('begs');
ok($r->{isError}, 'what is not allowed is refused');
is($r->{view}{errorCode}, 'PERMISSION_NOT_ALLOWED', 'the refusal of a path is PERMISSION_NOT_ALLOWED');
like($r->{view}{error}, qr{asks to read $room/other, .*read_paths = $room/other in \[grant "begs"\]},
     'the refusal of a path says which grant would help');

# ---- what is changed ----

is($s->run_sync('says')->{result}, 1, 'a program runs');
utime(1, 1, $main);
is($s->run_sync('says')->{result}, 1, 'a program that was only touched runs');
write_file($main, "#!/bin/sh\necho 2\n");
$r = $s->run_sync('says');
is($r->{error}{errorCode}, 'EXECUTION_ERROR', 'one that was changed does not');
is($r->{error}{recoverHint}, 'the operator has templates reloaded (paddock reload, or SIGHUP)', 'the hint says who mends that');
like($r->{error}{message}, qr/says 1\.0\.0 was changed after it was loaded, .*\(paddock reload, or SIGHUP\)\z/,
     'the error of a changed program says so');
is($s->run_sync('lua')->{result}, 1, 'others do');
chmod 0755, $main;
kill HUP => $s->{pid};
ok($s->log_has(qr/reload=done/), 'the changed program is loaded anew');
is($s->run_sync('says')->{result}, 2, 'the reloaded program runs');
rename "$s->{root}/templates/says-1.0.0", "$s->{root}/elsewhere";
is($s->run_sync('says')->{error}{errorCode}, 'EXECUTION_ERROR', 'one that is gone does not');
rename "$s->{root}/elsewhere", "$s->{root}/templates/says-1.0.0";
is($s->run_sync('says')->{result}, 2, 'a program that is back runs');
$s->stop;

# ---- what is large ----

$s = Paddock->new(templates => {large => {program => "#!/bin/sh\necho 1\n"}, lua => $templates{lua}},
		  config => "[limits]\nmax_concurrent_runs = 1\n");
my $large = "$s->{root}/templates/large-1.0.0";
write_file("$large/part/$_", '') for 1 .. 400;
write_file("$large/data", 'x' x (5 << 20));
$s->init;
kill HUP => $s->{pid};
ok($s->log_has(qr/reload=done/), 'a package is loaded');
is($s->run_sync('large')->{result}, 1, 'a program of many bytes and files runs');
for my $n (1 .. 5) {
	$s->tool(cancel_task_run => {runId => $s->run_async('large')});
}
is($s->run_sync('lua')->{result}, 1, 'who cancels one leaves no place taken, whenever that is');
utime(1, 1, "$large/data");
like($s->run_sync('large')->{error}{message}, qr/^large 1\.0\.0 was changed after it was loaded, .*SIGHUP/,
     'a large package with a touched file does not run');
$s->stop;

# ---- a machine that gives no namespaces ----

my $deny = "$room/deny";

SKIP: {
	skip_lacking(6, 'compiler');
	compile('lib/deny.c', $deny, '-lseccomp');
	$s = Paddock->new(templates => {says => $templates{says}, lua => $templates{lua}},
			  wrap => [$deny, 'userns', '--']);
	$s->init;
	$r = $s->run('says');
	ok($r->{isError}, 'without user namespaces no program runs');
	is($r->{view}{errorCode}, 'ISOLATION_TOO_WEAK', 'the refusal without user namespaces is ISOLATION_TOO_WEAK');
	like($r->{view}{error}, qr/userns: E\w+ \(allow user namespaces/, 'the refusal without user namespaces says what to do');
	is($s->run_sync('lua')->{result}, 1, 'Lua runs all the same');
	my ($says) = grep { $_->{templateId} eq 'says' }
	    @{$s->tool('list_task_templates')->{view}{templates}};
	ok(!$says->{available} && $says->{unavailableReason} =~ /userns/, 'the list says so');
	ok(!$s->tool('get_runtime_profile')->{view}{programs}{available}, 'the profile says that programs are not available');
	$s->stop;
}

# ---- what an operator may let be missing ----

my $tries = {program => <<'SH'};
#!/bin/bash
t() { if "$@" >/dev/null 2>&1; then echo -n "$*; "; fi; }
did=$(t touch /usr/x; t touch /x; t test -e /home; t cat /etc/shadow; t kill -0 1; t mknod n c 1 3)
echo "{\"did\":\"$did\",\"uid\":$(id -u),\"pids\":\"$(cd /proc; echo [0-9]*)\"}"
SH

sub weak {
	my ($what, %o) = @_;

	return Paddock->new(templates => {says => $templates{says}, tries => $tries},
			    config => "[sandbox]\nallow_weak_programs = yes\n",
			    wrap => [$deny, split(' ', $what), '--'], %o);
}

SKIP: {
	skip_lacking(9, 'root', 'compiler');
	my $s = weak('userns')->greeted;

	ok($s->log_has(qr/level=warn part=server programs=weak missing="userns: E/),
	   'an operator may let the user namespace be missing: the log warns');
	my $v = $s->run_sync('tries');
	is($v->{result}{did}, '', 'a program without user namespaces is caged in all else') or diag(json_of($v));
	cmp_ok($v->{result}{uid}, '>', 60000, 'a program without user namespaces has a uid of its own');
	unlike($v->{result}{pids}, qr/\b1\b/, 'a program without user namespaces sees no other process');
	like($v->{isolation}{weakProgram}, qr/^userns: E/, 'the view of a run says that the program is weakly caged');
	my $p = $s->tool('get_runtime_profile')->{view}{programs};
	ok($p->{available}, 'the profile has them');
	like($p->{weak}, qr/^userns: E/, 'the profile says that programs are weakly caged');
	$s->stop;
	$s = weak('userns', config => "[limits]\n");
	$s->init;
	like($s->run('says')->{view}{error}, qr/^programs cannot.*allow user namespaces.*the operator can let programs do without: allow_weak_programs = yes in \[sandbox\]/,
	     'unasked none runs so, and who can change that is told');
	$s->stop;
	$s = weak('namespaces');
	$s->init;
	$r = $s->run('says');
	is($r->{view}{errorCode}, 'ISOLATION_TOO_WEAK', 'without any namespace they are refused all the same');
	$s->stop;
	$s = weak('userns', user => 65534);
	$s->init;
	$r = $s->run('says');
	is($r->{view}{errorCode}, 'ISOLATION_TOO_WEAK', 'the refusal for an ordinary user is ISOLATION_TOO_WEAK');
	$s->stop;
}
done_testing();
