#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Any program as a template: the program's inputs, messages, ends, and limits. The tests run
# as root, and as an ordinary user.
use lib 'tests/lib';
use Paddock;
use Http qw(sha256_hex);

my %templates = (
    # inputs
    given => sh(<<'SH'),
for i in 0 1 2 3 4 5 6 7 8 9 10 11 12; do [ -e /proc/$$/fd/$i ] && fds="$fds $i"; done
in=$(cat)
env | grep -v -e '^_=' -e '^SHLVL=' -e '^PWD=' -e '^OLDPWD=' | sort >&2
echo "{\"in\":$in,\"pwd\":\"$PWD\",\"uid\":\"$(id -u)\",\"fds\":\"$fds\",\"args\":\"$*\"}"
SH
    silent => sh('exit 0'),
    # dash never reaps, so the children are left to sleep(1)
    unreaped => sh('for i in 1 2 3 4 5 6 7 8; do sleep 0.1 & done; echo 1; exec sleep 1', limits => {maxOpenFiles => 16}),
    shout => sh('cat; echo " trailing"'),
    # messages
    says => sh(<<'SH'),
echo '{"progress":{"done":1,"total":4,"message":"a quarter"}}' >&3
echo '{"step":{"name":"one","state":"running"}}' >&3
echo '{"step":{"name":"one","state":"succeeded"}}' >&3
echo '{"step":{"name":"two","state":"skipped"}}' >&3
echo '{"log":{"level":"warning","message":"watch out \u00e9"}}' >&3
echo file >in.txt
echo '{"artifact":{"id":"x","path":"in.txt","mimeType":"text/plain"}}' >&3
read -r answer <&4
echo '{"artifact":{"name":"b","base64":"AAEC"}}' >&3
echo '{"artifact":{"name":"d","data":"\u0041\n"}}' >&3
echo "$answer"
SH
    reply => sh(q(echo '{"reply":{"content":[{"type":"text","text":"hi"}]}}' >&3)),
    reply_protocol => sh(q(echo '{"reply":{"error":{"code":17,"message":"no"}}}' >&3)),
    reply_reserved => sh(q(echo '{"reply":{"error":{"code":-32601,"message":"no"}}}' >&3)),
    asks => sh(<<'SH'),
echo '{"call":{"id":7,"tool":"no_such_tool","args":{"a":1}}}' >&3
read -r answer <&4
echo "$answer"
SH
    garbled => sh(qq(echo '{"progress":{"done":1}}' >&3\necho '{"progress":' >&3\nsleep 60)),
    levels => sh(qq(echo '{"log":{"level":"loud","message":"x"}}' >&3\nsleep 60)),
    unknown => sh(qq(echo '{"dance":{}}' >&3\nsleep 60)),
    # ends
    fails => sh("echo first >&2\necho the reason >&2\nexit 7"),
    crashes => sh('kill -SEGV $$'),
    missing => {program => "#!/no/such/interpreter\n"},
    crlf => {program => "#!/bin/sh\r\n"},
    silent => sh('exit 0', outputsSchema => {type => 'object'}),
    stubborn => sh(<<'SH', limits => {cancelGraceMs => 100}),
trap '' TERM
(trap '' TERM; setsid sh -c 'trap "" TERM; while :; do sleep 1; done') &
echo kept >out/kept
echo '{"artifact":{"path":"out/kept"}}' >&3
echo '{"progress":{"done":0,"total":1,"message":"deaf"}}' >&3
while :; do sleep 1; done
SH
    polite => sh(<<'SH'),
trap 'echo bye >out/bye; exit 0' TERM
echo '{"progress":{"done":0,"total":1,"message":"listening"}}' >&3
while :; do sleep 0.1; done
SH
    # a process in a session of its own, whose parent has exited, gets the signal, too
    family => sh(<<'SH'),
(setsid bash -c 'trap "echo bye >out/heard; exit" TERM; : >ready
	while :; do sleep 0.05; done' </dev/null >/dev/null 2>&1 3>&1 &)
trap 'until [ -s out/heard ]; do sleep 0.05; done; exit 0' TERM
until [ -e ready ]; do sleep 0.05; done
echo '{"progress":{"done":0,"total":1,"message":"listening"}}' >&3
while :; do sleep 0.05; done
SH
    # limits
    loud => sh('yes', limits => {maxOutputBytes => 100000}),
    grumbles => sh('yes 2>/dev/null | head -c 4000000 >&2; echo 1'),
    forks => sh('bomb() { bomb | bomb & }; bomb; for i in 1 2 3 4 5 6 7 8; do sleep 1; done; echo 1',
		limits => {maxProcesses => 20, maxTimeoutMs => 1000}),
    eats => pl('my @a; push @a, "x" x 1e6 for 1 .. 4000; print 1',
	       limits => {maxMemoryBytes => 64 << 20}),
    gives_up => sh('head -c 100000000 /dev/zero >out/big; exit 3', limits => {maxMemoryBytes => 32 << 20}),
    spins => sh('while :; do :; done', limits => {maxCpuMs => 300}),
    hides => sh('cp /bin/bash b; chmod 111 b; ./b -c "while :; do :; done"',
		limits => {maxCpuMs => 300}),
    fills => sh(<<'SH', limits => {maxMemoryBytes => 32 << 20}),
head -c 100000000 /dev/zero >big 2>&1; w=$?
head -c 100000000 /dev/zero >/tmp/big 2>/dev/null; t=$?
head -c 100000000 /dev/zero >/dev/shm/big 2>/dev/null; s=$?
rm -f /tmp/big
i=0; while [ $i -lt 6000 ] && : 2>/dev/null >/tmp/f$i; do i=$((i+1)); done 2>/dev/null
[ -n "$i" ] && echo "{\"full\":[$w,$t,$s],\"files\":$(ls /tmp | wc -l)}"
SH
    # out/
    leaves => sh(<<'SH'),
mkdir -p out/deep/er
echo plain >out/plain; echo deep >out/deep/er/file
ln -s /etc/hostname out/link; ln -s /proc/self/environ out/env; ln -s .. out/up
mkfifo out/fifo
cp /bin/true out/setid && chmod 4755 out/setid
mknod out/dev c 1 3 2>/dev/null
: >"out/$(printf 'odd\nname')"
: >"out/$(printf 'bad\377')"
echo null
SH
    outlink => sh('rmdir out; ln -s /etc out; echo 1'),
    # forbidden acts
    looks => sh(<<'SH'),
q() { if "$@" >/dev/null 2>&1; then echo true; else echo false; fi; }
echo "{\"pids\":\"$(cd /proc; echo [0-9]*)\",\"self\":$$,\
\"write_usr\":$(q touch /usr/x),\"write_root\":$(q touch /x),\
\"write_template\":$(q touch /template/x),\"shadow\":$(q test -e /etc/shadow),\
\"home\":$(q test -e /home),\"hidden\":\"$(ls /.paddock | tr '\n' ' ')\",\
\"others\":\"$(ls /template | tr '\n' ' ')\",\"net\":$(q perl -MSocket -e 'socket(S,AF_INET,SOCK_STREAM,0) or exit 1'),\
\"mknod\":$(q mknod n c 1 3),\"su\":$(q perl -e '$< = 0; exit($< != 0)'),\
\"host\":\"$(uname -n)\",\"exec\":$(cp /bin/true /tmp/true; q /tmp/true)}"
SH
    ptraces => pl('syscall(101, 0, 0, 0, 0); print 1'),
    unshares => sh('sh -c "unshare -U true"; echo 1'),
    mounts => pl('my @a = ("x", "/work", "tmpfs"); syscall(165, $a[0], $a[1], $a[2], 5, 0); print 1'),
    needs => {%{sh('echo 1')}, permissions => {readPaths => ['/etc/hostname']}},
);

sub sh {
	my ($code, %m) = @_;

	return {program => "#!/bin/bash\n$code\n", %m};
}

sub pl {
	my ($code, %m) = @_;

	return {program => "#!/usr/bin/perl\n$code\n", %m};
}

# The run's view at the end.
sub done {
	my ($s, $template, $inputs) = @_;

	return $s->run_sync($template, $inputs // {});
}

sub error_of { return $_[0]{error} // {} }

sub given {
	my ($s) = @_;
	my $v = done($s, given => {a => [1, "x\x{e9}"]});
	my $r = $v->{result};

	is_deeply($r->{in}, {a => [1, "x\x{e9}"]}, 'stdin has the inputs');
	is($r->{pwd}, '/work', 'a program begins in /work');
	is($r->{fds}, ' 0 1 2 3 4', 'five descriptors');
	my $text = $s->run_log($v->{runId});
	like($text, qr/HOME=\/work\n.*LANG=C\.UTF-8\n.*PADDOCK_RUN_ID=$v->{runId}\n.*PADDOCK_TEMPLATE_DIR=\/template\n.*PATH=\/usr\/local\/bin:\/usr\/bin:\/bin:\/paddock\/bin\n.*PYTHONPATH=\/paddock\/python\n.*TMPDIR=\/tmp\n/,
	     'stderr is the log; seven variables');
	is(() = $text =~ /=/g, 7, 'a program has seven variables of environment');
	is(done($s, 'silent')->{result}, undef, 'no output is null');
	is(done($s, 'unreaped')->{result}, 1, 'what has ended and is not reaped has no file open');
	is(error_of(done($s, 'shout'))->{errorCode}, 'OUTPUT_INVALID',
	   'what is not JSON is the program\'s fault');
}

sub said {
	my ($s) = @_;
	my $v = done($s, 'says');

	is($v->{status}, 'succeeded', 'a program that says everything');
	is($v->{message}, 'a quarter', 'a program\'s progress');
	is_deeply([map { "$_->{name} $_->{status}" } @{$v->{steps}}],
		  ['one succeeded', 'two skipped'], 'a program\'s steps');
	is_deeply([map { "$_->{name} $_->{size} $_->{mimeType}" } @{$v->{artifacts}}],
		  ['in.txt 5 text/plain', 'b 3 application/octet-stream',
		   'd 2 application/octet-stream'], 'a program\'s artifacts');
	is_deeply($v->{result}, {id => 'x', ok => true,
				 value => $v->{artifacts}[0]{artifactId}},
		  'a program is told of artifacts on descriptor 4');
	like($s->run_log($v->{runId}), qr/warning watch out \xc3\xa9/, 'a program\'s log');
	is(done($s, 'reply')->{result}{content}[0]{text}, 'hi', 'a reply is passed on');
	$v = $s->call('tools/call', {name => 'reply_protocol', arguments => {}});
	is($v->{error}{code}, 17, 'a reply that is an error of JSON-RPC is passed on');
	is(error_of(done($s, 'reply_reserved'))->{errorCode}, 'OUTPUT_INVALID',
	   'a reply with a reserved code is refused');
	$v = done($s, 'asks')->{result};
	is($v->{id}, 7, 'an answer bears the question\'s id');
	ok(!$v->{ok} && $v->{error}{code}, 'a refused question says why');
	like(error_of(done($s, 'garbled'))->{message},
	     qr/^line 2 of descriptor 3 is not JSON/, 'a garbled line is named');
	like(error_of(done($s, 'levels'))->{message}, qr/a log's level is emergency, alert/, 'a log of an unknown level is refused');
	like(error_of(done($s, 'unknown'))->{message},
	     qr/^line 1 of descriptor 3: there is no such message/, 'an unknown message is named with the line');
}

sub ends {
	my ($s) = @_;
	my $e = error_of(done($s, 'fails'));

	is($e->{errorCode}, 'EXECUTION_ERROR', 'a status is an error');
	is($e->{message}, 'the program exited with status 7: the reason', 'the error of an exit has the last line of stderr');
	is($e->{details}{exitCode}, 7, 'the error of an exit has the exit status');
	is($e->{details}{stderr}, "first\nthe reason\n", 'the error of an exit has the last lines of stderr');
	$e = error_of(done($s, 'crashes'));
	is($e->{errorCode}, 'WORKER_CRASHED', 'a signal is a crash');
	is($e->{details}{signal}, 'SIGSEGV', 'the error of a crash names the signal');
	$e = error_of(done($s, 'missing'));
	is($e->{message}, 'main could not be started: /no/such/interpreter, of its #! line, is not there', 'an interpreter that is missing is named');
	is($e->{recoverHint}, "the server's operator can install that, or the template's author name another one", 'the hint of a missing interpreter is to install one');
	is(error_of(done($s, 'crlf'))->{message}, 'main could not be started: /bin/sh?, of its #! line, is not there (the line ends with CR LF)', 'an interpreter line that ends with CR LF is named');
	is(error_of(done($s, 'silent'))->{message}, 'the program wrote nothing to stdout, or null, where its outputsSchema promises an object', 'no output where one was promised is said to be none');

	my $run = $s->run_async('stubborn');
	$s->saying($run, 'deaf');
	$s->tool(cancel_task_run => {runId => $run});
	my $v = $s->ended($run);
	is($v->{status}, 'canceled', 'a tree that ignores SIGTERM ends all the same');
	is(scalar @{$v->{artifacts}}, 1, 'the artifact of a cancelled program is kept');
	$run = $s->run_async('polite');
	$s->saying($run, 'listening');
	$s->tool(cancel_task_run => {runId => $run});
	$v = $s->ended($run);
	is($v->{status}, 'canceled', 'one that hears it too');
	is($v->{artifacts}[0]{name}, 'bye', 'a cancelled program can leave an artifact');
	$run = $s->run_async('family');
	$s->saying($run, 'listening');
	$s->tool(cancel_task_run => {runId => $run});
	$v = $s->ended($run);
	is($v->{artifacts}[0]{name}, 'heard', 'all that it has started hears it');
}

sub limits {
	my ($s) = @_;
	my ($e, $v);

	$e = error_of(done($s, 'loud'));
	is("$e->{errorCode} $e->{details}{limit}", 'RESOURCE_LIMIT output_bytes',
	   'output is bounded');
	$v = done($s, 'grumbles');
	is($v->{result}, 1, 'a flood on stderr is read…');
	like($s->run_log($v->{runId}), qr/^\S+ info y$/m, 'a flood on stderr is logged');
	$v = done($s, 'forks');
	$e = error_of($v);
	ok($v->{status} eq 'succeeded' || $e->{errorCode} =~ /^(?:RESOURCE_LIMIT|RUN_TIMEOUT|EXECUTION_ERROR)$/,
	   'a fork bomb stays within its run') or diag(json_of($v));
	ok(strays_gone(), 'no process of a fork bomb is left');
	$e = error_of(done($s, 'eats'));
	ok($e->{errorCode} eq 'EXECUTION_ERROR' ||
	   "$e->{errorCode} $e->{details}{limit}" eq 'RESOURCE_LIMIT memory',
	   'memory is bounded') or diag(json_of($e));
	$e = error_of(done($s, 'gives_up'));
	is("$e->{errorCode} $e->{details}{limit} $e->{details}{room} $e->{details}{exitCode}", 'RESOURCE_LIMIT memory /work 3',
	   'a program that ends since its /work is full is told of, with the limit') or diag(json_of($e));
	$e = error_of(done($s, 'spins'));
	is("$e->{errorCode} $e->{details}{limit}", 'RESOURCE_LIMIT cpu', 'CPU time is bounded');
	$v = done($s, 'hides');
	is("$v->{error}{errorCode} $v->{error}{details}{limit}", 'RESOURCE_LIMIT cpu',
	   'CPU time of a hidden process is bounded');
	$v = done($s, 'fills')->{result};
	is_deeply($v->{full}, [1, 1, 1], 'what is written is bounded');
	cmp_ok($v->{files}, '<', 5000, 'the number of files is bounded');
}

sub out {
	my ($s) = @_;
	my $v = done($s, 'leaves');

	is_deeply([sort map { $_->{name} } @{$v->{artifacts}}],
		  ['deep/er/file', 'plain'],
		  'plain files in out/ are artifacts; no link, FIFO, device, set-id');
	like($s->run_log($v->{runId}), qr/out\/setid is no artifact: it is set-id/, 'the log says why a file is no artifact');
	same_json({map { $_->{name} => $_->{message} } grep { $_->{name} ne 'dev' } @{$v->{missingArtifacts}}},
		  {(map { $_ => 'it is not a plain file' } qw(env fifo link up)), setid => 'it is set-id',
		   map { $_ => 'an artifact\'s name is 1 to 256 bytes of UTF-8 without control characters' }
		   "bad\x{fffd}", 'odd?name'}, 'the view says why a file is no artifact');
	is("$v->{status} $v->{error}{details}{missing}", 'failed 3',
	   'a run with files that are no artifacts fails for three of these');
	is_deeply(done($s, 'outlink')->{artifacts}, [], 'out/ itself may not lead elsewhere');
}

sub cage {
	my ($s) = @_;
	my $r = done($s, 'looks')->{result};

	is_deeply([grep { $_ != $r->{self} } grep { $_ > 1 } split ' ', $r->{pids}],
		  [grep { $_ > $r->{self} } split ' ', $r->{pids}],
		  '/proc shows its own processes');
	unlike($r->{pids}, qr/(?:^| )1(?: |$)/, '/proc does not show the shim');
	ok(!$r->{$_}, "no $_") for qw(write_usr write_root write_template shadow
				      home net mknod su exec);
	is($r->{hidden}, 'group passwd ', 'no other package is to be seen');
	is($r->{others}, 'main template.json ', 'a program sees the files of the own package');
	is($r->{host}, 'paddock', 'the host has another name');
	my $e = error_of(done($s, 'ptraces'));
	is($e->{errorCode}, 'SANDBOX_VIOLATION', 'ptrace is a violation');
	is_deeply([@{$e->{details}}{qw(syscall arch)}], [qw(ptrace x86_64)], 'the violation names the system call');
	is(scalar @{$e->{details}{args}}, 6, 'the violation has the six arguments');
	is_deeply($e->{details}{process}, {pid => 2, comm => 'main'}, 'the violation names the process');
	$e = error_of(done($s, 'unshares'));
	is("$e->{details}{syscall} $e->{details}{process}{comm}", 'unshare unshare',
	   'a grandchild\'s violation names the system call');
	is(error_of(done($s, 'mounts'))->{details}{syscall}, 'mount', 'mount is a violation');
}

sub permissions {
	my ($s) = @_;
	my $r = $s->run('needs', {}, mode => 'sync');

	ok($r->{isError}, 'a path that is not allowed');
	like(json_of($r), qr/asks to read \/etc\/hostname, which is not granted; the operator can grant it, by read_paths = \/etc\/hostname in \[grant/,
	     'the refusal of a path says which grant would help');
}

for (users()) {
	my ($who, $user) = @$_;

	subtest $who => sub {
		my $s = Paddock->new(templates => \%templates, user => $user)->greeted;

		subtest 'given' => \&given, $s;
		subtest 'said' => \&said, $s;
		subtest 'ends' => \&ends, $s;
		subtest 'limits' => \&limits, $s;
		subtest 'out' => \&out, $s;
		subtest 'cage' => \&cage, $s;
		subtest 'permissions' => \&permissions, $s;
		$s->stop;
	};
}

# An artifact refused by the server does not count against the run's limit.
{
	my $s = Http->new(templates => {twice => sh(<<'SH', limits => {maxArtifactBytes => 1000})}, config => "[requestor \"ada\"]\ntoken_sha256 = " . sha256_hex('a') . "\nartifact_bytes = 600\n");
for size in 900 500; do
	echo "{\"artifact\":{\"id\":$size,\"name\":\"a\",\"data\":\"$(printf "%${size}s" '')\"}}" >&3
	read -r answer <&4
	all="$all${all:+,}$answer"
done
echo "[$all]"
SH
	my $ada = $s->client;

	$ada->{token} = 'a';
	my $v = $ada->greeted->run_sync('twice');
	my ($no, $yes) = @{$v->{result} // []};

	like(json_of($no), qr/over what you may have stored/, 'an artifact that its requestor has no room for is refused') or diag(json_of($v));
	unlike(json_of($yes), qr/error/, 'the next artifact is kept beside the refused one') or diag(json_of($v));
	is_deeply([map { $_->{size} } @{$v->{artifacts}}], [500], 'the kept artifact is the only one');
	$s->stop;
}
done_testing();
