#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The use by runs, by requestor and template: paddock usage, and paddock/usage in each
# revision; and the requestors who may see the figures.
use lib 'tests/lib';
use Paddock;
use Cli;
use Http;

my %templates = (
    burn => lua('local t = os.clock() while os.clock() - t < 0.05 do end return 1'),
    makes => lua('return run.artifact{name = "a", data = ("x"):rep(5000)}'),
);
my %token = (ada => 'a' x 43, bob => 'b' x 43);
my $d = Http->new(templates => \%templates, tokens => \%token);
my $cli = Cli->new;
my $me = "uid:$>";
my ($c, $ada, $bob) = (Client->new($d)->greeted, map { $d->client($_)->greeted } qw(ada bob));

sub paddock { return $cli->run([@_, '--socket', $d->{socket}]) }
sub rows { my ($client, %params) = @_; return $client->call('paddock/usage', \%params)->{result}{rows} }
sub of { my ($rows, $requestor, $template) = @_;
	 return (grep { $_->{requestor} eq $requestor && $_->{templateId} eq $template } @$rows)[0] }
sub now { return int(time * 1000) }

{
	my $r = paddock('usage');

	is_deeply([@{$r}{qw(status out)}], [0, ''], 'nothing was used yet');
	like($r->{err}, qr/nothing was used/, 'usage without runs says so');
}

my $cpu = $c->run_sync('burn')->{metrics}{cpuMs};
my $made = $c->run_sync('makes')->{runId};
$ada->run_sync('makes') for 1, 2;

{
	my $rows = rows($c);

	is(of($rows, $me, 'burn')->{cpuMs}, $cpu, 'CPU time as in the view of the run');
	is(of($rows, $me, 'burn')->{runs}, 1, 'usage counts the runs');
	cmp_ok(of($rows, $me, 'makes')->{bytes}, '>', 5000, 'bytes of artifacts and records');
	is(of($rows, 'ada', 'makes')->{runs}, 2, 'who runs the server sees others');
	cmp_ok(of($rows, 'ada', 'makes')->{bytes}, '>', 10000, 'root sees what others keep');
	is($rows->[0]{templateId}, 'burn', 'the most CPU time comes first');
	is_deeply([map { $_->{requestor} } @{rows($ada)}], ['ada'], 'a requestor sees itself');
	is_deeply(rows($bob), [], 'a requestor without runs sees none');
	is_deeply($d->modern('ada')->call('paddock/usage')->{result}{rows}, rows($ada), 'a request of 2026-07-28');
}

{
	my $out = paddock('usage')->{out};

	my $narrow = $cli->run(['usage', '--socket', $d->{socket}], all_tty => 1, columns => 50, env => {TERM => "xterm"})->{err};
	like($narrow, qr/^\Q$me\E +makes +1 /m, 'in 50 columns nothing is cut that has room');
	cmp_ok(length, '<=', 50, "a line of usage fits 50 columns: $_") for split /\r?\n/, $narrow;
	like($out, qr/^REQUESTOR +TEMPLATE +RUNS +CPU +KEPT\n/, 'usage is a table');
	like($out, qr/^\Q$me\E +burn +1 +\S+ m?s +\S+/m, 'usage has a line for each template');
	like($out, qr/^ada +makes +2 /m, 'usage has a line for each requestor');
	same_json(json_to(paddock('usage', '--json')->{out}), rows($c), '--json has the rows');
	same_json(json_to(paddock('usage', '--since', '1h', '--json')->{out}), rows($c), '--since: of that time');
	is($c->call('paddock/usage', {since => now()})->{result}{since} % 3600000, 0, 'usage is counted by the hour');
	is_deeply(rows($c, since => now() + 7200000), [], 'nothing since then');
	is($c->call('paddock/usage', {since => $_})->{error}{code}, -32602, 'no time') for 'x', -1;
}

{
	my $before = of(rows($c), $me, 'makes');

	is(paddock('rm', $made)->{status}, 0, 'a run is deleted');
	my $after = of(rows($c), $me, 'makes');
	is_deeply([@{$after}{qw(runs cpuMs bytes)}], [@{$before}{qw(runs cpuMs)}, 0], 'a deleted run keeps the CPU time and loses the bytes');
}

SKIP: {
	skip 'another user takes root', 2 unless as_root();
	chmod 0777, $d->{socket};
	my $o = Client->new($d, 65534)->greeted;

	is_deeply(rows($o), [], 'another local user sees nothing of others');
	$o->run_sync('burn');
	is_deeply([map { $_->{requestor} } @{rows($o)}], ['uid:65534'], 'another local user sees the own rows');
}

{
	my $r = $c->call('paddock/usage', {});

	$d->stop;
	$d = $d->again;
	$c = Client->new($d)->greeted;
	same_json(rows($c), $r->{result}{rows}, 'the next server has it still');
	$d->stop;
}
done_testing();
