#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# What a program may say to its shim that it should not; the table is
# tests/system/redteam/tables/lines.pl.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../../lib";
use Redteam;

attack_all('lines');
