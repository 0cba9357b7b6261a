#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# What templates ask for and are not granted; the table is
# tests/system/redteam/tables/grants.pl.
use lib 'tests/lib';
use Paddock;
use Redteam;

# What others have, and the attacks nearly: by name, by part, by package.
my $other = 'f' x 64;
my ($own) = grep { $_->{n} eq '812' } Redteam::table('grants');
my $written = Paddock->new(idle => 1, templates => {$own->{id} => Redteam::template_of($own)});
my $digest = digest_of("$written->{root}/templates/$own->{id}-1.0.0");
attack_all('grants', config => <<"END");
[limits]
max_concurrent_runs = 8
[grant "*"]
tools = close_tab
[grant "attack_802"]
tools = all
[grant "attack_80"]
tools = all
[grant "attack_804x"]
tools = all
[grant "attack_805"]
tools = all
digest = $other
[grant "attack_807c"]
read_paths = /usr/share/doc
[grant "attack_807d"]
read_paths = /usr/share/doc
[grant "attack_808"]
network = 127.0.0.1:22
[grant "attack_809"]
secrets = PADDOCK_TEST_SECRET
[grant "attack_812"]
read_paths = /usr/share/doc
digest = $digest
END
