#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# cli_exits.t - the exit status of each subcommand, for each way to end: 0, 1, 2, 3, 4, 124,
# 125, 130; on a terminal and without, as root and as an ordinary user.
# tests/system/cli/cli.t tests the output.
use lib 'tests/lib';
use Paddock;
use Cli;

my %templates = (
    good => lua('run.artifact{name = "a.txt", mimeType = "text/plain", data = "x"} run.artifact{name = "b.txt", mimeType = "text/plain", data = "y"} return 1',
		inputsSchema => {type => 'object', additionalProperties => JSON::PP::false, properties => {n => {type => 'integer'}}}),
    plain => lua('return 1'),
    bad => lua('run.error("NO", "no")'),
    some => lua('run.map({1, 2}, {step = "s"}, function(n) if n == 2 then error("odd") end end) return 1', supportsPartialSuccess => JSON::PP::true),
    slow => lua('run.sleep(60000)', limits => {maxTimeoutMs => 100}),
    waits => lua('run.progress(1, 2, "the run waits") run.sleep(600000)', limits => {maxTimeoutMs => 600000}),
);
my $unknown = 'run_' . 'a' x 26;
my $artifact = 'art_' . 'a' x 26;

sub packages { # beside the templates: one to check, one whose test fails, a broken one
	my ($dir) = @_;

	for (['fine', 'return function() return 1 end', '{"inputs":{},"expect":{"status":"succeeded","result":1}}'],
	     ['fails', 'return function() return 2 end', '{"inputs":{},"expect":{"status":"succeeded","result":1}}'],
	     ['broken', 'return function( return 2 end', undef]) {
		my ($name, $code, $test) = @$_;

		mkdir $_ for "$dir/$name", "$dir/$name/tests";
		write_file("$dir/$name/main.lua", $code);
		write_file("$dir/$name/template.json", json_of({templateId => $name, version => '1.0.0', name => $name, description => "$name.",
			runtime => {type => 'lua', entry => 'main.lua'}, inputsSchema => {type => 'object'}}));
		write_file("$dir/$name/tests/one.json", $test) if defined $test;
	}
	write_file("$dir/schema.json", '{"type":"integer"}');
	write_file("$dir/one.json", '1');
	write_file("$dir/text.json", '"x"');
	write_file("$dir/none.json", '{');
	write_file("$dir/wrong.conf", "[limits]\nno_such_key = 1\n");
}

# -v puts a private server's log on stderr: the log names counters which are not zero at the
# end.
sub heard { my (%o) = @_; return $o{all_tty} ? () : '-v' }
sub left { my ($r) = @_; return join ' ', $r->{err} =~ /(\S+ left=\d.*)/g }

# Status, then the arguments; RUN and FAILED stand for such runs; commands which need a
# server get the flags of the private server.
my @cases = (
    [0, 'run', 'plain'], [0, 'run', 'good', '--no-artifacts', '-i', 'n=1'], [0, 'ps'], [0, 'ps', '-a', '--status', 'failed'], [0, 'status', 'RUN'],
    [0, 'status', 'FAILED'], [0, 'logs', 'RUN'], [0, 'logs', '-f', 'RUN'], [0, 'explain', 'FAILED'], [0, 'cancel', 'RUN'],
    [0, 'artifact', 'ls', 'RUN'], [0, 'artifact', 'cat', 'RUN', 'a.txt'], [0, 'artifact', 'get', 'RUN', 'a.txt', '-o', '/dev/null'],
    [0, 'template', 'ls'], [0, 'template', 'show', 'good'],
    [1, 'run', 'bad'], [1, 'run', 'bad', '--json', '-q'],
    [2, 'run', 'good', '-i', 'n=x'], [2, 'run', 'good', '-i', 'm=1'], [2, 'run', 'good', '--input', '/no/such/file'],
    [2, 'run', 'good', '-t', 'soon'], [2, 'run', 'good', '--mode', 'later'], [2, 'ps', '--status', 'dead'],
    [2, 'artifact', 'get', 'RUN'], [2, 'artifact', 'cat', 'RUN'],
    [3, 'run', 'some'],
    [4, 'run', 'nosuch'], [4, 'run', 'good@9.9.9'], [4, 'status', $unknown], [4, 'logs', $unknown], [4, 'logs', '-f', $unknown], [4, 'explain', $unknown],
    [4, 'cancel', $unknown], [4, 'cancel', 'RUN', $unknown], [4, 'artifact', 'ls', $unknown], [4, 'artifact', 'get', $unknown],
    [4, 'artifact', 'cat', $artifact], [4, 'artifact', 'get', 'RUN', 'nosuch'], [4, 'artifact', 'cat', 'FAILED', 'a.txt'],
    [4, 'template', 'show', 'nosuch'], [4, 'rm', $unknown], [4, 'rm', 'GONE', $unknown], [0, 'prune', '--older', '1d'],
    [0, 'usage'], [0, 'usage', '--since', '1d'], [2, 'usage', '--since', 'soon'],
    [2, 'prune'], [2, 'prune', '--older', 'soon'], [2, 'prune', '--older', '1d', '--status', 'running'],
    [124, 'run', 'slow'], [124, 'run', 'waits', '-t', '100ms'],
    [125, 'run', 'plain', '--mode', 'async'],
);
my @alone = ( # without any server
    [0, 'help'], [0, 'help', 'run'], [0, 'run', '--help'], [0, '--version'], [0, 'token'], [0, 'client-config', '--client', 'cursor'],
    [0, 'template', 'check', 'fine'], [0, 'template', 'test', 'fine'], [0, 'template', 'grant', 'fine'], [0, 'schema', 'schema.json', 'one.json'],
    [1, 'template', 'check', 'broken'], [1, 'template', 'test', 'fails'], [1, 'schema', 'schema.json', 'text.json'],
    [2], [2, 'nosuch'], [2, 'run'], [2, 'template'], [2, 'template', 'nosuch'], [2, 'artifact', 'put'], [2, 'explain'], [2, 'logs'],
    [2, 'cancel'], [2, 'rm'], [2, 'ps', 'x'], [2, 'run', 'x', '--nosuch'], [2, 'template', 'new', 'X'], [2, 'template', 'new', 'fine'], [2, 'token', 'a:b'],
    [2, 'client-config'], [2, 'client-config', '--client', 'nosuch'], [2, 'schema', 'none.json', 'one.json'], [2, 'schema'],
    [2, 'ps', '--config', 'wrong.conf'], [2, 'help', 'nosuch'],
    [4, 'template', 'check', 'nosuch'],
    (map { [125, @$_, '--socket', '/none/sock'] } ['ps'], ['run', 'plain'], ['status', $unknown], ['logs', $unknown], ['explain', $unknown],
     ['cancel', $unknown], ['rm', $unknown], ['prune', '--older', '1d'], ['usage'], ['artifact', 'ls', $unknown], ['artifact', 'get', $unknown],
     ['template', 'ls'], ['template', 'show', 'good']),
);

sub all {
	my ($cli, %o) = @_;
	my %runs = (RUN => 'good', FAILED => 'bad', GONE => 'plain');

	mkdir "$cli->{here}/out";
	for my $name (sort keys %runs) {
		my $r = $cli->run_private(['run', $runs{$name}, '--json', '-q', '--no-artifacts'], user => $o{user});

		$runs{$name} = (json_to($r->{out}) // {})->{runId} // die "no run: $r->{err}";
	}
	for my $case (@cases, @alone) {
		my ($status, @words) = @$case;
		my @there = (grep { $case == $_ } @cases) ? ($cli->private, heard(%o)) : ();
		my $r = $cli->run([(map { $runs{$_} // $_ } @words), @there], %o, cwd => $cli->{here});

		is("$r->{status}" . left($r), $status, "$status: @words") or diag($r->{out}, $r->{err});
	}
}

# Status 130: the commands which can be waiting at a ctrl-C.
sub interrupted {
	my ($cli, %o) = @_;
	my $p = $cli->start(['run', 'waits', $cli->private, heard(%o)], %o);

	$p->wait_shown(qr/the run waits/);
	$p->signal('INT');
	my $r = $p->finish;
	is($r->{status} . left($r), 130, '130: run');
	for (['ps'], ['status', $unknown], ['explain', $unknown], ['cancel', $unknown], ['artifact', 'ls', $unknown], ['template', 'ls']) {
		my ($path, $asked) = ("$cli->{root}/mute", "$cli->{root}/asked");
		my $pid = fake_server($path, map { ($_ => sub { write_file($asked, 'yes'); sleep 60; return undef }) }
			qw(list_task_runs get_task_run cancel_task_run list_task_templates));

		chmod 0777, $path;
		$p = $cli->start([@$_, '--socket', $path], %o);
		until_true('the question', sub { -e $asked });
		$p->signal('INT');
		is($p->finish->{status}, 130, "130: @$_");
		kill KILL => $pid;
		waitpid $pid, 0;
		unlink $path, $asked;
	}
}

for my $user (as_root() ? (undef, 65534) : (undef)) {
	for my $tty (0, 1) {
		my $cli = Cli->new(templates => \%templates, user => $user);
		my %o = (user => $user, $tty ? (all_tty => 1, env => {TERM => 'xterm'}) : ());

		packages($cli->{here});
		chown $user, $user, $cli->{here}, glob "$cli->{here}/*" if defined $user;
		subtest join(', ', defined $user ? 'as nobody' : as_root() ? 'as root' : 'as a user', $tty ? 'on a terminal' : 'piped'), sub {
			all($cli, %o);
			interrupted($cli, %o);
		};
	}
}
ok(strays_gone(), 'nothing is left behind');
done_testing();
