#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# "make install" into a folder: the installed files and modes, whether the programs find
# each other, and "make uninstall".
use lib 'tests/lib';
use Paddock;
use File::Find ();
use File::Temp ();
use POSIX ();

delete @ENV{qw(MAKEFLAGS MFLAGS MAKELEVEL)}; # of the make that runs us

my @templates = map { s{.*/}{}r } glob "$TOP/etc/templates/*";
my @attackers = map { s{.*/}{}r } glob "$TOP/etc/selftest/*";
my @documents = qw(README.md TUTORIAL.md SECURITY.md NEWS LICENSE);
my %examples = (
	(map { ("examples/$_" => 1) } map { s{.*/}{}r } glob "$TOP/etc/examples/*.*"),
	(map { ("examples/codemode/$_" => 1) } map { s{.*/}{}r } glob "$TOP/etc/examples/codemode/*"),
	(map { ("examples/cluster/$_" => 1) } map { s{.*/}{}r } glob "$TOP/etc/cluster/*"),
);
my @manuals = map { s{.*/}{}r } glob "$TOP/man/*.[1358]";

# Run CMD in DIR; (exit status, stdout, stderr). As an ordinary user with LOW.
sub run_in {
	my ($dir, $low, @cmd) = @_;
	my ($out, $err) = map { File::Temp->new } 1 .. 2; # gone with their names
	my $pid = fork // die "fork: $!\n";

	if ($pid == 0) {
		chdir $dir or die "$dir: $!";
		open STDIN, '<', '/dev/null' or die;
		open STDOUT, '>&', $out or die;
		open STDERR, '>&', $err or die;
		if ($low) {
			%ENV = (PATH => '/usr/bin:/bin', HOME => $dir, LC_ALL => 'C');
			if (as_root()) {
				$) = "$NOBODY $NOBODY";
				POSIX::setgid($NOBODY);
				POSIX::setuid($NOBODY);
			}
		}
		exec @cmd or POSIX::_exit(127);
	}
	waitpid $pid, 0;
	return ($? >> 8, read_file($out->filename), read_file($err->filename));
}

# Everything is built; nothing is built again here.
sub make {
	my ($target, @vars) = @_;
	my ($status, $out, $err) = run_in($TOP, 0, 'make', '-s', '--no-print-directory',
					  '-o', 'all', $target, "B=$BUILD", @vars);

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is($status, 0, "make $target") or diag($out, $err);
	is($err, '', "make $target has nothing to complain of");
}

# path => mode of every file below DIR.
sub tree {
	my ($dir) = @_;
	my %all;

	File::Find::find({no_chdir => 1, wanted => sub {
		my $name = substr $_, length $dir;

		$all{$name} = sprintf '%03o', (stat $_)[2] & 07777 if -f $_;
	}}, $dir);
	return \%all;
}

sub files_of { # of a shipped template
	my ($template, $folder) = @_;
	my $all = tree("$TOP/etc/$folder/$template");

	return sort keys %$all;
}

sub expected {
	my ($prefix) = @_;

	return {
		"$prefix/bin/paddock" => '755',
		"$prefix/bin/paddockd" => '755',
		"$prefix/libexec/paddock/paddock-worker" => '755',
		"$prefix/libexec/paddock/paddock-browser" => '755',
		"$prefix/libexec/paddock/paddock-egress" => '755',
		(map { ("$prefix/libexec/paddock/modules$_" => m{^/bin/} ? '755' : '644') } sort keys %{tree("$BUILD/modules")}),
		"$prefix/share/paddock/template.schema.json" => '644',
		"$prefix/share/bash-completion/completions/paddock" => '644',
		"$prefix/share/fish/vendor_completions.d/paddock.fish" => '644',
		"$prefix/share/zsh/" . ($prefix eq '/usr' ? 'vendor-completions' : 'site-functions') . '/_paddock' => '644',
		"$prefix/lib/systemd/system/paddockd.service" => '644',
		"$prefix/lib/systemd/system/paddockd.socket" => '644',
		'/etc/paddock/paddock.conf' => '644',
		(map { ("$prefix/share/doc/paddock/$_" => '644') } @documents, keys %examples),
		(map { my $m = $_; ("$prefix/share/man/man" .
		       substr($m, -1) . "/$m" => '644') } @manuals),
		(map { my ($folder, $t) = @$_; map { (
		       "$prefix/share/paddock/$folder/$t$_" =>
		       -x "$TOP/etc/$folder/$t$_" ? '755' : '644') }
		       files_of($t, $folder) } (map { ['templates', $_] } @templates),
		       (map { ['selftest', $_] } @attackers)),
	};
}

umask 0027; # the operator's; it must not decide what others can read
my $root = Paddock::fresh_root();
my $dest = "$root/dest";

make('install', "DESTDIR=$dest");
same_json(tree($dest), expected('/usr'), 'all files are there, with their modes');
cmp_ok(scalar @manuals, '>=', 4, 'manual pages are among them');
cmp_ok(scalar keys %examples, '>=', 10, 'examples are installed');
for (['/usr/bin', '755'], ['/usr/libexec/paddock', '755'],
     ['/usr/share/paddock/templates/csv_profile/tests', '755'],
     ['/usr/share/doc/paddock/examples/cluster', '755'], ['/usr/share/doc/paddock/examples/codemode', '755'],
     ['/usr/libexec/paddock/modules', '755'],
     ['/etc/paddock/conf.d', '755'], ['/etc/paddock/templates', '755']) {
	is(sprintf('%03o', (stat "$dest$_->[0]")[2] & 07777), $_->[1],
	   "everybody can look into $_->[0]");
}
like(read_file("$dest/usr/lib/systemd/system/paddockd.service"),
     qr{^ExecStart=/usr/bin/paddockd$}m, 'the unit starts what is installed');
unlike(read_file("$dest/usr/lib/systemd/system/paddockd.service"), qr/\@[A-Z]+\@/,
       'nothing is left to be filled in');

# ---- a second time ----

write_file("$dest/etc/paddock/paddock.conf", "# mine\n");
make('install', "DESTDIR=$dest");
is(read_file("$dest/etc/paddock/paddock.conf"), "# mine\n",
   'a configuration that is there is kept');

# ---- they work together ----

chmod 0755, $dest;
my $home = "$root/home";
mkdir $home;
chown $NOBODY, $NOBODY, $home if as_root();
{
	my ($status, $out, $err) = run_in($home, 1, "$dest/usr/bin/paddockd",
					  '--print-config');

	is($status, 0, 'the installed paddockd runs');
	like($out, qr{^templates = /etc/paddock/templates\n\s+\Q$dest\E/usr/share/paddock/templates$}m,
	     'the installed paddockd looks for templates where they are installed');
	($status, $out, $err) = run_in($home, 1, "$dest/usr/bin/paddockd", '--check',
				       '--templates',
				       "$dest/usr/share/paddock/templates");
	is($status, 0, 'every shipped template is good');
	is(scalar(split /\n/, $out), scalar @templates, 'all are found');
	write_file("$home/a.txt", "one\ntwo\n");
	write_file("$home/b.txt", "one\n2\n");
	chmod 0644, "$home/a.txt", "$home/b.txt";
	($status, $out, $err) = run_in($home, 1, "$dest/usr/bin/paddockd", '--print-grants',
				       '--templates', "$dest/usr/share/paddock/templates");
	is_deeply([map { $_->{templateId} } grep { $_->{permissions}{missing} } @{json_to($out)}], [],
		  'the installed templates have their grants');
	($status, $out, $err) = run_in($home, 1, "$dest/usr/bin/paddockd", '--print-grants',
				       '--templates', "$TOP/etc/templates");
	is_deeply([sort map { $_->{templateId} } grep { $_->{permissions}{missing} } @{json_to($out)}],
		  [qw(batch_extract_pages login_keep_session multi_tab_compare run_bash run_lua run_node run_python)],
		  'grants are those of installed templates alone');
	($status, $out, $err) = run_in($home, 1, "$dest/usr/bin/paddock", 'run', 'text_diff',
				       '--json', '--no-artifacts',
				       '-i', 'a=@a.txt', '-i', 'b=@b.txt');
	is($status, 0, 'paddock, paddockd and paddock-worker find each other')
	    or diag($err);
	like($out, qr/\+2/, 'the installed paddock runs text_diff');
	($status, $out, $err) = run_in($home, 1, "$dest/usr/bin/paddock", 'selftest');
	is($status, 0, 'the installed selftest finds its attacks, and the cage holds')
	    or diag($out, $err);
}
{
	my ($status, $out, $err) = run_in($home, 0, 'bash', '-n',
		"$dest/usr/share/bash-completion/completions/paddock");

	is("$status$err", '0', 'bash can read the completion');
}

# ---- away again ----

make('uninstall', "DESTDIR=$dest");
same_json([keys %{tree($dest)}], ['/etc/paddock/paddock.conf'],
	  'uninstall leaves the configuration alone');

# ---- elsewhere ----

$dest = "$root/other";
make('install', "DESTDIR=$dest", 'PREFIX=/usr/local');
same_json(tree($dest), expected('/usr/local'), 'PREFIX is another place');
like(read_file("$dest/usr/local/lib/systemd/system/paddockd.service"),
     qr{^ExecStart=/usr/local/bin/paddockd$}m, 'the unit knows it');
make('uninstall', "DESTDIR=$dest", 'PREFIX=/usr/local');
same_json([keys %{tree($dest)}], ['/etc/paddock/paddock.conf'],
	  'uninstall with PREFIX leaves the configuration alone');

done_testing;
