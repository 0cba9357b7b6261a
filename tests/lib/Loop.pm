# SPDX-License-Identifier: Apache-2.0
# Loop.pm - worst cases for the server's one loop, from a table: a process of
# its own does its worst, for as long as it lives, while others are served.
#
# The tables are tests/system/redteam/tables/loop.pl (clients) and loop_others.pl (templates,
# packages, pages, a disk, a database): lists of [number, what is done, key => …]. Keys:
#
#   call      [template, inputs as JSON, how many at a time]: runs that are begun
#             again and again
#   pace      seconds from one text of a connection to its next (0)
#   deed      what is done beside that all the time, with the server
#   files     what is made before the server starts, with its folder of templates
#   slow      milliseconds that each write and sync of the state takes longer
#   needs     what there has to be (see Needs.pm); programs: their cage, too
#   bench     the benchmark tries it, tests do not
#   site      pages for a browser: code that gives their texts
#   database  its server keeps its record in PostgreSQL
#   no_runs   others' runs have to wait as well, and only pings are answered
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

# What ATTACK needs and there is not, as a sentence; undef: it can be tried.
sub loop_lacks {
	my ($attack) = @_;
	my @needs = @{$attack->{needs} // []};

	return lacks(grep { $_ ne 'programs' } @needs)
	    // (grep({ $_ eq 'programs' } @needs) && !Cage::machine_can($>) ? 'programs cannot be caged here' : undef);
}

# ARGS with SITE instead of where the attack's pages are.
sub with_site { my ($self, $args) = @_; my $at = $self->{at} // ''; return $args =~ s/SITE/$at/gr }

my ($program, $library);

# Programs that do their worst, as one; what is preloaded for a slow disk.
sub built {
	my ($source, @flags) = @_;
	my $to = Paddock::fresh_root() . '/built';

	compile($source, $to, @flags) or die "$source cannot be built\n";
	return $to;
}

# What ATTACK's server is started with, over HTTP (CLASS Http) or on stdio (Paddock).
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
	my $s = $class->new(templates => \%templates, root => $root, config => $attack->{config}, idle => 1,
			    ($class eq 'Http' ? (tokens => \%TOKENS) : ()),
			    ($attack->{dirs} ? (dirs => ["$TOP/etc/templates"]) : ()),
			    ($attack->{site} ? (grants => ['hosts=127.0.0.1']) : ()), %o);

	$attack->{files}->("$root/templates") if $attack->{files};
	$s->start;
	$s->ready if $class eq 'Http';
	return $s;
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
	return {fh => $fh, next => 0, at => 0, due => 0};
}

# As much of what C has to say as its socket takes. False: it is over.
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

# A process of its own does WORK, which says when it has begun.
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

# What ATTACK does to SERVER beside what clients say.
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

# ATTACK on SERVER begins; it goes on when this returns.
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
