#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# peers_stdio.t - official MCP clients over stdio.
use strict;
use warnings;
use lib 'tests/lib';
use Peer;
use Test::More;

peer_stdio($_) for qw(sdk_tools sdk_tasks sdk_input sdk_answers client2 client2_modern client2_tasks);
done_testing();
