#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A program sees the checked files of the host: a package or path replaced by a link or
# another folder is shown to no program, with any kind of link, at any time; and the error
# says so.
use lib 'tests/lib';
use Paddock;
use File::Path qw(make_path remove_tree);

my $LIST = "#!/bin/bash\ncd /template\nfor f in *; do printf '%s ' \"\$f\" >&2; done\n" .
    "shopt -s nullglob; f=(*); printf '\"%s\"' \"\${f[*]}\"\n";
# A call which no template needs: the run ends, and the zygote is renewed.
my $BREAKS = "#!/usr/bin/perl\nsyscall(272, 0x10000000); print 1\n"; # unshare
my @extra; # folders outside of any test's

END { remove_tree(@extra) if @extra }

sub prepared { my ($s) = @_; my @n = $s->log_text =~ /programs=caged/g; return scalar @n }

# Have the zygote of programs replaced, as any template can; or by force.
sub renew {
	my ($s, $force) = @_;
	my $before = prepared($s);

	if ($force) {
		kill KILL => grep { (read_file("/proc/$_/cmdline") // '') =~ /\0program\0/ } $s->zygotes;
	} else {
		my $v = $s->run_sync('breaks');
		die 'breaks: ' . json_of($v) unless ($v->{error}{errorCode} // '') eq 'SANDBOX_VIOLATION';
	}
	until_true('another zygote', sub { prepared($s) > $before }) or BAIL_OUT('no zygote');
}

# Repeat until the path which could not be shown is tried again, and the run succeeds.
sub runs_again {
	my ($s, $id) = @_;
	my $v;

	until_true("$id to run", sub { $v = $s->run_sync($id); $v->{status} eq 'succeeded' });
	return $v->{result};
}

# ---- packages ----

sub swapped {
	my ($who, $user) = @_;
	my $s = Paddock->new(user => $user, templates => {
	    victim => {program => $LIST}, sibling => {program => "#!/bin/sh\necho 1\n"},
	    breaks => {program => $BREAKS}});
	my $home = "$s->{root}/templates/victim-1.0.0";
	my @ways = (
	    ['a link to /', sub { symlink '/', $home or die $! }],
	    ['a link to itself, elsewhere', sub { symlink "$home.away", $home or die $! }],
	    ['another folder', sub { mkdir $home; write_file("$home/main", "#!/bin/sh\necho 2\n") }],
	    ['nothing', sub { }],
	    ['a file', sub { write_file($home, '') }],
	    ['a link in the way', sub {
		rename "$home.away", $home or die $!; # the folder above is what goes
		rename "$s->{root}/templates", "$s->{root}/templates.away" or die $!;
		symlink "$s->{root}/templates.away", "$s->{root}/templates" or die $! },
	     sub { unlink "$s->{root}/templates" or die $!;
		   rename "$s->{root}/templates.away", "$s->{root}/templates" or die $!; 1 }],
	);

	$s->init;
	is($s->run_sync('victim')->{result}, 'main template.json', "a package is shown as it is ($who)");
	for (@ways) {
		my ($what, $put, $back) = @$_;

		rename $home, "$home.away" or die "$home: $!";
		$put->();
		renew($s, $back);
		my $v = $s->run_sync('victim');
		is($v->{status}, 'failed', "$what in its place: it does not run ($who)");
		unless ($back && $back->()) {
			-l $home || -f $home ? unlink $home : remove_tree($home);
			rename "$home.away", $home or die "$home: $!";
		}
		$v = $s->run_sync('victim');
		is($v->{error}{errorCode}, 'EXECUTION_ERROR',
		   "a package that was moved away and back does not run unseen")
		    or diag(json_of($v));
		like($v->{error}{message} // '', qr/^victim could not be shown its package, which was not the folder/,
		     'the error of a moved package says so');
		is($s->run_sync('sibling')->{result}, 1, 'another program runs beside a moved package') unless $back;
		is(runs_again($s, 'victim'), 'main template.json', 'a restored package runs again');
	}
	$s->stop("nothing is left ($who)");
}

swapped(@$_) for users();

# ---- what may be read ----

my $READS = "#!/bin/bash\nf=\$(cat PATH/secret PATH 2>/dev/null; ls PATH 2>/dev/null)\n" .
    "printf '\"%s\"' \"\$(printf '%s' \"\$f\" | tr '\\n' ' ')\"\n";

sub reader {
	my ($path) = @_;
	my $code = $READS;

	$code =~ s/PATH/$path/g;
	return {program => $code, permissions => {readPaths => [$path]}};
}

sub links {
	my ($who, $user) = @_;
	my $room = Paddock::fresh_root($user);
	my %links = ( # below shared, and what a program would read by it
	    final => ['../private', 'final'],
	    file => ['../private/secret', 'file'],
	    middle => ['../private', 'middle/secret'],
	    up => ['..', 'up/private'],
	    up_twice => ['../..', 'up_twice'],
	    absolute => ['/etc', 'absolute/passwd'],
	    magic => ['/proc/self/root', 'magic/etc'],
	    magic_cwd => ['/proc/self/cwd', 'magic_cwd'],
	    inside => ['real', 'inside'], # even one that stays
	    itself => ['itself', 'itself'],
	);
	my %templates = (plain => reader("$room/shared/real"), breaks => {program => $BREAKS},
			 sibling => {program => "#!/bin/sh\necho 1\n"});

	write_file("$room/private/secret", "secret\n");
	write_file("$room/shared/real/secret", "public\n");
	chmod 0755, "$room/private", "$room/shared", "$room/shared/real";
	for (sort keys %links) {
		symlink $links{$_}[0], "$room/shared/$_" or die "$_: $!";
		$templates{"by_$_"} = reader("$room/shared/$links{$_}[1]");
	}
	my $s = Paddock->new(user => $user, templates => \%templates,
			     config => "[sandbox]\nread_paths = $room/shared\n")->greeted;
	is($s->run_sync('plain')->{result}, 'public secret', "a folder that is granted is read ($who)");
	for (sort keys %links) {
		my $r = $s->run("by_$_");

		is($r->{view}{errorCode}, 'PERMISSION_NOT_ALLOWED', "a link is refused: $_");
		like($r->{view}{error} // '', qr{\Q$room/shared/$_\E, and links are not followed},
		     "the refusal names the link: $_");
	}

	# a link made after the check, before the mount
	rename "$room/shared/real", "$room/shared/away" or die $!;
	symlink '../private', "$room/shared/real" or die $!;
	renew($s);
	is($s->run('plain')->{view}{errorCode}, 'PERMISSION_NOT_ALLOWED', 'a folder that became a link is refused');
	unlink "$room/shared/real";
	rename "$room/shared/away", "$room/shared/real" or die $!;
	my $v = $s->run_sync('plain');
	is($v->{error}{errorCode}, 'PERMISSION_NOT_ALLOWED', 'the target of a later link is seen by nobody');
	like($v->{error}{message} // '',
	     qr{^plain could not be shown what it asks to read: \Q$room/shared/real\E leads through a symbolic link},
	     'the error names the later link');
	is($s->run_sync('sibling')->{result}, 1, 'another program runs beside the later link');
	is(runs_again($s, 'plain'), 'public secret', 'a template runs again when the link is gone');
	$s->stop("nothing is left ($who)");
}

links(@$_) for users();

# ---- where it lies ----

# A granted path within a hidden place of the host is there alone, and all other programs
# run as before.
for my $top (qw(/var/tmp /run /home /root /srv /opt)) {
      SKIP: {
		my $dir = "$top/paddock-test-$$";

		skip "$top is not ours to write to", 5 unless -d $top && -w $top && mkdir $dir;
		push @extra, $dir;
		chmod 0755, $dir;
		write_file("$dir/data/secret", "public\n");
		write_file("$dir/other", "private\n");
		my $s = Paddock->new(templates => {
		    reads => reader("$dir/data"),
		    looks => {program => "#!/bin/sh\ntest -e $dir/data && echo 1 && exit; " .
				  "test -e $dir/data/secret -o -e $dir/other && echo 2 || echo 0\n"},
		    clumsy => reader('/proc/sys'), covered => reader('/work'), odd => reader('/dev/null/x'), breaks => {program => $BREAKS}},
				     config => "[sandbox]\nread_paths = $dir /proc /dev /work\n");

		$s->init;
		is_deeply($s->tool('get_runtime_profile')->{view}{programs}, {available => true},
			  "a path below $top is granted: programs are caged");
		is($s->run_sync('reads')->{result}, 'public secret', "a path below $top is read");
		like(json_of($s->run_sync('looks')->{result}), qr/^[01]$/, "a path below $top is not read by another template");
		is($s->run('odd')->{view}{errorCode} // 'none', 'PERMISSION_NOT_ALLOWED',
		   "a path that cannot be shown stops one template alone ($top)");
		is($s->run_sync('reads')->{status}, 'succeeded', "a readable path below $top stays readable");
		like($s->run($_->[0])->{view}{error} // 'none', qr/no program can be shown, since each has a $_->[1] of its own/,
		     "a path hidden by each program's own $_->[1] is refused")
		    for [clumsy => '/proc'], [covered => '/work'];
		$s->stop;
	}
}

# ---- a kernel that cannot ----

my $room = Paddock::fresh_root();

SKIP: {
	skip_lacking(14, 'compiler');
	compile('lib/deny.c', "$room/deny", '-lseccomp');
	for my $call (qw(open_tree move_mount mount_setattr)) {
		my $s = Paddock->new(templates => {says => {program => "#!/bin/sh\necho 1\n"}, lua => lua('return 1')},
				     wrap => ["$room/deny", $call, '--'])->greeted;
		my $r = $s->run('says');
		is($r->{view}{errorCode}, 'ISOLATION_TOO_WEAK', "without $call(2) no program runs");
		like($r->{view}{error}, qr/root: ENOSYS \(.*cannot be shown without .*Linux 5\.12/, "without $call(2) the reason is told");
		is($s->run_sync('lua')->{result}, 1, "without $call(2) Lua runs");
		$s->stop;
	}
	my $s = Paddock->new(templates => {says => {program => "#!/bin/sh\necho 1\n"}}, wrap => ["$room/deny", 'mount', '--'])->greeted;
	like($s->run('says')->{view}{error}, qr{root: EPERM \(/\)}, 'where nothing may be mounted, the path that could not be is told');
	$s->stop;
	$s = Paddock->new(templates => {lua => lua('return 1')}, wrap => ["$room/deny", 'openat2', '--']);
	$s->init;
	is($s->run('lua')->{view}{errorCode}, 'TEMPLATE_NOT_FOUND', 'without openat2(2) no package is read');
	ok($s->log_has(qr/skipped=.*openat2\(2\) is missing/), 'without openat2(2) the log has the reason');
	$s->stop;
}
done_testing();
