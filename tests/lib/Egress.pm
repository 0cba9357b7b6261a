# SPDX-License-Identifier: Apache-2.0
# Egress.pm - drive the real paddock-egress as the supervisor and a run's worker would, with
# name servers and hosts of the tests' own on loopback (EgressSite.pm).
package Egress;

use strict;
use warnings;

use Carp qw(croak);
use Fcntl qw(F_SETFD F_SETFL O_NONBLOCK);
use File::Temp ();
use IO::Socket::INET;
use JSON::PP ();
use POSIX ();
use Socket;

use Paddock qw($BUILD $PATIENCE until_true);

use constant { PACKET_MAX => 262144, LISTEN => pack('LL', 1, 0), REPORT_BYTES => 968 };

my @KINDS   = qw(none opened request closed refused totals);
my @REASONS = qw(none NOT_GRANTED RULE DENIED ADDRESS NAME UNREACHABLE SLOW BAD_REQUEST HOST_DIFFERS NOT_TLS
    NO_SERVER_NAME SERVER_NAME_DIFFERS ENCRYPTED_HELLO CERTIFICATE TLS BAD_ANSWER SECRET BYTES REQUESTS CONNECTIONS
    OVERLOADED);
my $json = JSON::PP->new->utf8->canonical;
my $owner = $$;
my %live;

END {
	if ($$ == $owner) {
		my $status = $?;
		kill KILL => $_ for keys %live;
		waitpid($_, 0) for keys %live;
		$? = $status;
	}
}

# ---- packets with descriptors ----

sub pointer { return unpack 'Q', pack 'P', $_[0] }

# The msghdr of DATA and CONTROL, by reference, and the iovec that the msghdr points to.
sub message {
	my ($data, $control) = @_;
	my $iov = pack 'QQ', pointer($$data), length $$data;

	return (pack('QLx4QQQQlx4', 0, 0, pointer($iov), 1, pointer($$control), length $$control, 0), \$iov);
}

my %call = (sendmsg => 46, recvmsg => 47);

sub send_packet {
	my ($socket, $data, @fds) = @_;
	my $control = @fds ? pack('Qll(l)*', 16 + 4 * @fds, SOL_SOCKET, 1, @fds) : '';
	$control .= "\0" x (-length($control) % 8);
	my ($header, $iov) = message(\$data, \$control);

	return syscall($call{sendmsg}, fileno $socket, $header, 0x4000) == length $data || croak "sendmsg: $!";
}

# A packet and the descriptors within; undef at the end.
sub receive_packet {
	my ($socket, $max) = @_;
	my ($data, $control) = ("\0" x $max, "\0" x 64);
	my ($header, $iov) = message(\$data, \$control);
	my $n = syscall($call{recvmsg}, fileno $socket, $header, 0);
	my @fds;

	return if $n <= 0;
	my $len = unpack 'Q', substr $header, 40, 8;
	@fds = unpack 'x16 l*', substr $control, 0, (unpack 'Q', $control) if $len > 16;
	return (substr($data, 0, $n), @fds);
}

# ---- the keeper ----

# Start paddock-egress with %config; ARGS are flags.
sub new {
	my ($class, $config, @args) = @_;
	socketpair(my $ours, my $theirs, AF_UNIX, SOCK_SEQPACKET, 0) or croak "socketpair: $!";
	my $self = bless { socket => $ours, number => 0, said => [] }, $class;

	$self->{log} = File::Temp::tmpnam();
	$self->{pid} = fork // croak "fork: $!";
	if ($self->{pid} == 0) {
		open STDERR, '>', $self->{log} or POSIX::_exit(1);
		POSIX::dup2(fileno $theirs, 3);
		exec "$BUILD/paddock-egress", @args or POSIX::_exit(1);
	}
	close $theirs;
	$live{ $self->{pid} } = 1;
	$self->config($config) if $config;
	return $self;
}

sub say_to { my ($self, $packet, @fds) = @_; return send_packet($self->{socket}, $json->encode($packet), @fds) }

# The next answer that has MEMBER; others are kept.
sub answer {
	my ($self, $member) = @_;

	for my $i (0 .. $#{ $self->{said} }) {
		return splice @{ $self->{said} }, $i, 1 if exists $self->{said}[$i]{$member};
	}
	my ($text) = receive_packet($self->{socket}, PACKET_MAX) or return;
	push @{ $self->{said} }, $json->decode($text);
	return $self->answer($member);
}

sub config { my ($self, $config) = @_; $self->say_to({ config => $config }); return $self->answer('config') }

# Open a run: ORDER has members of "open". The run, or the answer that refused the run.
sub open_run {
	my ($self, %order) = @_;
	my $number = ++$self->{number};
	socketpair(my $cage, my $cage_child, AF_UNIX, SOCK_SEQPACKET, 0) or croak "socketpair: $!";
	socketpair(my $report, my $report_child, AF_UNIX, SOCK_SEQPACKET, 0) or croak "socketpair: $!";
	my @network = map { ref $_ ? $_ : { host => $_ } } @{ delete $order{network} // [] };

	$self->say_to({ open => $number, run => "run_$number", template => 't', requestor => 'tester',
		uid => $> == 0 ? 65534 : 0, network => \@network, %order }, fileno $cage_child, fileno $report_child);
	my $answer = $self->answer('open');
	return $answer unless $answer->{ok};
	return Egress::Run->new($self, $number, $cage, $report);
}

# The keeper's end: the exit status.
sub stop {
	my ($self) = @_;

	shutdown $self->{socket}, 2; # a host that was forked since has the socket, too
	close $self->{socket};
	waitpid $self->{pid}, 0;
	delete $live{ $self->{pid} };
	my $status = $?;
	$self->{logged} = Paddock::read_file($self->{log}) // '';
	unlink $self->{log};
	return $status;
}

package Egress::Run;

use strict;
use warnings;

use Carp qw(croak);
use Fcntl qw(F_SETFD);
use File::Temp ();
use IO::Socket::INET;
use Paddock qw($PATIENCE);
use Socket;

sub new {
	my ($class, $keeper, $number, $cage, $report) = @_;
	my $self = bless { keeper => $keeper, number => $number, cage => $cage, report => $report, told => [], kept => [] }, $class;
	my ($hello, @fds) = Egress::receive_packet($cage, 64) or return $self;

	$self->{hello} = [ unpack 'L4', $hello ];
	if (@fds) {
		open my $memfd, '<&=', $fds[0] or croak "memfd: $!";
		seek $memfd, 0, 0;
		local $/;
		$self->{certificates} = <$memfd>;
	}
	return $self;
}

# Be the worker: hand over a listening socket.
sub listen_for {
	my ($self) = @_;
	my $listening = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 64) or croak "listen: $!";

	$self->{port} = $listening->sockport;
	Egress::send_packet($self->{cage}, Egress::LISTEN, fileno $listening);
	return $self;
}

# A connection of the program to its proxy.
sub client {
	my ($self) = @_;
	my $client = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $self->{port}, Timeout => $PATIENCE)
	    or croak "connect: $!";

	setsockopt $client, SOL_SOCKET, SO_RCVTIMEO, pack 'l!l!', $PATIENCE, 0;
	return $client;
}

# Send TEXT on a connection of its own; all that comes until the end.
sub ask {
	my ($self, $text) = @_;
	my $client = $self->client;

	$client->autoflush(1);
	print {$client} $text;
	return $self->rest_of($client);
}

# Everything until the end. Reports are taken meanwhile, or the child would wait.
sub rest_of {
	my ($self, $client) = @_;
	my ($text, $wait) = ('', IO::Select->new($client, $self->{report}));

	while (my @ready = $wait->can_read($PATIENCE)) {
		for my $socket (@ready) {
			if ($socket == $client) {
				sysread($client, $text, 65536, length $text) or return $text;
			} else {
				push @{ $self->{kept} }, $self->take_report // return $text;
			}
		}
	}
	return $text;
}

# The next report, as a hash; undef at the end.
sub next_report { my ($self) = @_; return shift @{ $self->{kept} } // $self->take_report }

sub take_report {
	my ($self) = @_;
	my ($packet) = Egress::receive_packet($self->{report}, 4096) or return;
	my %r;

	length $packet == Egress::REPORT_BYTES or croak 'a report of ' . length($packet) . ' bytes';
	@r{qw(kind reason port connection up down connections requests refused zero host method path secret address)} =
	    unpack 'L4 Q2 L4 Z256 Z24 Z512 Z64 Z64', $packet;
	@r{qw(kind reason)} = ($KINDS[ $r{kind} ], $REASONS[ $r{reason} ]);
	return \%r;
}

# The next report of KIND.
sub report_of {
	my ($self, $kind) = @_;

	while (my $r = $self->next_report) {
		push @{ $self->{told} }, $r;
		return $r if $r->{kind} eq $kind;
	}
	return {};
}

# The last reports, after the end of the run; the child's status in {status}.
sub end {
	my ($self) = @_;
	my @reports;

	shutdown $self->{report}, 1;
	while (my $r = $self->next_report) { push @reports, $r }
	$self->{status} = $self->{keeper}->answer('ended')->{status};
	return @reports;
}

1;
