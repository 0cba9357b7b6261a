#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# paddock template build: the same lock gives the same files, no fetched file is executed,
# and existing files stay after a failure. An index and a registry of the test (index.py)
# serve all files, some of them hostile.
use lib 'tests/lib';
use Paddock;
use Cli;

needs('python3');

my $cli = Cli->new;
my $root = "$cli->{root}/packages";
my $uid = as_root() ? 0 : $>;
my $pid = open(my $index, '-|', 'python3', "$TOP/tests/system/templates/index.py") // die "python3: $!\n";
my %at = %{json_to(scalar <$index>)};
my @index = ('--index-url', "$at{url}/simple");

END { if ($pid) { my $status = $?; kill KILL => $pid; close $index; $? = $status } }

sub package_of {
	my ($name, %files) = @_;
	my $dir = "$root/$name";

	write_file("$dir/template.json", json_of({templateId => 'x', version => '1.0.0', name => 'x', description => 'For a test.',
		runtime => {type => 'program', entry => 'main'}, inputsSchema => {type => 'object'}}));
	write_file("$dir/main", "#!/bin/sh\n");
	chmod 0755, "$dir/main";
	write_file("$dir/$_", $files{$_}) for keys %files;
	return $dir;
}
sub lock_of { return join '', map { "$_==1.0 --hash=sha256:" . ($at{sha256}{$_} // die $_) . "\n" } @_ }
sub npm_lock {
	my (%o) = @_;
	my @names = @{$o{names}};

	return ('package.json' => json_of({name => 'x', version => '1.0.0', dependencies => {map { ($_ => '1.0.0') } @names}}),
		'package-lock.json' => json_of({name => 'x', version => '1.0.0', lockfileVersion => 3, packages => {
			'' => {name => 'x', version => '1.0.0', dependencies => {map { ($_ => '1.0.0') } @names}},
			map { ("node_modules/$_" => {version => '1.0.0', resolved => "$at{url}/npm/$_.tgz",
				integrity => "sha512-$at{sha512}{$_}", hasInstallScript => JSON::PP::true(), %{$o{more} // {}},
				$_ eq 'ours' ? (dependencies => {under => '1.0.0'}) : ()}) } @names}}));
}
sub build { my ($dir, @more) = @_; return $cli->run(['template', 'build', $dir, @index, @more]) }
sub files { my ($dir) = @_; return join ' ', map { substr $_, 1 + length $dir } sort grep { -f } split /\n/, `find $dir` }
sub clean { return join ' ', grep { /\.build/ } split /\n/, `find $root -name '*.build*'` }

# ---- what is no lock ----

my $none = package_of('none');
my @wrong = (
    ['no lock', {}, qr/neither requirements\.txt nor package-lock\.json.*pip-compile --generate-hashes.*npm install --package-lock-only/s],
    ['no lock of npm', {'package.json' => '{}'}, qr/a package\.json and no package-lock\.json/],
    ['no hash', {'requirements.txt' => "# first\nours==1.0\n"}, qr{wrong/no hash/requirements\.txt:2: ours has no --hash}],
    ['an option', {'requirements.txt' => "--no-binary :all:\n"}, qr/:1: --no-binary: a build takes packages by version and hash/],
    ['no package.json', {'package-lock.json' => '{}'}, qr{/package\.json is not there}],
    ['an old lock', {'package.json' => '{}', 'package-lock.json' => '{"dependencies": {}}'}, qr/has no "packages", as one of npm 7/],
    ['no JSON', {'package.json' => '{}', 'package-lock.json' => "{\n]"}, qr/package-lock\.json: line 2, column 1/],
    ['no integrity', {'package.json' => '{}', 'package-lock.json' => '{"packages": {"node_modules/a": {"resolved": "http://a"}}}'}, qr{node_modules/a has no "integrity"}],
    ['git', {'package.json' => '{}', 'package-lock.json' => '{"packages": {"node_modules/a": {"resolved": "git+ssh://a"}}}'}, qr/comes from git\+ssh:\/\/a, which is no registry/],
    ['git beside dev', {'package.json' => '{}', 'package-lock.json' => '{"packages": {"node_modules/a": {"version": "git+http://a/b", "dev": true, "inBundle": true}}}'}, qr{node_modules/a: "version" is "git\+http://a/b", and not a version}],
    ['git that is needed', {'package.json' => '{"dependencies": {"a": "git+http://a/b"}}', 'package-lock.json' => '{"packages": {}}'}, qr{package\.json needs a as "git\+http://a/b"}],
    ['a hash of nothing', {'package.json' => '{}', 'package-lock.json' => '{"packages": {"node_modules/a": {"version": "1.0.0", "resolved": "http://a/b", "integrity": "none"}}}'}, qr/"integrity" is no sha512-/],
    ['a link', {'package.json' => '{}', 'package-lock.json' => '{"packages": {"node_modules/a": {"link": true}}}'}, qr{node_modules/a is a link to a folder}],
);
said(build(package_of("wrong/$_->[0]", %{$_->[1]})), 2, $_->[2], "$_->[0] is told") for @wrong;
symlink '/etc/passwd', package_of('linked_lock') . '/requirements.txt';
said(build("$root/linked_lock"), 2, qr/this is no plain file/, 'a lock that is a link is not read');
mkdir "$root/empty";
said(build("$root/empty"), 2, qr/is no package: it has no template\.json/, 'a folder that is no package is told');
said(build("$root/nowhere"), 4, qr/nowhere/, 'a folder that does not exist is told');

# ---- pip ----

SKIP: {
	skip_lacking(26, 'pip');
	my @two = map { package_of("$_/pip", 'requirements.txt' => lock_of(qw(ours under))) } qw(one two);

	said(build($_), 0, qr/paddock reload, or SIGHUP/, 'a lock is built') for @two;
	my $files = files("$two[0]/site-packages");

	like($files, qr{\bours/__init__\.py .*\bunder\.py\b}, 'the modules are there');
	like($files, qr{\bours/__pycache__/__init__\.cpython-\d+\.pyc}, 'the modules are compiled');
	unlike($files, qr/bad\.cpython/, 'a module that is no Python is not compiled');
	is(Paddock::digest_of($two[0]), Paddock::digest_of($two[1]), 'the same lock gives the same digest');
	like(`PYTHONPATH=$two[0]/site-packages python3 -vc 'import under; print(under.SAYS)' 2>&1`, qr/^ours$/m, 'the built modules are imported');
	is((stat "$two[0]/site-packages/ours")[4], $uid, 'the built modules belong to the user of the build');
	my $before = Paddock::digest_of($two[0]);

	for (['a file that is another', "ours==1.0 --hash=sha256:" . '0' x 64 . "\n", qr/the hash of a fetched file is not the hash in the lock/],
	     ['a package that is nowhere', "none==1.0 --hash=sha256:" . '0' x 64 . "\n", qr/no wheel of that version.*what pip printed last/s],
	     ['source, which would be executed', lock_of('source'), qr/there is no wheel of that version/],
	     ['a file above the folder', lock_of('above'), qr/what pip printed last:.*outside/s],
	     ['a name that acts on a terminal', lock_of('control'), qr/^[^\x1b]*$/]) {
		write_file("$two[0]/requirements.txt", $_->[1]);
		said(build($two[0]), 1, $_->[2], "$_->[0] fails");
	}
	ok(!-e '/tmp/source.ran', 'no setup.py was executed');
	write_file("$two[0]/requirements.txt", lock_of(qw(ours under)));
	is(Paddock::digest_of($two[0]), $before, 'what was there has stayed');
	said($cli->run(['template', 'build', $two[0], '--index-url', "file://$root/"]), 1, qr/requirements\.txt: /, 'no folder of the machine is an index');
	said($cli->run(['template', 'build', $two[0], '--index-url', 'http://127.0.0.1:1/']), 1, qr/could not be reached.*--index-url/s, 'an index that is not there is told');
	said($cli->run(['template', 'build', $two[0], '--index-url', "$at{url}/none"]), 1, qr/or there is no index at that URL/, 'an address that is no index is told');
	said($cli->run(['template', 'build', $two[0], '--index-url', 'http://index.invalid/']), 1, qr/by http: is taken from this machine alone/, 'an address by http that pip does not ask is told');

	my $bare = package_of('bare', 'requirements.txt' => '');

	is(build($bare)->{out}, "$bare/site-packages: 0 files, 0 bytes\n", 'of nothing there is nothing');
	write_file("$two[1]/requirements.txt", lock_of(qw(setuid linked)));
	said(build($two[1]), 0, qr/SIGHUP/, 'hostile wheels are taken apart');
	is(join(' ', map { sprintf '%o', (stat "$two[1]/site-packages/$_")[2] & 07777 } qw(setuid/tool linked/passwd)), '755 644', 'nobody is another by them');
	ok(!-l "$two[1]/site-packages/linked/passwd", 'the build has no links of a hostile wheel');
	unlike(files("$two[1]/site-packages"), qr/ours/, 'the build removes the modules of before');
	is(clean(), '', 'nothing is left beside a package');
}

# ---- interrupted ----

SKIP: {
	skip_lacking(7, 'pip');
	my $dir = package_of('stalls', 'requirements.txt' => lock_of('ours'));
	my @stall = (['template', 'build', $dir, '--index-url', "$at{url}/stall"]);
	my $p = $cli->start(@stall);

	until_true('a build does not begin', sub { -d "$root/.stalls.build/site-packages" });
	my %core;
	until_true('processes of the build', sub { %core = map { $_ => 1 } core_limits_below($p->{pid}); return "@{[keys %core]}" eq '1 1' }); # a child has the limit a moment after its start
	same_json([keys %core], ['1 1'], 'a crash in a build starts nobody');
	said(build($dir), 125, qr/is being built already/, 'of two builds at once one is refused');
	kill INT => $p->{pid};
	is($p->finish->{status}, 130, 'one that is interrupted ends');
	is(clean(), '', 'an interrupted build leaves nothing');
	$p = $cli->start(@stall);
	until_true('a build does not begin', sub { -d "$root/.stalls.build/site-packages" });
	kill KILL => $p->{pid};
	$p->finish;
	isnt(clean(), '', 'one that is killed leaves where it worked');
	until_true('its cage lives on', sub { build($dir)->{status} == 0 });
	is(clean(), '', 'the next build removes the folder of a killed one');
	like(files("$dir/site-packages"), qr/ours/, 'the next build has the modules');
}

# ---- npm ----

SKIP: {
	skip_lacking(14, 'npm');
	my @two = map { package_of("$_/npm", npm_lock(names => [qw(ours under)])) } qw(one two);

	said(build($_), 0, qr/SIGHUP/, 'a lock of npm is built') for @two;
	is(files("$two[0]/node_modules"), 'ours/bin.js ours/main.js ours/package.json under/main.js under/package.json',
	   'the packages are there, and no script of theirs has run');
	is(Paddock::digest_of($two[0]), Paddock::digest_of($two[1]), 'the same lock gives the same digest');
	is(`cd $two[0] && node -p "require('ours').says"`, "under ours\n", 'the built packages are found by node');
	write_file("$two[0]/package-lock.json", {npm_lock(names => [qw(ours under)], more => {integrity => 'sha512-' . 'A' x 86 . '=='})}->{'package-lock.json'});
	said(build($two[0]), 1, qr/the hash of a fetched file is not the hash in the lock/, 'a file that is another fails');
	is(files("$two[0]/node_modules"), files("$two[1]/node_modules"), 'a failed build leaves the packages as they were');
	for (['broken/', qr/answered with an error of its own.*--registry/], ['cut/npm/', qr/could not be reached.*--registry/s], ['none/', qr/a package is not where the lock or --registry says/]) {
		my ($path, $why) = @$_;

		write_file("$two[0]/package-lock.json", {npm_lock(names => ['under'], more => {resolved => "$at{url}/${path}under.tgz"})}->{'package-lock.json'});
		write_file("$two[0]/package.json", {npm_lock(names => ['under'])}->{'package.json'});
		my $r = build($two[0]);
		said($r, 1, $why, "what $path answers is told");
		unlike($r->{err}, qr/complete log/, 'the error names no log that is gone') if $path eq 'none/';
	}
	my $hostile = package_of('hostile', npm_lock(names => ['hostile']));
	my $r = build($hostile);

	is($r->{status}, 0, 'a hostile package is taken apart') or diag($r->{err});
	unlike(`find $root -type l -o -perm /6000 -o -type b -o -type c -o -type p`, qr{/node_modules/}, 'a hostile package leaves plain files alone');
	unlike(files($root), qr{/above\.js}, 'a hostile package leaves no file outside of the folder');
}

# ---- a tool that is hostile itself ----

# In place of npm, try acts forbidden in a build, and leave the results; by the name of the
# package, a file which is not plain.
my $evil = <<'PERL';
#!/usr/bin/perl
use Socket;
use JSON::PP;
use POSIX ();
my (%did, $fh);
sub try { my ($what, $good) = @_; $did{$what} = $good ? 'done' : "$!" }
local $/;
open $fh, '<', 'package.json';
my $name = decode_json(<$fh>)->{name};
close $fh;
$did{env} = join ' ', sort keys %ENV;
open my $users, '<', '/etc/passwd';
$did{users} = join ' ', map { /^(\w+):/ } <$users>;
close $users;
$did{seen} = join ' ', grep { -e } qw(/root /home /etc/shadow /var /run /sys /srv ROOT);
$did{fds} = join ' ', grep { /^\d+$/ && $_ > 2 && -e "/proc/self/fd/$_" } map { m{(\d+)$} } glob '/proc/self/fd/*';
$did{pids} = join ' ', grep { $_ != $$ } map { m{^/proc/(\d+)$} } glob '/proc/*';
try("write $_", open $fh, '>', $_) for qw(/usr/x /etc/x /x);
try('memory of 1', open $fh, '<', '/proc/1/mem');
try('local socket', socket $fh, AF_UNIX, SOCK_STREAM, 0);
try('netlink', socket $fh, 16, SOCK_RAW, 0);
socket $fh, AF_INET, SOCK_STREAM, 0;
try('port', bind $fh, pack_sockaddr_in(0, INADDR_LOOPBACK));
try('index', connect $fh, pack_sockaddr_in(PORT, INADDR_LOOPBACK));
my @mount = ('none', $ENV{HOME}, 'tmpfs');
try('mount', syscall(MOUNT, @mount, 0, 0) == 0);
try('namespace', syscall(UNSHARE, 0x10000000) == 0);
try('execute', system('/bin/true') == 0);
kill KILL => 1;
mkdir 'node_modules';
open $fh, '>', 'node_modules/did.json';
print $fh encode_json(\%did);
close $fh;
symlink '/etc/passwd', 'node_modules/link' if $name eq 'link';
POSIX::mkfifo('node_modules/fifo', 0644) if $name eq 'fifo';
open $fh, '>', "node_modules/a\nb" if $name eq 'newline';
if ($name eq 'deep') { my $d = 'node_modules'; for (1 .. 40) { $d .= '/d'; mkdir $d } open $fh, '>', "$d/f" }
if ($name eq 'large') { open $fh, '>', 'node_modules/f'; truncate $fh, 600 << 20 }
if ($name eq 'lives') { fork or do { POSIX::setsid(); sleep 1000 } }
print "\e[2J", 'x' x 100000, "\n";
exit($name eq 'fails' ? 3 : 0);
PERL

SKIP: {
	skip_lacking(14, 'mount', 'npm', 'compiler');
	my ($port) = $at{url} =~ /(\d+)$/;

	$evil =~ s/ROOT/$root/;
	$evil =~ s/PORT/$port/;
	my %nr = system_calls();
	$evil =~ s/MOUNT/$nr{mount}/;
	$evil =~ s/UNSHARE/$nr{unshare}/;
	write_file("$root/npm", $evil);
	chmod 0755, "$root/npm";
	my $build = sub {
		my ($name) = @_;
		my $dir = package_of("evil/$name", 'package.json' => "{\"name\": \"$name\"}", 'package-lock.json' => '{"packages": {}}');
		my $out = `unshare -m sh -c 'mount --bind $root/npm /usr/bin/npm && exec $BUILD/paddock template build $dir' 2>&1`;

		return ($? >> 8, $out, $dir);
	};
	my ($status, $out, $dir) = $build->('looks');
	is($status, 0, 'a tool that is hostile is run') or diag($out);
	my $did = json_to(read_file("$dir/node_modules/did.json") // '{}');

	is($did->{seen}, '', 'a build sees nothing of the machine but programs');
	like($did->{users}, qr/\Apaddock( nobody)?\z/, 'a build sees no user of the machine');
	is($did->{env}, 'HOME LANG NODE_EXTRA_CA_CERTS PATH PIP_CONFIG_FILE PIP_ROOT_USER_ACTION PYTHONHASHSEED PYTHONSAFEPATH TMPDIR', 'a build sees nothing of the environment');
	is("$did->{fds}/$did->{pids}", '/', 'a build has no descriptor and no other process');
	is($did->{index}, 'done', 'a build reaches the index');
	is_deeply({map { ($_ => $did->{$_}) } grep { $did->{$_} eq 'done' } keys %$did}, {index => 'done'}, 'a build reaches nothing beside the index');
	unlike($out, qr/\e/, 'the output of a build has no escape for a terminal');
	for (['link', qr/link is neither a plain file nor a folder/], ['fifo', qr/fifo is neither a plain file nor a folder/],
	     ['newline', qr/a\?b: /], ['deep', qr/folders lie more than 32 deep/], ['large', qr/more than 536870912 bytes/],
	     ['fails', qr/npm ended with status 3/]) {
		($status, $out, $dir) = $build->($_->[0]);
		ok($status == 1 && $out =~ $_->[1] && !-e "$dir/node_modules", "what leaves $_->[0] is told, and kept out") or diag("$status $out");
	}
	($status) = $build->('lives');
	is($status, 0, 'a process that it leaves ends with it');
}

# ---- as whom ----

SKIP: {
	skip_lacking(8, 'root', 'pip', 'compiler');
	my $dir = package_of('user/pip', 'requirements.txt' => lock_of('ours'));

	system("chown -R $NOBODY:$NOBODY $root/user; chmod -R go+rX $cli->{root}");
	my $mask = umask 077;
	my $r = $cli->run(['template', 'build', $dir, @index], user => $NOBODY);

	umask $mask;
	is($r->{status}, 0, 'an ordinary user builds') or diag($r->{err});
	is((stat "$dir/site-packages/ours")[2] & 0777, 0755, 'built modules are readable for all');
	$r = build($dir);
	is($r->{status}, 0, 'root builds in a user\'s folder') or diag($r->{err});
	is((stat "$dir/site-packages/ours")[4], $NOBODY, 'a package built by root stays the user\'s');
	chmod 0700, $cli->{root};
	is(build($dir)->{status}, 0, 'root builds in a folder without a way for the user');
	chmod 0755, $cli->{root};
	$dir = package_of('alone/pip', 'requirements.txt' => lock_of('ours'));
	system("chown $NOBODY:$NOBODY $dir");
	is_deeply([map { $cli->run(['template', 'build', $dir, @index], user => $NOBODY)->{status} } 1 .. 2], [0, 0],
	   'a user builds where nothing can be put beside the package, and again');
	is(files($dir) =~ /ours/ ? clean() : 'nothing', '', 'a build without a writable parent leaves nothing else');
	compile('lib/deny.c', "$cli->{root}/deny", '-lseccomp');
	my $out = `$cli->{root}/deny userns -- $BUILD/paddock template build $dir 2>&1`;

	like($out, qr/the cage cannot be built: userns: .*allow user namespaces/, 'without user namespaces nothing is built');
}
done_testing();
