#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The kernel has no memory for a moment: for a frame to a worker, an answer to a client, or
# to wait for events. Calls are answered all the same when it has some again.
use lib 'tests/lib';
use Paddock;
use Http;
use Errno qw(ENOBUFS ENOMEM);

my $box = Paddock::fresh_root();
my $lib = "$box/faults.so";

chmod 0777, $box;
plan(skip_all => 'sanitizers want to be preloaded first') if $SANITIZED;
compile('lib/faults.c', $lib, '-shared', '-fPIC') or plan(skip_all => 'no compiler');
my $s = Http->new(idle => 1, templates => {echo => {code => "return function(run, i) return {n = i.n} end\n", inputsSchema => {type => 'object'}}});

$s->{faults} = "$box/faults";
write_file($s->{faults}, '');
chmod 0666, $s->{faults};
$s->{env} = {LD_PRELOAD => $lib, PADDOCK_FAULTS => $s->{faults}};
$s->start;
$s->ready;

sub fault {
	my ($line) = @_;

	unlink "$s->{faults}.hit";
	write_file("$s->{faults}.new", $line);
	rename "$s->{faults}.new", $s->{faults} or die "$s->{faults}: $!\n";
}

my $c = $s->client->greeted;

is($c->run_sync(echo => {n => 0})->{result}{n}, 0, 'a run, to begin with');
for (['send', ENOBUFS, 'socket'], ['send', ENOMEM, 'socket'], ['wait', ENOMEM, 'loop']) {
	my ($call, $err, $path) = @$_;
	my $name = "$call fails by " . ($err == ENOMEM ? 'ENOMEM' : 'ENOBUFS');

	fault("$call $err $path\n");
	my @ids = ($c->request('ping'), map { $c->request('tools/call', {name => 'echo', arguments => {n => $_}}) } 1 .. 3);

	ok(until_true($name, sub { -s "$s->{faults}.hit" }), "$name: calls meet that");
	fault('');
	is(join(' ', map { my $a = $c->answer($_); $a->{error} ? $a->{error}{message} : ref $a->{result} } @ids), join(' ', ('HASH') x 4), "$name: calls are answered when the failure is over");
	is($c->run_sync(echo => {n => 7})->{result}{n}, 7, "$name: a run after the failure succeeds");
}
$s->stop;
done_testing();
