#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# cli.t - the command paddock: every exit status, on and off a terminal.
use lib 'tests/lib';
use Paddock;
use Cage;
use Cli;
use Daemon;
use Digest::SHA qw(sha256_hex);
use MIME::Base64 qw(encode_base64);

my $run = qr/run_[a-z2-7]{26}/;
my %object = (type => 'object');
my %templates = (
    good => lua('
	for i = 1, 4 do run.progress(i, 4, "part " .. i) end
	run.artifact{name = "a.txt", mimeType = "text/plain", data = "first\n"}
	run.artifact{name = "b.bin", mimeType = "application/octet-stream", data = ("\0\27[2J"):rep(100000)}
	return {n = inputs.n, s = inputs.s, list = inputs.list}',
	inputsSchema => {%object, additionalProperties => JSON::PP::false,
			 properties => {n => {type => 'integer'},
					s => {type => 'string', default => 'x'},
					list => {type => 'array',
						 items => {type => 'integer'}}}}),
    bad => lua('run.step("fetch", function() run.error("NO_ROUTE", "no way \27[31m there") end)'),
    some => lua('
	local r = run.map({1, 2, 3}, {step = "item"}, function(n)
		if n == 2 then run.error("ODD", "two is odd") end
		return n
	end)
	return {n = #r}', supportsPartialSuccess => JSON::PP::true),
    slow => lua('run.progress(1, 3, "working"); run.sleep(600000); return {}',
		limits => {maxTimeoutMs => 600000}),
    offers => lua('return 1', resources => [
	    {uri => 'demo://guide', name => 'guide', mimeType => 'text/plain',
	     description => "How to \e[2Jbegin.", text => 'Secretly: begin.'},
	    {uriTemplate => 'demo://of/{who}', name => 'of', text => 'Hello {who}'}],
	prompts => [{name => 'greet', title => 'Greets',
		     arguments => [{name => 'who', required => JSON::PP::true},
				   {name => 'tone'}],
		     messages => [{role => 'user', content =>
				   {type => 'text', text => 'Greet {{who}} {{tone}}'}}]}]),
    typed => lua('run.error("NO_FUEL", "the tank is empty")'),
    talks => lua('
	print("one", 1)
	run.log("warning", "two \27[2J")
	run.sleep(inputs.ms or 0)
	run.log("error", "three")
	return {}', inputsSchema => {%object, properties => {ms => {type => 'integer'}}}),
    eats => lua('local t = {} for i = 1, 1 << 30 do t[i] = {i} end',
		limits => {maxMemoryBytes => 4 << 20}),
    burns => lua('while true do end', limits => {maxCpuMs => 100}),
    dawdles => lua('run.sleep(60000)', limits => {maxTimeoutMs => 100}),
    tells => lua('return ("x"):rep(1000)', limits => {maxOutputBytes => 100}),
    heaps => lua('run.artifact{name = "a", data = ("x"):rep(1000)}',
		 limits => {maxArtifactBytes => 100}),
    traces => {program => "#!/usr/bin/perl\nsyscall(101, 0, 0, 0, 0); print 1\n"},
    stubborn => lua('run.progress(1, 3, "working"); while true do end',
		    limits => {maxTimeoutMs => 600000, maxCpuMs => 600000,
			       cancelGraceMs => 60000}),
);
my $cli = Cli->new(templates => \%templates);

sub private { return $cli->run_private(@_) }

# The output of doctor for a server with such lines in [browser], or sections.
sub doctor {
	my ($config) = @_;
	my $file = "$cli->{root}/doctor.conf";

	write_file($file, ($config =~ /^\[/ ? '' : "[browser]\n") . "$config\n");
	return private(['doctor', '--config', $file])->{out};
}

# ---- 0: it succeeded ----

{
	my $r = private(['run', 'good', '-i', 'n=5', '-i', 's=5',
			 '-i', 'list=1', '-i', 'list=2']);
	my ($id) = $r->{err} =~ m{wrote paddock-out/($run)/a\.txt};

	said($r, 0, qr/good: 4\/4 part 4/, 'a run that succeeds exits 0');
	same_json(json_to($r->{out}), {n => 5, s => '5', list => [1, 2]},
		  'the result is on stdout, with inputs typed by the schema');
	is(read_file("$cli->{here}/paddock-out/$id/a.txt"), "first\n",
	   'an artifact lies where that was said');
	is(read_file("$cli->{here}/paddock-out/$id/b.bin"),
	   "\0\e[2J" x 100000, 'a large one whole, fetched in pieces');
	unlike($r->{err}, qr/[\e\r]/, 'nothing is drawn off a terminal');
	unlike($r->{err}, qr/level=/, 'the private server\'s log stays away');

	$r = private(['status', $id]);
	like($r->{out}, qr/^status +succeeded$/m, 'status shows it afterwards');
	$r = private(['status', $id, '--json']);
	is(json_to($r->{out})->{status}, 'succeeded', 'status --json shows the ended run');
	$r = private(['artifact', 'ls', $id]);
	like($r->{out}, qr/^art_\S+ +6 +text\/plain +a\.txt$/m,
	     'artifact ls lists its artifacts');
	$r = private(['artifact', 'cat', $id, 'a.txt']);
	is($r->{out}, "first\n", 'artifact cat gives the bytes');
	$r = private(['artifact', 'get', $id, 'a.txt', '-o', 'copy']);
	is(read_file("$cli->{here}/copy"), "first\n", 'artifact get writes them');
	$r = private(['artifact', 'get', $id]);
	said($r, 2, qr/has 2 artifacts/, 'artifact get without a name is refused for a run with two artifacts');
	$r = private(['artifact', 'get', $id, 'b.bim']);
	said($r, 4, qr/did you mean "b\.bin"/, 'a mistyped name is noticed');
	$r = private(['cancel', $id]);
	said($r, 0, qr/nothing to cancel/, 'cancelling what has ended is no error');
	$r = private(['ps']);
	is($r->{out}, '', 'ps shows nothing that has ended');
	said($r, 0, qr/\Apaddock: no runs are queued or running; "paddock ps -a --state-dir \S+[^"]*" shows those that have ended, too\n\z/,
	     'ps without runs says so on stderr');
	said(private(['ps', '-q']), 0, qr/\A\z/, 'ps -q without runs says nothing');
	is(private(['ps', '--json'])->{out}, "[]\n", 'ps --json without runs is an empty list');
	said(private(['ps', '--warm']), 0, qr/\Apaddock: no worker waits/, 'ps --warm says that no worker waits');
	my $begun = time;
	my $nodes = json_to(private(['ps', '--nodes', '--json'])->{out});
	is_deeply([map { $_->{running} } @$nodes], [0], 'of servers there is the one that is asked');
	cmp_ok(abs($nodes->[0]{startedAt} / 1000 - $begun), '<', 3600, 'ps --nodes says since when the server is up');
	$r = private(['ps', '-a']);
	like($r->{out}, qr/^$id +good +succeeded /m, 'ps -a does');
	$r = private(['ps', '-a', '--json']);
	is(json_to($r->{out})->[0]{runId}, $id, 'ps -a --json shows the ended run');
}
{
	my $r = private(['run', 'good', '--input', '-', '-i', 'n=2', '--json',
			 '-q', '--out', 'sub/dir'],
			in => '{"n":1,"s":"from stdin"}');
	my $v = eval { json_to($r->{out}) } // {};

	said($r, 0, qr/^$/, '--quiet says nothing');
	same_json($v->{result}, {n => 2, s => 'from stdin'},
		  '--json is the whole view; -i wins over --input');
	unlike($r->{out}, qr/\n./, 'on one line');
	ok(-e "$cli->{here}/sub/dir/a.txt", '--out is made, and written to');
	private(['run', 'good', '-q', '--out', 'sub/dir']);
	ok(-e "$cli->{here}/sub/dir/a-2.txt", 'no artifact in --out is overwritten');
	$r = private(['run', 'good', '-q', '--no-artifacts', '--out', 'none']);
	ok(!-e "$cli->{here}/none", '--no-artifacts writes none');
}

# ---- 1, 3, 124: it ended otherwise ----

{
	my $r = private(['run', 'bad']);
	my ($id) = $r->{err} =~ /($run) failed/;

	said($r, 1, qr/failed: no way \?\[31m there$/m,
	     'a run that fails exits 1, and cannot act on a terminal');
	like($r->{err}, qr/code: STEP_EXECUTION_FAILED/, 'the error code of a failed run is told');
	like($r->{err}, qr/hint: /, 'the hint of a failed run is told');
	like($r->{err}, qr/step fetch failed: NO_ROUTE/, 'the failed step is told');
	is($r->{out}, '', 'nothing is on stdout');
	$r = private(['run', 'bad', '--json', '-q']);
	is(json_to($r->{out})->{error}{errorCode}, 'STEP_EXECUTION_FAILED',
	   'run --json of a failed run has the error in the view');
	$r = private(['explain', $id]);
	like($r->{out}, qr/step fetch failed with NO_ROUTE/, 'explain says why');
	$r = private(['explain', $id, '--json']);
	is(ref json_to($r->{out})->{why}, 'ARRAY', 'explain --json has the reasons');
	for (['eats', 'memory', 'it reached [\d.]+ MiB of memory and may have 4 MiB; how much it needs in all is not known', 'maxMemoryBytes'],
	     ['burns', 'cpu', 'it (?:needed|had) \S+ m?s of CPU time(?: and may have 100 ms|, and no more was allowed)', 'maxCpuMs'],
	     ['dawdles', 'timeout', '(?:it had 100 ms of time, and no more was allowed|code: RUN_TIMEOUT)', 'maxTimeoutMs'],
	     ['tells', 'output_bytes', 'it needed [\d.]+ \w+ of output and may have 100 bytes', 'maxOutputBytes'],
	     ['heaps', 'artifact_bytes', 'it needed 1000 bytes of artifacts and may have 100 bytes', 'maxArtifactBytes']) {
		my ($template, $limit, $needed, $key) = @$_;
		my $who = qr/the template's author can raise it: limits\.$key, up to the server's max_\w+, or the operator: max_\w+ in \[template "$template"\]/;

		$r = private(['run', $template]);
		like($r->{err}, qr/^  $needed\n  $who\n  hint: paddock explain /m, "$template: how much it needed, and who can raise that");
		($id) = $r->{err} =~ /($run) failed/;
		$r = private(['explain', $id]);
		like($r->{out}, qr/limit $limit\.\n  (?i:$needed)\..*That is a limit of .*Or $who/s,
		     "explain tells of the limit $limit, and who can raise it");
	}
	SKIP: {
		$r = private(['run', 'traces']);
		skip uncaged('programs are not caged here'), 1 if $r->{err} =~ /ISOLATION_TOO_WEAK/;
		($id) = $r->{err} =~ /($run) failed/;
		$r = private(['explain', $id]);
		like($r->{out}, qr/system call ptrace.*It looks into other processes.*Nothing in the manifest or the configuration can allow that/s,
		     'explain tells what a forbidden call is, and that nothing allows it');
	}
	$r = private(['run', 'typed']);
	said($r, 1, qr/code: EXECUTION_ERROR\n  the template's code: NO_FUEL$/m,
	     'a code of the template\'s own is told too');
	$r = private(['run', 'some']);
	said($r, 3, qr/in part\n(?:.*\n)*.*step item\[2\] failed: ODD/,
	     'a partial success exits 3');
	is(json_to($r->{out})->{n}, 3, 'a partial success prints the result');
	$r = private(['run', 'slow', '--timeout', '200ms']);
	said($r, 124, qr/code: RUN_TIMEOUT/, 'a run out of time exits 124');
}

# ---- 2: wrong usage ----

for ([[], qr/\Apaddock: say what to do: paddock COMMAND\n  hint: paddock help\n/, 'no command'],
     [['rnu'], qr/did you mean "run"/, 'a mistyped command'],
     [['template', 'sl'], qr/no command|did you mean/, 'a mistyped second word'],
     [['run'], qr/usage: paddock run TEMPLATE/, 'no operand'],
     [['run', 'a', 'b'], qr/usage:/, 'one too many'],
     [['run', 'good', '--jsn'], qr/did you mean --json/, 'a mistyped flag'],
     [['run', 'good', '--timeout', 'soon'], qr/duration/, 'no duration'],
     [['run', 'good', '--mode', 'fast'], qr/sync, async or auto/, 'no mode'],
     [['run', 'good', '-i', 'm=1', $cli->private], qr/did you mean "n"/,
      'a mistyped input'],
     [['run', 'good', '-i', 'n=x', $cli->private], qr/n has to be an integer/,
      'an input of the wrong type'],
     [['run', 'good', '--input', '/none'], qr/\/none/, 'a file that is not there'],
     [['client-config'], qr/--client/, 'no client'],
     [['client-config', '--client', 'vscoed'], qr/did you mean "vscode"/,
      'a mistyped client'],
     [['template', 'new', 'Big'], qr/a-z/, 'a name that is none'],
     [['help', 'rnu'], qr/no command/, 'help on what is not there'],
     [['template'], qr/say what to do: paddock template COMMAND\n.*template check/s,
      'a group of commands'],
     [['artifact', '--json'], qr/paddock artifact COMMAND\n.*artifact get/s,
      'another, with a flag'],
     [['template', 'shwo'], qr/no command "template shwo"; did you mean "template show"/,
      'a mistyped one of a group'],
     [['template', 'zzzz'], qr/no command "template zzzz"\n.*template ls/s,
      'one that no group has'],
     [['token', 'a:b'], qr/1 to 32 of A-Z a-z 0-9 \. _ @ -/,
      'a name that the configuration would refuse'],
     [['token', 'anonymous'], qr/not "anonymous"/, 'the name of who has none'],
     [['token', 'a' x 33], qr/1 to 32/, 'a name that is too long']) {
	my ($args, $re, $name) = @$_;

	said($cli->run($args), 2, $re, "usage: $name");
}

# ---- 125: trouble of paddock's own ----

said(private(['run', 'goood']), 4, qr/did you mean "good".*TEMPLATE_NOT_FOUND/s,
     'an unknown template is not there');
said(private(['run', 'good', '--input', '-'], in => '{"n":"x"}'), 2,
     qr/the input n is "x"; it must be an integer\n  code: INVALID_PARAMETER\n  hint: "paddock template show good --state-dir [^"]+" tells/, 'wrong inputs are the caller\'s');
said(private(['run', 'good', '--mode', 'async']), 125, qr/leave out --mode async, or what makes the server a private one/,
     'async needs the daemon');
said(private(['status', 'run_x']), 4, qr/RUN_NOT_FOUND/, 'an unknown run');
said($cli->run(['ps', '--socket', '/none/sock']), 125,
     qr/no server answers at \/none\/sock/, 'no server');
said($cli->run(['ps', '--config', '/none']), 2,
     qr/does not start with these flags and this configuration.*logged:.*\/none/s, 'a private server that does not start');
{
	my $r = private(['run', 'goood', '--json']);

	is(json_to($r->{out})->{errorCode}, 'TEMPLATE_NOT_FOUND',
	   'a refusal is JSON on stdout with --json');
	$r = private(['template', 'ls'], unread => 1);
	is_deeply([@{$r}{qw(status err)}], [0, ''],
		  'who reads no further is told nothing');
	my $full = $cli->start(['help']);
	is($full->finish->{status}, 0, 'help exits 0');
}

# ---- 130: cancelled ----

for my $signal (['INT', 130], ['TERM', 143]) {
	my ($name, $status) = @$signal;
	my $p = $cli->start(['run', 'slow', $cli->private]);

	$p->wait_shown(qr/1\/3 working/);
	$p->signal($name);
	said($p->finish, $status, qr/^cancelling.*^paddock: $run was cancelled$/ms,
	     "SIG$name cancels the run and waits for its end");
}
ok(strays_gone(), 'nothing is left behind');
{
	my $p = $cli->start(['run', 'stubborn', $cli->private]);

	$p->wait_shown(qr/1\/3 working/);
	$p->signal('INT')->wait_shown(qr/cancelling/);
	$p->signal('INT');
	is($p->finish->{status}, 130, 'a second one leaves at once');
	kill TERM => $_ for children_of($$); # its server: do not wait for the grace
	ok(strays_gone(), 'the private server ends after a second ctrl-C');
}

# ---- on a terminal ----

{
	my $p = $cli->start(['run', 'slow', $cli->private], tty => 1,
			    env => {TERM => 'xterm'});

	$p->wait_shown(qr/\r\S*slow .*working [\d.]+ m?s/);
	like($p->shown, qr/\e\[3\dm/, 'a terminal gets a bar in colour');
	$p->type("\cC");
	said($p->finish, 130, qr/\r\e\[Kcancelling.*$run was cancelled/s,
	     'ctrl-C cancels, once the bar is wiped');
}
{
	my $p = $cli->start(['run', 'slow', $cli->private], tty => 1,
			    columns => 30, env => {TERM => 'xterm', NO_COLOR => 1});

	$p->wait_shown(qr/\rslow 1\/3 working/);
	unlike($p->shown, qr/\e\[\d/, 'NO_COLOR is honoured');
	ok(!(grep { length > 29 } split /\r|\e\[K/, $p->shown),
	   'a narrow terminal is not overrun');
	$p->type("\cC");
	is($p->finish->{status}, 130, 'ctrl-C cancels');
}
{
	my $p = $cli->start(['run', 'slow', $cli->private], tty => 1,
			    env => {TERM => 'dumb'});

	$p->wait_shown(qr/slow: 1\/3 working\r\n/);
	unlike($p->shown, qr/\e/, 'a dumb terminal gets lines');
	$p->signal('INT')->finish;
	my $r = private(['run', 'slow', '-q', '--timeout', '1s'], tty => 1,
			env => {TERM => 'xterm'});
	unlike($r->{err}, qr/\e/, '--quiet draws nothing');
}
{
	my $r = private(['run', 'good', '-q', '--json']);
	my ($art) = map { $_->{artifactId} }
	    grep { $_->{name} eq 'b.bin' } @{json_to($r->{out})->{artifacts}};

	$r = private(['artifact', 'cat', $art], all_tty => 1,
		     env => {TERM => 'xterm'});
	unlike($r->{err}, qr/\e/, 'artifact cat lets nothing act on a terminal');
}

# ---- servers that misbehave ----

my $sock = 0;

sub with_fake {
	my ($args, %tools) = @_;
	my $path = "$cli->{root}/fake." . $sock++;
	my $pid = fake_server($path, %tools);
	my $r = $cli->run([@$args, '--socket', $path]);

	kill KILL => $pid;
	waitpid $pid, 0;
	return $r;
}

my %view = (runId => 'run_1', templateId => 't', status => 'succeeded',
	    progress => {totalSteps => 0, doneSteps => 0},
	    metrics => {elapsedMs => 1}, result => 1);

{
	my $dir = "$cli->{root}/beside";

	mkdir $dir;
	system('cp', "$BUILD/paddock", $dir);
	write_file("$dir/paddockd", "#!/bin/sh\necho 'level=error msg=\"something went wrong\"' >&2\n");
	chmod 0755, "$dir/paddockd";
	like(`$dir/paddock ps --state-dir $dir/state 2>&1`, qr/private server stopped, with status 0: .*something went wrong/s,
	     'a private server that ends without a word is told of by its log');
}
said(with_fake(['run', 't'], run_task_template => sub { return undef }), 125,
     qr/closed the connection/, 'a server that goes away in a call');
said(with_fake(['run', 't'], run_task_template => sub { $_[1]->("nonsense\n"); {} }),
     125, qr/no more from the server/, 'a server that talks nonsense');
said(with_fake(['run', 't'], run_task_template => {status => 'succeeded'}), 125,
     qr/refuses/, 'a server that answers with no run');
{
	my @names = ('../../evil', '.bashrc', '/etc/passwd', "a\nb", 'same',
		     'same', '-rf', '..');
	my @list = map { +{artifactId => "art_$_", size => 1,
			   name => $names[$_]} } 0 .. $#names;
	my $r = with_fake(['run', 't', '--out', 'evil'],
			  run_task_template => {%view, artifacts => \@list},
			  get_artifact => {data => encode_base64('x', ''),
					   size => 1, mimeType => 'a/b',
					   offset => 0, bytesReturned => 1,
					   complete => JSON::PP::true});
	opendir my $d, "$cli->{here}/evil" or die;

	is($r->{status}, 0, 'artifacts with hostile names are written');
	is(join(' ', sort grep { !/^\.\.?$/ } readdir $d),
	   '_rf a_b artifact bashrc etc evil same same-2',
	   'under harmless ones, in their folder');
	ok(-f "$cli->{here}/evil/etc/passwd", 'an artifact with folders in the name is written below the folder');
}
{
	my %piece = (size => 9, mimeType => 'a/b', offset => 0,
		     complete => JSON::PP::false, data => '');
	my @get = ('artifact', 'cat', 'art_1');

	said(with_fake(\@get, get_artifact => {%piece}), 125, qr/make no sense/,
	     'a server that sends nothing for ever');
	said(with_fake(\@get, get_artifact => {%piece, data => '!!'}), 125,
	     qr/make no sense/, 'artifact data that is no base64 is refused');
	said(with_fake(\@get, get_artifact => {
		%piece, data => 'eA==', sha256 => '0' x 64,
		complete => JSON::PP::true}), 125, qr/sha256/,
	     'artifact data with another digest is refused');
}
{
	my $polls = 0;
	my $r = with_fake(['run', 't'],
			  run_task_template => {runId => 'run_1',
						status => 'queued',
						createdAt => 1, mode => 'async'},
			  get_task_run => sub {
				  return {%view, status => 'running',
					  message => 'half way'} if !$polls++;
				  return {%view, result => 'late'};
			  });

	said($r, 0, qr/half way/, 'a handle is followed to the end');
	is($r->{out}, qq("late"\n), 'the result of a handle is shown');
}

# ---- the daemon ----

{
	my $daemon = Daemon->new(templates => \%templates);
	my @there = ('--socket', $daemon->{socket});
	my ($r, $id, $p);

	$daemon->ready;
	$r = $cli->run(['run', 'slow', '--mode', 'async', @there]);
	($id) = $r->{out} =~ /^($run)$/;
	ok($r->{status} == 0 && $id, 'async prints the run\'s id at once');
	$r = $cli->run(['run', 'slow', '--mode', 'async', '--json', @there]);
	is(json_to($r->{out})->{mode}, 'async', '--mode async --json prints the handle');
	my $other = json_to($r->{out})->{runId};
	ok(until_true('it to run', sub { $cli->run(['ps', '--template', 'slow', @there])->{out} =~ /^$id +slow +running /m }),
	   'ps shows it running');
	$r = $cli->run(['cancel', $id, $other, @there]);
	is($r->{out}, "$id\n$other\n", 'cancel tells which it asked to stop');
	$p = $cli->start(['run', 'slow', @there]);
	$p->wait_shown(qr/1\/3 working/);
	$p->signal('INT');
	said($p->finish, 130, qr/$run was cancelled/, 'ctrl-C cancels there, too');
	$r = $cli->run(['run', 'good', '--idempotency-key', 'k', '--json', '-q',
			@there]);
	is(json_to($cli->run(['run', 'good', '--idempotency-key', 'k', '--json',
			      '-q', @there])->{out})->{runId},
	   json_to($r->{out})->{runId}, 'the same key gives the same run');
	$r = $cli->run(['doctor', @there]);
	like($r->{out}, qr/^daemon +\Q$daemon->{socket}\E$/m, 'doctor names it');
	$p = $cli->start(['run', 'stubborn', @there]);
	$p->wait_shown(qr/1\/3 working/);
	$daemon->kill9;
	said($p->finish, 125, qr/no more from the server .*\n  hint: "paddock ps -a --socket \S+" tells what became of the run, once a server is there again$/m,
	     'a daemon that dies is noticed, and where its run can be looked for');
}

said($cli->run(['--timeout', '5s', 'run', 'good']), 2, qr/came before a command.*follow theirs/,
     "a command's flag before it is told where to go");

# ---- what a run has logged ----

{
	my $r = private(['run', 'talks', '--json', '-q']);
	my $id = json_to($r->{out})->{runId};
	my $ts = qr/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/;
	my $all = qr/\A$ts info one\t? ?1\n$ts warning two \?\[2J\n$ts error three\n\z/;

	$r = private(['logs', $id]);
	said($r, 0, qr/\A\z/, 'logs of a run that has ended');
	like($r->{out}, $all, 'each line with its time and level, and no controls');
	like(private(['logs', '-f', $id])->{out}, $all, 'to follow it adds nothing');
	said(private(['logs', 'run_' . 'a' x 26]), 4, qr/you have no run .*RUN_NOT_FOUND/s,
	     'an unknown run has none');
	my $daemon = Daemon->new(templates => \%templates);
	my @there = ('--socket', $daemon->{socket});
	$daemon->ready;
	$id = json_to($cli->run(['run', 'talks', '-i', 'ms=700', '--mode', 'async',
				 '--json', '-q', @there])->{out})->{runId};
	$r = $cli->run(['logs', '--follow', $id, @there]);
	like($r->{out}, $all, 'what comes while it runs is told, to its end');
	$daemon->stop;
}

# ---- templates ----

{
	my $r = private(['template', 'ls']);

	like($r->{out}, qr/^good +1\.0\.0 +good$/m, 'template ls lists them');
	$r = private(['template', 'ls', '--json']);
	ok((grep { $_->{templateId} eq 'good' } @{json_to($r->{out})}),
	   'template ls --json has the templates');
	$r = private(['search', 'something', 'GOOD']);
	is("$r->{status} $r->{err}", '0 ', 'search finds a template');
	like($r->{out}, qr/\Agood +good +For a test: good\.\n/, 'search prints a line for each template');
	$r = private(['search', 'good', '--json', '-n', '1']);
	is(json_of([map { [$_->{templateId}, $_->{inputs} =~ /s\?: string/ ? 1 : 0] } @{json_to($r->{out})}]), '[["good",1]]',
	   'search --json has the templates with their inputs');
	$r = private(['search', 'giraffe']);
	is($r->{status}, 4, 'search without a match has the status of absent things');
	like($r->{err}, qr/no template that you may run here has one of the words\n.*hint: "paddock template ls .*" shows all/, 'search without a match says so');
	for (['0'], ['51'], ['five'], ['5x']) {
		$r = private(['search', 'good', '-n', @$_]);
		is($r->{status}, 2, "search -n @$_ is refused");
		like($r->{err}, qr/-n is "@$_"; it has to be a number from 1 to 50/, "search -n @$_ says what would pass");
	}
	$r = private(['search']);
	like($r->{err}, qr/usage: paddock search WORD\.\.\./, 'search without words says how to call it');
	$r = private(['template', 'show', 'good']);
	like($r->{out}, qr/^  s  a text, else "x"$/m, 'template show tells inputs');
	unlike($r->{out}, qr/^(?:Resources|Prompts):/m, 'template show lists no resources where none are offered');
	$r = private(['template', 'show', 'offers']);
	like($r->{out}, qr/^Resources:\n  demo:\/\/guide  text\/plain\n      How to .*begin\.\n  demo:\/\/of\/\{who\}\n/m,
	     'resources that it offers');
	like($r->{out}, qr/^Prompts:\n  greet who \[tone\]\n      Greets\n/m, 'template show lists prompts');
	unlike($r->{out}, qr/\e|Secretly|Greet \{/, 'cleaned, and without what they contain');
	same_json(json_to(private(['template', 'show', 'offers', '--json'])->{out})->{prompts},
		  [{name => 'greet', title => 'Greets', arguments =>
		    [{name => 'who', required => JSON::PP::true}, {name => 'tone'}]}],
		  'template show --json has the prompts');
	said(private(['template', 'show', 'goood']), 4, qr/no template/,
	     'an unknown one is refused');

	$r = $cli->run(['template', 'new', 'hello']);
	said($r, 0, qr/next: paddock template test/, 'template new writes one');
	is($r->{out}, "./hello\n", 'template new says where the template is');
	said($cli->run(['template', 'new', 'hello']), 2, qr/exists; nothing was written/,
	     'template new overwrites no template');
	$r = $cli->run(['template', 'check', 'hello']);
	is($r->{out}, "hello 0.1.0 is good\n", 'the new template is good');
	$r = $cli->run(['template', 'test', 'hello']);
	is($r->{status}, 0, 'the tests of the new template pass') or diag($r->{out}, $r->{err});
	like($r->{out}, qr/^ok 1 - hello: greets\n.*^1\.\.2$/ms, 'template test prints TAP');
	write_file("$cli->{here}/hello/tests/wrong.json",
		   '{"inputs":{"name":"a"},"expect":{"status":"succeeded",' .
		   '"result":{"greetings":["Hello, b!"]}}}');
	$r = $cli->run(['template', 'test', 'hello']);
	is($r->{status}, 1, 'a wrong one fails');
	like($r->{out}, qr{^# differs at /result/greetings/0\n#   expected: "Hello, b!"\n#   got: +"Hello, a!"}m,
	     'the failed test says what differs');
	write_file("$cli->{here}/hello/template.json", '{');
	said($cli->run(['template', 'check', 'hello']), 1, qr/not JSON/,
	     'a broken one is not good');
	said($cli->run(['template', 'test', 'hello']), 1, qr/not JSON/,
	     'a broken template cannot be tested');
	said($cli->run(['template', 'check', 'sub']), 1, qr/template\.json/,
	     'a folder without any is not good either');
	is(join(' ', glob "$cli->{root}/paddock-test-*"), '',
	   'no state of a test is left');
}

# ---- the rest ----

{
	my $r = $cli->run(['token', 'bob']);
	my ($token) = $r->{out} =~ /^([\w-]{43})\n\z/;
	my $digest = sha256_hex($token // '');

	ok($token, 'token makes 32 bytes in base64url');
	like($r->{err}, qr/^\[requestor "bob"\]\ntoken_sha256 = $digest$/m,
	     'token prints the section with the digest');
	isnt($cli->run(['token'])->{out}, $r->{out}, 'another each time');
	$r = $cli->run(['token', '--json']);
	is(json_to($r->{out})->{tokenSha256},
	   sha256_hex(json_to($r->{out})->{token}), 'token --json has the digest');

	for (['claude-code', 'mcpServers'], ['claude-desktop', 'mcpServers'],
	     ['cursor', 'mcpServers'], ['vscode', 'servers']) {
		my ($client, $key) = @$_;

		$r = $cli->run(['client-config', '--client', $client,
				'--templates', '.']);
		same_json(json_to($r->{out})->{$key}{paddock}{args},
			  ['--stdio', '--templates', $cli->{here}],
			  "client-config for $client");
	}
	my $url = 'http://127.0.0.1:8080/mcp';

	$r = $cli->run(['client-config', '--client', 'vscode', '--url', $url]);
	same_json(json_to($r->{out})->{servers}{paddock},
		  {type => 'http', url => $url}, 'one of a daemon over HTTP');
	$r = $cli->run(['client-config', '--client', 'claude-desktop',
			'--url', $url]);
	said($r, 2, qr/connector/, 'where the file takes no URL');
	for (['claude-code', '${T_1}'], ['cursor', '${env:T_1}'], ['vscode', '${env:T_1}']) {
		my ($client, $value) = @$_;

		$r = $cli->run(['client-config', '--client', $client, '--url', $url, '--token-env', 'T_1']);
		is((values %{json_to($r->{out})})[0]{paddock}{headers}{Authorization}, "Bearer $value", "a token of the environment of $client");
	}
	said($cli->run(['client-config', '--client', 'cursor', '--token-env', 'T']), 2, qr/--token-env goes with --url/, 'client-config takes --token-env with --url alone');
	said($cli->run(['client-config', '--client', 'cursor', '--url', $url, '--token-env', $_]), 2, qr/has to be the name of a variable/, "no variable: '$_'")
	    for '', 'a b', '1A', 'pdk_x-y', '${X}';

	# ---- into the client's own file ----

	my $file = "$cli->{here}/mcp.json";
	my @write = ('client-config', '--client', 'cursor', '--write', $file);
	my $others = '{"theme": "dark", "mcpServers": {"a": {"command": "x", "args": ["ü", 1.50, 12345678901234567890]}, "b": {}}, "z": [null]}';

	said($cli->run(\@write), 0, qr/\Awrote paddock in \S+mcp\.json\n\z/, 'a file that is not there is made');
	is_deeply([keys %{json_to(read_file($file))->{mcpServers}}], ['paddock'], 'a made file has the entry of paddock alone');
	write_file($file, $others);
	chmod 0600, $file;
	symlink 'mcp.json', "$cli->{here}/link.json";
	$r = $cli->run([@write[0 .. 3], "$cli->{here}/link.json"]);
	said($r, 0, qr/\Awrote paddock in \S+mcp\.json, beside a, b\n\z/, 'other servers are kept');
	my $now = read_file($file);
	like($now, qr/"args":\s*\["ü",\s*1\.50?,\s*12345678901234567890\]/, 'values of other servers are kept to the number') ;
	$now = json_to($now);
	is_deeply([sort keys %$now], [qw(mcpServers theme z)], 'other keys of the file are kept');
	is((stat $file)[2] & 07777, 0600, 'the mode of the file is kept');
	ok(-l "$cli->{here}/link.json", 'a link to the file is kept');
	said($cli->run(\@write), 0, qr/\Areplaced paddock in /, 'the entry of paddock is replaced');
	for (['{"mcpServers": {}} // mine', qr/hint: \S+ is left as it is/], ['[1]', qr/has to be an object/],
	     ['{"mcpServers": [1]}', qr/"mcpServers" in it has to be an object/], ['{"a": 1, "a": 2}', qr/left as it is/]) {
		my ($text, $re) = @$_;

		write_file($file, $text);
		said($cli->run(\@write), 2, $re, "refused: $text");
		is(read_file($file), $text, "the file is left as it was: $text");
	}
	said($cli->run([@write[0 .. 3], $cli->{here}]), 2, qr/is no file/, 'a folder is no file');
	said($cli->run([@write[0 .. 3], "$cli->{here}/none/x"]), 125, qr/left as it is/, 'a file in a missing folder is refused');
	my $large = $others =~ s/dark/'dark' x 1000/er;
	my @full = (within => ['sh', '-c', 'ulimit -f 1; trap "" XFSZ; exec "$@"', 'sh']); # stderr is a file, too
	write_file($file, $large);
	said($cli->run(\@write, @full), 125, qr/left as it is: File too large/, 'a file that cannot be written whole is told');
	is(read_file($file), $large, 'the old file is left when the new one cannot be written');
	is_deeply([grep { /mcp\.json\./ } glob "$cli->{here}/*"], [], 'no other file is left in the folder');

	$r = private(['doctor']);
	said($r, 0, qr/^/, 'doctor');
	like($r->{out}, qr/^isolation +\w+$/m, 'tells how runs are isolated');
	like(doctor('enabled = no'), qr/^browser +none\nruns.*^missing +browser: the operator has switched/ms,
	     'doctor says why there is no browser');
	like(doctor('chromium = /bin/false'), qr/^browser +\/bin\/false does not start\n.*^missing +browser: .*\/bin\/false does not start: /ms,
	     'doctor says that Chromium does not start');
	like(doctor("[requestor \"me\"]\nuid = $>\nbrowser_tools = none"),
	     qr/^browser .*not tried: .*browser_tools/m, 'doctor says that the browser may not be tried')
	    if !lacks('Chromium');
	like(doctor(''), lacks('Chromium') ? qr/^missing +browser: .*make deps-browser/m
	     : qr/^browser +\/\S+ \(\S+\/[\d.]+\) starts, its own sandbox is on\nbroker +locked in, (?:a user of its own|the server's user), cgroups \w+$/m,
	     'how the one that there is does');
	$r = private(['doctor', '--json']);
	ok(json_to($r->{out})->{profile}{runtimeVersion}, 'doctor --json has the profile');
	like($cli->run(['--version'])->{out}, qr/^paddock [\d.]+$/, '--version');
	for my $c (map { s/\t.*//r } split /\n/, $cli->run(['complete', '--', ''])->{out}) {
		my $h = $cli->run(['help', $c]);

		ok($h->{status} == 0 && $h->{out} ne '', "help $c");
	}
	like($cli->run(['complete', '--', 'template', 's'])->{out}, qr/\Ashow\t.*\n\z/,
	     'completion of a second word');
	is($cli->run(['complete', '--', 'run', '--templates',
		      "$cli->{root}/templates", 'st'])->{out}, "stubborn\n",
	   'completion of a template');
	like($cli->run(['complete', '--', 'ps', '--al'])->{out}, qr/\A--all\t.*\n\z/,
	     'completion of a flag');
}

ok(strays_gone(), 'nothing is left behind');
done_testing();
