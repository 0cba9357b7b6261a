# SPDX-License-Identifier: Apache-2.0
# Cli.pm - runs the command paddock without a terminal, on a terminal, and against a made-up
# server.
package Cli;

use strict;
use warnings;

use Carp qw(croak);
use Errno qw(EINTR);
use Exporter qw(import);
use Fcntl qw(O_RDWR O_NOCTTY);
use IO::Select;
use Paddock;
use POSIX ();
use Socket;
use Test::More;
use Time::HiRes qw(time);

our @EXPORT = qw(said fake_server);

# From <asm-generic/ioctls.h>.
use constant { TIOCSPTLCK => 0x40045431, TIOCGPTN => 0x80045430,
	       TIOCSCTTY => 0x540E, TIOCSWINSZ => 0x5414 };

# templates: as for Paddock. The templates and all state lie below root.
sub new {
	my ($class, %o) = @_;
	my $p = Paddock->new(idle => 1, %o);

	mkdir "$p->{root}/templates";
	mkdir "$p->{root}/here";
	$p->put_config('') if on_postgres() && !$o{config};
	return bless {root => $p->{root}, here => "$p->{root}/here",
		      n => 0}, $class;
}

# The flags for a private server with the test's own templates.
sub private {
	my ($self) = @_;

	return ('--templates', "$self->{root}/templates",
		'--state-dir', "$self->{root}/state", on_postgres() ? ('--config', "$self->{root}/paddock.conf") : ());
}

sub become {
	my ($self, %o) = @_;

	chdir($o{cwd} // $self->{here}) or die "chdir: $!";
	%ENV = (PATH => $ENV{PATH}, HOME => $self->{root}, LC_ALL => 'C',
		TMPDIR => $self->{root}, %{$o{env} // {}});
	$SIG{PIPE} = 'DEFAULT';
	if (defined $o{user}) {
		$( = $) = "$o{user} $o{user}";
		$< = $> = $o{user};
	}
	my @command = ($o{within} ? (@{$o{within}}, "$BUILD/paddock") : 'paddock', @{$o{args}});
	exec { $o{within} ? $command[0] : "$BUILD/paddock" } @command or die "exec: $!";
}

# Give the command a pipe as stdout, whose reader has left.
sub nobody_reads {
	pipe my $r, my $w or die $!;
	close $r;
	open STDOUT, '>&', $w or die $!;
}

# Start the command; finish() ends and returns the result. in: text for stdin. tty: stdin
# and stderr are a terminal of the width columns; all_tty: stdout as well. unread: stdout is
# a pipe without a reader. full: stdout is /dev/full. user: the user id. within: a command
# line in front.
sub start {
	my ($self, $args, %o) = @_;
	my $at = "$self->{root}/run." . $self->{n}++;
	my $p = bless {out_path => "$at.out", err_path => "$at.err",
		       seen => ''}, 'Cli::Process';
	my $slave;

	if ($o{tty} || $o{all_tty}) {
		($p->{master}, $slave) = open_pty($o{columns} // 80);
	}
	write_file("$at.in", $o{in} // '');
	$p->{pid} = fork // die "fork: $!\n";
	if ($p->{pid} == 0) {
		eval {
			open STDIN, '<', "$at.in" or die $!;
			open STDOUT, '>', $o{full} ? '/dev/full' : $p->{out_path} or die $!;
			nobody_reads() if $o{unread};
			open STDERR, '>', $p->{err_path} or die $!;
			enter_pty($p->{master}, $slave, $o{all_tty}) if $slave;
			$self->become(%o, args => $args);
		};
		print STDERR $@;
		POSIX::_exit(127);
	}
	return $p;
}

# Start and finish: {status, out, err}.
sub run {
	my ($self, $args, %o) = @_;

	return $self->start($args, %o)->finish;
}

# Likewise, with the private server's flags.
sub run_private {
	my ($self, $args, %o) = @_;

	return $self->run([@$args, $self->private], %o);
}

sub open_pty {
	my ($columns) = @_;
	my $unlock = pack 'i', 0;
	my $n = pack 'i', 0;

	sysopen my $master, '/dev/ptmx', O_RDWR | O_NOCTTY
	    or die "/dev/ptmx: $!\n";
	ioctl $master, TIOCSPTLCK, $unlock or die "unlockpt: $!\n";
	ioctl $master, TIOCGPTN, $n or die "ptsname: $!\n";
	my $name = '/dev/pts/' . unpack 'i', $n;
	sysopen my $slave, $name, O_RDWR | O_NOCTTY or die "$name: $!\n";
	ioctl $slave, TIOCSWINSZ, pack('S4', 24, $columns, 0, 0)
	    or die "TIOCSWINSZ: $!\n";
	return ($master, $slave);
}

sub enter_pty {
	my ($master, $slave, $all) = @_;

	close $master;
	POSIX::setsid() > 0 or die "setsid: $!";
	ioctl $slave, TIOCSCTTY, 0 or die "TIOCSCTTY: $!";
	open STDIN, '<&', $slave or die $!;
	open STDERR, '>&', $slave or die $!;
	open STDOUT, '>&', $slave or die $! if $all;
	close $slave;
}

# Did the command exit with the status STATUS and a match of RE on stderr?
sub said {
	my ($r, $status, $re, $name) = @_;
	my $good = $r->{status} == $status && $r->{err} =~ $re;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	ok($good, $name)
	    or diag("status $r->{status}, wanted $status and $re\n" .
		    "stdout: $r->{out}\nstderr: $r->{err}");
	return $good;
}

# A server on the socket PATH for one connection. A tool's name leads to the answer: a hash
# is structured content, code is called with the arguments and a function which sends text.
# The name of another method leads to the result, and server/discover to the result without
# sessions. Returns the pid.
sub fake_server {
	my ($path, %tools) = @_;

	socket my $listen, AF_UNIX, SOCK_STREAM, 0 or die "socket: $!\n";
	bind $listen, sockaddr_un($path) or die "$path: $!\n";
	listen $listen, 4 or die "listen: $!\n";
	my $pid = fork // die "fork: $!\n";
	return $pid if $pid;
	alarm $PATIENCE;
	accept my $peer, $listen or POSIX::_exit(1);
	$peer->autoflush(1);
	my $send = sub { print {$peer} @_ };
	while (my $line = <$peer>) {
		my $m = json_to($line);

		next unless defined $m->{id};
		if ($m->{method} eq 'server/discover' && !$tools{$m->{method}}) { # it knows sessions alone
			$send->(json_of({jsonrpc => '2.0', id => $m->{id},
				error => {code => -32601, message => 'no'}}) . "\n");
			next;
		}
		my $answer = $m->{method} eq 'initialize'
		    ? {protocolVersion => '2025-11-25', capabilities => {},
		       serverInfo => {name => 'fake', version => '9'}}
		    : exists $m->{params}{name}
		    ? call_fake($tools{$m->{params}{name}}, $m, $send)
		    : $tools{$m->{method}};
		last unless $answer;
		$send->(json_of({jsonrpc => '2.0', id => $m->{id},
				 result => $answer}) . "\n");
	}
	POSIX::_exit(0);
}

sub call_fake {
	my ($tool, $m, $send) = @_;

	$tool = $tool->($m->{params}{arguments}, $send, $m)
	    if ref $tool eq 'CODE';
	return $tool if ref $tool eq 'HASH' && $tool->{resultType}; # it is a whole result
	return $tool && {content => [], structuredContent => $tool};
}

package Cli::Process;

use strict;
use warnings;

use Errno qw(EINTR EIO);
use Paddock;
use Test::More;
use Time::HiRes qw(time);

sub signal { kill $_[1] => $_[0]{pid}; return $_[0] }
sub type { syswrite $_[0]{master}, $_[1]; return $_[0] }

# Does the terminal echo typed characters?
sub echoes {
	my $termios = POSIX::Termios->new;

	$termios->getattr(fileno $_[0]{master}) or die "tcgetattr: $!\n";
	return $termios->getlflag & POSIX::ECHO();
}

# The output so far on the terminal, or on stderr without a terminal.
sub shown {
	my ($self) = @_;

	return read_file($self->{err_path}) // '' unless $self->{master};
	while (IO::Select->new($self->{master})->can_read(0)) {
		my $n = sysread $self->{master}, $self->{seen}, 65536,
		    length $self->{seen};

		next if !defined $n && $!{EINTR};
		last unless $n; # EIO: nobody has the terminal any more
	}
	return $self->{seen};
}

sub wait_shown {
	my ($self, $re) = @_;

	return until_true("it shows $re", sub { $self->shown =~ $re })
	    // diag("it showed: " . $self->shown);
}

sub finish {
	my ($self) = @_;
	my $ended = until_true('it ends', sub {
		$self->shown;
		waitpid($self->{pid}, POSIX::WNOHANG()) == $self->{pid}
		    or return 0;
		$self->{status} = $? & 127 ? 128 + ($? & 127) : $? >> 8;
		return 1;
	});

	unless ($ended) {
		kill KILL => $self->{pid};
		waitpid $self->{pid}, 0;
		$self->{status} = -1;
	}
	return {status => $self->{status}, err => $self->shown,
		out => read_file($self->{out_path}) // ''};
}

1;
