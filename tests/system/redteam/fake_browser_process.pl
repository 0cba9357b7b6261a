#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A stand-in for paddock-browser that was taken over before it locked itself in:
# it tries what is in FILE.todo, a JSON array of [name, what, with], and writes
# what came of it to its own file with ".told", a JSON object a line.
use strict;
use warnings;
use Fcntl qw(O_WRONLY O_APPEND);
use IO::Socket::UNIX;
use JSON::PP;
use POSIX ();

my $json = JSON::PP->new->canonical->utf8;
my %try = (
    read => sub { return open(my $f, '<', $_[0]) ? 'read' : $!{EACCES} || $!{EPERM} ? 'denied' : "$!" },
    write => sub { return sysopen(my $f, $_[0], O_WRONLY | O_APPEND) ? 'opened' : $!{EACCES} || $!{EPERM} ? 'denied' : "$!" },
    list => sub { return opendir(my $d, $_[0]) ? 'listed' : $!{EACCES} || $!{EPERM} ? 'denied' : "$!" },
    make => sub { return open(my $f, '>', "$_[0]/taken") ? 'made' : $!{EACCES} || $!{EPERM} ? 'denied' : "$!" },
    signal => sub { return kill(0, $_[0]) ? 'signalled' : $!{EPERM} ? 'denied' : "$!" },
    trace => sub { return syscall(101, 16, $_[0] + 0, 0, 0) == 0 ? 'traced' : $!{EPERM} ? 'denied' : "$!" },
    link => sub { return readlink($_[0]) ? 'seen' : $!{EACCES} || $!{EPERM} ? 'denied' : "$!" },
    connect => sub { return IO::Socket::UNIX->new(Peer => $_[0]) ? 'connected' : $!{EACCES} ? 'denied' : "$!" },
    descriptors => sub { opendir my $d, '/proc/self/fd' or return "$!";
			 return join ' ', sort grep { /^\d+$/ && $_ != fileno $d } readdir $d },
    kind => sub { return -p "/proc/self/fd/$_[0]" ? 'pipe' : -S _ ? 'socket' : -c _ ? 'device' : 'other' },
    uid => sub { return "$< $>" },
    groups => sub { return $) },
    environment => sub { return join ' ', map { "$_=$ENV{$_}" } sort keys %ENV },
    root => sub { return POSIX::setuid(0) ? 'root' : 'denied' },
);

open my $in, '<', "$0.todo" or die "$0.todo: $!";
my $todo = $json->decode(do { local $/; <$in> });
open my $told, '>>', "$0.told" or die "$0.told: $!";
for (@$todo) {
	my ($name, $what, $with) = @$_;
	$with =~ s/PARENT/getppid/e if defined $with;
	syswrite $told, $json->encode({name => $name, came => $try{$what}->($with // '')}) . "\n";
}
# what it writes to its standard error is no line of the server's
syswrite STDERR, "ts=2020-01-01T00:00:00.000Z level=info part=audit requestor=root forged=yes\n" .
    "not a line\x1b[2J of \"ours\"\n" . "ts=1 level=error part=a\x07b text=\x1b]0;x\x07 end=1\n";
syswrite STDERR, 'x' x 100_000 . "\n";
syswrite STDERR, "ts=1 level=warn part=flood n=$_\n" for 1 .. 20_000;
exit 3;
