#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Runs the bash script that it is given, and tells what that printed and how it
# ended.
use strict;
use warnings;
use Cwd qw(getcwd);
use Encode qw(decode FB_DEFAULT);
use File::Basename qw(dirname);
use File::Copy qw(copy);
use File::Path qw(make_path);
use IO::Select;
use JSON::PP;
use POSIX qw(WNOHANG setsid);
use Time::HiRes qw(time);

my $MOST = 65536; # bytes of an output that are told
my $COPIED = 1 << 20; # larger files are not copied, and can only be read
my $json = JSON::PP->new->utf8->canonical->allow_nonref;
my $inputs = $json->decode(do { local $/; <STDIN> });

sub put {
	my ($name, $text) = @_;

	make_path(dirname($name));
	open my $file, '>', $name or die "$name: $!\n";
	utf8::encode($text);
	print $file $text;
	close $file or die "$name: $!\n";
}

# A file that the run was given: small ones are the script's to change.
sub place {
	my ($name, $given) = @_;

	utf8::encode($given);
	make_path(dirname($name));
	if (-s $given > $COPIED) {
		symlink getcwd() . "/$given", $name or die "$name: $!\n";
	} else {
		copy($given, $name) or die "$name: $!\n";
	}
}

place($_, $inputs->{files}{$_}) for keys %{$inputs->{files} // {}};
put('main.sh', $inputs->{code});
mkdir 'out'; # where a file is called so, it is refused at the end
put('.stdin', $inputs->{stdin} // '');
open my $stdin, '<', '.stdin' or die ".stdin: $!\n";
unlink '.stdin';

# The script, in a session of its own, so that all it starts can be ended.
pipe my $out, my $to_out or die "pipe: $!\n";
pipe my $err, my $to_err or die "pipe: $!\n";
pipe my $ended, my $alive or die "pipe: $!\n";
# Its end wakes who waits; that it was stopped does not.
my $on_end = POSIX::SigAction->new(sub { close $alive }, POSIX::SigSet->new, POSIX::SA_NOCLDSTOP);
$on_end->safe(1);
POSIX::sigaction(POSIX::SIGCHLD, $on_end) or die "sigaction: $!\n";
my $pid = fork // die "fork: $!\n";
if ($pid == 0) {
	setsid();
	POSIX::dup2(fileno $stdin, 0);
	POSIX::dup2(fileno $to_out, 1);
	POSIX::dup2(fileno $to_err, 2);
	POSIX::close($_) for 3 .. 63;
	my @args = map { my $arg = $_; utf8::encode($arg); $arg } @{$inputs->{args} // []};
	exec 'bash', 'main.sh', @args or POSIX::_exit(127);
}
close $_ for $to_out, $to_err;

my %name = (fileno $out => 'stdout', fileno $err => 'stderr');
my %said = (stdout => '', stderr => '');
my %size = (stdout => 0, stderr => 0);
my $open = IO::Select->new($out, $err);
my $until = defined $inputs->{timeoutMs} ? time + $inputs->{timeoutMs} / 1000 : undef;
my $status;

sub take {
	my ($from) = @_;
	my $name = $name{fileno $from};
	my $n = sysread $from, my $data, 65536;

	return $open->remove($from) unless $n;
	$size{$name} += $n;
	$said{$name} .= substr $data, 0, $MOST - length $said{$name};
}

while (!defined $status) {
	my $left = defined $until ? $until - time : undef;

	if (defined $left && $left <= 0) {
		kill KILL => $pid; # it may lead no group yet
		waitpid $pid, 0;
		$status = 124;
		last;
	}
	my $all = IO::Select->new($open->handles, $ended);
	for my $from ($all->can_read($left)) {
		take($from) if $from != $ended;
	}
	$status = $? & 127 ? 128 + ($? & 127) : $? >> 8
	    if waitpid($pid, WNOHANG) == $pid;
}
kill KILL => -$pid; # what it left behind
while ($open->count && (my @ready = $open->can_read(0))) {
	take($_) for @ready;
}

my %answer = (exitCode => $status, map { $_ => decode('UTF-8', $said{$_}, FB_DEFAULT) } keys %said);
my %cut = map { $_ => $size{$_} } grep { $size{$_} > $MOST } keys %size;
$answer{truncated} = \%cut if %cut;
$answer{stderr} .= "killed by SIGKILL: where the code did not ask for that, it took more memory than it may have\n"
    if $status == 137;
if (open my $file, '<', 'result.json') {
	my $result = eval { $json->decode(do { local $/; <$file> }) };

	if ($@) {
		my $why = $@ =~ s/ at \S+ line \d+\.\n\z//r;

		$answer{stderr} .= "result.json is no JSON: $why\n";
	} else {
		$answer{result} = $result;
	}
}
# in the order in which its schema has them
print '{' . join(', ', map { qq("$_": ) . $json->encode($answer{$_}) }
	grep { exists $answer{$_} } qw(stdout stderr exitCode result truncated)) . '}';
