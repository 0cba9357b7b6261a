#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# What a program may try to learn of others; the table is
# tests/system/redteam/tables/leaks.pl.
use strict;
use warnings;
use lib 'tests/lib';
use Redteam;

attack_all('leaks', c => programs());
