#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# "paddock selftest": an operator's own attacks, on this machine. deny.c simulates a machine
# with denied system calls.
use lib 'tests/lib';
use Paddock;
use Cli;

my $attacks = Paddock::fresh_root() . '/selftest';
my $deny = Paddock::fresh_root() . '/deny';

system('cp', '-r', "$TOP/etc/selftest", $attacks) == 0 or BAIL_OUT('cp');
system("chmod -R a+rX $attacks") == 0 or BAIL_OUT('chmod');
compile('lib/deny.c', $deny, '-lseccomp') or BAIL_OUT('tests/lib/deny.c cannot be built');

# Run the selftest: {status, out, err, ok, not, skip}. low: as nobody. wrap: in front.
sub selftest {
	my (%o) = @_;
	my $root = Paddock::fresh_root($o{low} ? $NOBODY : undef);
	my @drop = $o{low} ? ('setpriv', "--reuid=$NOBODY", "--regid=$NOBODY",
			      '--clear-groups', '--') : ();
	my @cmd = (@drop, @{$o{wrap} // []}, "$BUILD/paddock", 'selftest',
		   $o{dir} // $attacks);
	my $pid = fork // die "fork: $!\n";

	if ($pid == 0) {
		%ENV = (PATH => $ENV{PATH}, HOME => $root, TMPDIR => $root, LC_ALL => 'C');
		chdir $root;
		open STDIN, '<', '/dev/null' or die;
		open STDOUT, '>', "$root.out" or die;
		open STDERR, '>', "$root.err" or die;
		exec @cmd or POSIX::_exit(127);
	}
	waitpid $pid, 0;
	my %r = (status => $? >> 8, out => read_file("$root.out"),
		 err => read_file("$root.err"), left => [glob "$root/* $root/.[a-z]*"]);
	unlink "$root.out", "$root.err";
	my @lines = split /\n/, $r{out};
	$r{skip} = [grep { /^ok .* # SKIP/ } @lines];
	$r{ok} = [grep { /^ok / && !/ # SKIP/ } @lines];
	$r{not} = [grep { /^not ok / } @lines];
	($r{plan}) = $r{out} =~ /^1\.\.(\d+)$/m;
	return \%r;
}

sub whole {
	my ($r, $name) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is(@{$r->{ok}} + @{$r->{not}} + @{$r->{skip}}, $r->{plan},
	   "$name: as many as were planned");
	same_json($r->{left}, [], "$name: no file is left");
	ok(strays_gone(), "$name: no process is left");
}

for my $low (as_root() ? (0, 1) : (0)) {
	my $name = $low ? 'as nobody' : as_root() ? 'as root' : 'as a user';
	my $r = selftest(low => $low);

	is($r->{status}, 0, "$name: the cage holds") or diag($r->{out}, $r->{err});
	is(@{$r->{not}}, 0, "$name: against all that is tried");
	cmp_ok(@{$r->{ok}}, '>=', 19, "$name: which is something");
	whole($r, $name);
}

# systemd mounts binfmt_misc into /proc twice: first autofs, then binfmt_misc.
SKIP: {
	skip_lacking(1, 'mount');
	skip 'no binfmt_misc here', 1 unless -d '/proc/sys/fs/binfmt_misc';
	my $r = selftest(wrap => ['unshare', '-m', 'sh', '-c', 'mount -t tmpfs a /proc/sys/fs/binfmt_misc && mount -t tmpfs b /proc/sys/fs/binfmt_misc && exec "$@"', 'sh']);

	is($r->{status}, 0, 'the cage holds where something is mounted within /proc') or diag($r->{out}, $r->{err});
}
# A succeeding attack, on a machine where programs cannot be caged.
{
	my $code = read_file("$attacks/selftest_lua/main.lua");
	$code =~ s/function attack\.binary\(\).*/function attack.binary() return false end/;
	write_file("$attacks/selftest_lua/main.lua", $code);
	my $r = selftest(low => as_root(), wrap => [$deny, 'userns', '--']);

	is($r->{status}, 1, 'a cage that does not hold is a failure')
	    or diag($r->{out}, $r->{err});
	is(@{$r->{not}}, 2, 'both attacks that did not hold are reported');
	like($r->{out}, qr/^not ok 12 .*\n#   it is false$/m, 'the report says what came of an attack that did not hold');
	cmp_ok(@{$r->{skip}}, '>', 0, 'what cannot be tried is skipped');
	ok(!(grep { !/# SKIP .*\w/ } @{$r->{skip}}), 'each skipped attack has a reason');
	whole($r, 'such a machine');
}
{
	my $r = selftest(dir => '/nonexistent');

	is($r->{status}, 125, 'attacks that are not there are an error');
	like($r->{err}, qr{not in /nonexistent; say where}, 'the error says where the attacks were looked for');
}

# A build elsewhere, with its own attacks, of which there are none.
{
	my $built = Paddock::fresh_root();

	system('mkdir', '-p', "$built/build", "$built/etc/selftest") == 0 or BAIL_OUT('mkdir');
	system('cp', "$BUILD/paddock", "$BUILD/paddockd", "$BUILD/paddock-worker", "$built/build") == 0 or BAIL_OUT('cp');
	like(scalar qx(HOME=$built TMPDIR=$built $built/build/paddock selftest 2>&1), qr/^not ok 1 .*\n.*there is no template/m, 'the attacks of a build are beside the build');
}

done_testing;
