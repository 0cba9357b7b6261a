# SPDX-License-Identifier: Apache-2.0
# ResidentSim.pm - stands in for the shim: a template's program as a resident, its
# descriptors 0 to 4, and its working folder. No cage is around the program.
#
# A run ends with {states, output or failed, logs, kept}: kept has the artifacts and the files
# of out/, by name; {lost}: the resident has ended. Each wait has a deadline, against hanging.
package ResidentSim;

use strict;
use warnings;

use Carp qw(croak);
use Cwd qw(abs_path);
use Fcntl qw(F_DUPFD);
use File::Basename qw(dirname);
use File::Path qw(make_path remove_tree);
use File::Temp qw(tempdir);
use IO::Select;
use JSON::PP ();
use POSIX ();
use Time::HiRes qw(time);

our $TOP = abs_path(dirname(__FILE__) . '/../..');
our $PATIENCE = $ENV{PADDOCK_PATIENCE} // 90; # seconds

my $json = JSON::PP->new->utf8->canonical->allow_nonref;
$SIG{PIPE} = 'IGNORE';

# Start COMMAND, the entry of TEMPLATE, a folder of etc/templates.
sub start {
	my ($class, $template, @command) = @_;
	my $root = tempdir('residentXXXXXX', TMPDIR => 1);
	my $self = bless {work => "$root/work", root => $root, owner => $$, cell => 0, unread => ''}, $class;
	my $package = "$TOP/etc/templates/$template";

	make_path(map { "$root/$_" } 'work/in', 'work/out', 'tmp');
	pipe my $in, $self->{to} or croak "pipe: $!";
	pipe $self->{from}, my $out or croak "pipe: $!";
	$self->{pid} = fork // croak "fork: $!";
	if ($self->{pid} == 0) {
		open my $null, '<', '/dev/null' or POSIX::_exit(126);
		open my $log, '>', "$root/log" or POSIX::_exit(126);
		# places above 4: no descriptor is overwritten
		my @fds = map { fcntl($_, F_DUPFD, 20) } $null, $log, $log, $out, $in;
		POSIX::dup2($fds[$_], $_) for 0 .. 4;
		POSIX::close($_) for 5 .. 300;
		chdir $self->{work} or POSIX::_exit(126);
		%ENV = (PADDOCK_TEMPLATE_DIR => $package, PATH => $ENV{PATH}, HOME => "$root/tmp", TMPDIR => "$root/tmp", LANG => 'C.UTF-8');
		POSIX::setsid();
		exec map { s/\bTEMPLATE\b/$package/r } @command or POSIX::_exit(127);
	}
	close $_ for $in, $out;
	$self->{to}->autoflush(1);
	return $self;
}

sub send_line {
	my ($self, $line) = @_;
	

	return print { $self->{to} } $json->encode($line), "\n";
}

# The next line on the program's descriptor 3; nothing once that is closed.
sub next_line {
	my ($self) = @_;
	my $until = time + $PATIENCE;

	while (1) {
		return $json->decode($1) if $self->{unread} =~ s/\A([^\n]*)\n//;
		my $left = $until - time;
		croak "no line of the resident within $PATIENCE s" if $left <= 0 || !IO::Select->new($self->{from})->can_read($left);
		sysread($self->{from}, $self->{unread}, 65536, length $self->{unread}) or return;
	}
}

# Begin the next run, with INPUTS. Its id.
sub begin {
	my ($self, $inputs, %notebook) = @_;
	my $cell = ++$self->{cell};
	my $id = "run_$cell";

	$self->send_line({run => {id => $id, inputs => {notebook => 'n', %$inputs}, deadlineMs => 300000, files => 'in',
		notebook => {name => 'n', cell => $cell, %notebook}}});
	return $id;
}

# A file that a run is given, as the server places it: the path for inputs.
sub give {
	my ($self, $name, $data) = @_;

	write_file("$self->{work}/in/$name", $data);
	return "in/$name";
}

sub slurp { open my $f, '<:raw', $_[0] or return; local $/; return scalar <$f> }
sub write_file { open my $f, '>:raw', $_[0] or croak "$_[0]: $!"; print {$f} $_[1]; close $f }

# Wait until the run has logged LIKE.
sub logged {
	my ($self, $like) = @_;

	while (1) {
		my $line = $self->next_line // croak 'the resident has ended';
		push @{$self->{seen}}, $line;
		return if $line->{log} && $line->{log}{message} =~ $like;
	}
}

# Wait for the end of the run.
sub end {
	my ($self) = @_;
	my %end = (logs => [], kept => {});
	my @seen = @{delete $self->{seen} // []};

	while (1) {
		my $line = shift @seen // $self->next_line;

		if (!$line) {
			$end{lost} = 1;
			last;
		}
		push @{$end{logs}}, $line->{log}{message} if $line->{log};
		push @{$end{states}}, $line->{state} if $line->{state};
		$self->keep($line->{artifact}, \%end) if $line->{artifact};
		@end{qw(output ended)} = ($line->{result}{output}, $line->{result}{id}) if $line->{result};
		@end{qw(failed ended)} = ($line->{failed}, $line->{failed}{id}) if $line->{failed};
		last if $end{ended};
	}
	$self->empty_folders(\%end);
	return \%end;
}

sub keep {
	my ($self, $artifact, $end) = @_;

	$end->{kept}{$artifact->{name}} = slurp("$self->{work}/$artifact->{path}");
	$self->send_line({id => $artifact->{id}, ok => JSON::PP::true, artifactId => 'art_1'});
}

sub empty_folders {
	my ($self, $end) = @_;

	for my $file (glob "$self->{work}/out/*") {
		$end->{kept}{$file =~ s{.*/}{}r} = slurp($file);
	}
	remove_tree("$self->{work}/out", "$self->{work}/in", {keep_root => 1});
}

sub cell {
	my ($self, $code, %inputs) = @_;

	$self->begin({code => $code, %inputs});
	return $self->end;
}

# Every process below the resident, or in a session of such a process.
sub processes {
	my ($self) = @_;
	my (%parent, %session);

	for my $pid (map { m{(\d+)} } glob '/proc/[0-9]*') {
		my ($state, $ppid, undef, $sid) = (slurp("/proc/$pid/stat") // '') =~ /\) (\S) (\d+) (\d+) (\d+)/ or next;

		next if $state eq 'Z';
		@parent{$pid} = $ppid;
		$session{$pid} = $sid;
	}
	$self->{sessions}{$self->{pid}} = 1;
	my %ours = map { $_ => 1 } grep { $self->{sessions}{$session{$_}} } keys %parent;
	for my $pid (keys %parent) {
		for (my $at = $pid; $at && $parent{$at}; $at = $parent{$at}) {
			$ours{$pid} = 1 if $at == $self->{pid};
		}
	}
	$self->{sessions}{$session{$_}} = 1 for keys %ours;
	return sort { $a <=> $b } keys %ours;
}

sub is_stopped { return (slurp("/proc/$_[0]/stat") // ' ) T') =~ /\) T/ }

# As the shim does after a run and between runs: stop all processes, and, when they stand
# still, do what is to be done MEANWHILE and let them go on, the youngest first.
sub freeze {
	my ($self, $meanwhile) = @_;
	my $until = time + $PATIENCE;
	my @all;

	do {
		croak 'processes cannot be stopped' if time > $until;
		kill STOP => @all = $self->processes;
	} while (grep { !is_stopped($_) } @all);
	$meanwhile->() if $meanwhile;
	kill CONT => reverse @all;
}

# Close descriptor 4, which ends the resident. Returns the processes that are left.
sub stop {
	my ($self) = @_;
	my $pid = delete $self->{pid} // return;

	$self->{pid} = $pid;
	$self->processes; # now the sessions are known
	close $self->{to};
	1 while $self->next_line;
	waitpid $pid, 0;
	my $until = time + $PATIENCE;
	my @left;
	while (@left = grep { $_ != $pid } $self->processes) {
		last if time > $until;
		select undef, undef, undef, 0.01;
	}
	delete $self->{pid};
	kill KILL => @left;
	remove_tree($self->{root});
	return @left;
}

sub log_text { return slurp("$_[0]{root}/log") }

sub DESTROY {
	my ($self) = @_;

	return if !$self->{pid} || $self->{owner} != $$;
	kill KILL => $self->processes;
	waitpid $self->{pid}, 0;
	remove_tree($self->{root});
}

1;
