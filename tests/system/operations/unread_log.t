#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A server whose log goes to an unread pipe, as with clients which start a server and ignore
# its stderr: log lines are lost, and calls are answered.
use lib 'tests/lib';
use Paddock;
use Fcntl qw(F_SETFD);
use constant PIPE => 65536;

pipe my $from, my $to or die "pipe: $!\n";
fcntl $to, F_SETFD, 0;
my $s = Paddock->new(templates => {echo => lua('return {n = inputs.n}')},
	wrap => ['sh', '-c', 'exec "$@" 2>&' . fileno $to, 'sh']);
close $to;
$s->greeted;
my $n = 700; # whose lines are more than a pipe takes
my @ids = map { $s->ask(echo => {n => $_}) } 1 .. $n;
my @wrong = grep { ($s->result($ids[$_ - 1])->{view}{n} // 0) != $_ } 1 .. $n;
is("@wrong[0 .. ($#wrong < 9 ? $#wrong : 9)]", '', "each of $n calls is answered");
sysread $from, my $bytes, PIPE;
$s->run_sync(echo => {n => 1});
sysread $from, my $more, PIPE;
like($bytes . $more, qr/^ts=\S+ level=warn part=log lost=[1-9]\d* err="the program which reads the log does not read on"$/m,
	'the log says how many lines were lost while nobody read');
$s->stop;
done_testing();
