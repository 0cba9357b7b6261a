#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# peers_http.t - official MCP clients over HTTP.
use strict;
use warnings;
use lib 'tests/lib';
use Peer;
use Test::More;

peer_http($_) for qw(sdk_tools sdk_tasks sdk_input sdk_http sdk_restart sdk_aborts sdk_answers client2 client2_modern client2_tasks client2_restart);
done_testing();
