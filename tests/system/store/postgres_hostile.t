#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# postgres_hostile.t - a server which speaks PostgreSQL's protocol and sends wrong answers:
# a start of paddockd ends, and reports that the database does not answer.
use lib 'tests/lib';
use Paddock;
use IO::Socket::INET;

plan(skip_all => 'there is no libpq (Debian: libpq5)') unless grep { -e } map { ("$_/libpq.so.5", glob "$_/*/libpq.so.5") } qw(/usr/lib /usr/lib64 /lib);

my $listener = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 5) or BAIL_OUT("listen: $!");
my $root = Paddock::fresh_root();
my $owner = $$;
my $server;

END { if ($server && $$ == $owner) { my $status = $?; kill KILL => $server; waitpid $server, 0; $? = $status } }

sub message { my ($type, $body) = @_; return $type . pack('N', 4 + length $body) . $body }
sub take { my ($c, $n) = @_; my $got = ''; while (length $got < $n) { read $c, $got, $n - length $got, length $got or return } return $got }

# Accept a connection, and send ANSWER to the first query.
sub serve {
	my ($answer) = @_;

	while (my $c = $listener->accept) {
		my ($n) = unpack 'N', take($c, 4) // next;
		take($c, $n - 4);
		print $c message(R => pack 'N', 0), message(S => "server_version\0" . "15.0\0"), message(S => "client_encoding\0UTF8\0"),
		    message(K => pack 'NN', 1, 2), message(Z => 'I');
		$c->flush;
		($n) = unpack 'x N', take($c, 5) // next;
		take($c, $n - 4);
		print $c $answer;
		$c->flush;
		take($c, 1);
	}
}

my %answers = (
    'a copy to us' => message(H => pack 'C n', 0, 0),
    'a copy from us' => message(G => pack 'C n', 0, 0),
    'a copy both ways' => message(W => pack 'C n', 0, 0),
);

for my $what (sort keys %answers) {
	$server = fork // BAIL_OUT("fork: $!");
	if ($server == 0) { serve($answers{$what}); POSIX::_exit(0) }
	my $config = "$root/paddock.conf";

	Paddock::write_file($config, "[store]\nurl = postgresql://u\@127.0.0.1:" . $listener->sockport . "/x?sslmode=disable\n");
	my $out = `timeout -s KILL $PATIENCE $BUILD/paddockd --check --config $config --state-dir $root/state 2>&1`;

	isnt($? & 127, 9, "a database that answers with $what keeps no start for ever") or diag($out);
	isnt($?, 0, "the start on a database that answers with $what fails");
	kill KILL => $server;
	waitpid $server, 0;
	undef $server;
}
done_testing();
