#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# What a program may try by what runs share; the table is
# tests/system/redteam/tables/shared.pl.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../../lib";
use Redteam;

attack_all('shared', c => programs());
