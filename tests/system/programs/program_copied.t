#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A program whose grant is bound to the package's digest runs exactly the files of the
# digest, whoever writes to the package meanwhile: the program sees a copy, compared when
# made. PADDOCK_ROUNDS: the number of starts.
use lib 'tests/lib';
use Paddock;
use Cage;
use Daemon;

my $ROUNDS = $ENV{PADDOCK_ROUNDS} // 40;
my $BREAKS = "#!/usr/bin/perl\nsyscall(272, 0x10000000); print 1\n"; # unshare
my ($GOOD, $EVIL) = ("w=good\n", "w=evil\n");

# In place: the same inode.
sub put_in {
	my ($path, $bytes) = @_;

	open my $out, '+<', $path or die "$path: $!";
	syswrite $out, $bytes;
	truncate $out, length $bytes;
	close $out or die "$path: $!";
}

# The server; the template "late" loads its module when told to go.
sub served {
	my ($user, %more) = @_;
	my $room = Paddock::fresh_root($user);

	write_file("$room/sign/no", '');
	chmod 0755, "$room/sign";
	my $begin = "#!/bin/bash\necho '{\"step\":{\"name\":\"a\",\"state\":\"running\"}}' >&3\n" .
	    "while [ ! -e $room/sign/go ]; do :; done\n";
	# with locks a program has the host's own inodes, and so sees new files
	my %asks = (permissions => {locks => JSON::PP::true, readPaths => ["$room/sign"]});
	my $s = Daemon->new(user => $user, templates => {
	    late => {program => "$begin. /template/lib/module\n" .
		 "echo '{\"step\":{\"name\":\"a\",\"state\":\"succeeded\"}}' >&3\necho \"\\\"\$w\\\"\"\n", %asks},
	    quick => {program => "#!/bin/bash\n. /template/lib/module\necho \"\\\"\$w\\\"\"\n", %asks},
	    free => {program => "#!/bin/bash\n. /template/lib/module\necho \"\\\"\$w\\\"\"\n"},
	    breaks => {program => $BREAKS}, sibling => {program => "#!/bin/sh\necho 1\n"},
	}, idle => 1);
	my $t = "$s->{root}/templates";
	for (qw(late quick free)) {
		mkdir "$t/$_-1.0.0/lib";
		write_file("$t/$_-1.0.0/lib/module", $GOOD);
		chmod 0755, "$t/$_-1.0.0/lib";
	}
	$s->{sign} = "$room/sign";
	return $s;
}

sub grants {
	my ($s, $more, @ids) = @_;

	$s->write_config(($more // '') . join '', map {
	    "[grant \"$_\"]\nlocks = yes\nread_paths = $s->{sign}\ndigest = " .
	    digest_of("$s->{root}/templates/$_-1.0.0") . "\n" } @ids);
}

sub at { my ($s, $id, $file) = @_; return "$s->{root}/templates/$id-1.0.0/$file" }

# ---- a module that is loaded while the run goes on ----

sub late {
	my ($who, $user) = @_;
	my $s = served($user);

	grants($s, undef, qw(late quick));
	$s->start;
	(my $c = $s->client($user))->init;
	my %ways = (
	    'in place' => [sub { put_in(at($s, 'late', 'lib/module'), $EVIL) },
			   sub { put_in(at($s, 'late', 'lib/module'), $GOOD) }],
	    'by another file' => [sub { rename at($s, 'late', 'lib/module'), "$s->{root}/away";
					write_file(at($s, 'late', 'lib/module'), $EVIL) },
				  sub { rename "$s->{root}/away", at($s, 'late', 'lib/module') }],
	    'by another folder' => [sub { rename at($s, 'late', 'lib'), "$s->{root}/away";
					  mkdir at($s, 'late', 'lib');
					  write_file(at($s, 'late', 'lib/module'), $EVIL) },
				    sub { unlink at($s, 'late', 'lib/module'); rmdir at($s, 'late', 'lib');
					  rename "$s->{root}/away", at($s, 'late', 'lib') }],
	);
	for (sort keys %ways) {
		my ($swap, $back) = @{$ways{$_}};
		my $run = $c->run_async('late');

		$c->get_until($run, 'to begin', sub { $_[0]{progress}{totalSteps} });
		$swap->();
		write_file("$s->{sign}/go", '');
		my $v = $c->ended($run);
		is($v->{result}, 'good', "a module that its author swaps $_ before it is loaded: " .
		   "what was granted is loaded ($who)") or diag(json_of($v));
		is($c->run_sync('late')->{error}{errorCode}, 'EXECUTION_ERROR', "a module that is swapped later does not run ($who)");
		is($c->run_sync('sibling')->{result}, 1, "another program runs beside the swapped module ($who)");
		$back->();
		is($c->run_sync('late')->{result}, 'good', "a program runs again with the module of before ($who)");
		unlink "$s->{sign}/go";
	}
	is($c->run_sync('free')->{result}, 'good', 'a package without a grant by digest is shown as it lies');
	$s->stop("nothing is left ($who)");
}

# ---- between the check and its use, all the time ----

sub prepared { my ($s) = @_; my @n = $s->log_text =~ /programs=caged/g; return scalar @n }

sub renew {
	my ($s, $c) = @_;
	my $before = prepared($s);

	$c->run_sync('breaks');
	until_true('another zygote', sub { prepared($s) > $before }) or BAIL_OUT('no zygote');
}

sub looped {
	my ($who, $user) = @_;
	my $s = served($user);
	my ($module, $parent) = (at($s, 'quick', 'lib/module'), $$);

	grants($s, undef, qw(late quick));
	$s->start;
	(my $c = $s->client($user))->init;
	is($c->run_sync('quick')->{result}, 'good', "a program with the unchanged module runs ($who)");
	my $pid = fork // die "fork: $!\n";
	unless ($pid) {
		my $on = 1;
		local $SIG{TERM} = sub { $on = 0 };
		for (my $i = 0; $on && getppid == $parent; $i++) {
			put_in($module, $EVIL);
			select undef, undef, undef, 0.0003 * ($i % 13);
			put_in($module, $GOOD);
			select undef, undef, undef, 0.0003 * ($i % 29);
		}
		POSIX::_exit(0);
	}
	my (%ended, @hurt);
	for my $i (1 .. $ROUNDS) {
		my $v = $c->run_sync('quick');
		$ended{$v->{status} eq 'succeeded' ? $v->{result} : $v->{error}{errorCode}}++;
		push @hurt, $_ for grep { $_ ne '1' } $c->run_sync('sibling')->{result} // 'none';
		$c->run_sync('breaks') if $i % 4 == 0; # another zygote, another copy
	}
	kill TERM => $pid;
	waitpid $pid, 0;
	is_deeply([grep { !/^(?:good|EXECUTION_ERROR)$/ } sort keys %ended], [],
		  "$ROUNDS starts while its author swaps a module: what was granted runs, or nothing ($who)");
	note("  $_: $ended{$_}") for sort keys %ended;
	is_deeply(\@hurt, [], "no other program notices the swaps ($who)");
	ok(until_true('it to run', sub { ($c->run_sync('quick')->{result} // '') eq 'good' }), "a program runs after the swaps ($who)");

	# the bad module exists when the zygote is prepared, but not at the check
	put_in($module, $EVIL);
	renew($s, $c) for 1 .. 2; # one may be on its way already
	put_in($module, $GOOD);
	like($c->run_sync('quick')->{error}{message},
	     qr/^quick could not be shown its package: .* the files there had another when programs were prepared; .* SIGHUP\) .* new digest/,
	     "what had another digest when it was copied is shown to nobody, and is told ($who)");
	ok($s->log_has(qr{unshown=package why="\S+quick-1\.0\.0: its files had the digest [0-9a-f]{64} when}),
	   "the log has the digest of what was copied ($who)");
	ok(until_true('it to run', sub { ($c->run_sync('quick')->{result} // '') eq 'good' }), 'put back, it runs again');
	$s->stop("nothing is left ($who)");
}

# ---- how it is told ----

sub told {
	my $s = served();
	my $quick = at($s, 'quick', '');

	write_file(at($s, 'late', 'data'), 'x' x 5000);
	grants($s, "[sandbox]\nmax_package_copy_bytes = 4K\n", qw(late quick));
	$s->start;
	(my $c = $s->client)->init;
	my $v = $c->run_sync('late');
	is($v->{error}{errorCode}, 'RESOURCE_LIMIT', 'a package that is too large to be copied does not run')
	    or diag(json_of($v));
	like($v->{error}{message}, qr/^late .*max_package_copy_bytes/, 'the refusal of a large package names the bound');
	is($v->{error}{details}{allowed}, 4096, 'the refusal of a large package says how much is allowed');
	cmp_ok($v->{error}{details}{used}, '>', 5000, 'the refusal of a large package says how much is used');
	is($c->run_sync('quick')->{result}, 'good', 'a smaller package runs');
	is($c->run_sync('sibling')->{result}, 1, 'a package without such a grant runs');

	grants($s, "[sandbox]\nmax_package_copies_bytes = 100\n", qw(late quick));
	is($s->reload, 'done', 'a bound for all of them');
	$v = $c->run_sync('quick');
	is($v->{error}{errorCode}, 'RESOURCE_LIMIT', 'a bound for all packages holds');
	like($v->{error}{message}, qr/^quick .*max_package_copies_bytes/, 'the refusal names the bound for all packages');

	grants($s, undef, qw(late quick));
	is($s->reload, 'done', 'without those');
	is($c->run_sync('quick')->{result}, 'good', 'a program runs when the bound is lifted');
	put_in(at($s, 'quick', 'lib/module'), "w=newer\n");
	is($s->reload, 'done', 'another package');
	$v = $c->run_sync('quick');
	is($v->{errorCode}, 'PERMISSION_NOT_ALLOWED', 'a package with another digest has no grant');
	my $digest = digest_of("$s->{root}/templates/quick-1.0.0");
	like($v->{error}, qr/digest = $digest/, 'the refusal of a changed package shows the new digest');
	grants($s, undef, qw(late quick));
	is($s->reload, 'done', 'granted anew');
	is($c->run_sync('quick')->{result}, 'newer', 'a program runs with the new grant');
	$s->stop;
}

# A file which root may read, but workers may not, is not given to workers by a copy.
sub unread {
	my $s = served();

	chmod 0600, at($s, 'quick', 'lib/module');
	chmod 0700, at($s, 'late', 'lib');
	grants($s, undef, qw(late quick));
	$s->start;
	(my $c = $s->client)->init;
	for ([quick => 'lib/module'], [late => 'lib']) {
		my ($id, $what) = @$_;

		is($c->run_sync($id)->{error}{errorCode}, 'EXECUTION_ERROR', "others may not read $what: no copy is shown");
		ok($s->log_has(qr{unshown=package why="\S+$id-1\.0\.0: \Q$what\E: others may not read it}), "the log says that others may not read $what");
	}
	is($c->run_sync('sibling')->{result}, 1, "another program runs beside an unreadable package");
	$s->stop;
}

# ---- a copy is of the digest alone ----

sub same {
	my $s = served();
	my $main = at($s, 'quick', 'main');

	write_file($main, "#!/bin/bash\ncd /template\nl=\$(find . -type f -printf '%m %Ts %s %P;' | sort)\n" .
	    "l+=\$(find . -type d -printf '%P;')\$(touch x 2>&1)\nprintf '\"%s\"' \"\$l\"\n");
	chmod 0755, $main;
	grants($s, undef, 'quick');
	$s->start;
	(my $c = $s->client)->init;
	my $first = $c->run_sync('quick')->{result};
	like($first, qr{lib/module}, 'names are those of the package') or return $s->stop;
	like($first, qr/Read-only/, 'the files of a package cannot be written to');
	utime 7, 7, at($s, 'quick', 'lib/module'), $main;
	chmod 0755, at($s, 'quick', 'lib/module');
	mkdir at($s, 'quick', 'empty');
	is($s->reload, 'done', 'what a digest is not of is changed');
	kill KILL => grep { (read_file("/proc/$_/cmdline") // '') =~ /\0program/ } $s->zygotes;
	my $v;
	until_true('it to run', sub { $v = $c->run_sync('quick'); ($v->{status} // '') eq 'succeeded' });
	is($v->{result}, $first, 'a folder outside of the digest is not seen');
	$s->stop;
}

for (users()) {
	my ($who, $user) = @$_;

	late($who, $user);
	looped($who, $user);
}
told();
SKIP: {
	skip_lacking(1, 'root');
	unread();
}
same();
done_testing();
