# SPDX-License-Identifier: Apache-2.0
# Cores.pm - has the kernel start a program for each crash of this machine, as
# systemd-coredump is started, while a test looks at which it was started for.
# kernel.core_pattern is the whole machine's: a child alone sets it, which puts back
# what was there as soon as the test is gone, however that ended.
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

# The child: until its pipe is closed, which the test's end does, too.
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
	# of another test of this machine: it is over soon
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

# Crash by ourselves; true once the helper was started for that, so that what
# crashed before has been told as well.
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
