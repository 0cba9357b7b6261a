#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# What a worker that was taken over may try on the supervisor; the table is
# tests/system/redteam/tables/protocol.pl.
use lib 'tests/lib';
use Paddock;
use File::Copy qw(copy);
use Redteam;

my $build = Paddock::fresh_root();

compile('system/redteam/attacks/rogue.c', "$build/paddock-worker") or BAIL_OUT('rogue.c cannot be built');
copy("$BUILD/paddockd", "$build/paddockd") or die "paddockd: $!\n";
chmod 0755, "$build/paddockd";
attack_all('protocol', build => $build,
	   sibling => {rogue => ['send 9110', 'send 94150004a46e756c6c']},
	   sibling_gives => null,
	   ticker => {rogue => ['tick'], limits => {cancelGraceMs => 100}});
