# SPDX-License-Identifier: Apache-2.0
# Loop.pm - a table of worst cases for the server's one loop: an attack runs in a process of
# its own for as long as the object lives, while the server must serve other clients.
#
# The tables are tests/system/redteam/tables/loop.pl (clients) and loop_others.pl
# (templates, packages, pages, a disk, a database): lists of [number, description, key =>
# ...]. Keys:
#
#   call      [template, inputs as JSON, number at a time]: runs started
#             again and again
#   pace      seconds between two texts of a connection (0)
#   deed      code called all the time beside the attack, with the server
#   files     code which makes files before the server starts, in the folder of templates
#   slow      milliseconds added to each write and sync of the state
#   needs     requirements (see Needs.pm); programs: a cage for programs, too
#   bench     tried by the benchmark, not by tests
#   site      pages for a browser: code which returns the texts
#   database  the server keeps the record in PostgreSQL
#   no_runs   runs of other clients have to wait, too: only pings are answered
#   over      'lines' (the unix socket, the default) or 'http'
#   conns     number of attacking connections (1)
#   say       texts sent again and again: code called with the context below,
#             which returns a list of texts; 'http' takes requests, see post()
#   first     texts sent once on each connection, whose answers are awaited
#   prepare   code called before the attack, with a client (see Paddock.pm)
#   signal    a signal sent to the server all the time
#   between   seconds between two signals (0.02)
#   deaf      the attack reads no answers
#   long      tried by tests in the long form alone
#   parting   a connection is closed after the last text and replaced by a new connection
#
# Tests check for each attack that the server serves other clients and loses nothing; the
# benchmark measures the delay. attack() starts an attack and returns an object; ->stop ends
# the attack.
package Loop;

use strict;
use warnings;
use Errno qw(EAGAIN EINTR);
use Exporter qw(import);
use Fcntl qw(F_GETFL F_SETFL O_NONBLOCK);
use Http;
use IO::Select;
use IO::Socket::INET;
use Cage;
use Paddock;
use Socket;
use Time::HiRes qw(time sleep);

our @EXPORT = qw(loop_table loop_server loop_lacks post initialize call_text);

my $BYTES = 1 << 18; # written at once, at most
my %TOKENS = (alice => 'alice', mallory => 'mallory');

sub call_text { # a call's text, ID and arguments given as JSON
	my ($id, $name, $args) = @_;

	return qq({"jsonrpc":"2.0","id":"$id","method":"tools/call","params":{"name":"$name","arguments":$args}});
}

sub loop_table {
	my @all = map {
		my @rows = do "$TOP/tests/system/redteam/tables/$_.pl";

		die "tests/system/redteam/tables/$_.pl: " . ($@ || $!) . "\n" unless ref $rows[0];
		@rows;
	} qw(loop loop_others);

	return map {
		my ($n, $what, %o) = @$_;
		my $call = $o{call};

		%o = (over => 'http', conns => $call->[2], say => sub {
			my $text = call_text(1, $call->[0], with_site($_[0], $call->[1]));

			$_[0]{attack}{over} eq 'http' ? post($text, $_[0]{session}, $_[0]{port}) : "$text\n" }, %o) if $call;
		{n => $n, what => $what, over => 'lines', conns => 1, between => 0.02, %o};
	} @all;
}

# The first missing requirement of ATTACK as a sentence; undef if none is missing.
sub loop_lacks {
	my ($attack) = @_;
	my @needs = @{$attack->{needs} // []};

	return lacks(grep { $_ ne 'programs' } @needs)
	    // (grep({ $_ eq 'programs' } @needs) && !Cage::machine_can($>) ? 'programs cannot be caged here' : undef);
}

# ARGS with SITE instead of where the attack's pages are.
sub with_site { my ($self, $args) = @_; my $at = $self->{at} // ''; return $args =~ s/SITE/$at/gr }

my ($program, $library);

# Compile SOURCE in a new folder; the path of the result.
sub built {
	my ($source, @flags) = @_;
	my $to = Paddock::fresh_root() . '/built';

	compile($source, $to, @flags) or die "$source cannot be built\n";
	return $to;
}

# Start a server for ATTACK, over HTTP (CLASS Http) or on stdio (Paddock).
sub loop_server {
	my ($attack, %o) = @_;
	my $class = delete $o{class} // 'Http';
	my $root = Paddock::fresh_root();
	my %templates = (
		echo => lua('return inputs'),
		sibling => lua('return inputs'),
		fill => lua('return {text = string.rep("x", inputs.n)}'),
		keep => lua('run.artifact{name = "a", data = string.rep("x", inputs.n)} return {}'),
		doze => lua('while true do run.sleep(100000) end'),
		chat => lua('for i = 1, 100000000 do run.log("info", string.rep("y", inputs.n or 50)) end'),
		%{$attack->{templates} // {}},
	);

	if (grep { $_ eq 'programs' } @{$attack->{needs} // []}) {
		$program //= read_file(built('system/redteam/attacks/attack.c', '-pthread',
					     glob "$TOP/tests/system/redteam/attacks/attack_*.c"));
		$templates{attack} = {program => $program, limits => {maxTimeoutMs => 3000}};
	}
	if ($attack->{slow}) {
		$library //= built('lib/faults.c', '-shared', '-fPIC');
		write_file("$root/faults", "slow $attack->{slow} $root/state\n");
		$o{env} = {LD_PRELOAD => $library, PADDOCK_FAULTS => "$root/faults"};
	}
	my $s = $class->new(templates => \%templates, root => $root, config => "[limits]\ndrain_timeout_ms = 500\n" . ($attack->{config} // ''), idle => 1,
			    ($class eq 'Http' ? (tokens => \%TOKENS) : ()),
			    ($attack->{dirs} ? (dirs => ["$TOP/etc/templates"]) : ()),
			    ($attack->{site} ? (grants => ['hosts=127.0.0.1']) : ()), %o);

	$attack->{files}->("$root/templates") if $attack->{files};
	$s->start;
	$s->ready if $class eq 'Http';
	return $s;
}

# The bytes of a POST of TEXT in SESSION (undef: without a session).
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
	return {fh => $fh, next => 0, at => 0, due => 0};
}

# Write to C as many bytes as the socket takes. False: the connection has ended.
sub write_some {
	my ($self, $c) = @_;
	my $say = $self->{say};

	for (1 .. 64) {
		return 1 if time < $c->{due};
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
		$c->{due} = time + $self->{attack}{pace} if $self->{attack}{pace};
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
			vec($out, fileno $_->{fh}, 1) = 1 if $_->{due} <= time;
		}
		select $in, $out, undef, $attack->{pace} // 1;
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

# Run WORK in a process of its own, and wait until WORK reports the start.
sub child {
	my ($self, $work) = @_;
	my $ready;

	pipe $ready, $self->{ready} or die "pipe: $!\n";
	my $pid = fork // die "fork: $!\n";
	if ($pid == 0) {
		$SIG{PIPE} = 'IGNORE';
		close $ready;
		eval { $work->() };
		print STDERR "# $self->{attack}{what}: $@";
		POSIX::_exit(1);
	}
	push @{$self->{children}}, $pid;
	close delete $self->{ready};
	sysread $ready, my($byte), 1;
}

# Start the parts of ATTACK on SERVER beside the clients: a site and a deed.
sub beside {
	my ($class, $attack, $server) = @_;
	my $self = bless {attack => $attack, server => $server}, $class;

	if ($attack->{site}) {
		require Site;
		$self->{site} = Site->new($attack->{site}->());
		$self->{at} = $self->{site}->url('/page');
	}
	$self->child(sub {
		$attack->{deed}->($server) or die "it cannot be done\n";
		syswrite $self->{ready}, '1';
		while (1) {
			sleep $attack->{between};
			$attack->{deed}->($server);
		}
	}) if $attack->{deed};
	return $self;
}

# Start ATTACK on SERVER; the attack goes on after the return.
sub attack {
	my ($class, $attack, $server) = @_;
	my $self = $class->beside($attack, $server);

	@$self{qw(port socket pid)} = ($server->port, @$server{qw(socket pid)});
	$self->{client} = $server->client('mallory')->greeted;
	$self->{session} = $self->{client}{session};
	$self->{prepared} = $attack->{prepare}->($self->{client}, $self) if $attack->{prepare};
	$self->child(sub { $self->go }) if $attack->{say} || $attack->{signal};
	return $self;
}

sub stop {
	my ($self) = @_;

	for (splice @{$self->{children} // []}) {
		kill KILL => $_;
		waitpid $_, 0;
	}
	$self->{site}->stop if $self->{site};
}

1;
