# SPDX-License-Identifier: Apache-2.0
# Broker.pm - drive the real paddock-browser over its socket, as the
# supervisor would.
package Broker;

use strict;
use warnings;

use Carp qw(croak);
use Fcntl qw(F_SETFD);
use Cpanel::JSON::XS ();
use JSON::PP ();
use POSIX ();
use Socket;
use Time::HiRes qw(time);

use Paddock qw($BUILD $PATIENCE);

use constant { CHUNK => 2, ANSWER => 3, CALL => 23, PIECE => 64512 };

my $json = Cpanel::JSON::XS->new->utf8->canonical->allow_nonref;

# ---- msgpack, as much of it as there is in a frame ----

sub put_int {
	my ($n) = @_;

	return $n < 128 ? pack('C', $n) : $n < 65536 ? pack('Cn', 0xcd, $n)
	    : pack('CN', 0xce, $n);
}

sub put_str {
	my ($s) = @_;
	my $n = length $s;

	return ($n < 32 ? pack('C', 0xa0 | $n) : $n < 256 ? pack('CC', 0xd9, $n)
	    : pack('Cn', 0xda, $n)) . $s;
}

sub frame { return pack('C', 0x90 | @_) . join '', @_ }

sub get_fields {
	my ($frame) = @_;
	my @out;
	my $at = 1;

	my $take = sub {
		my ($format, $n) = @_;
		my $v = unpack $format, substr $frame, $at, $n;
		$at += $n;
		return $v;
	};
	while ($at < length $frame) {
		my $b = $take->('C', 1);
		if ($b < 128) { push @out, $b }
		elsif ($b == 0xcc) { push @out, $take->('C', 1) }
		elsif ($b == 0xcd) { push @out, $take->('n', 2) }
		elsif ($b == 0xce) { push @out, $take->('N', 4) }
		elsif ($b == 0xcf) { push @out, $take->('Q>', 8) }
		else {
			my $n = $b == 0xd9 ? $take->('C', 1)
			    : $b == 0xda ? $take->('n', 2)
			    : $b == 0xdb ? $take->('N', 4) : $b & 31;
			push @out, substr $frame, $at, $n;
			$at += $n;
		}
	}
	return @out;
}

# ---- the process ----

# {args => [...], log => FILE}
sub new {
	my ($class, %o) = @_;
	my $self = bless {seq => 0, answers => {}, log => $o{log}}, $class;

	socketpair(my $ours, my $theirs, AF_UNIX, SOCK_SEQPACKET, 0)
	    or die "socketpair: $!\n";
	my $pid = fork // die "fork: $!\n";
	if ($pid == 0) {
		my $fd = fileno $theirs;
		if ($fd == 3) {
			fcntl $theirs, F_SETFD, 0;
		} else {
			POSIX::dup2($fd, 3);
		}
		open STDERR, '>>', $o{log} if $o{log};
		exec "$BUILD/paddock-browser", @{$o{args} // []}
		    or POSIX::_exit(127);
	}
	close $theirs;
	@$self{qw(sock pid)} = ($ours, $pid);
	return $self;
}

# Send a CALL; its seq.
sub begin {
	my ($self, $tool, $body) = @_;
	my $text = $json->encode($body);
	my $seq = ++$self->{seq};
	my $head = substr $text, 0, PIECE;
	my $at = length $head;

	$self->put(frame(put_int(CALL), put_int($seq), put_str($tool),
		put_int(length $text), put_str($head)));
	while ($at < length $text) {
		my $piece = substr $text, $at, PIECE;
		$at += length $piece;
		$self->put(frame(put_int(CHUNK), put_str($piece)));
	}
	return $seq;
}

sub put {
	my ($self, $frame) = @_;

	defined send $self->{sock}, $frame, 0 or die "the broker is gone: $!\n";
}

sub hear {
	my ($self, $until) = @_;
	my ($bits, $frame) = ('', '');

	vec($bits, fileno $self->{sock}, 1) = 1;
	my $left = $until - time;
	return 0 if $left <= 0 || !select $bits, undef, undef, $left;
	defined recv $self->{sock}, $frame, 65536, 0 or die "recv: $!\n";
	die "the broker closed its socket\n" if $frame eq '';
	my ($type, @f) = get_fields($frame);
	if ($type == ANSWER) {
		my ($seq, $ok, $total, $head) = @f;
		$self->{now} = {seq => $seq, ok => $ok, total => $total, text => $head};
	} elsif ($type == CHUNK) {
		$self->{now}{text} .= $f[0];
	} else {
		die "the broker said a message of type $type\n";
	}
	my $now = $self->{now};
	if (length $now->{text} == $now->{total}) {
		die "two answers to $now->{seq}\n" if $self->{answers}{$now->{seq}};
		$self->{answers}{$now->{seq}} =
		    {ok => $now->{ok}, body => $json->decode($now->{text})};
	}
	return 1;
}

# The answer to SEQ: {ok, body}.
sub wait_for {
	my ($self, $seq) = @_;
	my $until = time + $PATIENCE;

	until ($self->{answers}{$seq}) {
		$self->hear($until) or croak "no answer to $seq in $PATIENCE s";
	}
	return delete $self->{answers}{$seq};
}

sub is_answered { return exists $_[0]{answers}{$_[1]} }

sub ask { my ($self, @call) = @_; return $self->wait_for($self->begin(@call)) }

# A request of the supervisor's own: its result.
sub control {
	my ($self, $tool, $body) = @_;
	my $a = $self->ask($tool, $body // {});

	die "$tool: " . $json->encode($a->{body}) unless $a->{ok};
	return $a->{body};
}

sub stop {
	my ($self) = @_;

	close $self->{sock};
	waitpid $self->{pid}, 0;
	return $?;
}

# ---- somebody who calls ----

# {requestor, trust, run, session, hosts}: of a run's template, by default all
# that there are.
sub as {
	my ($self, %who) = @_;

	return bless {broker => $self, requestor => 'alice', trust => 'local',
		run => undef, session => undef,
		hosts => $who{run} ? ['*', '127.0.0.0/8', '[::1]', 'localhost'] : undef,
		%who}, 'Broker::Caller';
}

package Broker::Caller;

sub body {
	my ($self, $args, $timeout) = @_;

	return {(map { $_ => $self->{$_} } qw(requestor trust run session hosts)),
		args => $args // {}, timeoutMs => $timeout // 60000};
}

sub begin {
	my ($self, $tool, $args, $timeout) = @_;

	return $self->{broker}->begin($tool, $self->body($args, $timeout));
}

# The result; dies of a fault.
sub do {
	my ($self, $tool, $args, $timeout) = @_;
	my $a = $self->{broker}->wait_for($self->begin($tool, $args, $timeout));

	Carp::croak("$tool: $a->{body}{code}: $a->{body}{message}")
	    unless $a->{ok};
	return $a->{body};
}

# The fault, {code, message, details}; of a success {code => 'none'}.
sub refused {
	my ($self, $tool, $args, $timeout) = @_;
	my $a = $self->{broker}->wait_for($self->begin($tool, $args, $timeout));

	return $a->{ok} ? {code => 'none', result => $a->{body}} : $a->{body};
}

1;
