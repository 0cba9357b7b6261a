#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Programs that turn against the shim, the pipes and the tree of a run: a program can
# spoil the program's own run, and no more. As root, and as an ordinary user.
use lib 'tests/lib';
use Paddock;

my $said = '{"progress":{"done":0,"total":1,"message":"here"}}';
my %templates = (
    lua => lua('return 1'),
    # signals to its shim
    forges => pl('$r{$_} = kill($_ => 1) for qw(TERM XCPU SYS CHLD STOP KILL);
	select undef, undef, undef, 0.4; print 1'),
    xcpu => pl('kill XCPU => $$; sleep 9'),
    # pipes
    daemon => pl('if (!fork) { require POSIX; POSIX::setsid(); exit if fork; sleep 1 while 1 }
	print 1'),
    deaf => pl('open F, ">&=3"; $| = 1;
	for (1 .. 64) { syswrite F, qq({"call":{"id":$_,"tool":"none","args":{}}}\n) }
	print 1'),
    greedy => pl('open F, ">&=3"; $| = 1;
	for (1 .. 70) { syswrite F, qq({"elicit":{"id":$_,"message":"m","requestedSchema":
	    {"type":"object","properties":{"a":{"type":"string"}}}}}) =~ s/\n//r . "\n" }
	sleep 9'),
    closes => pl('require POSIX; POSIX::close($_) for 0 .. 9; exit 0'),
    long => pl('open F, ">&=3"; my $x = "x" x 65536; print F $x for 1 .. 100; sleep 9'),
    dribbles => pl('open F, ">&=3"; syswrite F, q({"log":{"message":");
	syswrite F, "x" for 1 .. 100000; syswrite F, qq("}}\n); print 1'),
    nul => pl('print "\0"'),
    odd_id => pl('open F, ">&=3"; syswrite F, q({"artifact":{"id":["x"],"name":"a","data":""}}) . "\n"; sleep 9'),
    # calls with errors
    calls => pl('my ($o, %e) = "";
	ioctl(STDIN, 0x5412, $o) // ($e{sti} = $! + 0);
	ioctl(STDIN, 0x541E, $o) // ($e{odd} = $! + 0);
	fcntl(STDIN, 8, 1) // ($e{own} = $! + 0);
	$e{tty} = -t STDIN ? 1 : 0;
	syscall(157, 4, 1, 0, 0, 0) >= 0 or $e{dump} = $! + 0;
	print "{", join(",", map { qq("$_":$e{$_}) } sort keys %e), "}"'),
    handles => pl('syscall(304, 3, 0, 0); print 1'),
    # out/
    types => pl('for (qw(a.csv b.PNG c.tar.gz d .json e.)) { open F, ">", "out/$_"; close F }
	open F, ">&=3"; syswrite F, q({"artifact":{"name":"x.html","data":""}}) . "\n"; print 1'),
    closed => pl('mkdir "out/in"; open F, ">", "out/in/x"; chmod 0, "out/in"; print 1'),
    names => pl('for ("new\nline", "\xff\xfe", "\e[31m", "sp ace", "-rf", "..x") { open F, ">", "out/$_" } print 1'),
    sparse => pl('open F, ">", "out/big"; truncate F, 1 << 20; close F; open F, ">", "out/more"; truncate F, 1 << 20; print 1',
		 limits => {maxArtifactBytes => 3 << 19}),
    hoard => pl('for (1 .. 300) { open F, ">", "out/$_" } print 1', limits => {maxArtifacts => 3}),
    crowd => pl('mkdir "out/$_" for 1 .. 10100; print 1'),
    linked => pl('mkdir "x"; open F, ">", "x/a"; rmdir "out"; symlink "x", "out"; print 1'),
    fifo => pl('require POSIX; rmdir("out"), POSIX::mkfifo("out", 0600); print 1'),
    shut => pl('open F, ">", "out/a"; chmod 0, "out"; print 1'),
    survivor => pl('pipe R, W; if (!fork) { require POSIX; POSIX::setsid(); exit if fork; close $_ for *STDOUT, *STDERR, R;
	for (1 .. 50) { open F, ">", "out/$_"; close F } close W;
	while (1) { for (1 .. 50) { rename "out/$_", "out/x$_" } for (1 .. 50) { rename "out/x$_", "out/$_" } } }
	close W; <R>; print 1'),
    deep => pl('my $p = "out"; mkdir $p; for (1 .. 18) { $p .= "/d"; mkdir $p } print 1'),
    # lines for minutes of the shim, and memory meanwhile
    floods => pl('fcntl(STDERR, 4, 2048); syswrite STDERR, "a\n" for 1 .. 400;
	syswrite STDERR, "a\n" x 32000; select undef, undef, undef, 0.5;
	for (1 .. 3) { next if fork; my $x = "x" x (100 << 20); sleep 600; exit } 1 while wait > 0',
		 limits => {maxMessagesPerSecond => 100, maxMemoryBytes => 64 << 20, maxTimeoutMs => 60000}),
    # questions
    elicits => pl('open F, ">&=3"; open A, "<&=4";
	syswrite F, q({"elicit":{"id":"q1","message":"Your name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}}) . "\n";
	print scalar <A>'),
    samples => pl('open F, ">&=3"; open A, "<&=4";
	syswrite F, q({"sample":{"id":2,"messages":[{"role":"user","content":{"type":"text","text":"hi"}}],"maxTokens":9}}) . "\n";
	print scalar <A>'),
);

sub pl {
	my ($code, %m) = @_;

	return {program => "#!/usr/bin/perl\n$code\n", %m};
}

sub error_of { return $_[0]{error} // {} }

sub signals {
	my ($s) = @_;
	my $v = $s->run_sync('forges');

	is($v->{status}, 'succeeded', 'signals to its shim change nothing') or diag(json_of($v));
	my $e = error_of($s->run_sync('xcpu'));
	is($e->{errorCode}, 'WORKER_CRASHED', 'a SIGXCPU of its own is no CPU limit');
}

sub pipes {
	my ($s) = @_;

	is($s->run_sync('daemon')->{result}, 1, 'a daemon that keeps its pipes ends with it');
	is($s->run_sync('deaf')->{result}, 1, 'answers may stay unread');
	like(error_of($s->run_sync('greedy'))->{message},
	     qr/more than 64 questions wait/, 'questions are counted');
	my $v = $s->run_sync('closes');
	is($v->{status}, 'succeeded', 'all descriptors closed: no output');
	is($v->{result}, undef, 'the result of a program without descriptors is null');
	like(error_of($s->run_sync('long'))->{message},
	     qr/^line 1 of descriptor 3 is over 4194304 bytes/, 'a line is bounded');
	is($s->run_sync('dribbles')->{result}, 1, 'one that comes by the byte is read');
	is(error_of($s->run_sync('nul'))->{errorCode}, 'OUTPUT_INVALID', 'a NUL is no output');
	like(error_of($s->run_sync('odd_id'))->{message},
	     qr/an artifact's id is a string or a number/, 'an artifact\'s id of another type is refused');
	ok(strays_gone(), 'nothing is left');
}

sub calls {
	my ($s) = @_;

	is_deeply($s->run_sync('calls')->{result},
		  {sti => 1, odd => 25, own => 1, tty => 0, dump => 1},
		  'commands that are not allowed fail as others do');
	my %before = map { $_ => 1 } $s->zygotes;

	is(error_of($s->run_sync('handles'))->{details}{syscall}, 'open_by_handle_at',
	   'files by handle are a violation');
	my @now;
	ok(until_true('another zygote', sub {
		@now = $s->zygotes;
		@now == keys %before && grep { !$before{$_} } @now }),
	   'after which programs come from another zygote, with other addresses');
	is(scalar(grep { $before{$_} } @now), keys(%before) - 1, 'the zygotes of Lua are the same');

	my @all = map { $s->run_async('first') } 1 .. 60;
	is(scalar(grep { (error_of($s->ended($_))->{details}{syscall} // '') eq 'open_by_handle_at' } @all), @all,
	   'a violation before the start of the program is a violation');
}

sub out {
	my ($s) = @_;
	my $v = $s->run_sync('types');

	is_deeply({map { $_->{name} => $_->{mimeType} } @{$v->{artifacts}}},
		  {'a.csv' => 'text/csv', 'b.PNG' => 'image/png', 'c.tar.gz' => 'application/gzip',
		   d => 'application/octet-stream', '.json' => 'application/json',
		   'e.' => 'application/octet-stream', 'x.html' => 'text/html'},
		  'a file\'s type is guessed by its name');
	$v = $s->run_sync('names');
	is_deeply([sort map { $_->{name} } @{$v->{artifacts}}], ['-rf', '..x', 'sp ace'],
		  'of odd names those that can be shown are kept');
	is(scalar(() = log_of($s, $v) =~ /an artifact's name is 1 to 256 bytes of UTF-8 without control/g), 3,
	   'names that cannot be shown are told in the log');
	unlike(log_of($s, $v), qr/^line|\e/m, 'where no name begins a line');
	same_json([map { $_->{name} } @{$v->{missingArtifacts}}], ["?[31m", 'new?line', "\x{fffd}\x{fffd}"],
		  'names that cannot be shown are cleaned in the view');
	is("$v->{status} $v->{error}{errorCode}", 'failed EXECUTION_ERROR', 'names that cannot be shown fail the run');
	$v = $s->run_sync('sparse');
	is_deeply([map { $_->{size} } @{$v->{artifacts}}], [1 << 20], 'holes are bytes, too');
	like(log_of($s, $v), qr/it has 1048576 bytes, and of the 1572864 .* 524288 are left; who can raise that is/,
	     'bytes of several files are counted together');
	$v = $s->run_sync('hoard');
	is(join(' ', map { $_->{name} } @{$v->{artifacts}}), '1 10 100', 'no more than so many are kept, in the order of their names');
	is("$v->{status} $v->{error}{errorCode} $v->{error}{details}{missing}", 'failed RESOURCE_LIMIT 297', 'a run with too many files fails');
	is(@{$v->{missingArtifacts}}, 50, 'of which so many are listed,');
	is($v->{missingArtifacts}[49]{count}, 248, 'the last missing artifact counts the rest');
	is(scalar(() = log_of($s, $v) =~ /would have more artifacts than it may: 4, of 3 allowed/g), 100,
	   'a hundred times that is told');
	like(log_of($s, $v), qr/too many files of out\/ are no artifacts; the rest is dropped/, 'the log says that the rest is dropped');
	$v = $s->run_sync('crowd');
	like(log_of($s, $v), qr/out\/ has more than 10000 files and folders/, 'a crowded out/ is read up to 10000 entries');
	is($v->{error}{message}, 'of what the program left in out/, (the rest) was not kept: out/ has more than 10000 files and folders; ' .
	   'the rest is dropped', 'the error of a crowded out/ is the cause');
	for (qw(linked fifo shut)) {
		$v = $s->run_sync($_);
		like(log_of($s, $v), qr/out is no folder that can be opened/, "out is no folder: $_");
		is($v->{error}{message}, 'of what the program left in out/, (all of it) was not kept: out is no folder that can be opened, ' .
		   'so nothing in it is an artifact', "a run whose out is no folder fails: $_");
	}
	$v = $s->run_sync('survivor');
	ok($v->{status} eq 'succeeded' && @{$v->{artifacts}} == 50 && log_of($s, $v) !~ /is no artifact/,
	   'who survives its program changes out/ no more while it is read')
	    or diag(json_of($v), log_of($s, $v));
	like(log_of($s, $s->run_sync('closed')), qr{out/in is no artifact: it cannot be opened},
	     'a folder that cannot be opened is told of');
	like(log_of($s, $s->run_sync('deep')), qr{out/d/.* is no artifact: it lies too deep},
	     'a folder too deep below out/ is told');
}

sub asks {
	my ($s) = @_;
	my $id = $s->ask(elicits => {});
	my $m = $s->told('elicitation/create');

	is($m->{params}{message}, 'Your name?', 'a program asks the user');
	$s->reply($m, {action => 'accept', content => {name => 'Ada'}});
	is_deeply($s->result($id)->{view},
		  {id => 'q1', ok => true, value => {action => 'accept', content => {name => 'Ada'}}},
		  'a program gets the user\'s answer');
	$id = $s->ask(samples => {});
	$m = $s->told('sampling/createMessage');
	is($m->{params}{maxTokens}, 9, 'a program asks the model');
	$s->reply($m, {role => 'assistant', model => 'm', content => {type => 'text', text => 'ho'}});
	is($s->result($id)->{view}{value}{content}{text}, 'ho', 'a program gets the model\'s answer');
}

# A requestor sets the time of a run; all requestors share the zygote.
sub hurries {
	my ($s) = @_;
	my @zygotes = $s->zygotes;

	$s->result($_) for map { $s->ask_run(closes => {}, mode => 'async', timeoutMs => 1) } 1 .. 30;
	until_true('they have ended', sub {
		!grep { @{$s->tool(list_task_runs => {status => $_})->{view}{runs}} } qw(queued running) });
	is_deeply([$s->zygotes], \@zygotes, 'runs of a millisecond end no zygote');
}

# The shim looks at limits while messages wait for their turn.
sub floods {
	my ($s) = @_;
	my $e = error_of($s->run_sync('floods'));

	is("$e->{errorCode} $e->{details}{limit}", 'RESOURCE_LIMIT memory', 'a program that floods its shim with lines is held to its memory');
}

sub log_of {
	my ($s, $v) = @_;
	my $r = $s->call('resources/read', {uri => "paddock://runs/$v->{runId}/log"});

	return join '', map { $_->{text} // '' } @{$r->{result}{contents} // []};
}

my $first = Paddock::fresh_root() . '/first';
compile('lib/first_call.c', $first, '-static', '-nostdlib') or BAIL_OUT('the first call cannot be built');
$templates{first} = {program => read_file($first), limits => {maxTimeoutMs => 30_000}};

for (users()) {
	my ($who, $user) = @$_;

	subtest $who => sub {
		my $s = Paddock->new(templates => \%templates, user => $user);

		$s->init(undef, {elicitation => {}, sampling => {}});
		subtest 'asks' => \&asks, $s;
		subtest 'signals' => \&signals, $s;
		subtest 'pipes' => \&pipes, $s;
		subtest 'calls' => \&calls, $s;
		subtest 'out' => \&out, $s;
		subtest 'hurries' => \&hurries, $s;
		subtest 'floods' => \&floods, $s;
		$s->stop;
	};
}
done_testing();
