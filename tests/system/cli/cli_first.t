#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# cli_first.t - the first steps of an author with a new package, or in a wrong folder: each
# hint works as printed, and the command never claims an act which was not done.
use lib 'tests/lib';
use Paddock;
use Cli;

my $run = qr/run_[a-z2-7]{26}/;
my $unknown = 'run_' . 'a' x 26;
my $cli = Cli->new(templates => {
	good => lua('return inputs.n or 1', inputsSchema => {type => 'object', additionalProperties => JSON::PP::false,
		required => ['n'], properties => {n => {type => 'integer'}, label => {type => 'string'}}}),
	crlf => {program => "#!/usr/bin/env sh\r\necho 1\n"},
	leaves => {program => "#!/bin/sh\necho 'no such table' >&2\nexit 3\n"}});
my $here = $cli->{here};

# A package NAME in the folder AT; broken: a key is misspelt.
sub package_at {
	my ($at, $name, %o) = @_;

	mkdir $at;
	mkdir "$at/$name";
	write_file("$at/$name/template.json", sprintf '{"templateId":"%s","version":"1.0.0","name":"N","%s":"d",' .
		'"runtime":{"type":"lua","entry":"main.lua"},"inputsSchema":{"type":"object"}}', $name, $o{broken} ? 'descripton' : 'description');
	write_file("$at/$name/main.lua", "return function() return 1 end\n");
	return "$at/$name";
}

# ---- a package that was not named, or is broken ----
package_at($here, 'mine');
my @state = ('--state-dir', "$cli->{root}/state");

said($cli->run([@$_, 'mine', @state]), 4, qr{there is no template "mine"\n.*\n  hint: \./mine is a package: --templates \./mine takes it$}s,
     "@$_: a package in this folder is pointed at") for ['run'], ['template', 'show'];
is($cli->run(['run', 'mine', '--templates', './mine', @state])->{out}, "1\n", 'a package in this folder runs with --templates');
unlike($cli->run(['run', 'others', @state])->{err}, qr/is a package/, 'a name that is no folder is not');

my $bad = package_at("$here/several", 'bad', broken => 1);

package_at("$here/several", 'worse', broken => 1);
package_at("$here/several", 'fine');
for (['run'], ['template', 'show']) {
	my $r = $cli->run([@$_, 'bad', '--templates', 'several', @state]);

	said($r, 4, qr{^paddock: skipped \Q$bad\E: template\.json:.*"descripton"}m, "@$_ of a broken package says what is wrong with it");
	like($r->{err}, qr{hint: "paddock template check \Q$bad\E" tells all that is wrong with it\n\z}, "@$_ of a broken package says how to see all faults");
	unlike($r->{err}, qr/worse/, "@$_ of a broken package says nothing of the others");
	like($r->{err}, qr{hint: "paddock template ls --state-dir \S+ --templates several" shows}, "@$_ of a broken package says how to list the folder");
}
like($cli->run(['run', 'other', '--templates', 'several', @state])->{err}, qr{skipped \S+/bad: .*skipped \S+/worse: }s, 'of another all are told');

# ---- folders that are not there, or have nothing ----
mkdir "$here/empty";
write_file("$here/file", "x\n");
for my $what (qw(check test grant)) {
	said($cli->run(['template', $what, 'nowhere']), 4, qr/\Apaddock: nowhere: No such file or directory\n\z/, "template $what of a folder that is not there");
	said($cli->run(['template', $what, 'file']), 2, qr/\Apaddock: file: this is no folder; name the one that has template\.json\n\z/, "template $what of a file");
}
for my $what (qw(check test)) {
	said($cli->run(['template', $what, 'empty']), 1, qr/\Apaddock: empty: neither it nor a folder in it has a template\.json\n\z/, "template $what of a folder without a package fails");
}

# ---- hints carry the flags that make them true ----
my @where = $cli->private;
my $r = $cli->run_private(['run', 'good']);

said($r, 2, qr/hint: "paddock (template show good --state-dir [^"]+)" tells what inputs/, 'a missing input: where the template is told of');
my ($words) = $r->{err} =~ /hint: "paddock ([^"]+)" tells/;
like($cli->run([split ' ', $words // ''])->{out}, qr/^  n  an integer, required$/m, '  the hinted command shows the inputs');
$r = $cli->run_private(['run', 'leaves']);
SKIP: {
	skip 'programs are not caged here', 3 if $r->{err} =~ /ISOLATION_TOO_WEAK/;
	like($r->{err}, qr/"paddock logs $run --state-dir [^"]+" shows all/, 'a program that gives up: where its log is');
	($words) = $r->{err} =~ /"paddock ([^"]+)" shows all/;
	like($cli->run([split ' ', $words // ''])->{out}, qr/no such table/, '  the hinted command shows the log');
	$r = $cli->run_private(['run', 'crlf']);
	($words) = $r->{err} =~ /hint: paddock ([^\n]+)\n\z/;
	like($cli->run([split ' ', $words // ''])->{out}, qr/CR LF, as files of Windows.*template check/s, 'a #! line for env that ends with CR LF is told as that');
}
said($cli->run_private(['run', 'good', '--mode', 'async', '-i', 'n=1']), 125, qr/hint: leave out --mode async, or what makes the server a private one: --state-dir \S+ --templates \S+\n\z/,
     'a daemon is of no use to who asks for a private server');
said($cli->run_private(['run', 'good', '-i', 'm.n=1']), 2, qr/takes no input "m\.n"; it takes (?:"n", "label"|"label", "n")\n\z/, 'an input that there is not: those that there are');
is($cli->run_private(['run', 'good', '-i', 'n=1', '--idempotency-key', 'k'])->{status}, 0, 'a key is used');
said($cli->run_private(['run', 'good', '-i', 'n=2', '--idempotency-key', 'k']), 2, qr/hint: give the inputs that it was used with, or another --idempotency-key\n\z/, 'a key used again for other inputs is refused');

said($cli->run(['ps', '--socket', 'nowhere']), 125, qr/no server answers at nowhere: No such file or directory\n  hint: start paddockd with that --socket, or leave the flag out for a private server\n\z/, 'a socket that nobody serves');

# ---- a run that is not there ----
for (['logs'], ['logs', '-f'], ['explain'], ['status']) {
	said($cli->run_private([@$_, $unknown]), 4, qr/\Apaddock: you have no run "$unknown"\n  code: RUN_NOT_FOUND\n  hint: "paddock ps -a --state-dir \S+ --templates \S+" shows your runs\n\z/, "@$_: that it is not there");
}
like($cli->run_private(['logs', $unknown, '--json'])->{out}, qr/"errorCode":"RUN_NOT_FOUND"/, 'logs --json as well');

# ---- what would not work is not written ----
said($cli->run(['client-config', '--client', 'cursor', '--templates', 'nowhere']), 2, qr/\Apaddock: nowhere, which --templates names: No such file/, 'client-config: templates that are not there');
said($cli->run(['client-config', '--client', 'cursor', '--config', 'nowhere']), 2, qr/\Apaddock: nowhere, which --config names: No such file/, '  a configuration that is not');
said($cli->run(['client-config', '--client', 'cursor', '--url', 'here:80/mcp']), 2, qr{\Apaddock: --url is "here:80/mcp"; it has to begin with http://}, '  client-config: a --url that is no URL');
said($cli->run(['schema', 'empty', 'file']), 2, qr/\Apaddock: empty: Is a directory\n\z/, 'a folder is no schema');
$r = $cli->run(['token', 'bob']);
write_file("$here/tokens.conf", "[server]\n$r->{err}");
is(system("$BUILD/paddockd --check=templates --config $here/tokens.conf --templates $here/mine >/dev/null 2>&1"), 0, 'what token says can be put into paddock.conf as it is');

# ---- a half package is in nobody's way ----
SKIP: {
	skip_lacking(1, 'root', 'mount');
	my @full_disk = (qw(unshare --mount --propagation private sh -c), <<'SH', 'sh');
mount -t tmpfs -o size=64k none . && cd "$PWD" || exit 98
head -c 65536 /dev/zero >fill
"$@"
status=$?
[ ! -e half ] || exit 99
exit $status
SH
	mkdir "$here/full";
	said($cli->run(['template', 'new', 'half'], cwd => "$here/full", within => \@full_disk), 125, qr/No space left on device\n  nothing is left of half; it can be tried again\n\z/, 'a package that the disk has no room for leaves nothing');
}
is($cli->run(['template', 'new', 'half'])->{status}, 0, 'a package that the disk has room for is made');
ok(strays_gone(), 'nothing is left behind');
done_testing();
