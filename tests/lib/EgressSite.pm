# SPDX-License-Identifier: Apache-2.0
# EgressSite.pm - what a child of paddock-egress meets: a name server on loopback, and hosts
# that serve or misbehave as a table of the test says. Each is a process, killed at the end.
package EgressSite;

use strict;
use warnings;
use feature 'state';

use Carp qw(croak);
use IO::Select;
use IO::Socket::INET;
use POSIX ();
use Paddock ();
use Socket;

my $owner = $$;
my @live;
my @said; # pipes from hosts, which end with a closed pipe

END {
	if ($$ == $owner) {
		my $status = $?;
		kill KILL => map { -$_, $_ } @live;
		waitpid($_, 0) for @live;
		$? = $status;
	}
}

sub in_process {
	my ($body) = @_;
	my $pid = fork // croak "fork: $!";

	if ($pid == 0) {
		setpgrp; # with the processes of connections
		$SIG{CHLD} = 'IGNORE';
		$SIG{PIPE} = 'IGNORE';
		eval { $body->() };
		POSIX::_exit(0);
	}
	push @live, $pid;
	$Paddock::beside{$pid} = 1; # of the test, and no server's
	return $pid;
}

# ---- names ----

my %TYPE = (A => 1, CNAME => 5, AAAA => 28);

sub wire_name { return join('', map { pack 'C/a*', $_ } split /\./, $_[0]) . "\0" }

sub data_of {
	my ($type, $value) = @_;

	return $type eq 'A' ? inet_aton($value) : $type eq 'AAAA' ? Socket::inet_pton(AF_INET6, $value) : wire_name($value);
}

# The records for NAME and the number TYPE, through aliases, at most 40.
sub records {
	my ($zone, $name, $wanted, $asked) = @_;
	my @out;

	for (1 .. 40) {
		my $rows = $zone->{$name} or last;
		$rows = $rows->[ $asked->{"$name $wanted"}++ % @$rows ] if ref $rows->[0] && ref $rows->[0][0];
		my ($alias) = grep { $_->[0] eq 'CNAME' } @$rows;
		push @out, map { [ $name, @$_ ] } grep { $_->[0] eq 'CNAME' || $TYPE{ $_->[0] } == $wanted } @$rows;
		$alias or last;
		$name = $alias->[1];
	}
	return @out;
}

sub dns_answer {
	my ($zone, $question, $asked, $room) = @_;
	my ($id) = unpack 'n', $question;
	my ($at, @labels) = (12);

	while (my $n = ord substr $question, $at, 1) {
		push @labels, lc substr $question, $at + 1, $n;
		$at += $n + 1;
	}
	my ($type) = unpack 'n', substr $question, $at + 1, 2;
	my $name = join '.', @labels;
	my @records = records($zone, $name, $type, $asked);
	my $body = join '', map { wire_name($_->[0]) . pack('nnNn/a*', $TYPE{ $_->[1] }, 1, 0, data_of(@$_[ 1, 2 ])) } @records;
	my $cut = length $body > $room;

	return pack('n6', $id, 0x8180 | ($cut ? 0x200 : 0) | (exists $zone->{$name} ? 0 : 3), 1, $cut ? 0 : scalar @records, 0, 0)
	    . substr($question, 12, $at + 5 - 12) . ($cut ? '' : $body);
}

# A name server of ZONE: name => [[TYPE, VALUE]…], or a list of such lists, which take turns.
sub names {
	my ($zone) = @_;
	my ($udp, $tcp, $port);

	until ($tcp) { # the same port for both
		$udp = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Proto => 'udp') or croak "udp: $!";
		$port = $udp->sockport;
		$tcp = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => $port, Listen => 8);
	}

	in_process(sub {
		my ($wait, %asked) = IO::Select->new($udp, $tcp);

		while (my @ready = $wait->can_read) {
			for my $socket (@ready) {
				if ($socket == $udp) {
					my $from = recv $udp, my $question, 4096, 0;
					send $udp, dns_answer($zone, $question, \%asked, 1232), 0, $from;
				} else {
					my $client = $tcp->accept or next;
					read $client, my $len, 2;
					read $client, my $question, unpack 'n', $len;
					print {$client} pack 'n/a*', dns_answer($zone, $question, \%asked, 65535);
				}
			}
		}
	});
	return "127.0.0.1:$port";
}

# ---- hosts ----

# A host at ADDRESS: SERVE gets each connection in a process of its own. The port.
sub host {
	my ($address, $serve, $port) = @_;
	my $listening = IO::Socket::INET->new(LocalAddr => $address, LocalPort => $port // 0, Listen => 128, ReuseAddr => 1)
	    or croak "$address: $!";

	in_process(sub {
		while (1) {
			my $client = $listening->accept or next;
			my $pid = fork // next;

			if ($pid == 0) {
				$SIG{CHLD} = 'DEFAULT';
				$client->autoflush(1);
				eval { $serve->($client) };
				POSIX::_exit(0);
			}
			close $client;
		}
	});
	return $listening->sockport;
}

# The head of a request, up to the blank line.
sub read_head {
	my ($client) = @_;
	local $/ = "\r\n\r\n";

	return scalar <$client>;
}

# A host of HTTP: TABLE has what is written for "METHOD PATH"; code gets the head and the
# connection. "echo" answers with the head and the body.
sub http_host {
	my ($address, $table, $port) = @_;

	return host($address, sub {
		my ($client) = @_;

		while (defined(my $head = read_head($client))) {
			my ($what) = $head =~ /\A(\S+ [^ ?]+)/;
			my $answer = $table->{ $what // '' };

			if (ref $answer) {
				$answer->($client, $head) or return;
			} elsif (defined $answer) {
				print {$client} $answer;
			} else {
				echo($client, $head) or return;
			}
		}
	}, $port);
}

# The body of a request by the head, chunked or counted.
sub read_body {
	my ($client, $head) = @_;
	my $body = '';

	if ($head =~ /^content-length: (\d+)/mi) {
		read $client, $body, $1 if $1;
	} elsif ($head =~ /^transfer-encoding: chunked/mi) {
		local $/ = "\r\n";
		while (my $n = hex(<$client> =~ s/\r\n//r)) {
			read $client, my $part, $n + 2;
			$body .= substr $part, 0, $n;
		}
		<$client>;
	}
	return $body;
}

sub echo {
	my ($client, $head) = @_;

	return print {$client} plain($head . read_body($client, $head));
}

sub plain { return "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: " . length($_[0]) . "\r\n\r\n$_[0]" }

# ---- TLS ----

sub run_quietly {
	my (@command) = @_;

	return system("@command >/dev/null 2>&1") == 0 || croak "@command: $?";
}

# An authority of the test's own in FOLDER: the path of its certificate.
sub authority {
	my ($folder) = @_;

	run_quietly("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj '/CN=tests' -keyout $folder/ca.key -out $folder/ca.pem");
	return "$folder/ca.pem";
}

# A certificate in FOLDER for the alternative names SAN, such as "DNS:a.test"; by itself where
# SELF. OPTIONS are openssl's, such as the days. The path, of the certificate with the key.
sub certificate {
	my ($folder, $san, %o) = @_;
	state $number = 0;
	my $base = "$folder/host" . ++$number;
	my $by = $o{self} ? '' : "-CA $folder/ca.pem -CAkey $folder/ca.key";
	my $days = $o{days} // 30;

	if ($days < 0) {
		write_all("$base.cnf", "[ca]\ndefault_ca=d\n[d]\nnew_certs_dir=$folder\ndatabase=$base.db\nserial=$base.srl\ndefault_md=sha256\npolicy=p\n[p]\ncommonName=supplied\n[e]\nsubjectAltName=$san\n");
		write_all("$base.db", '');
		write_all("$base.srl", '01');
		run_quietly("openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=x -keyout $base.key -out $base.csr");
		run_quietly("openssl ca -batch -config $base.cnf -extensions e -startdate 20200101000000Z -enddate 20200102000000Z -in $base.csr -cert $folder/ca.pem -keyfile $folder/ca.key -out $base.crt");
	} else {
		run_quietly("openssl req -x509 $by -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days $days -subj /CN=x -addext 'subjectAltName=$san' -addext basicConstraints=CA:FALSE -keyout $base.key -out $base.crt");
	}
	write_all("$base.pem", join '', map { Paddock::read_file("$base.$_") } qw(crt key));
	return "$base.pem";
}

sub write_all {
	my ($path, $text) = @_;

	open my $out, '>', $path or croak "$path: $!";
	print {$out} $text;
	return close $out;
}

# A host of HTTPS (tests/system/egress/host.py) at ADDRESS with the certificate PEM: the port.
sub tls_host {
	my ($address, $pem, @options) = @_;
	my $pid = open my $said, '-|', 'python3', 'tests/system/egress/host.py', $address, $pem, @options or croak "python3: $!";

	push @live, $pid;
	$Paddock::beside{$pid} = 1;
	push @said, $said;
	return (<$said> // croak 'no port') + 0;
}

1;
