#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Files which a program writes into namespaces, or keeps there, are unreadable for other
# runs, at the same time and later.
use lib 'tests/lib';
use Paddock;

my %programs = (
    # the ids of projects are written once in a user namespace, and stay there
    writes => <<'SH',
echo '4242 77 1' >/proc/self/projid_map
echo '"written"'
SH
    reads => <<'SH',
grep -q 4242 /proc/self/projid_map && echo true || echo false
SH
);
my %templates = map { $_ => {program => "#!/bin/sh\n$programs{$_}"} } keys %programs;

$templates{sockets} = {limits => {maxTimeoutMs => 60000}, program => <<'PERL'};
#!/usr/bin/perl
use Socket;
my ($n) = <STDIN> =~ /"n":(\d+)/;
my @all;
for (1 .. $n) { socketpair my $a, my $b, AF_UNIX, SOCK_STREAM, 0; push @all, $a, $b }
if ($n) { print STDERR "held\n"; sleep 60 }
open my $f, '<', '/proc/self/net/sockstat' or die;
print <$f> =~ /used (\d+)/ ? $1 : '"?"';
PERL

for my $user ($> == 0 ? (undef, 65534) : (undef)) {
	my $who = defined $user ? 'a user' : 'we';
	my $s = Paddock->new(templates => \%templates, user => $user);

	$s->init;
	is($s->run_sync('writes')->{result}, 'written', "$who: a program tries");
	is($s->run_sync('reads')->{result}, false, 'the next reads nothing of it');
	for my $zygote ($> == 0 ? $s->zygotes : ()) {
		ok(until_true('it to rest', sub { 4 == (() = glob "/proc/$zygote/fd/*") }), 'a zygote keeps nothing open of what it made its cage of');
	}

	is($s->run_sync('sockets', {n => 0})->{result}, 0, 'a program has no sockets');
	my $id = $s->run_async('sockets', {n => 20});
	$s->log_has(qr/run=\Q$id\E .*msg="held"/);
	is($s->run_sync('sockets', {n => 0})->{result}, 0, 'a program sees no sockets of another');
	$s->tool(cancel_task_run => {runId => $id});
	until_true('the end', sub { $s->get($id)->{status} eq 'canceled' });
	$s->stop;
}
done_testing;
