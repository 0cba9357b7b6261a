#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# What the kernel counts for all of a user's processes, used up by one program
# while others run; the table is tests/system/redteam/tables/counters.pl.
use strict;
use warnings;
use lib 'tests/lib';
use Redteam;

attack_all('counters', c => programs(), sibling => {c => 'sibling'});
