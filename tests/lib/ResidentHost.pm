# SPDX-License-Identifier: Apache-2.0
# ResidentHost.pm - a small stand-in for the shim, which starts a resident program and serves
# runs by pipes on descriptors 0 to 4. As root the program is a child of PID 1 of a PID
# namespace and an ordinary user, and sees no process besides, as in the cage.
package ResidentHost;

use strict;
use warnings;
use Cpanel::JSON::XS ();
use File::Path qw(make_path remove_tree);
use File::Temp qw(tempdir);
use IO::Select;
use JSON::PP ();
use POSIX qw(:sys_wait_h);
use Socket qw(AF_UNIX SOCK_STREAM);
use Time::HiRes qw(time);

our $NOBODY = 65534;
our $PATIENCE = $ENV{PADDOCK_PATIENCE} // 90;
my $json = Cpanel::JSON::XS->new->utf8->canonical->allow_nonref;

# PID 1: starts the program, reaps orphans, and ends with the program.
my $INIT = <<'END';
use POSIX;
my ($uid, @command) = @ARGV;
system('mount', '-t', 'proc', '-o', 'subset=pid,hidepid=2', 'proc', '/proc') == 0 or exit 125;
my $pid = fork // exit 125;
if (!$pid) {
	POSIX::setsid();
	$( = $) = "$uid $uid";
	POSIX::setgid($uid);
	POSIX::setuid($uid);
	exec @command;
	exit 127;
}
POSIX::close($_) for 0, 3, 4;
while ((my $ended = wait) > 0) { exit($? >> 8 || $? & 127) if $ended == $pid }
END

sub is_caged { return $> == 0 && system("unshare -p -m -f true 2>/dev/null") == 0 }

# COMMAND: the program; TEMPLATE: the folder of its package; LIMITS: commands of sh before the start, such as "ulimit -v 1000000;";
# SOCKETS: descriptors 3 and 4 are sockets in place of pipes; LOST: why an earlier state was lost.
sub new {
	my ($class, %of) = @_;
	my $self = bless {folder => tempdir(CLEANUP => 1), rest => '', seen => [], next => 1, cell => 0,
			  name => $of{name} // 'n', limits => $of{limits} // '', template => $of{template}, sockets => $of{sockets}, lost => $of{lost}}, $class;

	make_path(map { "$self->{folder}/$_" } 'in', 'out');
	$self->{caged} = is_caged();
	$self->give_to_user($self->{folder}, map { "$self->{folder}/$_" } 'in', 'out');
	$self->start($of{command});
	return $self;
}

sub give_to_user { my ($self, @paths) = @_; chown $NOBODY, $NOBODY, @paths if $self->{caged}; return }

# A file of the program's, at PATH in the working folder.
sub write_file {
	my ($self, $path, $data) = @_;

	open my $out, '>:raw', "$self->{folder}/$path" or die "$path: $!";
	print {$out} $data;
	close $out;
	return $self->give_to_user("$self->{folder}/$path");
}

sub start {
	my ($self, $command) = @_;
	my @program = ('sh', '-c', "$self->{limits} exec \"\$@\"", 'sh', @$command);
	my (@mine, @theirs);

	for my $fd (0 .. 4) {
		my ($read, $write);

		# no process can open the socket of another by /proc, as the pipe of another
		$fd > 2 && $self->{sockets} ? socketpair $read, $write, AF_UNIX, SOCK_STREAM, 0 : pipe $read, $write or die "pipe: $!";
		($mine[$fd], $theirs[$fd]) = $fd == 0 || $fd == 4 ? ($write, $read) : ($read, $write);
	}
	@program = ('unshare', '-p', '-m', '-f', $^X, '-e', $INIT, $NOBODY, @program) if $self->{caged};
	$self->{pid} = fork // die "fork: $!";
	if (!$self->{pid}) {
		# high numbers first, so that no end is replaced before its turn
		my @high = map { dup_from(fileno $_, 40) } @theirs;
		POSIX::dup2($high[$_], $_) for 0 .. 4;
		POSIX::close($_) for grep { $_ > 4 } map { m{(\d+)\z} } glob '/proc/self/fd/*';
		chdir $self->{folder};
		%ENV = (PATH => $ENV{PATH}, HOME => $self->{folder}, TMPDIR => '/tmp', LANG => 'C.UTF-8', PYTHONDONTWRITEBYTECODE => 1,
			$self->{template} ? (PADDOCK_TEMPLATE_DIR => $self->{template}) : ());
		$SIG{$_} = "DEFAULT" for qw(HUP INT QUIT TERM USR1 USR2); # a shell may have ignored these, and so does no worker
		exec @program or POSIX::_exit(127);
	}
	close $_ for @theirs, $mine[0];
	@$self{qw(out err lines answers)} = @mine[1 .. 4];
	$self->{answers}->autoflush(1);
	return;
}

# A copy of FD with the number LEAST or more.
sub dup_from {
	my ($fd, $least) = @_;
	my @below;
	my $got;

	while (defined($got = POSIX::dup($fd)) && $got < $least) { push @below, $got }
	POSIX::close($_) for @below;
	return $got;
}

sub send_line { my ($self, $line) = @_; local $SIG{PIPE} = 'IGNORE'; return print {$self->{answers}} $json->encode($line) . "\n" }

# Begin a run with INPUTS, and with files {NAME => TEXT}. The id.
sub begin {
	my ($self, $inputs, %files) = @_;
	my $id = 'run_' . $self->{next}++;
	my %given;

	for my $name (sort keys %files) {
		my $path = 'in/' . (1 + keys %given);

		$self->write_file($path, $files{$name});
		$given{$name} = $path;
	}
	my %notebook = (name => $self->{name}, cell => ++$self->{cell}, $self->{lost} ? (lost => $self->{lost}) : ());

	$self->send_line({run => {id => $id, deadlineMs => 300000, files => 'in', notebook => \%notebook,
				  inputs => {%$inputs, notebook => $self->{name}, %files ? (files => \%given) : ()}}});
	return $id;
}

sub cancel { my ($self, $id, $why, $grace) = @_; return $self->send_line({cancel => {id => $id, why => $why, graceMs => $grace // 5000}}) }

# The next line of the program, or undef at the end. Lines besides JSON are in bad().
sub line {
	my ($self) = @_;
	my $until = time + $PATIENCE;

	while ($self->{rest} !~ /\n/) {
		my $select = IO::Select->new($self->{lines}, grep { defined } @$self{qw(out err)});

		for my $from ($select->can_read($until - time)) {
			my $got = sysread $from, my $data, 65536;

			if ($from != $self->{lines}) {
				$got ? ($self->{printed} .= $data) : do { $self->{$_} && $self->{$_} == $from and delete $self->{$_} for qw(out err) };
				next;
			}
			return undef if !$got;
			$self->{rest} .= $data;
		}
		die "no line in $PATIENCE s\n" if time > $until;
	}
	$self->{rest} =~ s/\A(.*?)\n//s;
	return eval { $json->decode($1) } // do { push @{$self->{bad}}, $1; {} };
}

# Answer a line that asks, and note what is to be known of it.
sub hear {
	my ($self, $line, $run) = @_;

	if (my $artifact = $line->{artifact}) {
		open my $in, '<:raw', "$self->{folder}/$artifact->{path}" or die "$artifact->{path}: $!";
		local $/;
		$run->{files}{$artifact->{name}} = scalar <$in>;
		$self->send_line({id => $artifact->{id}, ok => JSON::PP::true, artifactId => 'art_1'});
	}
	push @{$run->{log}}, $line->{log}{message} if $line->{log};
	push @{$run->{states}}, $line->{state} if $line->{state};
	return;
}

# Until the log of the run of ID has TEXT: then the code is at that place.
sub await_log {
	my ($self, $text) = @_;
	my $run = $self->{run} //= {};

	while (defined(my $line = $self->line)) {
		$self->hear($line, $run);
		return $1 // 1 if ($line->{log}{message} // '') =~ $text;
		die "the run ended before $text: " . $json->encode($line) . "\n" if $line->{result} || $line->{failed};
	}
	die "the resident ended before $text\n";
}

# The end of the run of ID: {output or failed, states, log, files}; {} when the resident ends.
sub await {
	my ($self, $id) = @_;
	my $run = delete $self->{run} // {};

	while (defined(my $line = $self->line)) {
		$self->hear($line, $run);
		my $end = $line->{result} // $line->{failed} or next;

		die "the end of $end->{id} came in the run $id\n" if $end->{id} ne $id;
		$run->{output} = $end->{output} // $end->{details};
		$run->{failed} = $line->{failed};
		$self->stop_all;
		$self->collect($run);
		$self->continue_all;
		return $run;
	}
	return {};
}

sub collect {
	my ($self, $run) = @_;

	for my $path (glob "$self->{folder}/out/*") {
		open my $in, '<:raw', $path or next;
		local $/;
		$run->{files}{$path =~ s{.*/}{}r} = scalar <$in>;
	}
	remove_tree("$self->{folder}/out", "$self->{folder}/in", {keep_root => 1});
	make_path("$self->{folder}/out");
	$self->give_to_user("$self->{folder}/out");
	return;
}

sub run { my ($self, $inputs, %files) = @_; return $self->await($self->begin($inputs, %files)) }
sub cell { my ($self, $code, %inputs) = @_; return $self->run({code => $code, %inputs}) }

# Kill a process by the number that the program has for it.
sub kill_in_cage {
	my ($self, $pid, $signal) = @_;

	return kill $signal, $pid if !$self->{caged};
	return kill $signal, grep { ($self->inner_pid($_) // 0) == $pid } $self->descendants;
}

sub inner_pid {
	my ($self, $pid) = @_;

	open my $in, '<', "/proc/$pid/status" or return undef;
	my ($numbers) = map { /^NSpid:\s*(.*)/ } <$in>;
	return defined $numbers ? (split ' ', $numbers)[-1] : undef;
}

# Was PID started with the folder of this program as home? Orphans have no other mark.
sub has_home {
	my ($self, $pid) = @_;

	open my $in, '<', "/proc/$pid/environ" or return 0;
	local $/;
	return index("\0" . (<$in> // ''), "\0HOME=$self->{folder}\0") >= 0;
}

# The processes of the program, by the machine's numbers.
sub descendants {
	my ($self) = @_;
	my (%parent, @found);

	for my $stat (glob '/proc/[0-9]*/stat') {
		open my $in, '<', $stat or next;
		my ($pid, $state, $up) = (<$in> // '') =~ /\A(\d+) \(.*\) (\S) (\d+)/s or next;

		$parent{$pid} = $up if $state ne 'Z';
	}
	return grep { $self->has_home($_) } keys %parent if !$self->{caged};
	for my $pid (keys %parent) {
		my $up = $pid;

		$up = $parent{$up} while defined $up && $up != $self->{pid};
		push @found, $pid if defined $up && $pid != $self->{pid};
	}
	return @found;
}

# As the shim does while it collects files, and between runs: stop all processes, and let
# them go on, the youngest first. A process that is born meanwhile is stopped as well.
sub stop_all {
	my ($self) = @_;
	my @running;

	kill 'STOP', @running while @running = grep { state_of($_) !~ /[TZX]/ } $self->of_program;
	return;
}

sub continue_all {
	my ($self) = @_;

	kill 'CONT', $_ for sort { began_at($b) <=> began_at($a) || $b <=> $a } $self->of_program;
	return;
}

# Stop all processes, and, when they stand still, do what is to be done MEANWHILE.
sub freeze {
	my ($self, $meanwhile) = @_;

	$self->stop_all;
	$meanwhile->() if $meanwhile;
	return $self->continue_all;
}

# proc(5)'s fields of PID after the name; none when PID has ended.
sub fields_of { my ($pid) = @_; open my $in, '<', "/proc/$pid/stat" or return; my ($after) = (<$in> // '') =~ /.*\) (.*)/s; return split ' ', $after // '' }
sub state_of { my ($pid) = @_; return (fields_of($pid))[0] // 'X' }
sub began_at { my ($pid) = @_; return (fields_of($pid))[19] // 0 }

# The processes of the program without PID 1.
sub of_program {
	my ($self) = @_;

	return $self->descendants if !$self->{caged};
	return grep { ($self->inner_pid($_) // 0) > 1 } $self->descendants;
}

# No run comes any more. How the program ended.
sub stop {
	my ($self) = @_;
	my $until = time + $PATIENCE;

	close $self->{answers};
	while (waitpid($self->{pid}, WNOHANG) == 0) {
		die "the resident does not end\n" if time > $until;
		IO::Select->new($self->{lines})->can_read(0.02) and sysread $self->{lines}, my $data, 65536;
	}
	return $?;
}

sub DESTROY {
	my ($self) = @_;

	local $?;
	kill 'KILL', $self->{pid} if $self->{pid} && waitpid($self->{pid}, WNOHANG) == 0;
	waitpid $self->{pid}, 0;
	while (my @left = $self->descendants) { kill 'KILL', @left }
	return;
}

1;
