#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# What a program may try to end, stop or outlive; the table is
# tests/system/redteam/tables/signals.pl.
use strict;
use warnings;
use lib 'tests/lib';
use Redteam;

attack_all('signals', c => programs());
