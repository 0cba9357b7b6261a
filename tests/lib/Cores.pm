# SPDX-License-Identifier: Apache-2.0
# Cores.pm - has the kernel start a program for each crash on this machine, as
# systemd-coredump is started, and lets a test see the crashes. The setting
# kernel.core_pattern holds for the whole machine: only a child process sets the pattern,
# and restores the old value as soon as the test has ended in any way.
package Cores;

use strict;
use warnings;
use Paddock;
use POSIX ();

my $SETTING = '/proc/sys/kernel/core_pattern';
my $OURS = 'paddock-cores';

sub put {
	my ($text) = @_;

	open my $fh, '>', $SETTING or return 0;
	return (syswrite $fh, $text) && close $fh;
}

# The child: restores the pattern when the pipe is closed, which the end of the test does,
# too.
sub guard {
	my ($in, $out, $ours) = @_;
	my $before = Paddock::read_file($SETTING);

	$SIG{$_} = 'IGNORE' for qw(INT TERM HUP QUIT PIPE);
	POSIX::setsid();
	syswrite $out, put($ours) ? "set\n" : "no\n";
	sysread $in, my $end, 1;
	put($before) if index(Paddock::read_file($SETTING), $ours) == 0;
	POSIX::_exit(0);
}

# An object, or undef: no program is started for crashes here, or not by us.
sub new {
	my ($class, $dir) = @_;
	my $helper = "$dir/$OURS";
	my $self = bless {dir => $dir, seen => "$dir/seen", n => 0, owner => $$}, $class;

	Paddock::write_file($helper, "#!/bin/sh\necho \"\$1 \$2\" >>$self->{seen}\n");
	chmod 0755, $dir, $helper;
	Paddock::write_file($self->{seen}, '');
	# a pattern of another test of this machine ends soon
	Paddock::until_true('the pattern of another test', sub { Paddock::read_file($SETTING) !~ /$OURS/ });
	pipe my $in, $self->{to} or die "pipe: $!\n";
	pipe my $told, my $out or die "pipe: $!\n";
	$self->{pid} = fork // die "fork: $!\n";
	if ($self->{pid} == 0) {
		close $_ for $self->{to}, $told;
		guard($in, $out, "|$helper %P %e\n");
	}
	$Paddock::beside{$self->{pid}} = 1;
	close $_ for $in, $out;
	return $self if <$told> eq "set\n" && $self->is_told;
	$self->end;
	return undef;
}

sub text { return Paddock::read_file($_[0]{seen}) }

# Crash a process of the test; true once the kernel has started the helper for the crash, so
# all earlier crashes have been reported as well.
sub is_told {
	my ($self) = @_;
	my $name = 'sentinel' . $self->{n}++;
	my $pid = fork // die "fork: $!\n";

	if ($pid == 0) {
		$0 = $name;
		kill SEGV => $$;
		POSIX::_exit(1);
	}
	waitpid $pid, 0;
	return Paddock::true_within($self->{n} == 1 ? 5 : $Paddock::PATIENCE, sub { $self->text =~ /^$pid $name$/m });
}

sub end {
	my ($self) = @_;

	return unless $self->{to} && $self->{owner} == $$;
	close delete $self->{to};
	waitpid $self->{pid}, 0;
	delete $Paddock::beside{$self->{pid}};
}

sub DESTROY { local $?; $_[0]->end }

1;
