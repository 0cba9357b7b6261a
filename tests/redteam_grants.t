#!/usr/bin/perl
# What templates ask for and are not granted; the table is
# tests/redteam/grants.pl.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Redteam;

# What others have, and the attacks nearly: by name, by part, by package.
my $other = 'f' x 64;
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
END
