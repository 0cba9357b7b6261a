# SPDX-License-Identifier: Apache-2.0
# Daemon.pm - paddockd as a daemon, clients on the daemon's socket, and a stand-in for the
# service manager.
package Daemon;

use strict;
use warnings;

use Errno qw(EAGAIN);
use Exporter qw(import);
use Fcntl qw(F_GETFL F_SETFL O_NONBLOCK);
use Paddock;
use Socket;
use Test::More;

our @ISA = ('Paddock');
our @EXPORT_OK = qw(turn_all manager);

# Options as for Paddock, and manager: the stand-in for the service manager.
sub new {
	my ($class, %o) = @_;
	my $start = !delete $o{idle};
	my $self = $class->SUPER::new(%o, idle => 1);

	$self->{socket} //= "$self->{root}/sock";
	$self->{env}{NOTIFY_SOCKET} = $self->{manager}{name} if $self->{manager};
	$self->start if $start;
	return $self;
}

sub command {
	my ($self) = @_;
	my @c = grep { $_ ne '--stdio' } $self->SUPER::command;

	return (@c, $self->{no_socket} ? () : ('--socket', $self->{socket}));
}

# Start the daemon again with the same options and state, as another process.
sub again {
	my ($self, %o) = @_;
	my %same = map { $_ => $self->{$_} }
	    grep { exists $self->{$_} }
	    qw(root state socket manager args grants user dirs env);

	return (ref $self)->new(%same, %o);
}

sub signal { my ($self, $name) = @_; kill $name => $self->{pid}; return $self }

# Send HUP and wait until the log has the Nth result of a reload.
sub reload {
	my ($self) = @_;
	my $n = () = $self->log_text =~ /reload=(?:done|refused)/g;

	$self->signal('HUP');
	until_true('the reload', sub {
		my @all = $self->log_text =~ /reload=(done|refused)/g;
		return @all > $n ? $all[-1] : undef;
	});
	return ($self->log_text =~ /reload=(done|refused.*)/g)[-1];
}

sub ready { return $_[0]->log_has(qr/ready=yes/) }

# End the daemon by the signal NAME (TERM) and check the exit status and the leftovers.
sub stop {
	my ($self, $name, $signal) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	$self->signal($signal // 'TERM') unless defined $self->{status};
	$self->SUPER::stop($name);
	ok($self->{no_socket} || !-e $self->{socket}, 'a stopped daemon leaves no socket')
	    unless $self->{kept_socket};
	return $self;
}

# A client, as the user UID when given.
sub client {
	my ($self, $uid) = @_;

	return until_true('a connection', sub { Client->new($self, $uid) }) // do {
		diag("  log: $_") for $self->last_log;
		die "$self->{socket}: no connection\n";
	};
}

# Give each of several clients one turn.
sub turn_all { $_->turn(2) for @_ }

# ---- the service manager ----

sub manager {
	my ($name) = @_;

	return Manager->new($name);
}

package Manager;

use strict;
use warnings;

use Paddock qw(until_true);
use Socket;

# NAME is a path, or an abstract name after @.
sub new {
	my ($class, $name) = @_;
	my $at = $name =~ s/^@/\0/r;

	socket my $fh, AF_UNIX, SOCK_DGRAM, 0 or die "socket: $!\n";
	bind $fh, sockaddr_un($at) or die "$name: $!\n";
	chmod 0666, $name if $name !~ /^@/;
	return bless {name => $name, fh => $fh, all => []}, $class;
}

sub take {
	my ($self) = @_;

	while (defined recv $self->{fh}, my $text, 4096, MSG_DONTWAIT) {
		push @{$self->{all}}, $text;
	}
	return @{$self->{all}};
}

# Wait for a datagram with a match of RE, after the datagram of the last wait; the captures
# of RE, or the datagram.
sub hears {
	my ($self, $re) = @_;
	my $found;

	until_true("a datagram like $re", sub {
		$self->take;
		for my $i (($self->{seen} // 0) .. $#{$self->{all}}) {
			next unless $self->{all}[$i] =~ $re;
			$found = $1 // $self->{all}[$i];
			$self->{seen} = $i + 1;
			return 1;
		}
		return 0;
	});
	return $found;
}

# How many match RE, up to now.
sub heard { my ($self, $re) = @_; return scalar grep { $_ =~ $re } $self->take }

package Client;

use strict;
use warnings;

use Fcntl qw(F_GETFL F_SETFL O_NONBLOCK);
use Socket;

our @ISA = ('Paddock');

sub new {
	my ($class, $daemon, $uid) = @_;
	my ($fh, $ok);

	socket $fh, AF_UNIX, SOCK_STREAM, 0 or return undef;
	{
		local $> = $uid if defined $uid; # what SO_PEERCRED tells
		$ok = connect $fh, sockaddr_un($daemon->{socket});
	}
	return undef unless $ok;
	fcntl $fh, F_SETFL, fcntl($fh, F_GETFL, 0) | O_NONBLOCK;
	return bless {next_id => 1, notes => [], answers => {}, in => '',
		      out => '', other => [], to => $fh, from => $fh,
		      log => $daemon->{log}, pid => $daemon->{pid}}, $class;
}

sub hang_up {
	my ($self) = @_;

	close $self->{from} if $self->{from};
	@$self{qw(from to)} = ();
}

# Read until the server closes.
sub drained {
	my ($self) = @_;

	$self->wait_for('the end of the connection', sub { $self->{eof} });
	return $self->{eof};
}

sub DESTROY { }

1;
