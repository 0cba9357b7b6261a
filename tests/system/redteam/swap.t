#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A package, and a readable path, are replaced all the time by links and other folders while
# runs start and zygotes are renewed: a run sees the checked files, or fails with a reason.
# PADDOCK_ROUNDS: the number of starts.
use lib 'tests/lib';
use Paddock;
use Cage;

my $ROUNDS = $ENV{PADDOCK_ROUNDS} // 80;
# The program, and the file beside the program, both name the owner.
my $SAYS = "#!/bin/bash\nread -r t </template/token; shopt -s nullglob; f=(/template/*)\n" .
    "echo \"[\\\"WHO\\\",\\\"\$t\\\",\${#f[@]}]\"\n";
my $READS = "#!/bin/bash\nr=\$(cat PATH/secret PATH/passwd PATH 2>/dev/null)\nf=(PATH/*)\n" .
    "echo \"[\\\"\${r//\$'\\n'/ }\\\",\${#f[@]}]\"\n";
my $BREAKS = "#!/usr/bin/perl\nsyscall(272, 0x10000000); print 1\n"; # unshare

sub says { my ($who) = @_; return $SAYS =~ s/WHO/$who/r }
sub reads { my ($path) = @_; return $READS =~ s/PATH/$path/gr }

# In a child, until told to end: replace PATH again and again.
sub swap {
	my ($path, @ways) = @_;
	my $parent = $$;
	my $pid = fork // die "fork: $!\n";

	return $pid if $pid;
	my $on = 1;
	local $SIG{TERM} = sub { $on = 0 };
	for (my $i = 0; $on && getppid == $parent; $i++) {
		rename $path, "$path.away" or last;
		my $back = $ways[$i % @ways]->();

		select undef, undef, undef, 0.0003 * ($i % 13);
		$back->();
		rename "$path.away", $path or last;
		select undef, undef, undef, 0.0003 * ($i % 7);
	}
	POSIX::_exit($on ? 1 : 0);
}

sub link_to { my ($path, $to) = @_; return sub { symlink $to, $path; return sub { unlink $path } } }
sub folder { my ($path, $from) = @_; return sub { rename $from, $path; return sub { rename $path, $from } } }

sub tried {
	my ($who, $user) = @_;
	my $room = Paddock::fresh_root($user);
	my ($evil, $shared) = ("$room/evil", "$room/shared");
	my $path = "$shared/current";

	write_file("$evil/main", says('evil'));
	write_file("$evil/token", "evil\n");
	write_file("$evil/template.json", '{}');
	write_file("$room/private/secret", "evil\n");
	write_file("$path/secret", "good\n");
	write_file("$room/other/secret", "good\n"); # lies in what is granted, too, at times
	chmod 0755, $evil, "$evil/main", "$room/private", $shared, $path, "$room/other";
	my $s = Paddock->new(user => $user, config => "[sandbox]\nread_paths = $shared\n", templates => {
	    victim => {program => says('good')}, sibling => {program => "#!/bin/sh\necho 1\n"},
	    breaks => {program => $BREAKS},
	    reader => {program => reads($path), permissions => {readPaths => [$path]}}});
	my $home = "$s->{root}/templates/victim-1.0.0";

	write_file("$home/token", "good\n");
	$s->init;
	kill HUP => $s->{pid};
	$s->log_has(qr/reload=done/);
	my $first = $s->run('victim');
      SKIP: {
		skip uncaged('programs are not caged here', $user), 5 if $first->{isError};
		my @swapping = (
		    swap($home, link_to($home, '/'), folder($home, $evil), link_to($home, $evil), sub { sub { } }),
		    swap($path, link_to($path, '../private'), link_to($path, '/etc'), folder($path, "$room/other"),
			 link_to($path, '/proc/self/root'), sub { sub { } }));
		my (%ended, @wrong, @hurt);
		for my $i (1 .. $ROUNDS) {
			for my $id (qw(victim reader)) {
				my $v = $s->run_sync($id);
				my $got = $v->{status} && $v->{status} eq 'succeeded' ? json_of($v->{result})
				    : ref $v->{error} ? $v->{error}{errorCode} : $v->{errorCode} // 'none';
				$ended{"$id $got"}++;
			}
			my $v = $s->run_sync('sibling');
			push @hurt, json_of($v) if ($v->{result} // '') ne 1;
			$s->run_sync('breaks') if $i % 8 == 0; # another zygote, now
		}
		kill TERM => @swapping;
		my @bad = grep { waitpid($_, 0) == $_ && $? != 0 } @swapping;
		# a readable path may be missing, or contain the right files
		my %right = map { $_ => 1 } 'victim ["good","good",3]', 'victim EXECUTION_ERROR',
		    'reader ["good",1]', 'reader ["",1]', 'reader PERMISSION_NOT_ALLOWED', 'reader EXECUTION_ERROR';
		@wrong = grep { !$right{$_} } sort keys %ended;
		is_deeply(\@wrong, [], "$ROUNDS starts each: what is shown is what was checked ($who)");
		diag("  $_: $ended{$_}") for @wrong ? sort keys %ended : ();
		note("  $_: $ended{$_}") for sort keys %ended;
		is_deeply(\@hurt, [], "no other program notices the swaps ($who)");
		is(scalar @bad, 0, "the swaps went on through each start ($who)");
		ok(until_true('it to run', sub { ($s->run_sync('victim')->{status} // '') eq 'succeeded' }),
		   "the victim runs after the swaps ($who)");
		ok(until_true('it to read', sub { json_of($s->run_sync('reader')->{result} // '') eq '["good",1]' }),
		   "the reader runs after the swaps ($who)");
	}
	$s->stop("nothing is left ($who)");
}

for (users()) {
	my ($who, $user) = @$_;

	tried($who, $user);
}
done_testing();
