#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Descriptors which another program of the server's user has sent, and which no process
# received: the kernel then refuses to send the server's own descriptors; the error names
# the cause and passes with the program.
use lib 'tests/lib';
use Paddock;
use POSIX ();
use Socket;

my $LIMIT = 300; # the server's open files
my %number = system_calls();
my $SYS_SENDMSG = $number{sendmsg};

needs('64 bits', 'compiler');

# Send N descriptors, 250 at once, into a socket pair; ends when $to is closed.
sub hog {
	my ($n) = @_;

	pipe my $told, my $tells or die "pipe: $!\n";
	pipe my $ends, my $to or die "pipe: $!\n";
	my $pid = fork // die "fork: $!\n";
	if ($pid == 0) {
		close $to;
		if (defined $ORDINARY) {
			$( = $ORDINARY;
			$) = "$ORDINARY $ORDINARY";
			POSIX::setuid($ORDINARY);
		}
		socketpair my $a, my $b, AF_UNIX, SOCK_STREAM, PF_UNSPEC or POSIX::_exit(1);
		while ($n > 0) {
			my $m = $n > 250 ? 250 : $n;
			my $rights = pack('Q l l l*', 16 + 4 * $m, SOL_SOCKET, 1, (0) x $m);
			my $byte = 'x';
			my $iov = pack 'P Q', $byte, 1;
			my $msg = pack 'Q L x4 P Q P Q L x4', 0, 0, $iov, 1, $rights,
			    length $rights, 0;

			syscall($SYS_SENDMSG, fileno $a, $msg, 0) >= 0 or POSIX::_exit(2);
			$n -= $m;
		}
		syswrite $tells, 'x';
		sysread $ends, my $end, 1;
		POSIX::_exit(0);
	}
	close $tells;
	close $ends;
	is(sysread($told, my $byte, 1), 1, 'another program has sent many descriptors');
	return sub { close $to; waitpid $pid, 0 };
}

my $s = Paddock->new(user => $ORDINARY, templates => {echo => lua('return inputs')},
		     wrap => ['prlimit', "--nofile=$LIMIT:$LIMIT"])->greeted;

is($s->tool(echo => {n => 1})->{view}{n}, 1, 'a run');
until_true('a worker to wait', sub { $s->call('paddock/waiting')->{result}{workers}[0]{waiting} });
my $end = hog($LIMIT + 250);
is($s->tool(echo => {n => 2})->{view}{n}, 2, 'a worker that waited is of use');
my $run = $s->run_async(echo => {n => 2});

ok($s->log_has(qr/worker=none err="ETOOMANYREFS: another program of this server's user/),
   'a run without descriptors in flight is refused and tried again');
my $v = $s->ended($run);
is($v->{error}{errorCode}, 'WORKER_CRASHED', 'in the end it fails');
like($v->{error}{message}, qr/ETOOMANYREFS: .*ulimit -n/, 'the error of the run has the cause and a cure');
$run = $s->run_async(echo => {n => 3});
until_true('another try', sub { $s->log_text =~ /run=$run .*ETOOMANYREFS/ });
$end->();
is($s->ended($run)->{result}{n}, 3, 'one that waits runs when that program has ended');
$s->stop('the server ends');
done_testing;
