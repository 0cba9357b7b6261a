#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Settings of the machine which no cage can compensate: the profile and doctor report such
# settings. The test lays files over the settings in /proc, in mounts of the server's own:
# the machine's settings stay.
use lib 'tests/lib';
use Paddock;

needs('root', 'mount');

# A kernel before 6.14 which loads modules is reported, too.
my @quiet = -e '/proc/sys/kernel/modprobe' ? ('kernel/modprobe' => '') : ();

# The failing checks of the profile for the settings FILE => TEXT below /proc/sys, by name.
sub says {
	my ($before, %set) = (shift, @quiet, @_);
	my $root = Paddock::fresh_root();
	my ($n, @lay) = (0);

	for my $name (sort keys %set) {
		write_file("$root/set." . ++$n, "$set{$name}\n");
		push @lay, "mount --bind $root/set.$n /proc/sys/$name";
	}
	my $s = Paddock->new(templates => {lua => lua('return 1')},
		wrap => ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', join(' && ', @lay, $before, 'exec "$@"'), 'sh']);

	$s->init;
	my $checks = $s->tool('get_runtime_profile')->{view}{health}{checks};
	$s->stop('the server');
	return {map { $_->{name} => $_->{says} } grep { $_->{verdict} ne 'well' } @$checks};
}

# The same for a kernel RELEASE with MODPROBE; a kernel may lack the setting, so a folder of
# copies is laid over the kernel's.
sub says_kernel {
	my ($release, $modprobe) = @_;
	my $copies = Paddock::fresh_root() . '/kernel';

	return says("{ cp -r /proc/sys/kernel $copies 2>/dev/null; echo $release >$copies/osrelease; echo '$modprobe' >$copies/modprobe; " .
		    "mount --bind $copies /proc/sys/kernel; }");
}

my $crashes = 'crashes that nobody is told of';
my $memory = 'memory that runs cannot promise away';

same_json(says('true', 'kernel/core_pattern' => 'core', 'vm/overcommit_memory' => 0), {}, 'of what is usual nothing is told');
same_json(says('true', 'kernel/core_pattern' => '|/usr/lib/systemd/systemd-coredump %P'), {}, 'a program for crashes that no run starts is not told');
like(says('ulimit -Hc 0', 'kernel/core_pattern' => '|/usr/lib/systemd/systemd-coredump %P')->{$crashes},
     qr/^the system's core_pattern is a program, and the limit of cores is 0/, 'a program for crashes is told where the limit of cores is 0');
same_json(says('ulimit -Hc 0', 'kernel/core_pattern' => 'core'), {}, 'files for crashes are not told where the limit of cores is 0');
like(says('true', 'kernel/core_pattern' => '@/run/cores')->{$crashes}, qr/^the system's core_pattern is a socket/, 'a socket for crashes is told');
like(says('true', 'vm/overcommit_memory' => 2)->{$memory}, qr/^vm\.overcommit_memory is 2/, 'memory that cannot be promised is told');
my $modules = 'programs for which the kernel starts none';
like(says_kernel('6.13.12-amd64', '/sbin/modprobe')->{$modules}, qr/^this kernel starts modprobe/,
     'a kernel that starts modprobe for programs is told');
is(says_kernel('6.13.12-amd64', '')->{$modules}, undef, 'a kernel without a modprobe is not told');
is(says_kernel('6.14.0', '/sbin/modprobe')->{$modules}, undef, 'a later kernel with modprobe is not told');
my $s = Paddock->new(templates => {lua => lua('return 1')});

$s->init;
$s->tool('get_runtime_profile') for 1 .. 20;
$s->stop('where no program can be looked for, who asks for the profile again and again leaves no descriptor open');

done_testing;
