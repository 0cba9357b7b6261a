#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# cli_use.t - common expectations of a command: the code's own status, flags in any place, a
# way out for too large values, and a plain terminal.
use lib 'tests/lib';
use Paddock;
use Cli;

my $cli = Cli->new(templates => {
	ends => lua('return {exitCode = inputs.n}', inputsSchema => {type => 'object', properties => {n => {type => 'integer'}}}),
	leaves => lua('for _, name in ipairs{"a.txt", "sub/CLAUDE.md", "Makefile"} do run.artifact{name = name, data = "x"} end return 1'),
	takes => lua('return #inputs.text', inputsSchema => {type => 'object', properties => {text => {type => 'string'}}}),
	asks => lua('local a = run.elicit{message = "Who?", schema = {type = "object", properties = {name = {type = "string"}}}} return a.content'),
});
my @private = $cli->private;

# ---- the code's exit code ----

for ([0, 0], [7, 7], [255, 255], [256, 1], [-1, 1]) {
	my ($n, $status) = @$_;

	is($cli->run(['run', 'ends', '--exit-code', '-i', "n=$n", @private])->{status}, $status, "--exit-code gives the code's status: $n");
}
my $r = $cli->run(['run', 'ends', '-i', 'n=7', @private]);
is($r->{status}, 0, 'without it a run that has succeeded is a success');
like($r->{err}, qr/succeeded in [\d.]+ m?s; the code's exit code is 7\n/, 'the line on stderr has the code\'s exit code');
unlike($cli->run(['run', 'ends', '-i', 'n=0', @private])->{err}, qr/exit code/, 'the line on stderr says nothing of an exit code of 0');

# ---- too large for a message ----

write_file("$cli->{here}/large", 'x' x (17 << 20));
$r = $cli->run(['run', 'takes', '-i', 'text=@large', @private]);
is($r->{status}, 2, 'what is too large to be sent is wrong usage');
is($r->{err}, "paddock: what is given is too large to be sent with the call: use \@\@ instead of \@, KEY=\@\@FILE, which uploads the file first\n",
   'the refusal of a large input says how to upload');

# ---- flags in front ----

is($cli->run([@private, '-q', 'run', 'ends', '-i', 'n=3'])->{out}, "{\"exitCode\": 3}\n", 'flags of all commands may stand in front of them');
is($cli->run(["--state-dir=$cli->{root}/state", '-q', 'template', 'ls', '--templates', "$cli->{root}/templates"])->{status}, 0, 'flags may stand before a command of two words');
$r = $cli->run(['--timeout', '5s', 'run', 'ends', @private]);
like($r->{err}, qr/"--timeout" came before a command, and is no flag of all commands/, 'one that is of a command is told to follow it');
is($cli->run(['-q'])->{status}, 2, 'flags alone are no command');

# ---- files that other programs obey ----

$r = $cli->run(['run', 'leaves', @private]);
like($r->{err}, qr/wrote \S+CLAUDE\.md\nwarning: other programs obey a file that is called CLAUDE\.md, and a template wrote this one; [^\n]+\nwrote \S+Makefile\n\z/,
     'a file that other programs obey is warned of, once');
like($cli->run(['run', 'leaves', '-q', @private])->{err}, qr/warning: .*CLAUDE/, '--quiet keeps the warning of a file');

# Only an explicit flag lets the command write into an existing folder.
sub into { my ($dir, @how) = @_; return $cli->start(['run', 'leaves', '-o', $dir, @private], @how) }
my $there = "$cli->{here}/project";
mkdir $there;
$r = into($there)->finish;
is(join(' ', map { s{.*project/}{}r } sort glob "$there/* $there/*/*"), 'Makefile.artifact a.txt sub sub/CLAUDE.md.artifact', 'in a folder that was there nobody obeys what comes');
like($r->{err}, qr/^CLAUDE\.md is written as CLAUDE\.md\.artifact, since other programs obey a file of that name$/m, 'the command says which file got another name');
is($r->{status}, 0, 'a file with another name is no failure');
my $ask = into($there, tty => 1, columns => 200, env => {TERM => 'xterm'});
$ask->wait_shown(qr/CLAUDE\.md, and a template wrote this one: write it into \S+project by that name\? \(y or n\): /);
$ask->type("y\n");
$ask->wait_shown(qr/called Makefile, .*\(y or n\): /);
$ask->type("n\n");
$ask->finish;
ok(-e "$there/sub/CLAUDE.md" && !-e "$there/Makefile" && -e "$there/Makefile-2.artifact", 'who is asked decides of each');
into("$there/new")->finish;
ok(-e "$there/new/Makefile", 'a folder that is new for it has them by their names');
my ($id) = $cli->run(['run', 'leaves', '--no-artifacts', '--json', @private])->{out} =~ /"runId": *"(run_\w+)/;
$cli->run(['artifact', 'get', $id, 'Makefile', @private]);
ok(-e "$cli->{here}/Makefile", 'a named artifact is written by the own name');

# ---- a terminal that draws nothing ----

my $p = $cli->start(['run', 'asks', @private], tty => 1, env => {TERM => 'dumb'});
$p->wait_shown(qr/name/);
$p->type("Ada\n");
is($p->finish->{out}, "{\"name\": \"Ada\"}\n", 'who has a terminal that is called dumb is asked all the same');

for (['is not set', {}], ['is empty', {TERM => ''}]) {
	my ($how, $env) = @$_;
	my $nameless = $cli->start(['run', 'asks', @private], tty => 1, env => $env);

	$nameless->wait_shown(qr/name/);
	$nameless->type("Ada\n");
	my $end = $nameless->finish;
	is($end->{out}, "{\"name\": \"Ada\"}\n", "a terminal whose TERM $how is a terminal: the command asks there");
	unlike($end->{err}, qr/\e/, "a terminal whose TERM $how gets no colours");
}
done_testing();
