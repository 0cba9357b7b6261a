#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# What a program may try to reach outside of its cage; the table is
# tests/system/redteam/tables/escape.pl.
use strict;
use warnings;
use lib 'tests/lib';
use Redteam;

attack_all('escape', c => programs());
