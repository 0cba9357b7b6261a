#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# notebook.t - a conversation about a table in a notebook, by official MCP clients over stdio
# and HTTP, in both eras.
use strict;
use warnings;
use lib 'tests/lib';
use Peer;
use Test::More;

plan skip_all => 'pandas or matplotlib is not installed (apt install python3-pandas python3-matplotlib)'
    if system('/usr/bin/python3 -c "import matplotlib, pandas" 2>/dev/null') != 0;
my %o = (dirs => ['etc/templates'], config => {task_after_ms => 60000});

peer_stdio('notebook', %o);
peer_http('notebook', %o);
done_testing();
