# SPDX-License-Identifier: Apache-2.0
# Peer.pm - clients of other projects against the real paddockd. A script in tests/peers
# prints one line for each check, and each line becomes a test.
package Peer;

use strict;
use warnings;

use Cwd qw(abs_path);
use Exporter qw(import);
use Http;
use Paddock;
use Test::More;

our @EXPORT = qw(peer_stdio peer_http node $PEERS);

our $restart; # of the server that a script speaks to
our $PEERS = $ENV{PADDOCK_PEERS} // "$BUILD/peers";
my $HERE = "$TOP/tests/peers";

# The path of the node program installed with the peers.
sub node {
	my ($found) = grep { -x } glob "$PEERS/node_modules/node-linux-*/bin/node";
	my $same = (read_file("$PEERS/package.json") // '') eq
	    (read_file("$HERE/package.json") // 'none');

	return $found if defined $found && $same;
	fail('the peers of tests/peers/package.json are installed');
	diag("$PEERS has none, or others: run make deps-peers");
	done_testing();
	exit 1;
}

# Turn the lines of SCRIPT into tests; other output of the clients is shown only after a
# failure.
sub relay {
	my ($script, %env) = @_;
	my $node = node();

	open my $aside, '+>', undef or die "a file: $!\n";

	my $pid = open my $from, '-|';

	defined $pid or die "fork: $!\n";
	if ($pid == 0) {
		%ENV = (PATH => $ENV{PATH}, PADDOCK_PEERS => abs_path($PEERS),
			PADDOCK_PATIENCE => $PATIENCE,
			MCP_USE_ANONYMIZED_TELEMETRY => 'false', %env);
		open STDERR, '>&', $aside or POSIX::_exit(127);
		exec $node, '--import', "$HERE/from_peers.mjs", "$HERE/$script.mjs"
		    or POSIX::_exit(127);
	}
	while (defined(my $line = <$from>)) {
		chomp $line;
		if ($line =~ /^(not )?ok - (.*)/) {
			local $Test::Builder::Level = $Test::Builder::Level + 2;
			ok(!$1, "$script: $2");
		} elsif ($line =~ /^do restart (\w+)$/) {
			$restart->($1);
		} else {
			diag($line =~ s/^# //r);
		}
	}
	close $from;

	my $status = $?;

	if ($status) {
		seek $aside, 0, 0;
		my @said = grep { /\S/ } <$aside>;
		splice @said, 0, -20;
		chomp @said;
		diag(substr "  aside: $_", 0, 300) for @said;
	}
	return $status;
}

# A server object with a folder of its own, the templates of the peers, and CONFIG, not yet
# started.
sub prepared {
	my ($class, %o) = @_;
	my $server = $class->new(%o, idle => 1);

	system('cp', '-R', "$HERE/templates", "$server->{root}/templates") == 0
	    or die "cp: $?\n";
	return $server;
}

sub env {
	my ($server) = @_;

	return (HOME => $server->{root}, PADDOCK_LOG => $server->{log},
		PADDOCK_TEMPLATES => "$server->{root}/templates");
}

# Clients of SCRIPT each start and end a server of their own on stdio.
sub peer_stdio {
	my ($script, %o) = @_;
	my $server = prepared('Paddock', %o);
	my $status = relay($script, env($server),
			   PADDOCK_COMMAND => json_of([$server->command]));

	is($status, 0, "$script: comes to its end")
	    or diag(join "\n", map { "  log: $_" } $server->last_log);
	ok(strays_gone(), "$script: no process is left");
	return;
}

# Start the same server again after an end by HOW; a file tells SCRIPT the Nth restart.
sub restart {
	my ($server, $how, $n) = @_;
	my $listen = '127.0.0.1:' . $server->port;

	$server->signal($how);
	ok(defined $server->wait_exit, "the server ends by $how");
	my $next = $server->again(args => [], listen => $listen);

	$next->{tokens} = $server->{tokens}; # as its configuration has them
	$next->ready;
	write_file("$next->{root}/restarted.$n", '');
	return $next;
}

# The clients of SCRIPT share one server over HTTP, which restarts at a line "do restart
# KILL".
sub peer_http {
	my ($script, %o) = @_;
	my $server = prepared('Http', %o);
	my $n = 0;

	$server->start;
	local $restart = sub { $server = restart($server, $_[0], ++$n) };
	my $status = relay($script, env($server), PADDOCK_URL => $server->url,
			   PADDOCK_PID => $server->{pid},
			   PADDOCK_TOKENS => json_of($server->{tokens} // {}));

	is($status, 0, "$script: comes to its end")
	    or diag(join "\n", map { "  log: $_" } $server->last_log);
	$server->stop("$script: the server ends and leaves nothing behind");
	return;
}

1;
