# SPDX-License-Identifier: Apache-2.0
# Pooler.pm - stands in for a PostgreSQL connection pooler, in a process of its own: each
# client has a session of the server, or all clients share one session, one transaction
# after another. Poolers invent the process id of the session, and so does Pooler.pm.
package Pooler;
use strict;
use warnings;
use IO::Socket::UNIX;
use POSIX ();

my $FAKE = 77_000_000; # no process has such a number

# Start a pooler on a socket in DIR, named as PostgreSQL's; TO is the real socket. SHARES:
# all clients share one session. Returns the pid; the caller kills the process.
sub start {
	my ( $dir, $to, $shares ) = @_;
	my $listener = IO::Socket::UNIX->new( Local => "$dir/.s.PGSQL.5432", Listen => 16 ) or die "listen: $!\n";

	chmod 0777, "$dir/.s.PGSQL.5432"; # a server that steps down is somebody else
	my $pid = fork // die "fork: $!\n";

	return $pid if $pid;
	$SIG{$_} = 'DEFAULT' for qw(TERM INT);
	$SIG{PIPE} = 'IGNORE';
	eval { serve( $listener, $to, $shares ) };
	print STDERR "pooler: $@" if $@;
	POSIX::_exit(1);
}

sub serve {
	my ( $listener, $to, $shares ) = @_;
	my ( @clients, %session, $shared );

	while (1) {
		my $bits = '';
		vec( $bits, fileno $_, 1 ) = 1 for $listener, map { $_->{fh} } @clients, values %session;
		select $bits, undef, undef, undef;
		if ( vec $bits, fileno $listener, 1 ) {
			push @clients, { fh => scalar $listener->accept, in => '', todo => '', id => ++$FAKE };
		}
		for my $c ( grep { vec $bits, fileno $_->{fh}, 1 } @clients ) {
			$c->{gone} = 1 unless sysread $c->{fh}, $c->{in}, 65536, length $c->{in};
			if ( !$c->{begun} && begun($c) ) {
				my $s = $shares ? $shared : undef;

				if ($s) {
					syswrite $c->{fh}, $s->{greeting} . key($c) . "Z\0\0\0\5I";
				} else {
					$s = { fh => connect_to($to), in => '', greeting => '', greets => $c };
					$session{ fileno $s->{fh} } = $s;
					syswrite $s->{fh}, $c->{begun};
					$shared = $s if $shares;
				}
				$c->{session} = $s;
			}
		}
		for my $s ( grep { vec $bits, fileno $_->{fh}, 1 } values %session ) {
			sysread $s->{fh}, $s->{in}, 65536, length $s->{in} or return;
			while ( defined( my $m = message( \$s->{in} ) ) ) { answered( $s, $m ) }
		}
		for my $c ( grep { $_->{begun} && length $_->{in} } @clients ) {
			my $s = $c->{session};

			next if $s->{greets} || ( $s->{user} && $s->{user} != $c );
			$s->{user} = $c;
			while ( defined( my $m = message( \$c->{in} ) ) ) {
				syswrite $s->{fh}, $m unless $m =~ /\AX/;
			}
		}
		for my $c ( grep { $_->{gone} } @clients ) {
			my $s = $c->{session} // {};

			delete $s->{user} if ( $s->{user} // 0 ) == $c;
			next if !$s->{fh} || ( $shared && $s == $shared );
			delete $session{ fileno $s->{fh} };
		}
		@clients = grep { !$_->{gone} } @clients;
	}
}

sub connect_to { my ($to) = @_; return IO::Socket::UNIX->new( Peer => $to ) || die "$to: $!\n" }
sub key { my ($c) = @_; return 'K' . pack 'N N N', 12, $c->{id}, 1 }

# The first message of client C, once complete.
sub begun {
	my ($c) = @_;

	return if length $c->{in} < 4 || length $c->{in} < unpack 'N', $c->{in};
	return $c->{begun} = substr $c->{in}, 0, unpack( 'N', $c->{in} ), '';
}

sub message {
	my ($in) = @_;

	return if length $$in < 5 || length $$in < 1 + unpack 'x N', $$in;
	return substr $$in, 0, 1 + unpack( 'x N', $$in ), '';
}

# Message M came from session S, for the client which has the session; between two
# transactions no client has the session.
sub answered {
	my ( $s, $m ) = @_;
	my $greeted = $s->{greets};
	my $c = $greeted // $s->{user} // return;

	if ($greeted) {
		$m = key($c) if $m =~ /\AK/;
		$s->{greeting} .= $m unless $m =~ /\A[KZ]/;
		delete $s->{greets} if $m =~ /\AZ/;
	}
	syswrite $c->{fh}, $m;
	delete $s->{user} if $m =~ /\AZ....I/s;
}

1;
