#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# People are told of a refused host: by paddock explain, with the line of the grant, by the view
# of the run, by the audit log and by the log at SIGUSR1.
use lib 'tests/lib';
use Cli;
use Daemon;
use EgressSite;
use Needs;
use Paddock;

needs('curl');
my $names = EgressSite::names({map { ("$_.test" => [[A => '127.0.0.1']]) } qw(api other)});
my $port = EgressSite::http_host('127.0.0.1', {});
my %o = (templates => {net => {
		program => "#!/bin/bash\ncurl -s -o page http://other.test:$port/secret?x\ncurl -s -o page http://api.test:$port/\necho 1\n",
		permissions => {network => ["api.test:$port"]}}},
	config => "[network]\nresolver = $names\nprivate = 127.0.0.0/8\n[grant \"net\"]\nnetwork = api.test:$port\n");

my $cli = Cli->new(%o);
my @conf = ('--config', "$cli->{root}/paddock.conf");
my $r = $cli->run_private(['run', '--json', 'net', @conf]);
my $view = eval { json_to($r->{out}) } // {};
is($view->{status}, 'succeeded', 'a refused host is no failure of the run by itself') or diag($r->{out}, $r->{err});
my $told = $cli->run_private(['explain', $view->{runId} // 'none', @conf])->{out};
like($told, qr/The host other\.test:$port was refused, NETWORK_NOT_GRANTED: /, 'paddock explain tells the refusal');
like($told, qr/by network = other\.test:$port in \[grant "net"\] of paddock\.conf/, 'paddock explain tells the line of the grant');
unlike($told, qr/api\.test/, 'paddock explain says nothing of a host that was reached');

my $d = Daemon->new(%o, config => "[server]\naudit_file = AUDIT\n$o{config}", idle => 1);
write_file("$d->{root}/paddock.conf", read_file("$d->{root}/paddock.conf") =~ s{AUDIT}{$d->{root}/audit}r);
$d->start;
my $c = $d->client->greeted;
my $run = $c->run(net => {})->{view}{runId};
my @entries = grep { $_->{event} eq 'network' } map { json_to($_) } split /\n/, read_file("$d->{root}/audit");
is_deeply([map { [@$_{qw(runId host port errorCode)}] } @entries],
	[[$run, 'other.test', $port, 'NETWORK_NOT_GRANTED'], [$run, 'api.test', $port, undef]], 'the audit log has each host')
    or diag(json_of(\@entries));
is($entries[1]{address}, '127.0.0.1', 'the audit log has the address of a reached host');
unlike(read_file("$d->{root}/audit"), qr/secret\?x/, 'the audit log has no query');
$d->signal('USR1');
ok($d->log_has(qr/part=egress status=running starts=1 children=0 opened=1 refused=1/), 'the log at SIGUSR1 counts children and refusals');
$c->hang_up;
$d->stop;
done_testing;
