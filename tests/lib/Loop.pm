# SPDX-License-Identifier: Apache-2.0
# Loop.pm - worst cases for the server's one loop, from a table: a process of
# its own does its worst, for as long as it lives, while others are served.
#
# The table is tests/system/redteam/tables/loop.pl: a list of [number, what is done, key =>
# …]. Keys:
#
#   over      'lines' (the unix socket; unless it is said) or 'http'
#   conns     connections that do it (1)
#   say       what is sent, again and again: code that gets the context below
#             and gives a list of texts; 'http' wants requests, see post()
#   first     the same, sent once on each connection; its answers are awaited
#   prepare   code that is called before, with a client (see Paddock.pm)
#   signal    a signal that the server is sent all the time
#   between   seconds from one of that to the next (0.02)
#   deaf      nothing that is answered is read
#   long      tests try it in their long form alone
#   parting   a connection is closed when it has said all, and another is made
#
# Tests use it to see that others are served at all and that nothing is lost,
# the benchmark to see when. attack() begins one and gives what ->stop ends.
package Loop;

use strict;
use warnings;
use Errno qw(EAGAIN EINTR);
use Exporter qw(import);
use Fcntl qw(F_GETFL F_SETFL O_NONBLOCK);
use Http;
use IO::Select;
use IO::Socket::INET;
use Paddock;
use Socket;
use Time::HiRes qw(time sleep);

our @EXPORT = qw(loop_table loop_server post initialize);

my $BYTES = 1 << 18; # written at once, at most
my %TOKENS = (alice => 'alice', mallory => 'mallory');

sub loop_table {
	my @all = do "$TOP/tests/system/redteam/tables/loop.pl";

	die "tests/system/redteam/tables/loop.pl: " . ($@ || $!) . "\n" unless ref $all[0];
	return map {
		my ($n, $what, %o) = @$_;
		{n => $n, what => $what, over => 'lines', conns => 1, between => 0.02, %o};
	} @all;
}

# A server for ATTACK; alice and mallory may come over HTTP.
sub loop_server {
	my ($attack, %o) = @_;

	return Http->new(
	    templates => {
		echo => lua('return inputs'),
		sibling => lua('return inputs'),
		fill => lua('return {text = string.rep("x", inputs.n)}'),
		keep => lua('run.artifact{name = "a", data = string.rep("x", inputs.n)} return {}'),
		doze => lua('while true do run.sleep(100000) end'),
		chat => lua('for i = 1, 100000000 do run.log("info", string.rep("y", inputs.n or 50)) end'),
		%{$attack->{templates} // {}},
	    }, tokens => \%TOKENS, config => $attack->{config}, %o);
}

# A POST of TEXT in the SESSION (undef: in none), as bytes.
sub post {
	my ($text, $session, $port) = @_;

	return join "\r\n", 'POST /mcp HTTP/1.1', "Host: 127.0.0.1:$port",
	    'Content-Type: application/json', 'Accept: application/json, text/event-stream',
	    'Authorization: Bearer mallory', (defined $session ? "Mcp-Session-Id: $session" : ()),
	    'Content-Length: ' . length $text, '', $text;
}

sub initialize {
	return '{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"' .
	    ($_[0] // '2025-11-25') . '","capabilities":' . ($_[1] // '{}') . ',"clientInfo":{"name":"m","version":"1"}}}';
}

# ---- in the attacker's process ----

sub connected {
	my ($self) = @_;
	my $fh;

	if ($self->{attack}{over} eq 'http') {
		$fh = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $self->{port}) or return;
	} else {
		socket $fh, AF_UNIX, SOCK_STREAM, 0 or return;
		connect $fh, sockaddr_un($self->{socket}) or return;
	}
	fcntl $fh, F_SETFL, fcntl($fh, F_GETFL, 0) | O_NONBLOCK;
	return {fh => $fh, next => 0, at => 0};
}

# As much of what C has to say as its socket takes. False: it is over.
sub write_some {
	my ($self, $c) = @_;
	my $say = $self->{say};

	for (1 .. 64) {
		if ($c->{next} >= @$say) {
			return 0 if $self->{attack}{parting};
			$c->{next} = 0;
		}
		my $text = $say->[$c->{next}];
		my $n = syswrite $c->{fh}, $$text, $BYTES, $c->{at};

		return $!{EAGAIN} || $!{EINTR} unless defined $n;
		$c->{at} += $n;
		next if $c->{at} < length $$text;
		$c->{at} = 0;
		$c->{next}++;
	}
	return 1;
}

sub read_some {
	my ($self, $c) = @_;
	my $n = sysread $c->{fh}, my($in), $BYTES;

	return defined $n ? $n > 0 : $!{EAGAIN} || $!{EINTR};
}

# Sends TEXT, and waits for a line or an answer.
sub once {
	my ($self, $c, $text) = @_;

	while (length $text) {
		IO::Select->new($c->{fh})->can_write(10) or return;
		my $n = syswrite($c->{fh}, $text) // next;
		substr $text, 0, $n, '';
	}
	IO::Select->new($c->{fh})->can_read(10);
	sysread $c->{fh}, my($in), $BYTES;
	return $in;
}

sub go {
	my ($self) = @_;
	my $attack = $self->{attack};
	my @conns;

	if ($attack->{say}) {
		$self->{say} = [map { my $text = $_; \$text } $attack->{say}->($self)];
		for (1 .. $attack->{conns}) {
			my $c = $self->connected or last;
			$self->once($c, $_) for $attack->{first} ? $attack->{first}->($self) : ();
			push @conns, $c;
		}
	}
	syswrite $self->{ready}, "1";
	if ($attack->{signal}) {
		while (1) {
			kill $attack->{signal} => $self->{pid};
			sleep $attack->{between};
		}
	}
	while (1) {
		my ($in, $out) = ('', '');

		for (@conns) {
			vec($in, fileno $_->{fh}, 1) = 1 unless $attack->{deaf};
			vec($out, fileno $_->{fh}, 1) = 1;
		}
		select $in, $out, undef, 1;
		for my $c (@conns) {
			my $fd = fileno $c->{fh};
			my $goes_on = 1;

			$goes_on = $self->read_some($c) if vec $in, $fd, 1;
			$goes_on &&= $self->write_some($c) if vec $out, $fd, 1;
			next if $goes_on;
			close $c->{fh};
			my $new = $self->connected;
			sleep 0.01 until $new ||= $self->connected;
			%$c = %$new;
		}
	}
}

# ---- who begins it ----

# ATTACK on SERVER begins; it goes on when this returns.
sub attack {
	my ($class, $attack, $server) = @_;
	my $self = bless {attack => $attack, port => $server->port, socket => $server->{socket},
			  pid => $server->{pid}}, $class;
	my $ready;

	$self->{client} = $server->client('mallory')->greeted;
	$self->{session} = $self->{client}{session};
	$self->{prepared} = $attack->{prepare}->($self->{client}, $self) if $attack->{prepare};
	return $self unless $attack->{say} || $attack->{signal};
	pipe $ready, $self->{ready} or die "pipe: $!\n";
	$self->{child} = fork // die "fork: $!\n";
	if ($self->{child} == 0) {
		$SIG{PIPE} = 'IGNORE';
		close $ready;
		eval { $self->go };
		print STDERR "# $attack->{what}: $@";
		POSIX::_exit(1);
	}
	close delete $self->{ready};
	sysread $ready, my($byte), 1;
	return $self;
}

sub stop {
	my ($self) = @_;

	return unless $self->{child};
	kill KILL => $self->{child};
	waitpid delete $self->{child}, 0;
}

1;
