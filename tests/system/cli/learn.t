#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# "paddock template learn" finds the least grant with which the tests of a package pass: files
# of the machine, templates, memory, and permissions that the manifest asks for. The tests
# pass with the printed draft as configuration, and fail without any line of the draft. A
# package learns no file that not everyone may read.
use File::Temp;
use lib 'tests/lib';
use Paddock;
use Cli;

my $room = File::Temp->newdir(TMPDIR => 1);
chmod 0755, $room;
for (qw(data/file data/other deep/a/file closed/file)) {
	write_file("$room/$_", 'hello');
	chmod 0644, "$room/$_";
}
chmod 0755, map { "$room/$_" } qw(data deep deep/a closed);
chmod 0600, "$room/closed/file";
symlink "$room/closed/file", "$room/data/link";

sub reads { my ($path, $more) = @_; return "#!/usr/bin/perl\n# $more\nopen my \$f, '<', '$path' or die \"$path: \$!\\n\";\nprint '\"', scalar <\$f>, '\"';\n" }
my $hello = {status => 'succeeded', result => 'hello'};
my %reads = (permissions => {readPaths => ["$room/data/file"]});
my $fat = 'local t = {} for i = 1, 100000 do t[i] = {i} end return #t';

# by name: the template, what its test expects, and the lines of the draft beside head and digest
my %cases = (
    missing => [{program => reads("$room/data/file", "see $room/data/other, $room/deep")}, $hello, "read_paths = $room/data/file"],
    silent => [{program => "#!/usr/bin/perl\nopen my \$f, '<', '$room/data/file' or do { print '1'; exit };\nprint '\"', scalar <\$f>, '\"';\n"}, $hello, "read_paths = $room/data/file"],
    both => [{program => "#!/bin/sh\na=\$(cat $room/data/file) && b=\$(cat $room/deep/a/file) && printf '\"%s\"' \"\$b\"\n"}, $hello, "read_paths = $room/data/file", "\t$room/deep/a/file"],
    asked => [{program => reads("$room/data/file", ''), %reads}, $hello, "read_paths = $room/data/file"],
    fat => [lua($fat, limits => {maxMemoryBytes => 4 << 20}), {status => 'succeeded', result => 100000}, qr/max_memory_bytes = \d+/],
    calls => [lua('if inputs.n == 0 then return 0 end return run.template("calls", {n = inputs.n - 1})', annotations => {readOnlyHint => Paddock::true}), {status => 'succeeded', result => 0}, 'templates = calls'],
    plain => [lua('return 1'), {status => 'succeeded', result => 1}],
);
my $cli = Cli->new(templates => {map { $_ => $cases{$_}[0] } keys %cases});
my $conf = "$cli->{root}/draft.conf";

sub dir { return "$cli->{root}/templates/$_[0]-1.0.0" }
sub learn { my ($name, @more) = @_; return $cli->run(['template', 'learn', dir($name), @more]) }
sub passes { my ($name, $text) = @_; write_file($conf, $text); return $cli->run(['template', 'test', dir($name), '--config', $conf])->{status} == 0 }

for my $name (sort keys %cases) {
	my (undef, $expect, @lines) = @{$cases{$name}};

	write_file(dir($name) . '/tests/one.json', json_of({inputs => {n => 1}, expect => $expect}));
	my $manifest = read_file(dir($name) . '/template.json');
	my $r = learn($name);
	if ("$r->{out}$r->{err}" =~ /ISOLATION_TOO_WEAK/) {
		note("$name: programs are not caged here");
		next;
	}
	is($r->{status}, 0, "$name is learned") or diag($r->{out}, $r->{err});
	is(read_file(dir($name) . '/template.json'), $manifest, "$name: the manifest stays as it was");
	if ($r->{out} =~ /^# template\.json has to ask first: \{/) {
		$r = learn($name, '--write');
		isnt(read_file(dir($name) . '/template.json'), $manifest, "$name: --write changes the manifest");
	}
	if (!@lines) {
		is($r->{out}, "# no grant is needed\n", "$name: no grant is needed");
		next;
	}
	my ($head, $digest, @got) = split /\n/, $r->{out};
	is($digest, 'digest = ' . digest_of(dir($name)), "$name: the draft is for the package");
	ref $lines[0] ? like("@got", qr/\A$lines[0]\z/, "$name: the draft has the limit alone") : is_deeply(\@got, \@lines, "$name: the draft has the needed lines alone");
	ok(passes($name, $r->{out}), "$name: the tests pass with the draft");
	for my $i (2 .. 1 + @got) {
		my @less = split /^/, $r->{out};

		splice @less, $i, 1;
		ok(!passes($name, join '', @less), "$name: the tests fail without line $i of the draft");
	}
	ok(!passes($name, $r->{out} =~ s/^digest = .{4}/digest = 0000/mr), "$name: the tests fail with a draft for another package");
}

# ---- what no package learns ----
my %never = (
    shadow => reads('/etc/shadow', ''),
    closed => reads("$room/closed/file", ''),
    folder => "#!/bin/sh\ncat $room/closed/* && echo 1\n",
    link => reads("$room/data/link", ''),
    up => reads("$room/data/../closed/file", ''),
    dotted => reads("$cli->{root}/.ssh/id", ''),
    memory => reads('/proc/1/environ', ''),
);
write_file("$cli->{root}/.ssh/id", 'secret');
chmod 0755, "$cli->{root}/.ssh";
chmod 0644, "$cli->{root}/.ssh/id";
bless $cli, 'Cli';
Paddock::write_templates($cli, {map { $_ => {program => $never{$_}} } keys %never});
for my $name (sort keys %never) {
	write_file(dir($name) . '/tests/one.json', json_of({inputs => {}, expect => {status => 'succeeded'}}));
	my $r = learn($name, '--json');
	my $draft = json_to($r->{out} || '{}');

	is($r->{status}, 1, "$name is not learned");
	unlike($draft->{section} // '', qr/read_paths/, "$name: the draft shows no file") or diag($r->{out});
}
like(learn('closed')->{err}, qr{\Q$room\E/closed/file was not tried, since not everyone may read}, 'a file that not everyone may read is named');

# ---- refusals ----
is(learn('plain', '-i', 'n=1')->{out}, "# no grant is needed\n", 'a run with given inputs is learned in place of tests');
Paddock::write_templates($cli, {untested => lua('return 1'), broken => lua('return 1', tools => 'x')});
is(learn('untested')->{status}, 2, 'a package without tests needs inputs');
write_file(dir('broken') . '/tests/one.json', json_of({inputs => {}}));
isnt(learn('broken')->{status}, 0, 'a broken package is not learned');
is($cli->run(['template', 'learn', "$cli->{root}/none"])->{status}, 4, 'a missing folder is told');
is($cli->run(['template', 'learn', "$cli->{root}/templates"])->{status}, 2, 'a folder without a manifest is told');
is_deeply([grep { !m{/run\.} } glob("$cli->{root}/paddock-test-*")], [], 'no temporary folder is left');
ok(strays_gone(), 'no process is left');
done_testing();
