#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Proposed grants of two servers on one database: a proposal at a server is listed at both,
# counts at both, and is approved at each, where the file of the server grants.
use lib 'tests/lib';
use Paddock;

BEGIN {
	needs('postgres');
	exec 'tests/tools/with-postgres', $^X, $0 unless $ENV{PADDOCK_TEST_POSTGRES};
}
use Cluster;
use Cli;

my $c = Cluster->new(nodes => 2, templates => {tabs => lua('return 1', tools => ['create_tab'])},
		     tokens => {ada => 'a' x 43}, config => "[server]\nproposals = yes\n");
my @ada = map { $_->client('ada')->greeted } $c->nodes;
my $cli = Cli->new;

sub grant { my ($node, $command, @args) = @_; return $cli->run(['grant', $command, @args, '--socket', $c->node($node)->{socket}]) }
sub propose { my ($client, @hosts) = @_; return $client->tool(propose_grant => {templateId => 'tabs', reason => 'r', @hosts ? (hosts => \@hosts) : ()})->{view} }

my $one = propose($ada[0]);
is(propose($ada[1])->{proposalId}, $one->{proposalId}, 'the same proposal at another server is one');
for my $node (0, 1) {
	is(json_to(grant($node, 'ls', '--json')->{out})->[0]{proposalId}, $one->{proposalId}, "server $node lists the proposal");
}
my @all = map { propose($ada[$_ % 2], "h$_.example") } 1 .. 8;
is(scalar(grep { $_->{proposalId} } @all), 7, 'proposals of a requestor count at all servers');
is(grant(0, 'approve', $one->{proposalId})->{status}, 0, 'a proposal is approved at a server');
isnt($ada[0]->run_sync('tabs')->{errorCode} // '', 'PERMISSION_NOT_ALLOWED', 'the approving server grants');
is($ada[1]->run_sync('tabs')->{errorCode}, 'PERMISSION_NOT_ALLOWED', 'a server without the file does not grant');
is(grant(1, 'approve', $one->{proposalId})->{status}, 0, 'an approved proposal is approved at another server, too');
isnt($ada[1]->run_sync('tabs')->{errorCode} // '', 'PERMISSION_NOT_ALLOWED', 'the other server grants by a file of its own');
grant(1, 'reject', $_->{proposalId}) for @{json_to(grant(0, 'ls', '--json')->{out})};
is(grant(0, 'ls', '--json')->{out}, "[]\n", 'proposals that are rejected at a server are gone at all');
$c->stop;
ok(strays_gone(), 'no process is left');
done_testing();
